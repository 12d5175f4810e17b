#include "dikkat/cli/open_run.h"

#include <utility>

#include "dikkat/cli/console.h"

namespace dikkat::cli {

train::LoadedRun open_run(const Arguments& arguments) {
  const auto choice = train::checkpoint_choice_from(arguments.text("checkpoint").value_or("latest"));
  train::LoadedRun run = train::load_run(arguments.operands().front(), choice);
  for (const std::string& warning : run.warnings) write_error("dikkat: warning: " + harmless(warning) + "\n");
  return run;
}

Option skip_unknown_option(const std::string& what) {
  return {.name = "skip-unknown", .help = "leave out characters of " + what + " that the model has no token for"};
}

text::UnknownPolicy unknown_policy(const Arguments& arguments) {
  return arguments.has("skip-unknown") ? text::UnknownPolicy::skip : text::UnknownPolicy::refuse;
}

Error with_skip_hint(const Error& error) {
  if (error.kind() != ErrorKind::incompatible) return error;
  ErrorPlace place = error.place();
  place.hint = "leave them out, or add --skip-unknown to have that done";
  return {error.kind(), error.message(), std::move(place)};
}

}  // namespace dikkat::cli
