#include "dikkat/kernels/maths.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "dikkat/kernels/testing.h"

namespace dikkat::kernels {
namespace {

template <class T>
struct Range {
  Function function;
  T from, to;
  double ulps;  // largest error allowed, in units in the last place of the true value
};

long double truth(Function function, long double x) {
  switch (function) {
    case Function::exponential: return std::exp(x);
    case Function::logarithm: return std::log(x);
    case Function::hyperbolic_tangent: return std::tanh(x);
    case Function::error_function: return std::erf(x);
    case Function::sine: return std::sin(x);
    case Function::cosine: return std::cos(x);
  }
  return 0;
}

// Distance in units of T's last place at the true value (below the normal range: of the smallest denormal).
template <class T>
double ulps_between(T got, long double expected) {
  using Limits = std::numeric_limits<T>;
  int exponent = 0;
  (void)std::frexp(expected, &exponent);
  const long double ulp = std::ldexp(1.0L, std::max(exponent, Limits::min_exponent) - Limits::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - expected) / ulp);
}

template <class T>
void expect_within(const Range<T>& range, std::size_t count, std::uint64_t seed) {
  Pool pool(1);
  std::mt19937_64 draw(seed);
  std::vector<T> x(count), y(count);
  for (T& value : x) {
    value = range.from + (range.to - range.from) * static_cast<T>(static_cast<double>(draw() >> 11U) * 0x1.0p-53);
  }
  evaluate(Executor{pool}, range.function, x.data(), y.data(), count);
  double worst = 0;
  T at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = ulps_between(y[i], truth(range.function, static_cast<long double>(x[i])));
    if (!(distance <= worst)) worst = distance, at = x[i];
  }
  EXPECT_LE(worst, range.ulps) << "function " << static_cast<int>(range.function) << " on [" << range.from << ", "
                               << range.to << "] at " << at;
}

TEST(Maths, FloatErrorsAreBounded) {
  static constexpr Range<float> kRanges[] = {{Function::exponential, -87.0F, 88.7F, 1.5},
                                             {Function::exponential, -103.9F, -87.0F, 1.5},
                                             {Function::exponential, -0.5F, 0.5F, 1.5},
                                             {Function::logarithm, 1e-45F, 1e-37F, 1.5},
                                             {Function::logarithm, 0.5F, 2.0F, 1.5},
                                             {Function::logarithm, 0.0F, 1e38F, 1.5},
                                             {Function::hyperbolic_tangent, -1.0F, 1.0F, 2},
                                             {Function::hyperbolic_tangent, -10.0F, 10.0F, 2},
                                             {Function::error_function, -1.2F, 1.2F, 3},
                                             {Function::error_function, 1.0F, 5.0F, 3},
                                             {Function::sine, -3.2F, 3.2F, 2},
                                             {Function::cosine, -3.2F, 3.2F, 2},
                                             {Function::sine, -1e5F, 1e5F, 2},
                                             {Function::cosine, -1e5F, 1e5F, 2}};
  for (const auto& range : kRanges) expect_within(range, testing::random_cases(2000) * 250, 1);
}

TEST(Maths, DoubleErrorsAreBounded) {
  static constexpr Range<double> kRanges[] = {{Function::exponential, -708.0, 709.7, 1.5},
                                              {Function::exponential, -745.1, -708.0, 1.5},
                                              {Function::exponential, -0.5, 0.5, 1.5},
                                              {Function::logarithm, 5e-324, 1e-307, 1.5},
                                              {Function::logarithm, 0.5, 2.0, 1.5},
                                              {Function::logarithm, 0.0, 1e308, 1.5},
                                              {Function::hyperbolic_tangent, -1.0, 1.0, 2},
                                              {Function::hyperbolic_tangent, -20.0, 20.0, 2},
                                              {Function::error_function, -1.2, 1.2, 3},
                                              {Function::error_function, 1.0, 6.5, 3},
                                              {Function::sine, -3.2, 3.2, 2},
                                              {Function::cosine, -3.2, 3.2, 2},
                                              {Function::sine, -1e5, 1e5, 2},
                                              {Function::cosine, -1e5, 1e5, 2},
                                              {Function::sine, -1e9, 1e9, 2},
                                              {Function::cosine, -1e9, 1e9, 2}};
  for (const auto& range : kRanges) expect_within(range, testing::random_cases(2000) * 50, 2);
}

constexpr Function kFunctions[] = {Function::exponential,    Function::logarithm, Function::hyperbolic_tangent,
                                   Function::error_function, Function::sine,      Function::cosine};

template <class T>
class MathsOf : public ::testing::Test {
 protected:
  Pool pool{1};
  T at(Function function, T x) {
    T y = 0;
    evaluate(Executor{pool, Bodies::check}, function, &x, &y, 1);
    return y;
  }
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MathsOf, Numbers);

TYPED_TEST(MathsOf, EdgesAreExact) {
  using T = TypeParam;
  constexpr T inf = std::numeric_limits<T>::infinity();
  EXPECT_EQ(this->at(Function::exponential, 0), 1);
  EXPECT_EQ(this->at(Function::exponential, -inf), 0);
  EXPECT_EQ(this->at(Function::exponential, std::numeric_limits<T>::lowest()), 0);
  EXPECT_EQ(this->at(Function::exponential, inf), inf);
  EXPECT_EQ(this->at(Function::exponential, std::numeric_limits<T>::max()), inf);
  EXPECT_EQ(this->at(Function::logarithm, 1), 0);
  EXPECT_EQ(this->at(Function::logarithm, 0), -inf);
  EXPECT_EQ(this->at(Function::logarithm, inf), inf);
  EXPECT_TRUE(std::isnan(this->at(Function::logarithm, -1)));
  EXPECT_TRUE(std::isnan(this->at(Function::logarithm, -inf)));
  for (const auto odd : {Function::hyperbolic_tangent, Function::error_function}) {
    EXPECT_EQ(this->at(odd, inf), 1);
    EXPECT_EQ(this->at(odd, -inf), -1);
    EXPECT_TRUE(std::signbit(this->at(odd, T{-0.0})));
    EXPECT_FALSE(std::signbit(this->at(odd, T{0})));
  }
  EXPECT_EQ(this->at(Function::sine, 0), 0);
  EXPECT_EQ(this->at(Function::cosine, 0), 1);
  EXPECT_TRUE(std::isnan(this->at(Function::sine, inf)));
  EXPECT_TRUE(std::isnan(this->at(Function::cosine, T{0x1.1p30})));
}

TYPED_TEST(MathsOf, NanStays) {
  for (const auto function : kFunctions) {
    for (const double sign : {1.0, -1.0}) {
      EXPECT_TRUE(std::isnan(
          this->at(function, static_cast<TypeParam>(std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)))));
    }
  }
}

// Any bit pattern at all (so also denormals and infinities, NaN aside), and the ranges where the functions bend.
TYPED_TEST(MathsOf, VectorEqualsScalarToTheBit) {
  using T = TypeParam;
  constexpr std::size_t kBlock = 509;  // prime: the tail is tried too
  std::mt19937_64 draw(3);
  std::vector<T> x(kBlock), y(kBlock);
  for (std::size_t i = 0, n = testing::random_cases(4000); i < n; ++i) {
    const double spread = std::ldexp(1.0, static_cast<int>(draw() % 24) - 12);
    x = testing::random_values<T>(draw, kBlock, spread);
    for (std::size_t k = 0; k < kBlock; k += 2) {
      const std::uint64_t bits = draw();
      T any;
      std::memcpy(&any, &bits, sizeof any);
      if (!std::isnan(any)) x[k] = any;
    }
    for (const auto set : testing::instruction_sets()) {
      for (const auto function : kFunctions) {
        evaluate(Executor{this->pool, Bodies::check, set}, function, x.data(), y.data(), kBlock);
      }
    }
  }
}

TYPED_TEST(MathsOf, InstructionSetsAgreeToTheBit) {
  std::mt19937_64 draw(4);
  for (const auto function : kFunctions) {
    const auto x = testing::random_values<TypeParam>(draw, 100003, 90);
    std::vector<TypeParam> first(x.size()), other(x.size());
    evaluate(Executor{this->pool, Bodies::fast, InstructionSet::avx2}, function, x.data(), first.data(), x.size());
    evaluate(Executor{this->pool}, function, x.data(), other.data(), x.size());
    EXPECT_EQ(std::memcmp(first.data(), other.data(), x.size() * sizeof(TypeParam)), 0);
  }
}

}  // namespace
}  // namespace dikkat::kernels
