// One training step of a workload on synthetic ids: `step NAME [--threads N] [--steps N] [--dropout RATE]
// [--micro-batch N] [--json]`.
// NAME: kucuk, shakespeare-cpu, shakespeare, gpt2, names-16, names-32, names-64 (see workload.h).
#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "dikkat/base/parallel.h"
#include "harness.h"
#include "workload.h"

namespace {

using namespace dikkat;

constexpr int kWarmUp = 3;

void measure(const bench::Request& request) {
  bench::Workload workload = bench::workload_named(request.name());
  if (request.has("dropout")) {
    workload.model.dropout = workload.model.attention_dropout = request.real("dropout", 0);
  }
  workload.settings.micro_batch = request.count("micro-batch", 0);
  Pool pool(request.threads());
  bench::Training training(std::move(workload), {pool});
  const auto step = [&] { training.step(); };
  for (int warm_up = 0; warm_up < kWarmUp; ++warm_up) step();
  const bench::Samples samples = bench::sampled(step, request.count("steps", 0));
  const std::vector<std::size_t>& lengths = training.workload().lengths;
  const auto tokens = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  const double tokens_per_s = 1e3 * static_cast<double>(tokens) / samples.median();
  if (request.json()) {
    fmt::print(
        "{{\"name\":\"{}\",\"threads\":{},\"parameters\":{},\"steps\":{},\"ms\":{:.5f},\"ms_least\":{:.5f},"
        "\"tokens_per_s\":{:.1f},\"activation_bytes\":{}}}\n",
        training.workload().name, pool.threads(), training.parameters(), samples.milliseconds.size(), samples.median(),
        samples.least(), tokens_per_s, training.activation_bytes());
  } else {
    fmt::print(
        "{}: {} parameters, {} threads, {:.4f} ms a step (median of {}, least {:.4f}), {:.0f} tokens/s, "
        "{:.1f} MiB of activations\n",
        training.workload().name, training.parameters(), pool.threads(), samples.median(), samples.milliseconds.size(),
        samples.least(), tokens_per_s, static_cast<double>(training.activation_bytes()) / (1U << 20U));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark("step", [&] {
    measure({argc,
             argv,
             "step NAME [--threads N] [--steps N] [--dropout RATE] [--micro-batch N] [--json]",
             {"threads", "steps", "dropout", "micro-batch"}});
  });
}
