#include "dikkat/cli/inspected_run.h"

#include "dikkat/base/error.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {
namespace {

void refuse_options(const Arguments& arguments, const std::vector<std::string>& options, const std::string& of,
                    const std::string& learned) {
  for (const std::string& option : options) {
    if (!arguments.has(option)) continue;
    throw Error(ErrorKind::usage, "--" + option + " is for runs that learned " + of + "; this one learned " + learned,
                {.key = "--" + option, .hint = "leave it out"});
  }
}

}  // namespace

InspectedRun inspected_run(const Arguments& arguments, const kernels::Executor& executor) {
  if (train::task_of(arguments.operands().front()) == models::Task::next_token) {
    refuse_options(arguments, {"series", "label"}, "series", "a text");
    return inspected_text(arguments, executor);
  }
  refuse_options(arguments, {"text", "skip-unknown", "from", "length", "last", "generate"}, "a text", "series");
  return inspected_series(arguments, executor);
}

}  // namespace dikkat::cli
