// The formats in which weights leave the house and come back.
#pragma once

#include <string>

#include "dikkat/cli/arguments.h"
#include "dikkat/models/language_model.h"

namespace dikkat::cli {

enum class WeightFormat : std::uint8_t { text };

// --format, and what was given.
[[nodiscard]] Option weight_format_option();
[[nodiscard]] WeightFormat weight_format(const Arguments& arguments);

// --out, the name of something that must not exist yet; Error{usage}. `what` is "a file" or "a folder".
[[nodiscard]] std::string new_path(const Arguments& arguments, const std::string& what);

// All weights of the model as the format's file.
[[nodiscard]] std::string exported(const models::LanguageModel& model, WeightFormat format);
// Sets the model's weights to a file's; Error{malformed} for one that holds anything but
// numbers, Error{incompatible} for one that is not of the model's shape.
void import_into(const models::LanguageModel& model, const std::string& path, WeightFormat format);

}  // namespace dikkat::cli
