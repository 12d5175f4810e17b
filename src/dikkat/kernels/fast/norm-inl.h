// Fast bodies of norm.h: rows by vectors of columns with the sixteen partial sums in registers; parameter gradients by
// a few vectors of columns at a time, down the rows of each chunk.
#if defined(DIKKAT_FAST_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_NORM_INL_H
#undef DIKKAT_FAST_NORM_INL_H
#else
#define DIKKAT_FAST_NORM_INL_H
#endif

#include "dikkat/kernels/fast/tree16-inl.h"
#include "dikkat/kernels/reference/norm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

enum class Affine { none, gain, bias, both };

template <Norm kNorm, Affine kAffine, class T>
void norm_forward_rows(const NormShape& shape, const NormForward<T>& t, std::size_t first, std::size_t last) {
  const Tag16<T> d;
  const std::size_t columns = shape.columns;
  const T width = static_cast<T>(columns);
  const T epsilon = static_cast<T>(shape.epsilon);
  for (std::size_t r = first; r < last; ++r) {
    const T* x = t.x + r * columns;
    T* y = t.y + r * columns;
    T mean = 0;
    if constexpr (kNorm == Norm::layer) {
      Partials16<T> sum;
      sweep16<T>(columns, [&](auto part, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
        sum.part[part] = lanes.keep(hn::Add(sum.part[part], lanes.load(x + i)), sum.part[part]);
      });
      mean = sum.total() / width;
    }
    const auto mean_v = hn::Set(d, mean);
    Partials16<T> squares;
    sweep16<T>(columns, [&](auto part, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto xm = hn::Sub(lanes.load(x + i), mean_v);
      squares.part[part] = lanes.keep(hn::Add(squares.part[part], hn::Mul(xm, xm)), squares.part[part]);
    });
    const T rstd = T{1} / square_root(squares.total() / width + epsilon);
    const auto rstd_v = hn::Set(d, rstd);
    sweep16<T>(columns, [&](auto, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      auto v = hn::Mul(hn::Sub(lanes.load(x + i), mean_v), rstd_v);
      if constexpr (kAffine == Affine::both) v = hn::MulAdd(v, lanes.load(t.gain + i), lanes.load(t.bias + i));
      if constexpr (kAffine == Affine::gain) v = hn::Mul(v, lanes.load(t.gain + i));
      if constexpr (kAffine == Affine::bias) v = hn::Add(v, lanes.load(t.bias + i));
      lanes.store(v, y + i);
    });
    if (t.mean != nullptr) t.mean[r] = mean;
    t.rstd[r] = rstd;
  }
}

template <Norm kNorm, class T>
void norm_forward_affine(const NormShape& shape, const NormForward<T>& t, std::size_t first, std::size_t last) {
  if (t.gain != nullptr && t.bias != nullptr) return norm_forward_rows<kNorm, Affine::both>(shape, t, first, last);
  if (t.gain != nullptr) return norm_forward_rows<kNorm, Affine::gain>(shape, t, first, last);
  if (t.bias != nullptr) return norm_forward_rows<kNorm, Affine::bias>(shape, t, first, last);
  norm_forward_rows<kNorm, Affine::none>(shape, t, first, last);
}

template <class T>
void norm_forward_fast(const NormShape& shape, const NormForward<T>& t, std::size_t first, std::size_t last) {
  if (shape.norm == Norm::layer) return norm_forward_affine<Norm::layer>(shape, t, first, last);
  norm_forward_affine<Norm::rms>(shape, t, first, last);
}

template <bool kGain, class T, class Lanes>
HWY_INLINE hn::Vec<Tag16<T>> h_of(const NormBackward<T>& t, const T* dy, std::size_t i, const Lanes& lanes) {
  if constexpr (kGain) {
    return hn::Mul(lanes.load(dy + i), lanes.load(t.gain + i));
  } else {
    return lanes.load(dy + i);
  }
}

template <Norm kNorm, bool kGain, Store kStore, class T>
void norm_backward_rows(const NormShape& shape, const NormBackward<T>& t, std::size_t first, std::size_t last) {
  const Tag16<T> d;
  const std::size_t columns = shape.columns;
  const T width = static_cast<T>(columns);
  for (std::size_t r = first; r < last; ++r) {
    const T* x = t.x + r * columns;
    const T* dy = t.dy + r * columns;
    T* dx = t.dx + r * columns;
    const auto mean = hn::Set(d, mean_of_row(shape, t.mean, r));
    const auto rstd = hn::Set(d, t.rstd[r]);
    Partials16<T> sum_h, sum_hx;
    sweep16<T>(columns, [&](auto part, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto h = h_of<kGain>(t, dy, i, lanes);
      const auto hx = hn::Mul(h, hn::Mul(hn::Sub(lanes.load(x + i), mean), rstd));
      if constexpr (kNorm == Norm::layer) {
        sum_h.part[part] = lanes.keep(hn::Add(sum_h.part[part], h), sum_h.part[part]);
      }
      sum_hx.part[part] = lanes.keep(hn::Add(sum_hx.part[part], hx), sum_hx.part[part]);
    });
    const auto mean_h = hn::Set(d, kNorm == Norm::layer ? sum_h.total() / width : T{0});
    const auto mean_hx = hn::Set(d, sum_hx.total() / width);
    sweep16<T>(columns, [&](auto, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto h = h_of<kGain>(t, dy, i, lanes);
      const auto xhat = hn::Mul(hn::Sub(lanes.load(x + i), mean), rstd);
      const auto result = hn::Mul(rstd, hn::Sub(hn::Sub(h, mean_h), hn::Mul(xhat, mean_hx)));
      lanes.store(kStore == Store::add ? hn::Add(lanes.load(dx + i), result) : result, dx + i);
    });
  }
}

template <Norm kNorm, bool kGain, class T>
void norm_backward_stored(const NormShape& shape, const NormBackward<T>& t, Store store, std::size_t first,
                          std::size_t last) {
  if (store == Store::add) return norm_backward_rows<kNorm, kGain, Store::add>(shape, t, first, last);
  norm_backward_rows<kNorm, kGain, Store::assign>(shape, t, first, last);
}

template <class T>
void norm_backward_fast(const NormShape& shape, const NormBackward<T>& t, Store store, std::size_t first,
                        std::size_t last) {
  const bool gain = t.gain != nullptr;
  if (shape.norm == Norm::layer) {
    if (gain) return norm_backward_stored<Norm::layer, true>(shape, t, store, first, last);
    return norm_backward_stored<Norm::layer, false>(shape, t, store, first, last);
  }
  if (gain) return norm_backward_stored<Norm::rms, true>(shape, t, store, first, last);
  norm_backward_stored<Norm::rms, false>(shape, t, store, first, last);
}

// kVectors neighbouring vectors of columns from c on, all chunks.
template <std::size_t kVectors, class T>
HWY_INLINE void norm_gain_strip(const NormShape& shape, const NormGain<T>& t, std::span<const std::size_t> chunks,
                                std::size_t c) {
  const Tag16<T> d;
  constexpr std::size_t width = kWidth16<T>;
  for (std::size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
    hn::Vec<Tag16<T>> gain[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) gain[v] = hn::Zero(d);
    for (std::size_t r = chunks[chunk]; r < chunks[chunk + 1]; ++r) {
      const auto mean = hn::Set(d, mean_of_row(shape, t.mean, r));
      const auto rstd = hn::Set(d, t.rstd[r]);
      const std::size_t at = r * shape.columns + c;
      for (std::size_t v = 0; v < kVectors; ++v) {
        const auto xhat = hn::Mul(hn::Sub(hn::LoadU(d, t.x + at + v * width), mean), rstd);
        gain[v] = hn::MulAdd(hn::LoadU(d, t.dy + at + v * width), xhat, gain[v]);
      }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
      T* to = t.d_gain + c + v * width;
      hn::StoreU(hn::Add(hn::LoadU(d, to), gain[v]), d, to);
    }
  }
}

// Columns [first, last) only.
template <class T>
void norm_gain_fast(const NormShape& shape, const NormGain<T>& t, std::span<const std::size_t> chunks,
                    std::size_t first, std::size_t last) {
  constexpr std::size_t width = kWidth16<T>;
  std::size_t c = first;
  for (; c + 4 * width <= last; c += 4 * width) norm_gain_strip<4>(shape, t, chunks, c);
  for (; c + 2 * width <= last; c += 2 * width) norm_gain_strip<2>(shape, t, chunks, c);
  for (; c + width <= last; c += width) norm_gain_strip<1>(shape, t, chunks, c);
  norm_gain_plain(shape, t, chunks, c, last);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_NORM_INL_H
