// How a run is trained: the settings beside the model's own, their names, and the presets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/data/corpus.h"
#include "dikkat/data/series.h"
#include "dikkat/models/config.h"
#include "dikkat/optim/schedule.h"
#include "dikkat/tensor/dtype.h"

namespace dikkat::train {

enum class OptimizerKind : std::uint8_t { sgd, adam, adamw };
enum class TokenizerKind : std::uint8_t { character, byte };
enum class NumberKind : std::uint8_t { f32, f64 };

// Everything that the bits of a run hang on.
struct Settings {
  std::uint64_t seed = 1;
  std::uint64_t steps = 2000;
  std::size_t batch = 12;       // samples a step
  std::size_t micro_batch = 0;  // samples at a time, whole chunks; 0: see samples_at_a_time
  OptimizerKind optimizer = OptimizerKind::adamw;
  double learning_rate = 1e-3;
  double final_learning_rate = 1e-4;
  optim::ScheduleKind schedule = optim::ScheduleKind::cosine;
  std::uint64_t warmup = 100;
  double decay_share = 0.2;  // of the steps, for warm-up/stable/decay
  double momentum = 0.9;     // sgd
  double beta1 = 0.9;
  double beta2 = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0.1;  // on matrices only
  double clip = 1.0;          // global norm; 0: none
  TokenizerKind tokenizer = TokenizerKind::character;
  NumberKind number = NumberKind::f32;
  // Series only; the columns by name or number, empty: found by themselves (data/series.h).
  std::string label = {};
  std::string id_column = {};
  std::string time_column = {};
  double validation_share = 0.1;  // of the series, cut per label by the seed; 0: none

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("seed", self.seed, "seed of every draw");
    visit("steps", self.steps, "optimiser steps");
    visit("batch", self.batch, "samples a step");
    visit("micro-batch", self.micro_batch,
          "samples held at a time (0: what suits the caches); whole gradient chunks only");
    visit("optimizer", self.optimizer, "update rule");
    visit("learning-rate", self.learning_rate, "peak learning rate");
    visit("final-learning-rate", self.final_learning_rate, "learning rate at the last step");
    visit("schedule", self.schedule, "course of the learning rate after warm-up");
    visit("warmup", self.warmup, "steps of linear warm-up");
    visit("decay-share", self.decay_share, "share of the steps that decay (schedule wsd)");
    visit("momentum", self.momentum, "momentum of sgd");
    visit("beta1", self.beta1, "decay of Adam's first moment");
    visit("beta2", self.beta2, "decay of Adam's second moment");
    visit("epsilon", self.epsilon, "added to Adam's root");
    visit("weight-decay", self.weight_decay, "decoupled weight decay, matrices only (adamw, sgd)");
    visit("clip", self.clip, "largest global gradient norm (0: no clipping)");
    visit("tokenizer", self.tokenizer, "how text becomes tokens");
    visit("number", self.number, "number type of weights and arithmetic");
    visit("label", self.label,
          "series: column of the label, by name or number (empty: label, class, target, y or the first)");
    visit("id-column", self.id_column, "series in long form, one step a row: column that says which series");
    visit("time-column", self.time_column, "series in long form: column that orders the steps");
    visit("validation-share", self.validation_share,
          "series: share that validates, cut per label by the seed (0: none)");
  }

  friend bool operator==(const Settings&, const Settings&) = default;
};

// What may change between a run and its resumption without touching a bit of the weights.
struct Conduct {
  std::uint64_t eval_every = 200;    // 0: never
  std::uint64_t save_every = 200;    // 0: only at the end
  std::uint64_t sample_every = 0;    // 0: no samples of text
  std::uint64_t hash_every = 100;    // 0: only at the end
  std::uint64_t patience = 0;        // evaluations without a better loss before stopping early; 0: never
  std::uint64_t skip_nonfinite = 0;  // steps with a non-finite loss or norm to pass over before giving up
  std::size_t keep = 2;              // step checkpoints to keep, at least 2

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("eval-every", self.eval_every, "steps between evaluations of the whole validation part (0: never)");
    visit("save-every", self.save_every, "steps between checkpoints (0: only the last)");
    visit("sample-every", self.sample_every, "steps between samples of text (0: none)");
    visit("hash-every", self.hash_every, "steps between hashes of the weights in the log (0: only the last)");
    visit("patience", self.patience, "evaluations without improvement before stopping early (0: never)");
    visit("skip-nonfinite", self.skip_nonfinite, "non-finite steps to skip before stopping");
    visit("keep", self.keep, "newest checkpoints to keep, at least 2");
  }
};

[[nodiscard]] DType number_type(const Settings& settings);
// Samples of a micro-batch, at most the batch: the settings' own, or, where they leave it open, whole chunks of some
// 256 rows, and 1,024 where the weights (more than two million) would be read too often for so few. Sums of chunks make
// it the same to the bit.
[[nodiscard]] std::size_t samples_at_a_time(const Settings& settings, std::size_t longest_sample,
                                            std::size_t parameters);
[[nodiscard]] data::Texts::Cleaning cleaning_for(const Settings& settings);
[[nodiscard]] data::SeriesOptions series_options(const Settings& settings, data::Labels labels);

struct Preset {
  std::string_view name;
  std::string_view summary;
  models::Config model;
  Settings settings;
};
// kucuk, shakespeare-cpu, shakespeare, gpt2.
[[nodiscard]] const std::vector<Preset>& presets();
// Error{usage} with the nearest name.
[[nodiscard]] const Preset& preset_named(std::string_view name);

// Error{usage} naming field, rule and nearest legal value: batch >= 1, micro_batch a multiple of the samples per
// chunk, rates finite and >= 0 (learning_rate > 0), warmup <= steps, betas in [0, 1), shares in [0, 1].
void check(const Settings& settings, const models::Config& model);
void check(const Conduct& conduct);

}  // namespace dikkat::train

namespace dikkat {

template <>
struct EnumNames<train::OptimizerKind> {
  static constexpr std::array<std::pair<train::OptimizerKind, std::string_view>, 3> names{
      {{train::OptimizerKind::sgd, "sgd"},
       {train::OptimizerKind::adam, "adam"},
       {train::OptimizerKind::adamw, "adamw"}}};
};
template <>
struct EnumNames<train::TokenizerKind> {
  static constexpr std::array<std::pair<train::TokenizerKind, std::string_view>, 2> names{
      {{train::TokenizerKind::character, "char"}, {train::TokenizerKind::byte, "byte"}}};
};
template <>
struct EnumNames<train::NumberKind> {
  static constexpr std::array<std::pair<train::NumberKind, std::string_view>, 2> names{
      {{train::NumberKind::f32, "f32"}, {train::NumberKind::f64, "f64"}}};
};

}  // namespace dikkat
