#include "dikkat/generate/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "dikkat/autograd/context.h"
#include "dikkat/base/error.h"

namespace dikkat::generate {
namespace {

// A long prompt is run in pieces, since every row of a pass brings V logits along, of which only the last are wanted.
constexpr std::size_t kPrefillRows = 64;

nn::KvCache cache_for(const models::Config& config, DType dtype, Caching caching) {
  if (caching == Caching::off) return {};
  return {config.layers, config.context, config.kv_heads_or_default() * config.head_width_or_default(), dtype};
}

void require_next_token(const models::Config& config) {
  if (config.direction == models::Direction::causal) return;
  throw Error(ErrorKind::usage, "a bidirectional model has no next token to generate",
              {.key = "direction", .hint = "generate from a model trained with direction causal"});
}

}  // namespace

Session::Session(const models::LanguageModel& model, const kernels::Executor& executor, Caching caching)
    : model_(model), executor_(executor), caching_(caching) {
  require_next_token(model.config());
  const DType dtype = model.parameters().dtype();
  cache_ = cache_for(model.config(), dtype, caching);
  window_.reserve(model.config().context);
  logits_ = Tensor::zeros({model.config().vocabulary}, dtype);
}

Tensor Session::feed(std::span<const text::Token> tokens) {
  check_ids(tokens);
  append(tokens);
  if (window_.empty()) throw Error(ErrorKind::usage, "session: no token has been fed, so there are no logits");
  if (caching_ == Caching::off) {
    run(window_);
    return logits_;
  }
  while (cache_.length < window_.size()) {
    const std::size_t rows = std::min(kPrefillRows, window_.size() - cache_.length);
    run(std::span(window_).subspan(cache_.length, rows));
  }
  return logits_;
}

void Session::check_ids(std::span<const text::Token> tokens) const {
  const std::size_t vocabulary = model_.config().vocabulary;
  for (const text::Token token : tokens) {
    if (token < vocabulary) continue;
    throw Error(ErrorKind::usage, fmt::format("token {} is outside the vocabulary of {}", token, vocabulary));
  }
}

// Finds the length of the window after all tokens first, so that windows between are never run.
void Session::append(std::span<const text::Token> tokens) {
  const std::size_t context = model_.config().context;
  std::size_t length = window_.size();
  bool slides = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (length == context) {
      length = context / 2;
      slides = true;
    }
    ++length;
  }
  const std::span<const text::Token> newest = tokens.last(std::min(length, tokens.size()));
  window_.erase(window_.begin(), window_.end() - static_cast<std::ptrdiff_t>(length - newest.size()));
  window_.insert(window_.end(), newest.begin(), newest.end());
  if (slides) cache_.length = 0;
  slid_ = slid_ || slides;
}

void Session::run(std::span<const text::Token> tokens) {
  const ArenaPass pass(arena_);
  const std::size_t rows = tokens.size();
  Context context{.executor = executor_, .memory = arena_, .rows = &rows_};
  if (caching_ == Caching::on) {
    rows_.lay_out_continuation(rows, cache_.length);
    context.cache = &cache_;
  } else {
    rows_.lay_out({&rows, 1}, model_.config().context);
  }
  const Tensor logits = model_.forward(context, tokens).value;
  logits_.assign(logits.slice(0, rows - 1, rows).reshape(logits_.shape()));
}

}  // namespace dikkat::generate
