#include "dikkat/inspect/intervention_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/base/json.h"

namespace dikkat::inspect {
namespace {

constexpr std::string_view kAttention = "attention";
constexpr std::string_view kMlp = "mlp";

std::string block_path(std::size_t layer) { return fmt::format("blocks.{}", layer); }

Part head_of(const models::Config& config, std::size_t layer, std::size_t head) {
  const std::size_t width = config.head_width_or_default();
  return {.name = fmt::format("head {}.{}", layer, head),
          .kind = PartKind::head,
          .layer = layer,
          .head = head,
          .sites = {{.path = block_path(layer) + ".attention.mixed", .first = head * width, .count = width}}};
}

Part sublayer_of(std::size_t layer, std::string_view which) {
  return {.name = fmt::format("block {}.{}", layer, which),
          .kind = which == kAttention ? PartKind::attention : PartKind::mlp,
          .layer = layer,
          .sites = {{.path = fmt::format("{}.{}.out", block_path(layer), which)}}};
}

Part block_of(std::size_t layer) {
  Part block = together({sublayer_of(layer, kAttention), sublayer_of(layer, kMlp)}, fmt::format("block {}", layer));
  block.kind = PartKind::block;
  block.layer = layer;
  return block;
}

Part skip_of(std::size_t layer, std::string_view which) {
  const std::string_view stream = which == kAttention ? "residual_pre" : "residual_mid";
  return {.name = fmt::format("residual {}.{}", layer, which),
          .kind = PartKind::skip,
          .layer = layer,
          .sites = {{.path = fmt::format("{}.{}", block_path(layer), stream), .kind = Site::Kind::carried}}};
}

struct Name {
  std::string_view first;
  std::optional<std::string_view> second;
};

Name cut(std::string_view name) {
  const std::size_t point = name.find('.');
  if (point == std::string_view::npos) return {name, {}};
  return {name.substr(0, point), name.substr(point + 1)};
}

[[noreturn]] void refuse(const std::string& what, std::string_view name, const std::string& has, std::string hint) {
  throw Error(ErrorKind::usage, fmt::format("the model has no {} '{}': {}", what, label_of(name), has),
              {.hint = std::move(hint)});
}

std::string heads_there(const models::Config& config) {
  return fmt::format("its heads are 0.0 to {}.{} ({} {} of {} {})", config.layers - 1, config.heads - 1, config.layers,
                     config.layers == 1 ? "layer" : "layers", config.heads, config.heads == 1 ? "head" : "heads");
}

std::string blocks_there(const models::Config& config) {
  return config.layers == 1 ? "its only block is 0" : fmt::format("its blocks are 0 to {}", config.layers - 1);
}

void require_layers(const models::Config& config, const char* what) {
  if (config.layers == 0) {
    throw Error(ErrorKind::usage, fmt::format("the model has no {}: it has no blocks", what));
  }
}

// The layer a name means, of the model's; nullopt when it is none.
std::optional<std::size_t> layer_of(const models::Config& config, std::string_view digits) {
  const std::optional<std::uint64_t> layer = count_from(digits);
  if (!layer || *layer >= config.layers) return std::nullopt;
  return static_cast<std::size_t>(*layer);
}

std::size_t nearest_below(std::string_view digits, std::size_t bound) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(count_from(digits).value_or(0), bound - 1));
}

void require_skips(const models::Config& config) {
  require_layers(config, "residual connections");
  if (config.residuals == models::Residuals::off) {
    throw Error(ErrorKind::usage, "the model has no residual connections (residuals off)",
                {.hint = "take its heads or blocks"});
  }
}

}  // namespace

Part together(const std::vector<Part>& parts, std::string name) {
  Part all{.name = std::move(name)};
  for (const Part& part : parts) {
    all.without_positions = all.without_positions || part.without_positions;
    for (const Site& site : part.sites) {
      if (std::find(all.sites.begin(), all.sites.end(), site) == all.sites.end()) all.sites.push_back(site);
    }
  }
  return all;
}

Part head_named(const models::Config& config, std::string_view name) {
  require_layers(config, "heads");
  const Name words = cut(name);
  const std::optional<std::size_t> layer = layer_of(config, words.first);
  const std::optional<std::uint64_t> head = words.second ? count_from(*words.second) : std::nullopt;
  if (layer && head && *head < config.heads) return head_of(config, *layer, static_cast<std::size_t>(*head));
  if (!words.second || !count_from(words.first) || !head) {
    refuse("head", name, heads_there(config), "write a head as layer.head, counted from 0: 0.1");
  }
  refuse("head", name, heads_there(config),
         fmt::format("did you mean {}.{}?", nearest_below(words.first, config.layers),
                     nearest_below(*words.second, config.heads)));
}

Part block_named(const models::Config& config, std::string_view name) {
  require_layers(config, "blocks");
  const Name words = cut(name);
  const std::optional<std::size_t> layer = layer_of(config, words.first);
  if (layer && !words.second) return block_of(*layer);
  if (layer && (*words.second == kAttention || *words.second == kMlp)) return sublayer_of(*layer, *words.second);
  const std::string has = blocks_there(config) + ", each with .attention and .mlp";
  if (words.second) {
    const auto near = nearest_name(*words.second, {std::string(kAttention), std::string(kMlp)});
    refuse("block", name, has,
           fmt::format("did you mean {}.{}?", nearest_below(words.first, config.layers), near.value_or("attention")));
  }
  refuse("block", name, has, fmt::format("did you mean {}?", nearest_below(words.first, config.layers)));
}

Part skip_named(const models::Config& config, std::string_view name) {
  require_skips(config);
  const Name words = cut(name);
  const std::optional<std::size_t> layer = layer_of(config, words.first);
  if (layer && words.second && (*words.second == kAttention || *words.second == kMlp)) {
    return skip_of(*layer, *words.second);
  }
  const auto near = nearest_name(words.second.value_or(""), {std::string(kAttention), std::string(kMlp)});
  refuse("residual connection", name, blocks_there(config) + ", each with .attention and .mlp",
         fmt::format("did you mean {}.{}?", nearest_below(words.first, config.layers), near.value_or("attention")));
}

Part activation_named(const models::Config& config, std::string_view path) {
  const std::vector<std::string> known = activation_paths(config);
  if (std::find(known.begin(), known.end(), path) == known.end()) {
    const std::optional<std::string> near = nearest_name(path, known);
    refuse("activation", path,
           fmt::format("it has {} of them, from {} to {}", known.size(), known.front(), known.back()),
           near ? "did you mean " + *near + "?" : "write a path like blocks.0.mlp.out");
  }
  return {.name = std::string(path), .sites = {{.path = std::string(path)}}};
}

Part positions_of(const models::Config& config) {
  if (config.position == models::PositionKind::none) {
    throw Error(ErrorKind::usage, "the model has no positions to take away (position none)",
                {.hint = "dikkat order says what order does to it"});
  }
  return {.name = "positions", .kind = PartKind::positions, .without_positions = true};
}

std::vector<Part> all_heads(const models::Config& config) {
  require_layers(config, "heads");
  std::vector<Part> all;
  for (std::size_t l = 0; l < config.layers; ++l) {
    for (std::size_t h = 0; h < config.heads; ++h) all.push_back(head_of(config, l, h));
  }
  return all;
}

std::vector<Part> all_blocks(const models::Config& config) {
  require_layers(config, "blocks");
  std::vector<Part> all;
  for (std::size_t l = 0; l < config.layers; ++l) all.push_back(block_of(l));
  return all;
}

std::vector<Part> all_skips(const models::Config& config) {
  require_skips(config);
  std::vector<Part> all;
  for (std::size_t l = 0; l < config.layers; ++l) {
    for (const std::string_view which : {kAttention, kMlp}) all.push_back(skip_of(l, which));
  }
  return all;
}

std::vector<std::string> activation_paths(const models::Config& config) {
  static constexpr std::array<std::string_view, 12> kOfBlock = {
      "residual_pre",  "attention.q",  "attention.k", "attention.v", "attention.pattern", "attention.mixed",
      "attention.out", "residual_mid", "mlp.pre",     "mlp.post",    "mlp.out",           "residual_post"};
  std::vector<std::string> paths = {"embedding"};
  for (std::size_t l = 0; l < config.layers; ++l) {
    for (const std::string_view name : kOfBlock) paths.push_back(fmt::format("{}.{}", block_path(l), name));
  }
  paths.emplace_back("final_norm");
  paths.emplace_back("logits");
  return paths;
}

}  // namespace dikkat::inspect
