// One training step: loss and gradients over the step's micro-batches, then the update.
//
// All micro-batches of a step are drawn first, the divisor is the step's number of valid targets, and gradients are
// sums of whole chunks: so several micro-batches equal the big batch to the bit. After the first step nothing is
// allocated.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "dikkat/autograd/tape.h"
#include "dikkat/optim/optimizer.h"
#include "dikkat/optim/schedule.h"
#include "dikkat/tensor/arena.h"
#include "dikkat/train/objective.h"
#include "dikkat/train/settings.h"

namespace dikkat::train {

// Set by a signal handler (an atomic flag only); polled per micro-batch, in evaluation and in data preparation.
struct StopRequest {
  std::atomic<int> signal{0};  // 0, or the number of the first signal

  [[nodiscard]] bool asked() const { return signal.load(std::memory_order_relaxed) != 0; }
};

[[nodiscard]] optim::OptimizerSettings optimizer_settings(const Settings& settings);
[[nodiscard]] optim::Schedule schedule_of(const Settings& settings);

struct Measured {
  double loss_nats = 0;      // mean over the step's valid targets, before the update
  double gradient_norm = 0;  // before clipping
  std::size_t tokens = 0;    // rows that went through
  bool complete = true;      // false: a stop was asked for in the middle; the gradients are of no use

  [[nodiscard]] bool finite() const;
};

class Stepper {
 public:
  // objective and optimizer outlive the stepper. Samples of a step: settings.batch; of a micro-batch:
  // samples_at_a_time.
  Stepper(Objective& objective, optim::Optimizer& optimizer, const Settings& settings,
          const kernels::Executor& executor);

  // Forward and backward of step t (from 1).
  [[nodiscard]] Measured measure(std::uint64_t t, const StopRequest& stop);
  // The update of step t with the gradients of `measured`; returns the learning rate.
  double update(std::uint64_t t, const Measured& measured);

  // After a measurement that is not finite: the path of the first tensor that is not (an activation in the order of the
  // forward pass, else a gradient in path order), found by running the step's forward pass again.
  [[nodiscard]] std::string first_nonfinite(std::uint64_t t);
  [[nodiscard]] std::size_t micro_batches() const { return drawn_.size(); }
  // Bytes of activations and gradients a step needs, known after the first.
  [[nodiscard]] std::size_t activation_bytes() const { return arenas_[0].planned_bytes() + arenas_[1].planned_bytes(); }

 private:
  void draw(std::uint64_t t);
  void run_micro_batch(std::uint64_t t, std::size_t place, double gradient_scale, std::size_t first_loss);
  [[nodiscard]] Arena& arena_for(std::size_t place);
  [[nodiscard]] Context context_for(std::uint64_t t, std::size_t place);

  Objective& objective_;
  optim::Optimizer& optimizer_;
  Settings settings_;
  optim::Schedule schedule_;
  kernels::Executor executor_;
  std::size_t at_a_time_;        // samples of a micro-batch
  std::array<Arena, 2> arenas_;  // of whole micro-batches, and of a last one that is smaller
  Tape tape_;
  std::vector<Drawn> drawn_;  // the step's micro-batches
  Tensor losses_;             // of the whole step
};

}  // namespace dikkat::train
