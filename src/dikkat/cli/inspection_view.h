// What dikkat inspect shows in a terminal: thumbnails of all chosen heads, their facts, one map large, activations.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dikkat/cli/heat_map.h"
#include "dikkat/inspect/head_facts.h"
#include "dikkat/inspect/token_labels.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat::cli {

// A row of thumbnails a layer, each under its "layer.head".
[[nodiscard]] std::string overview(const std::vector<inspect::HeadSummary>& summaries, const Look& look);

// Where a head mostly looks, in words: a description of its facts.
[[nodiscard]] std::string looks_at(const inspect::HeadFacts& facts);
// One line a head.
[[nodiscard]] std::string facts_table(const std::vector<inspect::HeadSummary>& summaries);
// The one with the least even map: where there is most to see.
[[nodiscard]] const inspect::HeadSummary& most_focused(const std::vector<inspect::HeadSummary>& summaries);

// Tokens [first, first + count) of a map, as rows and as columns.
struct ShownTokens {
  std::size_t first = 0;
  std::size_t count = 0;
};
// The most that fits a line: the text's end where the model wrote it, else its beginning.
[[nodiscard]] ShownTokens shown_tokens(const std::vector<inspect::TokenLabel>& labels, const Look& look);
// A square of weights, (count, count), NaN where a key is not visible.
[[nodiscard]] std::string large_map(const std::vector<double>& weights, ShownTokens shown,
                                    const std::vector<inspect::TokenLabel>& labels, const Look& look);

// Numbers of one activation, over all that are finite, in double in the order they stand in.
struct ActivationFacts {
  std::string path;
  Shape shape;
  double mean = 0;
  double deviation = 0;
  double root_mean_square = 0;
  double smallest = 0;
  double largest = 0;
  std::size_t not_finite = 0;
  inspect::SmallMap small = {};  // largest magnitude of each block of rows and of what a row holds
};
[[nodiscard]] ActivationFacts facts_of(const std::string& path, const Tensor& contiguous);
[[nodiscard]] std::string activations_table(const std::vector<ActivationFacts>& all);
[[nodiscard]] std::string small_map(const ActivationFacts& facts, const Look& look);

}  // namespace dikkat::cli
