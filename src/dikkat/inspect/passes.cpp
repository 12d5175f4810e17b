#include "dikkat/inspect/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/kernels/elementwise.h"
#include "dikkat/ops/cross_entropy.h"

namespace dikkat::inspect {
namespace {

void check_lengths(const kernels::Rows& rows, std::size_t context) {
  for (std::size_t b = 0; b < rows.samples(); ++b) {
    const std::size_t length = rows.first_row[b + 1] - rows.first_row[b];
    if (length == 0) {
      throw Error(ErrorKind::incompatible, "a text of no tokens has nothing to look at", {.hint = "give some text"});
    }
    if (length > context) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("a text of {} tokens is longer than the model's context of {}", length, context),
                  {.hint = fmt::format("give at most {} tokens", context)});
    }
  }
}

void check_tokens(std::span<const text::Token> tokens, const kernels::Rows& rows, std::size_t vocabulary) {
  if (tokens.size() != rows.count()) {
    throw Error(ErrorKind::internal, fmt::format("{} tokens in a layout of {} rows", tokens.size(), rows.count()));
  }
  for (const text::Token token : tokens) {
    if (token >= vocabulary) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("token {} is outside the model's vocabulary of {}", token, vocabulary));
    }
  }
}

std::size_t targets_between(const data::Batch& batch, std::size_t begin, std::size_t end) {
  std::size_t targets = 0;
  for (std::size_t r = begin; r < end; ++r) targets += batch.targets[r] == kernels::kNoTarget ? 0U : 1U;
  return targets;
}

}  // namespace

Passes::Passes(const models::LanguageModel& model, const kernels::Executor& executor)
    : model_(model), executor_(executor) {}

template <class Use>
void Passes::pass(std::span<const text::Token> tokens, const kernels::Rows& rows, nn::Tap* tap, Use&& use) {
  check_lengths(rows, model_.config().context);
  check_tokens(tokens, rows, model_.config().vocabulary);
  const ArenaPass scope(arena_);
  Context context{.executor = executor_, .memory = arena_, .rows = &rows, .tap = tap};
  const Variable logits = model_.forward(context, tokens);
  use(context, logits);
}

template <class Use>
void Passes::with_losses(const data::Batch& batch, nn::Tap* tap, Use&& use) {
  pass(batch.inputs, batch.rows, tap,
       [&](Context& context, const Variable& logits) { use(ops::cross_entropy(context, logits, batch.targets, 0.0)); });
}

Tensor Passes::logits(std::span<const text::Token> tokens, nn::Tap* tap) {
  kernels::Rows rows;
  rows.lay_out(std::array{tokens.size()}, std::max<std::size_t>(tokens.size(), 1));
  Tensor kept;
  pass(tokens, rows, tap, [&](Context&, const Variable& logits) { kept = logits.value.clone(); });
  return kept;
}

void Passes::look(const data::Batch& batch, nn::Tap& tap) {
  pass(batch.inputs, batch.rows, &tap, [](Context&, const Variable&) {});
}

Tensor Passes::row_losses(const data::Batch& batch, nn::Tap* tap) {
  Tensor kept;
  with_losses(batch, tap, [&](const Tensor& losses) { kept = losses.clone(); });
  return kept;
}

std::vector<double> Passes::losses(const data::Batch& batch, nn::Tap* tap) {
  std::vector<double> means;
  means.reserve(batch.rows.samples());
  with_losses(batch, tap, [&](const Tensor& losses) {
    with_number(losses.dtype(), [&]<class T>() {
      for (std::size_t b = 0; b < batch.rows.samples(); ++b) {
        const std::size_t begin = batch.rows.first_row[b];
        const std::size_t end = batch.rows.first_row[b + 1];
        const double sum = kernels::sum<T>(executor_, losses.data<T>() + begin, end - begin);
        const std::size_t targets = targets_between(batch, begin, end);
        means.push_back(targets == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(targets));
      }
    });
  });
  return means;
}

}  // namespace dikkat::inspect
