// Scores of runs that were made anywhere: a table of two columns, the seed of a run and its score.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dikkat::data {

struct ScoredRun {
  std::string seed;  // as it is written: whatever says that two runs are of one seed
  double score = 0;  // finite, of a size whose square is one too: at most kLargestScore
};

inline constexpr std::size_t kMostScoredRuns = 1'000'000;
inline constexpr double kLargestScore = 1e150;

// In the order of the file. Comma, semicolon or tab (see series_fields.h); a first row of two fields that are no
// numbers names the columns. Error{malformed} with row and column for a row that has not two fields, an empty seed or
// one that stands there twice, a score that is no number of at most kLargestScore; for a file without a run.
// Error{limit} for more than kMostScoredRuns.
[[nodiscard]] std::vector<ScoredRun> read_scores(const std::filesystem::path& path);

}  // namespace dikkat::data
