// A parameter's gradient is a sum over the rows of the batch. A batch may go through the model in pieces, each some
// samples that follow one another, forward and backward on one thread; what a piece has to say about a parameter is
// kept then until all pieces are there, and the sum is formed over their rows in order, chunk by chunk
// (kernels/rows.h), as if the batch had been one. So the number of pieces is in no bit.
//
// A sum is a small struct with what the kernel needs of a piece's rows, and a function that adds to the gradient:
//
//   struct ColumnSum {
//     Tensor dy;
//     const kernels::Rows* rows;
//     static void add(const kernels::Executor& executor, Joining& joining, Pieces<ColumnSum> pieces, const Tensor& to)
//     {
//       each_joined(joining, pieces, [&](Chunks chunks, const Tensor& dy) { ... }, &ColumnSum::dy);
//     }
//   };
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/rows.h"
#include "dikkat/tensor/scratch_memory.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat {

// As many pieces as a batch may go through in.
inline constexpr std::size_t kMostPieces = 64;

// What one thread needs to lay pieces side by side; its memory is used again.
struct Joining {
  ScratchMemory memory;
  std::vector<std::size_t> chunks;
  std::vector<std::uint32_t> ids;
};

using Chunks = std::span<const std::size_t>;

// A sum's records, one of each piece, in the order of their rows.
template <class Sum>
class Pieces {
 public:
  explicit Pieces(std::span<const void* const> records) : records_(records) {}
  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] const Sum& operator[](std::size_t i) const { return *static_cast<const Sum*>(records_[i]); }

  // How many pieces from `first` on hang together: each but the first begins inside a chunk of the one before.
  [[nodiscard]] std::size_t together(std::size_t first) const {
    std::size_t count = 1;
    while (first + count < size() && (*this)[first + count].rows->continues) ++count;
    return count;
  }
  [[nodiscard]] Pieces part(std::size_t first, std::size_t count) const {
    return Pieces(records_.subspan(first, count));
  }

 private:
  std::span<const void* const> records_;
};

// The chunks of pieces that hang together, as rows of all of them.
template <class Sum>
Chunks joined_chunks(Joining& joining, const Pieces<Sum>& pieces) {
  joining.chunks.assign(1, 0);
  std::size_t before = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const kernels::Rows& rows = *pieces[i].rows;
    for (std::size_t c = 1; c < rows.chunks.size(); ++c) {
      // The first chunk of a piece that continues is the end of the last one there is.
      if (c == 1 && i > 0 && rows.continues && joining.chunks.size() > 1) joining.chunks.pop_back();
      joining.chunks.push_back(before + rows.chunks[c]);
    }
    before += rows.count();
  }
  return joining.chunks;
}

// The tensors (R_i, ...) of pieces, one behind another; a lone piece's own.
template <class Sum>
Tensor joined(Joining& joining, const Pieces<Sum>& pieces, Tensor Sum::*member) {
  if (pieces.size() == 1) return pieces[0].*member;
  const Tensor& first = pieces[0].*member;
  if (!first.defined()) return first;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) rows += (pieces[i].*member).shape()[0];
  const Shape shape = first.shape().rank() == 1 ? Shape{rows} : Shape{rows, first.shape()[1]};
  const Tensor all = Tensor::empty(shape, first.dtype(), joining.memory);
  std::size_t row = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Tensor& piece = pieces[i].*member;
    all.slice(0, row, row + piece.shape()[0]).assign(piece);
    row += piece.shape()[0];
  }
  return all;
}

// use(chunks, tensors...) for each group of pieces that hang together, in order. Pieces of whole chunks are not copied:
// they are groups by themselves.
template <class Sum, class Use, class... Members>
void each_joined(Joining& joining, const Pieces<Sum>& pieces, Use&& use, Members... members) {
  for (std::size_t first = 0; first < pieces.size();) {
    const Pieces<Sum> group = pieces.part(first, pieces.together(first));
    use(group.size() == 1 ? Chunks(group[0].rows->chunks) : joined_chunks(joining, group),
        joined(joining, group, members)...);
    joining.memory.clear();
    first += group.size();
  }
}

}  // namespace dikkat
