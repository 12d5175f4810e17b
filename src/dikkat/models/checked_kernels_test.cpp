// Whole models with `--kernels check`: both bodies of every kernel run and are compared inside.
#include <tuple>

#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"

namespace dikkat::models {
namespace {

class CheckedKernelsTest : public ::testing::TestWithParam<std::tuple<std::size_t, DType>> {};

TEST_P(CheckedKernelsTest, AgreeAndGiveTheSameBits) {
  const Config& config = testing::menu()[std::get<0>(GetParam())].config;
  const LanguageModel model(config, std::get<1>(GetParam()), nn::ParameterStore::Gradients::kept);
  Pool pool(1);
  testing::spread(model, {pool}, 1);
  const data::Batch batch = testing::batch_of(config, {config.context, 3, 1});
  const auto pass = [&](kernels::Bodies bodies) {
    return testing::pass_over(model, testing::context_of({pool, bodies}, batch, Mode::training), batch);
  };
  EXPECT_EQ(testing::difference(pass(kernels::Bodies::check), pass(kernels::Bodies::fast)), "");
}

INSTANTIATE_TEST_SUITE_P(Menu, CheckedKernelsTest,
                         ::testing::Combine(::testing::Range(std::size_t{0}, testing::menu().size()),
                                            ::testing::Values(DType::f32, DType::f64)),
                         [](const auto& instance) {
                           return testing::menu()[std::get<0>(instance.param)].name + "_" +
                                  std::string(name_of(std::get<1>(instance.param)));
                         });

}  // namespace
}  // namespace dikkat::models
