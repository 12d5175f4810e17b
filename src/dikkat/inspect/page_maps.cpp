#include "dikkat/inspect/page_maps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "dikkat/kernels/attention.h"
#include "dikkat/kernels/maths.h"

namespace dikkat::inspect {
namespace {

constexpr std::size_t kChunkRows = 256;

struct Sizes {
  std::size_t tokens, heads, groups, width;  // T, H, G, D
};

Sizes sizes_of(const PageLayer& layer) {
  return {layer.q.shape()[0], layer.q.shape()[1], layer.k.shape()[1], layer.q.shape()[2]};
}

// (T,H,D) of any number -> (H,T,D) in 32 bits
std::vector<float> by_head(const Tensor& rows) {
  const Shape& shape = rows.shape();
  Tensor moved = Tensor::empty({shape[1], shape[0], shape[2]}, DType::f32);
  moved.assign(rows.transpose(0, 1));
  const auto values = moved.span<float>();
  return {values.begin(), values.end()};
}

kernels::AttentionShape shape_of(const PageData& data, const Sizes& sizes, const kernels::Rows& rows) {
  return {.heads = sizes.heads,
          .kv_heads = sizes.groups,
          .width = sizes.width,
          .scale = data.scale,
          .mask = data.mask,
          .slopes = data.slopes,
          .rows = &rows};
}

// m and Z of every row, as the forward pass finds them.
void fill_row_sums(const PageData& data, const PageLayer& layer, const kernels::Executor& executor,
                   PageLayerMaps& maps) {
  const Sizes sizes = sizes_of(layer);
  const std::size_t rows_of_heads = sizes.tokens * sizes.heads;
  kernels::Rows rows;
  rows.lay_out_continuation(sizes.tokens, 0);
  Tensor q = Tensor::empty(layer.q.shape(), DType::f32);
  Tensor k = Tensor::empty(layer.k.shape(), DType::f32);
  q.assign(layer.q);
  k.assign(layer.k);
  std::vector<float> out(rows_of_heads * sizes.width);
  std::vector<float> max(rows_of_heads);
  std::vector<float> sum(rows_of_heads);
  const kernels::Heads<const float> keys{k.data<float>(), sizes.groups * sizes.width};
  kernels::attention_forward<float>(executor, shape_of(data, sizes, rows),
                                    {.q = {q.data<float>(), sizes.heads * sizes.width},
                                     .k = keys,
                                     .v = keys,  // what is mixed does not matter here
                                     .out = {out.data(), sizes.heads * sizes.width},
                                     .max = max.data(),
                                     .sum = sum.data()});
  for (std::size_t h = 0; h < sizes.heads; ++h) {
    for (std::size_t i = 0; i < sizes.tokens; ++i) {
      maps.max.push_back(max[i * sizes.heads + h]);
      maps.sum.push_back(sum[i * sizes.heads + h]);
    }
  }
}

std::uint8_t shade_of(double log10_weight) {
  return static_cast<std::uint8_t>(1 + std::lround(254 * std::clamp(1 + log10_weight / 5, 0.0, 1.0)));
}

// Takes one head's rows of weights, first to last.
class MapReader {
 public:
  MapReader(std::size_t tokens, const kernels::Mask& mask)
      : tokens_(tokens), mask_(mask), side_(std::min(tokens, kThumbnailSide)), largest_(side_ * side_, -1.0) {}

  template <class T>
  void read(std::size_t i, const T* weights) {
    const auto [begin, end] = mask_.visible(i, tokens_);
    double squares = 0;
    double distance = 0;
    double* blocks = largest_.data() + i * side_ / tokens_ * side_;
    for (std::size_t j = begin; j < end; ++j) {
      const auto weight = static_cast<double>(weights[j]);
      squares += weight * weight;
      distance += weight * static_cast<double>(i > j ? i - j : j - i);
      double& block = blocks[j * side_ / tokens_];
      block = std::max(block, weight);
    }
    facts_.distance += distance;
    if (squares > 0) facts_.spread += 1 / squares;
    facts_.self += static_cast<double>(weights[i]);
    facts_.first += static_cast<double>(weights[0]);
    if (i > 0) facts_.previous += static_cast<double>(weights[i - 1]);
  }

  [[nodiscard]] PageHeadFacts facts() const {
    const auto rows = static_cast<double>(tokens_);
    return {.self = facts_.self / rows,
            .previous = facts_.previous / rows,
            .first = facts_.first / rows,
            .distance = facts_.distance / rows,
            .spread = facts_.spread / rows};
  }

  [[nodiscard]] std::vector<std::uint8_t> thumbnail(const kernels::Executor& executor) const {
    std::vector<double> logs(largest_.size());
    for (std::size_t b = 0; b < logs.size(); ++b) logs[b] = std::max(largest_[b], 1e-30);
    kernels::evaluate(executor, kernels::Function::logarithm, logs.data(), logs.data(), logs.size());
    constexpr double kLogOfTen = 2.302585092994046;
    std::vector<std::uint8_t> shades(logs.size());
    for (std::size_t b = 0; b < logs.size(); ++b) shades[b] = largest_[b] < 0 ? 0 : shade_of(logs[b] / kLogOfTen);
    return shades;
  }

 private:
  std::size_t tokens_;
  kernels::Mask mask_;
  std::size_t side_;
  std::vector<double> largest_;  // -1: nothing visible
  PageHeadFacts facts_;
};

// The weights as web/page/attention.js computes them, for some rows of one head.
class PageFormula {
 public:
  PageFormula(const PageData& data, const PageLayerMaps& maps, const Sizes& sizes, std::size_t head)
      : data_(data),
        sizes_(sizes),
        q_(maps.q.data() + head * sizes.tokens * sizes.width),
        k_(maps.k.data() + head / (sizes.heads / sizes.groups) * sizes.tokens * sizes.width),
        max_(maps.max.data() + head * sizes.tokens),
        sum_(maps.sum.data() + head * sizes.tokens),
        slope_(data.slopes.empty() ? 0.0F : static_cast<float>(data.slopes[head])) {}

  [[nodiscard]] bool checks(std::size_t i) const {
    const std::size_t count = std::min(sizes_.tokens, kCheckedRows);
    return (i + 1) * count / sizes_.tokens != i * count / sizes_.tokens;
  }

  template <class T>
  [[nodiscard]] double largest_difference(const kernels::Executor& executor, std::size_t i, const T* weights) {
    const auto [begin, end] = data_.mask.visible(i, sizes_.tokens);
    row_.clear();
    for (std::size_t j = begin; j < end; ++j) row_.push_back(static_cast<double>(score(i, j) - max_[i]));
    kernels::evaluate(executor, kernels::Function::exponential, row_.data(), row_.data(), row_.size());
    double largest = 0;
    for (std::size_t j = begin; j < end; ++j) {
      const double difference =
          std::abs(row_[j - begin] / static_cast<double>(sum_[i]) - static_cast<double>(weights[j]));
      if (!(difference <= largest)) largest = difference;  // what is no number stays
    }
    return largest;
  }

 private:
  // Scripts have no fused multiply-add: the product is exact in double, the sum is rounded to double, then to float.
  static float multiply_add(float a, float b, float c) {
    return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
  }
  [[nodiscard]] float score(std::size_t i, std::size_t j) const {
    float s = 0;
    for (std::size_t d = 0; d < sizes_.width; ++d)
      s = multiply_add(q_[i * sizes_.width + d], k_[j * sizes_.width + d], s);
    s *= static_cast<float>(data_.scale);
    if (data_.slopes.empty()) return s;
    return multiply_add(slope_, -static_cast<float>(i > j ? i - j : j - i), s);
  }

  const PageData& data_;
  Sizes sizes_;
  const float* q_;
  const float* k_;
  const float* max_;
  const float* sum_;
  float slope_;
  std::vector<double> row_;
};

// A row's weights depend on its position only where the mask or the slopes do.
std::size_t rows_at_once(const PageData& data, std::size_t tokens) {
  const bool place_matters = data.mask.window != 0 || !data.slopes.empty();
  return data.mask.direction == kernels::Direction::bidirectional && place_matters ? tokens : kChunkRows;
}

// Calls `see(i, weights)` for each row of one head of `layer`, in order, with its T weights.
template <class T, class See>
void each_row(const PageData& data, const PageLayer& layer, std::size_t head, const kernels::Executor& executor,
              See&& see) {
  const Sizes sizes = sizes_of(layer);
  const Tensor q = layer.q.contiguous() ? layer.q : layer.q.clone();
  const Tensor k = layer.k.contiguous() ? layer.k : layer.k.clone();
  const std::size_t group = head / (sizes.heads / sizes.groups);
  const std::size_t chunk = std::min(sizes.tokens, rows_at_once(data, sizes.tokens));
  const bool causal = data.mask.direction == kernels::Direction::causal;
  std::vector<T> weights(chunk * sizes.tokens);
  kernels::Rows rows;
  for (std::size_t begin = 0; begin < sizes.tokens; begin += chunk) {
    const std::size_t end = std::min(begin + chunk, sizes.tokens);
    const std::size_t keys = causal ? end : sizes.tokens;
    rows.lay_out_continuation(end - begin, keys - (end - begin));
    kernels::AttentionShape shape = shape_of(data, {sizes.tokens, 1, 1, sizes.width}, rows);
    const std::array<std::size_t, 2> key_first_row{0, keys};
    shape.key_first_row = key_first_row;
    if (!data.slopes.empty()) shape.slopes = std::span(data.slopes).subspan(head, 1);
    const std::size_t stride = sizes.heads * sizes.width;
    kernels::attention_pattern<T>(executor, shape, {q.data<T>() + begin * stride + head * sizes.width, stride},
                                  {k.data<T>() + group * sizes.width, sizes.groups * sizes.width},
                                  std::span(weights).first((end - begin) * sizes.tokens), sizes.tokens);
    for (std::size_t i = begin; i < end; ++i) see(i, weights.data() + (i - begin) * sizes.tokens);
  }
}

void read_head(const PageData& data, const PageLayer& layer, std::size_t head, const kernels::Executor& executor,
               PageLayerMaps& maps) {
  MapReader reader(sizes_of(layer).tokens, data.mask);
  PageFormula formula(data, maps, sizes_of(layer), head);
  with_number(layer.q.dtype(), [&]<class T>() {
    each_row<T>(data, layer, head, executor, [&](std::size_t i, const T* weights) {
      reader.read(i, weights);
      if (!formula.checks(i)) return;
      const double difference = formula.largest_difference(executor, i, weights);
      if (!(difference <= maps.largest_difference)) maps.largest_difference = difference;
    });
  });
  maps.heads.push_back({.head = head, .facts = reader.facts(), .thumbnail = reader.thumbnail(executor)});
}

}  // namespace

PageLayerMaps layer_maps(const PageData& data, const PageLayer& layer, const kernels::Executor& executor) {
  PageLayerMaps maps;
  maps.q = by_head(layer.q);
  maps.k = by_head(layer.k);
  fill_row_sums(data, layer, executor, maps);
  std::vector<std::size_t> shown = layer.heads;
  if (shown.empty()) {
    shown.resize(sizes_of(layer).heads);
    std::iota(shown.begin(), shown.end(), std::size_t{0});
  }
  for (const std::size_t head : shown) read_head(data, layer, head, executor, maps);
  return maps;
}

}  // namespace dikkat::inspect
