#include "pages.h"

#include <cmath>
#include <map>

#include "dikkat/models/testing.h"
#include "dikkat/nn/position/position.h"
#include "dikkat/nn/tap.h"
#include "dikkat/random/streams.h"

namespace dikkat::testing {
namespace {

constexpr std::size_t kWidth = 64;

class Recorder final : public nn::Tap {
 public:
  bool wants(std::string_view path) const override {
    return path.ends_with("attention.q") || path.ends_with("attention.k") || path.ends_with("attention.pattern");
  }
  void see(std::string_view path, Tensor& activation) override { kept[std::string(path)] = activation.clone(); }

  std::map<std::string, Tensor> kept;
};

// Features of a token, 32 numbers each: of what it is, and of where it stands (so that near positions are alike).
class Features {
 public:
  Features(const std::vector<inspect::PageToken>& tokens) {
    std::map<std::string, std::vector<double>> known;
    for (const inspect::PageToken& token : tokens) {
      std::vector<double>& letter = known[token.text];
      if (letter.empty()) letter = noise("letter " + token.text, 32);
      letters_.push_back(letter);
    }
  }

  [[nodiscard]] const std::vector<double>& letter(std::size_t t) const { return letters_[t]; }
  [[nodiscard]] static std::vector<double> place(double t) {
    std::vector<double> angles;
    for (std::size_t f = 0; f < 16; ++f) {
      const double rate = std::pow(0.62, static_cast<double>(f)) * 1.7;
      angles.push_back(std::cos(rate * t));
      angles.push_back(std::sin(rate * t));
    }
    return angles;
  }
  [[nodiscard]] static std::vector<double> noise(const std::string& name, std::size_t count) {
    const random::Stream stream = random::stream(5, "test features", name);
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = 3.4 * random::uniform(stream, {static_cast<std::uint32_t>(i), 0, 0, 0}) - 1.7;
    }
    return values;
  }

 private:
  std::vector<std::vector<double>> letters_;
};

// Writes q and k of one token of one head: `letter` of their features from what they are, the rest from where they
// stand.
void plant(const Features& features, std::size_t kind, std::size_t head, std::size_t t, float* q, float* k) {
  const std::size_t before = t == 0 ? 0 : t - 1;
  struct Kind {
    double letter, place, shift;  // strength of both, and how far back
    bool follows;                 // keys know the letter before them
    double first;                 // strength of the first token
  };
  static constexpr Kind kKinds[] = {{0, 1.5, 1, false, 0},    {0, 1.3, 0, false, 0},   {0.2, 0.2, 0, false, 6},
                                    {1.3, 0.25, 0, false, 3}, {1.5, 0.2, 0, true, 4},  {0.25, 0.65, 3, false, 1},
                                    {0.9, 0.5, 12, false, 1}, {0.15, 0.1, 0, false, 0}};
  const Kind& how = kKinds[kind % std::size(kKinds)];
  const std::vector<double> here = Features::place(static_cast<double>(t));
  const std::vector<double> there = Features::place(static_cast<double>(t) - how.shift);
  const std::vector<double> grain = Features::noise("grain " + std::to_string(head) + " " + std::to_string(t), 64);
  for (std::size_t d = 0; d < 32; ++d) {
    const double known = how.follows ? features.letter(before)[d] : features.letter(t)[d];
    q[d] = static_cast<float>(features.letter(t)[d] * how.letter * 1.6 + 0.12 * grain[d]);
    k[d] = static_cast<float>(known * how.letter * 1.6 + 0.12 * grain[d + 32]);
    q[d + 32] = static_cast<float>(there[d] * how.place * 2.2 + 0.12 * grain[d + 32]);
    k[d + 32] = static_cast<float>(here[d] * how.place * 2.2 + 0.12 * grain[d]);
  }
  q[0] = 2.0F;
  k[0] = t == 0 ? static_cast<float>(4 * how.first) : 0.0F;
}

}  // namespace

TappedPage tapped_page(const models::Config& config, std::size_t tokens, const kernels::Executor& executor) {
  const models::LanguageModel model(config, DType::f32, nn::ParameterStore::Gradients::none);
  models::testing::spread(model, executor, 2);
  const data::Batch batch = models::testing::batch_of(config, {tokens});
  Recorder recorder;
  Context context = models::testing::context_of(executor, batch, Mode::evaluation);
  context.tap = &recorder;
  (void)model.forward(context, batch.inputs);

  TappedPage page;
  page.data.title = "random weights";
  for (const text::Token token : batch.inputs) {
    page.data.tokens.push_back({.text = std::string(1, static_cast<char>('A' + token % 26))});
  }
  for (std::size_t l = 0; l < config.layers; ++l) {
    const std::string path = "blocks." + std::to_string(l) + ".attention.";
    page.data.layers.push_back(
        {.number = l, .q = recorder.kept[path + "q"], .k = recorder.kept[path + "k"], .heads = {}});
    page.patterns.push_back(recorder.kept[path + "pattern"]);
  }
  page.data.mask = {config.direction, config.window};
  page.data.scale = 1 / std::sqrt(static_cast<double>(config.head_width_or_default()));
  if (config.position == models::PositionKind::alibi) {
    const auto position = nn::alibi_position({.heads = config.heads});
    const auto slopes = position->slopes();
    page.data.slopes.assign(slopes.begin(), slopes.end());
  }
  return page;
}

inspect::PageData planted_page(const std::vector<std::string>& text, std::size_t tokens, std::size_t layers,
                               std::size_t heads) {
  inspect::PageData data;
  data.title = "proverbs";
  for (std::size_t t = 0; t < tokens; ++t) {
    data.tokens.push_back({.text = text[t % text.size()], .generated = t >= tokens - tokens / 8});
  }
  const Features features(data.tokens);
  for (std::size_t l = 0; l < layers; ++l) {
    inspect::PageLayer layer{.number = l,
                             .q = Tensor::empty({tokens, heads, kWidth}, DType::f32),
                             .k = Tensor::empty({tokens, heads, kWidth}, DType::f32),
                             .heads = {}};
    for (std::size_t t = 0; t < tokens; ++t) {
      for (std::size_t h = 0; h < heads; ++h) {
        const std::size_t at = (t * heads + h) * kWidth;
        plant(features, (l * 3 + h), l * heads + h, t, layer.q.data<float>() + at, layer.k.data<float>() + at);
      }
    }
    data.layers.push_back(std::move(layer));
  }
  data.scale = 0.125;
  data.facts = {{"run", "runs/proverbs"},
                {"weights", "sha256 3f1c 9a07 52be 6d10"},
                {"text", "atasozleri.txt, bytes 0 to " + std::to_string(tokens)},
                {"positions", "rotary"}};
  return data;
}

std::vector<std::string> letters_of(const std::string& text) {
  std::vector<std::string> letters;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80U && !letters.empty()) {
      letters.back() += c;
    } else {
      letters.emplace_back(1, c);
    }
  }
  return letters;
}

}  // namespace dikkat::testing
