// `counted NAME`: one piece of work, inside counted_region(), for tools that count instructions (tests/counts). One
// thread, everything warm. NAME: matmul, attention-forward, attention-backward, norm, adam, or a workload, of which it
// is one step of training; of shakespeare-cpu on one window of its twelve (counting takes its time).
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "dikkat/base/error.h"
#include "dikkat/base/parallel.h"
#include "dikkat/kernels/attention.h"
#include "dikkat/kernels/matmul.h"
#include "dikkat/kernels/norm.h"
#include "dikkat/kernels/optimizer_step.h"
#include "dikkat/models/language_model.h"
#include "dikkat/train/stepper.h"
#include "harness.h"
#include "workload.h"

// By this name the counter finds it.
extern "C" [[gnu::noinline]] void counted_region(const std::function<void()>& work) {
  work();
  asm volatile("" ::: "memory");
}

namespace {

using namespace dikkat;
using kernels::Executor;

void warm_and_counted(const std::function<void()>& work) {
  work();
  counted_region(work);
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 2654435761U % 1024) / 512 - 1;
  return values;
}

// A product of the shapes that shakespeare-cpu is made of: (256,128) . (128,512).
void matmul(const Executor& executor) {
  constexpr std::size_t kRows = 256, kDepth = 128, kColumns = 512;
  const std::vector<float> a = numbers(kRows * kDepth), b = numbers(kDepth * kColumns);
  std::vector<float> out(kRows * kColumns);
  warm_and_counted([&] {
    kernels::matmul<float>(executor, {a.data(), kRows, kDepth, kDepth}, {b.data(), kDepth, kColumns, kColumns},
                           {out.data(), kRows, kColumns, kColumns});
  });
}

// Four heads of 32 over four samples of 64 tokens, causal.
void attention(const Executor& executor, bool backward) {
  constexpr std::size_t kSamples = 4, kTokens = 64, kHeads = 4, kWidth = 32, kChannels = kHeads * kWidth;
  kernels::Rows rows;
  rows.lay_out(std::vector<std::size_t>(kSamples, kTokens), kTokens);
  const std::vector<float> qkv = numbers(rows.count() * 3 * kChannels), d_out = numbers(rows.count() * kChannels);
  std::vector<float> d_qkv(qkv.size()), out(d_out.size()), max(rows.count() * kHeads), sum(max.size());
  const kernels::AttentionShape shape{
      .heads = kHeads, .kv_heads = kHeads, .width = kWidth, .scale = 0.25, .rows = &rows};
  const auto part = [&](auto& tensor, std::size_t which) {
    return kernels::Heads{tensor.data() + which * kChannels, 3 * kChannels};
  };
  const auto forward = [&] {
    kernels::attention_forward<float>(
        executor, shape, {part(qkv, 0), part(qkv, 1), part(qkv, 2), {out.data(), kChannels}, max.data(), sum.data()});
  };
  if (!backward) return warm_and_counted(forward);
  forward();
  warm_and_counted([&] {
    kernels::attention_backward<float>(executor, shape,
                                       {part(qkv, 0),
                                        part(qkv, 1),
                                        part(qkv, 2),
                                        {out.data(), kChannels},
                                        max.data(),
                                        sum.data(),
                                        {d_out.data(), kChannels},
                                        part(d_qkv, 0),
                                        part(d_qkv, 1),
                                        part(d_qkv, 2)});
  });
}

// Layer norm of 256 rows of 128, both ways.
void norm(const Executor& executor) {
  constexpr std::size_t kRows = 256, kColumns = 128;
  const std::vector<float> x = numbers(kRows * kColumns), dy = numbers(x.size()), gain = numbers(kColumns);
  std::vector<float> y(x.size()), dx(x.size()), mean(kRows), rstd(kRows), d_gain(kColumns);
  const kernels::NormShape shape{.rows = kRows, .columns = kColumns};
  const std::array<std::size_t, 2> chunks = {0, kRows};
  warm_and_counted([&] {
    kernels::norm_forward<float>(executor, shape, {x.data(), gain.data(), nullptr, y.data(), mean.data(), rstd.data()});
    kernels::norm_backward<float>(
        executor, shape,
        {x.data(), gain.data(), mean.data(), rstd.data(), dy.data(), dx.data(), d_gain.data(), nullptr}, chunks,
        kernels::Store::assign);
  });
}

void adam(const Executor& executor) {
  constexpr std::size_t kCount = 1U << 16U;
  const std::vector<float> gradient = numbers(kCount);
  std::vector<float> w = numbers(kCount), m(kCount), v(kCount);
  warm_and_counted([&] {
    kernels::adam_step<float>(executor, {.decay = 0.1}, w.data(), gradient.data(), m.data(), v.data(), kCount);
  });
}

void step(const Executor& executor, std::string_view name) {
  bench::Workload workload = bench::workload_named(name);
  if (name == "shakespeare-cpu") workload.settings.batch = 1;
  const models::LanguageModel model(workload.model, DType::f32, nn::ParameterStore::Gradients::kept);
  model.initialise(executor, 1);
  optim::Optimizer optimizer(model.parameters(), train::optimizer_settings(workload.settings));
  bench::SyntheticSource source(workload);
  train::LanguageObjective objective(model, source);
  train::Stepper stepper(objective, optimizer, workload.settings, executor);
  const train::StopRequest never;
  std::uint64_t t = 0;
  warm_and_counted([&] {
    ++t;
    stepper.update(t, stepper.measure(t, never));
  });
}

void run(const bench::Request& request) {
  Pool pool(1);
  const Executor executor{pool};
  const std::string& name = request.name();
  if (name == "matmul") return matmul(executor);
  if (name == "attention-forward") return attention(executor, false);
  if (name == "attention-backward") return attention(executor, true);
  if (name == "norm") return norm(executor);
  if (name == "adam") return adam(executor);
  step(executor, name);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark("counted", [&] { run({argc, argv, "counted NAME", {}}); });
}
