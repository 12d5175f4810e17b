#include "dikkat/lessons/heads_claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/size_text.h"

namespace dikkat::lessons {
namespace {

std::size_t apart(const Runs& runs) {
  return std::max(runs[0].correct, runs[1].correct) - std::min(runs[0].correct, runs[1].correct);
}

double share(std::size_t right, std::size_t runs) {
  return static_cast<double>(right) / static_cast<double>(runs * kHeadsHeldOut);
}

std::string how_means_go(const std::array<std::size_t, 3>& right) {
  if (right[0] < right[1] && right[1] < right[2]) return "The means rise with the number of heads";
  if (right[0] == right[1] && right[1] == right[2]) return "The means are all the same";
  if (std::ranges::is_sorted(right))
    return "The means never fall with the number of heads, but one step brings nothing";
  return "The means do not rise step by step";
}

// The set-ups with the most correct answers.
using Choice = std::vector<std::size_t>;
template <class Count>
Choice chosen_by(const HeadsLesson& lesson, Count count) {
  std::size_t most = 0;
  for (const Runs& runs : lesson.with_position) most = std::max(most, count(runs));
  Choice heads;
  for (const Runs& runs : lesson.with_position) {
    if (count(runs) == most) heads.push_back(runs[0].heads);
  }
  return heads;
}

// "1 head", "1 or 2 heads", "1, 2 or 4 heads".
std::string choice_text(const Choice& heads) {
  std::string text;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == heads.size() ? " or " : ", ") + std::to_string(heads[i]);
  }
  return text + (heads == Choice{1} ? " head" : " heads");
}

bool share_one(const Choice& a, const Choice& b) { return std::ranges::find_first_of(a, b) != a.end(); }

// Series i of a seed is drawn from seed + i, the starts from seed + 1 and + 2: a seed nearby has mostly the same.
constexpr std::uint64_t kFarSeed = 1000;
static_assert(kFarSeed > kHeadsSeries);
std::uint64_t far_seed(std::uint64_t seed) {
  return seed > kMostHeadsSeed - kFarSeed ? seed - kFarSeed : seed + kFarSeed;
}

}  // namespace

std::size_t correct(const Runs& runs) { return runs[0].correct + runs[1].correct; }

double mean_accuracy(const Runs& runs) { return share(correct(runs), 2); }
double spread(const Runs& runs) { return share(apart(runs), 1); }
std::size_t baseline_count(const HeadsLesson& lesson) {
  const std::size_t rise = rising(lesson.held_out());
  return std::max(rise, lesson.held_out().size() - rise);
}

std::string heads_word(std::size_t heads) { return counted(heads, "head"); }

std::string means_claim(const HeadsLesson& lesson) {
  std::array<std::size_t, 3> right{};
  std::ranges::transform(lesson.with_position, right.begin(), correct);
  const std::size_t best = std::ranges::max(right);
  const std::size_t base = 2 * baseline_count(lesson);
  const std::string gain = right[2] == right[0]
                               ? "neither gains nor loses"
                               : fmt::format("{} {:.4f}", right[2] > right[0] ? "gains" : "loses",
                                             share(std::max(right[2], right[0]) - std::min(right[2], right[0]), 2));
  const std::string above =
      best == base ? "is the baseline's"
                   : fmt::format("lies {:.4f} {} the baseline", share(std::max(best, base) - std::min(best, base), 2),
                                 best > base ? "above" : "below");
  return fmt::format("{}: {:.4f}, {:.4f}, {:.4f}. From 1 head to 4 the mean {}; the best mean {}.", how_means_go(right),
                     share(right[0], 2), share(right[1], 2), share(right[2], 2), gain, above);
}

std::string spread_claim(const HeadsLesson& lesson) {
  const std::size_t four = correct(lesson.with_position.back());
  const std::size_t one = correct(lesson.with_position.front());
  const std::size_t gain = std::max(four, one) - std::min(four, one);
  const std::size_t again = 2 * apart(lesson.with_position.back());  // of two runs' sums, as the gain
  std::string text =
      fmt::format("But two runs of 4 heads, which differ in nothing but the seed of their start, lie {:.4f} apart",
                  share(again, 2));
  if (four > one)
    text += fmt::format(", {:.1f} times that gain", static_cast<double>(again) / static_cast<double>(gain));
  if (again == 0 && gain == 0) return text + ": here neither moves the figure.";
  if (again > gain) return text + ": training again moves the figure more than dividing the width over heads does.";
  if (again < gain) return text + ": in these runs the number of heads moves the figure more than training again does.";
  return text + ": training again moves the figure as much as dividing the width over heads does.";
}

// A run misleads where it leaves out every number that the mean of both takes.
std::string choice_claim(const HeadsLesson& lesson) {
  const Choice first = chosen_by(lesson, [](const Runs& runs) { return runs[0].correct; });
  const Choice second = chosen_by(lesson, [](const Runs& runs) { return runs[1].correct; });
  const Choice both = chosen_by(lesson, correct);
  if (first == second) {
    return fmt::format(
        "After either run one would take {}; two runs that agree are still only two, and --seed {} may choose "
        "otherwise. (Series i is drawn from seed + i: a seed less than {} away has partly the same series.)",
        choice_text(first), far_seed(lesson.settings.seed), kHeadsSeries);
  }
  const std::string text =
      fmt::format("Whoever trains each set-up once takes {} after run 1 and {} after run 2; the mean of both takes {}",
                  choice_text(first), choice_text(second), choice_text(both));
  const bool first_agrees = share_one(first, both);
  const bool second_agrees = share_one(second, both);
  if (first_agrees && second_agrees) return text + ". Here neither run alone leads away from that.";
  return text + fmt::format(": a number of heads chosen from one run is chosen wrongly, here from {}.",
                            first_agrees    ? "run 2"
                            : second_agrees ? "run 1"
                                            : "either");
}

}  // namespace dikkat::lessons
