// Generation: one prompt, a key/value cache, a stream of tokens. The one decode loop of the house.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/generate/sampling.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/rows.h"
#include "dikkat/models/language_model.h"
#include "dikkat/nn/kv_cache.h"
#include "dikkat/tensor/arena.h"
#include "dikkat/tensor/tensor.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::generate {

enum class Caching : std::uint8_t { on, off };  // off: every token runs the whole window (for tests)

// Runs a model over a growing sequence and answers with the logits of the last position.
//
// The model sees a window, which grows by a token at a time from position 0. A token that comes when the window holds
// the whole context T makes it slide first: only the newest floor(T / 2) tokens stay, and they and all that follow are
// run anew from position 0 (cached keys of deep layers hang on dropped tokens, so only that equals a fresh pass). So
// the logits after n tokens are those of a plain pass over the tokens in the window: the same to the bit with or
// without the cache, and whether tokens come one by one or many at once.
class Session {
 public:
  // `model` must outlive the session. Error{usage} for a model that looks both ways: it has no next token.
  Session(const models::LanguageModel& model, const kernels::Executor& executor, Caching caching = Caching::on);

  // Appends tokens (at least one in all) and returns the logits (V) after the last; valid until the next call.
  // Error{usage} for an id outside the vocabulary, with nothing appended. No allocation once a single token has been
  // fed after the window's last slide.
  [[nodiscard]] Tensor feed(std::span<const text::Token> tokens);
  // Whether the window has slid past the context since the beginning.
  [[nodiscard]] bool slid() const { return slid_; }

 private:
  void check_ids(std::span<const text::Token> tokens) const;
  void append(std::span<const text::Token> tokens);
  void run(std::span<const text::Token> tokens);

  const models::LanguageModel& model_;
  kernels::Executor executor_;
  Caching caching_;
  nn::KvCache cache_;
  Arena arena_;
  kernels::Rows rows_;
  std::vector<text::Token> window_;
  Tensor logits_;  // (V)
  bool slid_ = false;
};

enum class FinishReason : std::uint8_t { length, stop, interrupted };

struct Request {
  // A prompt without a token (empty, or all of it skipped) starts the model on a line feed, or on token 0 where the
  // vocabulary has none; that token is no part of the prompt for the repetition penalty.
  std::string prompt = {};
  std::size_t tokens = 200;  // new tokens, at most
  Sampling sampling = {};
  std::vector<std::string> stops = {};  // generation ends before the first of these appears (see text_stream.h)
  text::UnknownPolicy unknown = text::UnknownPolicy::refuse;
  Caching caching = Caching::on;
};

struct Completion {
  std::string text;                 // without prompt and stop string
  std::vector<text::Token> tokens;  // every token drawn, those of the stop string too
  FinishReason finish = FinishReason::length;
  std::vector<text::Unknown> skipped;  // of the prompt
  bool slid = false;
};

// `emit` (may be empty) receives the completion piece by piece: whole characters, and never a part of a stop string;
// only the end of all may be an unfinished character, as its bytes are. The pieces together are Completion::text. It
// returns false to stop early: FinishReason::interrupted, and the text is what it was given. Error{incompatible} for a
// tokenizer of another vocabulary than the model's, and for unknown characters if refused; Error{usage} for settings
// outside their domain, an empty stop string, a bidirectional model.
[[nodiscard]] Completion generate(const models::LanguageModel& model, const text::Tokenizer& tokenizer,
                                  const kernels::Executor& executor, const Request& request,
                                  const std::function<bool(std::string_view)>& emit);

}  // namespace dikkat::generate
