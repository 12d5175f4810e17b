// One recorded operation: plain data on the tape with two function pointers.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace dikkat {

struct Context;

struct Node {
  Node* previous;
  void (*backward)(void* saved, Context& context);
  void (*destroy)(void* saved);
  // The operation's saved data follows in memory, aligned.
  [[nodiscard]] void* saved() { return this + 1; }
};
static_assert(sizeof(Node) % alignof(void*) == 0);

// Memory for small records that are all given up together: chunks that are used again by the next pass.
class RecordMemory {
 public:
  // Aligned as std::max_align_t; valid until clear(). Error{internal} for more than 64 KiB.
  [[nodiscard]] void* take(std::size_t bytes);
  void clear();

 private:
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t chunk_ = 0;  // in use
  std::size_t used_ = 0;   // bytes of it
};

}  // namespace dikkat
