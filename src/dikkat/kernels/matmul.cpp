#include "dikkat/kernels/matmul.h"

#include <algorithm>
#include <string>

#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/matmul-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Multiply-adds worth a part of their own: some ten microseconds.
constexpr std::size_t kPartWork = 1U << 21U;
// A part packs its columns of b for itself, so it should have some rows to use them for.
constexpr std::size_t kPartRows = 96;
// With fewer rows than this a packed copy would not be read often enough to pay for itself; and a b of no more bytes
// stays in the first-level cache where it lies.
constexpr std::size_t kPackingRows = 24;
constexpr std::size_t kInPlaceBytes = std::size_t{16} * 1024;
// k taken at a time from a packed copy: a panel of so many is in the second-level cache at most.
constexpr std::size_t kPackedDepth = 256;
// A left side that is read by columns is copied where so many panels use the copy.
constexpr std::size_t kPackingPanels = 4;
// Parts that keep every thread of a usual machine busy to the end.
constexpr std::size_t kEnoughParts = 8;

// How the outputs are cut into parts; from sizes alone, and without a say in any bit.
struct Plan {
  bool packed;          // b's panels
  bool packed_rows;     // a
  std::size_t depth;    // k taken at a time
  std::size_t rows;     // of a part
  std::size_t columns;  // of a part
};

constexpr std::size_t parts_of(std::size_t size, std::size_t part) { return (size + part - 1) / part; }
constexpr std::size_t round_up(std::size_t size, std::size_t unit) { return parts_of(size, unit) * unit; }

std::size_t longest_chunk(std::span<const std::size_t> chunks, std::size_t otherwise) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) longest = std::max(longest, chunks[i + 1] - chunks[i]);
  return std::max<std::size_t>(1, chunks.empty() ? otherwise : longest);
}

// depth: how much of k is taken at a time where a packed copy does not force less.
template <class T>
Plan plan_for(const Executor& executor, const Matrix<const T>& a, const Matrix<const T>& b, std::size_t depth,
              bool may_resume) {
  const std::size_t panel = (executor.instructions == InstructionSet::avx512 ? 192 : 96) / sizeof(T);
  const bool large = a.rows >= kPackingRows && depth * b.columns * sizeof(T) > kInPlaceBytes;
  const bool packed = b.column_stride != 1 || large;
  const std::size_t column_work = std::max<std::size_t>(1, a.columns * a.rows);
  const std::size_t columns = std::min(b.columns, round_up(kPartWork / column_work + 1, panel));
  const std::size_t column_parts = parts_of(b.columns, columns);
  const std::size_t row_parts =
      std::max<std::size_t>(1, std::min(parts_of(kEnoughParts, column_parts), a.rows / kPartRows));
  const bool small = column_work * b.columns < 2 * kPartWork;
  const bool packed_rows = packed && a.row_stride == 1 && a.column_stride != 1 && columns >= kPackingPanels * panel;
  return {packed, packed_rows, packed && may_resume ? std::min(depth, kPackedDepth) : depth,
          small ? a.rows : round_up(parts_of(a.rows, row_parts), 8), small ? b.columns : columns};
}

template <class T>
void check_shapes(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out,
                  const MatmulOptions<T>& options) {
  const auto shape = [](const auto& m) { return "(" + std::to_string(m.rows) + "," + std::to_string(m.columns) + ")"; };
  const auto refuse = [&](const std::string& expected) {
    throw Error(ErrorKind::internal,
                "matmul: got a " + shape(a) + ", b " + shape(b) + ", out " + shape(out) + "; expected " + expected);
  };
  if (a.columns != b.rows || a.rows != out.rows || b.columns != out.columns) refuse("(M,K) . (K,N) -> (M,N)");
  if (out.column_stride != 1) refuse("rows of out without gaps");
  const auto& chunks = options.chunks;
  if (options.bias != nullptr && (options.store == Store::add || !chunks.empty()))
    refuse("no bias where out is added to");
  if (!chunks.empty() && (chunks.front() != 0 || chunks.back() != a.columns || !std::ranges::is_sorted(chunks))) {
    refuse("chunks that rise from 0 to K");
  }
}

template <class T>
void run_parts(const Executor& executor, const Plan& plan, const Matrix<const T>& a, const Matrix<const T>& b,
               const Matrix<T>& out, const MatmulOptions<T>& options) {
  const std::size_t row_parts = parts_of(out.rows, plan.rows);
  executor.pool.run(row_parts * parts_of(out.columns, plan.columns), [&](std::size_t part, unsigned worker) {
    const std::size_t m = part % row_parts * plan.rows;
    const std::size_t n = part / row_parts * plan.columns;
    const std::size_t rows = std::min(plan.rows, out.rows - m);
    const std::size_t columns = std::min(plan.columns, out.columns - n);
    MatmulOptions<T> part_options = options;
    if (options.bias != nullptr) part_options.bias = options.bias + n;
    T* packed = nullptr;
    T* packed_rows = nullptr;
    if (plan.packed) {
      const std::size_t values = DIKKAT_BODY(executor, packed_size<T>)(plan.depth);
      const std::size_t row_values = plan.packed_rows ? rows * plan.depth : 0;
      packed = reinterpret_cast<T*>(executor.pool.scratch(worker, (values + row_values) * sizeof(T)));
      if (plan.packed_rows) packed_rows = packed + values;
    }
    DIKKAT_BODY(executor, matmul_part_fast<T>)
    ({a.data + m * a.row_stride, rows, a.columns, a.row_stride, a.column_stride},
     {b.data + n * b.column_stride, b.rows, columns, b.row_stride, b.column_stride},
     {out.data + m * out.row_stride + n, rows, columns, out.row_stride}, part_options, plan.depth, packed, packed_rows);
  });
}

}  // namespace

template <class T>
void matmul(const Executor& executor, Matrix<const T> a, Matrix<const T> b, Matrix<T> out,
            const MatmulOptions<T>& options) {
  check_shapes(a, b, out, options);
  if (out.rows == 0 || out.columns == 0) return;
  witness(
      executor, "matmul", {memory(out.data, (out.rows - 1) * out.row_stride + out.columns)},
      [&] {
        DIKKAT_BODY(executor, matmul_plain<T>)
        (a, b, out, options);
      },
      [&] {
        const bool may_resume = options.store == Store::assign && options.chunks.empty();
        const std::size_t depth = longest_chunk(options.chunks, a.columns);
        run_parts(executor, plan_for(executor, a, b, depth, may_resume), a, b, out, options);
      });
}

template void matmul(const Executor&, Matrix<const float>, Matrix<const float>, Matrix<float>,
                     const MatmulOptions<float>&);
template void matmul(const Executor&, Matrix<const double>, Matrix<const double>, Matrix<double>,
                     const MatmulOptions<double>&);

}  // namespace dikkat::kernels
