#include "dikkat/inspect/head_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "dikkat/kernels/maths.h"

namespace dikkat::inspect {
namespace {

constexpr std::size_t kPartials = 16;

// 16 partial sums of f(0), ..., f(n-1) by index modulo 16, then a tree.
template <class T, class F>
double sum_of(std::size_t n, F&& f) {
  std::array<T, kPartials> partial{};
  std::size_t j = 0;
  for (; j + kPartials <= n; j += kPartials) {
    for (std::size_t k = 0; k < kPartials; ++k) partial[k] += f(j + k);
  }
  for (std::size_t k = 0; j + k < n; ++k) partial[k] += f(j + k);
  for (std::size_t width = kPartials / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) partial[k] += partial[k + width];
  }
  return static_cast<double>(partial[0]);
}

// A row of a head, the part of it that is visible.
template <class T>
struct Weights {
  const T* p = nullptr;  // of key `first`
  std::size_t first = 0;
  std::size_t count = 0;

  [[nodiscard]] double at(std::size_t key) const { return static_cast<double>(p[key - first]); }
  [[nodiscard]] double sum(kernels::KeyRange keys) const {
    const T* from = p + (keys.begin - first);
    return sum_of<T>(keys.end - keys.begin, [&](std::size_t j) { return from[j]; });
  }
};

// What rows are multiplied with, and room to work in; one for each block.
template <class T>
struct Room {
  explicit Room(std::size_t keys) : index(keys), logarithm(keys) {
    for (std::size_t j = 0; j < keys; ++j) index[j] = static_cast<T>(j);
  }
  std::vector<T> index;
  std::vector<T> logarithm;
};

template <class T>
double entropy_of(const kernels::Executor& executor, const Weights<T>& w, Room<T>& room) {
  T* log = room.logarithm.data();
  // A weight too small for a number counts for nothing: 0 ln 0 = 0.
  for (std::size_t j = 0; j < w.count; ++j) log[j] = std::max(w.p[j], std::numeric_limits<T>::min());
  kernels::evaluate<T>(executor, kernels::Function::logarithm, log, log, w.count);
  return -sum_of<T>(w.count, [&](std::size_t j) { return w.p[j] * log[j]; });
}

template <class T>
void add_moments(const Weights<T>& w, std::size_t i, const Room<T>& room, std::span<double> sums) {
  const double centre = sum_of<T>(w.count, [&](std::size_t j) { return w.p[j] * room.index[j]; });
  const T c = static_cast<T>(centre);
  const double variance = sum_of<T>(w.count, [&](std::size_t j) {
    const T away = room.index[j] - c;
    return w.p[j] * away * away;
  });
  sums[column(HeadScore::centre)] += static_cast<double>(i) - static_cast<double>(w.first) - centre;
  sums[column(HeadScore::spread)] += std::sqrt(variance);
}

template <class T>
void add_places(const RowFacts& facts, const Weights<T>& w, std::size_t i, std::span<double> sums) {
  const auto visible = [&](std::size_t key) { return key >= w.first && key < w.first + w.count; };
  if (visible(i)) sums[column(HeadScore::self)] += w.at(i);
  if (i >= 1 && visible(i - 1)) sums[column(HeadScore::previous)] += w.at(i - 1);
  if (i >= 1 && visible(0)) sums[column(HeadScore::first)] += w.at(0);
  double equal = 0;
  facts.each_equal(i, [&](std::size_t j) { equal += w.at(j); });
  sums[column(HeadScore::same_character)] += equal;
  std::size_t at = column(HeadScore::distance);
  for (const DistanceBin& bin : facts.columns.bins) {
    const kernels::KeyRange keys = facts.keys_of(bin, i);
    if (keys.begin < keys.end) sums[at] += w.sum(keys);
    ++at;
  }
}

template <class T>
void add_pairs(const HeadRows<T>& rows, const T* row, kernels::KeyRange seen, std::span<double> pairs) {
  const std::size_t n = seen.end - seen.begin;
  for (std::size_t h = 0; h < rows.heads; ++h) {
    const T* a = row + h * rows.keys + seen.begin;
    for (std::size_t g = h + 1; g < rows.heads; ++g) {
      const T* b = row + g * rows.keys + seen.begin;
      pairs[h * rows.heads + g] += 0.5 * sum_of<T>(n, [&](std::size_t j) { return std::abs(a[j] - b[j]); });
    }
  }
}

}  // namespace

EarlierEqual::EarlierEqual(std::span<const text::Token> tokens) : before_(tokens.size(), kNone) {
  std::unordered_map<text::Token, std::size_t> last;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto [place, is_new] = last.try_emplace(tokens[i], i);
    if (is_new) continue;
    before_[i] = place->second;
    place->second = i;
  }
}

kernels::KeyRange RowFacts::keys_of(const DistanceBin& bin, std::size_t i) const {
  const kernels::KeyRange seen = visible(i);
  const auto at = static_cast<std::ptrdiff_t>(i);
  const std::ptrdiff_t begin = std::max(at - bin.last, static_cast<std::ptrdiff_t>(seen.begin));
  const std::ptrdiff_t end = std::min(at - bin.first + 1, static_cast<std::ptrdiff_t>(seen.end));
  if (begin >= end) return {};
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

std::vector<std::size_t> rows_that_count(const RowFacts& facts) {
  std::vector<std::size_t> rows(facts.columns.count());
  const auto add = [&](HeadScore score, bool counts) { rows[column(score)] += counts ? 1U : 0U; };
  for (std::size_t i = 0; i < facts.length(); ++i) {
    if (!facts.counts(i)) continue;
    std::size_t equal = 0;
    std::size_t induction = 0;
    facts.each_equal(i, [&](std::size_t) { ++equal; });
    facts.each_induction(i, [&](std::size_t) { ++induction; });
    add(HeadScore::induction, induction > 0);
    if (facts.window.period != 0) continue;
    const kernels::KeyRange seen = facts.visible(i);
    for (const auto score : {HeadScore::centre, HeadScore::spread, HeadScore::entropy, HeadScore::separation}) {
      add(score, true);
    }
    add(HeadScore::self, i >= seen.begin && i < seen.end);
    add(HeadScore::previous, i >= 1 && i - 1 >= seen.begin && i - 1 < seen.end);
    add(HeadScore::first, i >= 1 && seen.begin == 0);
    add(HeadScore::same_character, equal > 0);
    for (std::size_t b = 0; b < facts.columns.bins.size(); ++b) {
      const kernels::KeyRange keys = facts.keys_of(facts.columns.bins[b], i);
      rows[column(HeadScore::distance) + b] += keys.begin < keys.end ? 1U : 0U;
    }
  }
  return rows;
}

template <class T>
void add_rows(const kernels::Executor& executor, const RowFacts& facts, const HeadRows<T>& rows, std::span<double> sums,
              std::span<double> pairs) {
  const bool repeated = facts.window.period != 0;
  Room<T> room(repeated ? 0 : rows.keys);
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    if (!facts.counts(i)) continue;
    const kernels::KeyRange seen = facts.visible(i);
    const T* row = rows.map + i * rows.heads * rows.keys;
    for (std::size_t h = 0; h < rows.heads; ++h) {
      const Weights<T> w{row + h * rows.keys + seen.begin, seen.begin, seen.end - seen.begin};
      const std::span<double> of_head = sums.subspan(h * facts.columns.count(), facts.columns.count());
      if (repeated) {
        double induction = 0;
        facts.each_induction(i, [&](std::size_t j) { induction += w.at(j); });
        of_head[column(HeadScore::induction)] += induction;
        continue;
      }
      add_moments(w, i, room, of_head);
      of_head[column(HeadScore::entropy)] += entropy_of(executor, w, room);
      add_places(facts, w, i, of_head);
    }
    if (!repeated) add_pairs(rows, row, seen, pairs);
  }
}

template void add_rows(const kernels::Executor&, const RowFacts&, const HeadRows<float>&, std::span<double>,
                       std::span<double>);
template void add_rows(const kernels::Executor&, const RowFacts&, const HeadRows<double>&, std::span<double>,
                       std::span<double>);

}  // namespace dikkat::inspect
