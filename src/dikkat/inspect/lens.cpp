#include "dikkat/inspect/lens.h"

#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/inspect/intervention.h"
#include "dikkat/inspect/readout.h"
#include "dikkat/inspect/windows.h"
#include "dikkat/kernels/cross_entropy.h"

namespace dikkat::inspect {
namespace {

std::vector<Site> sites_of(const std::vector<LensPoint>& points) {
  std::vector<Site> sites;
  for (const LensPoint& point : points) sites.push_back({.path = point.path});
  return sites;
}

// The stream as the last block would leave it.
Replacement as_last(const models::LanguageModel& model, const Tensor& stream) {
  const Site last{.path = fmt::format("blocks.{}.residual_post", model.config().layers - 1)};
  return {.site = last, .values = stream};
}

LensRow row_of(const Readout& read, std::int32_t next) {
  LensRow row{.top = read.top()};
  row.top_probability = read.probabilities[row.top];
  if (next == kernels::kNoTarget) return row;
  const auto token = static_cast<text::Token>(next);
  row.rank = read.rank(token);
  row.probability = read.probabilities[token];
  return row;
}

std::vector<LensRow> rows_of(const kernels::Executor& executor, const Tensor& logits, const Tensor& losses,
                             const std::vector<std::int32_t>& targets) {
  std::vector<LensRow> rows;
  for (std::size_t r = 0; r < targets.size(); ++r) {
    rows.push_back(row_of(readout_of(executor, logits, r), targets[r]));
    with_number(losses.dtype(), [&]<class T>() { rows.back().loss_nats = static_cast<double>(losses.data<T>()[r]); });
  }
  return rows;
}

data::Batch batch_of(std::span<const text::Token> tokens) {
  data::Batch batch;
  batch.inputs.assign(tokens.begin(), tokens.end());
  for (std::size_t t = 1; t < tokens.size(); ++t) batch.targets.push_back(static_cast<std::int32_t>(tokens[t]));
  if (!tokens.empty()) batch.targets.push_back(kernels::kNoTarget);
  batch.lengths = {tokens.size()};
  batch.rows.lay_out(batch.lengths, std::max<std::size_t>(tokens.size(), 1));
  return batch;
}

}  // namespace

std::vector<LensPoint> lens_points(const models::Config& config) {
  std::vector<LensPoint> points = {{"blocks.0.residual_pre", "embedding"}};
  for (std::size_t l = 0; l < config.layers; ++l) {
    points.push_back({fmt::format("blocks.{}.residual_mid", l), fmt::format("{}.attention", l)});
    points.push_back({fmt::format("blocks.{}.residual_post", l), fmt::format("{}.mlp", l)});
  }
  return points;
}

std::vector<LensReading> lens(Passes& passes, std::span<const text::Token> tokens) {
  const std::vector<LensPoint> points = lens_points(passes.model().config());
  const data::Batch batch = batch_of(tokens);
  Reader streams(sites_of(points));
  passes.look(batch, streams);
  std::vector<LensReading> readings;
  for (std::size_t p = 0; p < points.size(); ++p) {
    Writer writer(passes.model(), passes.executor(), {as_last(passes.model(), streams.values(p))});
    Reader logits({{.path = "logits"}});
    Taps taps({&writer, &logits});
    const Tensor losses = passes.row_losses(batch, &taps);
    readings.push_back({.point = points[p],
                        .rows = rows_of(passes.executor(), logits.values(0), losses, batch.targets),
                        .logits = logits.values(0)});
  }
  return readings;
}

std::vector<std::vector<double>> lens_losses(Passes& passes, std::span<const text::Token> tokens,
                                             std::span<const std::size_t> starts, std::size_t length) {
  const std::vector<LensPoint> points = lens_points(passes.model().config());
  std::vector<std::vector<double>> losses(points.size());
  const std::size_t at_a_time = windows_at_a_time(length);
  data::Batch batch;
  for (std::size_t first = 0; first < starts.size(); first += at_a_time) {
    fill(tokens, starts.subspan(first, std::min(at_a_time, starts.size() - first)), length, batch);
    Reader streams(sites_of(points));
    passes.look(batch, streams);
    for (std::size_t p = 0; p < points.size(); ++p) {
      Writer writer(passes.model(), passes.executor(), {as_last(passes.model(), streams.values(p))});
      const std::vector<double> of_batch = passes.losses(batch, &writer);
      losses[p].insert(losses[p].end(), of_batch.begin(), of_batch.end());
    }
  }
  return losses;
}

}  // namespace dikkat::inspect
