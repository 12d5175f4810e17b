// Trying a model of these very settings before it is trained: its first loss, its gradients, whether it can learn one
// batch by heart, and how long a step takes.
#pragma once

#include <chrono>
#include <cstdint>

#include "dikkat/kernels/executor.h"
#include "dikkat/train/check_finding.h"
#include "dikkat/train/check_probe.h"
#include "dikkat/train/settings.h"

namespace dikkat::train {

// Seconds that may be spent; what is left over is not.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds) : began_(std::chrono::steady_clock::now()), seconds_(seconds) {}
  [[nodiscard]] double passed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  [[nodiscard]] bool is_over() const { return passed() >= seconds_; }

 private:
  std::chrono::steady_clock::time_point began_;
  double seconds_;
};

// first-loss: an untrained model knows nothing, so its loss is that of guessing evenly (`expected`), or the start is
// off.
// `far`: what is no longer near. A squared error starts above it by the spread of the first outputs, so more is near.
inline constexpr double kFarInNats = 0.5;
inline constexpr double kFarInSquares = 3;
[[nodiscard]] Finding check_first_loss(double measured, double expected, double far = kFarInNats);

// gradients: of the largest entry of every parameter's gradient and one more, backward against central differences, in
// double. The probe is of f64. Agreement is |difference| <= 1e-5 of the tensor's largest entry + 1e-9 (loss rounding)
// at one of the steps 1e-5, 1e-6 and 1e-4: a kink of the activation within a step is no fault.
[[nodiscard]] Finding check_gradients(Probe& probe, std::uint64_t seed, double seconds);

// memorise: updates at the settings' peak rate (ten steps of warm-up) on one batch. It is learnt by heart when the loss
// falls to a quarter of the first within kMemoriseSteps; not finite, or hardly lower: trouble.
inline constexpr std::uint64_t kMemoriseSteps = 400;
[[nodiscard]] Finding check_memorising(Probe& probe, const Settings& settings, const kernels::Executor& executor,
                                       double seconds);

// Seconds of one step on the probe's batch: loss and gradients, which grow with the batch, and the update, which does
// not. The least of up to five within `seconds`.
struct StepSeconds {
  double pass = 0;
  double update = 0;
};
[[nodiscard]] StepSeconds seconds_of_step(Probe& probe, const Settings& settings, const kernels::Executor& executor,
                                          double seconds);

}  // namespace dikkat::train
