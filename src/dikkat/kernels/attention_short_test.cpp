// Short samples of one length, whose heads go side by side: by the law like all others.
#include "dikkat/kernels/attention_testing.h"

namespace dikkat::kernels {
namespace {

using testing::AttentionInputs;
using testing::random_attention;

// Samples of one length, as many key heads as heads, no dropout; all else as it was drawn.
template <class T>
AttentionInputs<T> short_and_alike(std::mt19937_64& draw) {
  AttentionInputs<T> in = random_attention<T>(draw, 1);
  in.shape.heads = in.shape.kv_heads = 1 + draw() % 9;
  in.shape.width = 1 + draw() % 20;
  in.shape.dropout = 0;
  if (!in.slopes.empty()) in.slopes.assign(in.shape.heads, 0.25);
  if (in.shape.mask.window != 0) in.shape.mask.window = 1 + draw() % 12;
  const std::vector<std::size_t> lengths(1 + draw() % 7, 1 + draw() % 24);
  in.key_first_row.clear();
  in.lay_out(lengths, lengths);
  in.draw_values(draw);
  return in;
}

template <class T>
class ShortAttention : public ::testing::Test {};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ShortAttention, Numbers);

TYPED_TEST(ShortAttention, FastEqualsPlainToTheBit) {
  Pool pool(2);
  std::mt19937_64 draw(21);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const AttentionInputs<TypeParam> in = short_and_alike<TypeParam>(draw);
    for (const auto set : testing::instruction_sets()) {
      ASSERT_TRUE(in.run({pool, Bodies::fast, set}) == in.run({pool, Bodies::reference, set}))
          << in.rows.samples() << " samples, " << in.shape.heads << " heads of " << in.shape.width;
    }
  }
}

// Six samples of 3 heads: a vector holds the heads of several, or of one and a part of the next.
TYPED_TEST(ShortAttention, SampleAloneHasTheBitsItHasInCompany) {
  Pool pool(1);
  std::mt19937_64 draw(22);
  AttentionInputs<TypeParam> in;
  in.shape = {.heads = 3, .kv_heads = 3, .width = 5, .scale = 0.4};
  in.lay_out(std::vector<std::size_t>(6, 7), std::vector<std::size_t>(6, 7));
  in.draw_values(draw);
  const auto all = in.run(Executor{pool});
  constexpr std::size_t kSample = 7 * 3 * 5;
  for (std::size_t b = 0; b < 6; ++b) {
    AttentionInputs<TypeParam> alone = in;
    alone.lay_out({7}, {7});
    const auto of_sample = [b](const std::vector<TypeParam>& values) {
      return std::vector<TypeParam>(values.begin() + static_cast<std::ptrdiff_t>(b * kSample),
                                    values.begin() + static_cast<std::ptrdiff_t>((b + 1) * kSample));
    };
    for (auto* values : {&alone.q, &alone.k, &alone.v, &alone.d_out}) *values = of_sample(*values);
    const auto lone = alone.run(Executor{pool});
    EXPECT_EQ(lone.out, of_sample(all.out));
    EXPECT_EQ(lone.d_k, of_sample(all.d_k));
  }
}

}  // namespace
}  // namespace dikkat::kernels
