// Greedy decoding with the key/value cache, from an empty window to a full one: `decode NAME [--threads N] [--tokens N]
// [--json]`; milliseconds a token, the median of seven windows. NAME as in workload.h.
#include <fmt/format.h>

#include "dikkat/base/parallel.h"
#include "dikkat/generate/session.h"
#include "dikkat/models/language_model.h"
#include "harness.h"
#include "workload.h"

namespace {

using namespace dikkat;

constexpr std::size_t kWindows = 7;

void measure(const bench::Request& request) {
  const bench::Workload workload = bench::workload_named(request.name());
  Pool pool(request.threads());
  const kernels::Executor executor{pool};
  const models::LanguageModel model(workload.model, DType::f32, nn::ParameterStore::Gradients::none);
  model.initialise(executor, 1);
  const std::size_t tokens = std::min(request.count("tokens", workload.model.context), workload.model.context);
  const auto window = [&] {
    generate::Session session(model, executor);
    text::Token next = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
      const Tensor logits = session.feed(std::span(&next, 1));
      next = static_cast<text::Token>(std::ranges::max_element(logits.span<float>()) - logits.span<float>().begin());
    }
  };
  window();
  const bench::Samples samples = bench::sampled(window, kWindows);
  const double ms = samples.median() / static_cast<double>(tokens);
  const double ms_least = samples.least() / static_cast<double>(tokens);
  if (request.json()) {
    fmt::print("{{\"name\":\"{}\",\"threads\":{},\"tokens\":{},\"ms\":{:.6f},\"ms_least\":{:.6f}}}\n", workload.name,
               pool.threads(), tokens, ms, ms_least);
  } else {
    fmt::print("{}: {} threads, {:.4f} ms a token (median of {} windows of {}, least {:.4f})\n", workload.name,
               pool.threads(), ms, kWindows, tokens, ms_least);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark("decode", [&] {
    measure({argc, argv, "decode NAME [--threads N] [--tokens N] [--json]", {"threads", "tokens"}});
  });
}
