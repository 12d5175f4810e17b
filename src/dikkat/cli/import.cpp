#include "dikkat/base/json.h"
#include "dikkat/base/version.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/weight_files.h"
#include "dikkat/formats/named_tensor.h"
#include "dikkat/optim/optimizer.h"
#include "dikkat/text/utf8.h"
#include "dikkat/train/loaded_run.h"
#include "dikkat/train/model_state.h"
#include "dikkat/train/stepper.h"

namespace dikkat::cli {
namespace {

// A run at step 0 with the weights of `model` and everything else of `like`: ready to generate, measure and train on.
std::string make_run(const std::string& out, const train::LoadedRun& like, const models::LanguageModel& model) {
  train::NewRun content{.record = like.folder.record(), .coding_json = like.folder.coding_json(), .copies = {}};
  content.record.program = version().number;
  content.record.model = like.state.model;
  content.record.settings = like.state.settings;
  std::vector<MappedFile> copies;  // of texts that came through standard input
  for (const train::DataSource& text : content.record.sources) {
    if (text.copy.empty()) continue;
    copies.emplace_back(like.folder.path() / text.copy);
    content.copies.emplace_back(text.copy, copies.back().text());
  }
  train::Checkpoint checkpoint;
  checkpoint.state.model = like.state.model;
  checkpoint.state.settings = like.state.settings;
  checkpoint.state.coding_fingerprint = like.state.coding_fingerprint;
  checkpoint.state.data_fingerprint = like.state.data_fingerprint;
  checkpoint.weights = train::weights_of(model.parameters());
  const optim::Optimizer fresh(model.parameters(), train::optimizer_settings(like.state.settings));
  checkpoint.optimizer = train::state_of(fresh);
  static_cast<void>(train::RunFolder::create(out, content, checkpoint));
  return formats::weights_sha256(checkpoint.weights);
}

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
