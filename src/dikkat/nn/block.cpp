#include "dikkat/nn/block.h"

#include "dikkat/nn/tap.h"
#include "dikkat/ops/add.h"
#include "dikkat/ops/dropout.h"

namespace dikkat::nn {

Block::Block(ParameterStore& store, std::string path, std::size_t layer, const Options& options)
    : path_(std::move(path)),
      attention_path_(path_ + ".attention"),
      mlp_path_(path_ + ".mlp"),
      placement_(options.placement),
      residuals_(options.residuals),
      dropout_(options.dropout),
      norm1_(store, path_ + ".norm1", options.attention.width, options.norm),
      attention_(store, attention_path_, layer, options.attention),
      norm2_(store, path_ + ".norm2", options.attention.width, options.norm),
      mlp_(store, mlp_path_, options.mlp) {}

template <class Apply>
Variable Block::sublayer(Context& context, const Norm& norm, const std::string& place, const Variable& x,
                         Apply&& apply) const {
  const bool pre = placement_ == Placement::pre;
  const Variable update = ops::dropout(context, apply(pre ? norm.forward(context, x) : x), dropout_, place);
  const Variable y = residuals_ == Residuals::on ? ops::add(context, x, update) : update;
  return pre ? y : norm.forward(context, y);
}

Variable Block::forward(Context& context, const Position& position, const Variable& x) const {
  show(context, path_, "residual_pre", x.value);
  const Variable middle = sublayer(context, norm1_, attention_path_, x,
                                   [&](const Variable& input) { return attention_.forward(context, position, input); });
  show(context, path_, "residual_mid", middle.value);
  const Variable y =
      sublayer(context, norm2_, mlp_path_, middle, [&](const Variable& input) { return mlp_.forward(context, input); });
  show(context, path_, "residual_post", y.value);
  return y;
}

}  // namespace dikkat::nn
