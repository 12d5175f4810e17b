// The tape: operations in the order they ran, and the gradients that flow back over it (reverse-mode differentiation).
//
// An operation saves what its backward needs in a small struct with `void operator()(Context&)`:
//
//   struct GeluBackward {
//     Tensor x; Slot x_slot, y_slot;
//     void operator()(Context& context) const {
//       const Tensor dy = context.tape->take(y_slot);
//       if (!dy.defined()) return;                     // nobody used y
//       const Gradient dx = context.tape->into(x_slot, x.shape(), x.dtype(), context);
//       ... kernel writes dx.tensor by dx.store ...
//     }
//   };
//
// Backward frees each node's saved tensors as soon as it has run. Nodes live in chunks that are used again by the next
// pass: no allocation after the first.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/node.h"
#include "dikkat/autograd/variable.h"

namespace dikkat {

// Where a gradient is to be written, and how.
struct Gradient {
  Tensor tensor;  // undefined when none is wanted
  kernels::Store store = kernels::Store::assign;

  [[nodiscard]] bool wanted() const { return tensor.defined(); }
};

class Tape {
 public:
  Tape() = default;
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // A fresh gradient place for an intermediate value.
  [[nodiscard]] Slot new_slot();
  // A place whose gradient is added to `gradient` (same shape as the value): parameters, and inputs under test.
  [[nodiscard]] Slot leaf(const Tensor& gradient);

  template <class Backward>
  void record(Backward backward) {
    static_assert(alignof(Backward) <= alignof(std::max_align_t));
    Node* node = new_node(
        sizeof(Backward), [](void* saved, Context& context) { (*static_cast<Backward*>(saved))(context); },
        [](void* saved) { static_cast<Backward*>(saved)->~Backward(); });
    new (node->saved()) Backward(std::move(backward));
    last_ = node;
  }

  // Runs every node, last first, and clears the tape.
  void backward(Context& context);
  // Forgets everything recorded.
  void clear();

  // For backward functions. The gradient that has arrived at `slot`, taken out of it; undefined if none has.
  [[nodiscard]] Tensor take(Slot slot);
  // Where to write the gradient of a value of this shape; not wanted for kNoSlot.
  [[nodiscard]] Gradient into(Slot slot, const Shape& shape, DType dtype, const Context& context);
  // The same for kernels that only add: a fresh place is zero. Undefined for kNoSlot.
  [[nodiscard]] Tensor onto(Slot slot, const Shape& shape, DType dtype, const Context& context);
  // Hands a finished gradient on without a copy where possible. `tensor` may be shared with other slots.
  void give(Slot slot, const Tensor& tensor, const Context& context);

 private:
  struct Place {
    Tensor gradient;
    bool is_leaf = false;
  };

  Node* new_node(std::size_t saved_bytes, void (*run)(void*, Context&), void (*destroy)(void*));

  std::vector<Place> places_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t chunk_ = 0;  // in use
  std::size_t used_ = 0;   // bytes of it
  Node* last_ = nullptr;
};

// The output of an operation over `inputs`: it gets a slot iff something is recorded and some input wants a gradient.
template <class... Inputs>
[[nodiscard]] Variable output_of(const Context& context, Tensor value, const Inputs&... inputs) {
  const bool tracked = context.tape != nullptr && (inputs.wants_gradient() || ...);
  return {std::move(value), tracked ? context.tape->new_slot() : kNoSlot};
}

}  // namespace dikkat
