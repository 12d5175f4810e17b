// Ablation: what a part of a model is worth, as the difference of the loss with and without it, window by window.
//
// In place of the part's activation (intervention_parts.h) stands, in each row of a window,
//   zero      nothing
//   mean      the activation's mean over the rows of reference windows: its average is kept, what it says of this text
//             is not
//   resample  the activation of the same row of a reference window, drawn for each window by the seed: it keeps its
//             distribution, and speaks of another text
// Reference windows are others than those measured: of a text of their own, or of the same text, which is then divided
// by the seed. So the differences of different windows are independent given the reference, and Student's t holds for
// them (from 50 windows drawn at random on). `positions` by mean puts the mean position vector at every position, by
// resample the position vectors in another order (drawn for each window); both need positions that are added to the
// embedding.
//
// A pair is both parts away at once; its interaction is d(a,b) - d(a) - d(b), window by window: 0 when each is worth
// the same whether or not the other is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dikkat/base/fields.h"
#include "dikkat/inspect/intervention.h"
#include "dikkat/inspect/intervention_parts.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/models/language_model.h"
#include "dikkat/stats/summary.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::inspect {

enum class Substitute : std::uint8_t { zero, mean, resample };
enum class Pairs : std::uint8_t { none, all };
enum class Together : std::uint8_t { no, yes };  // all parts at once, besides each

struct AblationOptions {
  std::vector<Substitute> by = {Substitute::zero, Substitute::mean, Substitute::resample};
  std::size_t windows = 100;     // measured; fewer when the text holds fewer
  std::size_t references = 100;  // for mean and resample
  std::size_t length = 0;        // tokens of a window; 0: the model's context
  std::uint64_t seed = 0;        // draws windows, donors and orders
  Pairs pairs = Pairs::none;
  Together together = Together::no;
  std::vector<std::size_t> positions = {};  // of the windows, where the parts are taken away; none: everywhere
};

// Below this many windows whose loss differs at all there is no test: a handful of windows decides nothing.
inline constexpr std::size_t kLeastDiffering = 6;

// Of numbers that are one a window.
struct Estimate {
  double mean = 0;                  // nats a token
  stats::Interval interval = {};    // Student's t, 95 %
  std::size_t differing = 0;        // windows whose number is not 0
  std::optional<double> p = {};     // two-sided t test of 0; none below kLeastDiffering or 2 windows
  std::optional<double> holm = {};  // p adjusted (Holm 1979) over everything tested in the study
};

struct Effect {
  std::vector<std::size_t> parts;  // numbers of the parts taken away: one, two, or all
  Substitute by = Substitute::zero;
  std::vector<double> differences = {};  // loss without the part minus loss with it, per window
  Estimate loss = {};
  std::vector<double> interactions = {};     // of a pair, per window
  std::optional<Estimate> interaction = {};  // of a pair
  Change change = {};                        // of the activations themselves
  std::string undefined = {};                // why there are no figures; empty when there are
};

struct Ablation {
  std::vector<Part> parts;
  AblationOptions options = {};          // length as it was used
  std::vector<std::size_t> starts = {};  // windows measured, in the text
  std::vector<std::size_t> reference_starts = {};
  bool reference_apart = false;     // the reference windows are of a text of their own
  std::vector<double> losses = {};  // of the model as it is, per window
  std::vector<Effect> effects =
      {};                 // singles by part, then pairs, then all together; each by every substitute in order
  std::size_t tests = 0;  // over which p is adjusted
};

// What is measured, and where the reference windows are drawn from (empty: from the same text).
struct AblationText {
  std::span<const text::Token> measured;
  std::span<const text::Token> reference = {};
};

// Told after each batch of windows how many passes over a window are done, of how many; false stops.
using Progress = std::function<bool(std::size_t done, std::size_t passes)>;

// nullopt when stopped. Error{usage}: no parts, a length above the context, positions past the window, positions of a
// model whose positions stand in attention by rows. Error{malformed}: a text that holds no window, or only one where a
// reference is needed.
[[nodiscard]] std::optional<Ablation> ablate(const models::LanguageModel& model, const kernels::Executor& executor,
                                             const AblationText& text, const std::vector<Part>& parts,
                                             const AblationOptions& options, const Progress& progress = {});

// The estimate of numbers that are one a window; without holm.
[[nodiscard]] Estimate estimate_of(std::span<const double> numbers);

}  // namespace dikkat::inspect

namespace dikkat {

template <>
struct EnumNames<inspect::Substitute> {
  static constexpr std::array<std::pair<inspect::Substitute, std::string_view>, 3> names{
      {{inspect::Substitute::zero, "zero"},
       {inspect::Substitute::mean, "mean"},
       {inspect::Substitute::resample, "resample"}}};
};

}  // namespace dikkat
