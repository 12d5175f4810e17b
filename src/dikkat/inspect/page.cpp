#include "dikkat/inspect/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "dikkat/base/error.h"
#include "dikkat/base/json.h"
#include "dikkat/base/sha256.h"
#include "dikkat/base/version.h"
#include "dikkat/inspect/page_floats.h"
#include "dikkat/inspect/page_maps.h"
#include "dikkat/inspect/page_modules.h"

namespace dikkat::inspect {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::internal, "page: " + std::move(message)); }

void check_layer(const PageData& data, const PageLayer& layer) {
  const Shape& q = layer.q.shape();
  const Shape& k = layer.k.shape();
  const Shape& first = data.layers.front().q.shape();
  if (q.rank() != 3 || k.rank() != 3)
    refuse("q and k must be (T,H,D) and (T,G,D); got q " + q.text() + ", k " + k.text());
  if (q != first || k != data.layers.front().k.shape() || layer.q.dtype() != layer.k.dtype()) {
    refuse("layers differ; got q " + q.text() + ", k " + k.text() + " after q " + first.text());
  }
  if (q[0] != data.tokens.size() || k[0] != q[0] || k[2] != q[2] || k[1] == 0 || q[1] % k[1] != 0) {
    refuse(fmt::format("{} tokens, q {}, k {} do not belong together", data.tokens.size(), q.text(), k.text()));
  }
  if (!data.slopes.empty() && data.slopes.size() != q[1]) refuse("a slope for each head is expected");
  if (!std::is_sorted(layer.heads.begin(), layer.heads.end()) ||
      std::adjacent_find(layer.heads.begin(), layer.heads.end()) != layer.heads.end() ||
      (!layer.heads.empty() && layer.heads.back() >= q[1])) {
    refuse("the heads to show must ascend and exist");
  }
}

std::size_t heads_shown(const PageLayer& layer) {
  return layer.heads.empty() ? layer.q.shape()[1] : layer.heads.size();
}

void check(const PageData& data) {
  if (data.layers.empty()) throw Error(ErrorKind::incompatible, "a page needs attention; the model has none");
  if (data.tokens.empty()) throw Error(ErrorKind::incompatible, "a page needs at least one token; got none");
  const Tensor& readings = data.readings;
  if (readings.defined() && (readings.shape().rank() != 2 || readings.dtype() != DType::f64 || !readings.contiguous() ||
                             readings.shape()[0] > data.tokens.size())) {
    refuse("readings must be (steps, channels) of doubles, a step for each token at most");
  }
  std::size_t numbers = 0;
  for (const PageLayer& layer : data.layers) {
    check_layer(data, layer);
    const std::size_t blocks = heads_shown(layer) + std::min(layer.k.shape()[1], heads_shown(layer));
    const std::size_t of_layer = blocks * layer.q.shape()[2];
    if (of_layer > kLargestPageNumbers / data.tokens.size() ||
        numbers + of_layer * data.tokens.size() > kLargestPageNumbers) {
      throw Error(ErrorKind::limit,
                  fmt::format("the page would hold more than {} numbers of queries and keys", kLargestPageNumbers),
                  {.hint = "choose fewer layers or heads, or a shorter text"});
    }
    numbers += of_layer * data.tokens.size();
  }
}

// Text for a script block: no `<` in it, so neither "</script" nor "<!--".
std::string script_text(const Json& json) {
  std::string text;
  for (const char c : text_of(json)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

Json json_of(const PageToken& token) {
  if (is_utf8(token.text)) return token.text;
  std::string bytes;
  for (const char c : token.text) bytes += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return Json::object().set("bytes", bytes);
}

// JSON has no word for what is no number.
Json json_of(const PageHeadFacts& facts) {
  Json json = Json::object();
  json.set("self", finite_or_null(facts.self));
  json.set("previous", finite_or_null(facts.previous));
  json.set("first", finite_or_null(facts.first));
  json.set("distance", finite_or_null(facts.distance));
  json.set("spread", finite_or_null(facts.spread));
  return json;
}

// By channel. Null for text.
Json readings_of(const Tensor& readings) {
  if (!readings.defined()) return {};
  const std::size_t channels = readings.shape()[1];
  Json all = Json::array();
  for (std::size_t c = 0; c < channels; ++c) {
    Json channel = Json::array();
    for (std::size_t step = 0; step < readings.shape()[0]; ++step) {
      channel.push(finite_or_null(readings.data<double>()[step * channels + c]));
    }
    all.push(std::move(channel));
  }
  return all;
}

// Runs of generated tokens, [begin, end).
Json generated_runs(const std::vector<PageToken>& tokens) {
  Json runs = Json::array();
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    while (end < tokens.size() && tokens[end].generated) ++end;
    if (end > begin) runs.push(Json::array().push(begin).push(end));
    begin = end + 1;
  }
  return runs;
}

class PageWriter {
 public:
  PageWriter(const PageData& data, const kernels::Executor& executor) : data_(data), executor_(executor) {}

  std::string write() {
    for (const PageLayer& layer : data_.layers) add_layer(layer);
    const std::string_view style = module("page.css");
    const std::string script = scripts();
    const std::string facts_text = script_text(facts());
    // One pass over the frame: what a token says is never taken for a place to fill.
    std::string page;
    page.reserve(blocks_.size() + facts_text.size() + (std::size_t{1} << 18U));
    std::string_view rest = module("page.html");
    const auto put = [&](std::string_view place, std::string_view text) {
      const std::size_t at = rest.find(place);
      if (at == std::string_view::npos) refuse("page.html has no " + std::string(place));
      page.append(rest.substr(0, at)).append(text);
      rest.remove_prefix(at + place.size());
    };
    put("{policy}", policy(script, style));
    put("{style}", style);
    put("{facts}", facts_text);
    put("{numbers}", blocks_);
    put("{script}", script);
    page.append(rest);
    return page;
  }

 private:
  static std::string_view module(std::string_view name) {
    for (const PageModule& part : page_modules()) {
      if (part.name == name) return part.text;
    }
    refuse("no module " + std::string(name));
  }
  // One script of all modules, in a block of its own: nothing of it is global.
  static std::string scripts() {
    std::string text = "\"use strict\";\n{\n";
    for (const PageModule& part : page_modules()) {
      if (part.name.ends_with(".js")) text += part.text;
    }
    return text + "}\n";
  }
  static std::string source_hash(std::string_view text) {
    const std::string hex = sha256_hex(text);
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2) {
      const auto digit = [&](std::size_t at) { return hex[at] <= '9' ? hex[at] - '0' : hex[at] - 'a' + 10; };
      bytes.push_back(static_cast<std::byte>(digit(i) * 16 + digit(i + 1)));
    }
    return "'sha256-" + base64(bytes) + "'";
  }
  // Nothing but this script and this style; images only from within (the icon).
  static std::string policy(std::string_view script, std::string_view style) {
    return "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src " + source_hash(script) +
           "; style-src " + source_hash(style);
  }
  void add_block(const std::string& id, std::span<const std::byte> bytes) {
    blocks_ += "<script type=\"text/plain\" id=\"" + id + "\">" + base64(bytes) + "</script>\n";
  }
  void add_layer(const PageLayer& layer) {
    const std::size_t tokens = data_.tokens.size();
    const std::size_t width = layer.q.shape()[2];
    const std::size_t per_group = layer.q.shape()[1] / layer.k.shape()[1];
    const PageLayerMaps maps = layer_maps(data_, layer, executor_);
    largest_difference_ = std::isnan(maps.largest_difference) ? maps.largest_difference
                                                              : std::max(largest_difference_, maps.largest_difference);
    const auto part = [](const std::vector<float>& values, std::size_t index, std::size_t size) {
      return std::span(values).subspan(index * size, size);
    };
    Json heads = Json::array();
    std::size_t groups_added = 0;  // one more than the last
    for (const PageHeadMap& map : maps.heads) {
      const std::string place = fmt::format("{}-{}", layer.number, map.head);
      const std::size_t group = map.head / per_group;
      add_block("q-" + place, packed_floats(part(maps.q, map.head, tokens * width)));
      add_block("m-" + place, packed_floats(part(maps.max, map.head, tokens)));
      add_block("z-" + place, packed_floats(part(maps.sum, map.head, tokens)));
      add_block("thumbnail-" + place, std::as_bytes(std::span(map.thumbnail)));
      if (group >= groups_added) {
        add_block(fmt::format("k-{}-{}", layer.number, group), packed_floats(part(maps.k, group, tokens * width)));
        groups_added = group + 1;
      }
      Json head = Json::object();
      head.set("number", map.head).set("group", group).set("facts", json_of(map.facts));
      if (!data_.slopes.empty()) head.set("slope", static_cast<double>(static_cast<float>(data_.slopes[map.head])));
      heads.push(std::move(head));
    }
    layers_.push(Json::object().set("number", layer.number).set("heads", std::move(heads)));
  }

  [[nodiscard]] Json facts() const {
    const Shape& q = data_.layers.front().q.shape();
    Json tokens = Json::array();
    for (const PageToken& token : data_.tokens) tokens.push(json_of(token));
    Json named = Json::array();
    for (const PageFact& fact : data_.facts) {
      named.push(Json::object().set("name", fact.name).set("value", fact.value));
    }
    Json mask = Json::object();
    mask.set("causal", data_.mask.direction == kernels::Direction::causal).set("window", data_.mask.window);
    Json json = Json::object();
    json.set("title", data_.title).set("facts", std::move(named));
    json.set("readings", readings_of(data_.readings));
    json.set("tokens", std::move(tokens)).set("generated", generated_runs(data_.tokens));
    json.set("mask", std::move(mask)).set("scale", static_cast<double>(static_cast<float>(data_.scale)));
    json.set("width", q[2]).set("heads", q[1]).set("groups", data_.layers.front().k.shape()[1]);
    json.set("layers", layers_);
    json.set("checkedRows", std::min(q[0], kCheckedRows));
    json.set("largestDifference", finite_or_null(largest_difference_));
    json.set("program", "dikkat " + std::string(version().number));
    return json;
  }

  const PageData& data_;
  const kernels::Executor& executor_;
  std::string blocks_;
  Json layers_ = Json::array();
  double largest_difference_ = 0;
};

}  // namespace

std::string html_page(const PageData& data, const kernels::Executor& executor) {
  check(data);
  return PageWriter(data, executor).write();
}

}  // namespace dikkat::inspect
