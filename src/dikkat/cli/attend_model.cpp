#include "dikkat/cli/attend_model.h"

#include <fmt/format.h>

#include "dikkat/inspect/attention_maps.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/lessons/self_attention_words.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

void require_below(std::size_t number, std::size_t count, const char* what) {
  if (number < count) return;
  throw Error(ErrorKind::usage,
              fmt::format("there is no {0} {1}: the model has {2} {0}{3}, the first is 0", what, number, count,
                          count == 1 ? "" : "s"),
              {.key = what, .hint = fmt::format("did you mean --{} {}?", what, count - 1)});
}

// Adds a part's rows, divided by how many heads they are of.
void add(const inspect::MapRows& part, double share, lessons::Matrix& sum) {
  const std::size_t rows = part.weights.shape()[0];
  const std::size_t heads = part.weights.shape()[1];
  with_number(part.weights.dtype(), [&]<class T>() {
    const T* weights = part.weights.data<T>();
    for (std::size_t r = 0; r < rows; ++r) {
      const auto row = sum.row(part.first_row + r);
      for (std::size_t h = 0; h < heads; ++h) {
        for (std::size_t c = 0; c < row.size(); ++c) row[c] += static_cast<double>(*weights++);
      }
      for (double& weight : row) weight *= share;
    }
  });
}

}  // namespace

void check(const HeadWish& wish, const models::Config& config) {
  require_below(wish.layer, config.layers, "layer");
  if (wish.head) require_below(*wish.head, config.heads, "head");
}

std::vector<text::Token> tokens_for(const text::Tokenizer& tokenizer, const models::Config& config,
                                    std::string_view text, text::UnknownPolicy unknown, std::size_t& skipped) {
  std::string buffer;
  const std::string_view clean = text::clean_text(text, buffer, "the sentence");
  std::vector<text::Token> tokens;
  skipped += tokenizer.encode(clean, unknown, tokens).size();
  if (tokens.size() > config.context && tokens.size() <= lessons::kMostAttendedTokens) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{} tokens are more than the model sees at once ({})", tokens.size(), config.context),
                {.key = "SENTENCE", .hint = "give a shorter text"});
  }
  lessons::check_length(tokens.size(), "tokens");
  return tokens;
}

lessons::Matrix attention_of(const models::LanguageModel& model, const kernels::Executor& executor,
                             const std::vector<text::Token>& tokens, const HeadWish& wish) {
  const inspect::MapRule rule = inspect::map_rule(model.config());
  const inspect::HeadRange range =
      wish.head ? inspect::HeadRange{*wish.head, *wish.head + 1} : inspect::HeadRange{0, rule.heads};
  lessons::Matrix mean(tokens.size(), tokens.size());
  inspect::HeadsTap tap({wish.layer}, [&](const inspect::LayerHeads& heads) {
    inspect::visit_maps(executor, rule, heads, range, [&](const inspect::MapRows& part) {
      add(part, 1.0 / static_cast<double>(range.last - range.first), mean);
    });
  });
  inspect::Passes passes(model, executor);
  static_cast<void>(passes.logits(tokens, &tap));
  return mean;
}

}  // namespace dikkat::cli
