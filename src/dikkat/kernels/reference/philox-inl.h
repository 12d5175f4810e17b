// The keep factor of one dropout draw, as dropout.h and attention.h define it.
#if defined(DIKKAT_REFERENCE_PHILOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_REFERENCE_PHILOX_INL_H
#undef DIKKAT_REFERENCE_PHILOX_INL_H
#else
#define DIKKAT_REFERENCE_PHILOX_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include "dikkat/kernels/reference/number-inl.h"
#include "dikkat/random/philox.h"
#include "dikkat/random/streams.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// Kept iff the word is >= threshold = floor(rate * 2^32); factor = 1 / (1 - rate), rounded to T once.
template <class T>
struct KeepRule {
  std::uint32_t threshold;
  T factor;

  explicit KeepRule(double rate)
      : threshold(static_cast<std::uint32_t>(rate * 0x1.0p32)), factor(number<T>(1.0 / (1.0 - rate))) {}
};

// What all draws of one row share: the last three words of the counter.
struct RowOfDraws {
  std::uint32_t position;
  std::uint32_t sample;
  std::uint32_t step;
};

template <class T>
T keep_factor_plain(random::Stream stream, const KeepRule<T>& rule, const RowOfDraws& row, std::size_t c) {
  const auto first = static_cast<std::uint32_t>((c / 64) * 16 + c % 16);
  const random::Counter words = random::philox(stream.key, {first, row.position, row.sample, row.step});
  return words[c % 64 / 16] >= rule.threshold ? rule.factor : number<T>(0);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_REFERENCE_PHILOX_INL_H
