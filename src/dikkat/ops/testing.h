// What tests of the operations share: tensors of random doubles, a context over given samples, the gradient check.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/autograd/gradcheck.h"
#include "dikkat/autograd/tape.h"
#include "dikkat/base/parallel.h"
#include "dikkat/ops/add.h"
#include "dikkat/random/streams.h"

namespace dikkat::ops::testing {

// Uniform in [-1, 1), a function of the name.
inline Tensor values(std::string_view name, const Shape& shape, DType dtype = DType::f64) {
  const Tensor tensor = Tensor::empty(shape, dtype);
  const random::Stream stream = random::stream(1, "test values", name);
  with_number(dtype, [&]<class T>() {
    std::uint32_t i = 0;
    for (T& value : tensor.span<T>()) value = static_cast<T>(2.0 * random::uniform(stream, {i++, 0, 0, 0}) - 1.0);
  });
  return tensor;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor left = a.clone();
  const Tensor right = b.clone();
  return std::memcmp(left.raw(), right.raw(), left.bytes()) == 0;
}

// Heap memory full of NaN: what an operation has not written, nobody takes for a zero.
class Poisoned final : public Allocator {
 public:
  Block* allocate(std::size_t bytes) override {
    Block* block = heap().allocate(bytes);
    std::memset(block->data, 0xFF, bytes);
    return block;
  }
  void release(Block* block) noexcept override { heap().release(block); }
};

class OperationTest : public ::testing::Test {
 protected:
  using Function = std::function<Variable(Context&, std::span<const Variable>)>;

  // "" or where backward and differences disagree: over the inputs themselves, whose gradients are added to, and over
  // copies of them inside the graph, whose gradients are first assigned.
  std::string check(const std::vector<Tensor>& inputs, const Function& f, Mode mode = Mode::evaluation) {
    const std::string at_leaves = check_gradients(context(mode), inputs, f);
    if (!at_leaves.empty()) return at_leaves;
    const std::string inside = check_gradients(context(mode), inputs, [&](Context& c, std::span<const Variable> in) {
      std::vector<Variable> copies;
      for (const Variable& x : in) copies.push_back(add(c, x, {Tensor::zeros(x.shape(), x.value.dtype())}));
      return f(c, copies);
    });
    return inside.empty() ? "" : "inside the graph: " + inside;
  }
  // Rows of samples of these lengths; chunks as `context` tokens make them.
  void lay_out(const std::vector<std::size_t>& lengths, std::size_t context = 256) { rows_.lay_out(lengths, context); }
  [[nodiscard]] Context context(Mode mode = Mode::evaluation) {
    return {.executor = {pool_}, .memory = poisoned_, .rows = &rows_, .mode = mode, .seed = 8, .step = 3};
  }

  Poisoned poisoned_;
  Pool pool_{1};
  kernels::Rows rows_;
};

}  // namespace dikkat::ops::testing
