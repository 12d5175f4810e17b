// Six models out of the menu against PyTorch in double: tests/golden/menu_*.json, made by make_menu.py beside them.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/base/parallel.h"
#include "dikkat/models/testing.h"

namespace dikkat::models {
namespace {

constexpr std::array<const char*, 6> kGoldens = {"alibi",  "learned",    "no_position",
                                                 "rotary", "sinusoidal", "sinusoidal_one"};

Json golden(const std::string& name) {
  const std::string file = DIKKAT_SOURCE_DIR "/tests/golden/menu_" + name + ".json";
  return parse_json(read_small_file(file, 1U << 20U), file);
}

std::vector<double> reals(const JsonAt& list) {
  std::vector<double> values;
  for (const JsonAt& item : list.items()) values.push_back(item.real());
  return values;
}

data::Batch batch_from(const JsonAt& at, const Config& config) {
  data::Batch batch;
  for (const JsonAt& item : at["lengths"].items()) batch.lengths.push_back(item.count());
  for (const JsonAt& item : at["tokens"].items()) batch.inputs.push_back(static_cast<text::Token>(item.count()));
  for (const JsonAt& item : at["targets"].items()) {
    batch.targets.push_back(item.is_null() ? kernels::kNoTarget : static_cast<std::int32_t>(item.count()));
  }
  batch.rows.lay_out(batch.lengths, config.context);
  return batch;
}

void set_parameters(const LanguageModel& model, const JsonAt& values) {
  ASSERT_EQ(values.keys().size(), model.parameters().in_path_order().size());
  for (const nn::Parameter* parameter : model.parameters().in_path_order()) {
    const std::vector<double> wanted = reals(values[parameter->path()]);
    ASSERT_EQ(wanted.size(), parameter->shape().count()) << parameter->path();
    std::copy(wanted.begin(), wanted.end(), parameter->value().data<double>());
  }
}

// max|seen - expected| <= 1e-10 max|expected|
void expect_close(const std::string& what, const Tensor& seen, const std::vector<double>& expected) {
  ASSERT_EQ(seen.count(), expected.size()) << what;
  double largest = 0;
  double off = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = seen.data<double>()[i];
    ASSERT_TRUE(std::isfinite(value)) << what << " entry " << i;
    largest = std::max(largest, std::abs(expected[i]));
    off = std::max(off, std::abs(value - expected[i]));
  }
  EXPECT_GT(largest, 0) << what;
  EXPECT_LE(off, 1e-10 * largest) << what;
}

class MenuGoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(MenuGoldenTest, LogitsLossAndEveryGradientArePyTorchs) {
  const Json json = golden(GetParam());
  const JsonAt at(json, GetParam());
  const Config config = from_json<Config>(at["config"]);
  const LanguageModel model(config, DType::f64, nn::ParameterStore::Gradients::kept);
  set_parameters(model, at["parameters"]);
  const data::Batch batch = batch_from(at, config);

  Pool pool(1);
  const testing::Pass pass = testing::pass_over(model, testing::context_of({pool}, batch, Mode::training), batch);
  expect_close("logits", pass.logits, reals(at["logits"]));
  double loss = 0;
  for (const double row : pass.losses.span<double>()) loss += row * testing::scale_of(batch);
  EXPECT_NEAR(loss, at["loss"].real(), 1e-12);
  for (const auto& [path, gradient] : pass.gradients) {
    expect_close("gradient of " + path, gradient, reals(at["gradients"][path]));
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, MenuGoldenTest, ::testing::ValuesIn(kGoldens),
                         [](const auto& instance) { return std::string(instance.param); });

// Every name of every enum, every switch both ways, every kind of grouping and head width is in some golden.
TEST(MenuGoldens, CoverEveryOption) {
  std::set<std::string> seen;
  std::set<std::size_t> head_widths;
  for (const char* name : kGoldens) {
    const Json json = golden(name);
    const auto config = from_json<Config>(JsonAt(json, name)["config"]);
    Config::fields(config, [&](const char* field, const auto& value, const char*) {
      using Field = std::remove_cvref_t<decltype(value)>;
      if constexpr (NamedEnum<Field> || std::is_same_v<Field, bool>)
        seen.insert(field + ("=" + std::string(text_of(value))));
    });
    const std::size_t groups = config.kv_heads_or_default();
    seen.insert(groups == config.heads ? "all key heads" : groups == 1 ? "one key head" : "grouped key heads");
    seen.insert(config.window == 0 ? "no window" : "window");
    seen.insert(config.mlp_width == 0 ? "default mlp" : "own mlp");
    head_widths.insert(config.head_width_or_default());
  }
  const Config any;
  Config::fields(any, [&](const char* field, const auto& value, const char*) {
    using Field = std::remove_cvref_t<decltype(value)>;
    if constexpr (NamedEnum<Field>) {
      for (const auto& [option, option_name] : EnumNames<Field>::names) {
        EXPECT_TRUE(seen.contains(field + ("=" + std::string(option_name)))) << field << " = " << option_name;
      }
    } else if constexpr (std::is_same_v<Field, bool>) {
      EXPECT_TRUE(seen.contains(field + std::string("=true")) && seen.contains(field + std::string("=false"))) << field;
    }
  });
  for (const char* option :
       {"all key heads", "one key head", "grouped key heads", "no window", "window", "default mlp", "own mlp"}) {
    EXPECT_TRUE(seen.contains(option)) << option;
  }
  for (const std::size_t width : {1U, 3U, 5U}) EXPECT_TRUE(head_widths.contains(width)) << width;
}

}  // namespace
}  // namespace dikkat::models
