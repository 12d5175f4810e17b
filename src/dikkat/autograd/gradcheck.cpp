#include "dikkat/autograd/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "dikkat/autograd/tape.h"

namespace dikkat {
namespace {

double weight_of(std::size_t i) { return 0.5 + 0.25 * static_cast<double>((i * 7 + 3) % 11); }

double weighted_sum(const Tensor& output) {
  double total = 0;
  const Tensor flat = output.clone();
  for (std::size_t i = 0; i < flat.count(); ++i) total += weight_of(i) * flat.data<double>()[i];
  return total;
}

}  // namespace

std::string check_gradients(const Context& outer, const std::vector<Tensor>& inputs,
                            const std::function<Variable(Context&, std::span<const Variable>)>& f,
                            const GradientCheck& settings) {
  Tape tape;
  Context context = outer;
  context.tape = &tape;
  std::vector<Variable> variables;
  std::vector<Tensor> gradients;
  for (const Tensor& input : inputs) {
    gradients.push_back(Tensor::zeros(input.shape(), DType::f64));
    variables.push_back({input, tape.leaf(gradients.back())});
  }
  {
    const Variable output = f(context, variables);
    const Tensor seed = Tensor::empty(output.shape(), DType::f64);
    for (std::size_t i = 0; i < seed.count(); ++i) seed.data<double>()[i] = weight_of(i);
    tape.give(output.slot, seed, context);
  }
  tape.backward(context);

  context.tape = nullptr;
  for (auto& variable : variables) variable.slot = kNoSlot;
  for (std::size_t which = 0; which < inputs.size(); ++which) {
    double* x = inputs[which].data<double>();
    const double* seen = gradients[which].data<double>();
    double largest = 1e-3;
    for (std::size_t i = 0; i < inputs[which].count(); ++i) largest = std::max(largest, std::abs(seen[i]));
    for (std::size_t i = 0; i < inputs[which].count(); ++i) {
      const double here = x[i];
      x[i] = here + settings.step;
      const double above = weighted_sum(f(context, variables).value);
      x[i] = here - settings.step;
      const double below = weighted_sum(f(context, variables).value);
      x[i] = here;
      const double expected = (above - below) / (2 * settings.step);
      if (!(std::abs(seen[i] - expected) <= settings.relative * largest)) {
        return "input " + std::to_string(which) + " entry " + std::to_string(i) + ": backward says " +
               std::to_string(seen[i]) + ", differences say " + std::to_string(expected);
      }
    }
  }
  return "";
}

}  // namespace dikkat
