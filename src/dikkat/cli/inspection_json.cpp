#include "dikkat/cli/inspection_json.h"

#include <utility>

namespace dikkat::cli {
namespace {

Json tokens_json(const std::vector<inspect::TokenLabel>& labels) {
  Json tokens = Json::array();
  for (const inspect::TokenLabel& label : labels) {
    tokens.push(Json::object().set("id", label.token).set("text", label.text).set("generated", label.generated));
  }
  return tokens;
}

Json readings_json(const Tensor& readings) {
  Json steps = Json::array();
  for (std::size_t step = 0; step < readings.shape()[0]; ++step) {
    Json channels = Json::array();
    for (std::size_t c = 0; c < readings.shape()[1]; ++c) {
      channels.push(readings.data<double>()[step * readings.shape()[1] + c]);
    }
    steps.push(std::move(channels));
  }
  return steps;
}

}  // namespace

Json subject_json(const InspectedRun& run, const Subject& subject) {
  Json json = Json::object();
  json.set("run", run.folder).set("step", run.step).set("weights_sha256", run.weights_sha256);
  for (const JsonMember& member : subject.origin.members()) json.set(member.key, member.value);
  return std::move(run.of_series() ? json.set("readings", readings_json(subject.readings))
                                   : json.set("tokens", tokens_json(subject.labels)));
}

Json heads_json(const std::vector<inspect::HeadSummary>& summaries, std::vector<Json>& maps) {
  Json heads = Json::array();
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const inspect::HeadFacts& f = summaries[i].facts;
    heads.push(Json::object()
                   .set("layer", summaries[i].layer)
                   .set("head", summaries[i].head)
                   .set("self", f.self)
                   .set("previous", f.previous)
                   .set("first", f.first)
                   .set("distance_tokens", f.distance)
                   .set("spread_tokens", f.spread)
                   .set("evenness", f.evenness)
                   .set("looks_at", looks_at(f))
                   .set("weights", maps.empty() ? Json() : std::move(maps[i])));
  }
  return heads;
}

Json activations_json(ActivationView& view) {
  Json list = Json::array();
  for (std::size_t i = 0; i < view.all().size(); ++i) {
    const ActivationFacts& facts = view.all()[i];
    Json shape = Json::array();
    for (const std::size_t size : facts.shape) shape.push(size);
    list.push(Json::object()
                  .set("path", facts.path)
                  .set("shape", std::move(shape))
                  .set("mean", finite_or_null(facts.mean))
                  .set("deviation", finite_or_null(facts.deviation))
                  .set("root_mean_square", finite_or_null(facts.root_mean_square))
                  .set("smallest", finite_or_null(facts.smallest))
                  .set("largest", finite_or_null(facts.largest))
                  .set("not_finite", facts.not_finite)
                  .set("values", std::move(view.values()[i])));
  }
  return list;
}

}  // namespace dikkat::cli
