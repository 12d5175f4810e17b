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
// Backward frees each node's saved tensors as soon as it has run. The gradient of what acts on every row alike (a
// weight, a bias, a table) is a sum over rows: its backward hands the tape a record of it (row_sum.h), which is added
// to the gradient at once, or, where the batch goes through in pieces, kept until form_sums has all pieces' records.
// Nodes and records live in memory that is used again by the next pass: no allocation after the first.
#pragma once

#include <deque>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/crew.h"
#include "dikkat/autograd/node.h"
#include "dikkat/autograd/row_sum.h"
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

  // What becomes of sums over rows that go to a leaf: added to its gradient at once, or kept for form_sums.
  enum class Sums : std::uint8_t { at_once, kept };
  void set_sums(Sums sums) { sums_ = sums; }

  // A fresh gradient place for an intermediate value.
  [[nodiscard]] Slot new_slot();
  // A place whose gradient is added to `gradient` (same shape as the value): parameters, and inputs under test.
  [[nodiscard]] Slot leaf(const Tensor& gradient);
  // A layout that lives as long as what is recorded and kept; its memory is used again.
  [[nodiscard]] kernels::Rows& new_rows();

  template <class Backward>
  void record(Backward backward) {
    static_assert(alignof(Backward) <= alignof(std::max_align_t));
    void* at = nodes_.take(sizeof(Node) + sizeof(Backward));
    Node* node = new (at) Node{last_, [](void* saved, Context& context) { (*static_cast<Backward*>(saved))(context); },
                               [](void* saved) { static_cast<Backward*>(saved)->~Backward(); }};
    new (node->saved()) Backward(std::move(backward));
    last_ = node;
  }

  // Runs every node, last first, and clears the tape but for the sums it keeps.
  void backward(Context& context);
  // Forgets everything recorded and kept.
  void clear();
  // Adds the sums that the tapes of all pieces of a batch have kept, pieces in the order of their rows, to their
  // gradients, and forgets them. Small sums are shared out among the crew, a large one is cut by its kernel.
  static void form_sums(std::span<Tape* const> pieces, Crew& crew, const kernels::Executor& executor);

  // For backward functions. The gradient that has arrived at `slot`, taken out of it; undefined if none has.
  [[nodiscard]] Tensor take(Slot slot);
  // Where to write the gradient of a value of this shape; not wanted for kNoSlot.
  [[nodiscard]] Gradient into(Slot slot, const Shape& shape, DType dtype, const Context& context);
  // Adds a sum over rows (row_sum.h) to the gradient of a value of this shape; nothing for kNoSlot. work: its
  // multiply-adds, more or less.
  template <class Sum>
  void add_sum(Slot slot, const Shape& shape, DType dtype, Sum sum, std::size_t work, Context& context) {
    if (slot == kNoSlot) return;
    const auto add = [](const kernels::Executor& executor, Joining& joining, std::span<const void* const> pieces,
                        const Tensor& to) { Sum::add(executor, joining, Pieces<Sum>(pieces), to); };
    if (sums_ == Sums::at_once || !places_[slot].is_leaf) {
      const void* const lone = &sum;
      return add(context.executor, joining_, {&lone, 1}, onto(slot, shape, dtype, context));
    }
    void* at = records_.take(sizeof(Sum));
    new (at) Sum(std::move(sum));
    kept_.push_back({add, [](void* saved) { static_cast<Sum*>(saved)->~Sum(); }, at, places_[slot].gradient, work});
  }
  // Hands a finished gradient on without a copy where possible. `tensor` may be shared with other slots.
  void give(Slot slot, const Tensor& tensor, const Context& context);

 private:
  struct Place {
    Tensor gradient;
    bool is_leaf = false;
  };
  struct KeptSum {
    void (*add)(const kernels::Executor&, Joining&, std::span<const void* const>, const Tensor&);
    void (*destroy)(void* saved);
    void* saved;
    Tensor gradient;
    std::size_t work;
  };

  // The gradient at `slot`; a fresh one is zero.
  [[nodiscard]] Tensor onto(Slot slot, const Shape& shape, DType dtype, const Context& context);
  void clear_nodes();
  void clear_sums();

  Sums sums_ = Sums::at_once;
  std::vector<Place> places_;
  RecordMemory nodes_;
  Node* last_ = nullptr;
  RecordMemory records_;
  std::vector<KeptSum> kept_;
  std::deque<kernels::Rows> rows_;  // growing moves none
  std::size_t rows_used_ = 0;
  Joining joining_;
};

// The output of an operation over `inputs`: it gets a slot iff something is recorded and some input wants a gradient.
template <class... Inputs>
[[nodiscard]] Variable output_of(const Context& context, Tensor value, const Inputs&... inputs) {
  const bool tracked = context.tape != nullptr && (inputs.wants_gradient() || ...);
  return {std::move(value), tracked ? context.tape->new_slot() : kNoSlot};
}

}  // namespace dikkat
