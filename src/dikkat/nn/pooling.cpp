#include "dikkat/nn/pooling.h"

#include "dikkat/nn/linear.h"
#include "dikkat/nn/tap.h"
#include "dikkat/ops/class_token.h"
#include "dikkat/ops/pooling.h"

namespace dikkat::nn {
namespace {

class Last : public Pooling {
 public:
  explicit Last(const PoolingOptions& options) : width_(options.width) {}

  [[nodiscard]] std::size_t width() const override { return width_; }
  [[nodiscard]] Variable pool(Context& context, const Variable& x) const override {
    return ops::last_pooling(context, x);
  }

 private:
  std::size_t width_;
};

class Mean final : public Pooling {
 public:
  explicit Mean(const PoolingOptions& options) : width_(options.width) {}

  [[nodiscard]] std::size_t width() const override { return width_; }
  [[nodiscard]] Variable pool(Context& context, const Variable& x) const override {
    return ops::mean_pooling(context, x);
  }

 private:
  std::size_t width_;
};

class AttentionQuery final : public Pooling {
 public:
  AttentionQuery(ParameterStore& store, const PoolingOptions& options)
      : options_{.heads = options.heads, .width = options.head_width},
        key_value_(store, "pooling.key_value", {options.width, 2 * options.heads * options.head_width},
                   options.projection, Bias::none),
        query_(&store.add("pooling.query", {options.heads * options.head_width}, options.query)) {}

  [[nodiscard]] std::size_t width() const override { return options_.heads * options_.width; }
  [[nodiscard]] Variable pool(Context& context, const Variable& x) const override {
    const Variable key_values = key_value_.forward(context, x);
    const Variable query = query_->use(context);
    if (context.tap == nullptr || !context.tap->wants(kPattern)) {
      return ops::attention_pooling(context, key_values, query, options_);
    }
    return ops::attention_pooling_with_map(context, key_values, query, options_,
                                           [&](Tensor& pattern) { context.tap->see(kPattern, pattern); });
  }

 private:
  static constexpr std::string_view kPattern = "pooling.pattern";

  ops::AttentionPoolingOptions options_;
  Linear key_value_;
  Parameter* query_;
};

// The learned row is the last of its sample, so what is read out is the last row.
class ClassToken final : public Last {
 public:
  ClassToken(ParameterStore& store, const PoolingOptions& options)
      : Last(options), token_(&store.add("pooling.token", {options.width}, options.token)) {}

  [[nodiscard]] std::size_t extra_rows() const override { return 1; }
  [[nodiscard]] Variable begin(Context& context, const Variable& x) const override {
    return ops::class_token(context, x, token_->use(context));
  }

 private:
  Parameter* token_;
};

}  // namespace

std::unique_ptr<Pooling> make_pooling(PoolingKind kind, ParameterStore& store, const PoolingOptions& options) {
  switch (kind) {
    case PoolingKind::last: return std::make_unique<Last>(options);
    case PoolingKind::mean: return std::make_unique<Mean>(options);
    case PoolingKind::attention_query: return std::make_unique<AttentionQuery>(store, options);
    case PoolingKind::class_token: return std::make_unique<ClassToken>(store, options);
  }
  return nullptr;
}

}  // namespace dikkat::nn
