// A run that dikkat inspect looks at, of a text or of series, and what it is shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/inspection.h"
#include "dikkat/generate/sampling.h"
#include "dikkat/inspect/capture.h"
#include "dikkat/inspect/token_labels.h"

namespace dikkat::cli {

struct Subject;

// What both kinds of run have. The closures keep the run itself.
struct InspectedRun {
  std::string folder = {};
  std::uint64_t step = 0;
  std::string weights_sha256 = {};
  models::Config model = {};
  std::size_t parameters = 0;
  DType dtype = DType::f32;
  inspect::TappedPass short_pass = {};  // over rows of no meaning, for the names of activations
  // What the arguments choose to look at; Error as their headers say.
  std::function<Subject(const Arguments& arguments, const generate::Sampling& sampling)> look_at = {};

  [[nodiscard]] bool of_series() const { return model.task != models::Task::next_token; }
};
[[nodiscard]] InspectedRun inspected_run(const Arguments& arguments, const kernels::Executor& executor);

// What is looked at: tokens of a text with those the model wrote after it, or steps of a series.
struct Subject {
  std::string where = {};                        // in words
  Json origin = Json::object();                  // the same for JSON
  std::vector<inspect::TokenLabel> labels = {};  // one a row
  std::size_t generated = 0;                     // the last ones, written by the model
  Tensor readings = {};                          // (steps, channels) f64 as in the file; undefined for a text
  inspect::MapRule rule = {};
  HeadChoice choice = {};
  std::function<void(nn::Tap& tap)> pass = {};  // the forward pass

  [[nodiscard]] std::size_t rows() const { return labels.size(); }
};

// Each kind by itself (inspected_text.cpp, inspected_series.cpp).
[[nodiscard]] InspectedRun inspected_text(const Arguments& arguments, const kernels::Executor& executor);
[[nodiscard]] InspectedRun inspected_series(const Arguments& arguments, const kernels::Executor& executor);

}  // namespace dikkat::cli
