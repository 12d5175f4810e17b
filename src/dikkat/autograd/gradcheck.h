// Gradient check in double: what backward says against central finite differences of the forward pass.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat {

struct GradientCheck {
  // Half the step of the central difference; its error is of order step^2 plus 1e-16 / step.
  double step = 1e-5;
  double relative = 1e-6;  // tolerated, of the largest gradient entry of the tensor
};

// f computes one output from the inputs. The scalar differentiated is sum_i weight_i * output_i with fixed, uneven
// weights, so that errors cannot cancel. Checks every entry of every input; returns "" or the first disagreement.
[[nodiscard]] std::string check_gradients(const Context& context, const std::vector<Tensor>& inputs,
                                          const std::function<Variable(Context&, std::span<const Variable>)>& f,
                                          const GradientCheck& settings = {});

}  // namespace dikkat
