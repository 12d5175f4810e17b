#include "dikkat/cli/chosen_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

std::string tokens_text(std::size_t count) { return grouped(count) + (count == 1 ? " token" : " tokens"); }

[[noreturn]] void refuse(std::string message, std::string key, std::string hint) {
  throw Error(ErrorKind::usage, std::move(message), {.key = std::move(key), .hint = std::move(hint)});
}

void check_room(std::optional<std::size_t> count, std::size_t room, const std::string& option) {
  if (!count || (*count > 0 && *count <= room)) return;
  refuse(fmt::format("{} {} is outside of what the model can see at once, 1 to {} tokens", option, *count, room),
         option, fmt::format("give {} at {}", option, *count == 0 ? "least 1" : fmt::format("most {}", room)));
}

std::optional<std::size_t> count_of(const Arguments& arguments, std::string_view option) {
  if (!arguments.has(option)) return std::nullopt;
  return arguments.value(option, std::size_t{0});
}

WindowWish wish_of(const Arguments& arguments) {
  return {.from = count_of(arguments, "from"),
          .length = count_of(arguments, "length"),
          .last = count_of(arguments, "last")};
}

struct WholeText {
  std::vector<text::Token> tokens;
  std::string source;
  std::size_t skipped = 0;
  Naming naming = Naming::named;
};

Error about_option(const Error& error, const std::string& option) {
  ErrorPlace place = with_skip_hint(error).place();
  place.file.clear();
  place.offset.reset();
  place.key = option;
  return {error.kind(), error.message(), std::move(place)};
}

WholeText given_text(const Arguments& arguments, const train::LoadedRun& run) {
  WholeText whole;
  whole.source = "--text";
  try {
    whole.skipped = run.tokenizer->encode(*arguments.text("text"), unknown_policy(arguments), whole.tokens).size();
  } catch (const Error& error) {
    throw about_option(error, "--text");
  }
  return whole;
}

WholeText file_text(const Arguments& arguments, const train::LoadedRun& run) {
  const std::string name = *arguments.text("file");
  try {
    data::Corpus corpus = train::corpus_of(run, {name}, unknown_policy(arguments));
    return {
        .tokens = std::move(corpus.tokens), .source = name == "-" ? "standard input" : name, .skipped = corpus.skipped};
  } catch (const Error& error) {
    throw with_skip_hint(error);
  }
}

WholeText validation_text(const train::LoadedRun& run) {
  try {
    const data::Corpus corpus = train::corpus_of(run);
    const auto part = corpus.part(data::Split::validation);
    return {.tokens = {part.begin(), part.end()},
            .source = "the validation part of " + run.folder.data_paths().front().string(),
            .naming = Naming::unnamed};
  } catch (const Error& error) {
    ErrorPlace place = error.place();
    place.hint = "give a text with --text or --file";
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

WholeText whole_text(const Arguments& arguments, const train::LoadedRun& run) {
  if (arguments.has("text") && arguments.has("file")) {
    refuse("--text and --file name two texts", "--file", "give one of them");
  }
  if (arguments.has("text")) return given_text(arguments, run);
  return arguments.has("file") ? file_text(arguments, run) : validation_text(run);
}

}  // namespace

std::vector<Option> text_options() {
  return {{.name = "text", .value = "TEXT", .help = "the text; without it and --file the start of the validation part"},
          {.name = "file",
           .value = "FILE",
           .help = "the text, or series, in a file; - is standard input",
           .completes = Completes::file},
          skip_unknown_option("the text"),
          {.name = "from", .value = "N", .help = "begin with token N of the text; the first is 0"},
          {.name = "length", .value = "N", .help = "so many tokens of it (default: the context, or what there is)"},
          {.name = "last", .value = "N", .help = "its last N tokens"}};
}

TokenWindow window_of(std::size_t total, std::size_t room, const WindowWish& wish, Naming naming) {
  if (wish.last && (wish.from || wish.length)) {
    refuse("--last stands for itself, without --from and --length", "--last", "give --last, or the other two");
  }
  check_room(wish.length, room, "--length");
  check_room(wish.last, room, "--last");
  if (wish.last) return {total - std::min(*wish.last, total), std::min(*wish.last, total)};
  if (wish.from && *wish.from >= total) {
    refuse(fmt::format("--from {} is beyond the text, which has {}", *wish.from, tokens_text(total)), "--from",
           fmt::format("give --from at most {}", total - 1));
  }
  if (!wish.from && !wish.length && total > room && naming == Naming::named) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("the text has {}, the model sees {} at once", tokens_text(total), grouped(room)),
        {.hint = fmt::format("choose a part of it: --last {}, or --from N with --length at most {}", room, room)});
  }
  const std::size_t first = wish.from.value_or(0);
  return {first, std::min(wish.length.value_or(room), total - first)};
}

std::string ChosenText::where() const {
  const std::string of = text::escaped(source);
  if (tokens.size() == total) return fmt::format("{} of {}", tokens_text(total), of);
  return fmt::format("tokens {} to {} of the {} of {}", grouped(first), grouped(first + tokens.size() - 1),
                     grouped(total), of);
}

ChosenText chosen_text(const Arguments& arguments, const train::LoadedRun& run, std::size_t room) {
  const WindowWish wish = wish_of(arguments);
  WholeText whole = whole_text(arguments, run);
  if (whole.tokens.empty()) {
    refuse(whole.skipped == 0 ? "the text is empty" : "nothing is left of the text without its unknown characters", "",
           "give a text of at least one token");
  }
  const TokenWindow window = window_of(whole.tokens.size(), room, wish, whole.naming);
  const auto begin = whole.tokens.begin() + static_cast<std::ptrdiff_t>(window.first);
  return {.tokens = {begin, begin + static_cast<std::ptrdiff_t>(window.count)},
          .first = window.first,
          .total = whole.tokens.size(),
          .source = std::move(whole.source),
          .skipped = whole.skipped};
}

void say_skipped(std::size_t skipped) {
  if (skipped == 0) return;
  write_error("dikkat: left out " + grouped(skipped) + (skipped == 1 ? " character" : " characters") +
              " that the model has no token for\n");
}

}  // namespace dikkat::cli
