#include "dikkat/kernels/rotary.h"

#include <algorithm>
#include <string>

#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/rotary-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Below this many elements a second thread costs more than it brings.
constexpr std::size_t kElementsPerPart = 1U << 15U;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::internal, message); }

void check_width(const char* kernel, std::size_t width) {
  if (width % 2 != 0) refuse(std::string(kernel) + ": the head width must be even; got " + std::to_string(width));
}

void check_layout(std::span<const std::uint32_t> positions, std::size_t table_positions, std::size_t stride,
                  std::size_t row) {
  if (positions.empty()) return;
  const std::uint32_t largest = *std::max_element(positions.begin(), positions.end());
  if (largest >= table_positions) {
    refuse("rotary: position " + std::to_string(largest) + " is outside the table of " +
           std::to_string(table_positions));
  }
  if (positions.size() > 1 && stride < row) {
    refuse("rotary: rows of " + std::to_string(row) + " overlap at stride " + std::to_string(stride));
  }
}

}  // namespace

// Filled once for a model, so the plain body is the only one.
template <class T>
void rotary_table(const Executor& executor, double base, std::size_t positions, std::size_t width, std::span<T> cosines,
                  std::span<T> sines) {
  check_width("rotary_table", width);
  const std::size_t entries = positions * (width / 2);
  if (cosines.size() != entries || sines.size() != entries) {
    refuse("rotary_table: got " + std::to_string(cosines.size()) + " cosines and " + std::to_string(sines.size()) +
           " sines; expected " + std::to_string(entries));
  }
  DIKKAT_BODY(executor, rotary_table_plain<T>)(base, positions, width, cosines.data(), sines.data());
}

template <class T>
void rotary(const Executor& executor, const RotaryTable<T>& table, std::span<const std::uint32_t> positions,
            Rotation rotation, T* x, std::size_t stride, std::size_t heads, std::size_t width) {
  check_width("rotary", width);
  const std::size_t row = heads * width;
  check_layout(positions, table.positions, stride, row);
  const std::size_t rows = positions.size();
  const std::size_t rows_per_part = std::max<std::size_t>(1, kElementsPerPart / std::max<std::size_t>(1, row));
  witness(
      executor, "rotary", {memory(x, rows == 0 ? 0 : (rows - 1) * stride + row)},
      [&] {
        DIKKAT_BODY(executor, rotary_plain<T>)
        (table, positions, rotation, x, stride, heads, width);
      },
      [&] {
        executor.pool.run((rows + rows_per_part - 1) / rows_per_part, [&](std::size_t part, unsigned) {
          const std::size_t first = part * rows_per_part;
          DIKKAT_BODY(executor, rotary_fast<T>)
          (table, positions.subspan(first, std::min(rows_per_part, rows - first)), rotation, x + first * stride, stride,
           heads, width);
        });
      });
}

#define DIKKAT_INSTANTIATE(T)                                                                                \
  template void rotary_table(const Executor&, double, std::size_t, std::size_t, std::span<T>, std::span<T>); \
  template void rotary(const Executor&, const RotaryTable<T>&, std::span<const std::uint32_t>, Rotation, T*, \
                       std::size_t, std::size_t, std::size_t);
DIKKAT_INSTANTIATE(float)
DIKKAT_INSTANTIATE(double)
#undef DIKKAT_INSTANTIATE

}  // namespace dikkat::kernels
