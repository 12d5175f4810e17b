// The update rules over a parameter store: SGD with momentum, Adam, AdamW. Decay acts on matrices only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/nn/parameter.h"

namespace dikkat::optim {

enum class Rule : std::uint8_t { sgd, adam };  // AdamW is adam with decay > 0

struct OptimizerSettings {
  Rule rule = Rule::adam;
  double momentum = 0.9;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0.0;
};

class Optimizer {
 public:
  Optimizer(const nn::ParameterStore& parameters, const OptimizerSettings& settings);

  // One update with the gradients as they stand, times gradient_factor (clipping). t counts from 1.
  void step(const kernels::Executor& executor, double rate, double gradient_factor, std::uint64_t t);

  // The state in path order under "<parameter path>.m" / ".v" (adam) or ".velocity" (sgd); the tensors are the state's
  // own memory, so that assigning to them restores it.
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> state() const;

 private:
  // Neighbouring parameters with one decay are updated in one sweep.
  struct Stretch {
    std::size_t begin, end;  // of the flat buffers
    double decay;
  };

  // What the rule keeps of a parameter, laid out as the parameters are.
  [[nodiscard]] Tensor part_of(const Tensor& flat, const nn::Parameter& parameter) const;

  const nn::ParameterStore& parameters_;
  OptimizerSettings settings_;
  std::vector<Stretch> stretches_;
  Tensor first_;   // m or velocity
  Tensor second_;  // v
};

// Euclidean norm of all gradients: tree16 of squares per parameter in double, added in path order.
[[nodiscard]] double gradient_norm(const kernels::Executor& executor, const nn::ParameterStore& parameters);
// min(1, limit / norm); 1 for limit 0.
[[nodiscard]] double clip_factor(double norm, double limit);

}  // namespace dikkat::optim
