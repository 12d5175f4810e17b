// A small checkpoint whose content tells its step, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dikkat/base/testing.h"
#include "dikkat/train/checkpoint.h"

namespace dikkat::train::testing {

[[nodiscard]] inline Checkpoint checkpoint_of(std::uint64_t step) {
  const auto x = static_cast<float>(step);
  Checkpoint checkpoint;
  checkpoint.state.step = step;
  checkpoint.state.model.vocabulary = 65;
  checkpoint.state.settings.learning_rate = 0.1;
  checkpoint.state.coding_fingerprint = std::string(32, 'a');
  checkpoint.state.data_fingerprint = std::string(32, 'b');
  checkpoint.state.best_validation_loss_nats = 1.0 / 3.0;
  checkpoint.state.best_step = step;
  checkpoint.state.evaluations_since_best = 2;
  checkpoint.state.skipped_nonfinite = 1;
  checkpoint.state.loss_tail = {4.1, 0.1 + 0.2};
  checkpoint.weights = {{"blocks.0.w", Tensor::of<float>({2, 3}, std::vector<float>{x, x + 1, 0.1F, -0.0F, 1e-45F, 3})},
                        {"out.bias", Tensor::of<float>({1}, std::vector<float>{-x})}};
  checkpoint.optimizer = {{"blocks.0.w.first_moment", Tensor::of<float>({6}, std::vector<float>(6, x))}};
  return checkpoint;
}

inline void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    ASSERT_EQ(a[i].value.shape(), b[i].value.shape());
    EXPECT_EQ(std::memcmp(a[i].value.raw(), b[i].value.raw(), a[i].value.bytes()), 0) << a[i].name;
  }
}

// To the bit.
inline void expect_equal(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.state, b.state);
  expect_equal(a.weights, b.weights);
  expect_equal(a.optimizer, b.optimizer);
}

using dikkat::testing::content_of;

inline void overwrite(const std::filesystem::path& path, std::string_view content) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  ASSERT_TRUE(stream.good());
}

// In place: a file that is cut to nothing and written anew costs a flush on some file systems.
inline void flip(const std::filesystem::path& path, std::size_t bit) {
  std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekg(static_cast<std::streamoff>(bit / 8));
  const int byte = stream.get();
  stream.seekp(static_cast<std::streamoff>(bit / 8));
  stream.put(static_cast<char>(byte ^ (1 << (bit % 8))));
  stream.close();
  ASSERT_TRUE(stream.good());
}

[[nodiscard]] inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace dikkat::train::testing
