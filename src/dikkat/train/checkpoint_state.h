// state.json of a checkpoint.
#pragma once

#include <string>
#include <string_view>

#include "dikkat/train/checkpoint.h"

namespace dikkat::train {

[[nodiscard]] std::string state_text(const CheckpointState& state);
// Error{malformed} with file and key; Error{incompatible} for another format version.
[[nodiscard]] CheckpointState state_from(std::string_view text, const std::string& file);

}  // namespace dikkat::train
