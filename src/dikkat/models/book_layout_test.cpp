#include "dikkat/models/book_layout.h"

#include <cmath>

#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"

namespace dikkat::models {
namespace {

using Gradients = nn::ParameterStore::Gradients;

Config kucuk() {
  return {.vocabulary = 30,
          .context = 16,
          .width = 32,
          .layers = 2,
          .heads = 4,
          .activation = Activation::relu,
          .output = OutputKind::free,
          .norm_bias = true,
          .mlp_bias = true,
          .output_bias = true,
          .init = InitKind::book};
}

std::vector<std::string> names_of(const std::vector<BookTensor>& tensors) {
  std::vector<std::string> names;
  for (const BookTensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

// GPT.Parametreler: embeddings, every head's Wq, Wk, Wv, Wo, then the lists of the layers, then the end.
TEST(BookLayout, KucukHasTheBooks54TensorsInItsOrder) {
  const LanguageModel model(kucuk(), DType::f64, Gradients::kept);
  const std::vector<std::string> expected = {
      "gomme", "konum",                                                           //
      "wq[0]", "wq[1]", "wq[2]",  "wq[3]",  "wq[4]", "wq[5]", "wq[6]",  "wq[7]",  //
      "wk[0]", "wk[1]", "wk[2]",  "wk[3]",  "wk[4]", "wk[5]", "wk[6]",  "wk[7]",  //
      "wv[0]", "wv[1]", "wv[2]",  "wv[3]",  "wv[4]", "wv[5]", "wv[6]",  "wv[7]",  //
      "wo[0]", "wo[1]", "wo[2]",  "wo[3]",  "wo[4]", "wo[5]", "wo[6]",  "wo[7]",  //
      "g1[0]", "g1[1]", "b1[0]",  "b1[1]",  "g2[0]", "g2[1]", "b2[0]",  "b2[1]",  //
      "i1[0]", "i1[1]", "ib1[0]", "ib1[1]", "i2[0]", "i2[1]", "ib2[0]", "ib2[1]", "song", "sonb", "wc", "bc"};
  const auto tensors = book_layout(model);
  EXPECT_EQ(tensors.size(), 54U);
  EXPECT_EQ(names_of(tensors), expected);
  EXPECT_EQ(names_of(book_gradients(model)), expected);
  std::size_t total = 0;
  for (const BookTensor& tensor : tensors) total += tensor.value.count();
  EXPECT_EQ(total, 27678U);
}

TEST(BookLayout, ConstructionOrderIsTheConstructors) {
  const LanguageModel model(kucuk(), DType::f64, Gradients::none);
  std::vector<std::string> expected = {"gomme", "konum"};
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < 4; ++head) {
      for (const char* list : {"wq", "wk", "wv", "wo"}) {
        expected.push_back(list + ("[" + std::to_string(4 * layer + head) + "]"));
      }
    }
    for (const char* list : {"g1", "b1", "g2", "b2", "i1", "ib1", "i2", "ib2"}) {
      expected.push_back(list + ("[" + std::to_string(layer) + "]"));
    }
  }
  for (const char* last : {"song", "sonb", "wc", "bc"}) expected.emplace_back(last);
  EXPECT_EQ(names_of(book_layout(model, BookOrder::construction)), expected);
}

// Head 1 of layer 1's Wk is columns 8..15 of the keys, which stand after the 32 columns of queries.
TEST(BookLayout, TensorsAreViewsIntoTheJointOnes) {
  const LanguageModel model(kucuk(), DType::f64, Gradients::none);
  const auto tensors = book_layout(model);
  const BookTensor& wk5 = tensors[2 + 8 + 5];
  ASSERT_EQ(wk5.name, "wk[5]");
  EXPECT_EQ(wk5.value.shape().text(), "(32,8)");
  wk5.value.fill(7.0);
  const Tensor joint = model.parameters().find("blocks.1.attention.qkv.weight")->value();
  for (std::size_t row = 0; row < 32; ++row) {
    for (std::size_t column = 0; column < 96; ++column) {
      const bool inside = column >= 32 + 8 && column < 32 + 16;
      EXPECT_EQ(joint.data<double>()[row * 96 + column], inside ? 7.0 : 0.0);
    }
  }
  EXPECT_EQ(tensors[2 + 24 + 5].name, "wo[5]");
  EXPECT_EQ(tensors[2 + 24 + 5].value.shape().text(), "(8,32)");
}

TEST(BookLayout, WhatAModelLacksIsLeftOutAndBiasesFollow) {
  Config config = kucuk();
  config.position = PositionKind::rotary;
  config.kv_heads = 2;
  config.attention_bias = true;
  config.output = OutputKind::tied;
  config.output_bias = false;
  config.layers = 1;
  const std::vector<std::string> expected = {"gomme", "wq[0]", "bq[0]", "wq[1]",  "bq[1]", "wq[2]",  "bq[2]", "wq[3]",
                                             "bq[3]", "wk[0]", "bk[0]", "wk[1]",  "bk[1]", "wv[0]",  "bv[0]", "wv[1]",
                                             "bv[1]", "wo[0]", "wo[1]", "wo[2]",  "wo[3]", "bo[0]",  "g1[0]", "b1[0]",
                                             "g2[0]", "b2[0]", "i1[0]", "ib1[0]", "i2[0]", "ib2[0]", "song",  "sonb"};
  EXPECT_EQ(names_of(book_layout(LanguageModel(config, DType::f32, Gradients::none))), expected);
}

// The deviations of the book's constructor (C = 32, L = 2): embedding 0.5, position 0.1, Wq, Wk, Wv, I1 1/sqrt(C),
// Wo 1/sqrt(C)/sqrt(2L), I2 0.5/sqrt(4C * 2L), output 0.1; gains one, biases zero.
double deviation_of(const std::string& name) {
  const std::string list = name.substr(0, name.find('['));
  if (list == "gomme") return 0.5;
  if (list == "konum" || list == "wc") return 0.1;
  if (list == "wq" || list == "wk" || list == "wv" || list == "i1") return 0.17677669529663687;
  if (list == "wo") return 0.08838834764831843;
  if (list == "i2") return 0.022097086912079608;
  return 0;
}

TEST(BookInitialisation, DeviationsOfEveryTensorAreTheBooksOver100Seeds) {
  const LanguageModel model(kucuk(), DType::f32, Gradients::none);
  Pool pool(1);
  const auto tensors = book_layout(model);
  std::vector<double> sum(tensors.size(), 0);
  std::vector<double> squares(tensors.size(), 0);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    model.initialise({pool}, seed);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor flat = tensors[i].value.clone();
      for (const float value : flat.span<float>()) {
        sum[i] += static_cast<double>(value);
        squares[i] += static_cast<double>(value) * static_cast<double>(value);
      }
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const double n = 100 * static_cast<double>(tensors[i].value.count());
    const double expected = deviation_of(tensors[i].name);
    EXPECT_DOUBLE_EQ(tensors[i].scale, expected) << tensors[i].name;
    if (expected == 0) {
      const bool gain = tensors[i].name[0] == 'g' || tensors[i].name == "song";
      EXPECT_EQ(sum[i], gain ? n : 0.0) << tensors[i].name;
      EXPECT_EQ(squares[i], gain ? n : 0.0) << tensors[i].name;
    } else {
      const double seen = std::sqrt(squares[i] / n);
      EXPECT_NEAR(seen, expected, 4 * expected / std::sqrt(2 * n)) << tensors[i].name;
      EXPECT_NEAR(sum[i] / n, 0, 4 * expected / std::sqrt(n)) << tensors[i].name;
    }
  }
}

double correlation(const Tensor& a, const Tensor& b) {
  const std::size_t n = std::min(a.count(), b.count());
  double both = 0;
  double first = 0;
  double second = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = a.data<double>()[i];
    const double y = b.data<double>()[i];
    both += x * y;
    first += x * x;
    second += y * y;
  }
  return both / std::sqrt(first * second) * std::sqrt(static_cast<double>(n));  // in standard errors
}

TEST(BookInitialisation, EverySeedAndPathIsADrawOfItsOwn) {
  const LanguageModel model(kucuk(), DType::f64, Gradients::none);
  Pool pool(1);
  std::vector<std::pair<std::string, Tensor>> drawn;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    model.initialise({pool}, seed);
    for (const nn::Parameter* parameter : model.parameters().in_path_order()) {
      if (parameter->init().kind != nn::Init::Kind::normal) continue;
      drawn.emplace_back(parameter->path() + " of seed " + std::to_string(seed), parameter->value().clone());
    }
  }
  ASSERT_EQ(drawn.size(), 3U * 11U);
  for (std::size_t a = 0; a < drawn.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {  // 528 pairs: 5 standard errors come by chance once in 3,000 such tests
      EXPECT_LT(std::abs(correlation(drawn[a].second, drawn[b].second)), 5) << drawn[a].first << ", " << drawn[b].first;
    }
  }
}

// A parameter's values hang on (seed, path, index) alone: not on the other parameters, threads, bodies, or what was
// drawn before; float is double rounded.
TEST(BookInitialisation, IsAFunctionOfSeedPathAndIndex) {
  Pool one(1);
  Pool three(3);
  const LanguageModel model(kucuk(), DType::f64, Gradients::none);
  model.initialise({one}, 5);
  Config deeper = kucuk();
  deeper.output = OutputKind::tied;
  deeper.position = PositionKind::alibi;
  const LanguageModel other(deeper, DType::f32, Gradients::none);
  other.initialise({three, kernels::Bodies::reference}, 9);
  other.initialise({three, kernels::Bodies::reference}, 5);
  for (const nn::Parameter* parameter : other.parameters().in_path_order()) {
    const Tensor rounded = Tensor::empty(parameter->shape(), DType::f32);
    rounded.assign(model.parameters().find(parameter->path())->value());
    EXPECT_TRUE(testing::same_bits(parameter->value(), rounded)) << parameter->path();
  }
}

}  // namespace
}  // namespace dikkat::models
