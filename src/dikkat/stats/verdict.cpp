#include "dikkat/stats/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dikkat/base/error.h"
#include "dikkat/stats/sign_flip.h"

namespace dikkat::stats {
namespace {

// Differences that are one number but for the rounding of scores.
constexpr double kNoSpread = 1e-9;

void check(const Question& question) {
  const double delta = question.smallest_difference;
  if (!(delta > 0) || !std::isfinite(delta)) {
    throw Error(ErrorKind::usage,
                "the smallest difference that matters must be a number above 0, not " + text_of(delta),
                {.key = "smallest_difference", .hint = "say which gain would be worth having, in the scores' unit"});
  }
  if (!(question.error > 0 && question.error < 1)) {
    throw Error(ErrorKind::usage, "the error must lie between 0 and 1, not at " + text_of(question.error),
                {.key = "error"});
  }
  if (question.comparisons == 0 || question.comparisons > kMostComparisons) {
    throw Error(ErrorKind::usage, std::to_string(question.comparisons) + " comparisons",
                {.key = "comparisons", .hint = "give from 1 to " + std::to_string(kMostComparisons)});
  }
}

// What the interval says, once the guards let it speak.
Answer answer_of(const Interval& interval, double delta) {
  if (interval.low > -delta && interval.high < delta) return Answer::no_difference;
  if (interval.low > 0) return Answer::better;
  return interval.high < 0 ? Answer::worse : Answer::undecided;
}

PairsNeeded needed_from(const Question& question, double deviation, std::size_t pairs) {
  const double degrees = static_cast<double>(pairs - 1);
  const double delta = question.smallest_difference;
  const double shift = t_quantile(0.90, degrees);
  const auto none = [&](double s) { return pairs_for(question, s, shift, delta); };
  const auto spread_at = [&](double p) { return deviation * std::sqrt(degrees / chi_squared_quantile(p, degrees)); };
  return {.better = pairs_for(question, deviation, t_quantile(0.80, degrees), delta),
          .none = none(deviation),
          .sure = pairs_for(question, deviation, 0, delta / 2),
          .none_low = none(spread_at(0.90)),
          .none_high = none(spread_at(0.10))};
}

}  // namespace

std::size_t pairs_for(const Question& question, double deviation, double shift, double bound) {
  const double error = question.error_of_one();
  const auto enough = [&](std::size_t n) {
    return (critical_value(question.looks, n, error) + shift) * deviation / std::sqrt(static_cast<double>(n)) <= bound;
  };
  std::size_t high = kFirstLook;
  while (high < kMostPairs && !enough(high)) high = std::min(2 * high, kMostPairs);
  if (high == kFirstLook || !enough(high)) return high;
  std::size_t low = high / 2;  // not enough
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

Verdict verdict(std::span<const double> differences, const Question& question) {
  check(question);
  Verdict v{.pairs = differences.size(), .interval = kEverything};
  for (const double difference : differences) {
    if (!std::isfinite(difference)) throw Error(ErrorKind::internal, "a difference that is not finite");
    v.won += difference > 0 ? 1U : 0U;
    v.lost += difference < 0 ? 1U : 0U;
  }
  v.mean = mean(differences);
  v.deviation = deviation(differences);
  v.sign_flip_p = sign_flip_p(differences);
  v.spread = v.deviation > kNoSpread * std::abs(v.mean);
  if (v.pairs >= 2 && v.spread) {
    const double t = critical_value(question.looks, v.pairs, question.error_of_one());
    const double half = t * v.deviation / std::sqrt(static_cast<double>(v.pairs));
    v.interval = {v.mean - half, v.mean + half};
  }
  if (v.pairs < kFirstLook) {
    v.answer = Answer::too_few_pairs;
  } else if (v.won + v.lost == 0) {
    v.answer = Answer::same_computation;
  } else if (v.won + v.lost < kLeastNonzero) {
    v.answer = Answer::too_few_nonzero;
  } else if (v.spread) {
    v.answer = answer_of(v.interval, question.smallest_difference);
    if (v.answer == Answer::undecided) v.needed = needed_from(question, v.deviation, v.pairs);
  }
  return v;
}

Verdict unpaired_verdict(std::span<const double> a, std::span<const double> b, const Question& question) {
  check(question);
  if (question.looks != Looks::once) {
    throw Error(ErrorKind::usage, "runs whose seeds do not pair allow one look only",
                {.key = "looks", .hint = "fix the number of runs beforehand and say looks once, or run equal seeds"});
  }
  const auto share = [](std::span<const double> values) {  // of the variance of the difference of means
    const double s = deviation(values);
    return s * s / static_cast<double>(values.size());
  };
  Verdict v{.mean = mean(b) - mean(a), .interval = kEverything};
  if (std::min(a.size(), b.size()) < 2) {
    v.answer = Answer::too_few_pairs;
    v.deviation = std::numeric_limits<double>::quiet_NaN();
    return v;
  }
  const double of_a = share(a), of_b = share(b);
  v.deviation = std::sqrt(of_a + of_b);
  v.spread = v.deviation > kNoSpread * std::abs(v.mean);
  if (v.spread) {
    const double degrees =
        (of_a + of_b) * (of_a + of_b) /
        (of_a * of_a / static_cast<double>(a.size() - 1) + of_b * of_b / static_cast<double>(b.size() - 1));
    const double half = t_quantile(1 - question.error_of_one() / 2, degrees) * v.deviation;
    v.interval = {v.mean - half, v.mean + half};
  }
  if (std::min(a.size(), b.size()) < kLeastUnpaired) {
    v.answer = Answer::too_few_pairs;
  } else if (v.spread) {
    v.answer = answer_of(v.interval, question.smallest_difference);
  }
  return v;
}

}  // namespace dikkat::stats
