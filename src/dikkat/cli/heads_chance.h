// What heads come to by chance, found in the run's folder or made while somebody watches.
#pragma once

#include <optional>

#include "dikkat/cli/heads_request.h"
#include "dikkat/inspect/head_null.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/train/stepper.h"

namespace dikkat::cli {

struct FoundNull {
  std::optional<inspect::HeadNull> null = {};  // none: stopped
  bool cached = false;
};

class NullMaker {
 public:
  // windows: those of the null; seconds_of_draw: what one draw is thought to take. All outlive it.
  NullMaker(const train::LoadedRun& run, const HeadsWish& wish, const inspect::HeadWindows& windows,
            double seconds_of_draw, const kernels::Executor& executor, const train::StopRequest& stop)
      : run_(run),
        wish_(wish),
        windows_(windows),
        seconds_of_draw_(seconds_of_draw),
        executor_(executor),
        stop_(stop) {}

  // Says on standard error, before it starts, what will take long. Error{incompatible} where shuffles of this text are
  // no chance.
  [[nodiscard]] FoundNull make() const { return wish_.null == NullKind::untrained ? untrained() : shuffled(); }

 private:
  [[nodiscard]] FoundNull untrained() const;
  [[nodiscard]] FoundNull shuffled() const;
  template <class Make>
  [[nodiscard]] std::optional<inspect::HeadNull> watched(Make&& make) const;
  void announce() const;
  [[nodiscard]] inspect::HeadNull shape() const;

  const train::LoadedRun& run_;
  const HeadsWish& wish_;
  const inspect::HeadWindows& windows_;
  double seconds_of_draw_;
  const kernels::Executor& executor_;
  const train::StopRequest& stop_;
};

}  // namespace dikkat::cli
