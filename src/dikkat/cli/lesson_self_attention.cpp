#include "dikkat/cli/arguments.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/lessons.h"
#include "dikkat/lessons/self_attention_lesson.h"
#include "dikkat/lessons/self_attention_words.h"
#include "dikkat/random/numpy_compatible.h"

namespace dikkat::cli {
namespace {

// Whole numbers of any size, as NumPy takes them.
lessons::Seed seed_from(const std::string& given) {
  auto words = random::entropy_words(given);
  if (!words) {
    refuse_value("seed", given,
                 "a whole number >= 0 of at most " + std::to_string(random::kMostSeedDigits) + " decimal digits",
                 "write it like --seed 7");
  }
  return *words;
}

// The figures that the published run draws from other seeds go along, so that another seed changes all of them.
void set_seeds(lessons::SelfAttentionOptions& options, const std::string& given) {
  const lessons::Seed published = options.seed;
  options.seed = seed_from(given);
  if (options.seed == published) return;
  options.scaling_seed = options.seed;
  options.second_seed = lessons::added(options.seed, 1);
}

lessons::SelfAttentionOptions options_of(const Arguments& arguments) {
  lessons::SelfAttentionOptions options;
  if (const auto text = arguments.text("sentence")) options.words = lessons::words_of(*text, "--sentence");
  if (const auto text = arguments.text("second")) options.second_words = lessons::words_of(*text, "--second");
  if (const auto text = arguments.text("seed")) set_seeds(options, *text);
  options.width = arguments.positive("d-model", options.width);
  options.head_width = arguments.positive("dk", options.head_width);
  options.heads = arguments.positive("heads", options.heads);
  if (arguments.choice("mask") == "causal") options.direction = kernels::Direction::causal;
  lessons::check(options);
  return options;
}

// The published layout has the single attention only.
void refuse_what_is_not_published(const Arguments& arguments) {
  for (const char* option : {"heads", "second"}) {
    if (!arguments.has(option)) continue;
    throw Error(ErrorKind::usage, std::string("--") + option + " changes nothing in what --as-published prints",
                {.key = option, .hint = "leave one of them out"});
  }
}

int run_self_attention_lesson(const Arguments& arguments, Output& output) {
  const bool published = arguments.has("as-published") && !arguments.json();
  if (published) refuse_what_is_not_published(arguments);
  const lessons::SelfAttentionOptions options = options_of(arguments);
  const Execution execution(arguments);
  const lessons::SelfAttentionLesson lesson = lessons::self_attention_lesson(execution.executor(), options);
  if (arguments.json()) {
    output.line(text_of(lessons::as_json(lesson)));
  } else {
    output.write(published ? lessons::as_published(lesson) : lessons::explained(lesson));
  }
  return 0;
}

}  // namespace

Lesson lesson_self_attention() {
  return {.name = "self-attention",
          .summary = "attention from scratch on one sentence: weights, masks, several heads, two sentences",
          .description =
              "self-attention: queries, keys and values of six words, their weight table and heat map, and the "
              "document's exercises: a causal mask, several heads, two sentences. The numbers are those that NumPy "
              "draws, so --as-published prints the document's table to the digit. Change one option and see what "
              "changes; the vectors are drawn by place, so another sentence of the same length brings other labels "
              "only (dikkat attend gives each word a vector of its own).",
          .options = {{.name = "sentence",
                       .value = "TEXT",
                       .help = "words, split at blanks; at most " + std::to_string(lessons::kMostWords),
                       .fallback = "The cat sat on the mat"},
                      {.name = "second",
                       .value = "TEXT",
                       .help = "the sentence it is compared with",
                       .fallback = "A dog ran in the park"},
                      {.name = "seed", .value = "N", .help = "seed of vectors and projections", .fallback = "42"},
                      {.name = "d-model", .value = "N", .help = "width of the words' vectors", .fallback = "8"},
                      {.name = "dk", .value = "N", .help = "width of queries, keys and values", .fallback = "4"},
                      {.name = "heads", .value = "N", .help = "heads of the second exercise", .fallback = "2"},
                      {.name = "mask",
                       .value = "KIND",
                       .help = "mask of the main table",
                       .fallback = "none",
                       .choices = {"none", "causal"}}},
          .examples = {{"dikkat lesson self-attention", "attention from scratch, step by step"},
                       {"dikkat lesson self-attention --as-published", "what the document's program prints"},
                       {"dikkat lesson self-attention --mask causal --heads 4", "two things changed"}},
          .run = run_self_attention_lesson};
}

}  // namespace dikkat::cli
