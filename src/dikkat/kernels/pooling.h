// Pooling: the rows of each sample become one.
//
// Attention pooling with one learned query a head (the query of Lee et al., "Set Transformer", 2019, section 3.2, with
// one seed), for head h over the rows r of a sample, ascending:
//   s_r = (fma chain over d of q_d * k_rd from zero) * scale
//   m = max s_r (a zero is +0);  e_r = exp(s_r - m);  Z = sum of e_r;  a_r = e_r * (1 / Z)
//   out_d = sum over r of a_r * v_rd
// RowSum says how the two sums over rows are formed:
//   chain        Z: 16 partial sums by position modulo 16, then the tree;  out_d: an fma chain from zero
//   compensated  rounded terms, added in order from zero by Neumaier's method (Zeitschrift fuer Angewandte Mathematik
//   und
//                Mechanik 54, 1974), the compensation added once at the end if it is finite. Python's sum does the same
//                from version 3.12 on. The result is the exact sum's rounding but for one case in some 2^50, so that it
//                does not depend on the order of the rows.
// Backward, from the pattern a and out of the forward pass:
//   da_r = fma chain over d of dout_d * v_rd from zero;  delta = 16-partial tree over d of dout_d * out_d
//   ds_r = (a_r * (da_r - delta)) * scale
//   dk_rd = ds_r * q_d;  dv_rd = a_r * dout_d
//   dq_d += for each chunk of rows, in order, the fma chain over its rows of ds_r * k_rd from zero
// A sample without rows has zero output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/rows.h"

namespace dikkat::kernels {

enum class RowSum : std::uint8_t { chain, compensated };

struct PoolingShape {
  std::size_t heads = 1;  // H
  std::size_t width = 1;  // D
  double scale = 1.0;     // usually 1 / sqrt(D), rounded to T once
  RowSum sum = RowSum::compensated;
  const Rows* rows = nullptr;  // R rows of B samples

  [[nodiscard]] std::size_t columns() const { return heads * width; }
};

template <class T>
struct PoolingForward {
  const T* key_values = nullptr;  // (R, 2 H D): keys of the heads, then their values
  const T* query = nullptr;       // (H D)
  T* pattern = nullptr;           // (R, H)  a
  T* out = nullptr;               // (B, H D)
};
template <class T>
void pooling_forward(const Executor& executor, const PoolingShape& shape, const PoolingForward<T>& tensors);

// out from a given pattern (perhaps edited); with that of pooling_forward the same bits.
template <class T>
void pooling_mix(const Executor& executor, const PoolingShape& shape, const T* pattern, const T* key_values, T* out);

template <class T>
struct PoolingBackward {
  const T* key_values = nullptr;
  const T* query = nullptr;
  const T* pattern = nullptr;
  const T* out = nullptr;
  const T* d_out = nullptr;   // (B, H D)
  T* d_key_values = nullptr;  // (R, 2 H D), assigned
  T* d_scores = nullptr;      // (R, H)  ds, assigned
};
template <class T>
void pooling_backward(const Executor& executor, const PoolingShape& shape, const PoolingBackward<T>& tensors);

// d_query (H D) is added to, chunk by chunk (of the shape, heads and width are looked at).
template <class T>
struct PoolingQuery {
  const T* key_values = nullptr;
  const T* d_scores = nullptr;
  T* d_query = nullptr;
};
template <class T>
void pooling_query_gradient(const Executor& executor, const PoolingShape& shape, const PoolingQuery<T>& tensors,
                            std::span<const std::size_t> chunks);

// x (R,C) -> y (B,C).
//   mean   y_c = (x_1c + x_2c + ... in order, from zero) / rows;  dx_rc = dy_c / rows
//   last   y_c = x_c of the last row;  dx_rc = dy_c there, 0 elsewhere
// Zero for a sample without rows.
template <class T>
void mean_pooling_forward(const Executor& executor, const Rows& rows, const T* x, T* y, std::size_t columns);
template <class T>
void mean_pooling_backward(const Executor& executor, const Rows& rows, const T* dy, T* dx, std::size_t columns,
                           Store store);
template <class T>
void last_pooling_forward(const Executor& executor, const Rows& rows, const T* x, T* y, std::size_t columns);
template <class T>
void last_pooling_backward(const Executor& executor, const Rows& rows, const T* dy, T* dx, std::size_t columns,
                           Store store);

}  // namespace dikkat::kernels
