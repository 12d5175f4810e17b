#include "dikkat/inspect/capture.h"

#include <algorithm>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/base/json.h"

namespace dikkat::inspect {
namespace {

struct Seen {
  std::string path;
  Shape shape;
};

std::vector<Seen> seen_in(const TappedPass& pass, std::size_t rows) {
  class Recorder final : public nn::Tap {
   public:
    bool wants(std::string_view) const override { return true; }
    void see(std::string_view path, Tensor& activation) override {
      seen.push_back({std::string(path), activation.shape()});
    }
    std::vector<Seen> seen;
  } recorder;
  pass(rows, recorder);
  return std::move(recorder.seen);
}

// An axis that grows with the rows is T.
std::string shape_text(const Shape& shape, const Shape& longer) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    text += axis == 0 ? "" : ",";
    text += shape[axis] == longer[axis] ? std::to_string(shape[axis]) : "T";
  }
  return text + ")";
}

[[noreturn]] void refuse(const std::string& pattern, const std::vector<std::string>& paths) {
  const auto near = nearest_name(pattern, paths);
  throw Error(ErrorKind::usage, "there is no activation '" + label_of(pattern) + "'",
              {.hint = near ? "did you mean " + *near + "?" : "--list names them all"});
}

}  // namespace

std::vector<ActivationEntry> activations(const TappedPass& pass, std::size_t most_rows) {
  const std::vector<Seen> one = seen_in(pass, 1);
  const std::vector<Seen> two = most_rows < 2 ? one : seen_in(pass, 2);
  std::vector<ActivationEntry> entries;
  for (std::size_t i = 0; i < one.size(); ++i) {
    entries.push_back({one[i].path, shape_text(one[i].shape, two[i].shape)});
  }
  return entries;
}

// The last '*' tried takes one character more whenever the rest does not fit: linear in memory, no recursion.
bool matches(std::string_view pattern, std::string_view path) {
  std::size_t p = 0;
  std::size_t s = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (s < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = s;
    } else if (p < pattern.size() && pattern[p] == path[s]) {
      ++p;
      ++s;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      s = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> matching(const std::vector<std::string>& patterns, const std::vector<std::string>& paths) {
  for (const std::string& pattern : patterns) {
    if (std::none_of(paths.begin(), paths.end(), [&](const std::string& path) { return matches(pattern, path); })) {
      refuse(pattern, paths);
    }
  }
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    if (std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return matches(pattern, path); })) {
      found.push_back(path);
    }
  }
  return found;
}

Watch::Watch(std::vector<std::string> paths, See see) : paths_(std::move(paths)), see_(std::move(see)) {}

bool Watch::wants(std::string_view path) const { return std::find(paths_.begin(), paths_.end(), path) != paths_.end(); }

void Watch::see(std::string_view path, Tensor& activation) {
  if (wants(path)) see_(std::string(path), activation);
}

Capture::Capture(std::vector<std::string> paths)
    : watch_(std::move(paths), [this](const std::string& path, const Tensor& activation) {
        kept_.push_back({path, activation.clone()});
      }) {}

bool SeveralTaps::wants(std::string_view path) const {
  return std::any_of(taps_.begin(), taps_.end(), [&](const nn::Tap* tap) { return tap->wants(path); });
}

void SeveralTaps::see(std::string_view path, Tensor& activation) {
  for (nn::Tap* tap : taps_) {
    if (tap->wants(path)) tap->see(path, activation);
  }
}

}  // namespace dikkat::inspect
