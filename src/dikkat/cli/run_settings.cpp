#include "dikkat/cli/run_settings.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>

#include "dikkat/base/json.h"
#include "dikkat/cli/config_file.h"
#include "dikkat/cli/suggest.h"

namespace dikkat::cli {
namespace {

constexpr const char* kDefaultPreset = "shakespeare-cpu";
constexpr const char* kSeriesPreset = "series";

struct ConfigFile {
  std::string path;
  std::vector<ConfigEntry> entries;
};

[[noreturn]] void refuse(const ConfigFile& file, const ConfigEntry& entry, std::string message, std::string hint = {}) {
  throw Error(ErrorKind::usage, std::move(message), {.file = file.path, .key = entry.where, .hint = std::move(hint)});
}

std::string as_text(const ConfigEntry& entry) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::int64_t>) {
          return std::to_string(value);
        } else {
          return text_of(value);
        }
      },
      entry.value);
}

// As strict as an option: 1.0 is no count, 3 passes for a real, nothing passes for a text but a text.
template <class T>
std::optional<T> typed(const ConfigEntry& entry) {
  if constexpr (std::is_same_v<T, bool>) {
    const bool* value = std::get_if<bool>(&entry.value);
    return value == nullptr ? std::nullopt : std::optional(*value);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (const auto* whole = std::get_if<std::int64_t>(&entry.value)) return static_cast<double>(*whole);
    const double* value = std::get_if<double>(&entry.value);
    return value == nullptr || !std::isfinite(*value) ? std::nullopt : std::optional(*value);
  } else if constexpr (std::is_integral_v<T>) {
    const auto* value = std::get_if<std::int64_t>(&entry.value);
    return value == nullptr || *value < 0 ? std::nullopt : std::optional(static_cast<T>(*value));
  } else {
    const auto* value = std::get_if<std::string>(&entry.value);
    return value == nullptr ? std::nullopt : field_from<T>(*value);
  }
}

const ConfigEntry* find_entry(const ConfigFile& file, std::string_view key) {
  const auto found = std::find_if(file.entries.begin(), file.entries.end(),
                                  [&](const ConfigEntry& entry) { return entry.key == key; });
  return found == file.entries.end() ? nullptr : &*found;
}

void refuse_unknown_keys(const ConfigFile& file) {
  std::vector<std::string> known{"preset"};
  train::RunSpec spec;
  for_each_setting(spec, [&](const char*, const char* name, auto&, const char*) { known.emplace_back(name); });
  for (const ConfigEntry& entry : file.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    refuse(file, entry, "there is no setting '" + label_of(entry.key) + "'",
           did_you_mean(entry.key, known, "", "dikkat config show lists them all"));
  }
}

// The preset that was asked for, and by whom; no origin: nobody did.
struct PresetChoice {
  std::string name = kDefaultPreset;
  std::optional<std::string> origin = {};
};

// Nobody chose a preset: that of the task.
PresetChoice default_preset(const Arguments& arguments, const ConfigFile& file) {
  std::optional<std::string> task = arguments.text("task");
  if (const ConfigEntry* entry = find_entry(file, "task"); !task && entry != nullptr) task = as_text(*entry);
  const bool series = task && (*task == text_of(models::Task::classify) || *task == text_of(models::Task::regress));
  return {.name = series ? kSeriesPreset : kDefaultPreset};
}

PresetChoice preset_choice(const Arguments& arguments, const ConfigFile& file) {
  if (const auto named = arguments.text("preset")) return {*named, "--preset"};
  const ConfigEntry* entry = find_entry(file, "preset");
  if (entry == nullptr) return default_preset(arguments, file);
  const auto* name = std::get_if<std::string>(&entry->value);
  if (name == nullptr)
    refuse(file, *entry, "preset takes a name in quotes, not " + label_of(as_text(*entry)),
           "write it like preset = \"kucuk\"");
  return {*name, file.path + ": " + entry->where};
}

RunSettings base_settings(const PresetChoice& choice, const std::optional<SettingsBase>& run) {
  RunSettings base;
  std::string origin;
  if (run && !choice.origin) {
    base.spec = run->spec;
    origin = run->origin;
  } else {
    const train::Preset& preset = train::preset_named(choice.name);
    base.spec = {.model = preset.model, .settings = preset.settings, .conduct = {}};
    base.preset = preset.name;
    origin = "preset " + base.preset;
    if (run) {  // how a run is conducted hangs on no preset
      base.spec.conduct = run->spec.conduct;
      train::keep_what_data_settled(run->spec.model, base.spec.model);
    }
  }
  for_each_setting(base.spec, [&](const char* section, const char* name, auto&, const char*) {
    const bool conduct = std::string_view(section).starts_with("Conduct");
    base.origin[name] = !conduct ? origin : run ? run->origin : "default";
  });
  return base;
}

void apply_file(const ConfigFile& file, RunSettings& settings) {
  for_each_setting(settings.spec, [&](const char*, const char* name, auto& value, const char*) {
    using T = std::remove_cvref_t<decltype(value)>;
    const ConfigEntry* entry = find_entry(file, name);
    if (entry == nullptr) return;
    const std::optional<T> read = typed<T>(*entry);
    if (!read) {
      refuse(file, *entry, std::string(name) + " takes " + domain_of<T>() + ", not '" + label_of(as_text(*entry)) + "'",
             "dikkat config show prints every setting as it is written");
    }
    value = *read;
    settings.origin[name] = file.path + ": " + entry->where;
  });
}

void apply_options(const Arguments& arguments, RunSettings& settings) {
  for_each_setting(settings.spec, [&](const char*, const char* name, auto& value, const char*) {
    if (!arguments.has(name)) return;
    value = arguments.value(name, value);
    settings.origin[name] = std::string("--") + name;
  });
}

// A short run of a preset with a long warm-up: unless somebody chose the warm-up, it takes half the steps at most.
void shorten_warmup(RunSettings& settings) {
  train::Settings& s = settings.spec.settings;
  std::string& origin = settings.origin["warmup"];
  if (!origin.starts_with("preset ") || s.warmup <= s.steps / 2) return;
  s.warmup = s.steps / 2;
  origin += ", cut to half the steps";
}

bool writes(const models::Config& model) {
  return model.task == models::Task::next_token && model.direction == models::Direction::causal;
}

void check_together(const train::RunSpec& spec) {
  models::Config model = spec.model;
  if (model.task == models::Task::next_token) {  // what is not known before the data is read
    if (model.vocabulary == 0) model.vocabulary = 256;
  } else {
    if (model.channels == 0) model.channels = model.input == models::InputKind::raw ? model.width : 1;
    if (model.outputs == 0) model.outputs = 1;
    if (model.context == 0) model.context = 1;
  }
  models::check(model);
  train::check(spec.settings, model);
  train::check(spec.conduct);
  const train::Conduct& conduct = spec.conduct;
  if (conduct.sample_every != 0 && !writes(spec.model)) {
    throw Error(ErrorKind::usage,
                "sample-every: a model of series, or of direction bidirectional, has no next token to write",
                {.key = "sample-every", .hint = "give --sample-every 0, or --direction causal"});
  }
  if (conduct.patience != 0 && conduct.eval_every == 0) {
    throw Error(ErrorKind::usage, "patience: it counts evaluations, and with eval-every 0 there are none",
                {.key = "patience", .hint = "give --eval-every a number above 0, or --patience 0"});
  }
}

}  // namespace

std::vector<OptionGroup> setting_groups() {
  std::vector<Option> start{{.name = "preset",
                             .value = "NAME",
                             .help = "settings to start from (dikkat config presets)",
                             .fallback = kDefaultPreset},
                            {.name = "config",
                             .value = "FILE.toml",
                             .help = "settings from a file, one NAME = VALUE a line, preset = \"NAME\" among them; "
                                     "options win over it",
                             .completes = Completes::file}};
  for (const train::Preset& preset : train::presets()) start[0].choices.emplace_back(preset.name);
  const train::Preset& preset = train::preset_named(kDefaultPreset);
  std::vector<Option> model = field_options(preset.model);
  std::erase_if(model, [](const Option& option) { return settled_by_data(option.name); });
  return {{"Settings to start from", std::move(start)},
          {"Model", std::move(model)},
          {"Training", field_options(preset.settings)},
          {"Conduct (may change when a run is resumed)", field_options(train::Conduct())}};
}

RunSettings run_settings(const Arguments& arguments, const std::optional<SettingsBase>& run) {
  ConfigFile file{.path = arguments.text("config").value_or(""), .entries = {}};
  if (arguments.has("config")) file.entries = read_config_file(file.path);
  refuse_unknown_keys(file);
  RunSettings settings = base_settings(preset_choice(arguments, file), run);
  apply_file(file, settings);
  apply_options(arguments, settings);
  shorten_warmup(settings);
  check_together(settings.spec);
  return settings;
}

}  // namespace dikkat::cli
