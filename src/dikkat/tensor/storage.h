// Memory that tensors share: a counted handle on a block, and where blocks come from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace dikkat {

class Allocator;

struct Block {
  std::byte* data = nullptr;  // 64-byte aligned
  std::size_t bytes = 0;
  Allocator* owner = nullptr;
  std::uint64_t ticket = 0;  // the owner's own number for it
  std::atomic<std::uint32_t> references{0};
};

// Hands out blocks and takes them back when the last tensor on them is gone. An allocator outlives its blocks.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Content unspecified. Error{limit} when there is no memory.
  virtual Block* allocate(std::size_t bytes) = 0;
  virtual void release(Block* block) noexcept = 0;
};

// Plain aligned heap memory, without state.
[[nodiscard]] Allocator& heap();

class Storage {
 public:
  Storage() = default;
  Storage(Allocator& from, std::size_t bytes) : block_(from.allocate(bytes)) { block_->references.store(1); }
  Storage(const Storage& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Storage(Storage&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Storage() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      block_->owner->release(block_);
    }
  }

  [[nodiscard]] std::byte* data() const { return block_ == nullptr ? nullptr : block_->data; }
  [[nodiscard]] std::size_t bytes() const { return block_ == nullptr ? 0 : block_->bytes; }
  [[nodiscard]] bool shared() const { return block_ != nullptr && block_->references.load() > 1; }

 private:
  Block* block_ = nullptr;
};

}  // namespace dikkat
