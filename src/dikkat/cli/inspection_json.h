// What dikkat inspect says in JSON.
#pragma once

#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/cli/inspected_run.h"
#include "dikkat/cli/inspection_pass.h"

namespace dikkat::cli {

// run, step, weights_sha256, source; of a text first_token, tokens_in_source, skipped, tokens [{id, text, generated}];
// of a series series, name, readings (steps, channels).
[[nodiscard]] Json subject_json(const InspectedRun& run, const Subject& subject);
// [{layer, head, self, previous, first, distance_tokens, spread_tokens, evenness, looks_at, weights}]; `maps` is empty
// or holds the weights of each, which are moved from.
[[nodiscard]] Json heads_json(const std::vector<inspect::HeadSummary>& summaries, std::vector<Json>& maps);
// [{path, shape, mean, deviation, root_mean_square, smallest, largest, not_finite, values}]
[[nodiscard]] Json activations_json(ActivationView& view);

}  // namespace dikkat::cli
