#include <fmt/format.h>

#include "dikkat/base/error.h"
#include "dikkat/generate/session.h"
#include "dikkat/generate/text_stream.h"

namespace dikkat::generate {
namespace {

void require_same_vocabulary(const models::Config& config, const text::Tokenizer& tokenizer) {
  if (config.vocabulary == tokenizer.vocabulary()) return;
  throw Error(ErrorKind::incompatible,
              fmt::format("the {} tokenizer has {} tokens, the model a vocabulary of {}", tokenizer.kind(),
                          tokenizer.vocabulary(), config.vocabulary),
              {.hint = "use the tokenizer stored with the model"});
}

text::Token starting_token(const text::Tokenizer& tokenizer) {
  std::vector<text::Token> tokens;
  (void)tokenizer.encode("\n", text::UnknownPolicy::skip, tokens);
  return tokens.empty() ? 0 : tokens.front();
}

text::Token next_token(Sampler& sampler, const kernels::Executor& executor, const Tensor& logits,
                       std::span<const text::Token> seen, std::size_t draw) {
  return with_number(logits.dtype(), [&]<class T>() {
    return sampler.next_token<T>(executor, std::span<const T>(logits.span<T>()), seen, draw);
  });
}

}  // namespace

Completion generate(const models::LanguageModel& model, const text::Tokenizer& tokenizer,
                    const kernels::Executor& executor, const Request& request,
                    const std::function<bool(std::string_view)>& emit) {
  require_same_vocabulary(model.config(), tokenizer);
  Sampler sampler(request.sampling);
  TextStream stream(request.stops);
  Session session(model, executor, request.caching);

  Completion completion;
  const auto show = [&](std::string_view piece) {
    if (piece.empty()) return;
    completion.text += piece;
    if (emit && !emit(piece)) completion.finish = FinishReason::interrupted;
  };
  std::vector<text::Token> seen;
  completion.skipped = tokenizer.encode(request.prompt, request.unknown, seen);
  const text::Token start = starting_token(tokenizer);
  std::span<const text::Token> next = seen.empty() ? std::span(&start, 1) : std::span<const text::Token>(seen);

  while (completion.finish == FinishReason::length && completion.tokens.size() < request.tokens) {
    const text::Token token = next_token(sampler, executor, session.feed(next), seen, completion.tokens.size());
    seen.push_back(token);
    completion.tokens.push_back(token);
    next = std::span(seen).last(1);
    const std::string_view piece = stream.add(tokenizer.bytes_of(token));
    if (stream.stopped()) completion.finish = FinishReason::stop;
    show(piece);
  }
  if (completion.finish == FinishReason::length) show(stream.finish());
  completion.slid = session.slid();
  return completion;
}

}  // namespace dikkat::generate
