#include <fmt/format.h>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/config_file.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/run_settings.h"
#include "dikkat/cli/suggest.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

template <class T>
std::string toml_value(const T& value) {
  if constexpr (NamedEnum<T> || std::is_same_v<T, std::string>) {
    return toml_text(text_of(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    const std::string digits = text_of(value);  // TOML's reals need a point or an exponent
    return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
  } else {
    return text_of(value);
  }
}

Json show_json(RunSettings& settings, bool origins) {
  const auto with_origin = [&](const Json& value, const std::string& origin) {
    return origins ? Json::object().set("value", value).set("origin", origin) : value;
  };
  Json object = Json::object();
  for_each_setting(settings.spec, [&](const char*, const char* name, auto& value, const char*) {
    if constexpr (NamedEnum<std::remove_cvref_t<decltype(value)>>) {
      object.set(name, with_origin(Json(text_of(value)), settings.origin[name]));
    } else {
      object.set(name, with_origin(Json(value), settings.origin[name]));
    }
  });
  return object;
}

// What is printed can be given back with --config.
std::string show_toml(RunSettings& settings, bool origins) {
  std::string out;
  std::string last_section;
  for_each_setting(settings.spec, [&](const char* section, const char* name, auto& value, const char* help) {
    if (last_section != section) out += (out.empty() ? "# " : "\n# ") + std::string(section) + "\n";
    last_section = section;
    const std::string line = fmt::format("{} = {}", name, toml_value(value));
    out += fmt::format("{:<34}# {}\n", line, origins ? text::escaped(settings.origin[name]) : help);
  });
  return out;
}

int show(const Arguments& arguments, Output& output) {
  RunSettings settings = run_settings(arguments);
  if (arguments.json()) {
    output.line(text_of(show_json(settings, arguments.has("origin"))));
  } else {
    output.write(show_toml(settings, arguments.has("origin")));
  }
  return 0;
}

int show_presets(const Arguments& arguments, Output& output) {
  Json object = Json::object();
  for (const train::Preset& preset : train::presets()) {
    if (arguments.json()) {
      object.set(preset.name, std::string(preset.summary));
    } else {
      output.line(fmt::format("{:<18}{}", preset.name, preset.summary));
    }
  }
  if (arguments.json()) output.line(text_of(object));
  return 0;
}

int run_config(const Arguments& arguments, Output& output) {
  const std::string& action = arguments.operands().front();
  if (action == "show") return show(arguments, output);
  if (action == "presets") return show_presets(arguments, output);
  throw Error(ErrorKind::usage, "dikkat config cannot '" + label_of(action) + "'",
              {.hint = did_you_mean(action, {"show", "presets"}, "dikkat config ", "dikkat config show, or presets")});
}

}  // namespace

Command config_command() {
  std::vector<OptionGroup> groups = setting_groups();
  groups.front().options.push_back({.name = "origin", .help = "say of every value where it comes from"});
  return {.name = "config",
          .summary = "show settings and where they come from, or list the presets",
          .description =
              "show prints every setting a training with the same options would have, as a file that --config takes. "
              "Options win over the file, the file over the preset, the preset over the defaults.\n"
              "presets lists the presets.",
          .operands = {{.name = "ACTION",
                        .help = "show or presets",
                        .completes = Completes::nothing,
                        .choices = {"show", "presets"}}},
          .groups = std::move(groups),
          .examples = {{"dikkat config show --preset kucuk --steps 300 --origin", "what a training would use, and why"},
                       {"dikkat config show --preset kucuk > mine.toml", "a file to start from"}},
          .run = run_config};
}

}  // namespace dikkat::cli
