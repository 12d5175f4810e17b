// A model without what it knows of positions. Positions that are added to the embedding (learned, sinusoidal) are taken
// away there; others (rotary, alibi) act inside attention, and the same weights run in a model of position `none`.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dikkat/data/batch.h"
#include "dikkat/inspect/intervention.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/models/language_model.h"

namespace dikkat::inspect {

// Whether positions enter by being added to the embedding.
[[nodiscard]] bool positions_added(const models::Config& config);

// The same weights in a model of position `none`. Memory of all weights once more.
[[nodiscard]] models::LanguageModel without_positions(const models::LanguageModel& model);

// Where the model first tells positions apart: the activation whose change shows that they were taken away.
[[nodiscard]] Site first_site_of_positions(const models::Config& config);

// (length, C): the vectors that are added, position by position. Only for positions_added.
[[nodiscard]] Tensor position_vectors(const models::LanguageModel& model, const kernels::Executor& executor,
                                      std::size_t length);
// (R,C): the batch's tokens embedded, without positions.
[[nodiscard]] Tensor token_vectors(const models::LanguageModel& model, const kernels::Executor& executor,
                                   const data::Batch& batch);

}  // namespace dikkat::inspect
