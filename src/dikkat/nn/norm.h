// Layer norm or RMS norm with learned gain (ones) and, if kept, bias (zeros); or nothing at all.
#pragma once

#include <optional>
#include <string>

#include "dikkat/kernels/norm.h"
#include "dikkat/nn/linear.h"
#include "dikkat/nn/parameter.h"

namespace dikkat::nn {

class Norm {
 public:
  struct Options {
    std::optional<kernels::Norm> kind;  // none: forward is the identity, without parameters
    double epsilon = 1e-5;
    Bias bias = Bias::none;  // layer norm only
  };
  // Parameters <path>.gain (C) and <path>.bias (C).
  Norm(ParameterStore& store, const std::string& path, std::size_t width, const Options& options);

  // x (R,C) -> (R,C)
  [[nodiscard]] Variable forward(Context& context, const Variable& x) const;

 private:
  Options options_;
  Parameter* gain_ = nullptr;
  Parameter* bias_ = nullptr;
};

}  // namespace dikkat::nn
