#include <fmt/format.h>

#include <memory>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/cli/chosen_text.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/inspected_run.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/words.h"
#include "dikkat/generate/session.h"
#include "dikkat/inspect/passes.h"

namespace dikkat::cli {
namespace {

struct TextRun {
  TextRun(const Arguments& arguments, const kernels::Executor& executor)
      : run(open_run(arguments)), passes(run.model, executor) {}

  train::LoadedRun run;
  inspect::Passes passes;
};

// Tokens of the context that are left for the text when the model is to write so many.
std::size_t room_for_text(std::size_t tokens, std::size_t context) {
  if (tokens < context) return context - tokens;
  throw Error(ErrorKind::usage,
              fmt::format("--generate {} leaves no room for the text in a context of {} tokens", tokens, context),
              {.key = "--generate",
               .hint = context > 1 ? fmt::format("give --generate at most {}", context - 1) : "leave --generate out"});
}

// The text's tokens and those the model writes after it, drawn as `dikkat generate` draws them.
std::vector<text::Token> continued(std::vector<text::Token> tokens, std::size_t count,
                                   const generate::Sampling& sampling, const inspect::Passes& passes) {
  if (count == 0) return tokens;
  generate::Sampler sampler(sampling);
  generate::Session session(passes.model(), passes.executor());
  Tensor logits = session.feed(tokens);
  for (std::size_t draw = 0; draw < count; ++draw) {
    tokens.push_back(with_number(logits.dtype(), [&]<class T>() {
      return sampler.next_token<T>(passes.executor(), std::span<const T>(logits.span<T>()), tokens, draw);
    }));
    if (draw + 1 < count) logits = session.feed(std::span(tokens).last(1));
  }
  return tokens;
}

Subject subject_of(const std::shared_ptr<TextRun>& text_run, const Arguments& arguments,
                   const generate::Sampling& sampling) {
  const train::LoadedRun& run = text_run->run;
  const std::size_t count = arguments.has("generate") ? arguments.positive("generate", 1) : 0;
  const ChosenText text = chosen_text(arguments, run, room_for_text(count, run.model.config().context));
  if (text.skipped != 0) {
    write_error("dikkat: left out " + grouped(text.skipped) + (text.skipped == 1 ? " character" : " characters") +
                " that the model has no token for\n");
  }
  const std::vector<text::Token> tokens = continued(text.tokens, count, sampling, text_run->passes);
  Subject subject{.where = text.where(),
                  .labels = inspect::token_labels(*run.tokenizer, tokens, text.tokens.size()),
                  .generated = count,
                  .rule = inspect::map_rule(run.model.config()),
                  .choice = head_choice(arguments, run.model.config())};
  subject.origin.set("source", text.source)
      .set("first_token", text.first)
      .set("tokens_in_source", text.total)
      .set("skipped", text.skipped);
  subject.pass = [text_run, tokens](nn::Tap& tap) {
    data::Batch batch;
    batch.inputs = tokens;
    batch.lengths = {tokens.size()};
    batch.rows.lay_out(batch.lengths, tokens.size());
    text_run->passes.look(batch, tap);
  };
  return subject;
}

}  // namespace

InspectedRun inspected_text(const Arguments& arguments, const kernels::Executor& executor) {
  const auto text_run = std::make_shared<TextRun>(arguments, executor);
  const train::LoadedRun& run = text_run->run;
  InspectedRun inspected{.folder = run.folder.path().string(),
                         .step = run.state.step,
                         .weights_sha256 = run.weights_sha256,
                         .model = run.model.config(),
                         .parameters = run.model.parameters().count(),
                         .dtype = run.model.parameters().dtype()};
  inspected.short_pass = [text_run](std::size_t rows, nn::Tap& tap) {
    static_cast<void>(text_run->passes.logits(std::vector<text::Token>(rows, 0), &tap));
  };
  inspected.look_at = [text_run](const Arguments& given, const generate::Sampling& sampling) {
    return subject_of(text_run, given, sampling);
  };
  return inspected;
}

}  // namespace dikkat::cli
