#include <algorithm>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/lessons.h"
#include "dikkat/cli/suggest.h"

namespace dikkat::cli {
namespace {

std::vector<std::string> lesson_names() {
  std::vector<std::string> names;
  for (const Lesson& lesson : lessons_in_order()) names.push_back(lesson.name);
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool has_option(const Lesson& lesson, std::string_view name) {
  return std::any_of(lesson.options.begin(), lesson.options.end(),
                     [&](const Option& option) { return option.name == name; });
}

std::vector<const Lesson*> lessons_with(std::string_view option) {
  std::vector<const Lesson*> found;
  for (const Lesson& lesson : lessons_in_order()) {
    if (has_option(lesson, option)) found.push_back(&lesson);
  }
  return found;
}

const Lesson& lesson_named(const std::string& name) {
  for (const Lesson& lesson : lessons_in_order()) {
    if (lesson.name == name) return lesson;
  }
  const std::vector<std::string> names = lesson_names();
  throw Error(ErrorKind::usage, "there is no lesson '" + label_of(name) + "'",
              {.hint = did_you_mean(name, names, "dikkat lesson ", "the lessons are: " + joined(names))});
}

// An option of another lesson would be silently without effect. `chosen`: null without a lesson.
void refuse_others(const Lesson* chosen, const Arguments& arguments) {
  for (const Lesson& lesson : lessons_in_order()) {
    for (const Option& option : lesson.options) {
      if (!arguments.has(option.name) || (chosen != nullptr && has_option(*chosen, option.name))) continue;
      std::vector<std::string> where;
      for (const Lesson* other : lessons_with(option.name)) where.push_back("dikkat lesson " + other->name);
      const std::string message = chosen == nullptr ? "--" + option.name + " is for a lesson, and none is named"
                                                    : "the lesson " + chosen->name + " has no option --" + option.name;
      throw Error(ErrorKind::usage, message,
                  {.key = option.name, .hint = "it belongs to " + joined(where) + "; write that, or leave it out"});
    }
  }
}

int list_lessons(const Arguments& arguments, Output& output) {
  if (arguments.json()) {
    Json list = Json::array();
    for (const Lesson& lesson : lessons_in_order()) {
      list.push(Json::object().set("name", lesson.name).set("summary", lesson.summary));
    }
    output.line(text_of(Json::object().set("lessons", std::move(list))));
    return 0;
  }
  output.line("The lessons, each a document made to run; dikkat lesson --help has their options:\n");
  for (const Lesson& lesson : lessons_in_order()) {
    std::string name = "  dikkat lesson " + lesson.name;
    name.resize(std::max<std::size_t>(name.size() + 2, 34), ' ');
    output.line(name + lesson.summary);
  }
  return 0;
}

int run_lesson(const Arguments& arguments, Output& output) {
  if (arguments.operands().empty()) {
    refuse_others(nullptr, arguments);
    return list_lessons(arguments, output);
  }
  const Lesson& lesson = lesson_named(arguments.operands().front());
  refuse_others(&lesson, arguments);
  return lesson.run(arguments, output);
}

// One entry for an option of several lessons: what each says of it.
Option shared_option(std::string_view name) {
  Option shared;
  std::string help;
  for (const Lesson* lesson : lessons_with(name)) {
    for (const Option& option : lesson->options) {
      if (option.name != name) continue;
      shared = option;
      help += (help.empty() ? "" : "; ") + lesson->name + ": " + option.help;
      if (!option.fallback.empty()) help += " [" + option.fallback + "]";
    }
  }
  shared.help = help;
  shared.fallback.clear();
  return shared;
}

std::vector<OptionGroup> option_groups() {
  std::vector<OptionGroup> groups = {
      {"Every lesson",
       {{.name = "as-published", .help = "in the document's own layout and language, with this run's figures"}}}};
  OptionGroup several{"Several lessons", {}};
  for (const Lesson& lesson : lessons_in_order()) {
    OptionGroup group{"dikkat lesson " + lesson.name, {}};
    for (const Option& option : lesson.options) {
      const auto users = lessons_with(option.name);
      if (users.size() == 1) group.options.push_back(option);
      if (users.size() > 1 && users.front()->name == lesson.name) several.options.push_back(shared_option(option.name));
    }
    if (!group.options.empty()) groups.push_back(std::move(group));
  }
  if (!several.options.empty()) groups.push_back(std::move(several));
  return groups;
}

}  // namespace

const std::vector<Lesson>& lessons_in_order() {
  static const std::vector<Lesson> list{lesson_heads(), lesson_self_attention(), lesson_block()};
  return list;
}

Command lesson_command() {
  Command command{.name = "lesson",
                  .summary = "run a lesson of the book",
                  .description = "Without a name: lists the lessons.",
                  .operands = {{.name = "LESSON",
                                .help = joined(lesson_names()),
                                .least = 0,
                                .completes = Completes::nothing,
                                .choices = lesson_names()}},
                  .groups = option_groups(),
                  .examples = {{"dikkat lesson", "what lessons there are"}},
                  .run = run_lesson};
  for (const Lesson& lesson : lessons_in_order()) {
    command.description += "\n\n" + lesson.description;
    command.examples.insert(command.examples.end(), lesson.examples.begin(), lesson.examples.end());
  }
  return command;
}

}  // namespace dikkat::cli
