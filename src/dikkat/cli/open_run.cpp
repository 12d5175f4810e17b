#include "dikkat/cli/open_run.h"

#include "dikkat/cli/console.h"

namespace dikkat::cli {

train::LoadedRun open_run(const Arguments& arguments) {
  const auto choice = train::checkpoint_choice_from(arguments.text("checkpoint").value_or("latest"));
  train::LoadedRun run = train::load_run(arguments.operands().front(), choice);
  for (const std::string& warning : run.warnings) write_error("dikkat: warning: " + harmless(warning) + "\n");
  return run;
}

}  // namespace dikkat::cli
