// bench/kernels [threads]: speed of the kernels a training step spends its time in, at the presets' shapes. Attention
// counts only the pairs of query and key that see each other.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "attention_case.h"
#include "dikkat/kernels/matmul.h"
#include "harness.h"

namespace {

using namespace dikkat;
using kernels::Executor;
using kernels::InstructionSet;
using kernels::Matrix;

struct Product {
  const char* where;
  std::size_t tokens, in, out;
};

// Forward x W (NN), dX = dY W^T (NT) and dW = x^T dY (TN, chunks of 256 tokens) of a linear layer.
constexpr Product kProducts[] = {
    {"shakespeare-cpu qkv", 768, 128, 384},
    {"shakespeare-cpu projection", 768, 128, 128},
    {"shakespeare-cpu mlp up", 768, 128, 512},
    {"shakespeare-cpu mlp down", 768, 512, 128},
    {"shakespeare-cpu head", 768, 128, 65},
    {"kucuk projection", 32, 32, 32},
    {"kucuk mlp up", 32, 32, 128},
    {"kucuk mlp down", 32, 128, 32},
    {"shakespeare mlp up", 1024, 384, 1536},
    {"one token", 1, 768, 768},
};

struct Attention {
  const char* where;
  bench::AttentionSizes sizes;
};

constexpr Attention kAttention[] = {
    {"kucuk", {2, 16, 16, 4, 8}},
    {"shakespeare-cpu", {12, 64, 64, 4, 32}},
    {"shakespeare", {4, 256, 256, 6, 64}},
    {"gpt2", {1, 1024, 1024, 12, 64}},
    {"gpt2 one token", {1, 1, 1024, 12, 64}},
    {"shakespeare-cpu one token", {1, 1, 64, 4, 32}},
};

struct Report {
  const Executor& executor;
  double peak;
  void line(const std::string& what, double operations, double seconds) const {
    std::printf("%-44s %-6s %9.2f us %8.1f GF/s %5.1f %%\n", what.c_str(),
                std::string(kernels::name_of(executor.instructions)).c_str(), seconds * 1e6,
                operations / seconds * 1e-9, 100.0 * operations / seconds / peak);
  }
};

void measure_product(const Report& report, const Product& p) {
  std::vector<float> x(p.tokens * p.in, 0.5F), w(p.in * p.out, 0.25F), y(p.tokens * p.out, 0.125F);
  std::vector<std::size_t> chunks = {0};
  while (chunks.back() < p.tokens) chunks.push_back(std::min(p.tokens, chunks.back() + 256));
  const Matrix<const float> x_view{x.data(), p.tokens, p.in, p.in};
  const Matrix<const float> w_view{w.data(), p.in, p.out, p.out};
  const Matrix<const float> y_view{y.data(), p.tokens, p.out, p.out};
  std::vector<float> y_out(y.size()), x_out(x.size()), w_out(w.size());
  const double operations = 2.0 * static_cast<double>(p.tokens * p.in * p.out);
  const std::string name = p.where;
  const Executor& executor = report.executor;
  report.line(name + " NN", operations, bench::best_seconds([&] {
                kernels::matmul<float>(executor, x_view, w_view, {y_out.data(), p.tokens, p.out, p.out});
              }));
  report.line(name + " NT", operations, bench::best_seconds([&] {
                kernels::matmul<float>(executor, y_view, w_view.transposed(), {x_out.data(), p.tokens, p.in, p.in});
              }));
  report.line(name + " dW", operations, bench::best_seconds([&] {
                kernels::matmul<float>(executor, x_view.transposed(), y_view, {w_out.data(), p.in, p.out, p.out},
                                       {.chunks = chunks});
              }));
}

void measure_attention(const Report& report, const Attention& p) {
  bench::AttentionCase attention(p.sizes);
  const std::string name = std::string("attention ") + p.where;
  report.line(name + " forward", attention.forward_operations(),
              bench::best_seconds([&] { attention.forward(report.executor); }));
  if (p.sizes.queries != p.sizes.keys) return;
  report.line(name + " backward", attention.backward_operations(),
              bench::best_seconds([&] { attention.backward(report.executor); }));
}

}  // namespace

int main(int argc, char** argv) {
  unsigned threads = 1;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), threads);
  Pool pool(threads);
  for (const auto set : {InstructionSet::avx512, InstructionSet::avx2}) {
    if (!kernels::supports(set)) continue;
    const Executor executor{pool, kernels::Bodies::fast, set};
    const Report report{executor, bench::register_peak(set) * threads};
    std::printf("register peak (%u threads) %.1f GF/s\n", threads, report.peak * 1e-9);
    for (const Product& p : kProducts) measure_product(report, p);
    for (const Attention& p : kAttention) measure_attention(report, p);
  }
}
