#include "dikkat/cli/verdict_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "dikkat/base/size_text.h"
#include "dikkat/cli/words.h"
#include "dikkat/text/wrap.h"

namespace dikkat::cli {
namespace {

using stats::Answer;

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

std::string interval_text(const Compared& c) {
  const double level = 100 * (1 - c.question.error_of_one());
  return fmt::format("{:.4g} % interval {:+.4g} to {:+.4g}", level, c.verdict.interval.low, c.verdict.interval.high);
}

// How many more than there are, where a number in all is needed.
std::string more_pairs(std::size_t needed, std::size_t have) {
  if (needed >= stats::kMostPairs) return "a billion";
  return grouped(needed > have ? needed - have : 1);
}

std::string undecided_text(const Compared& c) {
  const stats::Verdict& v = c.verdict;
  if (!v.spread) {
    return fmt::format(
        "undecided: the differences, {:+.4g} on average, have no spread to judge by, and scores of different seeds "
        "should differ",
        v.mean);
  }
  std::string out =
      fmt::format("undecided: {} may be ahead or behind, {:+.4g} on average ({})", c.b, v.mean, interval_text(c));
  if (v.needed) {
    const stats::PairsNeeded& n = *v.needed;
    out += fmt::format("; about {} more pairs ({} to {}) would decide between a difference of {} and none",
                       more_pairs(n.none, v.pairs), more_pairs(n.none_low, v.pairs), more_pairs(n.none_high, v.pairs),
                       number_text(c.question.smallest_difference));
  }
  return out;
}

std::string answer_text(const Compared& c) {
  const stats::Verdict& v = c.verdict;
  const std::string delta = number_text(c.question.smallest_difference);
  const auto directed = [&](const char* word, const char* where, double nearest) {
    return fmt::format("{}: {} is {} {} by {} on average ({}), {}", word, c.b, where, c.a,
                       number_text(std::abs(v.mean)), interval_text(c),
                       nearest >= c.question.smallest_difference
                           ? "at least the " + delta + " that matters"
                           : "perhaps by less than the " + delta + " that matters");
  };
  switch (v.answer) {
    case Answer::better: return directed("better", "ahead of", v.interval.low);
    case Answer::worse: return directed("worse", "behind", -v.interval.high);
    case Answer::no_difference:
      return fmt::format(
          "no difference that matters: {} and {} differ by {:+.4g} on average ({}), less than {} either way{}", c.b,
          c.a, v.mean, interval_text(c), delta,
          v.interval.low > 0    ? fmt::format("; {} is better by less than that", c.b)
          : v.interval.high < 0 ? fmt::format("; {} is worse by less than that", c.b)
                                : "");
    case Answer::undecided: return undecided_text(c);
    case Answer::too_few_pairs:
      return c.paired ? fmt::format("too few pairs: {}, and no verdict is given below {}", v.pairs, stats::kFirstLook)
                      : fmt::format("too few pairs: seeds do not pair, and one side has fewer than {} runs",
                                    stats::kLeastUnpaired);
    case Answer::too_few_nonzero:
      return fmt::format("too few non-zero differences: {} of {} pairs, and no verdict is given below {}",
                         v.won + v.lost, v.pairs, stats::kLeastNonzero);
    case Answer::same_computation:
      return fmt::format("same computation: all {} scores are equal to the last bit", v.pairs);
  }
  return {};
}

std::string pairs_text(const Compared& c) {
  const stats::Verdict& v = c.verdict;
  if (!c.paired) {
    return fmt::format("{} of {} and {} of {}, whose seeds do not pair (Welch's t)", counted(c.runs_a, "run"), c.a,
                       counted(c.runs_b, "run"), c.b);
  }
  std::string out = counted(v.pairs, "pair") + " of equal seed";
  if (c.runs_a + c.runs_b > 2 * v.pairs) {
    out +=
        fmt::format(" ({} of {} and {} of {})", v.pairs, counted(c.runs_a, "run"), v.pairs, counted(c.runs_b, "run"));
  }
  if (v.pairs == 0) return out;
  const stats::Interval share = stats::wilson_interval(v.won, v.pairs);
  out += fmt::format(": {} ahead in {}, behind in {}", c.b, v.won, v.lost);
  if (v.won + v.lost < v.pairs) out += fmt::format(", equal in {}", v.pairs - v.won - v.lost);
  return out + fmt::format("; of single runs it wins {:.0f} % ({:.0f} to {:.0f})",
                           100 * static_cast<double>(v.won) / static_cast<double>(v.pairs), 100 * share.low,
                           100 * share.high);
}

std::string looks_text(const Compared& c) {
  const std::string shared =
      c.question.comparisons > 1 ? fmt::format(", the error shared among {} comparisons", c.question.comparisons) : "";
  if (c.question.looks == stats::Looks::once) {
    return "Looks once: the number of runs was fixed beforehand, and this is the only verdict" + shared;
  }
  return "Looks any: add seeds and ask again as often as you like" + shared;
}

}  // namespace

std::string difference_picture(std::span<const double> differences, const stats::Interval& interval,
                               std::size_t columns) {
  constexpr std::array<const char*, 9> kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kLeast = 20;
  double low = 0, high = 0;
  for (const double d : differences) {
    low = std::min(low, d);
    high = std::max(high, d);
  }
  const bool bounded = std::isfinite(interval.low) && std::isfinite(interval.high);
  if (bounded) {
    low = std::min(low, interval.low);
    high = std::max(high, interval.high);
  }
  if (!(high > low) || !std::isfinite(high - low)) return {};
  const auto end_text = [](double end) { return end == 0 ? "0" : fmt::format("{:+.4g}", end); };
  const std::string left = end_text(low), right = end_text(high);
  const std::size_t labels = left.size() + right.size() + 5;
  const std::size_t width = std::min<std::size_t>(columns > labels ? columns - labels : 0, 60);
  if (width < kLeast) return {};
  const auto column = [&](double value) {
    return std::min(width - 1, static_cast<std::size_t>((value - low) / (high - low) * static_cast<double>(width)));
  };
  std::vector<std::size_t> counts(width);
  for (const double d : differences) ++counts[column(d)];
  const std::size_t most = *std::ranges::max_element(counts);
  std::string bars, marks;
  for (std::size_t c = 0; c < width; ++c) {
    const std::size_t height = (8 * counts[c] + most - 1) / most;
    bars += counts[c] == 0 && c == column(0) ? "│" : kHeights[height];
    const char* mark = c == column(0) ? "│" : " ";
    if (bounded && c >= column(interval.low) && c <= column(interval.high)) {
      mark = c == column((interval.low + interval.high) / 2) ? "●"
             : c == column(interval.low)                     ? "├"
             : c == column(interval.high)                    ? "┤"
             : c == column(0)                                ? "┼"
                                                             : "─";
    }
    marks += mark;
  }
  return fmt::format("  {} {} {}\n  {} {}\n", left, bars, right, std::string(left.size(), ' '), marks);
}

std::string verdict_text(const Compared& c, std::size_t columns) {
  const stats::Verdict& v = c.verdict;
  const auto wrapped = [&](const std::string& paragraph) {
    return text::wrapped_to(paragraph, std::min<std::size_t>(columns, 80), 0);
  };
  std::string out = wrapped(answer_text(c) + ".") + "\n";
  if (c.paired && v.spread) out += difference_picture(c.differences, v.interval, columns) + "\n";
  std::string numbers =
      fmt::format("Means {} ({}) and {} ({})", number_text(c.mean_a), c.a, number_text(c.mean_b), c.b);
  if (std::isfinite(v.deviation)) {
    numbers += c.paired ? fmt::format("; differences {:+.4g} with deviation {}", v.mean, number_text(v.deviation))
                        : fmt::format("; difference {:+.4g} with standard error {}", v.mean, number_text(v.deviation));
  }
  if (c.lower_is_better) numbers += ", turned so that more is better";
  out += wrapped(pairs_text(c) + ".") + wrapped(numbers + ".") + wrapped(looks_text(c) + ".");
  if (c.paired && v.pairs >= stats::kFirstLook && v.spread) {
    out += wrapped(
        fmt::format("A second opinion that decides nothing: were the signs of the differences chance, so much would "
                    "be seen with probability {} (sign-flip test).",
                    number_text(v.sign_flip_p)));
  }
  return out + wrapped("It speaks of new seeds on the data these scores come from; other data is another question.");
}

Json verdict_json(const Compared& c) {
  const stats::Verdict& v = c.verdict;
  const bool bounded = std::isfinite(v.interval.low) && std::isfinite(v.interval.high);
  const stats::Interval share = stats::wilson_interval(v.won, v.pairs);
  const auto pair_of = [](Json first, Json second) {
    return Json::array().push(std::move(first)).push(std::move(second));
  };
  return Json::object()
      .set("verdict", text_of(v.answer))
      .set("interval", bounded ? pair_of(v.interval.low, v.interval.high) : Json())
      .set("level", 1 - c.question.error_of_one())
      .set("smallest_difference", c.question.smallest_difference)
      .set("looks", text_of(c.question.looks))
      .set("comparisons", c.question.comparisons)
      .set("lower_is_better", c.lower_is_better)
      .set("paired", c.paired)
      .set("pairs", v.pairs)
      .set("pairs_needed", v.needed ? Json(v.needed->none) : Json())
      .set("pairs_needed_range", v.needed ? pair_of(v.needed->none_low, v.needed->none_high) : Json())
      .set("runs", pair_of(c.runs_a, c.runs_b))
      .set("means", pair_of(finite_or_null(c.mean_a), finite_or_null(c.mean_b)))
      .set("mean_difference", finite_or_null(v.mean))
      .set(c.paired ? "deviation" : "standard_error", finite_or_null(v.deviation))
      .set("won", v.won)
      .set("lost", v.lost)
      .set("share_won_interval95", c.paired && v.pairs > 0 ? pair_of(share.low, share.high) : Json())
      .set("sign_flip_p", c.paired ? Json(v.sign_flip_p) : Json());
}

}  // namespace dikkat::cli
