#include "dikkat/train/stepper.h"

#include <algorithm>
#include <cmath>

#include "dikkat/kernels/elementwise.h"
#include "dikkat/nn/tap.h"

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

Stepper::Stepper(Objective& objective, optim::Optimizer& optimizer, const Settings& settings,
                 const kernels::Executor& executor)
    : objective_(objective),
      optimizer_(optimizer),
      settings_(settings),
      schedule_(schedule_of(settings)),
      executor_(executor),
      at_a_time_(samples_at_a_time(settings, objective.longest_sample(), objective.parameters().count())) {
  drawn_.resize((settings.batch + at_a_time_ - 1) / at_a_time_);
}

void Stepper::draw(std::uint64_t t) {
  for (std::size_t place = 0; place < drawn_.size(); ++place) {
    const std::size_t first = place * at_a_time_;
    drawn_[place] = objective_.draw(place, t, first, std::min(at_a_time_, settings_.batch - first));
  }
}

Arena& Stepper::arena_for(std::size_t place) { return arenas_[(place + 1) * at_a_time_ <= settings_.batch ? 0 : 1]; }

Context Stepper::context_for(std::uint64_t t, std::size_t place) {
  return {.executor = executor_,
          .memory = arena_for(place),
          .rows = drawn_[place].rows,
          .mode = Mode::training,
          .seed = settings_.seed,
          .step = static_cast<std::uint32_t>(t)};
}

Measured Stepper::measure(std::uint64_t t, const StopRequest& stop) {
  draw(t);
  Measured measured;
  std::size_t losses = 0;
  std::size_t targets = 0;
  for (const Drawn& drawn : drawn_) {
    measured.tokens += drawn.rows->count();
    losses += drawn.losses;
    targets += drawn.targets;
  }
  const nn::ParameterStore& parameters = objective_.parameters();
  if (losses_.count() != losses) losses_ = Tensor::empty({losses}, parameters.dtype());

  parameters.zero_gradients();
  const double scale = 1.0 / static_cast<double>(std::max<std::size_t>(targets, 1));
  std::size_t first_loss = 0;
  for (std::size_t place = 0; place < drawn_.size(); ++place) {
    if (stop.asked()) {
      measured.complete = false;
      return measured;
    }
    run_micro_batch(t, place, scale, first_loss);
    first_loss += drawn_[place].losses;
  }
  parameters.finish_gradients(executor_);
  with_number(parameters.dtype(),
              [&]<class T>() { measured.loss_nats = kernels::sum<T>(executor_, losses_.data<T>(), losses) * scale; });
  measured.gradient_norm = optim::gradient_norm(executor_, parameters);
  return measured;
}

void Stepper::run_micro_batch(std::uint64_t t, std::size_t place, double gradient_scale, std::size_t first_loss) {
  const ArenaPass pass(arena_for(place));
  Context context = context_for(t, place);
  context.tape = &tape_;
  {
    const Tensor losses = objective_.losses(context, place, gradient_scale);
    losses_.slice(0, first_loss, first_loss + losses.count()).assign(losses);
  }
  tape_.backward(context);
}

double Stepper::update(std::uint64_t t, const Measured& measured) {
  const double rate = schedule_.rate(executor_, t);
  optimizer_.step(executor_, rate, optim::clip_factor(measured.gradient_norm, settings_.clip), t);
  return rate;
}

std::string Stepper::first_nonfinite(std::uint64_t t) {
  for (std::size_t place = 0; place < drawn_.size(); ++place) {
    NonfiniteTap tap;
    const ArenaPass pass(arena_for(place));
    Context context = context_for(t, place);
    context.tap = &tap;
    static_cast<void>(objective_.losses(context, place, 0.0));
    if (!tap.first().empty()) return tap.first();
  }
  for (const nn::Parameter* parameter : objective_.parameters().in_path_order()) {
    if (!all_finite(parameter->gradient())) return "gradient of " + parameter->path();
  }
  return "loss";
}

}  // namespace dikkat::train
