#include "dikkat/kernels/rotary.h"

#include "dikkat/nn/position/position.h"
#include "dikkat/ops/rotary.h"

namespace dikkat::nn {
namespace {

class Rotary final : public Position {
 public:
  explicit Rotary(const PositionOptions& options)
      : context_(options.context), head_width_(options.head_width), base_(options.rotary_base) {}

  void prepare(const kernels::Executor& executor, DType dtype) override {
    cosines_ = Tensor::empty({context_, head_width_ / 2}, dtype);
    sines_ = Tensor::empty({context_, head_width_ / 2}, dtype);
    with_number(dtype, [&]<class T>() {
      kernels::rotary_table<T>(executor, base_, context_, head_width_, cosines_.span<T>(), sines_.span<T>());
    });
  }

  Variable rotate(Context& context, const Variable& qkv, const RotatedHeads& heads) const override {
    return ops::rotary(context, qkv, cosines_, sines_, heads.heads, heads.width);
  }

 private:
  std::size_t context_;
  std::size_t head_width_;
  double base_;
  Tensor cosines_, sines_;  // (T, D/2)
};

}  // namespace

std::unique_ptr<Position> rotary_position(const PositionOptions& options) { return std::make_unique<Rotary>(options); }

}  // namespace dikkat::nn
