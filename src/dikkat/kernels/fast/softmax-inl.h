// Fast bodies of softmax.h: a vector of columns at a time, the sixteen partial sums in registers.
#if defined(DIKKAT_FAST_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef DIKKAT_FAST_SOFTMAX_INL_H
#undef DIKKAT_FAST_SOFTMAX_INL_H
#else
#define DIKKAT_FAST_SOFTMAX_INL_H
#endif

#include "dikkat/kernels/fast/maths-inl.h"
#include "dikkat/kernels/fast/tree16-inl.h"
#include "dikkat/kernels/reference/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dikkat::kernels::HWY_NAMESPACE {

// The largest of x (C >= 1); any order gives it (but for the sign of a zero, and what a NaN leaves).
template <class T>
HWY_INLINE T largest_fast(const T* x, std::size_t columns) {
  constexpr std::size_t kBlock = 64;  // four or more running maxima hide the latency
  const Tag16<T> d;
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  constexpr std::size_t kRunning = kBlock / kWidth16<T>;
  hn::Vec<Tag16<T>> m[kRunning];
  for (auto& running : m) running = lowest;
  std::size_t c = 0;
  for (; c + kBlock <= columns; c += kBlock) {
    for (std::size_t v = 0; v < kRunning; ++v) m[v] = hn::Max(m[v], hn::LoadU(d, x + c + v * kWidth16<T>));
  }
  for (std::size_t v = 1; v < kRunning; ++v) m[0] = hn::Max(m[0], m[v]);
  auto all = m[0];
  sweep16<T>(columns - c, [&](auto, std::size_t i, const auto& lanes)
                              DIKKAT_INLINE_LAMBDA { all = lanes.keep(hn::Max(all, lanes.load(x + c + i)), all); });
  return fold_max(d, all);
}

template <class T>
void softmax_forward_fast(const T* x, T* y, std::size_t rows, std::size_t columns) {
  if (columns == 0) return;
  const Tag16<T> d;
  for (std::size_t r = 0; r < rows; ++r, x += columns, y += columns) {
    const auto m = hn::Set(d, largest_fast(x, columns));
    Partials16<T> z;
    sweep16<T>(columns, [&](auto part, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto e = exponential(hn::Sub(lanes.load(x + i), m));
      lanes.store(e, y + i);
      z.part[part] = lanes.keep(hn::Add(z.part[part], e), z.part[part]);
    });
    const auto reciprocal = hn::Set(d, T{1} / z.total());
    sweep16<T>(columns, [&](auto, std::size_t i, const auto& lanes)
                            DIKKAT_INLINE_LAMBDA { lanes.store(hn::Mul(lanes.load(y + i), reciprocal), y + i); });
  }
}

template <Store kStore, class T>
void softmax_backward_rows(const T* y, const T* dy, T* dx, std::size_t rows, std::size_t columns) {
  const Tag16<T> d;
  for (std::size_t r = 0; r < rows; ++r, y += columns, dy += columns, dx += columns) {
    Partials16<T> products;
    sweep16<T>(columns, [&](auto part, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto product = hn::Mul(lanes.load(y + i), lanes.load(dy + i));
      products.part[part] = lanes.keep(hn::Add(products.part[part], product), products.part[part]);
    });
    const auto dot = hn::Set(d, products.total());
    sweep16<T>(columns, [&](auto, std::size_t i, const auto& lanes) DIKKAT_INLINE_LAMBDA {
      const auto result = hn::Mul(lanes.load(y + i), hn::Sub(lanes.load(dy + i), dot));
      lanes.store(kStore == Store::add ? hn::Add(lanes.load(dx + i), result) : result, dx + i);
    });
  }
}

template <class T>
void softmax_backward_fast(const T* y, const T* dy, T* dx, std::size_t rows, std::size_t columns, Store store) {
  if (store == Store::add) return softmax_backward_rows<Store::add>(y, dy, dx, rows, columns);
  softmax_backward_rows<Store::assign>(y, dy, dx, rows, columns);
}

}  // namespace dikkat::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DIKKAT_FAST_SOFTMAX_INL_H
