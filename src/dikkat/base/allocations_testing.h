// Counts what a test program takes from the heap through operator new. Included by one *_test.cpp of a program at most:
// it defines the replaceable operators.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace dikkat::testing {

inline std::atomic<std::size_t> allocations{0};

inline void* counted_allocation(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) return memory;
  throw std::bad_alloc();
}

}  // namespace dikkat::testing

// Not inlined: the compiler would see free() on what it takes for the built-in operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return dikkat::testing::counted_allocation(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return dikkat::testing::counted_allocation(bytes, static_cast<std::size_t>(alignment));
}
// std::stable_sort asks this way.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return dikkat::testing::counted_allocation(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
