#include "dikkat/train/stepper.h"

#include <algorithm>
#include <cmath>

#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/kernels/elementwise.h"
#include "dikkat/nn/tap.h"
#include "dikkat/ops/cross_entropy.h"

namespace dikkat::train {
namespace {

bool all_finite(const Tensor& tensor) {
  const Tensor flat = tensor.contiguous() ? tensor : tensor.clone();
  return with_number(tensor.dtype(), [&]<class T>() {
    const auto values = flat.span<T>();
    return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
  });
}

// Remembers the first activation that is not finite.
class NonfiniteTap final : public nn::Tap {
 public:
  bool wants(std::string_view /*path*/) const override { return first_.empty(); }
  void see(std::string_view path, Tensor& activation) override {
    if (!all_finite(activation)) first_ = path;
  }
  [[nodiscard]] const std::string& first() const { return first_; }

 private:
  std::string first_;
};

}  // namespace

WindowSource::WindowSource(std::span<const text::Token> tokens, std::size_t context, std::uint64_t seed)
    : tokens_(tokens), context_(context), sampler_(random::stream(seed, "sampler")) {}

void WindowSource::fill(std::uint64_t t, std::size_t first, std::size_t count, data::Batch& batch) {
  data::training_batch(tokens_, context_, sampler_, t, first, count, batch);
}

std::uint64_t WindowSource::start_of(std::uint64_t t, std::size_t sample) const {
  return data::window_start(tokens_.size() - context_, sampler_, t, sample);
}

optim::OptimizerSettings optimizer_settings(const Settings& settings) {
  return {.rule = settings.optimizer == OptimizerKind::sgd ? optim::Rule::sgd : optim::Rule::adam,
          .momentum = settings.momentum,
          .beta1 = settings.beta1,
          .beta2 = settings.beta2,
          .epsilon = settings.epsilon,
          .decay = settings.optimizer == OptimizerKind::adam ? 0.0 : settings.weight_decay};
}

optim::Schedule schedule_of(const Settings& settings) {
  return {.kind = settings.schedule,
          .peak = settings.learning_rate,
          .final = settings.final_learning_rate,
          .warmup = settings.warmup,
          .steps = settings.steps,
          .decay_share = settings.decay_share};
}

bool Measured::finite() const { return std::isfinite(loss_nats) && std::isfinite(gradient_norm); }

Stepper::Stepper(const models::LanguageModel& model, optim::Optimizer& optimizer, const Settings& settings,
                 const kernels::Executor& executor)
    : model_(model), optimizer_(optimizer), settings_(settings), schedule_(schedule_of(settings)), executor_(executor) {
  const std::size_t micro = settings.micro_batch == 0 ? settings.batch : settings.micro_batch;
  batches_.resize((settings.batch + micro - 1) / micro);
}

void Stepper::draw(std::uint64_t t, BatchSource& source) {
  const std::size_t micro = settings_.micro_batch == 0 ? settings_.batch : settings_.micro_batch;
  for (std::size_t m = 0; m < batches_.size(); ++m) {
    source.fill(t, m * micro, std::min(micro, settings_.batch - m * micro), batches_[m]);
  }
}

Context Stepper::context_for(std::uint64_t t, const data::Batch& batch) {
  return {.executor = executor_,
          .memory = arena_,
          .rows = &batch.rows,
          .mode = Mode::training,
          .seed = settings_.seed,
          .step = static_cast<std::uint32_t>(t)};
}

Measured Stepper::measure(std::uint64_t t, BatchSource& source, const StopRequest& stop) {
  draw(t, source);
  Measured measured;
  std::size_t targets = 0;
  for (const data::Batch& batch : batches_) {
    measured.tokens += batch.inputs.size();
    targets += static_cast<std::size_t>(
        std::count_if(batch.targets.begin(), batch.targets.end(), [](auto id) { return id != kernels::kNoTarget; }));
  }
  const DType dtype = model_.parameters().dtype();
  if (row_losses_.count() != measured.tokens) row_losses_ = Tensor::empty({measured.tokens}, dtype);

  model_.parameters().zero_gradients();
  const double scale = 1.0 / static_cast<double>(std::max<std::size_t>(targets, 1));
  std::size_t first_row = 0;
  for (const data::Batch& batch : batches_) {
    if (stop.asked()) {
      measured.complete = false;
      return measured;
    }
    run_micro_batch(t, batch, scale, first_row);
    first_row += batch.inputs.size();
  }
  model_.parameters().finish_gradients(executor_);
  with_number(dtype, [&]<class T>() {
    measured.loss_nats = kernels::sum<T>(executor_, row_losses_.data<T>(), measured.tokens) * scale;
  });
  measured.gradient_norm = optim::gradient_norm(executor_, model_.parameters());
  return measured;
}

void Stepper::run_micro_batch(std::uint64_t t, const data::Batch& batch, double gradient_scale, std::size_t first_row) {
  const ArenaPass pass(arena_);
  Context context = context_for(t, batch);
  context.tape = &tape_;
  {
    const Variable logits = model_.forward(context, batch.inputs);
    const Tensor losses = ops::cross_entropy(context, logits, batch.targets, gradient_scale);
    row_losses_.slice(0, first_row, first_row + losses.count()).assign(losses);
  }
  tape_.backward(context);
}

double Stepper::update(std::uint64_t t, const Measured& measured) {
  const double rate = schedule_.rate(executor_, t);
  optimizer_.step(executor_, rate, optim::clip_factor(measured.gradient_norm, settings_.clip), t);
  return rate;
}

std::string Stepper::first_nonfinite(std::uint64_t t) {
  for (const data::Batch& batch : batches_) {
    NonfiniteTap tap;
    const ArenaPass pass(arena_);
    Context context = context_for(t, batch);
    context.tap = &tap;
    (void)model_.forward(context, batch.inputs);
    if (!tap.first().empty()) return tap.first();
  }
  for (const nn::Parameter* parameter : model_.parameters().in_path_order()) {
    if (!all_finite(parameter->gradient())) return "gradient of " + parameter->path();
  }
  return "loss";
}

}  // namespace dikkat::train
