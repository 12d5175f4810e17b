// Planned memory for work that repeats: a training step, an evaluation window, a decoded token.
//
// The first pass takes its blocks from the heap while the arena writes down every allocation and release in order. At
// the end an offset is planned for each block, so that blocks alive at the same time do not overlap (largest first,
// lowest free offset). Later passes replay the plan from one region: no malloc, best cache use, and the peak is known.
// A pass that departs from the record (another size, another order) is served from the heap from there on, and the
// record is made anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dikkat/tensor/storage.h"

namespace dikkat {

class Arena final : public Allocator {
 public:
  Arena();
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Every block must be back before the next pass begins (Error{internal}).
  void begin_pass();
  void end_pass();

  Block* allocate(std::size_t bytes) override;
  void release(Block* block) noexcept override;

  [[nodiscard]] std::size_t planned_bytes() const { return region_bytes_; }
  // Whether the last finished pass was served from the plan alone.
  [[nodiscard]] bool replayed() const { return replayed_; }

 private:
  struct Event;  // one block's size, birth and death on the pass's clock, and planned offset

  void plan();

  std::vector<Event> record_;  // this pass
  std::vector<Event> plan_;    // the pass that the region was laid out for
  std::vector<std::unique_ptr<Block>> headers_;
  std::vector<Block*> free_headers_;
  std::byte* region_ = nullptr;
  std::size_t region_bytes_ = 0;
  std::uint64_t clock_ = 0;
  std::size_t alive_ = 0;
  bool follows_plan_ = false;
  bool replayed_ = false;
};

// One pass of an arena as a scope.
class ArenaPass {
 public:
  explicit ArenaPass(Arena& arena) : arena_(arena) { arena_.begin_pass(); }
  ~ArenaPass() { arena_.end_pass(); }
  ArenaPass(const ArenaPass&) = delete;
  ArenaPass& operator=(const ArenaPass&) = delete;

 private:
  Arena& arena_;
};

}  // namespace dikkat
