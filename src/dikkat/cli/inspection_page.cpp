#include "dikkat/cli/inspection_page.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "dikkat/cli/words.h"

namespace dikkat::cli {
namespace {

std::vector<inspect::PageFact> facts_of(const InspectedRun& run, const Subject& subject, const std::string& sampling) {
  const models::Config& model = run.model;
  std::vector<inspect::PageFact> facts = {
      {"run", run.folder},
      {"step", std::to_string(run.step)},
      {"weights", "sha256 " + run.weights_sha256},
      {"model",
       fmt::format("{} parameters: {} layers of {} heads, width {}, context {}, position {}", grouped(run.parameters),
                   model.layers, model.heads, model.width, model.context, text_of(model.position))},
      {run.of_series() ? "series" : "text", subject.where}};
  if (subject.generated != 0) {
    facts.push_back({"written by the model", fmt::format("{} tokens, {}", subject.generated, sampling)});
  }
  return facts;
}

}  // namespace

inspect::PageData page_data(const InspectedRun& run, const Subject& subject, std::vector<inspect::LayerHeads> heads,
                            const std::string& sampling) {
  inspect::PageData data{.title = std::filesystem::path(run.folder).filename().string(),
                         .tokens = {},
                         .layers = {},
                         .mask = subject.rule.mask,
                         .scale = subject.rule.scale,
                         .slopes = subject.rule.slopes,
                         .readings = subject.readings,
                         .facts = facts_of(run, subject, sampling)};
  if (data.title.empty()) data.title = run.folder;
  for (const inspect::TokenLabel& label : subject.labels) data.tokens.push_back({label.text, label.generated});
  for (inspect::LayerHeads& layer : heads) {
    inspect::PageLayer page{.number = layer.layer, .q = std::move(layer.q), .k = std::move(layer.k), .heads = {}};
    if (subject.choice.one_head(subject.rule.heads)) page.heads = {subject.choice.heads.first};
    data.layers.push_back(std::move(page));
  }
  return data;
}

}  // namespace dikkat::cli
