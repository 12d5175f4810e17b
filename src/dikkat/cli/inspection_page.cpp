#include "dikkat/cli/inspection_page.h"

#include <fmt/format.h>

#include <utility>

#include "dikkat/base/version.h"
#include "dikkat/cli/words.h"

namespace dikkat::cli {
namespace {

std::vector<inspect::PageFact> facts_of(const Subject& subject, const std::string& sampling) {
  const models::Config& model = subject.run.model.config();
  std::vector<inspect::PageFact> facts = {
      {"run", subject.run.folder.path().string()},
      {"step", std::to_string(subject.run.state.step)},
      {"weights", "sha256 " + subject.run.weights_sha256},
      {"model", fmt::format("{} parameters: {} layers of {} heads, width {}, context {}, position {}",
                            grouped(subject.run.model.parameters().count()), model.layers, model.heads, model.width,
                            model.context, text_of(model.position))},
      {"text", subject.text.where()}};
  if (subject.generated() != 0) {
    facts.push_back({"written by the model", fmt::format("{} tokens, {}", subject.generated(), sampling)});
  }
  facts.push_back({"program", fmt::format("dikkat {} ({})", version().number, version().commit.substr(0, 12))});
  return facts;
}

}  // namespace

inspect::PageData page_data(const Subject& subject, std::vector<inspect::LayerHeads> heads,
                            const std::string& sampling) {
  inspect::PageData data{.title = subject.run.folder.path().filename().string(),
                         .tokens = {},
                         .layers = {},
                         .mask = subject.rule.mask,
                         .scale = subject.rule.scale,
                         .slopes = subject.rule.slopes,
                         .facts = facts_of(subject, sampling)};
  if (data.title.empty()) data.title = subject.run.folder.path().string();
  for (const inspect::TokenLabel& label : subject.labels) data.tokens.push_back({label.text, label.generated});
  for (inspect::LayerHeads& layer : heads) {
    inspect::PageLayer page{.number = layer.layer, .q = std::move(layer.q), .k = std::move(layer.k), .heads = {}};
    if (subject.choice.one_head(subject.rule.heads)) page.heads = {subject.choice.heads.first};
    data.layers.push_back(std::move(page));
  }
  return data;
}

}  // namespace dikkat::cli
