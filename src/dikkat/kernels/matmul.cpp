#include "dikkat/kernels/matmul.h"

#include <algorithm>
#include <array>
#include <string>

#include "dikkat/kernels/witness.h"

#define HWY_TARGET_INCLUDE "dikkat/kernels/fast/matmul-inl.h"
#include "dikkat/kernels/each_instruction_set.h"

namespace dikkat::kernels {
namespace {

// Multiply-adds worth a part of their own: some ten microseconds.
constexpr std::size_t kPartWork = 1U << 21U;
// A part reads all of b, so it should have some rows to use it for.
constexpr std::size_t kPartRows = 32;
// A b that does not fit half of the second-level cache is packed by blocks that do: so many k by as many columns.
constexpr std::size_t kInPlaceBytes = 1U << 19U;
constexpr std::size_t kPackedDepth = 512;
// With fewer rows than this a packed copy would not be read often enough to pay for itself.
constexpr std::size_t kPackingRows = 24;

// How the outputs are cut into parts; from sizes alone, and without a say in any bit.
struct Plan {
  bool packed;
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
  const std::size_t rows = a.rows;
  const std::size_t columns = b.columns;
  const auto at_most = [](std::size_t part, std::size_t whole) {
    return std::max<std::size_t>(1, std::min(part, whole));
  };
  const bool transposed = b.column_stride != 1;
  if (!transposed && (rows < kPackingRows || depth * columns * sizeof(T) <= kInPlaceBytes)) {
    const std::size_t part_rows = at_most(std::max(kPartRows, round_up(kPartWork / (depth * columns) + 1, 8)), rows);
    const std::size_t part_columns =
        part_rows < rows ? columns : std::max(4 * panel, round_up(kPartWork / (depth * part_rows) + 1, panel));
    return {false, depth, part_rows, at_most(part_columns, columns)};
  }
  const std::size_t step = may_resume ? std::min(depth, kPackedDepth) : depth;
  const std::size_t part_columns =
      at_most(std::max(panel, kInPlaceBytes / (std::min(depth, kPackedDepth) * sizeof(T)) / panel * panel), columns);
  if (parts_of(columns, part_columns) >= 8) return {true, step, rows, part_columns};
  const std::size_t fewest_rows = step < depth ? 256 : 3 * kPartRows;
  return {true, step, at_most(std::max(fewest_rows, round_up(kPartWork / (depth * part_columns) + 1, 8)), rows),
          part_columns};
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
  // Which block of columns a worker has packed (+ 1): it is used for the parts below one another.
  std::array<std::size_t, 64> packed_block = {};
  executor.pool.run(row_parts * parts_of(out.columns, plan.columns), [&](std::size_t part, unsigned worker) {
    const std::size_t m = part % row_parts * plan.rows;
    const std::size_t block = part / row_parts;
    const std::size_t n = block * plan.columns;
    const std::size_t rows = std::min(plan.rows, out.rows - m);
    const std::size_t columns = std::min(plan.columns, out.columns - n);
    MatmulOptions<T> part_options = options;
    if (options.bias != nullptr) part_options.bias = options.bias + n;
    T* packed = nullptr;
    bool ready = false;
    if (plan.packed) {
      const std::size_t widest = round_up(columns, 64 / sizeof(T));
      const bool once = plan.depth >= a.columns && options.chunks.empty() && worker < packed_block.size();
      packed = reinterpret_cast<T*>(executor.pool.scratch(worker, plan.depth * widest * sizeof(T)));
      ready = once && packed_block[worker] == block + 1;
      if (once) packed_block[worker] = block + 1;
    }
    DIKKAT_BODY(executor, matmul_part_fast<T>)
    ({a.data + m * a.row_stride, rows, a.columns, a.row_stride, a.column_stride},
     {b.data + n * b.column_stride, b.rows, columns, b.row_stride, b.column_stride},
     {out.data + m * out.row_stride + n, rows, columns, out.row_stride}, part_options, plan.depth, packed, ready);
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
