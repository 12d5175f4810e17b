// Learning-rate schedules: a pure function of the step, so that resuming needs no state.
//   warm-up:  step t = 1..W:  peak * t / W
//   constant: peak
//   linear:   from peak at step W to final at step N
//   cosine:   final + (peak - final) * (1 + cos(pi * (t - W) / (N - W))) / 2
//   wsd:      peak, then linear to final over the last decay_share * N steps (warm-up, stable, decay)
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "dikkat/base/fields.h"
#include "dikkat/kernels/executor.h"

namespace dikkat::optim {

enum class ScheduleKind : std::uint8_t { constant, linear, cosine, wsd };

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double peak = 1e-3;
  double final = 1e-4;
  std::uint64_t warmup = 0;  // W
  std::uint64_t steps = 1;   // N
  double decay_share = 0.2;

  // t counts from 1. Past N the value at N. (The executor: the cosine is the house's own.)
  [[nodiscard]] double rate(const kernels::Executor& executor, std::uint64_t t) const;
};

}  // namespace dikkat::optim

namespace dikkat {

template <>
struct EnumNames<optim::ScheduleKind> {
  static constexpr std::array<std::pair<optim::ScheduleKind, std::string_view>, 4> names{
      {{optim::ScheduleKind::constant, "constant"},
       {optim::ScheduleKind::linear, "linear"},
       {optim::ScheduleKind::cosine, "cosine"},
       {optim::ScheduleKind::wsd, "wsd"}}};
};

}  // namespace dikkat
