#include "dikkat/optim/schedule.h"

#include <algorithm>
#include <numbers>

#include "dikkat/kernels/maths.h"

namespace dikkat::optim {

double Schedule::rate(const kernels::Executor& executor, std::uint64_t t) const {
  if (t <= warmup && warmup != 0) return peak * static_cast<double>(t) / static_cast<double>(warmup);
  const std::uint64_t now = std::min(t, steps);
  const auto progress = [&](std::uint64_t from) {
    return steps <= from ? 1.0 : static_cast<double>(now - std::min(now, from)) / static_cast<double>(steps - from);
  };
  // Exact at both ends.
  const auto between = [&](double share) { return peak * (1.0 - share) + final * share; };
  switch (kind) {
    case ScheduleKind::constant: return peak;
    case ScheduleKind::linear: return between(progress(warmup));
    case ScheduleKind::cosine: {
      double wave = std::numbers::pi * progress(warmup);
      kernels::evaluate(executor, kernels::Function::cosine, &wave, &wave, 1);
      return final + (peak - final) * (1.0 + wave) * 0.5;
    }
    case ScheduleKind::wsd: {
      const auto decaying = static_cast<std::uint64_t>(decay_share * static_cast<double>(steps));
      return between(progress(std::max(warmup, steps - std::min(steps, decaying))));
    }
  }
  return peak;
}

}  // namespace dikkat::optim
