// Where a run's settings come from: defaults < preset (or the run resumed) < configuration file < options. Every value
// remembers its origin.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dikkat/cli/arguments.h"
#include "dikkat/cli/command.h"
#include "dikkat/train/trainer.h"

namespace dikkat::cli {

struct RunSettings {
  train::RunSpec spec;
  std::string preset;  // empty for the settings of a run
  std::map<std::string, std::string>
      origin;  // setting -> "preset kucuk", "settings.toml: line 3, column 1", "--steps", ...
};

// --preset, --config, and every setting of the model, the training and its conduct, in groups.
[[nodiscard]] std::vector<OptionGroup> setting_groups();

// What stands below the configuration file and the options: the preset's settings, or those of a run to go on with.
struct SettingsBase {
  train::RunSpec spec;
  std::string origin;
};

// `run`: the settings a resumed run was started with, which an explicit preset (of the options or the file) replaces.
// Error{usage} for an unknown key or preset (with the nearest name), a value outside its domain, and settings that do
// not go together.
[[nodiscard]] RunSettings run_settings(const Arguments& arguments,
                                       const std::optional<SettingsBase>& run = std::nullopt);

// Settings nobody chooses.
[[nodiscard]] inline bool settled_by_data(std::string_view name) {
  return name == "vocabulary" || name == "channels" || name == "outputs";
}

// Calls visit(section, name, value, help) for every setting a user can choose, in order.
template <class Visit>
void for_each_setting(train::RunSpec& spec, Visit&& visit) {
  const auto in = [&](const char* section) {
    return [&visit, section](const char* name, auto& value, const char* help) {
      if (!settled_by_data(name)) visit(section, name, value, help);
    };
  };
  models::Config::fields(spec.model, in("Model"));
  train::Settings::fields(spec.settings, in("Training"));
  train::Conduct::fields(spec.conduct, in("Conduct (may change when a run is resumed)"));
}

}  // namespace dikkat::cli
