// Causal attention alone, forward and backward, 8 heads of 64: `attention [--tokens N] [--threads N] [--times N]
// [--json]`; milliseconds of both together.
#include "dikkat/kernels/attention.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>

#include "dikkat/base/parallel.h"
#include "dikkat/kernels/normal_fill.h"
#include "dikkat/random/streams.h"
#include "harness.h"

namespace {

using namespace dikkat;

constexpr std::size_t kHeads = 8;
constexpr std::size_t kWidth = 64;
constexpr std::size_t kChannels = kHeads * kWidth;

void measure(const bench::Request& request) {
  const std::size_t tokens = request.count("tokens", 1024);
  Pool pool(request.threads());
  const kernels::Executor executor{pool};
  kernels::Rows rows;
  rows.lay_out(std::vector<std::size_t>{tokens}, tokens);
  std::vector<float> qkv(tokens * 3 * kChannels), d_qkv(qkv.size());
  std::vector<float> out(tokens * kChannels), d_out(out.size()), max(tokens * kHeads), sum(max.size());
  kernels::normal_fill(executor, random::stream(1, "attention"), 1.0, qkv.data(), qkv.size());
  kernels::normal_fill(executor, random::stream(2, "attention"), 1.0, d_out.data(), d_out.size());
  const kernels::AttentionShape shape{.heads = kHeads,
                                      .kv_heads = kHeads,
                                      .width = kWidth,
                                      .scale = 1 / std::sqrt(static_cast<double>(kWidth)),
                                      .rows = &rows};
  const auto part = [&](auto& tensor, std::size_t which) {
    return kernels::Heads{tensor.data() + which * kChannels, 3 * kChannels};
  };
  const std::vector<float>& fixed = qkv;
  const auto both = [&] {
    kernels::attention_forward<float>(
        executor, shape,
        {part(fixed, 0), part(fixed, 1), part(fixed, 2), {out.data(), kChannels}, max.data(), sum.data()});
    kernels::attention_backward<float>(executor, shape,
                                       {part(fixed, 0),
                                        part(fixed, 1),
                                        part(fixed, 2),
                                        {out.data(), kChannels},
                                        max.data(),
                                        sum.data(),
                                        {d_out.data(), kChannels},
                                        part(d_qkv, 0),
                                        part(d_qkv, 1),
                                        part(d_qkv, 2)});
  };
  if (tokens <= 8192) both();
  const bench::Samples samples = bench::sampled(both, request.count("times", 0));
  // Products of the pairs that see each other: 2 forward, 5 backward, a multiplication and an addition each.
  const double operations = 7.0 * 2 * kChannels * (static_cast<double>(tokens) * static_cast<double>(tokens + 1) / 2);
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
