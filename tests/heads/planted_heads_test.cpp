// Heads whose weights are set by hand, among 144 in a model that learned nothing, are found and called what they are;
// no other is.
//
// The stream has a place for each token (12), one for each position (16) and one for each previous token (12). The
// embeddings are of one hot place each, as long together as an untrained model's; then
//   layer 2, head 3   asks with its position for the one before, and writes that token's name into the third part:
//                     a previous-token head
//   layer 6, head 7   asks with its token for who has it as previous token: an induction head
// (Elhage et al. 2021, "A mathematical framework for transformer circuits", composition of two heads).
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "dikkat/inspect/head_report.h"

namespace dikkat::inspect {
namespace {

constexpr std::size_t kTokens = 12;
constexpr std::size_t kPositions = 16;
constexpr std::size_t kToken = 0;
constexpr std::size_t kPosition = kToken + kTokens;
constexpr std::size_t kPrevious = kPosition + kPositions;
constexpr std::size_t kWidth = kPrevious + kTokens;
constexpr std::size_t kHeads = 12;
constexpr std::size_t kHeadWidth = kPositions;  // room for a position, and for a token
constexpr double kHot = 0.126;                  // 0.02 sqrt(kWidth): an untrained embedding's length

const models::Config kConfig{.vocabulary = kTokens,
                             .context = kPositions,
                             .width = kWidth,
                             .layers = 12,
                             .heads = kHeads,
                             .head_width = kHeadWidth,
                             .mlp_width = 16};

class Planting {
 public:
  explicit Planting(const models::LanguageModel& model) : model_(model) {
    matrix("token_embedding.weight").fill(0);
    matrix("position_embedding.weight").fill(0);
    for (std::size_t t = 0; t < kTokens; ++t) set("token_embedding.weight", t, kToken + t, kHot);
    for (std::size_t i = 0; i < kPositions; ++i) set("position_embedding.weight", i, kPosition + i, kHot);
  }

  // Query i has hot place i, key j the place j + 1.
  void previous_token_head(std::size_t layer, std::size_t head) {
    clear(layer, head);
    for (std::size_t i = 0; i < kPositions; ++i) set(qkv(layer), kPosition + i, column(0, head, i), kSharp);
    for (std::size_t j = 0; j + 1 < kPositions; ++j) set(qkv(layer), kPosition + j, column(1, head, j + 1), kSharp);
    for (std::size_t t = 0; t < kTokens; ++t) {
      set(qkv(layer), kToken + t, column(2, head, t), 1);
      set(block(layer) + "output.weight", head * kHeadWidth + t, kPrevious + t, 0.03);
    }
  }

  // Query: its token; key: the token before it; value: its token.
  void induction_head(std::size_t layer, std::size_t head) {
    clear(layer, head);
    for (std::size_t t = 0; t < kTokens; ++t) {
      set(qkv(layer), kToken + t, column(0, head, t), kSharp);
      set(qkv(layer), kPrevious + t, column(1, head, t), kSharp);
      set(qkv(layer), kToken + t, column(2, head, t), 1);
      set(block(layer) + "output.weight", head * kHeadWidth + t, kToken + t, 0.01);
    }
  }

 private:
  static constexpr double kSharp = 2;

  static std::string block(std::size_t layer) { return "blocks." + std::to_string(layer) + ".attention."; }
  static std::string qkv(std::size_t layer) { return block(layer) + "qkv.weight"; }
  // part 0: queries, 1: keys, 2: values.
  static std::size_t column(std::size_t part, std::size_t head, std::size_t d) {
    return (part * kHeads + head) * kHeadWidth + d;
  }
  [[nodiscard]] const Tensor& matrix(const std::string& path) const { return model_.parameters().find(path)->value(); }
  void set(const std::string& path, std::size_t row, std::size_t column, double value) {
    matrix(path).data<float>()[row * matrix(path).shape()[1] + column] = static_cast<float>(value);
  }
  void clear(std::size_t layer, std::size_t head) {
    for (std::size_t d = 0; d < kHeadWidth; ++d) {
      for (std::size_t c = 0; c < kWidth; ++c) {
        for (std::size_t part = 0; part < 3; ++part) set(qkv(layer), c, column(part, head, d), 0);
        set(block(layer) + "output.weight", head * kHeadWidth + d, c, 0);
      }
    }
  }

  const models::LanguageModel& model_;
};

std::vector<text::Token> random_text(std::size_t count) {
  std::vector<text::Token> tokens;
  const random::Stream stream = random::stream(3, "test text");
  for (std::uint32_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<text::Token>(random::below(stream, {i, 0, 0, 0}, kTokens)));
  }
  return tokens;
}

TEST(PlantedHeads, AreFoundWithTheirNamesAndNoOtherIs) {
  Pool pool(2);
  const models::LanguageModel model(kConfig, DType::f32, nn::ParameterStore::Gradients::none);
  model.initialise({pool}, 2026);
  Planting planting(model);
  planting.previous_token_head(2, 3);
  planting.induction_head(6, 7);

  // A sanitizer makes each draw ten times slower; 199 are the least that can find anything.
  const std::size_t draws = std::getenv("DIKKAT_RANDOM_CASES") != nullptr ? 199 : kNullDraws;
  const HeadsReport report = look_at_heads(
      model, random_text(4000),
      {.windows = {.count = 50, .seed = 1}, .null_windows = 5, .null = {.draws = draws, .seed = 1}}, {pool});
  ASSERT_EQ(report.heads.size(), 144U);
  EXPECT_EQ(report.scores, kHeadScores);
  for (const HeadReport& head : report.heads) {
    const std::pair place(head.layer, head.head);
    if (place == std::pair<std::size_t, std::size_t>(2, 3)) {
      EXPECT_THAT(head.names, ::testing::ElementsAre("previous-token head"));
      EXPECT_GT(head.of(HeadScore::previous)->value, 0.9);
    } else if (place == std::pair<std::size_t, std::size_t>(6, 7)) {
      EXPECT_THAT(head.names, ::testing::ElementsAre("induction head"));
      EXPECT_GT(head.of(HeadScore::induction)->value, 0.9);
    } else {
      EXPECT_FALSE(head.does_something()) << "layer " << head.layer << " head " << head.head;
    }
    for (const ScoreReport& score : head.scores) {
      if (score.finding != Finding::found) continue;
      std::cout << head.layer << '.' << head.head << ' ' << text_of(score.score) << ' ' << score.value << " against "
                << score.test.null_mean << " z " << score.test.z << " p " << score.test.adjusted_p << '\n';
    }
  }
}

}  // namespace
}  // namespace dikkat::inspect
