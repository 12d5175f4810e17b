// Causal attention alone, forward and backward, 8 heads of 64: `attention [--tokens N] [--threads N] [--times N]
// [--json]`; milliseconds of both together.
#include <fmt/format.h>
#include <sys/resource.h>

#include "attention_case.h"
#include "dikkat/base/parallel.h"
#include "harness.h"

namespace {

using namespace dikkat;

constexpr std::size_t kMostToWarm = 8192;  // tokens; more take seconds, beside which a first call's cost is nothing

void measure(const bench::Request& request) {
  const std::size_t tokens = request.count("tokens", 1024);
  Pool pool(request.threads());
  const kernels::Executor executor{pool};
  bench::AttentionCase attention({.samples = 1, .queries = tokens, .keys = tokens, .heads = 8, .width = 64});
  const auto both = [&] {
    attention.forward(executor);
    attention.backward(executor);
  };
  if (tokens <= kMostToWarm) both();
  const bench::Samples samples = bench::sampled(both, request.count("times", 0));
  const double operations = attention.forward_operations() + attention.backward_operations();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  if (request.json()) {
    fmt::print("{{\"tokens\":{},\"threads\":{},\"ms\":{:.4f},\"ms_least\":{:.4f},\"peak_kib\":{}}}\n", tokens,
               pool.threads(), samples.median(), samples.least(), usage.ru_maxrss);
  } else {
    fmt::print("{} tokens, {} threads: {:.2f} ms (median of {}, least {:.2f}), {:.1f} GF/s, peak {:.0f} MiB\n", tokens,
               pool.threads(), samples.median(), samples.milliseconds.size(), samples.least(),
               1e-6 * operations / samples.median(), static_cast<double>(usage.ru_maxrss) / 1024);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark("attention", [&] {
    measure({argc, argv, "attention [--tokens N] [--threads N] [--times N] [--json]", {"tokens", "threads", "times"}});
  });
}
