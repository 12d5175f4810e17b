#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/made_run.h"
#include "dikkat/cli/weight_files.h"
#include "dikkat/text/utf8.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {
namespace {

int run_import(const Arguments& arguments, Output& output) {
  const WeightFormat format = weight_format(arguments);
  const std::string out = new_path(arguments, "a folder");
  const std::optional<std::string> like = arguments.text("like");
  if (!like) {
    throw Error(ErrorKind::usage, "of what shape are the weights?",
                {.key = "--like", .hint = "add --like and a run of the same model"});
  }
  const train::LoadedRun pattern = train::load_run(*like);
  import_into(pattern.model, arguments.operands().front(), format);
  const std::string sha256 = make_run(out, pattern, pattern.model);
  if (arguments.json()) {
    output.line(text_of(Json::object().set("run", out).set("weights_sha256", sha256)));
  } else {
    output.line("Made " + text::escaped(out) + ", weights sha256 " + sha256);
  }
  return 0;
}

}  // namespace

Command import_command() {
  return {
      .name = "import",
      .summary = "make a run from weights of another program",
      .description =
          "Makes a new run with the weights of a file and the model, tokenizer and settings of another run. It stands "
          "at "
          "step 0: it can generate, be measured, and be trained on with train --resume.",
      .operands = {{.name = "FILE", .help = "the weights"}},
      .groups = {{"What to make",
                  {weight_format_option(),
                   {.name = "like",
                    .value = "RUN",
                    .help = "run whose model the weights fit",
                    .completes = Completes::folder,
                    .required = true},
                   {.name = "out",
                    .value = "RUN2",
                    .help = "folder of the new run",
                    .completes = Completes::folder,
                    .required = true}}}},
      .examples = {{"dikkat import weights.txt --format text --like runs/first --out runs/second",
                    "weights from text"}},
      .run = run_import};
}

}  // namespace dikkat::cli
