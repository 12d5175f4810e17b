// Reading a text and coding its characters, as a training does before its first step: `reading FILE [--times N]
// [--json]`.
#include <fmt/format.h>

#include <filesystem>

#include "dikkat/data/corpus.h"
#include "harness.h"

namespace {

using namespace dikkat;

void measure(const bench::Request& request) {
  const std::filesystem::path file = request.name();
  std::size_t tokens = 0;
  const bench::Samples samples = bench::sampled(
      [&] {
        const data::Texts texts({file}, data::Texts::Cleaning::characters);
        tokens = data::tokenized(texts, *data::character_tokenizer_of(texts)).tokens.size();
      },
      request.count("times", 0));
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) * 1e-6;
  const double megabytes_per_s = 1e3 * megabytes / samples.median();
  if (request.json()) {
    fmt::print("{{\"megabytes\":{:.3f},\"tokens\":{},\"ms\":{:.3f},\"megabytes_per_s\":{:.1f}}}\n", megabytes, tokens,
               samples.median(), megabytes_per_s);
  } else {
    fmt::print("{:.1f} MB, {} tokens: {:.1f} ms (median of {}), {:.0f} MB/s\n", megabytes, tokens, samples.median(),
               samples.milliseconds.size(), megabytes_per_s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark("reading", [&] {
    measure({argc, argv, "reading FILE [--times N] [--json]", {"times"}});
  });
}
