// What a run learns from: a text in tokens, or a table of series in numbers; and the model in training on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/models/config.h"
#include "dikkat/train/estimate.h"
#include "dikkat/train/evaluator.h"
#include "dikkat/train/objective.h"
#include "dikkat/train/run_folder.h"
#include "dikkat/train/stepper.h"

namespace dikkat::train {

// A model in training on its material.
class Learner {
 public:
  virtual ~Learner() = default;

  [[nodiscard]] virtual Objective& objective() = 0;
  // Whether there is a validation part.
  [[nodiscard]] virtual bool validates() const = 0;
  // Of the whole validation part; nullopt if a stop was asked for.
  [[nodiscard]] virtual std::optional<Evaluation> evaluate(const StopRequest& stop) = 0;
  // What the model writes by itself; nothing where it writes nothing.
  [[nodiscard]] virtual std::optional<std::string> sample(const StopRequest& /*stop*/) { return std::nullopt; }
  // Where sample `sample` of step t comes from: its first token, or its series.
  [[nodiscard]] virtual std::uint64_t origin_of(std::uint64_t t, std::size_t sample) = 0;

  [[nodiscard]] const nn::ParameterStore& parameters() { return objective().parameters(); }
};

class Material {
 public:
  virtual ~Material() = default;

  // The config with what the data settles: the vocabulary; channels, outputs and (where it is 0) context.
  [[nodiscard]] virtual models::Config completed(models::Config config) const = 0;
  // How the data becomes numbers: tokenizer.json or series.json of a run, and its fingerprint.
  [[nodiscard]] virtual std::string coding_json() const = 0;
  [[nodiscard]] virtual std::string coding_fingerprint() const = 0;
  // Of the data's bytes.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
  // Tokens, or steps of all series.
  [[nodiscard]] virtual std::size_t tokens() const = 0;
  // What errors call it: its path, or "standard input".
  [[nodiscard]] virtual std::string name() const = 0;
  // Where it came from, and the files a run keeps a copy of (name in RUN, content).
  [[nodiscard]] virtual std::vector<DataSource> sources() const = 0;
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string_view>> copies() const { return {}; }
  // Error{malformed} when no step or no evaluation could be made of it.
  virtual void check(const models::Config& config) const = 0;
  // spec.model is completed. The material outlives the learner.
  [[nodiscard]] virtual std::unique_ptr<Learner> learner(const RunSpec& spec,
                                                         const kernels::Executor& executor) const = 0;
};

// Reads and codes the data of a new run. Error as the readers of text and series.
[[nodiscard]] std::unique_ptr<Material> read_material(const std::vector<std::filesystem::path>& paths,
                                                      const RunSpec& spec);
// The data of a run that is there, by its own coding, from where it lies or from `paths` where they are named.
// Error{incompatible} when it is not the data the run was begun with.
[[nodiscard]] std::unique_ptr<Material> read_material(const std::vector<std::filesystem::path>& paths,
                                                      const RunSpec& spec, const RunFolder& folder);

}  // namespace dikkat::train
