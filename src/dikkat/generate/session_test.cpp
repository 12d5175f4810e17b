#include "dikkat/generate/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "dikkat/base/testing.h"
#include "dikkat/random/streams.h"

namespace dikkat::generate {
namespace {

using ::dikkat::testing::error_of;
using models::Config;
using models::LanguageModel;
using models::Placement;
using models::PositionKind;
using ::testing::HasSubstr;
using Tokens = std::vector<text::Token>;

constexpr std::size_t kVocabulary = 11;
constexpr auto kPositions = EnumNames<PositionKind>::names;

Config tiny() {
  return {.vocabulary = kVocabulary,
          .context = 8,
          .width = 16,
          .layers = 2,
          .heads = 4,
          .mlp_width = 24,
          .init = models::InitKind::book};
}

Tokens random_tokens(std::size_t n) {
  const random::Stream stream = random::stream(5, "tokens");
  Tokens tokens(n);
  for (std::size_t i = 0; i < n; ++i) {
    tokens[i] = static_cast<text::Token>(random::below(stream, {static_cast<std::uint32_t>(i), 0, 0, 0}, kVocabulary));
  }
  return tokens;
}

// Equal to the bit: the zeros' signs too.
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

class SessionTest : public ::testing::Test {
 protected:
  [[nodiscard]] LanguageModel model_of(const Config& config, DType dtype = DType::f32) const {
    LanguageModel model(config, dtype, nn::ParameterStore::Gradients::none);
    model.initialise(executor_, 3);
    return model;
  }
  // Logits of the last of `tokens`, by a plain pass over them all.
  [[nodiscard]] Tensor fresh(const LanguageModel& model, std::span<const text::Token> tokens) const {
    kernels::Rows rows;
    const std::size_t length = tokens.size();
    rows.lay_out({&length, 1}, model.config().context);
    Context context{.executor = executor_, .memory = heap(), .rows = &rows};
    const Tensor logits = model.forward(context, tokens).value;
    return logits.slice(0, length - 1, length).reshape({kVocabulary}).clone();
  }
  // Every step of 29 tokens, past a context of 8 several times.
  void expect_caching_changes_nothing(const LanguageModel& model) const {
    const Tokens tokens = random_tokens(29);
    Session cached(model, executor_, Caching::on);
    Session plain(model, executor_, Caching::off);
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      const Tensor a = cached.feed(std::span(tokens).subspan(n, 1));
      const Tensor b = plain.feed(std::span(tokens).subspan(n, 1));
      ASSERT_TRUE(same_bits(a, b)) << "token " << n;
      ASSERT_EQ(cached.slid(), n >= 8);
    }
    Session at_once(model, executor_);
    Session one_by_one(model, executor_);
    Tensor last;
    for (std::size_t n = 0; n < 7; ++n) last = one_by_one.feed(std::span(tokens).subspan(n, 1));
    ASSERT_TRUE(same_bits(at_once.feed(std::span(tokens).first(7)), last));
    // And what has been cached by then serves the next token as well.
    ASSERT_TRUE(same_bits(at_once.feed(std::span(tokens).subspan(7, 1)), fresh(model, std::span(tokens).first(8))));
  }

  mutable Pool pool_{2};
  kernels::Executor executor_{.pool = pool_};
};

TEST_F(SessionTest, CacheChangesNoBitForAnyPositionHeadsWindowPlacementAndNumber) {
  for (const auto& [position, name] : kPositions) {
    for (const std::size_t kv_heads : {4U, 2U, 1U}) {
      for (const std::size_t window : {0U, 3U}) {
        for (const Placement placement : {Placement::pre, Placement::post}) {
          for (const DType dtype : {DType::f32, DType::f64}) {
            Config config = tiny();
            config.position = position;
            config.kv_heads = kv_heads;
            config.window = window;
            config.placement = placement;
            SCOPED_TRACE(::testing::Message()
                         << name << ", " << kv_heads << " kv heads, window " << window
                         << (placement == Placement::pre ? ", pre, " : ", post, ") << name_of(dtype));
            ASSERT_NO_FATAL_FAILURE(expect_caching_changes_nothing(model_of(config, dtype)));
          }
        }
      }
    }
  }
}

TEST_F(SessionTest, CacheChangesNoBitForTheRestOfTheMenu) {
  Config plain = tiny();
  plain.norm = models::NormKind::none;
  plain.output = models::OutputKind::free;
  plain.output_bias = true;
  Config gated = tiny();
  gated.norm = models::NormKind::rms;
  gated.activation = kernels::Activation::swiglu;
  gated.attention_bias = true;
  gated.head_width = 6;
  gated.dropout = 0.5;  // acts in training only
  gated.attention_dropout = 0.5;
  for (const Config& config : {plain, gated}) expect_caching_changes_nothing(model_of(config));
}

// How many of the newest tokens the model sees, worked out by hand: a full window keeps its newest floor(T / 2).
TEST_F(SessionTest, AFullWindowKeepsItsNewerHalf) {
  const std::array<std::pair<std::size_t, std::vector<std::size_t>>, 4> cases = {
      {{1, {1, 1, 1, 1}},
       {2, {1, 2, 2, 2, 2}},
       {5, {1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3}},
       {8, {1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8, 5, 6, 7, 8, 5}}}};
  for (const auto& [context, lengths] : cases) {
    Config config = tiny();
    config.context = context;
    const LanguageModel model = model_of(config);
    const Tokens tokens = random_tokens(lengths.size());
    Session session(model, executor_);
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      const Tensor logits = session.feed(std::span(tokens).subspan(n, 1));
      const auto seen = std::span(tokens).first(n + 1).last(lengths[n]);
      ASSERT_TRUE(same_bits(logits, fresh(model, seen))) << "context " << context << ", token " << n;
    }
  }
}

TEST_F(SessionTest, ManyTokensAtOnceEqualTheSameOneByOneWhereverTheWindowSlides) {
  const LanguageModel model = model_of(tiny());
  const Tokens tokens = random_tokens(60);
  for (const std::size_t first : {1U, 5U, 8U, 9U, 30U}) {
    for (const std::size_t then : {1U, 3U, 4U, 8U, 9U, 17U}) {
      Session at_once(model, executor_);
      (void)at_once.feed(std::span(tokens).first(first));
      const Tensor logits = at_once.feed(std::span(tokens).subspan(first, then));
      Session one_by_one(model, executor_);
      Tensor last;
      for (std::size_t n = 0; n < first + then; ++n) last = one_by_one.feed(std::span(tokens).subspan(n, 1));
      EXPECT_TRUE(same_bits(logits, last)) << first << " + " << then;
      EXPECT_EQ(at_once.slid(), first + then > 8);
    }
  }
}

// Longer than the pieces that a prompt is run in.
TEST_F(SessionTest, ALongPromptEqualsAFreshPass) {
  Config config = tiny();
  config.context = 200;
  const LanguageModel model = model_of(config);
  const Tokens tokens = random_tokens(200);
  for (const std::size_t length : {63U, 64U, 65U, 129U, 200U}) {
    const auto prompt = std::span(tokens).first(length);
    EXPECT_TRUE(same_bits(Session(model, executor_).feed(prompt).clone(), fresh(model, prompt))) << length;
  }
}

TEST_F(SessionTest, ThreadsAndBodiesDoNotMatter) {
  const LanguageModel model = model_of(tiny());
  const Tokens tokens = random_tokens(20);
  const auto logits_with = [&](unsigned threads, kernels::Bodies bodies) {
    Pool pool(threads);
    Session session(model, {.pool = pool, .bodies = bodies});
    (void)session.feed(std::span(tokens).first(9));
    return session.feed(std::span(tokens).subspan(9)).clone();
  };
  const Tensor alone = logits_with(1, kernels::Bodies::reference);
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    EXPECT_TRUE(same_bits(logits_with(threads, kernels::Bodies::fast), alone)) << threads;
  }
}

TEST_F(SessionTest, NothingMoreFedGivesTheLastLogitsAgain) {
  const LanguageModel model = model_of(tiny());
  for (const Caching caching : {Caching::on, Caching::off}) {
    Session session(model, executor_, caching);
    EXPECT_EQ(error_of([&] { (void)session.feed({}); }).kind(), ErrorKind::usage);
    const Tokens tokens = {4, 7};
    const Tensor logits = session.feed(tokens).clone();
    EXPECT_TRUE(same_bits(session.feed({}), logits));
  }
}

TEST_F(SessionTest, AForeignTokenIsRefusedAndNothingAppended) {
  const LanguageModel model = model_of(tiny());
  Session session(model, executor_);
  const Tokens bad = {1, kVocabulary};
  const Error error = error_of([&] { (void)session.feed(bad); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_THAT(error.message(), HasSubstr("token 11"));
  const Tokens good = {3};
  EXPECT_TRUE(same_bits(session.feed(good), fresh(model, good)));
}

TEST_F(SessionTest, AModelThatLooksBothWaysIsRefused) {
  Config config = tiny();
  config.direction = models::Direction::bidirectional;
  const LanguageModel model = model_of(config);
  const Error error = error_of([&] { Session session(model, executor_); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_EQ(error.place().key, "direction");
}

}  // namespace
}  // namespace dikkat::generate
