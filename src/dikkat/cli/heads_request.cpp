#include "dikkat/cli/heads_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/size_text.h"
#include "dikkat/cli/open_run.h"
#include "dikkat/inspect/windows.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kLeastNullWindows = 10;
constexpr double kNullWork = 2e13;       // multiplications, some minutes of two cores
constexpr std::size_t kLeastDraws = 19;  // 1 / (19 + 1) = 5 %
constexpr std::size_t kMostNullBytes = std::size_t{1} << 30U;

constexpr std::array<std::pair<data::Split, std::string_view>, 3> kParts{
    {{data::Split::train, "the training part of "},
     {data::Split::validation, "the validation part of "},
     {data::Split::all, ""}}};

std::optional<std::size_t> number_below(const Arguments& arguments, const std::string& option, std::size_t bound) {
  if (!arguments.has(option)) return std::nullopt;
  const auto number = arguments.value(option, std::size_t{0});
  if (number < bound) return number;
  refuse_value(option, std::to_string(number), fmt::format("a number from 0 to {}", bound - 1));
}

std::size_t length_of(const Arguments& arguments, const models::Config& model) {
  if (model.context < 2) {
    throw Error(ErrorKind::incompatible, "a model that sees one token at a time has no attention to look at",
                {.hint = "take a model with a longer context"});
  }
  const std::size_t length = arguments.value("length", model.context);
  if (length >= 2 && length <= model.context) return length;
  refuse_value("length", std::to_string(length),
               fmt::format("a number from 2 to the model's context, {}", model.context));
}

std::size_t draws_of(const Arguments& arguments, const models::Config& model, std::size_t columns) {
  const std::size_t draws = arguments.value("draws", inspect::kNullDraws);
  if (draws < kLeastDraws) {
    refuse_value("draws", std::to_string(draws),
                 fmt::format("a number of at least {}: fewer draws cannot show 5 %", kLeastDraws));
  }
  const std::size_t each = model.layers * model.heads * columns * sizeof(float);
  if (draws <= kMostNullBytes / each) return draws;
  throw Error(ErrorKind::limit,
              fmt::format("{} draws of {} heads need more than {}", draws, model.layers * model.heads,
                          size_text(kMostNullBytes)),
              {.key = "draws", .hint = fmt::format("give --draws at most {}", kMostNullBytes / each)});
}

// All of them where that takes no more than some minutes; for a large model as many as do, but ten. Hangs on sizes
// alone.
std::size_t affordable_windows(const HeadsWish& wish, const models::Config& model) {
  const double tokens = 2 * static_cast<double>(wish.draws) * static_cast<double>(wish.length);
  const double fit = kNullWork / (tokens * static_cast<double>(models::parameter_count(model)));
  const std::size_t least = std::min(kLeastNullWindows, wish.windows);
  return fit >= static_cast<double>(wish.windows) ? wish.windows : std::max(least, static_cast<std::size_t>(fit));
}

data::Split split_of(const Arguments& arguments, const HeadsWish& wish, const data::Corpus& corpus) {
  if (arguments.has("split")) {
    const std::string name = arguments.choice("split");
    return name == "train" ? data::Split::train : name == "validation" ? data::Split::validation : data::Split::all;
  }
  // A text the model was not trained on where there is enough of it.
  const std::size_t held = inspect::windows_held(corpus.part(data::Split::validation).size(), wish.length);
  return !arguments.has("file") && held >= wish.windows ? data::Split::validation : data::Split::all;
}

}  // namespace

HeadsWish heads_wish(const Arguments& arguments, const models::Config& model) {
  HeadsWish wish;
  wish.windows = arguments.positive("windows", kHeadsWindows);
  wish.length = length_of(arguments, model);
  const inspect::HeadColumns columns(wish.length, {.direction = model.direction, .window = model.window});
  wish.draws = draws_of(arguments, model, columns.count());
  wish.null_windows = arguments.positive("null-windows", affordable_windows(wish, model));
  if (wish.null_windows > wish.windows) {
    refuse_value("null-windows", std::to_string(wish.null_windows),
                 fmt::format("at most as many as --windows, {}", wish.windows));
  }
  wish.seed = arguments.value("seed", wish.seed);
  wish.null = arguments.has("shuffled") ? NullKind::shuffled : NullKind::untrained;
  wish.choice = {.layer = number_below(arguments, "layer", model.layers),
                 .head = number_below(arguments, "head", model.heads)};
  return wish;
}

std::string HeadsSubject::source() const {
  const auto* part = std::ranges::find(kParts, split, &std::pair<data::Split, std::string_view>::first);
  return (part == kParts.end() ? std::string() : std::string(part->second)) + name;
}

HeadsSubject heads_subject(const Arguments& arguments, const train::LoadedRun& run, const HeadsWish& wish) {
  HeadsSubject subject;
  if (arguments.has("file")) {
    const std::string file = *arguments.text("file");
    try {
      subject.corpus = train::corpus_of(run, {file}, unknown_policy(arguments));
    } catch (const Error& error) {
      throw with_skip_hint(error);
    }
    subject.name = file == "-" ? "standard input" : file;
  } else {
    subject.corpus = train::corpus_of(run);
    subject.name = run.folder.data_paths().front().string();
  }
  subject.split = split_of(arguments, wish, subject.corpus);
  return subject;
}

inspect::HeadWindows windows_of(const HeadsSubject& subject, const HeadsWish& wish, std::size_t vocabulary) {
  try {
    return inspect::head_windows(
        subject.tokens(), {.length = wish.length, .count = wish.windows, .vocabulary = vocabulary, .seed = wish.seed});
  } catch (const Error& error) {
    ErrorPlace place = error.place();
    place.file = subject.name;
    if (subject.tokens().size() > 2) {
      place.hint = fmt::format("give a longer text, or --length at most {}", subject.tokens().size() - 1);
    }
    throw Error(error.kind(), error.message(), std::move(place));
  }
}

}  // namespace dikkat::cli
