// After warm-up a drawn token takes no memory from the heap.
#include <gtest/gtest.h>

#include "dikkat/base/allocations_testing.h"
#include "dikkat/generate/session.h"

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
  const std::size_t before = ::dikkat::testing::allocations.load();
  ASSERT_GT(before, 0U);
  for (int token = 0; token < 50; ++token) draw(std::span(seen).last(1));
  EXPECT_EQ(::dikkat::testing::allocations.load(), before);
}

}  // namespace
}  // namespace dikkat::generate
