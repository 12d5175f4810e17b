#include "dikkat/cli/made_run.h"

#include "dikkat/base/version.h"
#include "dikkat/formats/named_tensor.h"
#include "dikkat/optim/optimizer.h"
#include "dikkat/train/model_state.h"
#include "dikkat/train/stepper.h"

namespace dikkat::cli {
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

}  // namespace dikkat::cli
