// run.json.
#pragma once

#include <string>
#include <string_view>

#include "dikkat/train/run_folder.h"

namespace dikkat::train {

[[nodiscard]] std::string record_text(const RunRecord& record);
// Error{malformed} with file and key, also when the text is not what its checksum says; Error{incompatible} for another
// version.
[[nodiscard]] RunRecord record_from(std::string_view text, const std::string& file);

}  // namespace dikkat::train
