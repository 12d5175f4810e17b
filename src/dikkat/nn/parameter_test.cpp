#include "dikkat/nn/parameter.h"

#include <gtest/gtest.h>

#include <cstring>

#include "dikkat/autograd/tape.h"
#include "dikkat/base/error.h"
#include "dikkat/base/parallel.h"

namespace dikkat::nn {
namespace {

class ParameterStoreTest : public ::testing::Test {
 protected:
  ParameterStoreTest() {
    for (const char* path : {"b.weight", "blocks.10.gain", "blocks.2.gain", "a"}) {
      store_.add(path, path[1] == '.' ? Shape{3, 5} : Shape{7}, normal(1.0));
    }
  }
  Pool pool_{1};
  ParameterStore store_;
};

TEST_F(ParameterStoreTest, KeepsCreationAndByteOrder) {
  std::vector<std::string> created;
  std::vector<std::string> sorted;
  for (const auto& parameter : store_.in_creation_order()) created.push_back(parameter->path());
  for (const Parameter* parameter : store_.in_path_order()) sorted.push_back(parameter->path());
  EXPECT_EQ(created, (std::vector<std::string>{"b.weight", "blocks.10.gain", "blocks.2.gain", "a"}));
  EXPECT_EQ(sorted, (std::vector<std::string>{"a", "b.weight", "blocks.10.gain", "blocks.2.gain"}));
  EXPECT_EQ(store_.count(), 15U + 7 + 7 + 7);
  EXPECT_EQ(store_.find("blocks.2.gain")->path(), "blocks.2.gain");
  EXPECT_EQ(store_.find("blocks.2"), nullptr);
  EXPECT_EQ(store_.find("z"), nullptr);
}

TEST_F(ParameterStoreTest, APathUsedTwiceIsRefused) {
  try {
    store_.add("a", {1}, zeros());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "parameter a exists already");
  }
}

TEST_F(ParameterStoreTest, ValuesAndGradientsStartAtZeroOnAlignedPlacesOfTheirOwn) {
  store_.allocate(DType::f32, ParameterStore::Gradients::kept);
  const auto address = [](const Tensor& t) { return reinterpret_cast<std::uintptr_t>(t.raw()); };
  for (const auto& parameter : store_.in_creation_order()) {
    EXPECT_EQ(address(parameter->value()) % 64, 0U);
    EXPECT_EQ(address(parameter->gradient()) % 64, 0U);
    for (const float value : parameter->value().span<float>()) EXPECT_EQ(value, 0.0F);
    parameter->value().fill(1.0);
    parameter->gradient().fill(2.0);
  }
  for (const auto& parameter : store_.in_creation_order()) {
    for (const float value : parameter->value().span<float>()) EXPECT_EQ(value, 1.0F);
  }
  store_.zero_gradients();
  for (const auto& parameter : store_.in_creation_order()) {
    for (const float value : parameter->gradient().span<float>()) EXPECT_EQ(value, 0.0F);
  }
}

TEST_F(ParameterStoreTest, WithoutGradientsNothingIsTracked) {
  store_.allocate(DType::f32, ParameterStore::Gradients::none);
  EXPECT_FALSE(store_.find("a")->gradient().defined());
  Tape tape;
  Context context{.executor = {pool_}, .memory = heap(), .tape = &tape};
  EXPECT_FALSE(store_.find("a")->use(context).wants_gradient());
  store_.zero_gradients();
}

TEST_F(ParameterStoreTest, ASecondUseIsAddedAtTheEnd) {
  Parameter& twice = store_.add("twice", {2}, zeros());
  store_.second_use(twice);
  store_.allocate(DType::f64, ParameterStore::Gradients::kept);
  Tape tape;
  Context context{.executor = {pool_}, .memory = heap(), .tape = &tape};
  const auto give = [&](const Variable& use, double value) {
    const Tensor gradient = Tensor::empty({2}, DType::f64);
    gradient.fill(value);
    tape.give(use.slot, gradient, context);
  };
  give(twice.use(context), 3);
  give(twice.use_again(context), 4);
  EXPECT_EQ(twice.gradient().data<double>()[0], 3.0);
  store_.finish_gradients({pool_});
  EXPECT_EQ(twice.gradient().data<double>()[1], 7.0);
  EXPECT_EQ(store_.count(), 36U + 2);
}

TEST_F(ParameterStoreTest, DecayIsForMatrices) {
  EXPECT_TRUE(store_.find("b.weight")->decays());
  EXPECT_FALSE(store_.find("a")->decays());
}

TEST_F(ParameterStoreTest, InitialisesByKindAndAgainToTheSame) {
  store_.add("ones", {4}, ones());
  store_.add("zeros", {4}, zeros());
  store_.allocate(DType::f64, ParameterStore::Gradients::none);
  store_.initialise({pool_}, 3);
  const Tensor first = store_.find("b.weight")->value().clone();
  for (const auto& parameter : store_.in_creation_order()) parameter->value().fill(9.0);
  store_.initialise({pool_}, 3);
  EXPECT_EQ(std::memcmp(first.raw(), store_.find("b.weight")->value().raw(), first.bytes()), 0);
  EXPECT_EQ(store_.find("ones")->value().data<double>()[3], 1.0);
  EXPECT_EQ(store_.find("zeros")->value().data<double>()[3], 0.0);
  store_.initialise({pool_}, 4);
  EXPECT_NE(std::memcmp(first.raw(), store_.find("b.weight")->value().raw(), first.bytes()), 0);
}

}  // namespace
}  // namespace dikkat::nn
