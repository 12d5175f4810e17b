// The work of kernels and steps in instructions, which no busy machine can change: counted by callgrind on the AVX2
// path (it knows no AVX-512) and held against instructions.json, within 2 %. Fewer is welcome too, and written down
// there.
#include <gtest/gtest.h>
#include <stdio.h>  // popen is POSIX

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "dikkat/base/fields.h"
#include "dikkat/base/file.h"
#include "dikkat/base/json.h"

namespace dikkat::testing {
namespace {

constexpr double kTolerance = 0.02;

std::string printed_by(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>&1").c_str(), "r"), pclose);
  std::string text;
  for (int c = pipe ? std::fgetc(pipe.get()) : EOF; c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
  return text;
}

// The C library copies and fills by loops on every processor, not by one instruction where it takes that for faster.
constexpr const char* kLoops =
    "GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=2000000000:glibc.cpu.x86_rep_stosb_threshold=2000000000:"
    "glibc.cpu.x86_non_temporal_threshold=2000000000 ";

// callgrind's last line: "==123== Collected : 4567".
std::optional<std::uint64_t> instructions_of(const std::string& name) {
  const std::string text = printed_by(std::string(kLoops) +
                                      "valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no "
                                      "--toggle-collect=counted_region " DIKKAT_COUNTED_PATH " " +
                                      name);
  const std::string_view label = "Collected : ";
  const std::size_t at = text.find(label);
  if (at == std::string::npos) {
    ADD_FAILURE() << text;
    return std::nullopt;
  }
  const std::size_t begin = at + label.size();
  return count_from(std::string_view(text).substr(begin, text.find_first_not_of("0123456789", begin) - begin));
}

class Instructions : public ::testing::TestWithParam<const char*> {};

TEST_P(Instructions, AreThoseCommitted) {
  if (printed_by("valgrind --version").find("valgrind-") == std::string::npos) GTEST_SKIP() << "valgrind is not here";
  const std::string file = DIKKAT_SOURCE_DIR "/tests/counts/instructions.json";
  const Json json = parse_json(read_small_file(file, 1U << 16U), file);
  const auto committed = static_cast<double>(JsonAt(json, file)[GetParam()].count());
  const auto counted = instructions_of(GetParam());
  ASSERT_TRUE(counted.has_value());
  EXPECT_NEAR(static_cast<double>(*counted) / committed, 1.0, kTolerance)
      << GetParam() << ": " << *counted << " instructions, committed are " << committed;
}

INSTANTIATE_TEST_SUITE_P(Of, Instructions,
                         ::testing::Values("matmul", "attention-forward", "attention-backward", "norm", "adam", "kucuk",
                                           "shakespeare-cpu"),
                         [](const auto& of) {
                           std::string name = of.param;
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace dikkat::testing
