// How the benchmarks measure: the best of many short runs (a shared machine can only make a run slower), against the
// register peak measured the same way in the same minute.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "dikkat/kernels/executor.h"

namespace dikkat::bench {

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
