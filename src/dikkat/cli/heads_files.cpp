#include <fmt/format.h>

#include <cmath>

#include "dikkat/cli/heads_look.h"

namespace dikkat::cli {
namespace {

using inspect::HeadReport;
using inspect::HeadScore;
using inspect::ScoreReport;

Json bin_json(const inspect::DistanceBin& bin) {
  return Json::array().push(std::int64_t{bin.first}).push(std::int64_t{bin.last});
}

Json score_json(const HeadsLook& look, const ScoreReport& score) {
  Json json = Json::object();
  json.set("value", finite_or_null(score.value));
  json.set("interval",
           score.interval
               ? Json::array().push(finite_or_null(score.interval->low)).push(finite_or_null(score.interval->high))
               : Json());
  if (score.score == HeadScore::distance) {
    const std::size_t first = look.report.columns.of(HeadScore::distance).first;
    json.set("bin", bin_json(look.report.columns.bins[score.column - first]));
  }
  return json.set("uniform", finite_or_null(score.uniform))
      .set("null_mean", finite_or_null(score.test.null_mean))
      .set("null_deviation", finite_or_null(score.test.null_deviation))
      .set("tested", finite_or_null(score.tested))
      .set("z", finite_or_null(score.test.z))
      .set("raw_p", score.test.raw_p)
      .set("adjusted_p", score.test.adjusted_p)
      .set("size", finite_or_null(score.size))
      .set("finding", text_of(score.finding));
}

Json head_json(const HeadsLook& look, const HeadReport& head) {
  Json names = Json::array();
  for (const std::string& name : head.names) names.push(name);
  Json scores = Json::object();
  for (const ScoreReport& score : head.scores) scores.set(text_of(score.score), score_json(look, score));
  Json profile = Json::array();
  for (const inspect::BinReport& bin : head.profile) {
    profile.push(Json::object()
                     .set("bin", bin_json(bin.bin))
                     .set("value", finite_or_null(bin.value))
                     .set("uniform", finite_or_null(bin.uniform))
                     .set("null_mean", finite_or_null(bin.null_mean))
                     .set("null_deviation", finite_or_null(bin.null_deviation)));
  }
  return Json::object()
      .set("layer", head.layer)
      .set("head", head.head)
      .set("names", std::move(names))
      .set("does_something", head.does_something())
      .set("scores", std::move(scores))
      .set("profile", std::move(profile));
}

Json alternatives() {
  Json json = Json::object();
  for (const auto& [score, name] : EnumNames<HeadScore>::names) json.set(name, text_of(inspect::alternative_of(score)));
  return json;
}

std::string number(double value) { return std::isfinite(value) ? text_of(value) : ""; }

std::string begin_of_line(const HeadReport& head) {
  std::string names;
  for (const std::string& name : head.names) names += (names.empty() ? "" : "; ") + name;
  return fmt::format("{},{},{}", head.layer, head.head, names);
}

void add_score(const HeadsLook& look, const HeadReport& head, const ScoreReport& score, std::string& csv) {
  std::string bin = ",";
  if (score.score == HeadScore::distance) {
    const auto& of = look.report.columns.bins[score.column - look.report.columns.of(HeadScore::distance).first];
    bin = fmt::format("{},{}", of.first, of.last);
  }
  csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", begin_of_line(head), text_of(score.score), bin,
                     number(score.value), score.interval ? number(score.interval->low) : "",
                     score.interval ? number(score.interval->high) : "", number(score.uniform),
                     number(score.test.null_mean), number(score.test.null_deviation), number(score.tested),
                     number(score.test.z), number(score.test.raw_p), number(score.test.adjusted_p),
                     text_of(score.finding));
}

void add_bin(const HeadReport& head, const inspect::BinReport& bin, std::string& csv) {
  csv += fmt::format("{},profile,{},{},{},,,{},{},{},,,,,\n", begin_of_line(head), bin.bin.first, bin.bin.last,
                     number(bin.value), number(bin.uniform), number(bin.null_mean), number(bin.null_deviation));
}

}  // namespace

Json heads_json(const HeadsLook& look, const HeadsShown& choice) {
  Json heads = Json::array();
  for (const HeadReport& head : look.report.heads) {
    if (choice.holds(head)) heads.push(head_json(look, head));
  }
  return Json::object()
      .set("run", look.run)
      .set("step", look.step)
      .set("layers", look.model.layers)
      .set("heads_per_layer", look.model.heads)
      .set("text", Json::object()
                       .set("source", look.source)
                       .set("tokens", look.tokens)
                       .set("skipped", look.skipped)
                       .set("windows", look.report.windows)
                       .set("length", look.length))
      .set("null", Json::object()
                       .set("kind", look.null == NullKind::untrained ? "untrained" : "shuffled")
                       .set("draws", look.report.draws)
                       .set("windows", look.report.null_windows)
                       .set("seed", look.seed)
                       .set("cached", look.cached))
      .set("scores", look.report.scores)
      .set("level", look.report.level())
      .set("can_find", look.report.can_find())
      .set("alternatives", alternatives())
      .set("heads", std::move(heads));
}

std::string heads_csv(const HeadsLook& look, const HeadsShown& choice) {
  std::string csv =
      "layer,head,names,score,first_distance,last_distance,value,low,high,uniform,null_mean,null_deviation,tested,z,"
      "raw_p,adjusted_p,finding\n";
  for (const HeadReport& head : look.report.heads) {
    if (!choice.holds(head)) continue;
    for (const ScoreReport& score : head.scores) add_score(look, head, score, csv);
    for (const inspect::BinReport& bin : head.profile) add_bin(head, bin, csv);
  }
  return csv;
}

}  // namespace dikkat::cli
