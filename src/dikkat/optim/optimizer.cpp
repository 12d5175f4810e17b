#include "dikkat/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "dikkat/kernels/elementwise.h"
#include "dikkat/kernels/optimizer_step.h"

namespace dikkat::optim {

Optimizer::Optimizer(const nn::ParameterStore& parameters, const OptimizerSettings& settings)
    : parameters_(parameters),
      settings_(settings),
      first_(Tensor::zeros(parameters.values().shape(), parameters.dtype())) {
  if (settings.rule == Rule::adam) second_ = Tensor::zeros(first_.shape(), first_.dtype());
  for (const auto& parameter : parameters.in_creation_order()) {
    const double decay = parameter->decays() ? settings.decay : 0.0;
    const std::size_t end = parameter->offset() + parameter->shape().count();
    if (stretches_.empty() || stretches_.back().decay != decay) stretches_.push_back({parameter->offset(), end, decay});
    stretches_.back().end = end;
  }
}

void Optimizer::step(const kernels::Executor& executor, double rate, double gradient_factor, std::uint64_t t) {
  with_number(parameters_.dtype(), [&]<class T>() {
    for (const auto& [begin, end, decay] : stretches_) {
      T* w = parameters_.values().data<T>() + begin;
      const T* gradient = parameters_.gradients().data<T>() + begin;
      T* first = first_.data<T>() + begin;
      if (settings_.rule == Rule::sgd) {
        kernels::sgd_step<T>(
            executor,
            {.rate = rate, .momentum = settings_.momentum, .decay = decay, .gradient_factor = gradient_factor}, w,
            gradient, first, end - begin);
      } else {
        kernels::adam_step<T>(executor,
                              {.rate = rate,
                               .beta1 = settings_.beta1,
                               .beta2 = settings_.beta2,
                               .epsilon = settings_.epsilon,
                               .decay = decay,
                               .gradient_factor = gradient_factor,
                               .step = t},
                              w, gradient, first, second_.data<T>() + begin, end - begin);
      }
    }
  });
}

Tensor Optimizer::part_of(const Tensor& flat, const nn::Parameter& parameter) const {
  return flat.slice(0, parameter.offset(), parameter.offset() + parameter.shape().count()).reshape(parameter.shape());
}

std::vector<std::pair<std::string, Tensor>> Optimizer::state() const {
  std::map<std::string, Tensor> sorted;
  for (const nn::Parameter* parameter : parameters_.in_path_order()) {
    if (settings_.rule == Rule::sgd) {
      sorted.emplace(parameter->path() + ".velocity", part_of(first_, *parameter));
    } else {
      sorted.emplace(parameter->path() + ".m", part_of(first_, *parameter));
      sorted.emplace(parameter->path() + ".v", part_of(second_, *parameter));
    }
  }
  return {sorted.begin(), sorted.end()};
}

double gradient_norm(const kernels::Executor& executor, const nn::ParameterStore& parameters) {
  double total = 0;
  with_number(parameters.dtype(), [&]<class T>() {
    const auto in_order = parameters.in_path_order();
    auto* squares = reinterpret_cast<double*>(executor.pool.scratch(0, in_order.size() * sizeof(double)));
    executor.pool.run(in_order.size(), [&](std::size_t i, unsigned) {
      const Tensor& gradient = in_order[i]->gradient();
      squares[i] = kernels::sum_of_squares<T>(executor, gradient.data<T>(), gradient.count());
    });
    for (std::size_t i = 0; i < in_order.size(); ++i) total += squares[i];
  });
  return std::sqrt(total);
}

double clip_factor(double norm, double limit) { return limit > 0 && norm > limit ? limit / norm : 1.0; }

}  // namespace dikkat::optim
