#include "dikkat/autograd/tape.h"

#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/kernels/elementwise.h"

namespace dikkat {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;

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

Node* Tape::new_node(std::size_t saved_bytes, void (*run)(void*, Context&), void (*destroy)(void*)) {
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  const std::size_t bytes = (sizeof(Node) + saved_bytes + kAlign - 1) / kAlign * kAlign;
  if (bytes > kChunkBytes) throw Error(ErrorKind::internal, "tape: a node of " + std::to_string(bytes) + " bytes");
  if (chunk_ < chunks_.size() && used_ + bytes > kChunkBytes) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) chunks_.push_back(std::make_unique<std::byte[]>(kChunkBytes));
  std::byte* at = chunks_[chunk_].get() + used_;
  used_ += bytes;
  return new (at) Node{last_, run, destroy};
}

void Tape::backward(Context& context) {
  while (last_ != nullptr) {
    Node* node = last_;
    node->backward(node->saved(), context);
    last_ = node->previous;
    node->destroy(node->saved());
  }
  clear();
}

void Tape::clear() {
  for (; last_ != nullptr; last_ = last_->previous) last_->destroy(last_->saved());
  places_.clear();
  chunk_ = 0;
  used_ = 0;
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
