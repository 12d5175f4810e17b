#include "dikkat/kernels/pooling.h"

#include <algorithm>
#include <string>

#include "dikkat/base/error.h"
#include "dikkat/kernels/lanes.h"
#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/pooling-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Elements of keys and values worth a part of their own: some ten microseconds of one core.
constexpr std::size_t kElementsPerPart = 1U << 15U;
constexpr std::size_t kColumnsPerPart = 16;

void check_shape(const PoolingShape& shape) {
  const auto refuse = [](const std::string& message) { throw Error(ErrorKind::internal, "pooling: " + message); };
  if (shape.rows == nullptr) refuse("no rows");
  if (shape.heads == 0 || shape.width == 0) {
    refuse("got " + std::to_string(shape.heads) + " heads of width " + std::to_string(shape.width) +
           "; expected at least one of each");
  }
}

std::size_t longest_sample(const Rows& rows) {
  std::size_t longest = 0;
  for (std::size_t b = 0; b < rows.samples(); ++b) {
    longest = std::max(longest, rows.first_row[b + 1] - rows.first_row[b]);
  }
  return longest;
}

// body(first sample, last sample, scratch) for consecutive ranges of samples.
template <class T, class Body>
void each_part(const Executor& executor, const PoolingShape& shape, Body&& body) {
  const std::size_t samples = shape.rows->samples();
  const std::size_t elements = std::max<std::size_t>(1, shape.rows->count() * 2 * shape.columns());
  const std::size_t parts = std::max<std::size_t>(1, std::min(samples / 16, elements / kElementsPerPart));
  const std::size_t scratch = DIKKAT_BODY(executor, pooling_scratch<T>)(shape, longest_sample(*shape.rows));
  executor.pool.run(parts, [&](std::size_t part, unsigned worker) {
    T* memory = scratch == 0 ? nullptr : reinterpret_cast<T*>(executor.pool.scratch(worker, scratch * sizeof(T)));
    // Whole vectors of samples in each part but the last.
    const std::size_t vectors = samples / 16;
    const std::size_t first = part * vectors / parts * 16;
    body(first, part + 1 == parts ? samples : (part + 1) * vectors / parts * 16, memory);
  });
}

}  // namespace

template <class T>
void pooling_forward(const Executor& executor, const PoolingShape& shape, const PoolingForward<T>& tensors) {
  check_shape(shape);
  const std::size_t samples = shape.rows->samples();
  const auto plain = [&] { DIKKAT_BODY(executor, pooling_forward_plain<T>)(shape, tensors, 0, samples); };
  witness(executor, "pooling_forward",
          {memory(tensors.pattern, shape.rows->count() * shape.heads), memory(tensors.out, samples * shape.columns())},
          plain, [&] {
            if constexpr (lanes_of<T> == 1) {
              each_part<T>(executor, shape, [&](std::size_t first, std::size_t last, T* scratch) {
                DIKKAT_BODY(executor, pooling_forward_fast<T>)(shape, tensors, first, last, scratch);
              });
            } else {
              plain();
            }
          });
}

template <class T>
void pooling_mix(const Executor& executor, const PoolingShape& shape, const T* pattern, const T* key_values, T* out) {
  check_shape(shape);
  DIKKAT_BODY(executor, pooling_mix_plain<T>)(shape, pattern, key_values, out);
}

template <class T>
void pooling_backward(const Executor& executor, const PoolingShape& shape, const PoolingBackward<T>& tensors) {
  check_shape(shape);
  const std::size_t samples = shape.rows->samples();
  const std::size_t rows = shape.rows->count();
  const auto plain = [&] { DIKKAT_BODY(executor, pooling_backward_plain<T>)(shape, tensors, 0, samples); };
  witness(executor, "pooling_backward",
          {memory(tensors.d_key_values, rows * 2 * shape.columns()), memory(tensors.d_scores, rows * shape.heads)},
          plain, [&] {
            if constexpr (lanes_of<T> == 1) {
              each_part<T>(executor, shape, [&](std::size_t first, std::size_t last, T* scratch) {
                DIKKAT_BODY(executor, pooling_backward_fast<T>)(shape, tensors, first, last, scratch);
              });
            } else {
              plain();
            }
          });
}

template <class T>
void pooling_query_gradient(const Executor& executor, const PoolingShape& shape, const PoolingQuery<T>& tensors,
                            std::span<const std::size_t> chunks) {
  const std::size_t columns = shape.columns();
  const auto plain = [&] { DIKKAT_BODY(executor, pooling_query_gradient_plain<T>)(shape, tensors, chunks); };
  witness(executor, "pooling_query_gradient", {memory(tensors.d_query, columns)}, plain, [&] {
    if constexpr (lanes_of<T> == 1) {
      executor.pool.run((columns + kColumnsPerPart - 1) / kColumnsPerPart, [&](std::size_t part, unsigned) {
        const std::size_t first = part * kColumnsPerPart;
        DIKKAT_BODY(executor, pooling_query_gradient_fast<T>)
        (shape, tensors, chunks, first, std::min(columns, first + kColumnsPerPart));
      });
    } else {
      plain();
    }
  });
}

template <class T>
void mean_pooling_forward(const Executor& executor, const Rows& rows, const T* x, T* y, std::size_t columns) {
  const auto plain = [&] { DIKKAT_BODY(executor, mean_pooling_forward_plain<T>)(rows, x, y, columns); };
  witness(executor, "mean_pooling_forward", {memory(y, rows.samples() * columns)}, plain, [&] {
    if constexpr (lanes_of<T> == 1) {
      DIKKAT_BODY(executor, mean_pooling_forward_fast<T>)(rows, x, y, columns);
    } else {
      plain();
    }
  });
}

template <class T>
void mean_pooling_backward(const Executor& executor, const Rows& rows, const T* dy, T* dx, std::size_t columns,
                           Store store) {
  const auto plain = [&] { DIKKAT_BODY(executor, mean_pooling_backward_plain<T>)(rows, dy, dx, columns, store); };
  witness(executor, "mean_pooling_backward", {memory(dx, rows.count() * columns)}, plain, [&] {
    if constexpr (lanes_of<T> == 1) {
      DIKKAT_BODY(executor, mean_pooling_backward_fast<T>)(rows, dy, dx, columns, store);
    } else {
      plain();
    }
  });
}

template <class T>
void last_pooling_forward(const Executor& executor, const Rows& rows, const T* x, T* y, std::size_t columns) {
  DIKKAT_BODY(executor, last_pooling_forward_plain<T>)(rows, x, y, columns);
}

template <class T>
void last_pooling_backward(const Executor& executor, const Rows& rows, const T* dy, T* dx, std::size_t columns,
                           Store store) {
  DIKKAT_BODY(executor, last_pooling_backward_plain<T>)(rows, dy, dx, columns, store);
}

#define DIKKAT_INSTANTIATE(...)                                                                                    \
  template void pooling_forward(const Executor&, const PoolingShape&, const PoolingForward<__VA_ARGS__>&);         \
  template void pooling_mix(const Executor&, const PoolingShape&, const __VA_ARGS__*, const __VA_ARGS__*,          \
                            __VA_ARGS__*);                                                                         \
  template void pooling_backward(const Executor&, const PoolingShape&, const PoolingBackward<__VA_ARGS__>&);       \
  template void pooling_query_gradient(const Executor&, const PoolingShape&, const PoolingQuery<__VA_ARGS__>&,     \
                                       std::span<const std::size_t>);                                              \
  template void mean_pooling_forward(const Executor&, const Rows&, const __VA_ARGS__*, __VA_ARGS__*, std::size_t); \
  template void mean_pooling_backward(const Executor&, const Rows&, const __VA_ARGS__*, __VA_ARGS__*, std::size_t, \
                                      Store);                                                                      \
  template void last_pooling_forward(const Executor&, const Rows&, const __VA_ARGS__*, __VA_ARGS__*, std::size_t); \
  template void last_pooling_backward(const Executor&, const Rows&, const __VA_ARGS__*, __VA_ARGS__*, std::size_t, \
                                      Store);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
DIKKAT_INSTANTIATE(Lanes<float, 8>)
DIKKAT_INSTANTIATE(Lanes<float, 16>)
DIKKAT_INSTANTIATE(Lanes<double, 4>)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
