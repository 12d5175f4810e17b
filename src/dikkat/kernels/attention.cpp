#include "dikkat/kernels/attention.h"

#include <algorithm>
#include <string>

#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/attention-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Long samples are cut, so that one sample with few heads still employs every thread.
constexpr std::size_t kSliceQueries = 128;
// Multiply-adds worth a part of their own: some ten microseconds.
constexpr std::size_t kPartWork = 1U << 20U;
// Numbers of a head of one sample up to which lanes are heads and not queries: eight of them stay in the first-level
// cache.
constexpr std::size_t kShortHead = 512;

struct Sizes {
  std::size_t most_queries = 0;
  std::size_t most_keys = 0;
  std::size_t pairs = 0;  // queries times keys of all samples
};

Sizes sizes_of(const AttentionShape& shape) {
  Sizes sizes;
  for (std::size_t b = 0; b < shape.rows->samples(); ++b) {
    const auto& first =
        shape.key_first_row.empty() ? std::span<const std::size_t>(shape.rows->first_row) : shape.key_first_row;
    const std::size_t queries = shape.rows->first_row[b + 1] - shape.rows->first_row[b];
    const std::size_t keys = first[b + 1] - first[b];
    sizes.most_queries = std::max(sizes.most_queries, queries);
    sizes.most_keys = std::max(sizes.most_keys, keys);
    sizes.pairs += queries * keys;
  }
  return sizes;
}

void check_shape(const AttentionShape& shape) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::internal, "attention: " + message); };
  if (shape.rows == nullptr) refuse("no rows");
  if (shape.width == 0 || shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0) {
    refuse("got " + std::to_string(shape.heads) + " heads of width " + std::to_string(shape.width) + " over " +
           std::to_string(shape.kv_heads) + " key heads; expected a multiple of the key heads, and some width");
  }
  if (!shape.key_first_row.empty() && shape.key_first_row.size() != shape.rows->samples() + 1) {
    refuse("got key rows of " + std::to_string(shape.key_first_row.size() - 1) + " samples; expected " +
           std::to_string(shape.rows->samples()));
  }
  if (!shape.slopes.empty() && shape.slopes.size() != shape.heads) {
    refuse("got " + std::to_string(shape.slopes.size()) + " slopes; expected one for each of " +
           std::to_string(shape.heads) + " heads");
  }
}

std::size_t key_rows(const AttentionShape& shape) {
  return shape.key_first_row.empty() ? shape.rows->count() : shape.key_first_row.back();
}

void check_pattern(const AttentionShape& shape, std::size_t size, std::size_t keys) {
  if (keys >= sizes_of(shape).most_keys && size >= shape.rows->count() * shape.heads * keys) return;
  throw Error(ErrorKind::internal, "attention: got a pattern of " + std::to_string(size) + " values with " +
                                       std::to_string(keys) + " keys; expected (R,H,keys) with all keys");
}

template <class T>
std::span<std::byte> memory_of(const Heads<T>& heads, std::size_t rows, std::size_t width) {
  return memory(heads.data, rows == 0 ? 0 : (rows - 1) * heads.stride + width);
}

template <class T>
T* scratch_of(const Executor& executor, unsigned worker, std::size_t values) {
  return reinterpret_cast<T*>(executor.pool.scratch(worker, values * sizeof(T)));
}

// one(part, scratch) for every slice of queries of every head of every sample.
template <class T, class One>
void for_each_slice(const Executor& executor, const AttentionShape& shape, One&& one) {
  const Sizes sizes = sizes_of(shape);
  const std::size_t slices = (sizes.most_queries + kSliceQueries - 1) / kSliceQueries;
  const std::size_t heads = shape.rows->samples() * shape.heads;
  const std::size_t all = heads * slices;
  if (all == 0) return;
  const std::size_t scratch = DIKKAT_BODY(executor, attention_scratch<T>)(shape.width, sizes.most_keys);
  const std::size_t work = 2 * sizes.pairs * shape.heads * shape.width;
  const std::size_t together = std::max<std::size_t>(1, kPartWork / std::max<std::size_t>(1, work / all));
  executor.pool.run((all + together - 1) / together, [&](std::size_t part, unsigned worker) {
    for (std::size_t i = part * together; i < std::min(all, (part + 1) * together); ++i) {
      const std::size_t b = i / slices / shape.heads;
      const std::size_t queries = shape.rows->first_row[b + 1] - shape.rows->first_row[b];
      const std::size_t first = std::min(queries, i % slices * kSliceQueries);
      const std::size_t last = std::min(queries, first + kSliceQueries);
      if (first < last) one(b, i / slices % shape.heads, first, last, scratch_of<T>(executor, worker, scratch));
    }
  });
}

// Whether lanes may be heads (fast/attention_short-inl.h).
bool short_and_alike(const AttentionShape& shape, const Sizes& sizes) {
  const auto& first_row = shape.rows->first_row;
  const std::size_t length = sizes.most_queries;
  if (shape.dropout != 0 || shape.kv_heads != shape.heads || !shape.key_first_row.empty()) return false;
  if (length == 0 || length * shape.width > kShortHead || length > kShortHead / 8) return false;
  return shape.rows->samples() * shape.heads > 2 && first_row.back() == shape.rows->samples() * length;
}

// body(first head, heads, lanes, scratch) for groups of all samples' heads.
template <class T, class Body>
void each_group_of_heads(const Executor& executor, const AttentionShape& shape, const Sizes& sizes, Body&& body) {
  const std::size_t heads = shape.rows->samples() * shape.heads;
  const std::size_t lanes = DIKKAT_BODY(executor, attention_short_lanes<T>)(heads);
  const std::size_t scratch = DIKKAT_BODY(executor, attention_short_scratch<T>)(shape.width, sizes.most_queries);
  const std::size_t groups = (heads + lanes - 1) / lanes;
  const std::size_t work = 5 * sizes.most_queries * sizes.most_queries * shape.width * lanes;
  const std::size_t together = std::max<std::size_t>(1, kPartWork / work);
  executor.pool.run((groups + together - 1) / together, [&](std::size_t part, unsigned worker) {
    for (std::size_t g = part * together; g < std::min(groups, (part + 1) * together); ++g) {
      body(g * lanes, std::min(lanes, heads - g * lanes), lanes, scratch_of<T>(executor, worker, scratch));
    }
  });
}

}  // namespace

template <class T>
void attention_forward(const Executor& executor, const AttentionShape& shape, const AttentionForward<T>& tensors) {
  check_shape(shape);
  const std::size_t rows = shape.rows->count();
  witness(
      executor, "attention_forward",
      {memory_of(tensors.out, rows, shape.heads * shape.width), memory(tensors.max, rows * shape.heads),
       memory(tensors.sum, rows * shape.heads)},
      [&] {
        T* scratch = scratch_of<T>(executor, 0, sizes_of(shape).most_keys);
        DIKKAT_BODY(executor, attention_forward_plain<T>)(shape, tensors, scratch);
      },
      [&] {
        if (const Sizes sizes = sizes_of(shape); short_and_alike(shape, sizes)) {
          return each_group_of_heads<T>(executor, shape, sizes, [&](auto first, auto heads, auto lanes, T* scratch) {
            DIKKAT_BODY(executor, attention_short_forward<T>)(shape, tensors, first, heads, lanes, scratch);
          });
        }
        for_each_slice<T>(executor, shape, [&](auto b, auto h, auto first, auto last, T* scratch) {
          DIKKAT_BODY(executor, attention_forward_fast<T>)(shape, tensors, {b, h, first, last}, scratch);
        });
      });
}

template <class T>
void attention_backward(const Executor& executor, const AttentionShape& shape, const AttentionBackward<T>& tensors) {
  check_shape(shape);
  const std::size_t width = shape.kv_heads * shape.width;
  const Sizes sizes = sizes_of(shape);
  witness(
      executor, "attention_backward",
      {memory_of(tensors.d_q, shape.rows->count(), shape.heads * shape.width),
       memory_of(tensors.d_k, key_rows(shape), width), memory_of(tensors.d_v, key_rows(shape), width)},
      [&] {
        T* scratch = scratch_of<T>(executor, 0, 2 * sizes.most_keys * shape.width);
        DIKKAT_BODY(executor, attention_backward_plain<T>)(shape, tensors, scratch);
      },
      [&] {
        const std::size_t all = shape.rows->samples() * shape.kv_heads;
        if (all == 0) return;
        if (short_and_alike(shape, sizes)) {
          return each_group_of_heads<T>(executor, shape, sizes, [&](auto first, auto heads, auto lanes, T* scratch) {
            DIKKAT_BODY(executor, attention_short_backward<T>)(shape, tensors, first, heads, lanes, scratch);
          });
        }
        const std::size_t scratch = DIKKAT_BODY(executor, attention_backward_scratch<T>)(shape.width, sizes.most_keys);
        const std::size_t work = 5 * sizes.pairs * shape.heads * shape.width;
        const std::size_t together = std::max<std::size_t>(1, kPartWork / std::max<std::size_t>(1, work / all));
        executor.pool.run((all + together - 1) / together, [&](std::size_t part, unsigned worker) {
          for (std::size_t i = part * together; i < std::min(all, (part + 1) * together); ++i) {
            DIKKAT_BODY(executor, attention_backward_fast<T>)
            (shape, tensors, i / shape.kv_heads, i % shape.kv_heads, scratch_of<T>(executor, worker, scratch));
          }
        });
      });
}

template <class T>
void attention_pattern(const Executor& executor, const AttentionShape& shape, Heads<const T> q, Heads<const T> k,
                       std::span<T> pattern, std::size_t keys) {
  check_shape(shape);
  check_pattern(shape, pattern.size(), keys);
  witness(
      executor, "attention_pattern", {memory(pattern.data(), pattern.size())},
      [&] {
        DIKKAT_BODY(executor, attention_pattern_plain<T>)
        (shape, q, k, pattern.data(), keys);
      },
      [&] {
        for_each_slice<T>(executor, shape, [&](auto b, auto h, auto first, auto last, T* scratch) {
          DIKKAT_BODY(executor, attention_pattern_fast<T>)
          (shape, q, k, pattern.data(), keys, {b, h, first, last}, scratch);
        });
      });
}

template <class T>
void attention_mix(const Executor& executor, const AttentionShape& shape, std::span<const T> pattern, std::size_t keys,
                   Heads<const T> v, Heads<T> out) {
  check_shape(shape);
  check_pattern(shape, pattern.size(), keys);
  witness(
      executor, "attention_mix", {memory_of(out, shape.rows->count(), shape.heads * shape.width)},
      [&] {
        DIKKAT_BODY(executor, attention_mix_plain<T>)
        (shape, pattern.data(), keys, v, out);
      },
      [&] {
        for_each_slice<T>(executor, shape, [&](auto b, auto h, auto first, auto last, T* scratch) {
          DIKKAT_BODY(executor, attention_mix_fast<T>)
          (shape, pattern.data(), keys, v, out, {b, h, first, last}, scratch);
        });
      });
}

#define DIKKAT_INSTANTIATE(T)                                                                                          \
  template void attention_forward(const Executor&, const AttentionShape&, const AttentionForward<T>&);                 \
  template void attention_backward(const Executor&, const AttentionShape&, const AttentionBackward<T>&);               \
  template void attention_pattern(const Executor&, const AttentionShape&, Heads<const T>, Heads<const T>,              \
                                  std::span<T>, std::size_t);                                                          \
  template void attention_mix(const Executor&, const AttentionShape&, std::span<const T>, std::size_t, Heads<const T>, \
                              Heads<T>);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
