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

void run_pass(inspect::Passes& passes, const Subject& subject, const std::vector<std::string>& paths,
              const Sinks& sinks, const train::StopRequest& stop) {
  const auto take_layer = [&](const inspect::LayerHeads& layer) {
    if (sinks.heads != nullptr) sinks.heads->push_back(layer);
    if (sinks.maps.empty()) return;
    for (MapSink* sink : sinks.maps) sink->begin_layer(layer.layer);
    inspect::visit_maps(passes.executor(), subject.rule, layer, subject.choice.heads,
                        [&](const inspect::MapRows& rows) {
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
  data::Batch batch;
  batch.inputs = subject.tokens;
  batch.lengths = {subject.tokens.size()};
  batch.rows.lay_out(batch.lengths, batch.lengths.front());
  passes.look(batch, taps);
}

void Summaries::begin_layer(std::size_t layer) {
  layer_.emplace(layer, subject_.choice.heads, subject_.tokens.size(), subject_.rule.mask);
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
