// `dikkat eval` of a run that learned series.
#pragma once

#include "dikkat/cli/arguments.h"
#include "dikkat/cli/console.h"
#include "dikkat/data/corpus.h"

namespace dikkat::cli {

int eval_series(const Arguments& arguments, Output& output);

}  // namespace dikkat::cli
