// Six models out of the menu against PyTorch in double: tests/golden/menu_*.json, made by make_menu.py beside them.
#include <gtest/gtest.h>

#include <set>

#include "dikkat/base/parallel.h"
#include "dikkat/models/golden_testing.h"
#include "dikkat/models/testing.h"

namespace dikkat::models {
namespace {

using testing::golden;
using testing::kMenuGoldens;
using testing::kSeriesGoldens;
using testing::reals;

data::Batch tokens_from(const JsonAt& at, const Config& config) {
  data::Batch batch;
  for (const JsonAt& item : at["lengths"].items()) batch.lengths.push_back(item.count());
  for (const JsonAt& item : at["tokens"].items()) batch.inputs.push_back(static_cast<text::Token>(item.count()));
  for (const JsonAt& item : at["targets"].items()) {
    batch.targets.push_back(item.is_null() ? kernels::kNoTarget : static_cast<std::int32_t>(item.count()));
  }
  batch.rows.lay_out(batch.lengths, config.context);
  return batch;
}

class MenuGoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(MenuGoldenTest, LogitsLossAndEveryGradientArePyTorchs) {
  const Json json = golden("menu", GetParam());
  const JsonAt at(json, GetParam());
  const Config config = from_json<Config>(at["config"]);
  const LanguageModel model(config, DType::f64, nn::ParameterStore::Gradients::kept);
  testing::set_parameters(model, at["parameters"]);
  const data::Batch batch = tokens_from(at, config);

  Pool pool(1);
  const testing::Pass pass = testing::pass_over(model, testing::context_of({pool}, batch, Mode::training), batch);
  testing::expect_close("logits", pass.logits, reals(at["logits"]));
  double loss = 0;
  for (const double row : pass.losses.span<double>()) loss += row * testing::scale_of(batch);
  EXPECT_NEAR(loss, at["loss"].real(), 1e-12);
  for (const auto& [path, gradient] : pass.gradients) {
    testing::expect_close("gradient of " + path, gradient, reals(at["gradients"][path]));
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, MenuGoldenTest, ::testing::ValuesIn(kMenuGoldens),
                         [](const auto& instance) { return std::string(instance.param); });

// Every name of every enum, every switch both ways, every kind of grouping and head width is in some golden.
TEST(MenuGoldens, CoverEveryOption) {
  std::set<std::string> seen;
  std::set<std::size_t> head_widths;
  std::vector<Json> files;
  for (const char* name : kMenuGoldens) files.push_back(golden("menu", name));
  for (const char* name : kSeriesGoldens) files.push_back(golden("series", name));
  for (const Json& json : files) {
    const auto config = from_json<Config>(JsonAt(json, "golden")["config"]);
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
