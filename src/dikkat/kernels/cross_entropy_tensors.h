// What the bodies of cross_entropy.h work on, the same for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dikkat::kernels {

template <class T>
struct CrossEntropyForward {
  const T* logits;
  const std::int32_t* targets;
  T* losses;
  T* max;
  T* sum;
  std::size_t vocabulary;
};

template <class T>
struct CrossEntropyBackward {
  const T* logits;
  const std::int32_t* targets;
  const T* max;
  const T* sum;
  T* d_logits;
  std::size_t vocabulary;
  double scale;
};

}  // namespace dikkat::kernels
