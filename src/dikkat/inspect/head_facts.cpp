#include "dikkat/inspect/head_facts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dikkat::inspect {

HeadSummaries::HeadSummaries(std::size_t layer, HeadRange range, std::size_t tokens, const kernels::Mask& mask)
    : tokens_(tokens), mask_(mask) {
  const std::size_t side = std::min(tokens, kSmallMapSide);
  for (std::size_t head = range.first; head < range.last; ++head) {
    summaries_.push_back(
        {.layer = layer, .head = head, .small = {side, std::vector<double>(side * side, std::nan(""))}});
  }
}

template <class T>
void HeadSummaries::add_row(HeadSummary& summary, const T* weights, std::size_t row) const {
  const kernels::KeyRange visible = mask_.visible(row, tokens_);
  const std::size_t side = summary.small.side;
  double* small = summary.small.values.data() + row * side / tokens_ * side;
  double squares = 0;
  double distance = 0;
  for (std::size_t j = visible.begin; j < visible.end;) {
    const std::size_t block = j * side / tokens_;
    // The first key of the next block is the least j with j side >= (block + 1) T.
    const std::size_t end = std::min(visible.end, ((block + 1) * tokens_ + side - 1) / side);
    T largest = weights[j];
    for (; j < end; ++j) {
      const auto weight = static_cast<double>(weights[j]);
      squares += weight * weight;
      distance += weight * std::abs(static_cast<double>(row) - static_cast<double>(j));
      largest = std::max(largest, weights[j]);
    }
    small[block] = std::fmax(small[block], static_cast<double>(largest));
  }
  HeadFacts& facts = summary.facts;
  facts.self += static_cast<double>(weights[row]);
  facts.previous += row == 0 ? 0.0 : static_cast<double>(weights[row - 1]);
  facts.first += static_cast<double>(weights[0]);
  facts.distance += distance;
  facts.spread += 1.0 / squares;
  facts.evenness += 1.0 / squares / static_cast<double>(visible.end - visible.begin);
}

void HeadSummaries::add(const kernels::Executor& executor, const MapRows& part) {
  const std::size_t heads = summaries_.size();
  executor.pool.run(heads, [&](std::size_t head, unsigned) {
    with_number(part.weights.dtype(), [&]<class T>() {
      for (std::size_t i = 0; i < part.weights.shape()[0]; ++i) {
        add_row(summaries_[head], part.weights.data<T>() + (i * heads + head) * tokens_, part.first_row + i);
      }
    });
  });
}

std::vector<HeadSummary> HeadSummaries::finish() {
  for (HeadSummary& summary : summaries_) {
    HeadFacts& facts = summary.facts;
    for (double* sum : {&facts.self, &facts.previous, &facts.first, &facts.distance, &facts.spread, &facts.evenness}) {
      *sum /= static_cast<double>(tokens_);
    }
  }
  return std::move(summaries_);
}

}  // namespace dikkat::inspect
