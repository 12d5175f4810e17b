#include "dikkat/train/estimate.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "dikkat/base/error.h"
#include "dikkat/base/size_text.h"
#include "dikkat/train/evaluator.h"

namespace dikkat::train {
namespace {

// The program itself, its stacks and buffers.
constexpr std::size_t kProgramBytes = std::size_t{10} << 20U;

std::size_t memory_limit() {
  std::size_t limit =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::size_t group = 0;
  if (file >> group) limit = std::min(limit, group);
  return limit;
}

// Of a row of the whole step, which is drawn before its first micro-batch: token, target, sample, position.
constexpr std::size_t kDrawnRowBytes = 4 * sizeof(std::uint32_t);

// Numbers kept per row of a micro-batch from the forward pass to the backward pass, and the widest transient beside
// them.
std::size_t numbers_per_row(const models::Config& c) {
  const std::size_t queries = c.heads * c.head_width_or_default();
  const std::size_t joint = queries + 2 * c.kv_heads_or_default() * c.head_width_or_default();
  const std::size_t inner = c.mlp_width_or_default();
  const std::size_t up = kernels::input_width(c.activation, inner);
  const std::size_t block = 4 * c.width + joint + queries + 2 * c.heads + up + inner + 4;
  return 2 * c.width + c.layers * block + std::max(c.vocabulary, up + inner) + 2 * c.width;
}

// And per row of an evaluation: the widest moment of a block.
std::size_t numbers_per_evaluated_row(const models::Config& c) {
  const std::size_t inner = c.mlp_width_or_default();
  return 3 * c.width + kernels::input_width(c.activation, inner) + inner;
}

}  // namespace

Estimate estimate(const RunSpec& spec, std::size_t tokens) {
  const models::Config& model = spec.model;
  const std::size_t bytes = spec.settings.number == NumberKind::f64 ? 8 : 4;
  Estimate e;
  e.parameters = models::parameter_count(model);
  const std::size_t samples = samples_at_a_time(spec.settings, model.longest_sample(), e.parameters);
  const std::size_t moments = spec.settings.optimizer == OptimizerKind::sgd ? 1 : 2;
  const std::size_t second = model.output == models::OutputKind::tied ? model.vocabulary * model.width : 0;
  const std::size_t held = e.parameters * (2 + moments) + second;
  e.memory_bytes = kProgramBytes + tokens * (sizeof(text::Token) + 1) +
                   bytes * (held + samples * model.longest_sample() * numbers_per_row(model) +
                            kEvaluationRows * numbers_per_evaluated_row(model)) +
                   spec.settings.batch * model.longest_sample() * (kDrawnRowBytes + bytes);
  e.checkpoint_bytes = bytes * e.parameters * (1 + moments) + 8192;
  // 6 per weight and token (forward 2, backward 4), and attention's two products each way over half the positions.
  const double positions = static_cast<double>(spec.settings.batch) * static_cast<double>(model.context);
  const double products = static_cast<double>(
      e.parameters - (model.output == models::OutputKind::free ? model.vocabulary * model.width : 0));
  const double attention = 12.0 * static_cast<double>(model.layers * model.heads * model.head_width_or_default()) *
                           static_cast<double>(model.context) / 2;
  e.operations_per_step = positions * (6.0 * products + attention);
  return e;
}

void require_memory(const Estimate& estimate) {
  const std::size_t limit = memory_limit();
  if (estimate.memory_bytes <= limit) return;
  throw Error(ErrorKind::limit,
              "training would need about " + size_text(estimate.memory_bytes) + " of memory, this machine has " +
                  size_text(limit),
              {.hint = "choose a smaller model, context or batch, or a micro-batch below the batch"});
}

}  // namespace dikkat::train
