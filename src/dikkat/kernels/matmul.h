// Matrix product, the kernel nearly all time goes to.
//
//   result[m][n] = sum over k of a[m][k] * b[k][n]
//
// Law: one chain c = fma(a[m][k], b[k][n], c) from zero over k = 0, 1, ... in order, for every element; with
// `chunks`, one such chain for each chunk of k, and each chain's value is added, in order, to the output
// (Store::add is then implied). `bias[n]` is added to the finished chain. A row computed alone has the bits it has in
// company.
#pragma once

#include <cstddef>
#include <span>

#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

// A strided view; strides count elements. {w.data(), K, N, N, 1} is row-major, {w.data(), N, K, 1, N} its transpose.
template <class T>
struct Matrix {
  T* data;
  std::size_t rows;
  std::size_t columns;
  std::size_t row_stride;
  std::size_t column_stride = 1;

  [[nodiscard]] Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

template <class T>
struct MatmulOptions {
  Store store = Store::assign;
  const T* bias = nullptr;                   // (N), only with Store::assign
  std::span<const std::size_t> chunks = {};  // boundaries of k: first 0, last K
};

// a (M,K) . b (K,N) -> out (M,N). out's column_stride is 1. Overlap of out with a or b is not allowed. K = 0 gives
// zeros (plus bias). Error{internal} on shapes that do not fit.
template <class T>
void matmul(const Executor& executor, Matrix<const T> a, Matrix<const T> b, Matrix<T> out,
            const MatmulOptions<T>& options = {});

}  // namespace dikkat::kernels
