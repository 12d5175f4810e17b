#include "dikkat/kernels/embedding.h"

#include <algorithm>
#include <limits>

#include "dikkat/kernels/fast/row_link.h"
#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/embedding-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Below this many elements a second thread costs more than it brings.
constexpr std::size_t kElementsPerPart = 1U << 15U;
// A strip of columns is at least this wide: whole cache lines of floats.
constexpr std::size_t kColumnsPerStrip = 64;
constexpr std::size_t kMostRows = std::numeric_limits<std::int32_t>::max();

void check_ids(const char* kernel, std::span<const std::uint32_t> ids, std::size_t vocabulary) {
  std::uint32_t largest = 0;
  for (const std::uint32_t id : ids) largest = std::max(largest, id);
  if (!ids.empty() && largest >= vocabulary) {
    throw Error(ErrorKind::internal, std::string(kernel) + ": id " + std::to_string(largest) +
                                         " is outside the vocabulary of " + std::to_string(vocabulary));
  }
}

void check_chunks(std::span<const std::size_t> chunks, std::size_t rows) {
  const bool whole = chunks.empty() ? rows == 0 : chunks.front() == 0 && chunks.back() == rows;
  if (!whole || !std::is_sorted(chunks.begin(), chunks.end()) || rows > kMostRows) {
    throw Error(ErrorKind::internal, "embedding_backward: chunks must rise from 0 to the " + std::to_string(rows) +
                                         " rows, at most 2^31 - 1");
  }
}

// latest (V): scratch; holds 1 + the last row with each id so far, and a row of an earlier chunk counts as none.
void link_rows(std::span<const std::uint32_t> ids, std::span<const std::size_t> chunks, std::span<std::uint32_t> latest,
               RowLink* links) {
  std::fill(latest.begin(), latest.end(), 0U);
  for (std::size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
    for (std::size_t r = chunks[chunk]; r < chunks[chunk + 1]; ++r) {
      std::uint32_t& last = latest[ids[r]];
      const bool begins = last <= chunks[chunk];
      links[r] = {.begins = begins, .next = 0};
      if (!begins) links[last - 1].next = static_cast<std::uint32_t>(r + 1 - last) & 0x7FFFFFFFU;
      last = static_cast<std::uint32_t>(r + 1);
    }
  }
}

// Columns of one part: all of them when the work is small, else strips.
std::size_t columns_per_part(std::size_t rows, std::size_t width) {
  return rows * width <= kElementsPerPart ? std::max<std::size_t>(1, width) : kColumnsPerStrip;
}

}  // namespace

template <class T>
void embedding_forward(const Executor& executor, const T* table, std::size_t vocabulary,
                       std::span<const std::uint32_t> ids, T* y, std::size_t width, Store store) {
  check_ids("embedding_forward", ids, vocabulary);
  const std::size_t rows = ids.size();
  const std::size_t rows_per_part = std::max<std::size_t>(1, kElementsPerPart / std::max<std::size_t>(1, width));
  witness(
      executor, "embedding_forward", {memory(y, rows * width)},
      [&] {
        DIKKAT_BODY(executor, embedding_forward_plain<T>)
        (table, ids, y, width, store);
      },
      [&] {
        executor.pool.run((rows + rows_per_part - 1) / rows_per_part, [&](std::size_t part, unsigned) {
          const std::size_t first = part * rows_per_part;
          const std::size_t count = std::min(rows_per_part, rows - first);
          DIKKAT_BODY(executor, embedding_forward_fast<T>)
          (table, ids.subspan(first, count), y + first * width, width, store);
        });
      });
}

template <class T>
void embedding_backward(const Executor& executor, const T* dy, std::span<const std::uint32_t> ids,
                        std::span<const std::size_t> chunks, T* d_table, std::size_t vocabulary, std::size_t width) {
  check_ids("embedding_backward", ids, vocabulary);
  check_chunks(chunks, ids.size());
  witness(
      executor, "embedding_backward", {memory(d_table, vocabulary * width)},
      [&] {
        DIKKAT_BODY(executor, embedding_backward_plain<T>)
        (dy, ids, chunks, d_table, width);
      },
      [&] {
        const std::size_t rows = ids.size();
        std::byte* scratch = executor.pool.scratch(0, rows * sizeof(RowLink) + vocabulary * sizeof(std::uint32_t));
        auto* links = reinterpret_cast<RowLink*>(scratch);
        auto* latest = reinterpret_cast<std::uint32_t*>(scratch + rows * sizeof(RowLink));
        link_rows(ids, chunks, {latest, vocabulary}, links);
        const std::size_t strip = columns_per_part(rows, width);
        executor.pool.run((width + strip - 1) / strip, [&](std::size_t part, unsigned) {
          const std::size_t first = part * strip;
          DIKKAT_BODY(executor, embedding_backward_fast<T>)
          (dy, ids, links, d_table, width, first, std::min(first + strip, width));
        });
      });
}

#define DIKKAT_INSTANTIATE(T)                                                                                 \
  template void embedding_forward(const Executor&, const T*, std::size_t, std::span<const std::uint32_t>, T*, \
                                  std::size_t, Store);                                                        \
  template void embedding_backward(const Executor&, const T*, std::span<const std::uint32_t>,                 \
                                   std::span<const std::size_t>, T*, std::size_t, std::size_t);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
