// One training step: loss and gradients over the step's micro-batches, then the update.
//
// All micro-batches of a step are drawn first, the divisor is the step's number of valid targets, and gradients are
// sums of whole chunks: so several micro-batches equal the big batch to the bit. A micro-batch goes through the model
// in pieces, one for each thread where that shares the work out evenly, else as one piece whose kernels use all
// threads; the pieces' sums are those of the whole (autograd/row_sum.h). After the first step nothing is allocated.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
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

// In how many pieces so many samples go through the model on so many threads.
[[nodiscard]] std::size_t pieces_of(std::size_t samples, unsigned threads);

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
  [[nodiscard]] std::size_t micro_batches() const { return micro_batches_.size(); }
  // Bytes of activations and gradients a step needs, known after the first.
  [[nodiscard]] std::size_t activation_bytes() const;

 private:
  struct MicroBatch {
    std::size_t first_piece, pieces;  // of drawn_
    bool whole;                       // false: a last one that is smaller
  };
  // What the piece with one number in its micro-batch uses, micro-batch after micro-batch.
  struct Track {
    std::array<Arena, 2> arenas;  // of whole micro-batches, and of a last one that is smaller
    Tape tape;
  };
  class Passes;

  void cut_up();
  void draw(std::uint64_t t);
  void run_micro_batch(std::uint64_t t, const MicroBatch& micro_batch, double gradient_scale);
  void run_piece(const kernels::Executor& executor, std::uint64_t t, const MicroBatch& micro_batch, std::size_t track,
                 double gradient_scale);
  [[nodiscard]] Context context_for(const kernels::Executor& executor, std::uint64_t t, const MicroBatch& micro_batch,
                                    std::size_t track);

  Objective& objective_;
  optim::Optimizer& optimizer_;
  Settings settings_;
  optim::Schedule schedule_;
  kernels::Executor executor_;
  std::size_t at_a_time_;  // samples of a micro-batch
  Crew crew_;
  std::deque<Track> tracks_;
  std::vector<MicroBatch> micro_batches_;
  std::vector<Drawn> drawn_;             // the step's pieces
  std::vector<std::size_t> first_loss_;  // of each piece
  Tensor losses_;                        // of the whole step
};

}  // namespace dikkat::train
