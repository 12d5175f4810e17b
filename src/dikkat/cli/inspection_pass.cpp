#include "dikkat/cli/inspection_pass.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dikkat/cli/inspection_files.h"
#include "dikkat/inspect/capture.h"

namespace dikkat::cli {
namespace {

void stop_if_asked(const train::StopRequest& stop) {
  if (stop.asked()) throw Stopped{};
}

}  // namespace

void run_pass(const kernels::Executor& executor, const Subject& subject, const std::vector<std::string>& paths,
              const Sinks& sinks, const train::StopRequest& stop) {
  const auto take_layer = [&](const inspect::LayerHeads& layer) {
    if (sinks.heads != nullptr) sinks.heads->push_back(layer);
    if (sinks.maps.empty()) return;
    for (MapSink* sink : sinks.maps) sink->begin_layer(layer.layer);
    inspect::visit_maps(executor, subject.rule, layer, subject.choice.heads, [&](const inspect::MapRows& rows) {
      for (MapSink* sink : sinks.maps) sink->take(rows);
      stop_if_asked(stop);
    });
    for (MapSink* sink : sinks.maps) sink->end_layer();
  };
  const bool looks_at_heads = !sinks.maps.empty() || sinks.heads != nullptr;
  inspect::HeadsTap heads(looks_at_heads ? subject.choice.layers : std::vector<std::size_t>{}, take_layer);
  inspect::Watch watch(paths, [&](const std::string& path, const Tensor& activation) {
    const Tensor whole = activation.contiguous() ? activation : activation.clone();
    for (ActivationSink* sink : sinks.activations) sink->take(path, whole);
    stop_if_asked(stop);
  });
  inspect::SeveralTaps taps({&heads, &watch});
  subject.pass(taps);
}

void Summaries::begin_layer(std::size_t layer) {
  layer_.emplace(layer, subject_.choice.heads, subject_.rows(), subject_.rule.mask);
}

void Summaries::end_layer() {
  for (inspect::HeadSummary& summary : layer_->finish()) all_.push_back(std::move(summary));
}

void ActivationView::take(const std::string& path, const Tensor& activation) {
  all_.push_back(facts_of(path, activation));
  if (!keeps_values_) return;
  count_ += activation.count();
  if (count_ > kMostJsonNumbers) {
    values_.emplace_back();
    return;
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < activation.count(); ++i) list.push(json_number(activation, i));
  values_.push_back(std::move(list));
}

std::vector<std::string> PoolingView::paths(const InspectedRun& run) const {
  const bool pools = run.of_series() && run.model.pooling == models::PoolingKind::attention_query;
  return pools ? std::vector<std::string>{"pooling.pattern"} : std::vector<std::string>{};
}

void PoolingView::take(const std::string&, const Tensor& pattern) { pattern_ = pattern.clone(); }

std::string PoolingView::text(const std::vector<inspect::TokenLabel>& labels, const Look& look) const {
  const std::size_t steps = pattern_.shape()[0];
  const std::size_t heads = pattern_.shape()[1];
  std::vector<double> weights(heads * steps);
  HeatMap map{.rows = heads, .columns = steps, .high = 0.0};
  with_number(pattern_.dtype(), [&]<class T>() {
    for (std::size_t i = 0; i < steps * heads; ++i) {
      weights[i % heads * steps + i / heads] = static_cast<double>(pattern_.data<T>()[i]);
    }
  });
  map.values = weights;
  map.high = *std::max_element(weights.begin(), weights.end());
  for (std::size_t head = 0; head < heads; ++head) map.row_labels.push_back(std::to_string(head));
  for (const inspect::TokenLabel& label : labels) map.column_labels.push_back(label.text);
  return "\nPooling: how each head, a row, weighs the steps; a row adds up to one.\n" + drawn(map, look) +
         legend(0.0, map.high, look) + "\n";
}

Json PoolingView::json() const {
  const std::size_t heads = pattern_.shape()[1];
  Json rows = Json::array();
  for (std::size_t head = 0; head < heads; ++head) {
    Json row = Json::array();
    for (std::size_t step = 0; step < pattern_.shape()[0]; ++step) row.push(json_number(pattern_, step * heads + head));
    rows.push(std::move(row));
  }
  return rows;
}

std::vector<double> square_of(const kernels::Executor& executor, const inspect::MapRule& rule,
                              const inspect::LayerHeads& layer, std::size_t head, ShownTokens shown) {
  std::vector<double> square(shown.count * shown.count, std::nan(""));
  const std::size_t end = shown.first + shown.count;
  const auto take_row = [&](const inspect::MapRows& rows, std::size_t i) {
    const std::size_t keys = rows.weights.shape()[2];
    const std::size_t query = rows.first_row + i;
    if (query < shown.first || query >= end) return;
    const kernels::KeyRange visible = rule.mask.visible(query, keys);
    with_number(rows.weights.dtype(), [&]<class T>() {
      for (std::size_t key = std::max(visible.begin, shown.first); key < std::min(visible.end, end); ++key) {
        square[(query - shown.first) * shown.count + key - shown.first] =
            static_cast<double>(rows.weights.data<T>()[i * keys + key]);
      }
    });
  };
  inspect::visit_maps(executor, rule, layer, {head, head + 1}, [&](const inspect::MapRows& rows) {
    for (std::size_t i = 0; i < rows.weights.shape()[0]; ++i) take_row(rows, i);
  });
  return square;
}

}  // namespace dikkat::cli
