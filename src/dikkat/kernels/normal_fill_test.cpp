#include "dikkat/kernels/normal_fill.h"

#include <algorithm>
#include <cmath>

#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

template <class T>
std::vector<T> normals(const Executor& executor, std::uint64_t key, std::size_t n, double deviation = 1) {
  std::vector<T> out(n);
  normal_fill(executor, random::Stream{key}, deviation, out.data(), n);
  return out;
}

template <class T>
class NormalFill : public ::testing::Test {
 protected:
  Pool pool{1};
  Executor check{pool, Bodies::check};
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NormalFill, Numbers);

// Moments of a million draws within four standard errors: of the mean 1, the variance sqrt 2, the third moment sqrt 15,
// the fourth sqrt 96, over sqrt n; and the share within one deviation is erf(sqrt(1/2)).
TYPED_TEST(NormalFill, MomentsAreThoseOfTheStandardNormal) {
  constexpr std::size_t kDraws = 1000000;
  const auto x = normals<TypeParam>(Executor{this->pool}, 11, kDraws);
  double sums[4] = {}, inside = 0;
  for (const auto value : x) {
    double power = 1;
    for (double& sum : sums) sum += power *= static_cast<double>(value);
    inside += std::fabs(value) < 1 ? 1 : 0;
  }
  constexpr double n = kDraws;
  const double error = 4 / std::sqrt(n);
  EXPECT_NEAR(sums[0] / n, 0, error);
  EXPECT_NEAR(sums[1] / n, 1, error * std::sqrt(2.0));
  EXPECT_NEAR(sums[2] / n, 0, error * std::sqrt(15.0));
  EXPECT_NEAR(sums[3] / n, 3, error * std::sqrt(96.0));
  const double share = std::erf(std::sqrt(0.5));
  EXPECT_NEAR(inside / n, share, error * std::sqrt(share * (1 - share)));
}

// The header's formula by libm, from the same counters.
TYPED_TEST(NormalFill, FollowsBoxAndMuller) {
  const auto x = normals<TypeParam>(this->check, 5, 101, 0.5);
  for (std::uint32_t i = 0; i < 101; ++i) {
    const random::Counter w = random::philox(5, {i / 2, 0, 0, 0});
    const double u1 = (static_cast<double>((std::uint64_t{w[0]} << 32U | w[1]) >> 11U) + 1) / 0x1p53;
    const double u2 = static_cast<double>((std::uint64_t{w[2]} << 32U | w[3]) >> 11U) / 0x1p53;
    const double angle = 2 * std::acos(-1.0) * u2;
    const double expected = 0.5 * std::sqrt(-2 * std::log(u1)) * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
    EXPECT_NEAR(static_cast<double>(x[i]), expected, sizeof(TypeParam) == 4 ? 1e-7 : 1e-14);
  }
}

TYPED_TEST(NormalFill, LengthDoesNotMatter) {
  const auto whole = normals<TypeParam>(this->check, 3, 10000);
  for (const std::size_t n : {0U, 1U, 31U, 32U, 33U, 4096U, 9999U}) {
    const auto begin = normals<TypeParam>(this->check, 3, n);
    EXPECT_TRUE(std::equal(begin.begin(), begin.end(), whole.begin()));
  }
}

TYPED_TEST(NormalFill, StreamsDiffer) {
  EXPECT_NE(normals<TypeParam>(this->check, 1, 8), normals<TypeParam>(this->check, 2, 8));
}

TYPED_TEST(NormalFill, FastEqualsPlainToTheBit) {
  Pool two(2);
  std::mt19937_64 draw(4);
  for (std::size_t i = 0, n = testing::random_cases(2000); i < n; ++i) {
    const std::size_t size = testing::random_size(draw, 2000) * (1 + draw() % 3);
    const std::uint64_t key = draw();
    for (const auto set : testing::instruction_sets()) {
      (void)normals<TypeParam>(Executor{two, Bodies::check, set}, key, size, 0.02);
    }
  }
}

TYPED_TEST(NormalFill, ThreadsDoNotMatter) {
  const auto alone = normals<TypeParam>(this->check, 9, 50003);
  for (const unsigned threads : {2U, 3U}) {
    Pool several(threads);
    EXPECT_EQ(normals<TypeParam>(Executor{several}, 9, 50003), alone);
  }
}

}  // namespace
}  // namespace dikkat::kernels
