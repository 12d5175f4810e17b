// Each row has the label of its own token, whatever the token is.
#include "dikkat/inspect/token_labels.h"

#include <gtest/gtest.h>

namespace dikkat::inspect {
namespace {

TEST(TokenLabels, BelongToTheirRows) {
  const auto tokenizer = text::character_tokenizer("ab\n<\u200Bא");
  const std::string text = "a<\n\u200Bאb";
  const std::vector<TokenLabel> labels = token_labels(*tokenizer, tokenizer->encode(text), 4);
  const std::vector<std::string> expected = {"a", "<", "\n", "\u200B", "א", "b"};
  ASSERT_EQ(labels.size(), expected.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(labels[i].text, expected[i]);
    EXPECT_EQ(labels[i].generated, i >= 4);
    EXPECT_EQ(tokenizer->bytes_of(labels[i].token), expected[i]);
  }
}

TEST(TokenLabels, OfBytesAreBytes) {
  const auto tokenizer = text::byte_tokenizer();
  const std::vector<TokenLabel> labels = token_labels(*tokenizer, tokenizer->encode("ç"), 2);
  ASSERT_EQ(labels.size(), 2U);
  EXPECT_EQ(labels[0].text, "\xC3");
  EXPECT_EQ(labels[1].text, "\xA7");
}

}  // namespace
}  // namespace dikkat::inspect
