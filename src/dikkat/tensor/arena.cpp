#include "dikkat/tensor/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <numeric>

#include "dikkat/base/error.h"

namespace dikkat {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::uint64_t kAlive = ~std::uint64_t{0};

std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Large blocks come from the system and go straight back to it: a recording pass must not leave its memory behind in
// the heap, where the region could not use it.
constexpr std::size_t kMappedBytes = std::size_t{64} * 1024;

std::byte* aligned_bytes(std::size_t bytes) {
  if (bytes < kMappedBytes) {
    return static_cast<std::byte*>(::operator new[](std::max(bytes, kAlignment), std::align_val_t{kAlignment}));
  }
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(mapped);
}
void free_bytes(std::byte* data, std::size_t bytes) {
  if (bytes < kMappedBytes) {
    ::operator delete[](data, std::align_val_t{kAlignment});
  } else {
    munmap(data, bytes);
  }
}

}  // namespace

struct Arena::Event {
  std::size_t bytes = 0;
  std::uint64_t birth = 0;
  std::uint64_t death = kAlive;
  std::size_t offset = 0;  // in the region; meaningful in plan_
};

Arena::Arena() = default;

Arena::~Arena() { free_bytes(region_, region_bytes_); }

void Arena::begin_pass() {
  if (alive_ != 0) {
    throw Error(ErrorKind::internal, "arena: " + std::to_string(alive_) + " blocks of the last pass are still held");
  }
  record_.clear();
  clock_ = 0;
  follows_plan_ = !plan_.empty();
}

void Arena::end_pass() {
  replayed_ = follows_plan_ && record_.size() == plan_.size();
  if (!replayed_ && alive_ == 0) plan();
}

Block* Arena::allocate(std::size_t bytes) {
  const std::size_t number = record_.size();
  const std::uint64_t now = clock_++;
  if (follows_plan_) {
    follows_plan_ = number < plan_.size() && plan_[number].bytes == bytes && plan_[number].birth == now;
  }
  record_.push_back({.bytes = bytes, .birth = now});
  if (free_headers_.empty()) {
    headers_.push_back(std::make_unique<Block>());
    free_headers_.reserve(headers_.size());
    free_headers_.push_back(headers_.back().get());
  }
  Block* block = free_headers_.back();
  block->data = follows_plan_ ? region_ + plan_[number].offset : aligned_bytes(bytes);
  free_headers_.pop_back();
  block->bytes = bytes;
  block->owner = this;
  block->ticket = number;
  ++alive_;
  return block;
}

void Arena::release(Block* block) noexcept {
  const std::uint64_t now = clock_++;
  record_[block->ticket].death = now;
  // A block that dies later than planned could be written over by a successor: the plan ends where it is not kept.
  if (follows_plan_ && plan_[block->ticket].death != now) follows_plan_ = false;
  const bool in_region = block->data >= region_ && block->data < region_ + region_bytes_;
  if (!in_region) free_bytes(block->data, block->bytes);
  free_headers_.push_back(block);
  --alive_;
}

// Largest blocks first, each at the lowest offset where nothing alive at the same time lies.
void Arena::plan() {
  plan_ = record_;
  std::vector<std::size_t> order(plan_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return plan_[a].bytes > plan_[b].bytes; });
  std::vector<const Event*> placed;  // by offset
  std::size_t total = 0;
  for (const std::size_t number : order) {
    Event& event = plan_[number];
    const std::size_t bytes = rounded(event.bytes);
    std::size_t offset = 0;
    for (const Event* other : placed) {
      const bool together = other->birth < event.death && event.birth < other->death;
      if (!together || other->offset + rounded(other->bytes) <= offset) continue;
      if (offset + bytes <= other->offset) break;
      offset = other->offset + rounded(other->bytes);
    }
    event.offset = offset;
    total = std::max(total, offset + bytes);
    const auto place = std::upper_bound(placed.begin(), placed.end(), &event,
                                        [](const Event* a, const Event* b) { return a->offset < b->offset; });
    placed.insert(place, &event);
  }
  if (total > region_bytes_) {
    free_bytes(region_, region_bytes_);
    region_ = nullptr;
    region_bytes_ = 0;
    region_ = aligned_bytes(total);
    region_bytes_ = total;
  }
}

}  // namespace dikkat
