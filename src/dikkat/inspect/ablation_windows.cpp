#include "dikkat/inspect/ablation_windows.h"

#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/inspect/windows.h"

namespace dikkat::inspect {
namespace {

bool needs_references(const AblationOptions& options) {
  return std::any_of(options.by.begin(), options.by.end(), [](Substitute by) { return by != Substitute::zero; });
}

AblationWindows divided(const std::vector<std::size_t>& all, const AblationOptions& options) {
  const std::size_t asked = options.windows + options.references;
  const std::size_t share = all.size() == asked ? options.windows : all.size() * options.windows / asked;
  const std::size_t measured = std::clamp<std::size_t>(share, 1, all.size() - 1);
  const std::vector<std::size_t> order = drawn_order(random::stream(options.seed, "ablation reference"), 0, all.size());
  AblationWindows windows;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (i < measured ? windows.measured : windows.references).push_back(all[order[i]]);
  }
  std::sort(windows.measured.begin(), windows.measured.end());
  std::sort(windows.references.begin(), windows.references.end());
  return windows;
}

}  // namespace

AblationWindows ablation_windows(const AblationText& text, const AblationOptions& options) {
  const auto drawn = [&](std::span<const text::Token> tokens, std::size_t count) {
    return windows_over(tokens, options.length, count, options.seed);
  };
  if (!needs_references(options)) return {.measured = drawn(text.measured, options.windows), .references = {}};
  if (!text.reference.empty()) {
    return {.measured = drawn(text.measured, options.windows), .references = drawn(text.reference, options.references)};
  }
  const std::vector<std::size_t> all = drawn(text.measured, options.windows + options.references);
  if (all.size() < 2) {
    throw Error(ErrorKind::malformed, "the text holds a single window: none is left for the mean or for resampling",
                {.hint = "give a longer text, take shorter windows, or ablate by zero"});
  }
  return divided(all, options);
}

std::size_t donor_of(std::size_t window, std::size_t references, std::uint64_t seed) {
  const random::Stream stream = random::stream(seed, "ablation donor");
  return random::below(stream, {static_cast<std::uint32_t>(window), 0, 0, 0}, references);
}

std::vector<std::size_t> position_order(std::size_t window, std::size_t length, std::uint64_t seed) {
  return drawn_order(random::stream(seed, "ablation order"), static_cast<std::uint32_t>(window), length);
}

}  // namespace dikkat::inspect
