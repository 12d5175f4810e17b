#include "dikkat/inspect/attention_maps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/kernels/attention.h"
#include "dikkat/nn/position/position.h"

namespace dikkat::inspect {
namespace {

// The law's rows depend on the visible keys alone, so queries [begin, end) over the keys before `end` are the same rows
// as in a pass over everything. A query's position matters only to windows and slopes; where those meet keys behind the
// query, the rows are computed all at once.
bool goes_in_parts(const MapRule& rule) {
  if (rule.mask.direction == kernels::Direction::causal) return true;
  return rule.mask.window == 0 && rule.slopes.empty();
}

struct Slice {
  std::size_t begin, end;  // queries
  std::size_t keys;
};

// Rows for the kernel: one sample of the part's queries, and where its keys lie.
struct PartShape {
  kernels::Rows rows;
  std::array<std::size_t, 2> key_first_row;
  kernels::AttentionShape shape;

  PartShape(const MapRule& rule, const Slice& part, HeadRange range) : key_first_row{0, part.keys} {
    rows.lay_out(std::array{part.end - part.begin}, std::max<std::size_t>(part.end - part.begin, 1));
    const std::size_t count = range.last - range.first;
    // A choice of heads whose groups are not whole is taken a head at a time.
    shape = {.heads = count,
             .kv_heads = count == rule.heads ? rule.kv_heads : 1,
             .width = rule.width,
             .scale = rule.scale,
             .mask = rule.mask,
             .rows = &rows,
             .key_first_row = key_first_row};
    if (!rule.slopes.empty()) shape.slopes = std::span(rule.slopes).subspan(range.first, count);
  }
};

template <class T>
void compute(const kernels::Executor& executor, const MapRule& rule, const LayerHeads& heads, const Slice& part,
             HeadRange range, const Tensor& weights) {
  const PartShape parts(rule, part, range);
  const std::size_t group = range.first / (rule.heads / rule.kv_heads);
  const std::size_t q_stride = rule.heads * rule.width;
  const std::size_t k_stride = rule.kv_heads * rule.width;
  kernels::attention_pattern<T>(
      executor, parts.shape, {heads.q.data<T>() + part.begin * q_stride + range.first * rule.width, q_stride},
      {heads.k.data<T>() + group * rule.width, k_stride}, weights.span<T>(), heads.k.shape()[0]);
}

void check(const MapRule& rule, const LayerHeads& heads, HeadRange range) {
  const std::size_t rows = heads.q.shape()[0];
  const bool fits = heads.q.shape() == Shape{rows, rule.heads, rule.width} &&
                    heads.k.shape() == Shape{rows, rule.kv_heads, rule.width} && range.first < range.last &&
                    range.last <= rule.heads && heads.q.contiguous() && heads.k.contiguous();
  if (!fits) {
    throw Error(ErrorKind::internal, "attention maps: got q " + heads.q.shape().text() + ", k " +
                                         heads.k.shape().text() + " for " + std::to_string(rule.heads) + " heads of " +
                                         std::to_string(rule.kv_heads) + " groups");
  }
}

}  // namespace

MapRule map_rule(const models::Config& config) {
  MapRule rule{.heads = config.heads,
               .kv_heads = config.kv_heads_or_default(),
               .width = config.head_width_or_default(),
               .scale = 1.0 / std::sqrt(static_cast<double>(config.head_width_or_default())),
               .mask = {.direction = config.direction, .window = config.window}};
  if (config.position == models::PositionKind::alibi) {
    const auto position = nn::alibi_position({.heads = config.heads});
    const std::span<const double> slopes = position->slopes();
    rule.slopes.assign(slopes.begin(), slopes.end());
  }
  return rule;
}

HeadsTap::HeadsTap(std::vector<std::size_t> layers, Take take) : layers_(std::move(layers)), take_(std::move(take)) {}

bool HeadsTap::wants(std::string_view path) const {
  return std::any_of(layers_.begin(), layers_.end(), [&](std::size_t layer) {
    const std::string attention = "blocks." + std::to_string(layer) + ".attention.";
    return path == attention + "q" || path == attention + "k";
  });
}

void HeadsTap::see(std::string_view path, Tensor& activation) {
  if (path.ends_with(".q")) {
    q_ = activation.clone();
    return;
  }
  for (const std::size_t layer : layers_) {
    if (path != "blocks." + std::to_string(layer) + ".attention.k") continue;
    take_({layer, std::exchange(q_, {}), activation.clone()});
    return;
  }
}

void visit_maps(const kernels::Executor& executor, const MapRule& rule, const LayerHeads& heads, HeadRange range,
                const std::function<void(const MapRows&)>& use) {
  check(rule, heads, range);
  if (range.last - range.first != rule.heads && range.last - range.first != 1) {
    throw Error(ErrorKind::internal, "attention maps: one head or all of them");
  }
  const std::size_t rows = heads.q.shape()[0];
  const std::size_t count = range.last - range.first;
  const std::size_t step = goes_in_parts(rule) ? std::min(kMapRows, rows) : rows;
  const Tensor memory = Tensor::empty({step, count, rows}, heads.q.dtype());
  for (std::size_t begin = 0; begin < rows; begin += step) {
    const std::size_t end = std::min(rows, begin + step);
    const Slice part{begin, end, rule.mask.direction == kernels::Direction::causal ? end : rows};
    const Tensor weights = memory.slice(0, 0, end - begin);
    with_number(heads.q.dtype(), [&]<class T>() { compute<T>(executor, rule, heads, part, range, weights); });
    use({heads.layer, begin, range.first, weights});
  }
}

RowSums row_sums(const kernels::Executor& executor, const MapRule& rule, const LayerHeads& heads) {
  check(rule, heads, {0, rule.heads});
  const std::size_t rows = heads.q.shape()[0];
  const DType dtype = heads.q.dtype();
  const RowSums sums{Tensor::empty({rows, rule.heads}, dtype), Tensor::empty({rows, rule.heads}, dtype)};
  const Tensor out = Tensor::empty(heads.q.shape(), dtype);
  const PartShape parts(rule, {0, rows, rows}, {0, rule.heads});
  with_number(dtype, [&]<class T>() {
    const kernels::Heads<const T> k{heads.k.data<T>(), heads.k.stride(0)};
    kernels::attention_forward<T>(executor, parts.shape,
                                  {.q = {heads.q.data<T>(), heads.q.stride(0)},
                                   .k = k,
                                   .v = k,  // m and Z do not depend on the values
                                   .out = {out.data<T>(), out.stride(0)},
                                   .max = sums.max.data<T>(),
                                   .sum = sums.sum.data<T>()});
  });
  return sums;
}

}  // namespace dikkat::inspect
