#include "dikkat/ops/attention.h"

#include <cmath>

#include "dikkat/base/testing.h"
#include "dikkat/ops/testing.h"

namespace dikkat::ops {
namespace {

using kernels::Direction;
using kernels::Mask;
using testing::values;
using Inputs = std::span<const Variable>;

struct Heads {
  std::size_t heads, kv_heads, width;
  [[nodiscard]] std::size_t joint() const { return (heads + 2 * kv_heads) * width; }
};
constexpr Heads kHeads[] = {{2, 2, 3}, {4, 2, 1}, {3, 1, 5}, {1, 1, 4}};
constexpr Mask kMasks[] = {{Direction::causal, 0},
                           {Direction::bidirectional, 0},
                           {Direction::causal, 2},
                           {Direction::bidirectional, 3},
                           {Direction::causal, 1}};

AttentionOptions options_of(const Heads& heads, const Mask& mask) {
  return {.heads = heads.heads, .kv_heads = heads.kv_heads, .width = heads.width, .mask = mask, .place = "here"};
}

class AttentionTest : public testing::OperationTest {
 protected:
  AttentionTest() { lay_out({5, 1, 3}); }
};

TEST_F(AttentionTest, GradientsAgreeWithDifferencesUnderEveryMaskAndGrouping) {
  for (const Heads& heads : kHeads) {
    for (const Mask& mask : kMasks) {
      const auto f = [&](Context& c, Inputs in) { return attention(c, in[0], options_of(heads, mask)); };
      EXPECT_EQ(check({values("qkv", {9, heads.joint()})}, f, Mode::training), "")
          << heads.heads << " heads on " << heads.kv_heads << ", window " << mask.window;
    }
  }
}

TEST_F(AttentionTest, GradientsAgreeWithDifferencesWithSlopesAndDropout) {
  const std::vector<double> slopes = {0.5, 0.25, 0.125, 0.0625};
  for (const Heads& heads : kHeads) {
    for (const Mask& mask : kMasks) {
      AttentionOptions options = options_of(heads, mask);
      options.slopes = std::span(slopes).first(heads.heads);
      options.dropout = 0.3;
      const auto f = [&](Context& c, Inputs in) { return attention(c, in[0], options); };
      EXPECT_EQ(check({values("qkv", {9, heads.joint()})}, f, Mode::training), "")
          << heads.heads << " heads on " << heads.kv_heads << ", window " << mask.window;
    }
  }
}

// Two keys with scores 0 and ln 3 (q = 2 ln 3, k = 0 and 1, scale 1/2): weights 1/4 and 3/4.
TEST_F(AttentionTest, MixesValuesByTheSoftmaxOfScaledProducts) {
  lay_out({2});
  Context c = context();
  const double q = 2 * std::log(3.0);
  const std::vector<double> qkv = {0, 0, 0, 0, /*k*/ 0, 0, 0, 0, /*v*/ 1, 2, 3, 4,
                                   q, 0, 0, 0, /*k*/ 1, 9, 9, 9, /*v*/ 5, 6, 7, 8};
  const Tensor out = attention(c, {Tensor::of<double>({2, 12}, qkv)}, options_of({1, 1, 4}, {})).value;
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_EQ(out.data<double>()[d], 1.0 + static_cast<double>(d));
    EXPECT_NEAR(out.data<double>()[4 + d], 4.0 + static_cast<double>(d), 1e-14);
  }
}

TEST_F(AttentionTest, WindowOfOneIsTheValueItself) {
  Context c = context();
  const Tensor qkv = values("qkv", {9, 18});
  const Tensor out = attention(c, {qkv}, options_of({2, 2, 3}, {Direction::causal, 1})).value;
  EXPECT_TRUE(testing::same_bits(out, qkv.slice(1, 12, 18)));
}

// Query positions 2 and 3 with three keys and a window of one: the last sees none.
TEST_F(AttentionTest, ARowWithNothingToLookAtIsZero) {
  rows_.lay_out_continuation(4, 0);
  Context c = context();
  const Tensor qkv = values("qkv", {4, 12});
  const Tensor out =
      attention_cached(c, qkv, values("k", {3, 4}), values("v", {3, 4}), options_of({1, 1, 4}, {Direction::causal, 1}));
  EXPECT_TRUE(testing::same_bits(out.slice(0, 2, 3).clone(), values("v", {3, 4}).slice(0, 2, 3)));
  for (std::size_t d = 0; d < 4; ++d) EXPECT_EQ(out.data<double>()[12 + d], 0.0);
}

// The last rows' queries over cached keys and values are the last rows of the whole pass.
TEST_F(AttentionTest, CachedEqualsTheWholePass) {
  lay_out({9});
  const std::vector<double> slopes = {0.5, 0.25, 0.125, 0.0625};
  for (const Mask& mask : {kMasks[0], kMasks[2]}) {
    Context c = context();
    AttentionOptions options = options_of({4, 2, 1}, mask);
    options.slopes = slopes;
    const Tensor qkv = values("qkv", {9, 8});
    lay_out({9});
    const Tensor whole = attention(c, {qkv}, options).value;
    rows_.lay_out_continuation(3, 6);
    const Tensor cached = attention_cached(c, qkv.slice(0, 6, 9), qkv.slice(1, 4, 6), qkv.slice(1, 6, 8), options);
    EXPECT_TRUE(testing::same_bits(cached, whole.slice(0, 6, 9)));
  }
}

TEST_F(AttentionTest, LookingAtTheMapChangesNoBitAndChangingItChangesTheOutput) {
  for (const Heads& heads : kHeads) {
    for (const Mask& mask : kMasks) {
      AttentionOptions options = options_of(heads, mask);
      options.dropout = 0.3;
      const Variable qkv{values("qkv", {9, heads.joint()})};
      for (const Mode mode : {Mode::evaluation, Mode::training}) {
        Context c = context(mode);
        const Tensor plain = attention(c, qkv, options).value;
        Tensor map;
        const auto keep = [&](Tensor& pattern) { map = pattern.clone(); };
        EXPECT_TRUE(testing::same_bits(attention_with_map(c, qkv, options, keep).value, plain));
        EXPECT_EQ(map.shape().text(), Shape({9, heads.heads, 5}).text());
        const auto halve = [](Tensor& pattern) {
          for (double& weight : pattern.span<double>()) weight /= 2;
        };
        const Tensor halved = attention_with_map(c, qkv, options, halve).value;
        for (std::size_t i = 0; i < plain.count(); ++i) {
          EXPECT_EQ(halved.data<double>()[i], plain.data<double>()[i] / 2);
        }
      }
    }
  }
}

TEST_F(AttentionTest, GradientsWithTheMapAreThoseWithout) {
  const auto f = [&](Context& c, Inputs in) {
    return attention_with_map(c, in[0], options_of({4, 2, 1}, kMasks[3]), [](Tensor&) {});
  };
  EXPECT_EQ(check({values("qkv", {9, 8})}, f), "");
}

// Whatever is written into the map, backward is that of the map as it was.
TEST_F(AttentionTest, GradientsOfAChangedMapAreThoseOfTheUnchanged) {
  const Tensor qkv = values("qkv", {9, 8});
  const Tensor d_out = values("d out", {9, 4});
  const auto gradient = [&](const std::function<void(Tensor&)>& look) {
    Tape tape;
    Context c = context();
    c.tape = &tape;
    const Tensor gathered = Tensor::zeros(qkv.shape(), DType::f64);
    {
      const Variable out = attention_with_map(c, {qkv, tape.leaf(gathered)}, options_of({4, 2, 1}, {}), look);
      tape.give(out.slot, d_out, c);
    }
    tape.backward(c);
    return gathered;
  };
  EXPECT_TRUE(testing::same_bits(gradient([](Tensor&) {}), gradient([](Tensor& pattern) { pattern.fill(0.0); })));
}

// A slope of zero is no slope; a very steep one leaves the nearest key alone.
TEST_F(AttentionTest, SlopesPenaliseDistance) {
  Context c = context();
  const Variable qkv{values("qkv", {9, 12})};
  AttentionOptions options = options_of({1, 1, 4}, {});
  const Tensor plain = attention(c, qkv, options).value;
  const std::vector<double> none = {0.0};
  options.slopes = none;
  EXPECT_TRUE(testing::same_bits(attention(c, qkv, options).value, plain));
  const std::vector<double> steep = {2000.0};
  options.slopes = steep;
  EXPECT_TRUE(testing::same_bits(attention(c, qkv, options).value, qkv.value.slice(1, 8, 12)));
}

TEST_F(AttentionTest, DropoutIsOffInEvaluation) {
  AttentionOptions options = options_of({2, 2, 3}, {});
  const Variable qkv{values("qkv", {9, 18})};
  Context evaluation = context(Mode::evaluation);
  Context training = context(Mode::training);
  const Tensor plain = attention(training, qkv, options).value;
  options.dropout = 0.5;
  EXPECT_TRUE(testing::same_bits(attention(evaluation, qkv, options).value, plain));
  EXPECT_FALSE(testing::same_bits(attention(training, qkv, options).value, plain));
}

TEST_F(AttentionTest, ShapesThatDoNotFitAreNamed) {
  Context c = context();
  const Error error = dikkat::testing::error_of([&] {
    (void)attention(c, {values("qkv", {9, 17})}, options_of({2, 2, 3}, {}));
  });
  EXPECT_EQ(error.message(), "attention: qkv has shape (9,17); expected (9,18)");
}

}  // namespace
}  // namespace dikkat::ops
