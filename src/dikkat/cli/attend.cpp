#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/attend_model.h"
#include "dikkat/cli/attend_view.h"
#include "dikkat/cli/chosen_text.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/inspect/token_labels.h"
#include "dikkat/lessons/self_attention_words.h"
#include "dikkat/train/loaded_run.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // of a sentence
constexpr std::array<const char*, 6> kRandomOnly = {"seed", "width", "heads", "head-width", "mask", "window"};
constexpr std::array<const char*, 3> kModelOnly = {"layer", "checkpoint", "skip-unknown"};

// What is shown, and how it came about.
struct Subject {
  std::vector<AttendedText> texts;
  kernels::Mask mask;
  std::string how;   // one line
  std::string note;  // one line
  Json settings = Json::object();
};

void refuse_given(const Arguments& arguments, std::span<const char* const> options, const char* rule,
                  const char* hint) {
  for (const char* option : options) {
    if (!arguments.has(option)) continue;
    throw Error(ErrorKind::usage, fmt::format("--{} {}", option, rule), {.key = option, .hint = hint});
  }
}

// The sentences; - is standard input, once.
std::vector<std::string> sentences_of(const Arguments& arguments) {
  std::vector<std::string> sentences = arguments.operands();
  if (std::ranges::count(sentences, "-") > 1) {
    throw Error(ErrorKind::usage, "standard input can be read once only", {.key = "SENTENCE", .hint = "write - once"});
  }
  for (std::string& sentence : sentences) {
    if (sentence == "-") sentence = read_standard_input(kMostBytes);
  }
  return sentences;
}

kernels::Mask mask_of(const Arguments& arguments) {
  const std::string kind = arguments.has("mask") || !arguments.has("window") ? arguments.choice("mask") : "window";
  kernels::Mask mask{.direction = kind == "causal" ? kernels::Direction::causal : kernels::Direction::bidirectional};
  if (arguments.has("window") && kind == "none") {
    throw Error(ErrorKind::usage, "--window and --mask none contradict each other",
                {.key = "window", .hint = "write --mask window, or --mask causal for a window that looks back"});
  }
  if (arguments.has("window") || kind == "window") mask.window = arguments.positive("window", 2);
  return mask;
}

std::string mask_text(const kernels::Mask& mask) {
  std::string text = mask.direction == kernels::Direction::causal ? "causal mask" : "no mask";
  if (mask.window == 0) return text;
  const std::string near = fmt::format("less than {} places away", mask.window);
  return mask.direction == kernels::Direction::causal ? "causal mask, words " + near : "only words " + near;
}

lessons::WordAttention word_options(const Arguments& arguments) {
  lessons::WordAttention options;
  options.seed = arguments.value("seed", options.seed);
  options.width = arguments.positive("width", options.width);
  options.heads = arguments.positive("heads", options.heads);
  options.head_width = arguments.positive(
      "head-width", std::max<std::size_t>(1, options.width / std::max<std::size_t>(1, options.heads)));
  options.mask = mask_of(arguments);
  return options;
}

std::optional<std::size_t> head_wish(const Arguments& arguments) {
  if (!arguments.has("head")) return std::nullopt;
  return arguments.value<std::size_t>("head", 0);
}

std::string head_text(std::optional<std::size_t> head, std::size_t heads) {
  if (head) return fmt::format("head {} of {}", *head, heads);
  return heads == 1 ? "one head" : fmt::format("mean of {} heads", heads);
}

Json head_json(std::optional<std::size_t> head) { return head ? Json(*head) : Json(); }

void require_head(std::optional<std::size_t> head, std::size_t heads) {
  if (!head || *head < heads) return;
  throw Error(ErrorKind::usage, fmt::format("there is no head {}: there are {}, the first is 0", *head, heads),
              {.key = "head", .hint = fmt::format("did you mean --head {}?", heads - 1)});
}

Subject on_words(const Arguments& arguments, const kernels::Executor& executor,
                 const std::vector<std::string>& sentences) {
  refuse_given(arguments, kModelOnly, "is for a trained model, and none is named", "name one with --model RUN");
  const lessons::WordAttention options = word_options(arguments);
  const auto head = head_wish(arguments);
  require_head(head, options.heads);
  Subject subject;
  subject.mask = options.mask;
  for (const std::string& sentence : sentences) {
    std::vector<std::string> words = lessons::words_of(sentence, "the sentence");
    const lessons::Attended attended = lessons::attention_on_words(executor, words, options);
    lessons::Matrix weights = head ? attended.weights[*head] : lessons::mean_of(attended.weights);
    subject.texts.push_back({sentence, std::move(words), std::move(weights)});
  }
  subject.how = fmt::format("Random projections (seed {}): words {} wide, {}, each {} wide; {}.", options.seed,
                            options.width, head_text(head, options.heads), options.head_width, mask_text(options.mask));
  subject.note = options.mask.direction == kernels::Direction::bidirectional && options.mask.window == 0
                     ? "The same word has the same vector wherever it stands: order means nothing here."
                     : "The same word has the same vector wherever it stands: only the mask knows places.";
  subject.settings.set("seed", options.seed)
      .set("width", options.width)
      .set("heads", options.heads)
      .set("head_width", options.head_width)
      .set("mask", options.mask.direction == kernels::Direction::causal ? "causal" : "none")
      .set("window", options.mask.window)
      .set("head", head_json(head));
  return subject;
}

train::LoadedRun opened(const Arguments& arguments) {
  const auto choice = train::checkpoint_choice_from(arguments.text("checkpoint").value_or("latest"));
  train::LoadedRun run = train::load_run(*arguments.text("model"), choice);
  for (const std::string& warning : run.warnings) write_error("dikkat: warning: " + harmless(warning) + "\n");
  return run;
}

AttendedText attended_by(const train::LoadedRun& run, const kernels::Executor& executor, const std::string& sentence,
                         const HeadWish& wish, text::UnknownPolicy unknown, std::size_t& skipped) {
  const auto tokens = tokens_for(*run.tokenizer, run.model.config(), sentence, unknown, skipped);
  AttendedText text{sentence, {}, attention_of(run.model, executor, tokens, wish)};
  for (const inspect::TokenLabel& token : inspect::token_labels(*run.tokenizer, tokens, tokens.size())) {
    text.tokens.push_back(token.text);
  }
  return text;
}

Subject on_model(const Arguments& arguments, const kernels::Executor& executor,
                 const std::vector<std::string>& sentences) {
  refuse_given(arguments, kRandomOnly, "is for random projections; a model has its own",
               "leave it out, or leave out --model");
  const train::LoadedRun run = opened(arguments);
  const models::Config& config = run.model.config();
  const HeadWish wish{.layer = arguments.value<std::size_t>("layer", 0), .head = head_wish(arguments)};
  check(wish, config);
  Subject subject;
  subject.mask = {.direction = config.direction, .window = config.window};
  std::size_t skipped = 0;
  try {
    for (const std::string& sentence : sentences) {
      subject.texts.push_back(attended_by(run, executor, sentence, wish, unknown_policy(arguments), skipped));
    }
  } catch (const Error& error) {
    const bool too_long = error.place().key == "SENTENCE";
    throw too_long || arguments.has("skip-unknown") ? error : with_skip_hint(error);
  }
  say_skipped(skipped);
  subject.how = fmt::format("{}, step {}: layer {} of {}, {}; {}.", harmless(*arguments.text("model")), run.state.step,
                            wish.layer, config.layers, head_text(wish.head, config.heads), mask_text(subject.mask));
  subject.note = "Other layers and heads: --layer, --head; all of them at once: dikkat inspect.";
  subject.settings.set("model", *arguments.text("model"))
      .set("step", run.state.step)
      .set("layer", wish.layer)
      .set("heads", config.heads)
      .set("head", head_json(wish.head))
      .set("skipped", skipped);
  return subject;
}

Json grid(const lessons::Matrix& matrix) {
  Json rows = Json::array();
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    Json row = Json::array();
    for (const double value : matrix.row(r)) row.push(value);
    rows.push(std::move(row));
  }
  return rows;
}

Json as_json(const Subject& subject) {
  Json texts = Json::array();
  for (const AttendedText& text : subject.texts) {
    Json tokens = Json::array();
    for (const std::string& token : text.tokens) tokens.push(token);
    texts.push(Json::object().set("tokens", std::move(tokens)).set("weights", grid(text.weights)));
  }
  Json json = subject.settings;
  json.set("sentences", std::move(texts));
  if (subject.texts.size() == 2 && subject.texts[0].tokens.size() == subject.texts[1].tokens.size()) {
    lessons::Matrix difference = subject.texts[1].weights;
    for (std::size_t i = 0; i < difference.values.size(); ++i) {
      difference.values[i] -= subject.texts[0].weights.values[i];
    }
    const lessons::Distance apart = lessons::distance(subject.texts[0].weights, subject.texts[1].weights);
    json.set("difference", Json::object()
                               .set("weights", grid(difference))
                               .set("mean_size", apart.mean)
                               .set("largest_size", apart.largest));
  }
  return json;
}

std::string picture_of(const Subject& subject, const Look& look) {
  const std::string body = subject.texts.size() == 1
                               ? drawn(subject.texts[0], subject.mask, look)
                               : drawn_together(subject.texts[0], subject.texts[1], subject.mask, look);
  return subject.how + "\nEach row: where that token looks. A row is 1 in sum.\n\n" + body + "\n" + subject.note + "\n";
}

int run_attend(const Arguments& arguments, Output& output) {
  const Look look = look_of(arguments);
  const std::vector<std::string> sentences = sentences_of(arguments);
  const Execution execution(arguments);
  const Subject subject = arguments.has("model") ? on_model(arguments, execution.executor(), sentences)
                                                 : on_words(arguments, execution.executor(), sentences);
  if (arguments.json()) {
    output.line(text_of(as_json(subject)));
  } else {
    output.write(picture_of(subject, look));
  }
  return 0;
}

}  // namespace

Command attend_command() {
  return {
      .name = "attend",
      .summary = "show attention on a sentence, or on two and their difference",
      .description =
          "Without a model, words (split at blanks) get random vectors and projections: what attention is, with "
          "nothing learned. With --model RUN, what a trained model's heads do with the text, token by token. Two "
          "sentences stand side by side, and where they are equally long their difference below. --json has every "
          "weight exactly.",
      .operands = {{.name = "SENTENCE",
                    .help = "a sentence, or two; - is standard input",
                    .most = 2,
                    .completes = Completes::nothing}},
      .groups = {{"Random projections",
                  {{.name = "seed", .value = "N", .help = "seed of vectors and projections", .fallback = "1"},
                   {.name = "width", .value = "N", .help = "width of the words' vectors", .fallback = "16"},
                   {.name = "heads", .value = "N", .help = "how many heads", .fallback = "2"},
                   {.name = "head-width", .value = "N", .help = "width of a head", .fallback = "width / heads"},
                   {.name = "mask",
                    .value = "KIND",
                    .help = "what a word may look at: everything, what is not after it, what is near",
                    .fallback = "none",
                    .choices = {"none", "causal", "window"}},
                   {.name = "window",
                    .value = "N",
                    .help = "of a window: only words less than N places away",
                    .fallback = "2"}}},
                 {"A trained model",
                  {{.name = "model", .value = "RUN", .help = "folder of a training", .completes = Completes::folder},
                   {.name = "layer", .value = "N", .help = "which layer; the first is 0", .fallback = "0"},
                   checkpoint_option(),
                   skip_unknown_option("a sentence")}},
                 {"What to show",
                  {{.name = "head", .value = "N", .help = "this head; the first is 0", .fallback = "mean of all"}}},
                 {"The picture", look_options()}},
      .examples = {{"dikkat attend \"The cat sat on the mat\"", "attention with nothing learned"},
                   {"dikkat attend \"The cat sat\" \"A dog ran\" --mask causal", "two sentences and their difference"},
                   {"dikkat attend \"to be or not\" --model runs/first --layer 1 --head 2",
                    "one head of a trained model"}},
      .run = run_attend};
}

}  // namespace dikkat::cli
