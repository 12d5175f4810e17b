// Patching: what an activation of one text, put into the pass over another of the same length, does to what the model
// says. Where it moves the output most of the way from one text's to the other's, that is where the model holds what
// the texts differ in (Vig et al. 2020; Meng et al. 2022: causal tracing).
//
// The output is read at one row: the logits of `target` and `other` there (the next token if `row` is the last). The
// share of the way is (d - d_into) / (d_from - d_into) with d = logit(target) - logit(other): 0 where nothing moved, 1
// where the patched pass prefers the target as the other text's pass does; it may leave [0, 1].
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dikkat/inspect/intervention.h"
#include "dikkat/inspect/passes.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::inspect {

struct PatchQuestion {
  std::span<const text::Token> into;  // the text whose pass is patched
  std::span<const text::Token> from;  // the text whose activations are put there; as many tokens
  std::size_t row = 0;                // where the output is read
  text::Token target = 0;
  text::Token other = 0;
};

// What the model says at the row.
struct PatchOutput {
  double target_logit = 0;
  double other_logit = 0;
  double target_probability = 0;
  double target_loss_nats = 0;  // -ln of it

  [[nodiscard]] double difference() const { return target_logit - other_logit; }
};

struct Patch {
  Part part;                            // without positions taken away
  std::optional<std::size_t> row = {};  // at this row alone; everywhere without
};

struct PatchResult {
  Patch patch;
  PatchOutput output;
  std::optional<double> share = {};  // of the way; none where the two texts' outputs do not differ
  Change change = {};                // of the activation
};

// Of a gap smaller than this part of the larger of its ends, a share says nothing: a small move makes hundreds of
// percent of it.
inline constexpr double kLeastGap = 0.25;
// Whether the two differences are apart by less than that.
[[nodiscard]] bool nearly_equal(const PatchOutput& into, const PatchOutput& from);

struct Patching {
  PatchOutput into;
  PatchOutput from;
  std::vector<PatchResult> results;  // one a patch
};

// The most probable next token at `row` of a text, of equals the lowest; `besides` does not count.
[[nodiscard]] text::Token most_probable(Passes& passes, std::span<const text::Token> tokens, std::size_t row,
                                        std::optional<text::Token> besides = {});

// Error{usage}: texts of different lengths, rows past them, tokens outside the vocabulary, positions as a part. One
// pass a patch.
[[nodiscard]] Patching patch(Passes& passes, const PatchQuestion& question, const std::vector<Patch>& patches);

}  // namespace dikkat::inspect
