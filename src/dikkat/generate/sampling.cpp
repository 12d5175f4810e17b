#include "dikkat/generate/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "dikkat/base/error.h"
#include "dikkat/kernels/maths.h"
#include "dikkat/random/streams.h"

namespace dikkat::generate {
namespace {

// Tokens put in order at a time while top-p looks for its end; trained models mostly end within the first.
constexpr std::size_t kFirstRanked = 64;

void require(bool holds, std::string_view key, double value, std::string_view rule, std::string_view remedy) {
  if (holds) return;
  throw Error(ErrorKind::usage, fmt::format("{} must be {}, not {}", key, rule, value),
              {.key = std::string(key), .hint = std::string(remedy)});
}

template <class T>
void check_finite(std::span<const T> logits) {
  const auto bad = std::find_if(logits.begin(), logits.end(), [](T logit) { return !std::isfinite(logit); });
  if (bad == logits.end()) return;
  throw Error(ErrorKind::numeric, fmt::format("the logit of token {} is {}", bad - logits.begin(), *bad),
              {.hint = "use a checkpoint whose weights and activations are finite"});
}

random::Counter counter_of(std::uint64_t draw) {
  return {static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(draw >> 32U), 0, 0};
}

}  // namespace

void check(const Sampling& sampling) {
  const auto& [temperature, top_k, top_p, min_p, penalty, seed] = sampling;
  require(std::isfinite(temperature) && temperature >= 0, "temperature", temperature, "finite and at least 0",
          "try 0.8, or 0 for always the most probable");
  require(top_p > 0 && top_p <= 1, "top-p", top_p, "above 0 and at most 1", "try 0.9, or 1 to leave it off");
  require(min_p >= 0 && min_p <= 1, "min-p", min_p, "between 0 and 1", "try 0.05, or 0 to leave it off");
  require(std::isfinite(penalty) && penalty > 0, "repetition-penalty", penalty, "finite and above 0",
          "try 1.1, or 1 to leave it off");
}

Sampler::Sampler(const Sampling& sampling) : sampling_(sampling) { check(sampling); }

template <class T>
text::Token Sampler::next_token(const kernels::Executor& executor, std::span<const T> logits,
                                std::span<const text::Token> seen, std::uint64_t draw) {
  if (logits.empty()) throw Error(ErrorKind::usage, "sampling: there are no logits to draw from");
  check_finite(logits);
  penalise(logits, seen);
  if (sampling_.temperature == 0) return likeliest();
  weigh(executor);
  return drawn(random::uniform(random::stream(sampling_.seed, "sampling"), counter_of(draw)));
}

template <class T>
void Sampler::penalise(std::span<const T> logits, std::span<const text::Token> seen) {
  weights_.assign(logits.begin(), logits.end());
  const double penalty = sampling_.repetition_penalty;
  if (penalty == 1) return;
  constexpr double kLargest = std::numeric_limits<double>::max();  // a quotient beyond it would be infinite
  for (const text::Token token : seen) {
    if (token >= logits.size()) {
      throw Error(ErrorKind::usage,
                  fmt::format("sampling: seen token {} is outside the vocabulary of {}", token, logits.size()));
    }
    const double logit = static_cast<double>(logits[token]);
    weights_[token] = logit > 0 ? std::min(logit / penalty, kLargest) : std::max(logit * penalty, -kLargest);
  }
}

text::Token Sampler::likeliest() const {
  return static_cast<text::Token>(std::max_element(weights_.begin(), weights_.end()) - weights_.begin());
}

// The difference comes before the quotient, so that no temperature, however small, makes an infinity of the largest.
void Sampler::weigh(const kernels::Executor& executor) {
  const double largest = weights_[likeliest()];
  for (double& weight : weights_) weight = (weight - largest) / sampling_.temperature;
  kernels::evaluate(executor, kernels::Function::exponential, weights_.data(), weights_.data(), weights_.size());
}

double Sampler::kept(std::size_t token, const Cutoff& last) const {
  const double weight = weights_[token];
  return weight > last.weight || (weight == last.weight && token <= last.token) ? weight : 0.0;
}

// u < 1, so the target is below the sum that the same additions reach again: the walk ends inside the vocabulary.
text::Token Sampler::drawn(double uniform) {
  double total = 0;
  for (const double weight : weights_) total += weight;
  const Cutoff last = cutoff(total);
  double kept_total = 0;
  for (std::size_t i = 0; i < weights_.size(); ++i) kept_total += kept(i, last);
  const double target = uniform * kept_total;
  std::size_t token = 0;
  for (double reached = kept(0, last); reached <= target; reached += kept(token, last)) ++token;
  return static_cast<text::Token>(token);
}

// The largest weight is 1, so min-p is a weight as it stands, and what it drops need not be ranked.
Sampler::Cutoff Sampler::cutoff(double total) {
  const bool limited = sampling_.top_k > 0 && sampling_.top_k < weights_.size();
  if (!limited && sampling_.top_p == 1) return {.weight = sampling_.min_p};

  ranking_.reserve(weights_.size());
  ranking_.clear();
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] >= sampling_.min_p) ranking_.push_back(static_cast<text::Token>(i));
  }
  const std::size_t limit = limited ? std::min(sampling_.top_k, ranking_.size()) : ranking_.size();
  return sampling_.top_p == 1 ? end_of_top_k(limit) : end_of_top_p(limit, sampling_.top_p * total);
}

// Orders tokens as the ranking does.
struct Sampler::Before {
  const double* weights;
  bool operator()(text::Token a, text::Token b) const {
    return weights[a] > weights[b] || (weights[a] == weights[b] && a < b);
  }
};

// Brings ranks [from, to) to their places, the last of them exactly, the others in any order; those before are in
// place. The heap of a short piece turns most tokens away at one comparison (50,257 tokens, 40 kept: 0.1 ms, not 0.7).
void Sampler::select(std::size_t from, std::size_t to) {
  const auto at = [this](std::size_t rank) { return ranking_.begin() + static_cast<std::ptrdiff_t>(rank); };
  const Before before{weights_.data()};
  if (to - from <= ranking_.size() / 64) return std::partial_sort(at(from), at(to), ranking_.end(), before);
  std::nth_element(at(from), at(to - 1), ranking_.end(), before);
}

Sampler::Cutoff Sampler::end_of_top_k(std::size_t limit) {
  select(0, limit);
  return {.weight = weights_[ranking_[limit - 1]], .token = ranking_[limit - 1]};
}

// Puts the ranking in order piece by piece, each twice as long as all before it, until the sum is enough.
Sampler::Cutoff Sampler::end_of_top_p(std::size_t limit, double enough) {
  double reached = 0;
  std::size_t kept = 0;
  for (std::size_t ranked = 0; kept < limit && reached < enough; ++kept) {
    if (kept == ranked) {
      ranked = std::min(limit, ranked == 0 ? kFirstRanked : 3 * ranked);
      select(kept, ranked);
      std::sort(ranking_.begin() + static_cast<std::ptrdiff_t>(kept),
                ranking_.begin() + static_cast<std::ptrdiff_t>(ranked), Before{weights_.data()});
    }
    reached += weights_[ranking_[kept]];
  }
  return {.weight = weights_[ranking_[kept - 1]], .token = ranking_[kept - 1]};
}

template text::Token Sampler::next_token(const kernels::Executor&, std::span<const float>, std::span<const text::Token>,
                                         std::uint64_t);
template text::Token Sampler::next_token(const kernels::Executor&, std::span<const double>,
                                         std::span<const text::Token>, std::uint64_t);

}  // namespace dikkat::generate
