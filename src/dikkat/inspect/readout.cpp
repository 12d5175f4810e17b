#include "dikkat/inspect/readout.h"

#include <algorithm>
#include <cmath>

#include "dikkat/kernels/elementwise.h"
#include "dikkat/kernels/maths.h"

namespace dikkat::inspect {
namespace {

// e^(logit - largest) of each; their sum.
double exponentials(const kernels::Executor& executor, std::span<const double> logits, std::span<double> to) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::transform(logits.begin(), logits.end(), to.begin(), [&](double logit) { return logit - largest; });
  kernels::evaluate(executor, kernels::Function::exponential, to.data(), to.data(), to.size());
  return kernels::sum(executor, to.data(), to.size());
}

}  // namespace

text::Token Readout::top() const {
  return static_cast<text::Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

std::size_t Readout::rank(text::Token token) const {
  return 1 + static_cast<std::size_t>(
                 std::count_if(logits.begin(), logits.end(), [&](double logit) { return logit > logits[token]; }));
}

double Readout::loss_nats(const kernels::Executor& executor, text::Token token) const {
  std::vector<double> terms(logits.size());
  double sum = exponentials(executor, logits, terms);
  kernels::evaluate(executor, kernels::Function::logarithm, &sum, &sum, 1);
  return sum + logits[top()] - logits[token];
}

Readout readout_of(const kernels::Executor& executor, const Tensor& logits, std::size_t row) {
  const std::size_t v = logits.shape()[1];
  Readout read{.logits = std::vector<double>(v), .probabilities = std::vector<double>(v)};
  with_number(logits.dtype(), [&]<class T>() {
    const T* from = logits.data<T>() + row * v;
    std::copy(from, from + v, read.logits.begin());
  });
  const double sum = exponentials(executor, read.logits, read.probabilities);
  for (double& probability : read.probabilities) probability /= sum;
  return read;
}

double total_variation(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
  return sum / 2;
}

}  // namespace dikkat::inspect
