// The lesson on heads (document "Cok Basli Dikkat ve Donusturuculer"): the same inner width divided over 1, 2 and 4
// heads, what the heads look at, and why position is a precondition.
//
// The classifier is an ordinary models::SeriesModel without blocks: raw channels (reading, sin(pi t / 11), cos(pi t /
// 11)), one learned query a head over keys and values of the steps, sums over steps compensated, one logit. Training is
// optim's descent with momentum, v = 0.8 v - 0.15 gradient, on all 200 series at once, in double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/lessons/heads_data.h"

namespace dikkat::lessons {

struct HeadsSettings {
  std::uint64_t seed = 20260218;  // TOHUM
  std::size_t epochs = 150;       // tur
  std::size_t width = 4;          // DTOP, over all heads
  friend bool operator==(const HeadsSettings&, const HeadsSettings&) = default;
};
// Error{usage}: no epochs, more than kMostHeadsEpochs; a width that 4 heads do not divide, above kMostHeadsWidth; a
// seed above kMostHeadsSeed.
void check(const HeadsSettings& settings);
inline constexpr std::size_t kMostHeadsEpochs = 100'000;
inline constexpr std::size_t kMostHeadsWidth = 256;
inline constexpr std::uint64_t kMostHeadsSeed = (std::uint64_t{1} << 63U) - 1;

enum class PositionChannels : std::uint8_t { on, off };  // off: both are 0

// One model's parameters as the document orders them; d = width / heads.
struct HeadsParameters {
  std::vector<double> keys;    // Wk (H, d, 3)
  std::vector<double> values;  // Wv (H, d, 3)
  std::vector<double> query;   // q (H, d)
  std::vector<double> output;  // w (H d)
  double bias = 0;             // b

  [[nodiscard]] std::size_t count() const { return keys.size() + values.size() + query.size() + output.size() + 1; }
};
// The document's start: (u + u + u - 1.5) * 0.9 for Wk, Wv, q, w in this order, b = 0.
[[nodiscard]] HeadsParameters heads_start(std::uint64_t seed, std::size_t heads, std::size_t width);

// One training and what became of it.
struct HeadsRun {
  std::size_t heads = 1;
  std::size_t number = 1;  // 1 or 2; starts from seed + number
  PositionChannels position = PositionChannels::on;
  HeadsParameters start = {}, trained = {};
  double training_accuracy = 0;
  double training_loss_nats = 0;
  double held_out_loss_nats = 0;
  // Of the held-out series.
  std::vector<double> logits = {}, probabilities = {}, shuffled_probabilities = {};  // (180)
  std::vector<double> weights = {};  // (180, 12, H): each head's weights of the steps
  std::size_t correct = 0;           // class 1 iff the logit is above 0
  std::size_t predicted_rising = 0;
  std::vector<double> centres = {};  // (H) mean over the series of the sum over t of t * weight
  double separation = 0;             // half the L1 distance of two heads' weights, mean over pairs and series
  double mean_change = 0;            // of the probability when the readings are shuffled
  double largest_change = 0;
  std::size_t changed = 0;  // series whose probability changed at all

  [[nodiscard]] double accuracy() const { return static_cast<double>(correct) / static_cast<double>(kHeadsHeldOut); }
  // The mean weight of a step over the held-out series, (12).
  [[nodiscard]] std::array<double, kHeadsSteps> mean_weights(std::size_t head) const;
  // Whether each of the two regions has a head whose centre lies in it.
  [[nodiscard]] bool splits_by_region() const;
};

// From a run's weights: the mean over the held-out series of the sum over t of t * weight of one head; half the L1
// distance of two heads' weights, the mean over pairs and series, 0 for one head.
[[nodiscard]] double head_centre(const HeadsRun& run, std::size_t head);
[[nodiscard]] double head_separation(const HeadsRun& run);

struct HeadsLesson {
  HeadsSettings settings;
  std::vector<HeadsSeries> series;
  // By heads 1, 2, 4, two runs each; then two runs of 2 heads without position.
  std::array<std::array<HeadsRun, 2>, 3> with_position = {};
  std::array<HeadsRun, 2> without_position = {};

  [[nodiscard]] std::span<const HeadsSeries> training() const { return std::span(series).first(kHeadsTraining); }
  [[nodiscard]] std::span<const HeadsSeries> held_out() const { return std::span(series).last(kHeadsHeldOut); }
  [[nodiscard]] std::size_t parameters() const { return with_position[0][0].trained.count(); }
};
inline constexpr std::array<std::size_t, 3> kHeadCounts = {1, 2, 4};

// All eight trainings, over the executor's threads.
[[nodiscard]] HeadsLesson heads_lesson(const kernels::Executor& executor, const HeadsSettings& settings);

// Parameters of one training after each of `epochs` (ascending).
[[nodiscard]] std::vector<HeadsParameters> heads_trajectory(const kernels::Executor& executor,
                                                            const HeadsSettings& settings, std::size_t heads,
                                                            std::size_t number, std::span<const std::size_t> epochs);

// The document's own layout and words, with this run's figures.
[[nodiscard]] std::string as_published(const HeadsLesson& lesson);
// In English, with pictures; every figure is this run's. With the published run, also what differs from it.
[[nodiscard]] std::string explained(const HeadsLesson& lesson, const HeadsLesson* published = nullptr);
// Every number a port needs, under the keys of tests/golden/lesson_heads_py312.json.
[[nodiscard]] Json as_json(const HeadsLesson& lesson, const kernels::Executor& executor);

}  // namespace dikkat::lessons
