#include <cmath>
#include <numbers>
#include <vector>

#include "dikkat/kernels/maths.h"
#include "dikkat/nn/position/position.h"
#include "dikkat/ops/add.h"
#include "dikkat/ops/embedding.h"

namespace dikkat::nn {
namespace {

using kernels::Function;

class Sinusoidal : public Position {
 public:
  explicit Sinusoidal(const PositionOptions& options) : context_(options.context), width_(options.width) {}

  void prepare(const kernels::Executor& executor, DType dtype) override {
    const Tensor table = Tensor::zeros({context_, width_}, DType::f64);
    fill(executor, table.span<double>());
    table_ = Tensor::empty(table.shape(), dtype);
    table_.assign(table);
  }

  Variable add_to_embedding(Context& context, const Variable& x) const override {
    return ops::add(context, x, ops::embedding(context, Variable{table_}, context.rows->position));
  }

 protected:
  // table (T,C), zero
  virtual void fill(const kernels::Executor& executor, std::span<double> table) const {
    const std::size_t pairs = (width_ + 1) / 2;
    // frequency_i = 10000^(-2i/C) = exp(-2i/C * ln 10000)
    std::vector<double> frequency(pairs);
    double log_base = 10000.0;
    kernels::evaluate(executor, Function::logarithm, &log_base, &log_base, 1);
    for (std::size_t i = 0; i < pairs; ++i) {
      frequency[i] = -(static_cast<double>(2 * i) / static_cast<double>(width_)) * log_base;
    }
    kernels::evaluate(executor, Function::exponential, frequency.data(), frequency.data(), pairs);
    for (std::size_t t = 0; t < context_; ++t) {
      for (std::size_t i = 0; i < pairs; ++i) {
        wave(executor, static_cast<double>(t) * frequency[i], table, t, 2 * i);
      }
    }
  }

  // sin of the angle in channel `channel` of position t, cos in the next.
  void wave(const kernels::Executor& executor, double angle, std::span<double> table, std::size_t t,
            std::size_t channel) const {
    double* row = table.data() + t * width_;
    kernels::evaluate(executor, Function::sine, &angle, row + channel, 1);
    if (channel + 1 < width_) kernels::evaluate(executor, Function::cosine, &angle, row + channel + 1, 1);
  }

  std::size_t context_;
  std::size_t width_;

 private:
  Tensor table_;
};

class SingleSinusoid final : public Sinusoidal {
 public:
  using Sinusoidal::Sinusoidal;

 protected:
  void fill(const kernels::Executor& executor, std::span<double> table) const override {
    for (std::size_t t = 0; t < context_; ++t) {
      const double last = context_ > 1 ? static_cast<double>(context_ - 1) : 1.0;
      wave(executor, std::numbers::pi * static_cast<double>(t) / last, table, t, 0);
    }
  }
};

}  // namespace

std::unique_ptr<Position> sinusoidal_position(const PositionOptions& options) {
  return std::make_unique<Sinusoidal>(options);
}

std::unique_ptr<Position> single_sinusoid_position(const PositionOptions& options) {
  return std::make_unique<SingleSinusoid>(options);
}

}  // namespace dikkat::nn
