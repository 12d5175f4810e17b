#include "dikkat/cli/suggest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dikkat/base/fields.h"

namespace dikkat::cli {
namespace {

// What nanoGPT, PyTorch and Transformers call our settings.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kCalledElsewhere{{
    {"n-embd", "width"},
    {"d-model", "width"},
    {"n-layer", "layers"},
    {"n-head", "heads"},
    {"block-size", "context"},
    {"seq-len", "context"},
    {"max-iters", "steps"},
    {"max-steps", "steps"},
    {"iterations", "steps"},
    {"epochs", "steps"},
    {"batch-size", "batch"},
    {"grad-clip", "clip"},
    {"max-new-tokens", "tokens"},
    {"num-samples", "count"},
    {"eval-interval", "eval-every"},
    {"init-from", "resume"},
    {"output", "out"},
}};

std::string initials_of(std::string_view name) {
  std::string initials;
  bool first = true;
  for (const char c : name) {
    if (first) initials += c;
    first = c == '-';
  }
  return initials;
}

template <class Fits>
std::optional<std::string> only(const std::vector<std::string>& known, Fits&& fits) {
  const auto found = std::find_if(known.begin(), known.end(), fits);
  if (found == known.end() || std::find_if(found + 1, known.end(), fits) != known.end()) return std::nullopt;
  return *found;
}

}  // namespace

std::optional<std::string> suggestion(std::string_view name, const std::vector<std::string>& known) {
  std::string kebab(name);
  std::replace(kebab.begin(), kebab.end(), '_', '-');
  for (const auto& [theirs, ours] : kCalledElsewhere) {
    if (kebab == theirs && std::find(known.begin(), known.end(), ours) != known.end()) return std::string(ours);
  }
  if (kebab.size() > 1) {
    if (auto by_initials = only(known, [&](const std::string& k) { return initials_of(k) == kebab; }))
      return by_initials;
  }
  if (auto near = nearest_name(kebab, known)) return near;
  if (kebab.size() < 3) return std::nullopt;
  return only(known, [&](const std::string& k) { return k.starts_with(kebab); });
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known, std::string_view prefix,
                         std::string otherwise) {
  const std::optional<std::string> meant = suggestion(name, known);
  return meant ? "did you mean " + std::string(prefix) + *meant + "?" : std::move(otherwise);
}

}  // namespace dikkat::cli
