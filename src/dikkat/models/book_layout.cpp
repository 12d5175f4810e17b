#include "dikkat/models/book_layout.h"

#include <algorithm>

namespace dikkat::models {
namespace {

enum class Which : std::uint8_t { values, gradients };

// Collects views by the book's names; tensors a model lacks are passed over.
class Collector {
 public:
  Collector(const LanguageModel& model, Which which) : model_(model), which_(which) {}

  // The whole parameter `path` under `name`, or the part of it that `part` cuts out.
  void add(const std::string& name, const std::string& path) {
    add(name, path, [](const Tensor& whole) { return whole; });
  }
  template <class Part>
  void add(const std::string& name, const std::string& path, Part&& part) {
    const nn::Parameter* parameter = model_.parameters().find(path);
    if (parameter == nullptr) return;
    const Tensor& whole = which_ == Which::values ? parameter->value() : parameter->gradient();
    found_.push_back({name, part(whole), parameter->init().deviation});
  }

  [[nodiscard]] std::vector<BookTensor> take() { return std::move(found_); }

 private:
  const LanguageModel& model_;
  Which which_;
  std::vector<BookTensor> found_;
};

std::string numbered(const std::string& name, std::size_t number) { return name + "[" + std::to_string(number) + "]"; }

struct Heads {
  std::size_t queries, keys, width;
};

// One of q, k, v of one head: columns of the joint projection. `first` counts heads within it.
void add_projection(Collector& to, const std::string& name, std::size_t layer, std::size_t first, std::size_t number,
                    const Heads& heads) {
  const std::string path = "blocks." + std::to_string(layer) + ".attention.qkv";
  const std::size_t begin = first * heads.width;
  to.add(numbered("w" + name, number), path + ".weight",
         [&](const Tensor& whole) { return whole.slice(1, begin, begin + heads.width); });
  to.add(numbered("b" + name, number), path + ".bias",
         [&](const Tensor& whole) { return whole.slice(0, begin, begin + heads.width); });
}

void add_head_output(Collector& to, std::size_t layer, std::size_t head, const Heads& heads) {
  const std::string path = "blocks." + std::to_string(layer) + ".attention.output.weight";
  const std::size_t begin = head * heads.width;
  to.add(numbered("wo", layer * heads.queries + head), path,
         [&](const Tensor& whole) { return whole.slice(0, begin, begin + heads.width); });
}

// The per-layer tensors that are not heads, in the book's order of lists.
const std::vector<std::pair<std::string, std::string>>& layer_lists() {
  static const std::vector<std::pair<std::string, std::string>> lists = {
      {"g1", ".norm1.gain"},    {"b1", ".norm1.bias"},   {"g2", ".norm2.gain"},      {"b2", ".norm2.bias"},
      {"i1", ".mlp.up.weight"}, {"ib1", ".mlp.up.bias"}, {"i2", ".mlp.down.weight"}, {"ib2", ".mlp.down.bias"}};
  return lists;
}

std::vector<BookTensor> collect(const LanguageModel& model, Which which) {
  const Config& config = model.config();
  const Heads heads{config.heads, config.kv_heads_or_default(), config.head_width_or_default()};
  Collector to(model, which);
  to.add("gomme", "token_embedding.weight");
  to.add("konum", "position_embedding.weight");
  const auto projections = [&](const std::string& name, std::size_t count, std::size_t first) {
    for (std::size_t l = 0; l < config.layers; ++l) {
      for (std::size_t h = 0; h < count; ++h) add_projection(to, name, l, first + h, l * count + h, heads);
    }
  };
  projections("q", heads.queries, 0);
  projections("k", heads.keys, heads.queries);
  projections("v", heads.keys, heads.queries + heads.keys);
  for (std::size_t l = 0; l < config.layers; ++l) {
    for (std::size_t h = 0; h < heads.queries; ++h) add_head_output(to, l, h, heads);
    to.add(numbered("bo", l), "blocks." + std::to_string(l) + ".attention.output.bias");
  }
  for (const auto& [name, suffix] : layer_lists()) {
    for (std::size_t l = 0; l < config.layers; ++l) to.add(numbered(name, l), "blocks." + std::to_string(l) + suffix);
  }
  to.add("song", "final_norm.gain");
  to.add("sonb", "final_norm.bias");
  to.add("wc", "output.weight");
  to.add("bc", "output.bias");
  return to.take();
}

// Place of a tensor in the constructor: embeddings, then layer by layer (each head's q, k, v, o, then the rest), the
// output.
std::size_t construction_place(const std::string& name, const Config& config) {
  const std::size_t bracket = name.find('[');
  const std::string list = name.substr(0, bracket);
  if (list == "gomme" || list == "konum") return list == "gomme" ? 0 : 1;
  if (bracket == std::string::npos) return ~std::size_t{0};
  std::size_t number = 0;
  for (std::size_t i = bracket + 1; name[i] != ']'; ++i) number = number * 10 + static_cast<std::size_t>(name[i] - '0');
  const bool of_head =
      list.size() == 2 && (list[0] == 'w' || (list[0] == 'b' && std::string("qkv").find(list[1]) != std::string::npos));
  const std::size_t per_layer = list == "wk" || list == "wv" ? config.kv_heads_or_default() : config.heads;
  const std::size_t layer = of_head ? number / per_layer : number;
  const std::size_t head = of_head ? number % per_layer : config.heads;
  return 2 + layer * (config.heads + 1) + head;
}

}  // namespace

std::vector<BookTensor> book_layout(const LanguageModel& model, BookOrder order) {
  std::vector<BookTensor> tensors = collect(model, Which::values);
  if (order == BookOrder::construction) {
    std::stable_sort(tensors.begin(), tensors.end(), [&](const BookTensor& a, const BookTensor& b) {
      return construction_place(a.name, model.config()) < construction_place(b.name, model.config());
    });
  }
  return tensors;
}

std::vector<BookTensor> book_gradients(const LanguageModel& model) { return collect(model, Which::gradients); }

}  // namespace dikkat::models
