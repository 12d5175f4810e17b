// Fast body of normal_fill.h: sixteen pairs at a time.
#if defined(DIKKAT_FAST_NORMAL_FILL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_NORMAL_FILL_INL_H
#undef DIKKAT_FAST_NORMAL_FILL_INL_H
#else
#define DIKKAT_FAST_NORMAL_FILL_INL_H
#endif

#include "dikkat/kernels/fast/maths-inl.h"
#include "dikkat/kernels/fast/philox-inl.h"
#include "dikkat/kernels/reference/normal_fill-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

inline constexpr std::size_t kNormalBlock = 32;  // elements of sixteen neighbouring counters

// Elements 32 * block ... 32 * block + 31. The low word of the counters of one block never wraps.
HWY_INLINE void normal_block(const PhiloxKeys& keys, double deviation, std::uint64_t block, double* normals) {
  const std::uint64_t pair = block * 16;
  PhiloxWords words;
  philox16(keys, {.position = static_cast<std::uint32_t>(pair >> 32U), .sample = 0, .step = 0},
           static_cast<std::uint32_t>(pair), words);
  HWY_ALIGN std::uint32_t w[4][16];
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t p = 0; p < kParts16<std::uint32_t>; ++p) {
      hn::Store(words.word[k][p], Tag16<std::uint32_t>(), w[k] + p * kWidth16<std::uint32_t>);
    }
  }
  HWY_ALIGN double u1[16], u2[16];
  for (std::size_t i = 0; i < 16; ++i) {
    u1[i] = first_uniform(w[0][i], w[1][i]);
    u2[i] = second_uniform(w[2][i], w[3][i]);
  }
  const Tag16<double> d;
  for (std::size_t i = 0; i < 16; i += kWidth16<double>) {
    const auto radius = hn::Sqrt(hn::Mul(hn::Set(d, -2.0), logarithm(hn::Load(d, u1 + i))));
    const auto turns = quarter_turns(hn::Mul(hn::Set(d, kTwoPi), hn::Load(d, u2 + i)));
    const auto one = Arithmetic<hn::Vec<Tag16<double>>>::word(1);
    const auto scale = hn::Set(d, deviation);
    const auto even = hn::Mul(hn::Mul(radius, sine_of_turns(turns.r, turns.q + one)), scale);
    const auto odd = hn::Mul(hn::Mul(radius, sine_of_turns(turns.r, turns.q)), scale);
    hn::StoreInterleaved2(even, odd, d, normals + 2 * i);
  }
}

// first is a multiple of 32.
template <class T>
void normal_fill_fast(random::Stream stream, double deviation, T* out, std::size_t first, std::size_t n) {
  const PhiloxKeys keys(stream.key);
  HWY_ALIGN double normals[kNormalBlock];
  std::size_t k = 0;
  for (; k + kNormalBlock <= n; k += kNormalBlock) {
    normal_block(keys, deviation, (first + k) / kNormalBlock, normals);
    for (std::size_t i = 0; i < kNormalBlock; ++i) out[k + i] = static_cast<T>(normals[i]);
  }
  normal_fill_plain(stream, deviation, out + k, first + k, n - k);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_NORMAL_FILL_INL_H
