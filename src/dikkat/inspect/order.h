// The order test: what a model says when its tokens or readings stand in another order, positions kept.
//
// Of a text: in each window every token but the last goes to another place (an order drawn for the window by the seed);
// the last stays, so that the question stays: what comes next. The distance is that of the two distributions of the
// next token after the last (total variation: half the sum of |p - q|, in [0,1]), and the difference of the losses of
// the token that did come.
//
// Of series: the readings of each series go to other places, channels that are told to stay stay where they are
// (position channels). The distance is the total variation of the class probabilities (of two classes: |change of the
// second's|), or the change of the number, in deviations of the training part.
//
// A model is blind to order when nothing in it tells positions apart: no positions, no sliding window, and attention
// that looks both ways, or one block of causal attention, read at the last row. Its distance is 0 but for rounding:
// chains of sums take their terms in the order of the rows. It is exactly 0 for series models without blocks whose
// pooling is attention-query: its sums are compensated and do not depend on the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dikkat/data/series_coding.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/models/language_model.h"
#include "dikkat/models/series_model.h"
#include "dikkat/stats/summary.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::inspect {

// Whether the model must be blind to order by its make; exactly_blind: even the bits are the same.
[[nodiscard]] bool blind_to_order(const models::Config& config);
[[nodiscard]] bool exactly_blind(const models::Config& config);

struct OrderOptions {
  std::size_t windows = 200;  // of a text; fewer when it holds fewer
  std::size_t length = 0;     // tokens of a window, at least 3; 0: the context, or what the text holds
  std::uint64_t seed = 0;
};

struct OrderTest {
  std::vector<double> distances;          // one a window or series
  stats::Interval interval = {};          // of their mean: Student's t, 95 %
  std::size_t unmoved = 0;                // those of distance exactly 0
  std::size_t other_answers = 0;          // those with another most probable token or class; of numbers none
  std::vector<double> loss_changes = {};  // of a text: loss in the new order minus loss as it stands
  stats::Interval loss_interval = {};
  std::size_t length = 0;  // of the windows of a text
};

// Error{malformed}: a text of fewer than 4 tokens, or of one token over and over. Error{incompatible}: a context of
// fewer than 3. Error{usage}: windows of fewer than 3 tokens or more than the
// context.
[[nodiscard]] OrderTest order_test(const models::LanguageModel& model, const kernels::Executor& executor,
                                   std::span<const text::Token> tokens, const OrderOptions& options);

// `kept`: channels that stay. Error{incompatible}: other channels than the model's, series longer than its context.
[[nodiscard]] OrderTest order_test(const models::SeriesModel& model, const kernels::Executor& executor,
                                   const data::CodedSeries& series, std::span<const std::size_t> kept,
                                   std::uint64_t seed);

}  // namespace dikkat::inspect
