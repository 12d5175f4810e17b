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
    ++seen_;
    if (!all_finite(activation)) first_ = path;
  }
  [[nodiscard]] const std::string& first() const { return first_; }
  // Activations seen up to it, itself included.
  [[nodiscard]] std::size_t seen() const { return seen_; }

 private:
  std::string first_;
  std::size_t seen_ = 0;
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

// A piece for each thread, but not where more than a quarter of the threads' time would be waiting for the longest.
std::size_t pieces_of(std::size_t samples, unsigned threads) {
  const std::size_t pieces = std::min({std::size_t{threads}, samples, kMostPieces});
  if (pieces <= 1) return 1;
  const std::size_t longest = (samples + pieces - 1) / pieces;
  return 4 * samples >= 3 * longest * threads ? pieces : 1;
}

// The passes of the tracks that a micro-batch needs, as a scope: they end with nothing held.
class Stepper::Passes {
 public:
  Passes(std::deque<Track>& tracks, const MicroBatch& micro_batch) : tracks_(tracks), micro_batch_(micro_batch) {
    for (std::size_t i = 0; i < micro_batch.pieces; ++i) arena(i).begin_pass();
  }
  ~Passes() {
    for (std::size_t i = 0; i < micro_batch_.pieces; ++i) {
      tracks_[i].tape.clear();
      arena(i).end_pass();
    }
  }
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

 private:
  [[nodiscard]] Arena& arena(std::size_t track) const { return tracks_[track].arenas[micro_batch_.whole ? 0 : 1]; }

  std::deque<Track>& tracks_;
  const MicroBatch& micro_batch_;
};

Stepper::Stepper(Objective& objective, optim::Optimizer& optimizer, const Settings& settings,
                 const kernels::Executor& executor)
    : objective_(objective),
      optimizer_(optimizer),
      settings_(settings),
      schedule_(schedule_of(settings)),
      executor_(executor),
      at_a_time_(samples_at_a_time(settings, objective.longest_sample(), objective.parameters().count())),
      crew_(executor.pool.threads()) {
  cut_up();
}

// The micro-batches of a step and their pieces.
void Stepper::cut_up() {
  for (std::size_t first = 0; first < settings_.batch; first += at_a_time_) {
    const std::size_t samples = std::min(at_a_time_, settings_.batch - first);
    const std::size_t pieces = pieces_of(samples, executor_.pool.threads());
    micro_batches_.push_back({drawn_.size(), pieces, samples == at_a_time_});
    drawn_.resize(drawn_.size() + pieces);
    while (tracks_.size() < pieces) tracks_.emplace_back();
  }
  first_loss_.resize(drawn_.size());
}

std::size_t Stepper::activation_bytes() const {
  std::size_t bytes = 0;
  for (const Track& track : tracks_) bytes += track.arenas[0].planned_bytes() + track.arenas[1].planned_bytes();
  return bytes;
}

void Stepper::draw(std::uint64_t t) {
  std::size_t first = 0;
  for (const MicroBatch& micro_batch : micro_batches_) {
    const std::size_t samples = std::min(at_a_time_, settings_.batch - first);
    for (std::size_t i = 0; i < micro_batch.pieces; ++i) {
      const std::size_t begin = samples * i / micro_batch.pieces;
      const std::size_t end = samples * (i + 1) / micro_batch.pieces;
      const std::size_t place = micro_batch.first_piece + i;
      drawn_[place] = objective_.draw(place, t, first + begin, end - begin);
    }
    first += samples;
  }
}

Context Stepper::context_for(const kernels::Executor& executor, std::uint64_t t, const MicroBatch& micro_batch,
                             std::size_t track) {
  return {.executor = executor,
          .memory = tracks_[track].arenas[micro_batch.whole ? 0 : 1],
          .rows = drawn_[micro_batch.first_piece + track].rows,
          .mode = Mode::training,
          .seed = settings_.seed,
          .step = static_cast<std::uint32_t>(t)};
}

Measured Stepper::measure(std::uint64_t t, const StopRequest& stop) {
  draw(t);
  Measured measured;
  std::size_t losses = 0;
  std::size_t targets = 0;
  for (std::size_t piece = 0; piece < drawn_.size(); ++piece) {
    measured.tokens += drawn_[piece].rows->count();
    first_loss_[piece] = losses;
    losses += drawn_[piece].losses;
    targets += drawn_[piece].targets;
  }
  const nn::ParameterStore& parameters = objective_.parameters();
  if (losses_.count() != losses) losses_ = Tensor::empty({losses}, parameters.dtype());

  parameters.zero_gradients();
  const double scale = 1.0 / static_cast<double>(std::max<std::size_t>(targets, 1));
  for (const MicroBatch& micro_batch : micro_batches_) {
    if (stop.asked()) {
      measured.complete = false;
      return measured;
    }
    run_micro_batch(t, micro_batch, scale);
  }
  parameters.finish_gradients(executor_);
  with_number(parameters.dtype(),
              [&]<class T>() { measured.loss_nats = kernels::sum<T>(executor_, losses_.data<T>(), losses) * scale; });
  measured.gradient_norm = optim::gradient_norm(executor_, parameters);
  return measured;
}

void Stepper::run_micro_batch(std::uint64_t t, const MicroBatch& micro_batch, double gradient_scale) {
  const Passes passes(tracks_, micro_batch);
  if (micro_batch.pieces == 1) return run_piece(executor_, t, micro_batch, 0, gradient_scale);
  executor_.pool.run(micro_batch.pieces, [&](std::size_t track, unsigned worker) {
    run_piece(crew_.alone(worker, executor_), t, micro_batch, track, gradient_scale);
  });
  std::array<Tape*, kMostPieces> tapes{};
  for (std::size_t i = 0; i < micro_batch.pieces; ++i) tapes[i] = &tracks_[i].tape;
  Tape::form_sums({tapes.data(), micro_batch.pieces}, crew_, executor_);
}

// Forward and backward; the losses go where the step keeps them.
void Stepper::run_piece(const kernels::Executor& executor, std::uint64_t t, const MicroBatch& micro_batch,
                        std::size_t track, double gradient_scale) {
  Tape& tape = tracks_[track].tape;
  tape.set_sums(micro_batch.pieces == 1 ? Tape::Sums::at_once : Tape::Sums::kept);
  Context context = context_for(executor, t, micro_batch, track);
  context.tape = &tape;
  const std::size_t piece = micro_batch.first_piece + track;
  {
    const Tensor losses = objective_.losses(context, piece, gradient_scale);
    losses_.slice(0, first_loss_[piece], first_loss_[piece] + losses.count()).assign(losses);
  }
  tape.backward(context);
}

double Stepper::update(std::uint64_t t, const Measured& measured) {
  const double rate = schedule_.rate(executor_, t);
  optimizer_.step(executor_, rate, optim::clip_factor(measured.gradient_norm, settings_.clip), t);
  return rate;
}

std::string Stepper::first_nonfinite(std::uint64_t t) {
  for (const MicroBatch& micro_batch : micro_batches_) {
    const Passes passes(tracks_, micro_batch);
    // The earliest of all pieces: what is named does not tell into how many the samples were cut.
    std::string first;
    std::size_t earliest = 0;
    for (std::size_t i = 0; i < micro_batch.pieces; ++i) {
      NonfiniteTap tap;
      Context context = context_for(executor_, t, micro_batch, i);
      context.tap = &tap;
      static_cast<void>(objective_.losses(context, micro_batch.first_piece + i, 0.0));
      if (tap.first().empty() || (!first.empty() && tap.seen() >= earliest)) continue;
      first = tap.first();
      earliest = tap.seen();
    }
    if (!first.empty()) return first;
  }
  for (const nn::Parameter* parameter : objective_.parameters().in_path_order()) {
    if (!all_finite(parameter->gradient())) return "gradient of " + parameter->path();
  }
  return "loss";
}

}  // namespace dikkat::train
