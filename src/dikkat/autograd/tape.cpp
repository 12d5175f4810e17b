#include "dikkat/autograd/tape.h"

#include <algorithm>
#include <array>

#include "dikkat/base/error.h"
#include "dikkat/kernels/elementwise.h"

namespace dikkat {
namespace {

// Multiply-adds from which on a sum is worth the whole crew: some fifty microseconds of one thread.
constexpr std::size_t kLargeSum = std::size_t{1} << 20U;

void add_onto(const kernels::Executor& executor, const Tensor& target, const Tensor& values) {
  with_number(target.dtype(), [&]<class T>() {
    kernels::add<T>(executor, target.data<T>(), values.data<T>(), target.data<T>(), target.count());
  });
}

}  // namespace

Tape::~Tape() { clear(); }

Slot Tape::new_slot() {
  places_.emplace_back();
  return static_cast<Slot>(places_.size() - 1);
}

Slot Tape::leaf(const Tensor& gradient) {
  places_.push_back({gradient, true});
  return static_cast<Slot>(places_.size() - 1);
}

kernels::Rows& Tape::new_rows() {
  if (rows_used_ == rows_.size()) rows_.emplace_back();
  return rows_[rows_used_++];
}

void Tape::backward(Context& context) {
  while (last_ != nullptr) {
    Node* node = last_;
    node->backward(node->saved(), context);
    last_ = node->previous;
    node->destroy(node->saved());
  }
  clear_nodes();
  if (kept_.empty()) clear_sums();
}

void Tape::clear() {
  clear_nodes();
  clear_sums();
}

void Tape::clear_nodes() {
  for (; last_ != nullptr; last_ = last_->previous) last_->destroy(last_->saved());
  places_.clear();
  nodes_.clear();
}

void Tape::clear_sums() {
  for (const KeptSum& sum : kept_) sum.destroy(sum.saved);
  kept_.clear();
  records_.clear();
  rows_used_ = 0;
}

void Tape::form_sums(std::span<Tape* const> pieces, Crew& crew, const kernels::Executor& executor) {
  if (pieces.empty() || pieces.size() > kMostPieces) {
    throw Error(ErrorKind::internal, "tape: sums of " + std::to_string(pieces.size()) + " pieces");
  }
  const std::vector<KeptSum>& first = pieces[0]->kept_;
  for (const Tape* piece : pieces) {
    if (piece->kept_.size() != first.size()) throw Error(ErrorKind::internal, "tape: pieces of different models");
  }
  const auto form = [&](std::size_t which, const kernels::Executor& by, Joining& joining) {
    std::array<const void*, kMostPieces> records;
    for (std::size_t i = 0; i < pieces.size(); ++i) records[i] = pieces[i]->kept_[which].saved;
    first[which].add(by, joining, {records.data(), pieces.size()}, first[which].gradient);
  };
  // No two sums have one gradient: a parameter is used once in a pass (nn/parameter.h), so their order does not matter.
  executor.pool.run(first.size(), [&](std::size_t which, unsigned worker) {
    if (first[which].work < kLargeSum) form(which, crew.alone(worker, executor), crew.joining(worker));
  });
  for (std::size_t which = 0; which < first.size(); ++which) {
    if (first[which].work >= kLargeSum) form(which, executor, crew.joining(0));
  }
  crew.even_out();
  for (Tape* piece : pieces) piece->clear_sums();
}

Tensor Tape::take(Slot slot) { return std::exchange(places_[slot].gradient, Tensor()); }

Gradient Tape::into(Slot slot, const Shape& shape, DType dtype, const Context& context) {
  if (slot == kNoSlot) return {};
  Place& place = places_[slot];
  if (!place.gradient.defined()) {
    place.gradient = Tensor::empty(shape, dtype, context.memory);
    return {place.gradient, kernels::Store::assign};
  }
  // A gradient handed to several places is copied before one of them adds to it.
  if (!place.is_leaf && place.gradient.storage_shared()) place.gradient = place.gradient.clone(context.memory);
  return {place.gradient, kernels::Store::add};
}

Tensor Tape::onto(Slot slot, const Shape& shape, DType dtype, const Context& context) {
  const Gradient gradient = into(slot, shape, dtype, context);
  if (gradient.wanted() && gradient.store == kernels::Store::assign) gradient.tensor.fill(0.0);
  return gradient.tensor;
}

void Tape::give(Slot slot, const Tensor& tensor, const Context& context) {
  if (slot == kNoSlot) return;
  if (!places_[slot].gradient.defined()) {
    places_[slot].gradient = tensor;
    return;
  }
  add_onto(context.executor, into(slot, tensor.shape(), tensor.dtype(), context).tensor, tensor);
}

}  // namespace dikkat
