// y = x . weight (+ bias); weight (in, out).
#pragma once

#include <string>

#include "dikkat/nn/parameter.h"

namespace dikkat::nn {

enum class Bias : std::uint8_t { none, kept };
[[nodiscard]] constexpr Bias bias_if(bool kept) { return kept ? Bias::kept : Bias::none; }

class Linear {
 public:
  struct Shape {
    std::size_t in;
    std::size_t out;
  };
  // Parameters <path>.weight (in, out) and <path>.bias (out), which starts at zero.
  Linear(ParameterStore& store, const std::string& path, Shape shape, Init init, Bias bias);

  // x (R, in) -> (R, out)
  [[nodiscard]] Variable forward(Context& context, const Variable& x) const;

 private:
  Parameter* weight_;
  Parameter* bias_ = nullptr;
};

}  // namespace dikkat::nn
