#include "dikkat/lessons/heads_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dikkat/lessons/heads_testing.h"

namespace dikkat::lessons {
namespace {

using testing::at;
using testing::golden_run;
using testing::kTolerance;
using testing::numbers;

class HeadsModel : public ::testing::Test {
 protected:
  Pool pool_{1};
  kernels::Executor executor_{pool_};
};

void expect_near(const std::vector<double>& seen, const std::vector<double>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(seen.size(), expected.size()) << what;
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], tolerance) << what << " " << i;
}
void expect_parameters(const HeadsParameters& seen, const JsonAt& expected, double tolerance) {
  expect_near(seen.keys, numbers(expected["Wk"]), tolerance, "Wk");
  expect_near(seen.values, numbers(expected["Wv"]), tolerance, "Wv");
  expect_near(seen.query, numbers(expected["q"]), tolerance, "q");
  expect_near(seen.output, numbers(expected["w"]), tolerance, "w");
  expect_near({seen.bias}, numbers(expected["b"]), tolerance, "b");
}

// A6. The house's sine and cosine may be two last places off.
TEST_F(HeadsModel, PositionIsASineAndACosineChannel) {
  const auto channels = position_channels(executor_);
  const auto expected = numbers(at("position_channels"));
  for (std::size_t t = 0; t < kHeadsSteps; ++t) {
    EXPECT_NEAR(channels[t][0], expected[2 * t], 4.5e-16);
    EXPECT_NEAR(channels[t][1], expected[2 * t + 1], 4.5e-16);
  }
}

// A6
TEST_F(HeadsModel, InputIsTheReadingAndItsPositionOrZeros) {
  const auto series = heads_series(20260218);
  const auto channels = position_channels(executor_);
  for (const PositionChannels position : {PositionChannels::on, PositionChannels::off}) {
    const HeadsBatch batch = heads_batch(executor_, std::span(series).first(2), position);
    ASSERT_EQ(batch.values.shape(), (Shape{24, 3}));
    const double* row = batch.values.data<double>() + 3 * (12 + 4);
    EXPECT_EQ(row[0], series[1].readings[4]);
    EXPECT_EQ(row[1], position == PositionChannels::on ? channels[4][0] : 0.0);
    EXPECT_EQ(row[2], position == PositionChannels::on ? channels[4][1] : 0.0);
    EXPECT_EQ(batch.labels[1], series[1].label);
  }
}

// A7: 2 * 4 * 3 + 2 * 4 + 1.
TEST_F(HeadsModel, ThirtyThreeParametersWhateverTheHeads) {
  for (const std::size_t heads : kHeadCounts) {
    const models::SeriesModel model = heads_model(heads, 4);
    EXPECT_EQ(model.parameters().count(), 33U);
    EXPECT_EQ(models::parameter_count(model.config()), 33U);
    EXPECT_EQ(model.config().head_width_or_default(), 4 / heads);
    EXPECT_EQ(heads_start(1, heads, 4).count(), 33U);
  }
}

// The document's formula in plain loops: b + sum over heads of w . (Wv (sum over t of a_t x_t)), a the softmax of
// q . (Wk x_t) / sqrt(d).
double logit_by_formula(const HeadsParameters& p, std::size_t heads, const double* x) {
  const std::size_t width = p.query.size();
  const std::size_t d = width / heads;
  double logit = p.bias;
  for (std::size_t h = 0; h < heads; ++h) {
    std::array<double, kHeadsSteps> a{};
    double total = 0;
    for (std::size_t t = 0; t < kHeadsSteps; ++t) {
      double score = 0;
      for (std::size_t i = h * d; i < (h + 1) * d; ++i) {
        for (std::size_t j = 0; j < 3; ++j) score += p.query[i] * p.keys[3 * i + j] * x[3 * t + j];
      }
      total += a[t] = std::exp(score / std::sqrt(static_cast<double>(d)));
    }
    for (std::size_t i = h * d; i < (h + 1) * d; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        double mixed = 0;
        for (std::size_t t = 0; t < kHeadsSteps; ++t) mixed += a[t] / total * x[3 * t + j];
        logit += p.output[i] * p.values[3 * i + j] * mixed;
      }
    }
  }
  return logit;
}

// A8
TEST_F(HeadsModel, LogitIsTheDocumentsFormula) {
  const auto series = heads_series(5);
  const HeadsBatch batch = heads_batch(executor_, std::span(series).first(40), PositionChannels::on);
  for (const std::size_t heads : kHeadCounts) {
    for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
      HeadsParameters p = heads_start(99, heads, width);
      p.bias = 0.25;
      const models::SeriesModel model = heads_model(heads, width);
      put_parameters(p, model);
      const HeadsOutputs outputs = heads_outputs(executor_, model, batch);
      for (std::size_t i = 0; i < 40; ++i) {
        EXPECT_NEAR(outputs.logits[i], logit_by_formula(p, heads, batch.values.data<double>() + i * 36), 1e-14);
      }
    }
  }
}

TEST_F(HeadsModel, ParametersGoInAndComeOutTheSame) {
  for (const std::size_t heads : kHeadCounts) {
    HeadsParameters p = heads_start(3, heads, 8);
    p.bias = -1;
    const models::SeriesModel model = heads_model(heads, 8);
    put_parameters(p, model);
    const HeadsParameters seen = parameters_of(model);
    EXPECT_EQ(seen.keys, p.keys);
    EXPECT_EQ(seen.values, p.values);
    EXPECT_EQ(seen.query, p.query);
    EXPECT_EQ(seen.output, p.output);
    EXPECT_EQ(seen.bias, p.bias);
  }
}

// A9
TEST_F(HeadsModel, StartsWhereTheDocumentStarts) {
  for (std::size_t run = 0; run < 8; ++run) {
    const std::size_t heads = golden_run(run)["heads"].count();
    EXPECT_EQ(golden_run(run)["init_seed"].count(), 20260218 + golden_run(run)["run"].count());
    expect_parameters(heads_start(golden_run(run)["init_seed"].count(), heads, 4), golden_run(run)["init"], 0.0);
  }
}

// A10: gradients and momentum, seen after 1, 2, 10 and 50 epochs.
TEST_F(HeadsModel, EveryEpochStepsWhereTheDocumentSteps) {
  constexpr std::array<std::size_t, 4> kEpochs = {1, 2, 10, 50};
  const auto seen = heads_trajectory(executor_, {}, 2, 1, kEpochs);
  ASSERT_EQ(seen.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    expect_parameters(seen[i], at("trajectory_H2_run1")[std::to_string(kEpochs[i])], kTolerance);
  }
}

// A10
TEST_F(HeadsModel, TrainedParametersAreTheDocuments) {
  for (std::size_t run = 0; run < 8; ++run) {
    expect_parameters(testing::document_run(run).trained, golden_run(run)["trained"], kTolerance);
  }
}

TEST_F(HeadsModel, NoBitDependsOnTheBodiesOfTheKernelsOrTheInstructionSet) {
  const auto series = heads_series(8);
  const HeadsBatch batch = heads_batch(executor_, std::span(series).first(101), PositionChannels::on);
  const auto trained = [&](kernels::Bodies bodies, kernels::InstructionSet set) {
    const kernels::Executor executor{pool_, bodies, set};
    const models::SeriesModel model = heads_model(2, 4);
    put_parameters(heads_start(8, 2, 4), model);
    train_heads(executor, model, batch, 12);
    return parameters_of(model).keys;
  };
  const auto expected = trained(kernels::Bodies::reference, kernels::InstructionSet::avx2);
  EXPECT_EQ(trained(kernels::Bodies::check, kernels::InstructionSet::avx2), expected);
  if (kernels::supports(kernels::InstructionSet::avx512)) {
    EXPECT_EQ(trained(kernels::Bodies::check, kernels::InstructionSet::avx512), expected);
  }
}

}  // namespace
}  // namespace dikkat::lessons
