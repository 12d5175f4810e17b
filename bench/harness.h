// How the benchmarks measure: the best of many short runs (a shared machine can only make a run slower), against the
// register peak measured the same way in the same minute.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/kernels/executor.h"

namespace dikkat::bench {

// What a benchmark was called with: NAME [--option number]... [--json].
class Request {
 public:
  // Error{usage}, showing `usage`, for an option that is not among `options`, a number that is none, a second name.
  Request(int argc, char** argv, std::string_view usage, std::initializer_list<std::string_view> options);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool has(std::string_view option) const { return numbers_.contains(option); }
  [[nodiscard]] double real(std::string_view option, double fallback) const;
  [[nodiscard]] std::size_t count(std::string_view option, std::size_t fallback) const;
  // --threads, or all there are.
  [[nodiscard]] unsigned threads() const;
  [[nodiscard]] bool json() const { return json_; }

 private:
  std::string name_;
  std::map<std::string, double, std::less<>> numbers_;
  bool json_ = false;
};

// main() of a benchmark: runs it, says what went wrong, exits as dikkat would.
[[nodiscard]] int run_benchmark(std::string_view program, const std::function<void()>& benchmark);

// Milliseconds of single calls, and what is told of them.
struct Samples {
  std::vector<double> milliseconds;  // ascending

  [[nodiscard]] double median() const { return milliseconds[milliseconds.size() / 2]; }
  [[nodiscard]] double least() const { return milliseconds.front(); }
};
// Calls run() `count` times, or for about two seconds and at least five times where count is 0.
template <class Run>
Samples sampled(Run&& run, std::size_t count) {
  using Clock = std::chrono::steady_clock;
  Samples samples;
  double spent = 0;
  do {
    const auto start = Clock::now();
    run();
    samples.milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    spent += samples.milliseconds.back();
  } while (samples.milliseconds.size() < (count == 0 ? 5 : count) || (count == 0 && spent < 2000));
  std::ranges::sort(samples.milliseconds);
  return samples;
}

// Seconds of the fastest call of run() within about `budget` seconds; several calls a sample where one is too short
// for the clock.
template <class Run>
double best_seconds(Run&& run, double budget = 0.3) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_of = [&](std::size_t calls) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < calls; ++i) run();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  run();
  const double once = std::max(seconds_of(1), 1e-8);
  const std::size_t calls = std::max<std::size_t>(1, static_cast<std::size_t>(2e-5 / once));
  double best = once;
  double spent = 0;
  for (std::size_t samples = 0; samples < 5 || spent < budget; ++samples) {
    const double seconds = seconds_of(calls);
    spent += seconds;
    best = std::min(best, seconds / static_cast<double>(calls));
  }
  return best;
}

// Multiply-adds of floats a core does a second, twice over, with everything in registers; floating point operations/s.
[[nodiscard]] double register_peak(kernels::InstructionSet set);

}  // namespace dikkat::bench
