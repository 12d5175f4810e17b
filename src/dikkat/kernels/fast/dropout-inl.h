// Fast bodies of dropout.h: sixty-four channels by one evaluation of sixteen counters.
#if defined(DIKKAT_FAST_DROPOUT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_DROPOUT_INL_H
#undef DIKKAT_FAST_DROPOUT_INL_H
#else
#define DIKKAT_FAST_DROPOUT_INL_H
#endif

#include "dikkat/kernels/fast/philox-inl.h"
#include "dikkat/kernels/reference/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// y = x * keep, or y + x * keep, on one vector.
template <Store kStore, class T>
HWY_INLINE void store_kept(hn::Vec<Tag16<T>> keep, const T* x, T* y) {
  const Tag16<T> d;
  const auto value = hn::Mul(hn::LoadU(d, x), keep);
  hn::StoreU(kStore == Store::add ? hn::Add(hn::LoadU(d, y), value) : value, d, y);
}

// The first n <= 64 channels of a block.
template <Store kStore, class T>
HWY_INLINE void dropout_tail(const T* keep, const T* x, T* y, std::size_t n) {
  constexpr std::size_t step = 16 / kParts16<T>;
  std::size_t i = 0;
  for (; i + step <= n; i += step) store_kept<kStore>(hn::Load(Tag16<T>(), keep + i), x + i, y + i);
  for (; i < n; ++i) y[i] = kStore == Store::add ? y[i] + x[i] * keep[i] : x[i] * keep[i];
}

template <Store kStore, class T>
HWY_INLINE void dropout_row(const PhiloxKeys& keys, const KeepRule<T>& rule, const RowOfDraws& row, const T* x, T* y,
                            std::size_t width) {
  constexpr std::size_t step = 16 / kParts16<T>;
  std::size_t c = 0;
  for (; c + 64 <= width; c += 64) {
    PhiloxWords words;
    philox16(keys, row, static_cast<std::uint32_t>(c / 4), words);
    for (std::size_t w = 0; w < 4; ++w) {
      const Factors16<T> factors = factors_of(rule, words.word[w]);
      for (std::size_t p = 0; p < kParts16<T>; ++p) {
        const std::size_t i = c + w * 16 + p * step;
        store_kept<kStore>(factors.part[p], x + i, y + i);
      }
    }
  }
  if (c == width) return;
  HWY_ALIGN T keep[64];
  keep_factors64(keys, rule, row, c / 64, keep);
  dropout_tail<kStore>(keep, x + c, y + c, width - c);
}

// Rate zero needs no draws: every factor is the same.
template <Store kStore, class T>
void keep_all(T factor, const T* x, T* y, std::size_t n) {
  const Tag16<T> d;
  constexpr std::size_t step = 16 / kParts16<T>;
  std::size_t i = 0;
  for (; i + step <= n; i += step) store_kept<kStore>(hn::Set(d, factor), x + i, y + i);
  for (; i < n; ++i) y[i] = kStore == Store::add ? y[i] + x[i] * factor : x[i] * factor;
}

template <Store kStore, class T>
void dropout_rows(const DropoutDraw& draw, const T* x, T* y, std::size_t width, std::size_t first, std::size_t last) {
  const KeepRule<T> rule(draw.rate);
  if (rule.threshold == 0) {
    return keep_all<kStore>(rule.factor, x + first * width, y + first * width, (last - first) * width);
  }
  const PhiloxKeys keys(draw.stream.key);
  for (std::size_t r = first; r < last; ++r) {
    const RowOfDraws row{draw.position[r], draw.sample[r], draw.step};
    dropout_row<kStore>(keys, rule, row, x + r * width, y + r * width, width);
  }
}

template <class T>
void dropout_fast(const DropoutDraw& draw, const T* x, T* y, std::size_t width, Store store, std::size_t first,
                  std::size_t last) {
  if (store == Store::add) return dropout_rows<Store::add>(draw, x, y, width, first, last);
  dropout_rows<Store::assign>(draw, x, y, width, first, last);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_DROPOUT_INL_H
