// What the scores of heads are by chance, and what is more than that.
//
// Null "untrained": N draws of the initialisation of a model of the same shape, scored on the same windows. For a
// score, z of a head is its value's distance from the null's mean in null deviations, both over the draws of its layer
// (heads of a layer are interchangeable before training; with ALiBi, whose heads have slopes of their own, over the
// draws of the head). z counts upwards, downwards or both ways as the score's alternative says; the profile's is the
// largest of its bins. M is the largest z over all heads of a draw. Then
//   adjusted p = (1 + #{draws with M >= z}) / (N + 1)          (Westfall & Young 1993; Phipson & Smyth 2010)
// is the chance that a model of this shape that learned nothing has such a head anywhere, and
//   raw p      = (1 + #{draws with z of this very head >= z}) / (N + 1)
// what one would get who had asked about this head alone. N draws cannot say less than 1 / (N + 1).
//
// Null "shuffled": the windows' tokens in N other orders, for the same model. Its level holds only where all orders of
// the text are equally likely when nothing is learned from order (exchangeable tokens); on real text it calls 0.2 to 9
// % of the heads of untrained models significant at 5 %. z is taken by head. No induction: its tokens are random
// already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dikkat/inspect/head_scores.h"
#include "dikkat/models/language_model.h"

namespace dikkat::inspect {

inline constexpr std::size_t kNullDraws = 999;

struct HeadNull {
  std::size_t draws = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t columns = 0;
  std::vector<float> values;  // (N, L, H, S) means over the windows; NaN where a score has no value

  [[nodiscard]] double at(std::size_t draw, std::size_t head_of_all, std::size_t column) const {
    return static_cast<double>(values[(draw * layers * heads + head_of_all) * columns + column]);
  }
};

struct NullOptions {
  std::size_t draws = kNullDraws;
  std::uint64_t seed = 1;
  // Told now and then how many draws are done, by the caller's thread; false stops.
  std::function<bool(std::size_t done)> progress = {};
  // Asked often, by any thread, also amid a draw: true stops.
  std::function<bool()> stopped = {};
};

// nullopt when stopped. Draws run side by side, each in a model of its own, as many as there are threads and 2 GiB
// hold.
[[nodiscard]] std::optional<HeadNull> untrained_null(const models::Config& config, DType dtype,
                                                     const HeadWindows& windows, const NullOptions& options,
                                                     const kernels::Executor& executor);
[[nodiscard]] std::optional<HeadNull> shuffled_null(const models::LanguageModel& model, const HeadWindows& windows,
                                                    const NullOptions& options, const kernels::Executor& executor);
// The seed of a draw's initialisation.
[[nodiscard]] std::uint64_t seed_of_draw(std::uint64_t seed, std::size_t draw);

// Whose draws share a mean and a deviation.
enum class NullGroup : std::uint8_t { layer, head };
[[nodiscard]] NullGroup group_of(const models::Config& config);

struct HeadTest {
  std::size_t column = 0;  // the profile: of the bin that stands out most
  double null_mean = 0;
  double null_deviation = 0;
  double z = 0;  // signed, whatever the alternative
  double raw_p = 1;
  double adjusted_p = 1;
};

// A null made ready to be asked.
class HeadTests {
 public:
  // null outlives it.
  HeadTests(const HeadNull& null, HeadColumns columns, NullGroup group);

  [[nodiscard]] const HeadColumns& columns() const { return columns_; }
  // Whether the score has a value on these windows (separation of a single head has none, for instance), and how many
  // have.
  [[nodiscard]] bool has(HeadScore score) const;
  [[nodiscard]] std::size_t scores() const;
  // values (L, H, S), means over the same windows. One entry a head, layer after layer.
  [[nodiscard]] std::vector<HeadTest> test(HeadScore score, std::span<const double> values) const;
  // Of the null's draws of this head's layer (or of the head).
  [[nodiscard]] double null_mean(std::size_t head_of_all, std::size_t column) const {
    return moments(head_of_all, column).mean;
  }
  [[nodiscard]] double null_deviation(std::size_t head_of_all, std::size_t column) const {
    return moments(head_of_all, column).deviation;
  }
  // The smallest p there can be.
  [[nodiscard]] double least_p() const { return 1 / static_cast<double>(null_.draws + 1); }

 private:
  struct Moments {
    double mean = 0;
    double deviation = 0;
  };
  struct Outstanding {
    std::size_t column = 0;
    double z = 0;          // signed
    double statistic = 0;  // as the alternative counts it
  };
  [[nodiscard]] std::size_t all_heads() const { return null_.layers * null_.heads; }
  [[nodiscard]] std::size_t group(std::size_t head) const { return by_head_ ? head : head / null_.heads; }
  [[nodiscard]] const Moments& moments(std::size_t head, std::size_t column) const {
    return moments_[group(head) * null_.columns + column];
  }
  [[nodiscard]] Moments moments_over_draws(std::size_t group, std::size_t column) const;
  // f(column): the head's value.
  template <class F>
  [[nodiscard]] Outstanding outstanding(HeadScore score, std::size_t head, F&& value) const;

  const HeadNull& null_;
  HeadColumns columns_;
  bool by_head_;
  std::vector<Moments> moments_;             // (groups, S)
  std::vector<std::vector<double>> drawn_;   // each score: (N, L H) statistics
  std::vector<std::vector<double>> maxima_;  // each score: (N)
};

}  // namespace dikkat::inspect
