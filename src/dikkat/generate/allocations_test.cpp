// After warm-up a drawn token takes no memory from the heap.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "dikkat/generate/session.h"

namespace {
std::atomic<std::size_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1);
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment + alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace dikkat::generate {
namespace {

TEST(Allocations, ADrawnTokenNeedsNone) {
  Pool pool(2);
  const kernels::Executor executor{.pool = pool};
  models::LanguageModel model({.vocabulary = 65, .context = 64, .width = 32, .layers = 2}, DType::f32,
                              nn::ParameterStore::Gradients::none);
  model.initialise(executor, 1);
  Session session(model, executor);
  Sampler sampler({.top_k = 20, .top_p = 0.9, .min_p = 0.001, .repetition_penalty = 1.1});
  std::vector<text::Token> seen = {1, 2, 3};
  seen.reserve(100);
  const auto draw = [&](std::span<const text::Token> next) {
    seen.push_back(sampler.next_token(executor, std::span<const float>(session.feed(next).span<float>()), seen, 0));
  };
  draw(seen);
  for (int warm_up = 0; warm_up < 2; ++warm_up) draw(std::span(seen).last(1));
  const std::size_t before = allocations.load();
  ASSERT_GT(before, 0U);
  for (int token = 0; token < 50; ++token) draw(std::span(seen).last(1));
  EXPECT_EQ(allocations.load(), before);
}

}  // namespace
}  // namespace dikkat::generate
