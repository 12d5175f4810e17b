// Memory for tensors that live for a moment: handed out from one region, given up together. What does not fit comes
// from the heap, and the region grows to hold it the next time.
#pragma once

#include <array>
#include <cstddef>

#include "dikkat/tensor/storage.h"

namespace dikkat {

class ScratchMemory final : public Allocator {
 public:
  Block* allocate(std::size_t bytes) override;
  void release(Block* block) noexcept override;
  // Begins anew; the tensors are gone (Error{internal} if one is not).
  void clear();
  // Bytes of the region; makes it hold so many, between two rounds.
  [[nodiscard]] std::size_t capacity() const { return region_.bytes(); }
  void reserve(std::size_t bytes);

 private:
  std::array<Block, 8> headers_;  // beyond so many blocks at a time: the heap
  std::size_t handed_out_ = 0;    // of headers_
  std::size_t alive_ = 0;         // of those
  Storage region_;
  std::size_t asked_for_ = 0;  // bytes, since the last clear
};

}  // namespace dikkat
