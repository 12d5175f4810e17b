// What the heads called induction heads are for: a model that has learned to copy what followed the earlier occurrence
// of a token loses it with them, and keeps it without any other.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "../support/repeated_tokens_model.h"
#include "dikkat/inspect/head_report.h"
#include "dikkat/inspect/intervention.h"
#include "dikkat/inspect/passes.h"

namespace dikkat::inspect {
namespace {

// `count` windows of 32 inputs: 16 distinct random tokens, and the same again.
data::Batch windows(std::size_t vocabulary, std::size_t first, std::size_t count) {
  data::Batch batch;
  for (std::size_t w = first; batch.lengths.size() < count; ++w) {
    RepeatedWindow window = repeat_random(33, vocabulary, 77, w);
    if (window.period != 16) continue;
    batch.inputs.insert(batch.inputs.end(), window.tokens.begin(), window.tokens.end() - 1);
    for (std::size_t t = 1; t < 33; ++t) batch.targets.push_back(static_cast<std::int32_t>(window.tokens[t]));
    batch.lengths.push_back(32);
  }
  batch.rows.lay_out(batch.lengths, 32);
  return batch;
}

struct Halves {
  double first = 0;   // mean loss of the targets in the first period, which nothing tells
  double second = 0;  // of those that follow
};

class InductionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("DIKKAT_RANDOM_CASES") != nullptr) GTEST_SKIP() << "ten minutes of training under a sanitizer";
    (void)dikkat::testing::train_on_repeated_tokens(model_, training_.settings, {pool_});
  }

  Halves halves(nn::Tap* tap) {
    const Tensor losses = passes_.row_losses(measured_, tap);
    Halves halves;
    std::size_t first = 0;
    for (std::size_t r = 0; r < losses.count(); ++r) {
      const bool unknown = measured_.rows.position[r] < 15;
      (unknown ? halves.first : halves.second) += static_cast<double>(losses.data<float>()[r]);
      first += unknown ? 1U : 0U;
    }
    return {halves.first / static_cast<double>(first), halves.second / static_cast<double>(losses.count() - first)};
  }

  // Of what the second half gains over the first, the share that is gone without the heads: in their place stands their
  // mean over other windows.
  double undone(const std::vector<Part>& heads) {
    const std::vector<Site> sites = together(heads, "").sites;
    Reader reader(sites);
    passes_.look(reference_, reader);
    std::vector<Replacement> means;
    for (std::size_t s = 0; s < sites.size(); ++s) {
      const Tensor& values = reader.values(s);
      const std::size_t columns = values.shape()[1];
      const Tensor mean = Tensor::empty({1, columns}, DType::f32);
      for (std::size_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (std::size_t r = 0; r < values.shape()[0]; ++r)
          sum += static_cast<double>(values.data<float>()[r * columns + c]);
        mean.data<float>()[c] = static_cast<float>(sum / static_cast<double>(values.shape()[0]));
      }
      means.push_back({.site = sites[s], .values = mean});
    }
    Writer writer(model_, {pool_}, means);
    const Halves without = halves(&writer);
    const Halves with = halves(nullptr);
    return (without.second - with.second) / (with.first - with.second);
  }

  dikkat::testing::RepeatedTokensTraining training_;
  Pool pool_{2};
  models::LanguageModel model_{training_.model, DType::f32, nn::ParameterStore::Gradients::kept};
  Passes passes_{model_, {pool_}};
  data::Batch reference_ = windows(training_.model.vocabulary, 0, 50);
  data::Batch measured_ = windows(training_.model.vocabulary, 100000, 100);
};

TEST_F(InductionTest, TheHeadsSoCalledCarryWhatTheSecondHalfGains) {
  std::vector<text::Token> text;
  const random::Stream stream = random::stream(3, "test text");
  for (std::uint32_t i = 0; i < 4000; ++i) {
    text.push_back(static_cast<text::Token>(random::below(stream, {i, 0, 0, 0}, training_.model.vocabulary)));
  }
  const HeadsReport report = look_at_heads(model_, text, {}, {pool_});
  std::vector<Part> induction;
  std::vector<Part> others;
  for (const HeadReport& head : report.heads) {
    const Part part = head_named(training_.model, std::to_string(head.layer) + "." + std::to_string(head.head));
    if (head.is_called("induction head")) induction.push_back(part);
    if (!head.is_called("induction head") && !head.is_called("previous-token head")) others.push_back(part);
  }
  ASSERT_FALSE(induction.empty());
  const Halves with = halves(nullptr);
  const double share = undone(induction);
  std::cout << "first half " << with.first << ", second half " << with.second << " nats; without " << induction.size()
            << " induction heads " << share << " of the gain is undone\n";
  EXPECT_GT(with.first - with.second, 1.0);
  EXPECT_GE(share, 0.5);
  for (const Part& other : others) {
    const double alone = undone({other});
    std::cout << other.name << " is called neither: " << alone << '\n';
    EXPECT_LT(alone, 0.1) << other.name;
  }
}

}  // namespace
}  // namespace dikkat::inspect
