#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/lessons.h"
#include "dikkat/lessons/heads.h"

namespace dikkat::cli {
namespace {

constexpr lessons::HeadsSettings kDocument;

lessons::HeadsSettings settings_from(const Arguments& arguments) {
  const lessons::HeadsSettings settings{.seed = arguments.value<std::uint64_t>("seed", kDocument.seed),
                                        .epochs = arguments.value<std::size_t>("epochs", kDocument.epochs),
                                        .width = arguments.value<std::size_t>("width", kDocument.width)};
  lessons::check(settings);
  return settings;
}

// FILE with `ending` before its extension.
std::string beside(const std::filesystem::path& file, const char* ending) {
  return (file.parent_path() / (file.stem().string() + ending + file.extension().string())).string();
}

void refuse_existing(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return;
  throw Error(ErrorKind::usage, "it exists already, and nothing is overwritten",
              {.file = file, .hint = "choose another --export"});
}

// The series as CSV, where --export asks for them: all, those that train, those held out. Nothing is overwritten.
void export_series(const Arguments& arguments, std::uint64_t seed) {
  const std::optional<std::string> file = arguments.text("export");
  if (!file) return;
  if (file->empty()) {
    throw Error(ErrorKind::usage, "where should it go?", {.key = "--export", .hint = "name the file to be made"});
  }
  const std::vector<lessons::HeadsSeries> series = lessons::heads_series(seed);
  const std::span all(series);
  const std::array<std::pair<std::string, std::span<const lessons::HeadsSeries>>, 3> parts = {
      {{*file, all},
       {beside(*file, "-train"), all.first(lessons::kHeadsTraining)},
       {beside(*file, "-held-out"), all.last(lessons::kHeadsHeldOut)}}};
  for (const auto& [name, part] : parts) refuse_existing(name);
  for (const auto& [name, part] : parts) replace_file(name, lessons::heads_csv(part));
}

std::string explained(const lessons::HeadsLesson& lesson, const Execution& execution) {
  if (lesson.settings == kDocument) return lessons::explained(lesson);
  const lessons::HeadsLesson published = lessons::heads_lesson(execution.executor(), kDocument);
  return lessons::explained(lesson, &published);
}

int run_heads_lesson(const Arguments& arguments, Output& output) {
  const lessons::HeadsSettings settings = settings_from(arguments);
  export_series(arguments, settings.seed);
  const Execution execution(arguments);
  const lessons::HeadsLesson lesson = lessons::heads_lesson(execution.executor(), settings);
  if (arguments.json()) {
    output.line(text_of(lessons::as_json(lesson, execution.executor())));
  } else {
    output.write(arguments.has("as-published") ? lessons::as_published(lesson) : explained(lesson, execution));
  }
  return 0;
}

}  // namespace

Lesson lesson_heads() {
  return {.name = "heads",
          .summary = "heads under an equal budget, what they look at, and why position is a precondition",
          .description =
              "heads: one inner width divided over 1, 2 and 4 heads on made-up series of 12 readings; where each head "
              "looks; and the order test with and without position. Eight small classifiers are trained in the moment. "
              "With --as-published the document's own tables, character by character.",
          .options = {{.name = "seed",
                       .value = "N",
                       .help = "of the series and the starts (the document's TOHUM)",
                       .fallback = std::to_string(kDocument.seed)},
                      {.name = "epochs",
                       .value = "N",
                       .help = "of each training (the document's tur)",
                       .fallback = std::to_string(kDocument.epochs)},
                      {.name = "width",
                       .value = "N",
                       .help = "inner width over all heads, a multiple of 4 (the document's DTOP)",
                       .fallback = std::to_string(kDocument.width)},
                      {.name = "export",
                       .value = "FILE",
                       .help = "also write the 720 series with their labels to FILE as CSV, and beside it the 200 that "
                               "train and the 180 held out (-train and -held-out before its extension), for dikkat "
                               "train and eval",
                       .completes = Completes::file}},
          .examples = {{"dikkat lesson heads", "the lesson on heads, explained"},
                       {"dikkat lesson heads --as-published", "the same as the document prints it"},
                       {"dikkat lesson heads --seed 7 --width 8", "other series, twice the width"}},
          .run = run_heads_lesson};
}

}  // namespace dikkat::cli
