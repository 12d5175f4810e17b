// The one forward pass of dikkat inspect, and what is kept of it for the terminal and for JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/cli/inspected_run.h"
#include "dikkat/cli/inspection_view.h"
#include "dikkat/inspect/head_facts.h"
#include "dikkat/train/trainer.h"

namespace dikkat::cli {

// Weights and values beyond this many are left out of JSON where nobody chose them.
inline constexpr std::size_t kMostJsonNumbers = std::size_t{1} << 20U;

// Who takes what the pass shows.
struct Sinks {
  std::vector<MapSink*> maps = {};
  std::vector<ActivationSink*> activations = {};
  std::vector<inspect::LayerHeads>* heads = nullptr;  // queries and keys themselves are kept here
};

// A signal asked to stop; what was being written is given up.
struct Stopped {};

// Runs the model over the subject once. `paths`: the activations for the sinks. Throws Stopped.
void run_pass(const kernels::Executor& executor, const Subject& subject, const std::vector<std::string>& paths,
              const Sinks& sinks, const train::StopRequest& stop);

// Facts and small pictures of every chosen head.
class Summaries final : public MapSink {
 public:
  Summaries(const kernels::Executor& executor, const Subject& subject) : executor_(executor), subject_(subject) {}

  void begin_layer(std::size_t layer) override;
  void take(const inspect::MapRows& rows) override { layer_->add(executor_, rows); }
  void end_layer() override;
  [[nodiscard]] const std::vector<inspect::HeadSummary>& all() const { return all_; }

 private:
  kernels::Executor executor_;
  const Subject& subject_;
  std::optional<inspect::HeadSummaries> layer_;
  std::vector<inspect::HeadSummary> all_;
};

// Facts of every chosen activation; for JSON its values, row by row, too.
class ActivationView final : public ActivationSink {
 public:
  enum class Values : std::uint8_t { left_out, kept };
  explicit ActivationView(Values values) : keeps_values_(values == Values::kept) {}

  void take(const std::string& path, const Tensor& activation) override;
  [[nodiscard]] const std::vector<ActivationFacts>& all() const { return all_; }
  // One list for each, null from where there are more than kMostJsonNumbers in all.
  [[nodiscard]] std::vector<Json>& values() { return values_; }

 private:
  bool keeps_values_;
  std::size_t count_ = 0;
  std::vector<ActivationFacts> all_;
  std::vector<Json> values_;
};

// How a series model with attention pooling weighs the steps: one row a head, adding up to one.
class PoolingView final : public ActivationSink {
 public:
  // What to ask the pass for: nothing, where there is none.
  [[nodiscard]] std::vector<std::string> paths(const InspectedRun& run) const;
  void take(const std::string& path, const Tensor& pattern) override;
  [[nodiscard]] bool seen() const { return pattern_.defined(); }

  [[nodiscard]] std::string text(const std::vector<inspect::TokenLabel>& labels, const Look& look) const;
  [[nodiscard]] Json json() const;  // (H, steps)

 private:
  Tensor pattern_;  // (steps, H)
};

// The shown square of one head's map, for large_map.
[[nodiscard]] std::vector<double> square_of(const kernels::Executor& executor, const inspect::MapRule& rule,
                                            const inspect::LayerHeads& layer, std::size_t head, ShownTokens shown);

}  // namespace dikkat::cli
