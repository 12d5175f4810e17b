#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/interventions.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/inspect/patching.h"
#include "dikkat/text/display_width.h"
#include "dikkat/text/wrap.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kTokenColumns = 8;

struct Texts {
  std::vector<text::Token> into;
  std::vector<text::Token> from;
};

std::vector<text::Token> tokens_of(const Arguments& arguments, const train::LoadedRun& run, const char* option) {
  const std::string key = std::string("--") + option;
  const std::optional<std::string> text = arguments.text(option);
  if (!text) throw Error(ErrorKind::usage, "patching takes two texts", {.key = key, .hint = "give --into and --from"});
  std::vector<text::Token> tokens;
  try {
    static_cast<void>(run.tokenizer->encode(*text, text::UnknownPolicy::refuse, tokens));
  } catch (const Error& error) {
    throw Error(error.kind(), error.message(), {.key = key, .hint = "leave them out"});
  }
  if (tokens.empty()) throw Error(ErrorKind::usage, "the text is empty", {.key = key, .hint = "give some text"});
  if (tokens.size() > run.model.config().context) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("the text has {} tokens, the model sees {} at once", tokens.size(), run.model.config().context),
        {.key = key, .hint = "give shorter texts"});
  }
  return tokens;
}

// A text that is one token.
text::Token token_of(const Arguments& arguments, const train::LoadedRun& run, const char* option) {
  std::vector<text::Token> tokens;
  const std::string given = *arguments.text(option);
  try {
    static_cast<void>(run.tokenizer->encode(given, text::UnknownPolicy::refuse, tokens));
  } catch (const Error&) {
    refuse_value(option, given, "a token the model knows");
  }
  if (tokens.size() != 1) refuse_value(option, given, "one token", fmt::format("that is {} tokens", tokens.size()));
  return tokens.front();
}

// Nothing named: the stream as each block leaves it.
std::vector<inspect::Part> parts_of(const Arguments& arguments, const models::Config& config) {
  std::vector<inspect::Part> parts = named_parts(arguments, config);
  if (!parts.empty()) return parts;
  for (std::size_t l = 0; l < config.layers; ++l) {
    parts.push_back(inspect::activation_named(config, fmt::format("blocks.{}.residual_post", l)));
  }
  return parts;
}

std::vector<std::optional<std::size_t>> rows_of(const Arguments& arguments, std::size_t length) {
  const std::string list = arguments.text("rows").value_or("each");
  std::vector<std::optional<std::size_t>> rows;
  if (list == "all") return {std::nullopt};
  if (list == "each") {
    for (std::size_t r = 0; r < length; ++r) rows.emplace_back(r);
    return rows;
  }
  for (const std::size_t row : numbers_of_list("rows", list, length)) rows.emplace_back(row);
  return rows;
}

struct Study {
  const text::Tokenizer& tokenizer;
  Texts texts;
  inspect::PatchQuestion question;
  std::vector<inspect::Part> parts;
  std::vector<std::optional<std::size_t>> rows;
  inspect::Patching patching = {};

  [[nodiscard]] std::string bytes(text::Token token) const { return std::string(tokenizer.bytes_of(token)); }
  [[nodiscard]] std::string label_of(text::Token token) const {
    return "'" + text::label(tokenizer.bytes_of(token), kTokenColumns) + "'";
  }
  // Rows in the order of the texts, parts within.
  [[nodiscard]] const inspect::PatchResult& result(std::size_t row, std::size_t part) const {
    return patching.results[row * parts.size() + part];
  }
};

std::string output_text(const char* name, const inspect::PatchOutput& output) {
  return fmt::format("  {:<14}{:>10.4f}{:>10.4f}{:>12.4f}{:>14.4f}{:>12.4f}\n", name, output.target_logit,
                     output.other_logit, output.difference(), output.target_probability, output.target_loss_nats);
}

std::string head_text(const Study& study) {
  const std::string target = study.label_of(study.question.target);
  const std::string other = study.label_of(study.question.other);
  std::string out = fmt::format("What is said after token {}:\n  {:<14}{:>10}{:>10}{:>12}{:>14}{:>12}\n",
                                study.question.row, "text", "logit", "logit", "difference", "probability", "loss");
  out += fmt::format("  {:<14}{:>10}{:>10}{:>12}{:>14}{:>12}\n", "", target, other, "", target, target);
  out += output_text("patched into", study.patching.into);
  out += output_text("patched from", study.patching.from);
  return out;
}

// Whether the outputs of the two texts are apart enough for shares of the way between them.
bool has_way(const inspect::Patching& patching) {
  return patching.from.difference() != patching.into.difference() &&
         !inspect::nearly_equal(patching.into, patching.from);
}

std::string share_text(const inspect::PatchResult& result, bool way) {
  if (result.change.none()) return "same";
  if (!way || !result.share) return fmt::format("{:+.3f}", result.output.difference());
  return fmt::format("{:.0f} %", 100 * *result.share);
}

std::string meaning_text(const Study& study) {
  const inspect::Patching& patching = study.patching;
  if (has_way(patching)) {
    return "Share of the way from one difference to the other, by what is patched and where ('same': the texts' "
           "activations are equal there):\n";
  }
  if (patching.from.difference() == patching.into.difference()) {
    return "The texts' outputs do not differ: the patched difference itself.\n";
  }
  return fmt::format(
      "The two differences are nearly equal ({:.4f} and {:.4f}): a share of the way between them would say nothing, "
      "and "
      "the patched difference itself stands here. Take texts that ask for different tokens, or name --target and "
      "--other.\n",
      patching.into.difference(), patching.from.difference());
}

constexpr std::size_t kRowColumns = 30;

std::string row_text(const Study& study, std::size_t r) {
  const auto row = study.rows[r];
  if (!row) return fmt::format("{:<{}}", "everywhere", kRowColumns);
  std::string out = fmt::format("{:<10}", *row);
  for (const auto* text : {&study.texts.into, &study.texts.from}) {
    out += text::padded_label(study.tokenizer.bytes_of((*text)[*row]), 9, text::Side::left) + " ";
  }
  return out;
}

// Of the parts from `first` on so many as fit beside each other.
std::string parts_table(const Study& study, std::size_t first, std::size_t count, std::size_t columns) {
  const bool way = has_way(study.patching);
  std::string out = fmt::format("\n{:<10}{:<10}{:<10}", "position", "into", "from");
  for (std::size_t p = first; p < first + count; ++p) out += fmt::format("{:>{}}", study.parts[p].name, columns);
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    out += "\n" + row_text(study, r);
    for (std::size_t p = first; p < first + count; ++p) {
      out += fmt::format("{:>{}}", share_text(study.result(r, p), way), columns);
    }
  }
  return out + "\n";
}

std::string table_text(const Study& study, std::size_t terminal) {
  std::size_t columns = 10;
  for (const inspect::Part& part : study.parts) columns = std::max(columns, part.name.size() + 2);
  const std::size_t fit = std::max<std::size_t>(1, terminal > kRowColumns ? (terminal - kRowColumns) / columns : 1);
  std::string out = "\n" + text::prose(meaning_text(study));
  for (std::size_t first = 0; first < study.parts.size(); first += fit) {
    out += parts_table(study, first, std::min(fit, study.parts.size() - first), columns);
  }
  return out;
}

Json as_json(const inspect::PatchOutput& output) {
  return Json::object()
      .set("target_logit", finite_or_null(output.target_logit))
      .set("other_logit", finite_or_null(output.other_logit))
      .set("difference", finite_or_null(output.difference()))
      .set("target_probability", finite_or_null(output.target_probability))
      .set("target_loss_nats", finite_or_null(output.target_loss_nats));
}

Json as_json(const Study& study) {
  Json results = Json::array();
  for (const inspect::PatchResult& result : study.patching.results) {
    results.push(
        Json::object()
            .set("part", result.patch.part.name)
            .set("row", result.patch.row ? Json(*result.patch.row) : Json())
            .set("output", as_json(result.output))
            .set("share", result.share ? finite_or_null(*result.share) : Json())
            .set("changed",
                 Json::object().set("elements", result.change.elements).set("changed", result.change.changed)));
  }
  return Json::object()
      .set("row", study.question.row)
      .set("target", study.bytes(study.question.target))
      .set("other", study.bytes(study.question.other))
      .set("into", as_json(study.patching.into))
      .set("from", as_json(study.patching.from))
      .set("nearly_equal", inspect::nearly_equal(study.patching.into, study.patching.from))
      .set("patches", std::move(results));
}

int run_patch(const Arguments& arguments, Output& output) {
  const Execution execution(arguments);
  const train::LoadedRun run = open_run(arguments);
  Study study{.tokenizer = *run.tokenizer,
              .texts = {tokens_of(arguments, run, "into"), tokens_of(arguments, run, "from")},
              .question = {},
              .parts = parts_of(arguments, run.model.config()),
              .rows = {}};
  const std::size_t length = study.texts.into.size();
  inspect::Passes passes(run.model, execution.executor());
  inspect::PatchQuestion& question = study.question;
  question = {.into = study.texts.into, .from = study.texts.from, .row = length - 1};
  if (arguments.has("read")) question.row = arguments.value("read", std::size_t{0});
  // The lengths first, so that a row is one of both texts.
  static_cast<void>(inspect::patch(passes, question, {}));
  question.target = arguments.has("target") ? token_of(arguments, run, "target")
                                            : inspect::most_probable(passes, question.from, question.row);
  question.other = arguments.has("other")
                       ? token_of(arguments, run, "other")
                       : inspect::most_probable(passes, question.into, question.row, question.target);
  study.rows = rows_of(arguments, length);
  std::vector<inspect::Patch> patches;
  for (const auto row : study.rows) {
    for (const inspect::Part& part : study.parts) patches.push_back({.part = part, .row = row});
  }
  study.patching = inspect::patch(passes, question, patches);
  if (arguments.json()) {
    output.line(text_of(as_json(study)));
  } else {
    output.write(head_text(study) + table_text(study, columns(Stream::output)));
  }
  return 0;
}

}  // namespace

Command patch_command() {
  std::vector<Option> what = part_options();
  what.push_back({.name = "rows",
                  .value = "LIST",
                  .help = "at which positions: each one by itself, all of them at once, or a list like 0,3-7, each by "
                          "itself",
                  .fallback = "each"});
  return {
      .name = "patch",
      .summary = "put activations of one text into the pass over another and see what moves",
      .description =
          "Runs the model over a text with an activation taken from another text of the same length, and shows how far "
          "that moves what is said after the last token: the difference of the logits of two tokens, as a share of the "
          "way from the one text's to the other's. Without any part named: the stream as each block leaves it.\n"
          "Of the two tokens, --target is what the text patched from asks for (default: its most probable next token), "
          "--other what the text patched into does (default: its most probable that is not the target).",
      .operands = {{.name = "RUN", .help = "folder of a training", .completes = Completes::folder}},
      .groups = {{"Texts",
                  {{.name = "into", .value = "TEXT", .help = "the text whose pass is patched", .required = true},
                   {.name = "from",
                    .value = "TEXT",
                    .help = "the text whose activations are put there; as many tokens",
                    .required = true},
                   {.name = "target", .value = "TOKEN", .help = "the token to move towards"},
                   {.name = "other", .value = "TOKEN", .help = "the token to move away from"},
                   {.name = "read", .value = "N", .help = "read what is said after token N (default: the last)"}}},
                 {"What to patch", std::move(what)},
                 {"The run", {checkpoint_option()}}},
      .examples = {{"dikkat patch runs/first --into atl --from itl",
                    "where the model keeps the vowel that decides between -lar and -ler"},
                   {"dikkat patch runs/first --into atl --from itl --heads all --rows all", "which heads carry it"}},
      .run = run_patch};
}

}  // namespace dikkat::cli
