#include "dikkat/inspect/token_labels.h"

namespace dikkat::inspect {

std::vector<TokenLabel> token_labels(const text::Tokenizer& tokenizer, std::span<const text::Token> tokens,
                                     std::size_t given) {
  std::vector<TokenLabel> labels;
  labels.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    labels.push_back({tokens[i], std::string(tokenizer.bytes_of(tokens[i])), i >= given});
  }
  return labels;
}

}  // namespace dikkat::inspect
