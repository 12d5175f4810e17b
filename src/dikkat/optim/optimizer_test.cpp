#include "dikkat/optim/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dikkat/base/parallel.h"

namespace dikkat::optim {
namespace {

// A matrix and a gain, created against the order of their paths.
class OptimizerTest : public ::testing::Test {
 protected:
  OptimizerTest() {
    store_.add("b.weight", {2, 2}, nn::zeros());
    store_.add("a.gain", {2}, nn::ones());
    store_.allocate(DType::f64, nn::ParameterStore::Gradients::kept);
    reset();
  }
  void reset() {
    set("b.weight", {1, -2, 3, -4});
    set("a.gain", {1, 1});
  }
  void set(const char* path, std::vector<double> to) { fill(store_.find(path)->value(), to); }
  void set_gradient(const char* path, std::vector<double> to) { fill(store_.find(path)->gradient(), to); }
  static void fill(const Tensor& tensor, const std::vector<double>& to) {
    std::memcpy(tensor.raw(), to.data(), to.size() * sizeof(double));
  }
  const double* at(const char* path) { return store_.find(path)->value().data<double>(); }

  Pool pool_{1};
  kernels::Executor executor_{pool_};
  nn::ParameterStore store_;
};

std::vector<std::string> names_of(const Optimizer& optimizer) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : optimizer.state()) names.push_back(name);
  return names;
}

TEST_F(OptimizerTest, StateIsNamedByPathInPathOrder) {
  EXPECT_EQ(names_of(Optimizer(store_, {.rule = Rule::adam})),
            (std::vector<std::string>{"a.gain.m", "a.gain.v", "b.weight.m", "b.weight.v"}));
  EXPECT_EQ(names_of(Optimizer(store_, {.rule = Rule::sgd})),
            (std::vector<std::string>{"a.gain.velocity", "b.weight.velocity"}));
}

TEST_F(OptimizerTest, DecayActsOnMatricesOnly) {
  for (const Rule rule : {Rule::adam, Rule::sgd}) {
    reset();
    Optimizer optimizer(store_, {.rule = rule, .decay = 0.1});
    optimizer.step(executor_, 0.5, 1.0, 1);  // no gradient: w - 0.5 * 0.1 * w
    EXPECT_DOUBLE_EQ(at("b.weight")[0], 0.95);
    EXPECT_DOUBLE_EQ(at("b.weight")[3], -3.8);
    EXPECT_EQ(at("a.gain")[0], 1.0);
    EXPECT_EQ(at("a.gain")[1], 1.0);
  }
}

// Two steps of momentum 0.9 with gradient 2, then 4 at rate 0.1: v = 2, then 0.9 * 2 + 4 = 5.8.
TEST_F(OptimizerTest, SgdGathersMomentum) {
  Optimizer optimizer(store_, {.rule = Rule::sgd, .momentum = 0.9});
  set_gradient("a.gain", {2, 0});
  optimizer.step(executor_, 0.1, 1.0, 1);
  EXPECT_DOUBLE_EQ(at("a.gain")[0], 0.8);
  set_gradient("a.gain", {4, 0});
  optimizer.step(executor_, 0.1, 1.0, 2);
  EXPECT_DOUBLE_EQ(at("a.gain")[0], 0.22);
  EXPECT_EQ(at("a.gain")[1], 1.0);
}

// Kingma, Ba 2015. Step 1 with gradient 2: m = 0.2, v = 0.004, corrected 2 and 4: 0.1 * 2 / (2 + 1e-8).
// Step 2 with gradient -1: m = 0.08, v = 0.004996, corrected 0.08 / 0.19 and 0.004996 / 0.001999.
TEST_F(OptimizerTest, AdamCorrectsItsMoments) {
  Optimizer optimizer(store_, {.rule = Rule::adam, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8});
  set_gradient("a.gain", {2, -2});
  optimizer.step(executor_, 0.1, 1.0, 1);
  EXPECT_NEAR(at("a.gain")[0], 0.9000000005, 1e-14);
  EXPECT_NEAR(at("a.gain")[1], 1.0999999995, 1e-14);
  set_gradient("a.gain", {-1, 0});
  optimizer.step(executor_, 0.1, 1.0, 2);
  const double step = 0.1 * (0.08 / 0.19) / (std::sqrt(0.004996 / 0.001999) + 1e-8);
  EXPECT_NEAR(at("a.gain")[0], 0.9000000005 - step, 1e-13);
}

TEST_F(OptimizerTest, TheFactorScalesTheGradient) {
  Optimizer optimizer(store_, {.rule = Rule::sgd, .momentum = 0.0});
  set_gradient("a.gain", {8, 4});
  optimizer.step(executor_, 0.5, 0.25, 1);
  EXPECT_EQ(at("a.gain")[0], 0.0);
  EXPECT_EQ(at("a.gain")[1], 0.5);
}

// State taken out and put into another optimizer goes on to the same bits.
TEST_F(OptimizerTest, RestoredStateGoesOnAlike) {
  for (const Rule rule : {Rule::adam, Rule::sgd}) {
    reset();
    Optimizer first(store_, {.rule = rule, .decay = 0.1});
    set_gradient("b.weight", {0.3, -0.1, 0.7, 0.2});
    set_gradient("a.gain", {0.5, -0.4});
    first.step(executor_, 0.01, 1.0, 1);
    Optimizer second(store_, {.rule = rule, .decay = 0.1});
    const auto from = first.state();
    const auto to = second.state();
    for (std::size_t i = 0; i < from.size(); ++i) to[i].second.assign(from[i].second);
    const Tensor start = store_.find("b.weight")->value().clone();

    first.step(executor_, 0.01, 1.0, 2);
    const Tensor expected = store_.find("b.weight")->value().clone();
    EXPECT_NE(std::memcmp(start.raw(), expected.raw(), expected.bytes()), 0);
    store_.find("b.weight")->value().assign(start);
    second.step(executor_, 0.01, 1.0, 2);
    EXPECT_EQ(std::memcmp(at("b.weight"), expected.raw(), expected.bytes()), 0);
  }
}

TEST_F(OptimizerTest, GradientNormIsEuclideanOverAll) {
  set_gradient("b.weight", {1, 2, 4, 0});
  set_gradient("a.gain", {0, 2});
  EXPECT_EQ(gradient_norm(executor_, store_), 5.0);  // 1 + 4 + 16 + 4
  set_gradient("a.gain", {std::nan(""), 2});
  EXPECT_TRUE(std::isnan(gradient_norm(executor_, store_)));
}

TEST_F(OptimizerTest, ClipFactorBringsTheNormToTheLimit) {
  EXPECT_EQ(clip_factor(5.0, 1.0), 0.2);
  EXPECT_EQ(clip_factor(1.0, 1.0), 1.0);
  EXPECT_EQ(clip_factor(0.5, 1.0), 1.0);
  EXPECT_EQ(clip_factor(0.0, 1.0), 1.0);
  EXPECT_EQ(clip_factor(5.0, 0.0), 1.0);  // 0: no clipping
}

}  // namespace
}  // namespace dikkat::optim
