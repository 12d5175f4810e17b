// One recorded operation: plain data on the tape with two function pointers.
#pragma once

#include <cstddef>

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

}  // namespace dikkat
