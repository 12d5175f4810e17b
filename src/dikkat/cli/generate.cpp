#include <algorithm>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/signals.h"
#include "dikkat/generate/session.h"

namespace dikkat::cli {
namespace {

std::string_view name_of(generate::FinishReason reason) {
  switch (reason) {
    case generate::FinishReason::length: return "length";
    case generate::FinishReason::stop: return "stop";
    case generate::FinishReason::interrupted: return "interrupted";
  }
  return "";
}

generate::Request request_of(const Arguments& arguments) {
  generate::Request request;
  generate::Sampling& sampling = request.sampling;
  request.prompt = arguments.text("prompt").value_or("");
  request.tokens = arguments.positive("tokens", request.tokens);
  request.stops = arguments.texts("stop");
  for (const std::string& stop : request.stops) {
    if (stop.empty()) refuse_value("stop", "", "a text of at least one character");
  }
  request.unknown = unknown_policy(arguments);
  if (arguments.has("no-cache")) request.caching = generate::Caching::off;
  sampling.temperature = arguments.value("temperature", sampling.temperature);
  sampling.top_k = arguments.value("top-k", sampling.top_k);
  sampling.top_p = arguments.value("top-p", sampling.top_p);
  sampling.min_p = arguments.value("min-p", sampling.min_p);
  sampling.repetition_penalty = arguments.value("repetition-penalty", sampling.repetition_penalty);
  sampling.seed = arguments.value("seed", sampling.seed);
  generate::check(sampling);
  return request;
}

std::string place_of(const text::Unknown& unknown) {
  return "line " + std::to_string(unknown.line) + ", column " + std::to_string(unknown.column);
}

void say_unknown(const std::vector<text::Unknown>& skipped) {
  constexpr std::size_t kNamed = 10;
  if (skipped.empty()) return;
  std::string line = "dikkat: left out of the prompt, for the model has no token for them: ";
  for (std::size_t i = 0; i < std::min(skipped.size(), kNamed); ++i) {
    line += (i == 0 ? "'" : "; '") + skipped[i].character + "' at " + place_of(skipped[i]);
  }
  if (skipped.size() > kNamed) line += "; and " + std::to_string(skipped.size() - kNamed) + " more";
  std::replace(line.begin(), line.end(), '\n', ' ');
  write_error(harmless(line) + "\n");
}

void say_slid(std::size_t context) {
  write_error("dikkat: the text grew past the model's context of " + std::to_string(context) +
              " tokens; from there on it saw the newest part only\n");
}

Json as_json(const std::vector<text::Unknown>& skipped) {
  Json list = Json::array();
  for (const text::Unknown& unknown : skipped) {
    Json item = Json::object();
    item.set("character", unknown.character).set("line", unknown.line).set("column", unknown.column);
    list.push(std::move(item));
  }
  return list;
}

class Writer {
 public:
  Writer(const train::LoadedRun& run, const std::vector<text::Unknown>& skipped, const Execution& execution,
         const Arguments& arguments, Output& output)
      : run_(run),
        skipped_(skipped),
        execution_(execution),
        json_(arguments.json()),
        terminal_(is_terminal(Stream::output)),
        output_(output),
        stop_(stop_on_signals("dikkat: stopping\n")) {}

  // Writes one completion; false when a signal asked to stop.
  bool write(const generate::Request& request) {
    if (!json_) show(request.prompt);
    const generate::Completion completion =
        generate::generate(run_.model, *run_.tokenizer, execution_.executor(), request, [&](std::string_view piece) {
          if (!json_) show(piece);
          return !stop_.asked();
        });
    if (json_) {
      output_.line(text_of(Json::object()
                               .set("prompt", request.prompt)
                               .set("completion", completion.text)
                               .set("tokens", completion.tokens.size())
                               .set("finish_reason", name_of(completion.finish))
                               .set("skipped", as_json(skipped_))));
    } else {
      output_.line("");
    }
    output_.flush();
    if (completion.slid && !said_slid_) say_slid(run_.model.config().context);
    said_slid_ = said_slid_ || completion.slid;
    return completion.finish != generate::FinishReason::interrupted;
  }

  [[nodiscard]] int exit_code() const { return exit_code_of_signal(stop_.signal.load()); }

 private:
  void show(std::string_view text) {
    output_.write(terminal_ ? harmless(text) : std::string(text));
    output_.flush();
  }

  const train::LoadedRun& run_;
  const std::vector<text::Unknown>& skipped_;
  const Execution& execution_;
  bool said_slid_ = false;
  bool json_;
  bool terminal_;
  Output& output_;
  const train::StopRequest& stop_;
};

// Before anything is printed: the prompt becomes the one the model sees. Returns what was left out.
std::vector<text::Unknown> settle_prompt(generate::Request& request, const text::Tokenizer& tokenizer) {
  std::vector<text::Token> tokens;
  try {
    std::vector<text::Unknown> skipped = tokenizer.encode(request.prompt, request.unknown, tokens);
    request.prompt = tokenizer.decode(tokens);
    return skipped;
  } catch (const Error& error) {
    ErrorPlace place = with_skip_hint(error).place();
    place.file.clear();
    place.offset.reset();
    place.key = "--prompt";
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

int run_generate(const Arguments& arguments, Output& output) {
  generate::Request request = request_of(arguments);
  const std::size_t count = arguments.positive("count", 1);
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  const std::vector<text::Unknown> skipped = settle_prompt(request, *run.tokenizer);
  say_unknown(skipped);
  Writer writer(run, skipped, execution, arguments, output);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && !arguments.json()) output.write("---\n");
    if (!writer.write(request)) return writer.exit_code();
    ++request.sampling.seed;
  }
  return 0;
}

}  // namespace

Command generate_command() {
  const generate::Request request;
  const generate::Sampling& s = request.sampling;
  return {
      .name = "generate",
      .summary = "let a trained model write",
      .description =
          "Prints the prompt and the model's continuation as it grows. The same model, prompt, options and seed "
          "give the same text everywhere.\n"
          "With --json it prints one object: prompt, completion, tokens, finish_reason and skipped; with --count N one "
          "such object a line.",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
      .groups = {{"Text",
                  {{.name = "prompt",
                    .value = "TEXT",
                    .help = "what the model goes on from; without it, it begins as after the end of a line"},
                   {.name = "tokens", .value = "N", .help = "new tokens at most", .fallback = text_of(request.tokens)},
                   {.name = "stop", .value = "TEXT", .help = "end before this text would appear", .repeats = true},
                   skip_unknown_option("the prompt"),
                   {.name = "count",
                    .value = "N",
                    .help = "completions, each with the next seed; with --json one object a line",
                    .fallback = "1"},
                   checkpoint_option()}},
                 {"Choice of the next token",
                  {{.name = "temperature",
                    .value = "X",
                    .help = "evens out (> 1) or sharpens (< 1) the choice; 0: always the most probable",
                    .fallback = text_of(s.temperature)},
                   {.name = "top-k",
                    .value = "N",
                    .help = "choose among the N most probable only (0: all)",
                    .fallback = text_of(s.top_k)},
                   {.name = "top-p",
                    .value = "X",
                    .help = "choose among the most probable that together reach X",
                    .fallback = text_of(s.top_p)},
                   {.name = "min-p",
                    .value = "X",
                    .help = "choose among those with at least X of the largest probability",
                    .fallback = text_of(s.min_p)},
                   {.name = "repetition-penalty",
                    .value = "X",
                    .help = "above 1: tokens already there become less probable",
                    .fallback = text_of(s.repetition_penalty)},
                   {.name = "seed", .value = "N", .help = "seed of every draw", .fallback = text_of(s.seed)},
                   {.name = "no-cache", .help = "compute every token anew; the text is the same, later"}}}},
      .examples = {{"dikkat generate runs/first --prompt \"Bir \" --tokens 300 --temperature 0.7", "a few proverbs"},
                   {"dikkat generate runs/first --prompt \"Bir \" --temperature 0 --json",
                    "the most probable text, for a script"}},
      .run = run_generate};
}

}  // namespace dikkat::cli
