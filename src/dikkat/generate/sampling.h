// From logits to the next token.
//
// In this order: repetition penalty, temperature, softmax, top-k, top-p, min-p, renormalise, draw.
//   repetition penalty r (Keskar et al. 2019): logit of a token already seen: / r if > 0, * r otherwise; once per token
//   temperature t: logits / t;  0 is greedy: the largest logit, the lowest id among equals
//   top-k: the k most probable;  top-p (Holtzman et al. 2020): the smallest set of most probable tokens whose sum
//   reaches p min-p: those with at least min_p times the largest probability
// Probabilities are those of the softmax over all V in every filter, so each filter keeps the head of one ranking (more
// probable first, equals by id) and the shortest head wins.
//
// All in double, with the house's exp, whatever the number of the logits:
//   w_i = exp((l_i - max l) / t), the probability of i times Z = sum of w;  sums ascend by id, top-p's by rank
//   draw n: the first id at which the sum of kept w exceeds u * (sum of all kept w), u = uniform(stream(seed,
//   "sampling"), n)
// so draw n is a function of (seed, n) and the logits alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::generate {

struct Sampling {
  double temperature = 1.0;
  std::size_t top_k = 0;  // 0: all
  double top_p = 1.0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  std::uint64_t seed = 1;
};

// Error{usage} naming the field and its domain: temperature >= 0, 0 < top_p <= 1, 0 <= min_p <= 1, penalty > 0, all
// finite.
void check(const Sampling& sampling);

// Draws tokens under one setting. Its memory grows to the vocabulary at the first draw and is used again.
class Sampler {
 public:
  // Checks the settings.
  explicit Sampler(const Sampling& sampling);

  // logits (V); seen: the tokens of prompt and completion so far; draw: number of this draw. Error{numeric} naming the
  // first logit that is not finite; Error{usage} for no logits, or a seen token outside the vocabulary.
  template <class T>
  [[nodiscard]] text::Token next_token(const kernels::Executor& executor, std::span<const T> logits,
                                       std::span<const text::Token> seen, std::uint64_t draw);

 private:
  // A place in the ranking: what stands there or before it is kept.
  struct Cutoff {
    double weight = 0.0;
    text::Token token = ~text::Token{0};
  };

  struct Before;

  template <class T>
  void penalise(std::span<const T> logits, std::span<const text::Token> seen);
  void weigh(const kernels::Executor& executor);
  [[nodiscard]] text::Token likeliest() const;
  [[nodiscard]] Cutoff cutoff(double total);
  void select(std::size_t from, std::size_t to);
  [[nodiscard]] Cutoff end_of_top_k(std::size_t limit);
  [[nodiscard]] Cutoff end_of_top_p(std::size_t limit, double enough);
  [[nodiscard]] double kept(std::size_t token, const Cutoff& last) const;
  [[nodiscard]] text::Token drawn(double uniform);

  Sampling sampling_;
  std::vector<double> weights_;       // (V) logits at first, then w
  std::vector<text::Token> ranking_;  // what min-p leaves, in order as far as was asked for
};

}  // namespace dikkat::generate
