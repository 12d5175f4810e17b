// Scaled dot-product attention (Vaswani et al., "Attention is all you need", 2017, eq. 1), several heads, grouped keys
// and values (Ainslie et al., "GQA", 2023).
//
// For query row i of head h, over the keys j that the mask lets it see, ascending, g = h / (H / G):
//   s_j = (fma chain over d of q_d * k_jd from zero) * scale        [ALiBi: s_j = fma(slope_h, -|i - j|, s_j)]
//   m = max s_j (a zero is +0);  e_j = exp(s_j - m)
//   Z = 16 partial sums of e_j by absolute key index modulo 16, then the tree (see reduce.h);  r = 1 / Z
//   p_j = e_j * r;   p'_j = p_j * (dropout keep factor: 0 or 1 / (1 - rate))
//   out_d = fma chain over j of p'_j * v_jd, from zero
// Backward recomputes p from the saved (m, Z) by the same expressions:
//   dp_j = (fma chain over d of dout_d * v_jd from zero) * keep factor
//   delta = reduction over d, by the 16-partial tree, of dout_d * out_d (rounded products)
//   ds_j = p_j * (dp_j - delta)
//   dq_d = (fma chain over ascending j of ds_j * k_jd from zero) * scale
//   dk_jd = sum over the group's heads in order, each (fma chain over ascending i of ds_ij * q_id from zero) * scale
//   dv_jd = sum over the group's heads in order, each a fma chain over ascending i of p'_ij * dout_id from zero
// (the first head's chain is the sum's first value). A row with nothing to look at has zero output, zero gradients and
// m = Z = 0. No T x T matrix is ever stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/mask.h"
#include "dikkat/kernels/rows.h"
#include "dikkat/random/streams.h"

namespace dikkat::kernels {

// How heads are laid out in memory. Head h of row r starts at data + r * stride + h * D.
template <class T>
struct Heads {
  T* data = nullptr;
  std::size_t stride = 0;  // elements from row to row
};

struct AttentionShape {
  std::size_t heads = 1;     // H
  std::size_t kv_heads = 1;  // G, divides H
  std::size_t width = 1;     // D
  double scale = 1.0;        // usually 1 / sqrt(D), rounded to T once
  Mask mask = {};
  std::span<const double> slopes = {};  // (H) ALiBi slopes, rounded to T once; empty: none
  // Samples: query rows of sample b are rows.first_row[b] .. rows.first_row[b+1].
  const Rows* rows = nullptr;
  // Key rows of sample b are key_first_row[b] .. key_first_row[b+1]; empty: the same as the query rows. With S keys
  // and T queries the queries stand at positions S - T, ..., S - 1 (a cache prefix); where S < T, at 0, ..., T - 1.
  std::span<const std::size_t> key_first_row = {};
  // Dropout on the weights; the draw of (head, query position, key) is that of attention_keep below.
  double dropout = 0.0;
  random::Stream dropout_stream = {};
  std::uint32_t step = 0;
};

// Counter of the dropout draw for key j of a query at `position` of head h of the step's sample number `sample`:
// key random::substream(stream, h); counter {(j / 64) * 16 + j % 16, position, sample, step}; word (j % 64) / 16.
// Kept iff the word is >= floor(rate * 2^32). (dropout.h uses the same layout over channels.)

template <class T>
struct AttentionForward {
  Heads<const T> q;  // (R, H, D)
  Heads<const T> k;  // (S, G, D)
  Heads<const T> v;  // (S, G, D)
  Heads<T> out;      // (R, H, D)
  T* max = nullptr;  // (R, H)  m
  T* sum = nullptr;  // (R, H)  Z; 0 for a row with nothing to look at
};
template <class T>
void attention_forward(const Executor& executor, const AttentionShape& shape, const AttentionForward<T>& tensors);

template <class T>
struct AttentionBackward {
  Heads<const T> q, k, v, out;
  const T* max = nullptr;
  const T* sum = nullptr;
  Heads<const T> d_out;
  Heads<T> d_q, d_k, d_v;  // assigned
};
template <class T>
void attention_backward(const Executor& executor, const AttentionShape& shape, const AttentionBackward<T>& tensors);

// The map itself, before dropout, for looking inside: pattern (R, H, keys) with `keys` >= every sample's key count;
// masked entries are exactly 0. The same bits as the weights the forward pass used.
template <class T>
void attention_pattern(const Executor& executor, const AttentionShape& shape, Heads<const T> q, Heads<const T> k,
                       std::span<T> pattern, std::size_t keys);
// out from a given pattern (perhaps edited): fma chain over ascending visible keys of pattern * v, dropout applied as
// in the forward pass. With the pattern of attention_pattern it equals attention_forward to the bit.
template <class T>
void attention_mix(const Executor& executor, const AttentionShape& shape, std::span<const T> pattern, std::size_t keys,
                   Heads<const T> v, Heads<T> out);

}  // namespace dikkat::kernels
