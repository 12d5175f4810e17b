// What tests of attention share: one attention with everything it reads and gives, at a random setting.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "dikkat/kernels/attention.h"
#include "dikkat/kernels/testing.h"

namespace dikkat::kernels::testing {

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

template <class T>
struct AttentionResults {
  std::vector<T> out, max, sum, d_q, d_k, d_v;
  friend bool operator==(const AttentionResults& a, const AttentionResults& b) {
    return same_bits(a.out, b.out) && same_bits(a.max, b.max) && same_bits(a.sum, b.sum) && same_bits(a.d_q, b.d_q) &&
           same_bits(a.d_k, b.d_k) && same_bits(a.d_v, b.d_v);
  }
};

// Inputs of one attention, contiguous: q, d_out (R,H,D), k, v (S,G,D).
template <class T>
struct AttentionInputs {
  Rows rows;
  std::vector<std::size_t> key_first_row;
  std::vector<double> slopes;
  AttentionShape shape;
  std::vector<T> q, k, v, d_out;

  // Query and key lengths of every sample; the same: no keys of their own.
  void lay_out(const std::vector<std::size_t>& lengths, const std::vector<std::size_t>& key_lengths) {
    std::size_t longest = 1;
    for (const std::size_t length : lengths) longest = std::max(longest, length);
    rows.lay_out(lengths, longest, 3);
    if (lengths == key_lengths) return;
    key_first_row = {0};
    for (const std::size_t length : key_lengths) key_first_row.push_back(key_first_row.back() + length);
  }
  [[nodiscard]] AttentionShape whole_shape() const {
    AttentionShape whole = shape;
    whole.rows = &rows;
    whole.key_first_row = key_first_row;
    whole.slopes = slopes;
    return whole;
  }
  [[nodiscard]] std::size_t key_rows() const { return key_first_row.empty() ? rows.count() : key_first_row.back(); }
  void draw_values(std::mt19937_64& draw) {
    q = random_values<T>(draw, rows.count() * shape.heads * shape.width, 2.0);
    k = random_values<T>(draw, key_rows() * shape.kv_heads * shape.width, 2.0);
    v = random_values<T>(draw, key_rows() * shape.kv_heads * shape.width);
    d_out = random_values<T>(draw, q.size());
  }
  [[nodiscard]] AttentionResults<T> run(const Executor& executor) const {
    const std::size_t wide = shape.heads * shape.width;
    const std::size_t narrow = shape.kv_heads * shape.width;
    const std::size_t sums = rows.count() * shape.heads;
    AttentionResults<T> r{std::vector<T>(q.size(), -1), std::vector<T>(sums, -1),     std::vector<T>(sums, -1),
                          std::vector<T>(q.size(), -1), std::vector<T>(k.size(), -1), std::vector<T>(k.size(), -1)};
    attention_forward<T>(
        executor, whole_shape(),
        {{q.data(), wide}, {k.data(), narrow}, {v.data(), narrow}, {r.out.data(), wide}, r.max.data(), r.sum.data()});
    attention_backward<T>(executor, whole_shape(),
                          {{q.data(), wide},
                           {k.data(), narrow},
                           {v.data(), narrow},
                           {r.out.data(), wide},
                           r.max.data(),
                           r.sum.data(),
                           {d_out.data(), wide},
                           {r.d_q.data(), wide},
                           {r.d_k.data(), narrow},
                           {r.d_v.data(), narrow}});
    return r;
  }
  [[nodiscard]] std::vector<T> pattern(const Executor& executor, std::size_t keys) const {
    std::vector<T> p(rows.count() * shape.heads * keys, -1);
    attention_pattern<T>(executor, whole_shape(), {q.data(), shape.heads * shape.width},
                         {k.data(), shape.kv_heads * shape.width}, p, keys);
    return p;
  }
  [[nodiscard]] std::vector<T> mix(const Executor& executor, const std::vector<T>& p, std::size_t keys) const {
    std::vector<T> out(q.size(), -1);
    attention_mix<T>(executor, whole_shape(), p, keys, {v.data(), shape.kv_heads * shape.width},
                     {out.data(), shape.heads * shape.width});
    return out;
  }
};

// A random setting: everything the shape can say, each in some of the cases.
template <class T>
AttentionInputs<T> random_attention(std::mt19937_64& draw, std::size_t longest) {
  static constexpr std::size_t kWidths[] = {1, 2, 3, 5, 8, 16, 17, 32, 40};
  AttentionInputs<T> in;
  in.shape.kv_heads = 1 + draw() % 2;
  in.shape.heads = in.shape.kv_heads * (1 + draw() % 3);
  in.shape.width = kWidths[draw() % std::size(kWidths)];
  in.shape.scale = 1 / std::sqrt(static_cast<double>(in.shape.width));
  if (draw() % 3 == 0) in.shape.mask.direction = Direction::bidirectional;
  if (draw() % 3 == 0) in.shape.mask.window = 1 + random_size(draw, longest);
  if (draw() % 4 == 0) {
    for (std::size_t h = 0; h < in.shape.heads; ++h) in.slopes.push_back(std::exp2(-1.0 - static_cast<double>(h)));
  }
  if (draw() % 4 == 0) {
    in.shape.dropout = 0.25;
    in.shape.dropout_stream = random::stream(draw(), "dropout");
    in.shape.step = static_cast<std::uint32_t>(draw() % 1000);
  }
  std::vector<std::size_t> lengths, key_lengths;
  const bool own_keys = draw() % 3 == 0;
  for (std::size_t b = 0, n = 1 + draw() % 3; b < n; ++b) {
    lengths.push_back(random_size(draw, longest));
    key_lengths.push_back(own_keys ? random_size(draw, longest) : lengths.back());
    if (own_keys && draw() % 2 == 0) key_lengths.back() += lengths.back();
  }
  in.lay_out(lengths, key_lengths);
  in.draw_values(draw);
  return in;
}

}  // namespace dikkat::kernels::testing
