#include "dikkat/cli/program.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/base/version.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/help.h"
#include "dikkat/cli/suggest.h"

namespace dikkat::cli {
namespace {

bool asks_for_json(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

Json as_json(const Error& error) {
  const auto text = [](const std::string& t) { return t.empty() ? Json() : Json(t); };
  Json inner = Json::object();
  inner.set("code", exit_code(error.kind())).set("kind", name_of(error.kind())).set("message", error.message());
  inner.set("file", text(error.place().file));
  inner.set("offset", error.place().offset ? Json(*error.place().offset) : Json());
  inner.set("key", text(error.place().key)).set("hint", text(error.place().hint));
  return Json::object().set("error", inner);
}

void say_error(const Error& error) {
  const bool colour = has_colour(Stream::error);
  std::string line = error.what();
  std::replace(line.begin(), line.end(), '\n', ' ');
  write_error((colour ? "dikkat: \x1b[1;31merror:\x1b[0m " : "dikkat: error: ") + harmless(line) + "\n");
}

// No file has a name longer than the system takes; what was given instead is not repeated whole.
Error shortened(const Error& error) {
  constexpr std::size_t kLongestPath = 4096;
  ErrorPlace place = error.place();
  if (place.file.size() > kLongestPath) place.file = label_of(place.file);
  return {error.kind(), error.message(), std::move(place)};
}

int report(const Error& whole, bool json, Output& output) {
  const Error error = shortened(whole);
  if (json) {
    try {
      output.line(text_of(as_json(error)));
      output.flush();
      return exit_code(error.kind());
    } catch (...) {
      // Standard output takes nothing more; the line below still tells.
    }
  }
  say_error(error);
  return exit_code(error.kind());
}

Error bug(const std::string& what) {
  return {
      ErrorKind::internal, what, {.hint = "this is a bug in dikkat; please report it with the command line you used"}};
}

int show_version(const std::vector<std::string>& words, Output& output) {
  const Version& v = version();
  for (const std::string& word : words) {
    if (word == "--version" || word == "-V" || word == "--json") continue;
    throw Error(ErrorKind::usage, "--version stands alone or with --json, not with '" + label_of(word) + "'");
  }
  if (asks_for_json(words)) {
    output.line(text_of(Json::object()
                            .set("version", std::string(v.number))
                            .set("commit", std::string(v.commit))
                            .set("compiler", std::string(v.compiler))
                            .set("build_type", std::string(v.build_type))
                            .set("flags", std::string(v.flags))));
  } else {
    output.line("dikkat " + std::string(v.number) + " (" + std::string(v.commit.substr(0, 12)) + ", " +
                std::string(v.compiler) + ", " + std::string(v.build_type) + ")");
  }
  return 0;
}

// Words that begin with an option: help, version, or a slip.
int without_command(const std::vector<std::string>& words, Output& output) {
  const std::string& first = words.front();
  if (std::find(words.begin(), words.end(), "--version") != words.end() || first == "-V") {
    return show_version(words, output);
  }
  if (first == "--help" || first == "-h" || (first == "--json" && words.size() == 1)) {
    if (asks_for_json(words)) {
      output.line(text_of(Json::object().set("help", overview())));
    } else {
      output.write(overview());
    }
    return 0;
  }
  throw Error(
      ErrorKind::usage, "expected a command before '" + label_of(first) + "'",
      {.hint = first.starts_with("--") ? did_you_mean(first.substr(2), {"help", "version"}, "--", "see dikkat --help")
                                       : "see dikkat --help"});
}

int dispatch(const std::string& program, const std::vector<std::string>& words, Output& output) {
  if (words.empty()) {
    output.write(overview());
    return 0;
  }
  if (words.front().starts_with("-")) return without_command(words, output);
  const Command& command = command_named(words.front());
  const Arguments arguments(command, {words.begin() + 1, words.end()}, program);
  if (!arguments.has("help")) {
    static_cast<void>(execution_options(arguments));  // wrong ones are refused by those that need none, too
    return command.run(arguments, output);
  }
  if (arguments.json()) {
    output.line(text_of(Json::object().set("help", help_of(command))));
  } else {
    output.write(help_of(command));
  }
  return 0;
}

}  // namespace

int run_program(const std::string& program, const std::vector<std::string>& words) {
  const bool json = asks_for_json(words);
  Output output;
  try {
    const int code = dispatch(program, words, output);
    output.flush();
    return code;
  } catch (const OutputClosed&) {
    return 0;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) return report(bug(error.what()), json, output);
    return report(error, json, output);
  } catch (const std::bad_alloc&) {
    return report({ErrorKind::limit, "out of memory", {.hint = "a smaller model, batch or context needs less"}}, json,
                  output);
  } catch (const std::filesystem::filesystem_error& error) {
    return report({ErrorKind::io,
                   "cannot look at a file: " + error.code().message(),
                   {.file = error.path1().string(), .hint = "check the path and its permissions"}},
                  json, output);
  } catch (const std::exception& error) {
    return report(bug(error.what()), json, output);
  } catch (...) {
    return report(bug("an unknown exception"), json, output);
  }
}

}  // namespace dikkat::cli
