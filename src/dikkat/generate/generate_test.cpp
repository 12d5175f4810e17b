// generate() of session.h: the decode loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "dikkat/base/testing.h"
#include "dikkat/generate/session.h"
#include "dikkat/text/utf8.h"

namespace dikkat::generate {
namespace {

using ::dikkat::testing::error_of;
using models::Config;
using models::LanguageModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Strings = std::vector<std::string>;

constexpr std::size_t kContext = 16;

// A model whose likeliest next token is a function of the last one: blocks that add nothing, one channel a token.
LanguageModel chain_model(std::size_t vocabulary, const std::vector<text::Token>& next) {
  LanguageModel model({.vocabulary = vocabulary,
                       .context = kContext,
                       .width = vocabulary,
                       .layers = 1,
                       .heads = 1,
                       .mlp_width = 1,
                       .norm = models::NormKind::none,
                       .position = models::PositionKind::none,
                       .output = models::OutputKind::free},
                      DType::f32, nn::ParameterStore::Gradients::none);
  float* const embedding = model.parameters().find("token_embedding.weight")->value().data<float>();
  float* const output = model.parameters().find("output.weight")->value().data<float>();
  for (std::size_t token = 0; token < vocabulary; ++token) {
    embedding[token * vocabulary + token] = 1;
    output[token * vocabulary + next[token]] = 50;
  }
  return model;
}

// Bytes that follow each other as in `script` (all different), round and round.
LanguageModel byte_chain(const std::string& script) {
  std::vector<text::Token> next(256, 0);
  for (std::size_t i = 0; i < script.size(); ++i) {
    next[static_cast<unsigned char>(script[i])] = static_cast<unsigned char>(script[(i + 1) % script.size()]);
  }
  return chain_model(256, next);
}

class GenerateTest : public ::testing::Test {
 protected:
  // Collects the pieces; stops early after `allowed` of them.
  [[nodiscard]] Completion run(const LanguageModel& model, const Request& request, std::size_t allowed = 1'000'000) {
    pieces_.clear();
    return generate(model, *tokenizer_, executor_, request, [&](std::string_view piece) {
      pieces_.emplace_back(piece);
      return pieces_.size() < allowed;
    });
  }
  [[nodiscard]] std::string joined() const {
    std::string all;
    for (const std::string& piece : pieces_) all += piece;
    return all;
  }
  [[nodiscard]] LanguageModel random_bytes() const {
    LanguageModel model({.vocabulary = 256,
                         .context = kContext,
                         .width = 16,
                         .layers = 2,
                         .heads = 2,
                         .mlp_width = 16,
                         .init = models::InitKind::book},
                        DType::f32, nn::ParameterStore::Gradients::none);
    model.initialise(executor_, 1);
    return model;
  }

  static constexpr Sampling kGreedy{.temperature = 0};
  Pool pool_{1};
  kernels::Executor executor_{.pool = pool_};
  std::unique_ptr<text::Tokenizer> tokenizer_ = text::byte_tokenizer();
  Strings pieces_;
};

TEST_F(GenerateTest, StreamsWholeCharacters) {
  const LanguageModel model = byte_chain("a\xC3\xA7z\xE2\x82\xACq");  // açz€q
  const Completion completion = run(model, {.prompt = "a", .tokens = 8, .sampling = kGreedy});
  EXPECT_THAT(pieces_, ElementsAre("\xC3\xA7", "z", "\xE2\x82\xAC", "q", "a"));
  EXPECT_EQ(completion.text, joined());
  EXPECT_THAT(completion.tokens, ElementsAre(0xC3, 0xA7, 'z', 0xE2, 0x82, 0xAC, 'q', 'a'));
  EXPECT_EQ(completion.finish, FinishReason::length);
}

TEST_F(GenerateTest, AnUnfinishedCharacterIsGivenAtTheEnd) {
  const LanguageModel model = byte_chain("a\xE2\x82\xAC");
  const Completion completion = run(model, {.prompt = "a", .tokens = 2, .sampling = kGreedy});
  EXPECT_THAT(pieces_, ElementsAre("\xE2\x82"));
  EXPECT_EQ(completion.text, "\xE2\x82");
}

TEST_F(GenerateTest, EndsBeforeAStopThatSpansTokens) {
  const LanguageModel model = byte_chain("abcENDx");
  const Completion completion =
      run(model, {.prompt = "a", .tokens = 100, .sampling = kGreedy, .stops = {"bEN", "END", "xyz"}});
  EXPECT_THAT(pieces_, ElementsAre("bc"));  // b alone could begin bEN: held until c comes
  EXPECT_EQ(completion.text, "bc");
  EXPECT_EQ(completion.finish, FinishReason::stop);
  EXPECT_THAT(completion.tokens, ElementsAre('b', 'c', 'E', 'N', 'D'));
}

TEST_F(GenerateTest, AStopBegunButNotFinishedIsGivenAtTheEnd) {
  const LanguageModel model = byte_chain("abcENDx");
  const Completion completion = run(model, {.prompt = "c", .tokens = 2, .sampling = kGreedy, .stops = {"END"}});
  EXPECT_THAT(pieces_, ElementsAre("EN"));
  EXPECT_EQ(completion.finish, FinishReason::length);
}

TEST_F(GenerateTest, AStopInThePromptDoesNotCount) {
  const LanguageModel model = byte_chain("abcd");
  EXPECT_EQ(run(model, {.prompt = "ab", .tokens = 2, .sampling = kGreedy, .stops = {"abc", "ab"}}).text, "cd");
}

TEST_F(GenerateTest, ACallerWhoHasEnoughInterrupts) {
  const LanguageModel model = byte_chain("abcd");
  const Completion completion = run(model, {.prompt = "a", .tokens = 100, .sampling = kGreedy}, 2);
  EXPECT_EQ(completion.finish, FinishReason::interrupted);
  EXPECT_EQ(completion.text, "bc");
  EXPECT_THAT(pieces_, ElementsAre("b", "c"));
}

TEST_F(GenerateTest, NobodyNeedListen) {
  const LanguageModel model = byte_chain("abcd");
  EXPECT_EQ(generate(model, *tokenizer_, executor_, {.prompt = "a", .tokens = 3, .sampling = kGreedy}, {}).text, "bcd");
}

TEST_F(GenerateTest, NoTokensWantedIsNothing) {
  const LanguageModel model = byte_chain("abcd");
  const Completion completion = run(model, {.prompt = "a", .tokens = 0});
  EXPECT_THAT(completion.tokens, IsEmpty());
  EXPECT_THAT(pieces_, IsEmpty());
  EXPECT_EQ(completion.finish, FinishReason::length);
}

TEST_F(GenerateTest, AnEmptyPromptStartsOnALineFeed) {
  const LanguageModel model = byte_chain("a\nbc");
  EXPECT_EQ(run(model, {.tokens = 2, .sampling = kGreedy}).text, "bc");
  tokenizer_ = text::character_tokenizer("\nab");
  EXPECT_EQ(run(chain_model(3, {2, 0, 1}), {.tokens = 3, .sampling = kGreedy}).text, "ba\n");
}

TEST_F(GenerateTest, WithoutALineFeedItStartsOnTokenZero) {
  tokenizer_ = text::character_tokenizer("abc");
  const LanguageModel model = chain_model(3, {2, 0, 1});
  EXPECT_EQ(run(model, {.tokens = 3, .sampling = kGreedy}).text, "cba");
  const Completion skipped =
      run(model, {.prompt = "zz", .tokens = 3, .sampling = kGreedy, .unknown = text::UnknownPolicy::skip});
  EXPECT_EQ(skipped.text, "cba");
}

// After a, whatever was drawn, a has 50 and b 30; once a has been seen, 25 and 30.
TEST_F(GenerateTest, TheStartIsNoPartOfThePromptForThePenalty) {
  tokenizer_ = text::character_tokenizer("ab");
  LanguageModel model = chain_model(2, {0, 0});
  float* const output = model.parameters().find("output.weight")->value().data<float>();
  output[1] = 30;
  const Sampling sampling{.temperature = 0, .repetition_penalty = 2};
  EXPECT_EQ(run(model, {.tokens = 2, .sampling = sampling}).text, "ab");
  EXPECT_EQ(run(model, {.prompt = "a", .tokens = 1, .sampling = sampling}).text, "b");
}

TEST_F(GenerateTest, UnknownCharactersAreRefusedOrNamed) {
  tokenizer_ = text::character_tokenizer("abc");
  const LanguageModel model = chain_model(3, {1, 2, 0});
  const Request request{.prompt = "a?b", .tokens = 2, .sampling = kGreedy};
  EXPECT_EQ(error_of([&] { (void)run(model, request); }).kind(), ErrorKind::incompatible);
  Request skipping = request;
  skipping.unknown = text::UnknownPolicy::skip;
  const Completion completion = run(model, skipping);
  ASSERT_THAT(completion.skipped, SizeIs(1));
  EXPECT_EQ(completion.skipped[0].character, "?");
  EXPECT_EQ(completion.skipped[0].column, 2U);
  EXPECT_EQ(completion.text, "ca");
}

// The last token drawn is not fed: 3 of the prompt and 13 of 14 fill the context of 16.
TEST_F(GenerateTest, SaysWhetherItSlidPastTheContext) {
  const LanguageModel model = random_bytes();
  EXPECT_FALSE(run(model, {.prompt = "abc", .tokens = 14}).slid);
  EXPECT_TRUE(run(model, {.prompt = "abc", .tokens = 15}).slid);
  EXPECT_TRUE(run(model, {.prompt = std::string(17, 'a'), .tokens = 1}).slid);
}

// Bytes of a text at which a character, or a byte that is part of none, begins or ends.
std::set<std::size_t> boundaries(std::string_view text) {
  std::set<std::size_t> bounds;
  for (std::size_t at = 0; at < text.size();) {
    if (text::next_code_point(text, at) == text::kInvalid) ++at;
    bounds.insert(at);
  }
  return bounds;
}

TEST_F(GenerateTest, PiecesTogetherAreTheTextAndSplitNoCharacter) {
  const LanguageModel model = random_bytes();
  std::size_t characters = 0;  // of more than a byte
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Completion completion = run(model, {.prompt = "x", .tokens = 1000, .sampling = {.seed = seed}});
    EXPECT_EQ(completion.text, joined());
    EXPECT_EQ(completion.text, tokenizer_->decode(completion.tokens));
    EXPECT_THAT(completion.tokens, SizeIs(1000));
    const std::set<std::size_t> bounds = boundaries(completion.text);
    characters += completion.text.size() - bounds.size();
    std::size_t end = 0;
    for (const std::string& piece : pieces_) EXPECT_TRUE(bounds.contains(end += piece.size())) << end;
  }
  EXPECT_GT(characters, 50U);
}

TEST_F(GenerateTest, CacheAndThreadsChangeNothingAndSeedsDo) {
  const LanguageModel model = random_bytes();
  Request request{.prompt = "abc", .tokens = 60, .sampling = {.top_k = 50, .seed = 9}};
  const auto tokens_on = [&](unsigned threads) {
    Pool pool(threads);
    return generate(model, *tokenizer_, {.pool = pool}, request, {}).tokens;
  };
  const std::vector<text::Token> tokens = tokens_on(1);
  for (const unsigned threads : {2U, 3U, 8U}) EXPECT_EQ(tokens_on(threads), tokens);
  request.caching = Caching::off;
  EXPECT_EQ(tokens_on(1), tokens);
  request.sampling.seed = 10;
  EXPECT_NE(tokens_on(1), tokens);
}

// Draw n depends on n alone: fewer tokens are the beginning of more.
TEST_F(GenerateTest, AShorterCompletionIsTheBeginningOfALongerOne) {
  const LanguageModel model = random_bytes();
  const auto longer = run(model, {.prompt = "q", .tokens = 30}).tokens;
  const auto shorter = run(model, {.prompt = "q", .tokens = 12}).tokens;
  EXPECT_EQ(std::vector<text::Token>(longer.begin(), longer.begin() + 12), shorter);
}

TEST_F(GenerateTest, WhatCannotWorkIsRefused) {
  const LanguageModel model = byte_chain("abcd");
  const auto kind_of = [&](const LanguageModel& of, const Request& request) {
    return error_of([&] { (void)run(of, request); }).kind();
  };
  EXPECT_EQ(kind_of(model, {.sampling = {.top_p = 0}}), ErrorKind::usage);
  EXPECT_EQ(kind_of(model, {.stops = {""}}), ErrorKind::usage);
  EXPECT_EQ(kind_of(chain_model(3, {0, 1, 2}), {}), ErrorKind::incompatible);
  const Config both_ways{.vocabulary = 256, .width = 8, .heads = 1, .direction = models::Direction::bidirectional};
  EXPECT_EQ(kind_of({both_ways, DType::f32, nn::ParameterStore::Gradients::none}, {}), ErrorKind::usage);
}

TEST_F(GenerateTest, AModelThatDivergedIsRefusedNamingTheLogit) {
  const LanguageModel model = byte_chain("abcd");
  model.parameters().find("output.weight")->value().data<float>()['a' * 256 + 7] =
      std::numeric_limits<float>::quiet_NaN();
  const Error error = error_of([&] { (void)run(model, {.prompt = "a"}); });
  EXPECT_EQ(error.kind(), ErrorKind::numeric);
  EXPECT_THAT(error.message(), HasSubstr("token 7"));
}

}  // namespace
}  // namespace dikkat::generate
