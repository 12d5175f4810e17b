#include "dikkat/cli/attend_model.h"

#include <gtest/gtest.h>

#include "dikkat/base/testing.h"
#include "dikkat/inspect/capture.h"
#include "dikkat/inspect/passes.h"

namespace dikkat::cli {
namespace {

models::Config small_config() {
  models::Config config;
  config.vocabulary = 11;
  config.context = 12;
  config.width = 12;
  config.layers = 2;
  config.heads = 3;
  return config;
}

class AttendModel : public ::testing::Test {
 protected:
  AttendModel() { model_.initialise(executor_, 3); }

  Tensor pattern(const std::string& path) {
    inspect::Capture capture({path});
    inspect::Passes passes(model_, executor_);
    (void)passes.logits(tokens_, &capture);
    return capture.kept().at(0).value;
  }

  Pool pool_{1};
  kernels::Executor executor_{.pool = pool_};
  models::LanguageModel model_{small_config(), DType::f32, nn::ParameterStore::Gradients::none};
  const std::vector<text::Token> tokens_ = {1, 5, 2, 2, 10, 0};
};

TEST_F(AttendModel, OneHeadIsThePassesOwnPattern) {
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const Tensor expected = pattern("blocks." + std::to_string(layer) + ".attention.pattern");
    const float* weights = expected.data<float>();
    for (std::size_t head = 0; head < 3; ++head) {
      const lessons::Matrix seen = attention_of(model_, executor_, tokens_, {.layer = layer, .head = head});
      for (std::size_t r = 0; r < 6; ++r) {
        for (std::size_t c = 0; c < 6; ++c) {
          ASSERT_EQ(seen(r, c), static_cast<double>(weights[(r * 3 + head) * 6 + c]))
              << layer << " " << head << " " << r << " " << c;
        }
      }
    }
  }
}

TEST_F(AttendModel, WithoutAHeadItIsTheMeanOverThem) {
  const lessons::Matrix mean = attention_of(model_, executor_, tokens_, {.layer = 1});
  std::vector<lessons::Matrix> heads;
  for (std::size_t head = 0; head < 3; ++head) {
    heads.push_back(attention_of(model_, executor_, tokens_, {.layer = 1, .head = head}));
  }
  EXPECT_LT(lessons::distance(mean, lessons::mean_of(heads)).largest, 1e-15);
  EXPECT_GT(lessons::distance(mean, heads[0]).largest, 1e-4);
}

TEST_F(AttendModel, LayersAndHeadsThatAreNotThereAreRefusedWithTheNearest) {
  const Error layer = testing::error_of([] { check(HeadWish{.layer = 2}, small_config()); });
  EXPECT_EQ(layer.kind(), ErrorKind::usage);
  EXPECT_EQ(layer.place().hint, "did you mean --layer 1?");
  const Error head = testing::error_of([] { check(HeadWish{.layer = 1, .head = 7}, small_config()); });
  EXPECT_EQ(head.place().hint, "did you mean --head 2?");
  EXPECT_NO_THROW(check(HeadWish{.layer = 1, .head = 2}, small_config()));
}

class AttendTokens : public ::testing::Test {
 protected:
  std::vector<text::Token> tokens(std::string_view text, text::UnknownPolicy unknown = text::UnknownPolicy::refuse) {
    return tokens_for(*tokenizer_, small_config(), text, unknown, skipped_);
  }
  ErrorKind refusal(std::string_view text) {
    return testing::error_of([&] { (void)tokens(text, text::UnknownPolicy::skip); }).kind();
  }

  const std::unique_ptr<text::Tokenizer> tokenizer_ = text::character_tokenizer("abc \n");
  std::size_t skipped_ = 0;
};

TEST_F(AttendTokens, AreTheTextsCharacters) {
  EXPECT_EQ(tokens("a b\r\nc").size(), 5U);
  EXPECT_EQ(tokenizer_->decode(tokens("a b\r\nc")), "a b\nc");
}

TEST_F(AttendTokens, CharactersNeverSeenAreRefusedOrCounted) {
  EXPECT_EQ(testing::error_of([&] { (void)tokens("axb"); }).kind(), ErrorKind::incompatible);
  EXPECT_EQ(tokens("axby", text::UnknownPolicy::skip).size(), 2U);
  EXPECT_EQ(skipped_, 2U);
}

TEST_F(AttendTokens, NoneAndTooManyAreRefused) {
  EXPECT_EQ(refusal(""), ErrorKind::usage);
  EXPECT_EQ(refusal("xyz"), ErrorKind::usage);
  EXPECT_EQ(refusal(std::string(13, 'a')), ErrorKind::incompatible);
  EXPECT_EQ(refusal(std::string(100'000, 'a')), ErrorKind::limit);
  EXPECT_EQ(refusal("a\xE7"), ErrorKind::malformed);
}

}  // namespace
}  // namespace dikkat::cli
