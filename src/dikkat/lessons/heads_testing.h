// What the tests of the lesson on heads share: the goldens (tests/golden, made by make_lesson_heads.py there from the
// document's own program), and the document's lesson, run once.
#pragma once

#include <string>
#include <vector>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/base/parallel.h"
#include "dikkat/lessons/heads.h"

namespace dikkat::lessons::testing {

// The document's exponential and the order of its additions are others, so last bits differ; over the trainings that
// grows to some 1e-14.
inline constexpr double kTolerance = 1e-12;

inline std::string golden_text(const std::string& name) {
  return read_small_file(DIKKAT_SOURCE_DIR "/tests/golden/" + name, 1U << 20U);
}
inline const Json& golden() {
  static const Json json = parse_json(golden_text("lesson_heads_py312.json"), "lesson_heads_py312.json");
  return json;
}
inline JsonAt at(std::string_view key) { return JsonAt(golden(), "lesson_heads_py312.json")[key]; }
// Of the six runs with position, then the two without.
inline JsonAt golden_run(std::size_t index) { return at("runs").items()[index]; }

// All numbers of nested lists, in order.
inline std::vector<double> numbers(const JsonAt& nested) {
  if (nested.value().kind() != Json::Kind::array) return {nested.real()};
  std::vector<double> all;
  for (const JsonAt& item : nested.items()) {
    for (const double value : numbers(item)) all.push_back(value);
  }
  return all;
}

inline const HeadsLesson& document_lesson() {
  static const HeadsLesson lesson = [] {
    Pool pool(2);
    return heads_lesson(kernels::Executor{pool}, {});
  }();
  return lesson;
}
// In the golden file's order.
inline const HeadsRun& document_run(std::size_t index) {
  const HeadsLesson& lesson = document_lesson();
  return index < 6 ? lesson.with_position[index / 2][index % 2] : lesson.without_position[index - 6];
}

}  // namespace dikkat::lessons::testing
