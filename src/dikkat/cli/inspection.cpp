#include "dikkat/cli/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "dikkat/base/error.h"

namespace dikkat::cli {
namespace {

// The chosen one of `count` things numbered from 0.
std::size_t numbered(const Arguments& arguments, const std::string& what, std::size_t count) {
  const auto number = arguments.value(what, std::size_t{0});
  if (number < count) return number;
  throw Error(ErrorKind::usage, fmt::format("the model has no {} {}", what, number),
              {.key = "--" + what,
               .hint = count == 0   ? "it has none at all"
                       : count == 1 ? fmt::format("it has one, {} 0", what)
                                    : fmt::format("they are 0 to {}; the nearest is {}", count - 1, count - 1)});
}

}  // namespace

HeadChoice head_choice(const Arguments& arguments, const models::Config& config) {
  HeadChoice choice{.layers = {}, .heads = {0, config.heads}, .given = arguments.has("layer") || arguments.has("head")};
  if (arguments.has("layer")) {
    choice.layers = {numbered(arguments, "layer", config.layers)};
  } else {
    choice.layers.resize(config.layers);
    std::iota(choice.layers.begin(), choice.layers.end(), std::size_t{0});
  }
  if (arguments.has("head")) {
    const std::size_t head = numbered(arguments, "head", config.heads);
    choice.heads = {head, head + 1};
  }
  return choice;
}

std::string shortest(const Tensor& contiguous, std::size_t index) {
  return with_number(contiguous.dtype(), [&]<class T>() { return fmt::format("{}", contiguous.data<T>()[index]); });
}

}  // namespace dikkat::cli
