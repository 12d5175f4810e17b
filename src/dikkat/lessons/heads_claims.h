// What the lesson on heads says of its accuracies. Sentences are chosen by counts of series: equal accuracies may
// differ in their last bit where their sums were taken otherwise.
#pragma once

#include <string>
#include <string_view>

#include "dikkat/lessons/heads.h"

namespace dikkat::lessons {

using Runs = std::array<HeadsRun, 2>;

[[nodiscard]] std::size_t correct(const Runs& runs);  // of both runs
[[nodiscard]] double mean_accuracy(const Runs& runs);
[[nodiscard]] double spread(const Runs& runs);  // how far the two accuracies lie apart
// How many held-out series the more frequent label is right for.
[[nodiscard]] std::size_t baseline_count(const HeadsLesson& lesson);

[[nodiscard]] std::string heads_word(std::size_t heads);

// Whether the means rise with the number of heads, and how far.
[[nodiscard]] std::string means_claim(const HeadsLesson& lesson);
// What the number of heads brings against what another start brings.
[[nodiscard]] std::string spread_claim(const HeadsLesson& lesson);
// Whether one run would have chosen what the mean of both does.
[[nodiscard]] std::string choice_claim(const HeadsLesson& lesson);

}  // namespace dikkat::lessons
