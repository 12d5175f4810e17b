#include "dikkat/cli/suggest.h"

#include "dikkat/base/testing.h"

namespace dikkat::cli {
namespace {

const std::vector<std::string> kKnown{
    "learning-rate", "final-learning-rate", "weight-decay", "width", "steps", "batch", "context", "heads", "dropout"};

TEST(Suggestion, KnowsSlipsUnderscoresAndInitials) {
  EXPECT_EQ(suggestion("witdh", kKnown), "width");
  EXPECT_EQ(suggestion("weight_decay", kKnown), "weight-decay");
  EXPECT_EQ(suggestion("lr", kKnown), "learning-rate");
  EXPECT_EQ(suggestion("wd", kKnown), "weight-decay");
  EXPECT_EQ(suggestion("flr", kKnown), "final-learning-rate");
}

TEST(Suggestion, KnowsWhatOthersCallIt) {
  EXPECT_EQ(suggestion("n_embd", kKnown), "width");
  EXPECT_EQ(suggestion("block-size", kKnown), "context");
  EXPECT_EQ(suggestion("batch_size", kKnown), "batch");
  EXPECT_EQ(suggestion("grad-clip", kKnown), std::nullopt) << "there is no clip among these";
}

TEST(Suggestion, KnowsABeginningThatIsNobodyElses) {
  EXPECT_EQ(suggestion("learn", kKnown), "learning-rate");
  EXPECT_EQ(suggestion("drop", kKnown), "dropout");
  EXPECT_EQ(suggestion("wi", kKnown), std::nullopt) << "two letters say too little";
}

TEST(Suggestion, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(suggestion("banana", kKnown), std::nullopt);
  EXPECT_EQ(suggestion("", kKnown), std::nullopt);
  EXPECT_EQ(suggestion(std::string(1000000, 'x'), kKnown), std::nullopt);
  EXPECT_EQ(did_you_mean("banana", kKnown, "--", "see the help"), "see the help");
  EXPECT_EQ(did_you_mean("step", kKnown, "--", ""), "did you mean --steps?");
}

}  // namespace
}  // namespace dikkat::cli
