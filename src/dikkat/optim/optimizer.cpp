#include "dikkat/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "dikkat/kernels/elementwise.h"
#include "dikkat/kernels/optimizer_step.h"

namespace dikkat::optim {

Optimizer::Optimizer(const nn::ParameterStore& parameters, const OptimizerSettings& settings)
    : parameters_(parameters), settings_(settings) {
  for (const auto& parameter : parameters.in_creation_order()) {
    first_.push_back(Tensor::zeros(parameter->shape(), parameters.dtype()));
    if (settings.rule == Rule::adam) second_.push_back(Tensor::zeros(parameter->shape(), parameters.dtype()));
  }
}

void Optimizer::step(const kernels::Executor& executor, double rate, double gradient_factor, std::uint64_t t) {
  const auto parameters = parameters_.in_creation_order();
  with_number(parameters_.dtype(), [&]<class T>() {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const nn::Parameter& parameter = *parameters[i];
      T* w = parameter.value().data<T>();
      const T* gradient = parameter.gradient().data<T>();
      const double decay = parameter.decays() ? settings_.decay : 0.0;
      if (settings_.rule == Rule::sgd) {
        kernels::sgd_step<T>(
            executor,
            {.rate = rate, .momentum = settings_.momentum, .decay = decay, .gradient_factor = gradient_factor}, w,
            gradient, first_[i].data<T>(), parameter.value().count());
      } else {
        kernels::adam_step<T>(executor,
                              {.rate = rate,
                               .beta1 = settings_.beta1,
                               .beta2 = settings_.beta2,
                               .epsilon = settings_.epsilon,
                               .decay = decay,
                               .gradient_factor = gradient_factor,
                               .step = t},
                              w, gradient, first_[i].data<T>(), second_[i].data<T>(), parameter.value().count());
      }
    }
  });
}

std::vector<std::pair<std::string, Tensor>> Optimizer::state() const {
  std::map<std::string, Tensor> sorted;
  const auto parameters = parameters_.in_creation_order();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& path = parameters[i]->path();
    if (settings_.rule == Rule::sgd) {
      sorted.emplace(path + ".velocity", first_[i]);
    } else {
      sorted.emplace(path + ".m", first_[i]);
      sorted.emplace(path + ".v", second_[i]);
    }
  }
  return {sorted.begin(), sorted.end()};
}

double gradient_norm(const kernels::Executor& executor, const nn::ParameterStore& parameters) {
  double total = 0;
  with_number(parameters.dtype(), [&]<class T>() {
    for (const nn::Parameter* parameter : parameters.in_path_order()) {
      const Tensor& gradient = parameter->gradient();
      total += kernels::sum_of_squares<T>(executor, gradient.data<T>(), gradient.count());
    }
  });
  return std::sqrt(total);
}

double clip_factor(double norm, double limit) { return limit > 0 && norm > limit ? limit / norm : 1.0; }

}  // namespace dikkat::optim
