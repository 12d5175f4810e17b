#include "dikkat/tensor/scratch_memory.h"

#include <string>

#include "dikkat/base/error.h"

namespace dikkat {
namespace {

constexpr std::size_t kLine = 64;

}  // namespace

Block* ScratchMemory::allocate(std::size_t bytes) {
  const std::size_t begin = asked_for_;
  asked_for_ += (bytes + kLine - 1) / kLine * kLine;
  if (asked_for_ > region_.bytes() || handed_out_ == headers_.size()) return heap().allocate(bytes);
  Block* block = &headers_[handed_out_];
  block->data = region_.data() + begin;
  block->bytes = bytes;
  block->owner = this;
  ++handed_out_;
  ++alive_;
  return block;
}

void ScratchMemory::release(Block* /*block*/) noexcept { --alive_; }

void ScratchMemory::clear() {
  if (alive_ != 0) throw Error(ErrorKind::internal, "scratch memory: " + std::to_string(alive_) + " blocks are in use");
  reserve(asked_for_);
  handed_out_ = 0;
  asked_for_ = 0;
}

void ScratchMemory::reserve(std::size_t bytes) {
  if (bytes > region_.bytes()) region_ = Storage(heap(), bytes);
}

}  // namespace dikkat
