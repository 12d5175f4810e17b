// Models of series with every pooling against PyTorch in double: tests/golden/series_*.json, made by make_series.py.
#include "dikkat/models/golden_testing.h"
#include "dikkat/models/series_testing.h"

namespace dikkat::models {
namespace {

using testing::reals;

class SeriesGoldenTest : public ::testing::TestWithParam<const char*> {};

testing::SeriesBatch series_from(const JsonAt& at, const Config& config) {
  std::vector<std::size_t> lengths;
  for (const JsonAt& item : at["lengths"].items()) lengths.push_back(item.count());
  testing::SeriesBatch batch = testing::series_of(config, DType::f64, lengths);
  const std::vector<double> values = reals(at["values"]);
  std::size_t used = 0;
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    double* row = batch.values.data<double>() + batch.first_row(b) * config.channels;
    for (std::size_t i = 0; i < lengths[b] * config.channels; ++i) row[i] = values.at(used++);
  }
  EXPECT_EQ(used, values.size());
  batch.classes.clear();
  batch.numbers.clear();
  for (const JsonAt& item : at["targets"].items()) {
    const bool is_class = config.task == Task::classify && !item.is_null();
    batch.classes.push_back(is_class ? static_cast<std::int32_t>(item.count()) : kernels::kNoTarget);
    if (config.task == Task::regress) batch.numbers.push_back(item.real());
  }
  return batch;
}

TEST_P(SeriesGoldenTest, OutputsLossAndEveryGradientArePyTorchs) {
  const Json json = testing::golden("series", GetParam());
  const JsonAt at(json, GetParam());
  const Config config = from_json<Config>(at["config"]);
  const SeriesModel model(config, DType::f64, nn::ParameterStore::Gradients::kept);
  testing::set_parameters(model, at["parameters"]);
  const testing::SeriesBatch batch = series_from(at, config);
  const auto counted = config.task == Task::regress ? std::size_t{5} : std::size_t{4};

  Pool pool(1);
  testing::Pass pass;
  testing::add_pass(model, testing::context_of({pool}, batch, Mode::training), batch,
                    1.0 / static_cast<double>(counted), pass);
  testing::take_gradients(model, {pool}, pass);
  testing::expect_close("outputs", pass.logits, reals(at["outputs"]));
  double loss = 0;
  for (const double one : pass.losses.span<double>()) loss += one / static_cast<double>(counted);
  EXPECT_NEAR(loss, at["loss"].real(), 1e-12);
  ASSERT_EQ(pass.gradients.size(), at["gradients"].keys().size());
  for (const auto& [path, gradient] : pass.gradients) {
    testing::expect_close("gradient of " + path, gradient, reals(at["gradients"][path]));
  }
}

INSTANTIATE_TEST_SUITE_P(Pooling, SeriesGoldenTest, ::testing::ValuesIn(testing::kSeriesGoldens),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace dikkat::models
