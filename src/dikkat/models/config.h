// What a model is made of: every choice of the menu, its names, and which combinations are legal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/base/fields.h"
#include "dikkat/kernels/mask.h"
#include "dikkat/nn/block.h"
#include "dikkat/nn/pooling.h"

namespace dikkat::models {

// What comes in and what comes out. next_token: tokens in, the logits of each next token out (LanguageModel). classify,
// regress: a series of numbers in, logits of its class or one number out (SeriesModel).
enum class Task : std::uint8_t { next_token, classify, regress };
// How a series enters the residual stream. embedded: one linear map of its channels to the width. raw: the channels are
// the stream (width = channels).
enum class InputKind : std::uint8_t { embedded, raw };
enum class NormKind : std::uint8_t { layer, rms, none };
enum class OutputKind : std::uint8_t { tied, free };
// gpt2: normal 0.02, residual projections 0.02 / sqrt(2 L). book: the document's table of deviations (KucukGPT).
enum class InitKind : std::uint8_t { gpt2, book };
using kernels::Activation;
using kernels::Direction;
using nn::Placement;
using nn::PoolingKind;
using nn::PositionKind;
using nn::Residuals;

struct Config {
  Task task = Task::next_token;
  std::size_t vocabulary = 0;  // V; set from the tokenizer; 0 for series
  std::size_t channels = 0;    // of a series; set from the data; 0 for text
  std::size_t outputs =
      0;  // of a series: logits of K > 2 classes, one for two classes or for regress; set from the data
  std::size_t context = 64;    // T
  std::size_t width = 128;     // C
  std::size_t layers = 4;      // L
  std::size_t heads = 4;       // H
  std::size_t kv_heads = 0;    // G; 0: as many as heads
  std::size_t head_width = 0;  // D; 0: width / heads
  std::size_t mlp_width = 0;   // F; 0: 4 * width
  NormKind norm = NormKind::layer;
  double norm_epsilon = 1e-5;
  Placement placement = Placement::pre;
  Activation activation = Activation::gelu;
  PositionKind position = PositionKind::learned;
  double rotary_base = 10000.0;
  Direction direction = Direction::causal;
  std::size_t window = 0;                   // 0: no sliding window
  InputKind input = InputKind::embedded;    // series only
  PoolingKind pooling = PoolingKind::mean;  // series only
  OutputKind output = OutputKind::tied;     // text only
  bool norm_bias = false;
  bool attention_bias = false;
  bool mlp_bias = false;
  bool output_bias = false;
  Residuals residuals = Residuals::on;
  double dropout = 0.0;            // after the embedding sum, after attention, after the MLP
  double attention_dropout = 0.0;  // on attention weights
  InitKind init = InitKind::gpt2;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("task", self.task, "what is learned: the next token of a text, or a series' class or number");
    visit("vocabulary", self.vocabulary, "number of distinct tokens, V (set from the text)");
    visit("channels", self.channels, "numbers a step of a series (set from the data)");
    visit("outputs", self.outputs, "numbers that come out for a series (set from the data)");
    visit("context", self.context, "longest sequence the model sees, T, in tokens");
    visit("width", self.width, "width of the residual stream, C");
    visit("layers", self.layers, "number of blocks, L");
    visit("heads", self.heads, "attention heads, H");
    visit("kv-heads", self.kv_heads, "key/value heads, G, a divisor of heads (0: as many as heads)");
    visit("head-width", self.head_width, "width of one head, D (0: width / heads)");
    visit("mlp-width", self.mlp_width, "inner width of the MLP, F (0: 4 * width)");
    visit("norm", self.norm, "normalisation");
    visit("norm-epsilon", self.norm_epsilon, "added to the variance before the root");
    visit("placement", self.placement, "norm before (pre) or after (post) each sublayer");
    visit("activation", self.activation, "non-linearity of the MLP");
    visit("position", self.position, "how positions enter");
    visit("rotary-base", self.rotary_base, "base of the rotary angles");
    visit("direction", self.direction, "which way attention looks");
    visit("window", self.window, "sliding window, in tokens (0: none)");
    visit("input", self.input,
          "how a series enters: mapped to the width, or its channels as they are (the width is then theirs)");
    visit("pooling", self.pooling, "how a series' steps become one vector");
    visit("output", self.output, "output layer tied to the token embedding, or free");
    visit("norm-bias", self.norm_bias, "bias in the norms");
    visit("attention-bias", self.attention_bias, "biases in attention's projections");
    visit("mlp-bias", self.mlp_bias, "biases in the MLP");
    visit("output-bias", self.output_bias, "bias in the output layer");
    visit("residuals", self.residuals, "residual connections");
    visit("dropout", self.dropout, "dropout after embedding, attention and MLP");
    visit("attention-dropout", self.attention_dropout, "dropout on attention weights");
    visit("init", self.init, "deviations of the initial weights");
  }

  [[nodiscard]] std::size_t kv_heads_or_default() const { return kv_heads == 0 ? heads : kv_heads; }
  [[nodiscard]] std::size_t head_width_or_default() const { return head_width == 0 ? width / heads : head_width; }
  [[nodiscard]] std::size_t mlp_width_or_default() const { return mlp_width == 0 ? 4 * width : mlp_width; }

  // Rows of the longest sample: of a series with a class token, one more than its steps.
  [[nodiscard]] std::size_t longest_sample() const {
    return context + (task != Task::next_token && pooling == PoolingKind::class_token ? 1 : 0);
  }

  friend bool operator==(const Config&, const Config&) = default;
};

// Throws Error{usage} for the first rule broken, naming the field and the nearest legal values: sizes >= 1, heads
// divide width (unless head_width is given), kv_heads divide heads, rotary needs an even head width, tied output needs
// no own shape, rates in [0, 1), epsilon > 0, sizes small enough that products fit.
void check(const Config& config);

// Parameters by closed form (a hand count; tests hold it against the built model).
[[nodiscard]] std::size_t parameter_count(const Config& config);

}  // namespace dikkat::models

namespace dikkat {

template <>
struct EnumNames<models::Task> {
  static constexpr std::array<std::pair<models::Task, std::string_view>, 3> names{
      {{models::Task::next_token, "next-token"},
       {models::Task::classify, "classify"},
       {models::Task::regress, "regress"}}};
};
template <>
struct EnumNames<models::InputKind> {
  static constexpr std::array<std::pair<models::InputKind, std::string_view>, 2> names{
      {{models::InputKind::embedded, "embedded"}, {models::InputKind::raw, "raw"}}};
};
template <>
struct EnumNames<models::NormKind> {
  static constexpr std::array<std::pair<models::NormKind, std::string_view>, 3> names{
      {{models::NormKind::layer, "layer"}, {models::NormKind::rms, "rms"}, {models::NormKind::none, "none"}}};
};
template <>
struct EnumNames<models::Placement> {
  static constexpr std::array<std::pair<models::Placement, std::string_view>, 2> names{
      {{models::Placement::pre, "pre"}, {models::Placement::post, "post"}}};
};
template <>
struct EnumNames<models::OutputKind> {
  static constexpr std::array<std::pair<models::OutputKind, std::string_view>, 2> names{
      {{models::OutputKind::tied, "tied"}, {models::OutputKind::free, "free"}}};
};
template <>
struct EnumNames<models::Residuals> {
  static constexpr std::array<std::pair<models::Residuals, std::string_view>, 2> names{
      {{models::Residuals::on, "on"}, {models::Residuals::off, "off"}}};
};
template <>
struct EnumNames<models::InitKind> {
  static constexpr std::array<std::pair<models::InitKind, std::string_view>, 2> names{
      {{models::InitKind::gpt2, "gpt2"}, {models::InitKind::book, "book"}}};
};
template <>
struct EnumNames<kernels::Direction> {
  static constexpr std::array<std::pair<kernels::Direction, std::string_view>, 2> names{
      {{kernels::Direction::causal, "causal"}, {kernels::Direction::bidirectional, "bidirectional"}}};
};

}  // namespace dikkat
