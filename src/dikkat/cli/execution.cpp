#include "dikkat/cli/execution.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kMostThreads = 1024;

}  // namespace

ExecutionOptions execution_options(const Arguments& arguments) {
  const std::size_t threads = arguments.has("threads") ? arguments.positive("threads", 1) : available_threads();
  if (threads > kMostThreads) {
    refuse_value("threads", std::to_string(threads), "a whole number from 1 to " + std::to_string(kMostThreads));
  }
  return {.threads = static_cast<unsigned>(threads), .bodies = *kernels::bodies_named(arguments.choice("kernels"))};
}

}  // namespace dikkat::cli
