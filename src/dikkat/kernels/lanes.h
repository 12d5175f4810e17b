// The lane type: N independent models in one vector register. It is a kind of number, not an axis: a plain body
// instantiated on Lanes<float, 16> trains sixteen models at once, and lane i has the bits of model i alone.
// Only data here; its arithmetic lives inside the instruction-set regions (reference/number-inl.h).
#pragma once

#include <cstddef>

namespace dikkat::kernels {

template <class T, std::size_t N>
struct alignas(sizeof(T) * N) Lanes {
  T lane[N];
};

template <class T>
inline constexpr std::size_t lanes_of = 1;
template <class T, std::size_t N>
inline constexpr std::size_t lanes_of<Lanes<T, N>> = N;

template <class T>
struct scalar_of {
  using type = T;
};
template <class T, std::size_t N>
struct scalar_of<Lanes<T, N>> {
  using type = T;
};
template <class T>
using scalar_t = typename scalar_of<T>::type;

}  // namespace dikkat::kernels
