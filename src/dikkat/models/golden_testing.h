// What tests of whole models against PyTorch share: the golden files (tests/golden) and comparison with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/nn/parameter.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat::models::testing {

inline constexpr std::array<const char*, 6> kMenuGoldens = {"alibi",  "learned",    "no_position",
                                                            "rotary", "sinusoidal", "sinusoidal_one"};
inline constexpr std::array<const char*, 6> kSeriesGoldens = {
    "mean", "last", "attention_query", "attention_query_blocks", "class_token", "class_token_learned"};

// tests/golden/<kind>_<name>.json
inline Json golden(const std::string& kind, const std::string& name) {
  const std::string file = DIKKAT_SOURCE_DIR "/tests/golden/" + kind + "_" + name + ".json";
  return parse_json(read_small_file(file, 1U << 20U), file);
}

inline std::vector<double> reals(const JsonAt& list) {
  std::vector<double> values;
  for (const JsonAt& item : list.items()) values.push_back(item.real());
  return values;
}

template <class Model>
void set_parameters(const Model& model, const JsonAt& values) {
  ASSERT_EQ(values.keys().size(), model.parameters().in_path_order().size());
  for (const nn::Parameter* parameter : model.parameters().in_path_order()) {
    const std::vector<double> wanted = reals(values[parameter->path()]);
    ASSERT_EQ(wanted.size(), parameter->shape().count()) << parameter->path();
    std::copy(wanted.begin(), wanted.end(), parameter->value().data<double>());
  }
}

// max|seen - expected| <= 1e-10 max|expected|
inline void expect_close(const std::string& what, const Tensor& seen, const std::vector<double>& expected) {
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

}  // namespace dikkat::models::testing
