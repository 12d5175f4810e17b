// Philox for sixteen neighbouring counters at a time, and the dropout keep factors that follow from it. For attention
// and dropout alike:
//
//   const PhiloxKeys keys(stream.key);
//   HWY_ALIGN T keep[64];
//   keep_factors64(keys, rule, row, block, keep);   // keep[i]: factor of channel (or key) 64 * block + i
#if defined(DIKKAT_FAST_PHILOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_PHILOX_INL_H
#undef DIKKAT_FAST_PHILOX_INL_H
#else
#define DIKKAT_FAST_PHILOX_INL_H
#endif

#include "dikkat/kernels/fast/tree16-inl.h"
#include "dikkat/kernels/reference/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// The key of every round.
struct PhiloxKeys {
  std::uint32_t k0[random::kPhiloxRounds];
  std::uint32_t k1[random::kPhiloxRounds];

  explicit PhiloxKeys(std::uint64_t key) {
    for (std::uint32_t round = 0; round < random::kPhiloxRounds; ++round) {
      k0[round] = static_cast<std::uint32_t>(key) + round * random::kPhiloxWeyl0;
      k1[round] = static_cast<std::uint32_t>(key >> 32U) + round * random::kPhiloxWeyl1;
    }
  }
};

// Word w of counter {first + i, position, sample, step}, i < 16, is lane i % width of word[w][i / width].
struct PhiloxWords {
  hn::Vec<Tag16<std::uint32_t>> word[4][kParts16<std::uint32_t>];
};

// One round on counters whose words lie in the low halves of 64-bit lanes; what the high halves hold is never read.
template <class V, class K>
HWY_INLINE void philox_round(V (&x)[4], K k0, K k1) {
  const hn::DFromV<K> d;
  const hn::DFromV<V> d64;
  const auto p0 = hn::MulEven(hn::BitCast(d, x[0]), hn::Set(d, random::kPhiloxMultiplier0));
  const auto p1 = hn::MulEven(hn::BitCast(d, x[2]), hn::Set(d, random::kPhiloxMultiplier1));
  x[0] = hn::Xor3(hn::ShiftRight<32>(p1), x[1], hn::BitCast(d64, k0));
  x[1] = p1;
  x[2] = hn::Xor3(hn::ShiftRight<32>(p0), x[3], hn::BitCast(d64, k1));
  x[3] = p0;
}

// Even and odd counters go separately, so that a product fills its 64-bit lane and the words meet in natural order.
HWY_INLINE void philox16(const PhiloxKeys& keys, const RowOfDraws& row, std::uint32_t first, PhiloxWords& out) {
  const Tag16<std::uint32_t> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  using V = hn::Vec<decltype(d64)>;
  constexpr std::size_t width = 16 / kParts16<std::uint32_t>;
  const V twice = hn::Add(hn::Iota(d64, 0), hn::Iota(d64, 0));
  for (std::size_t part = 0; part < kParts16<std::uint32_t>; ++part) {
    const V counter = hn::Add(hn::Set(d64, first + part * width), twice);
    const V position = hn::Set(d64, row.position);
    const V sample = hn::Set(d64, row.sample);
    const V step = hn::Set(d64, row.step);
    V even[4] = {counter, position, sample, step};
    V odd[4] = {hn::Add(counter, hn::Set(d64, 1)), position, sample, step};
    for (int round = 0; round < random::kPhiloxRounds; ++round) {
      const auto k0 = hn::Set(d, keys.k0[round]);
      const auto k1 = hn::Set(d, keys.k1[round]);
      philox_round(even, k0, k1);
      philox_round(odd, k0, k1);
    }
    for (std::size_t w = 0; w < 4; ++w) {
      out.word[w][part] = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd[w])), hn::BitCast(d, even[w]));
    }
  }
}

// The factors of sixteen draws, factor i in lane i % width of part[i / width].
template <class T>
struct Factors16 {
  hn::Vec<Tag16<T>> part[kParts16<T>];
};

template <class T>
HWY_INLINE Factors16<T> factors_of(const KeepRule<T>& rule,
                                   const hn::Vec<Tag16<std::uint32_t>> (&word)[kParts16<std::uint32_t>]) {
  const Tag16<T> d;
  const auto factor = hn::Set(d, rule.factor);
  Factors16<T> factors;
  for (std::size_t p = 0; p < kParts16<std::uint32_t>; ++p) {
    if constexpr (sizeof(T) == 4) {
      const auto dropped = hn::Lt(word[p], hn::Set(Tag16<std::uint32_t>(), rule.threshold));
      factors.part[p] = hn::IfThenZeroElse(hn::RebindMask(d, dropped), factor);
    } else {
      // Below 2^32 a signed comparison is as good, and AVX2 has it.
      const hn::RebindToUnsigned<decltype(d)> wide;
      const hn::RebindToSigned<decltype(d)> whole;
      const hn::Half<Tag16<std::uint32_t>> half;
      const auto threshold = hn::Set(whole, static_cast<std::int64_t>(rule.threshold));
      const auto low = hn::BitCast(whole, hn::PromoteTo(wide, hn::LowerHalf(half, word[p])));
      const auto high = hn::BitCast(whole, hn::PromoteTo(wide, hn::UpperHalf(half, word[p])));
      factors.part[2 * p] = hn::IfThenZeroElse(hn::RebindMask(d, hn::Lt(low, threshold)), factor);
      factors.part[2 * p + 1] = hn::IfThenZeroElse(hn::RebindMask(d, hn::Lt(high, threshold)), factor);
    }
  }
  return factors;
}

// keep (64), aligned to a vector: the factors of channels 64 * block + 0 ... 63.
template <class T>
HWY_INLINE void keep_factors64(const PhiloxKeys& keys, const KeepRule<T>& rule, const RowOfDraws& row,
                               std::size_t block, T* HWY_RESTRICT keep) {
  constexpr std::size_t width = 16 / kParts16<T>;
  PhiloxWords words;
  philox16(keys, row, static_cast<std::uint32_t>(block * 16), words);
  for (std::size_t w = 0; w < 4; ++w) {
    const Factors16<T> factors = factors_of(rule, words.word[w]);
    for (std::size_t p = 0; p < kParts16<T>; ++p) hn::Store(factors.part[p], Tag16<T>(), keep + w * 16 + p * width);
  }
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_PHILOX_INL_H
