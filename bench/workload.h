// What the benchmarks of whole models run: a configuration, its settings, and synthetic ids to train on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/models/language_model.h"
#include "dikkat/optim/optimizer.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/settings.h"
#include "dikkat/train/stepper.h"

namespace dikkat::bench {

struct Workload {
  std::string name;
  models::Config model;
  train::Settings settings;
  std::vector<std::size_t> lengths;  // of the samples of a batch, in tokens
};

// A preset, with vocabulary 30 (kucuk), 65 or 50,257 (gpt2, whose output is then free and whose windows are of 256); or
// names-16, names-32, names-64: one layer of that width, 4 heads, RMS norm, relu, vocabulary 27, a batch of 16 names as
// long as names are (3 to 11 tokens, 7.1 on average).
[[nodiscard]] Workload workload_named(std::string_view name);

// The same ids at every step, by a xorshift sequence.
class SyntheticSource final : public train::BatchSource {
 public:
  explicit SyntheticSource(const Workload& workload) : workload_(workload) {}
  void fill(std::uint64_t t, std::size_t first, std::size_t count, data::Batch& batch) override;

 private:
  const Workload& workload_;
};

// A model in training on it.
class Training {
 public:
  Training(Workload workload, const kernels::Executor& executor);

  void step();
  [[nodiscard]] const Workload& workload() const { return workload_; }
  [[nodiscard]] std::size_t parameters() const { return model_.parameters().count(); }
  [[nodiscard]] std::size_t activation_bytes() const { return stepper_.activation_bytes(); }

 private:
  Workload workload_;
  models::LanguageModel model_;
  optim::Optimizer optimizer_;
  SyntheticSource source_{workload_};
  train::LanguageObjective objective_{model_, source_};
  train::Stepper stepper_;
  train::StopRequest never_;
  std::uint64_t t_ = 0;
};

}  // namespace dikkat::bench
