// What dikkat inspect --html writes: the page of inspect/page.h about the chosen heads.
#pragma once

#include <string>
#include <vector>

#include "dikkat/cli/inspected_run.h"
#include "dikkat/inspect/page.h"

namespace dikkat::cli {

// `heads`: queries and keys of the chosen layers. `sampling`: words on how what the model wrote was drawn.
[[nodiscard]] inspect::PageData page_data(const InspectedRun& run, const Subject& subject,
                                          std::vector<inspect::LayerHeads> heads, const std::string& sampling);

}  // namespace dikkat::cli
