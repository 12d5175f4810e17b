// The tokens of a text as people read them, one for each row of what is looked at.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dikkat/text/tokenizer.h"

namespace dikkat::inspect {

struct TokenLabel {
  text::Token token = 0;
  std::string text;        // its bytes as they are: any control character, half a character of a byte tokenizer
  bool generated = false;  // written by the model
};

// Label i belongs to row i. Tokens from `given` on were written by the model.
[[nodiscard]] std::vector<TokenLabel> token_labels(const text::Tokenizer& tokenizer,
                                                   std::span<const text::Token> tokens, std::size_t given);

}  // namespace dikkat::inspect
