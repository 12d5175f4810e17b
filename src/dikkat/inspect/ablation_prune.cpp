#include "dikkat/inspect/ablation_prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "dikkat/base/error.h"

namespace dikkat::inspect {
namespace {

class Pruner {
 public:
  explicit Pruner(const models::LanguageModel& model) : model_(model), config_(model.config()) {}

  void prune(const Part& part) {
    switch (part.kind) {
      case PartKind::head: head(part); break;
      case PartKind::attention: attention(part.layer); break;
      case PartKind::mlp: mlp(part.layer); break;
      case PartKind::block: attention(part.layer), mlp(part.layer); break;
      case PartKind::positions: positions(); break;
      case PartKind::skip:
      case PartKind::activation: break;
    }
  }

  // Once all parts are known: keys and values that no head reads any more, and what is left to say.
  Pruned finish() {
    for (std::size_t l = 0; l < config_.layers; ++l) {
      for (std::size_t g = 0; g < config_.kv_heads_or_default(); ++g) values(l, g);
    }
    return std::move(pruned_);
  }

 private:
  [[nodiscard]] std::string attention_path(std::size_t layer) const {
    return fmt::format("blocks.{}.attention", layer);
  }

  void zero(const Tensor& numbers) {
    const Tensor copy = numbers.clone();
    with_number(copy.dtype(), [&]<class T>() {
      for (const T number : copy.span<T>()) pruned_.weights += number != 0 ? 1U : 0U;
    });
    numbers.fill(0);
  }
  // All of a parameter, or indices [begin, end) of an axis; one that is not there has nothing to lose.
  void zero(const std::string& path) {
    if (const nn::Parameter* parameter = model_.parameters().find(path)) zero(parameter->value());
  }
  void zero(const std::string& path, std::size_t axis, std::size_t begin, std::size_t end) {
    if (const nn::Parameter* parameter = model_.parameters().find(path)) {
      zero(parameter->value().slice(axis, begin, end));
    }
  }

  void head(const Part& part) {
    const std::size_t width = config_.head_width_or_default();
    zero(attention_path(part.layer) + ".output.weight", 0, part.head * width, (part.head + 1) * width);
    gone_.emplace(part.layer, part.head);
  }

  void attention(std::size_t layer) {
    zero(attention_path(layer) + ".output.weight");
    zero(attention_path(layer) + ".output.bias");
    for (std::size_t h = 0; h < config_.heads; ++h) gone_.emplace(layer, h);
    constant(fmt::format("block {}.attention", layer), attention_path(layer) + ".output.bias");
  }

  void mlp(std::size_t layer) {
    const std::string path = fmt::format("blocks.{}.mlp", layer);
    for (const char* name : {".down.weight", ".down.bias", ".up.weight", ".up.bias"}) zero(path + name);
    constant(fmt::format("block {}.mlp", layer), path + ".down.bias");
  }

  void positions() {
    zero("position_embedding.weight");
    pruned_.grows.emplace_back("positions: the table has gradients as before");
  }

  void constant(const std::string& name, const std::string& bias) {
    if (model_.parameters().find(bias) == nullptr) return;
    pruned_.grows.push_back(
        fmt::format("{}: its bias has a gradient, and may come to add the same in every row", name));
  }

  // The values of key/value head g, read by heads [g * share, (g + 1) * share).
  void values(std::size_t layer, std::size_t g) {
    const std::size_t share = config_.heads / config_.kv_heads_or_default();
    std::vector<std::size_t> gone;
    for (std::size_t h = g * share; h < (g + 1) * share; ++h) {
      if (gone_.contains({layer, h})) gone.push_back(h);
    }
    if (gone.empty()) return;
    if (gone.size() < share) {
      for (const std::size_t h : gone) {
        pruned_.grows.push_back(fmt::format(
            "head {}.{}: it shares its values with heads that are left, and may learn to use them again", layer, h));
      }
      return;
    }
    const std::size_t width = config_.head_width_or_default();
    const std::size_t first = (config_.heads + config_.kv_heads_or_default() + g) * width;
    zero(attention_path(layer) + ".qkv.weight", 1, first, first + width);
    zero(attention_path(layer) + ".qkv.bias", 0, first, first + width);
  }

  const models::LanguageModel& model_;
  const models::Config& config_;
  std::set<std::pair<std::size_t, std::size_t>> gone_;  // heads, by layer
  Pruned pruned_;
};

}  // namespace

void require_prunable(const models::Config& config, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (part.kind == PartKind::skip || part.kind == PartKind::activation) {
      throw Error(ErrorKind::usage, fmt::format("no weights carry '{}', so that it cannot be pruned", part.name),
                  {.hint = "prune heads, blocks or learned positions"});
    }
    if (part.kind == PartKind::positions && config.position != models::PositionKind::learned) {
      throw Error(
          ErrorKind::usage,
          fmt::format("positions of kind {} are not in the weights and cannot be pruned", text_of(config.position)),
          {.hint = "train a model with --position none"});
    }
  }
}

Pruned prune(const models::LanguageModel& model, const std::vector<Part>& parts) {
  require_prunable(model.config(), parts);
  Pruner pruner(model);
  for (const Part& part : parts) pruner.prune(part);
  return pruner.finish();
}

}  // namespace dikkat::inspect
