#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/weight_files.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

int run_export(const Arguments& arguments, Output& output) {
  const WeightFormat format = weight_format(arguments);
  const std::string out = new_path(arguments, "a file");
  const train::LoadedRun run = open_run(arguments);
  const std::string content = exported(run.model, format);
  replace_file(out, content);
  if (arguments.json()) {
    output.line(text_of(Json::object()
                            .set("run", run.folder.path().string())
                            .set("file", out)
                            .set("bytes", content.size())
                            .set("weights_sha256", run.weights_sha256)));
  } else {
    output.line("Wrote " + text::escaped(out) + ", " + size_text(content.size()) + ", weights sha256 " +
                run.weights_sha256);
  }
  return 0;
}

}  // namespace

Command export_command() {
  return {
      .name = "export",
      .summary = "write a model's weights for other programs",
      .description =
          "Writes the weights of a run to a file. The format text is the book's: one tensor a line, in the order "
          "of its "
          "parameter list, shortest decimals that read back to the same bits.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
      .groups =
          {{"What to write",
            {weight_format_option(),
             {.name = "out", .value = "FILE", .help = "file to make", .completes = Completes::file, .required = true},
             checkpoint_option()}}},
      .examples = {{"dikkat export runs/first --format text --out weights.txt", "weights as text"}},
      .run = run_export};
}

}  // namespace dikkat::cli
