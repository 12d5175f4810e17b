#include "dikkat/nn/attention.h"

#include "dikkat/nn/kv_cache.h"
#include "dikkat/nn/tap.h"
#include "dikkat/ops/attention.h"

namespace dikkat::nn {

Attention::Attention(ParameterStore& store, std::string path, std::size_t layer, const Options& options)
    : path_(std::move(path)),
      pattern_path_(path_ + ".pattern"),
      layer_(layer),
      options_(options),
      qkv_(store, path_ + ".qkv", {options.width, (options.heads + 2 * options.kv_heads) * options.head_width},
           options.projection, options.bias),
      output_(store, path_ + ".output", {options.heads * options.head_width, options.width}, options.output,
              options.bias) {}

Variable Attention::forward(Context& context, const Position& position, const Variable& x) const {
  const RotatedHeads rotated{options_.heads + options_.kv_heads, options_.head_width};
  const Variable qkv = position.rotate(context, qkv_.forward(context, x), rotated);
  show_heads(context, qkv.value);
  const Variable heads = context.cache != nullptr ? Variable{mixed_with_cache(context, position, qkv.value)}
                                                  : mixed(context, position, qkv);
  show(context, path_, "mixed", heads.value);
  const Variable out = output_.forward(context, heads);
  show(context, path_, "out", out.value);
  return out;
}

Variable Attention::mixed(Context& context, const Position& position, const Variable& qkv) const {
  const ops::AttentionOptions options{.heads = options_.heads,
                                      .kv_heads = options_.kv_heads,
                                      .width = options_.head_width,
                                      .mask = options_.mask,
                                      .slopes = position.slopes(),
                                      .dropout = options_.weight_dropout,
                                      .place = path_};
  if (context.tap != nullptr && context.tap->wants(pattern_path_)) {
    return ops::attention_with_map(context, qkv, options,
                                   [&](Tensor& pattern) { context.tap->see(pattern_path_, pattern); });
  }
  return ops::attention(context, qkv, options);
}

Tensor Attention::mixed_with_cache(Context& context, const Position& position, const Tensor& qkv) const {
  KvCache& cache = *context.cache;
  const std::size_t queries = options_.heads * options_.head_width;
  const std::size_t keys = options_.kv_heads * options_.head_width;
  const std::size_t begin = cache.length;
  const std::size_t end = begin + qkv.shape()[0];
  cache.keys[layer_].slice(0, begin, end).assign(qkv.slice(1, queries, queries + keys));
  cache.values[layer_].slice(0, begin, end).assign(qkv.slice(1, queries + keys, queries + 2 * keys));
  return ops::attention_cached(context, qkv, cache.keys[layer_].slice(0, 0, end), cache.values[layer_].slice(0, 0, end),
                               {.heads = options_.heads,
                                .kv_heads = options_.kv_heads,
                                .width = options_.head_width,
                                .mask = options_.mask,
                                .slopes = position.slopes()});
}

void Attention::show_heads(Context& context, const Tensor& qkv) const {
  if (context.tap == nullptr) return;
  const std::size_t width = options_.head_width;
  const auto heads = [&](std::size_t first, std::size_t count) {
    return qkv.slice(1, first * width, (first + count) * width).split(1, count);
  };
  show(context, path_, "q", heads(0, options_.heads));
  show(context, path_, "k", heads(options_.heads, options_.kv_heads));
  show(context, path_, "v", heads(options_.heads + options_.kv_heads, options_.kv_heads));
}

}  // namespace dikkat::nn
