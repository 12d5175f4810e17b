// The threads and kernels a command was asked to use.
#pragma once

#include "dikkat/base/parallel.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/kernels/executor.h"

namespace dikkat::cli {

// --threads and --kernels, checked; Error{usage}.
struct ExecutionOptions {
  unsigned threads = 1;
  kernels::Bodies bodies = kernels::Bodies::fast;
};
[[nodiscard]] ExecutionOptions execution_options(const Arguments& arguments);

// The pool of threads, and how kernels run on it. Error{incompatible} on a processor that lacks AVX2.
class Execution {
 public:
  explicit Execution(const Arguments& arguments) : Execution(execution_options(arguments)) {}
  explicit Execution(const ExecutionOptions& options)
      : pool_(options.threads), executor_{.pool = pool_, .bodies = options.bodies} {}

  [[nodiscard]] const kernels::Executor& executor() const { return executor_; }

 private:
  Pool pool_;
  kernels::Executor executor_;
};

}  // namespace dikkat::cli
