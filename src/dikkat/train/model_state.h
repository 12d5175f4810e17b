// The tensors of a model and its optimiser as checkpoints keep them: named, in byte-wise order, sharing memory.
#pragma once

#include <string>
#include <vector>

#include "dikkat/formats/named_tensor.h"
#include "dikkat/nn/parameter.h"
#include "dikkat/optim/optimizer.h"

namespace dikkat::train {

[[nodiscard]] std::vector<formats::NamedTensor> weights_of(const nn::ParameterStore& parameters);
[[nodiscard]] std::vector<formats::NamedTensor> state_of(const optim::Optimizer& optimizer);

// Copies `from` into `into`, name by name. Error{incompatible} lists what is missing, superfluous or of another shape;
// nothing is copied then. `what` is named in the error ("weights of runs/a").
void restore(const std::vector<formats::NamedTensor>& into, const std::vector<formats::NamedTensor>& from,
             const std::string& what);

}  // namespace dikkat::train
