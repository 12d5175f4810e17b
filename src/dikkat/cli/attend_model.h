// The attention of a trained model on a text, for `dikkat attend --model`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dikkat/cli/attend_view.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/models/language_model.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::cli {

struct HeadWish {
  std::size_t layer = 0;
  std::optional<std::size_t> head = {};  // nothing: the mean over all heads of the layer
};

// Error{usage} for a layer or head that the model does not have.
void check(const HeadWish& wish, const models::Config& config);

// The text's tokens, cleaned and encoded; `skipped` counts the characters left out. Error{incompatible} for characters
// the model has no token for and for more tokens than its context, Error{usage} for none, Error{limit} for more than
// attend shows.
[[nodiscard]] std::vector<text::Token> tokens_for(const text::Tokenizer& tokenizer, const models::Config& config,
                                                  std::string_view text, text::UnknownPolicy unknown,
                                                  std::size_t& skipped);

// (T,T), the weights of the forward pass itself: of one head, or the mean over the layer's.
[[nodiscard]] lessons::Matrix attention_of(const models::LanguageModel& model, const kernels::Executor& executor,
                                           const std::vector<text::Token>& tokens, const HeadWish& wish);

}  // namespace dikkat::cli
