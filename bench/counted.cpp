// `counted NAME`: one piece of work, inside counted_region(), for tools that count instructions (tests/counts). One
// thread, everything warm. NAME: matmul, attention-forward, attention-backward, norm, adam, or a workload, of which it
// is one step of training; of shakespeare-cpu on one window of its twelve (counting takes its time).
#include <array>
#include <functional>
#include <utility>

#include "attention_case.h"
#include "dikkat/base/parallel.h"
#include "dikkat/kernels/matmul.h"
#include "dikkat/kernels/norm.h"
#include "dikkat/kernels/optimizer_step.h"
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

// A product of the shapes that shakespeare-cpu is made of: (256,128) . (128,512).
void matmul(const Executor& executor) {
  constexpr std::size_t kRows = 256, kDepth = 128, kColumns = 512;
  const std::vector<float> a = bench::made_up_numbers(kRows * kDepth), b = bench::made_up_numbers(kDepth * kColumns);
  std::vector<float> out(kRows * kColumns);
  warm_and_counted([&] {
    kernels::matmul<float>(executor, {a.data(), kRows, kDepth, kDepth}, {b.data(), kDepth, kColumns, kColumns},
                           {out.data(), kRows, kColumns, kColumns});
  });
}

// Four heads of 32 over four samples of 64 tokens, causal.
void attention(const Executor& executor, bool backward) {
  bench::AttentionCase attention({.samples = 4, .queries = 64, .keys = 64, .heads = 4, .width = 32});
  if (!backward) return warm_and_counted([&] { attention.forward(executor); });
  attention.forward(executor);
  warm_and_counted([&] { attention.backward(executor); });
}

// Layer norm of 256 rows of 128, both ways.
void norm(const Executor& executor) {
  constexpr std::size_t kRows = 256, kColumns = 128;
  const std::vector<float> x = bench::made_up_numbers(kRows * kColumns), dy = bench::made_up_numbers(x.size()),
                           gain = bench::made_up_numbers(kColumns);
  std::vector<float> y(x.size()), dx(x.size()), mean(kRows), rstd(kRows), d_gain(kColumns);
  const kernels::NormShape shape{.rows = kRows, .columns = kColumns};
  const std::array<std::size_t, 2> chunks = {0, kRows};
  warm_and_counted([&] {
    kernels::norm_forward<float>(executor, shape, {x.data(), gain.data(), nullptr, y.data(), mean.data(), rstd.data()});
    kernels::norm_backward<float>(executor, shape,
                                  {x.data(), gain.data(), mean.data(), rstd.data(), dy.data(), dx.data()},
                                  kernels::Store::assign);
    kernels::norm_gain_gradient<float>(executor, shape, {x.data(), mean.data(), rstd.data(), dy.data(), d_gain.data()},
                                       chunks);
  });
}

void adam(const Executor& executor) {
  constexpr std::size_t kCount = 1U << 16U;
  const std::vector<float> gradient = bench::made_up_numbers(kCount);
  std::vector<float> w = bench::made_up_numbers(kCount), m(kCount), v(kCount);
  warm_and_counted([&] {
    kernels::adam_step<float>(executor, {.decay = 0.1}, w.data(), gradient.data(), m.data(), v.data(), kCount);
  });
}

void step(const Executor& executor, std::string_view name) {
  bench::Workload workload = bench::workload_named(name);
  if (name == "shakespeare-cpu") workload.settings.batch = 1;
  bench::Training training(std::move(workload), executor);
  warm_and_counted([&] { training.step(); });
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
