#include "dikkat/train/evaluator.h"

#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/kernels/elementwise.h"
#include "dikkat/ops/cross_entropy.h"

namespace dikkat::train {

std::optional<Evaluation> Evaluator::evaluate(std::span<const text::Token> tokens, const StopRequest& stop) {
  const data::EvaluationWindows windows{tokens, model_.config().context};
  if (windows.targets() == 0) {
    throw Error(ErrorKind::malformed,
                "a text of " + std::to_string(tokens.size()) + (tokens.size() == 1 ? " token" : " tokens") +
                    " leaves nothing to predict",
                {.hint = "give a text of at least two tokens"});
  }
  const std::size_t at_a_time = std::max<std::size_t>(1, kEvaluationRows / model_.config().context);
  double total = 0;
  for (std::size_t first = 0; first < windows.count(); first += at_a_time) {
    if (stop.asked()) return std::nullopt;
    windows.fill(first, std::min(at_a_time, windows.count() - first), batch_);
    const ArenaPass pass(arena_);
    Context context{.executor = executor_, .memory = arena_, .rows = &batch_.rows};
    const Variable logits = model_.forward(context, batch_.inputs);
    const Tensor losses = ops::cross_entropy(context, logits, batch_.targets, 0.0);
    with_number(losses.dtype(), [&]<class T>() {
      for (std::size_t b = 0; b < batch_.rows.samples(); ++b) {
        const std::size_t begin = batch_.rows.first_row[b];
        total += kernels::sum<T>(executor_, losses.data<T>() + begin, batch_.rows.first_row[b + 1] - begin);
      }
    });
  }
  return Evaluation{
      .loss_nats = total / static_cast<double>(windows.targets()), .targets = windows.targets(), .accuracy = {}};
}

}  // namespace dikkat::train
