#include "dikkat/stats/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "dikkat/cli/arguments.h"
#include "dikkat/cli/commands.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/verdict_view.h"
#include "dikkat/data/scores.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

using Runs = std::vector<data::ScoredRun>;

stats::Question question_of(const Arguments& arguments) {
  if (!arguments.has("smallest-difference")) {
    throw Error(ErrorKind::usage,
                "--smallest-difference is missing: nobody else can say which difference would matter to you",
                {.hint = "give it in the scores' unit, --smallest-difference 0.01 for instance"});
  }
  stats::Question question;
  question.smallest_difference = arguments.value("smallest-difference", 0.0);
  question.looks = arguments.value("looks", question.looks);
  question.comparisons = arguments.positive("comparisons", question.comparisons);
  return question;
}

// Scores of the seeds that both have, in the order of a.
struct Pairs {
  std::vector<double> a, b;
};

Pairs common_seeds(const Runs& a, const Runs& b) {
  std::unordered_map<std::string_view, double> score_of;
  for (const data::ScoredRun& run : b) score_of.emplace(run.seed, run.score);
  Pairs pairs;
  for (const data::ScoredRun& run : a) {
    const auto found = score_of.find(run.seed);
    if (found == score_of.end()) continue;
    pairs.a.push_back(run.score);
    pairs.b.push_back(found->second);
  }
  return pairs;
}

std::vector<double> scores_of(const Runs& runs) {
  std::vector<double> scores;
  for (const data::ScoredRun& run : runs) scores.push_back(run.score);
  return scores;
}

// Turned so that more is better.
std::vector<double> turned(std::vector<double> scores, bool lower_is_better) {
  if (lower_is_better) {
    for (double& score : scores) score = -score;
  }
  return scores;
}

// Lists that share a few seeds only are two samples; where one holds all seeds of the other they are pairs, however
// few.
bool pair_up(const Pairs& pairs, const Runs& a, const Runs& b) {
  return pairs.a.size() >= stats::kFirstLook || pairs.a.size() == std::min(a.size(), b.size());
}

Compared compared(const Arguments& arguments) {
  const stats::Question question = question_of(arguments);
  const std::filesystem::path first = arguments.operands()[0], second = arguments.operands()[1];
  const Runs a = data::read_scores(first), b = data::read_scores(second);
  Pairs pairs = common_seeds(a, b);
  const bool lower = arguments.has("lower-is-better");
  Compared c{.a = text::escaped(first.string()),
             .b = text::escaped(second.string()),
             .runs_a = a.size(),
             .runs_b = b.size(),
             .paired = pair_up(pairs, a, b),
             .lower_is_better = lower,
             .question = question,
             .verdict = {}};
  if (!c.paired) {
    if (question.looks != stats::Looks::once) {
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "only {} of the seeds in {} and {} are common, too few to pair, and runs that do not pair allow one "
              "look only",
              pairs.a.size(), c.a, c.b),
          {.key = "looks",
           .hint = "run both on the same seeds, or, if their number was fixed beforehand, say --looks once"});
    }
    pairs = {scores_of(a), scores_of(b)};
  }
  c.mean_a = stats::mean(pairs.a);
  c.mean_b = stats::mean(pairs.b);
  const std::vector<double> better_a = turned(pairs.a, lower), better_b = turned(pairs.b, lower);
  if (!c.paired) {
    c.verdict = stats::unpaired_verdict(better_a, better_b, question);
    return c;
  }
  for (std::size_t i = 0; i < better_a.size(); ++i) c.differences.push_back(better_b[i] - better_a[i]);
  c.verdict = stats::verdict(c.differences, question);
  return c;
}

int run_verdict(const Arguments& arguments, Output& output) {
  const Compared c = compared(arguments);
  if (arguments.json()) {
    output.line(text_of(verdict_json(c)));
  } else {
    output.write(verdict_text(c, columns(Stream::output)));
  }
  return 0;
}

}  // namespace

Command verdict_command() {
  return {
      .name = "verdict",
      .summary = "say whether one kind of run is really better than another",
      .description =
          "Takes two tables of runs, one for each kind, with two columns: the seed of a run and its score (accuracy, "
          "or with --lower-is-better a loss). Pairs the runs of equal seed and answers for B against A: better, "
          "worse, no difference that matters, or undecided and about how many more pairs would decide; with an "
          "interval that you may look at after every new pair (--looks any, a sequential t) or once (--looks once, "
          "Student's t).\n"
          "There is no verdict below ten pairs, nor with fewer than six differences that are not zero. Tables whose "
          "seeds do not pair are compared by Welch's t, with --looks once only. Every verdict exits with 0.",
      .operands = {{.name = "A", .help = "table of the runs to compare with"},
                   {.name = "B", .help = "table of the runs that are judged"}},
      .groups = {{"The question",
                  {{.name = "smallest-difference",
                    .value = "X",
                    .help = "the least difference that matters to you, in the scores' unit",
                    .required = true},
                   {.name = "lower-is-better", .help = "the scores are losses"},
                   {.name = "looks",
                    .value = "KIND",
                    .help = "any: ask again whenever seeds are added; once: their number was fixed beforehand",
                    .fallback = "any",
                    .choices = {"any", "once"}},
                   {.name = "comparisons",
                    .value = "K",
                    .help = "how many kinds are compared with A in all; they share the 5 % of error",
                    .fallback = "1"}}}},
      .examples = {{"dikkat verdict one-head.csv four-heads.csv --smallest-difference 0.01",
                    "accuracies of two kinds of run"},
                   {"dikkat verdict a.csv b.csv --smallest-difference 0.005 --lower-is-better --json",
                    "losses, the answer for a program"}},
      .run = run_verdict};
}

}  // namespace dikkat::cli
