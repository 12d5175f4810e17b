// The lessons of `dikkat lesson`: one file each, lesson_NAME.cpp, whose function describes it as data.
//
// To add a lesson: write its file (see lesson_block.cpp), declare its function here, list it in lesson.cpp. Its options
// appear in the help under its name (an option that several lessons have, under "Several lessons"; it must take a
// value in all of them or in none), and are refused with any other lesson. --as-published, --json, --threads and
// --kernels are every lesson's.
#pragma once

#include <string>
#include <vector>

#include "dikkat/cli/command.h"

namespace dikkat::cli {

struct Lesson {
  std::string name;         // as on the command line
  std::string summary;      // one line, no full stop: what one sees there
  std::string description;  // a paragraph for the help
  std::vector<Option> options;
  std::vector<Example> examples;
  int (*run)(const Arguments& arguments, Output& output);
};

[[nodiscard]] Lesson lesson_heads();
[[nodiscard]] Lesson lesson_self_attention();
[[nodiscard]] Lesson lesson_block();

// All of them, in the order of the help. Made at the first call.
[[nodiscard]] const std::vector<Lesson>& lessons_in_order();

}  // namespace dikkat::cli
