// bench/kernels [threads]: speed of the kernels a training step spends its time in, at the presets' shapes. Attention
// counts only the pairs of query and key that see each other.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "dikkat/kernels/attention.h"
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

struct Heads {
  const char* where;
  std::size_t samples, queries, keys, heads, width;
};

// q, k and v lie side by side in rows of 3 C, as the product before attention leaves them; causal.
constexpr Heads kHeads[] = {
    {"kucuk", 2, 16, 16, 4, 8},
    {"shakespeare-cpu", 12, 64, 64, 4, 32},
    {"shakespeare", 4, 256, 256, 6, 64},
    {"gpt2", 1, 1024, 1024, 12, 64},
    {"gpt2 one token", 1, 1, 1024, 12, 64},
    {"shakespeare-cpu one token", 1, 1, 64, 4, 32},
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

void measure_attention(const Report& report, const Heads& p) {
  const std::size_t channels = p.heads * p.width;
  kernels::Rows rows;
  rows.lay_out(std::vector<std::size_t>(p.samples, p.queries), p.queries);
  std::vector<std::size_t> key_first_row;
  for (std::size_t b = 0; b <= p.samples; ++b) key_first_row.push_back(b * p.keys);
  const std::size_t query_rows = p.samples * p.queries;
  const std::size_t key_rows = p.samples * p.keys;
  std::vector<float> qkv(key_rows * 3 * channels), d_qkv(qkv.size());
  for (std::size_t i = 0; i < qkv.size(); ++i) qkv[i] = static_cast<float>(i * 2654435761U % 1024) / 512 - 1;
  std::vector<float> out(query_rows * channels), d_out(out.size(), 0.5F), max(query_rows * p.heads), sum(max.size());
  kernels::AttentionShape shape{.heads = p.heads, .kv_heads = p.heads, .width = p.width, .scale = 0.125, .rows = &rows};
  if (p.queries != p.keys) shape.key_first_row = key_first_row;
  const kernels::Heads<const float> q{qkv.data(), 3 * channels};
  const kernels::Heads<const float> k{qkv.data() + channels, 3 * channels};
  const kernels::Heads<const float> v{qkv.data() + 2 * channels, 3 * channels};
  double pairs = 0;
  for (std::size_t i = 0; i < p.queries; ++i) pairs += static_cast<double>(p.keys - p.queries + i + 1);
  pairs *= static_cast<double>(p.samples * channels);
  const std::string name = std::string("attention ") + p.where;
  report.line(name + " forward", 4 * pairs, bench::best_seconds([&] {
                kernels::attention_forward<float>(report.executor, shape,
                                                  {q, k, v, {out.data(), channels}, max.data(), sum.data()});
              }));
  if (p.queries != p.keys) return;
  report.line(name + " backward", 10 * pairs, bench::best_seconds([&] {
                kernels::attention_backward<float>(report.executor, shape,
                                                   {q,
                                                    k,
                                                    v,
                                                    {out.data(), channels},
                                                    max.data(),
                                                    sum.data(),
                                                    {d_out.data(), channels},
                                                    {d_qkv.data(), 3 * channels},
                                                    {d_qkv.data() + channels, 3 * channels},
                                                    {d_qkv.data() + 2 * channels, 3 * channels}});
              }));
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
    for (const Heads& p : kHeads) measure_attention(report, p);
  }
}
