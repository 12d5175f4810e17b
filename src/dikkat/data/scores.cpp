#include "dikkat/data/scores.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <unordered_map>

#include "dikkat/base/error.h"
#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/data/series_fields.h"

namespace dikkat::data {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";
constexpr std::string_view kDiverged = "a run that diverged scores what an untrained model scores";

class ScoreReader {
 public:
  ScoreReader(std::string_view text, std::string file)
      : file_(std::move(file)), delimiter_(delimiter_of(text)), reader_(text, delimiter_, file_) {}

  std::vector<ScoredRun> runs() {
    while (reader_.next_row()) take_row();
    if (runs_.empty()) refuse("there is no run in it", {}, "give two columns: the seed of a run and its score");
    return std::move(runs_);
  }

 private:
  void take_row() {
    const bool first = row_++ == 0;
    std::string_view field;
    if (!reader_.next_field(field)) refuse_width();
    std::string seed(field);
    const FieldPlace seed_place = reader_.place();
    if (!reader_.next_field(field)) refuse_width();
    const std::string score(field);
    const FieldPlace score_place = reader_.place();
    if (reader_.next_field(field)) refuse_width();
    const ReadNumber read = number_in(score);
    if (first && read.reading == Reading::text && number_in(seed).reading == Reading::text) return;
    if (read.reading != Reading::number)
      refuse_number(read.reading, score, file_, text_of(score_place, "score"), kDiverged);
    if (std::abs(read.value) > kLargestScore) {
      refuse(fmt::format("the score {} is larger than {}", label_of(score), kLargestScore),
             text_of(score_place, "score"), "give scores in a larger unit");
    }
    if (seed.empty()) refuse("the run has no seed", text_of(seed_place), "name the seed of each run");
    const auto [known, fresh] = rows_.try_emplace(seed, seed_place.row);
    if (!fresh) {
      refuse(fmt::format("seed '{}' stands in row {} already", label_of(seed), known->second), text_of(seed_place),
             "keep one score for each seed");
    }
    if (runs_.size() == kMostScoredRuns) {
      throw Error(ErrorKind::limit, fmt::format("more than {} runs", kMostScoredRuns), {.file = file_});
    }
    runs_.push_back({std::move(seed), read.value});
  }

  [[noreturn]] void refuse(std::string rule, std::string place, std::string hint) const {
    throw Error(ErrorKind::malformed, std::move(rule),
                {.file = file_, .key = std::move(place), .hint = std::move(hint)});
  }
  [[noreturn]] void refuse_width() const {
    refuse("a row must have two fields, the seed of a run and its score", text_of(reader_.place()),
           delimiter_ == '\0' ? "part them by a comma, a semicolon or a tab" : "leave the others out");
  }

  std::string file_;
  char delimiter_;
  FieldReader reader_;
  std::size_t row_ = 0;
  std::vector<ScoredRun> runs_;
  std::unordered_map<std::string, std::size_t> rows_;  // of each seed
};

}  // namespace

std::vector<ScoredRun> read_scores(const std::filesystem::path& path) {
  const MappedFile file(path);
  std::string_view text = file.text();
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return ScoreReader(text, path.string()).runs();
}

}  // namespace dikkat::data
