#include "dikkat/formats/text_weights.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "dikkat/base/testing.h"

namespace dikkat::formats {
namespace {

using dikkat::testing::error_of;
using ::testing::HasSubstr;

std::string text_of_weights(const std::vector<NamedTensor>& tensors) {
  std::string text;
  write_text_weights(tensors, [&](std::span<const std::byte> piece) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return text;
}

TEST(TextWeights, OneTensorALineShortestDecimals) {
  const std::vector<float> matrix{0.1F, -0.0F, 16777216.0F, 1e-45F};
  const std::vector<double> row{0.1, 1e300};
  EXPECT_EQ(text_of_weights({{"w", Tensor::of<float>({2, 2}, matrix)}, {"b", Tensor::of<double>({2}, row)}}),
            "0.1 -0 16777216 1e-45\n0.1 1e+300\n");
}

TEST(TextWeights, EveryFiniteFloatComesBackToTheBit) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; values.size() < 200000; bits += 21473U) {  // a prime stride over all bit patterns
    const float value = std::bit_cast<float>(bits);
    if (std::isfinite(value)) values.push_back(value);
  }
  const Shape shape{values.size()};
  const auto back = read_text_weights(text_of_weights({{"w", Tensor::of<float>(shape, values)}}), std::vector{shape},
                                      DType::f32, "f");
  EXPECT_EQ(std::memcmp(back[0].raw(), values.data(), values.size() * sizeof(float)), 0);
}

TEST(TextWeights, ReadsMatricesAndRowsInOrder) {
  const std::vector<Shape> shapes{{2, 2}, {}, {3}};
  for (const char* text : {"1 2 3 4\n5\n6 7 8\n", "1 2 3 4\n5\n6 7 8"}) {
    const auto tensors = read_text_weights(text, shapes, DType::f64, "f");
    EXPECT_EQ(tensors[0].shape(), (Shape{2, 2}));
    EXPECT_EQ(tensors[0].span<double>()[2], 3.0);
    EXPECT_EQ(tensors[1].span<double>()[0], 5.0);
    EXPECT_EQ(tensors[2].span<double>()[2], 8.0);
  }
}

TEST(TextWeights, RefusesToWriteWhatItCannotReadBack) {
  const std::vector<float> values{1.0F, std::numeric_limits<float>::infinity()};
  const Error error = error_of([&] {
    static_cast<void>(text_of_weights({{"blocks.0.w", Tensor::of<float>({2}, values)}}));
  });
  EXPECT_EQ(error.kind(), ErrorKind::numeric);
  EXPECT_THAT(error.message(), HasSubstr("'blocks.0.w'"));
}

struct Refused {
  const char* text;
  const char* key;
  const char* rule;
  ErrorKind kind = ErrorKind::malformed;
};

TEST(TextWeights, RefusesAnythingElseWithItsPlace) {
  constexpr ErrorKind kMisfit = ErrorKind::incompatible;
  const std::vector<Shape> shapes{{2}, {1}};
  const std::vector<Refused> table{
      {"", "line 1", "expected 2 lines, one a tensor, got 0", kMisfit},
      {"1 2\n", "line 2", "expected 2 lines, one a tensor, got 1", kMisfit},
      {"1 2\n3\n4\n", "line 3", "expected 2 lines, one a tensor, got 3", kMisfit},
      {"1 2\n3\n\n", "line 3", "got 3", kMisfit},
      {"1\n3\n", "line 1", "expected 2 numbers, got 1", kMisfit},
      {"100\n3\n", "line 1", "expected 2 numbers, got 1", kMisfit},
      {"1 2 3\n3\n", "line 1", "expected 2 numbers, got 3", kMisfit},
      {"1 2\n\n", "line 2", "expected 1 number, got 0", kMisfit},
      {"1 2 3\nx\n", "line 2, column 1", "finite decimal"},  // what is no number comes first
      {"1 2\n3\nx\n", "line 3, column 1", "finite decimal"},
      {"1 2 \n3\n", "line 1, column 5", "finite decimal"},
      {" 1 2\n3\n", "line 1, column 1", "finite decimal"},
      {"1  2\n3\n", "line 1, column 3", "finite decimal"},
      {"1,2\n3\n", "line 1, column 2", "one blank"},
      {"1\t2\n3\n", "line 1, column 2", "one blank"},
      {"1 2\r\n3\r\n", "line 1, column 4", "one blank"},
      {"1 nan\n3\n", "line 1, column 3", "finite decimal"},
      {"1 inf\n3\n", "line 1, column 3", "finite decimal"},
      {"1 1e999\n3\n", "line 1, column 3", "beyond the range"},
      {"1 0x10\n3\n", "line 1, column 4", "one blank"},
      {"1 +2\n3\n", "line 1, column 3", "finite decimal"},
      {"1 2\nx\n", "line 2, column 1", "finite decimal"},
  };
  for (const Refused& row : table) {
    SCOPED_TRACE(row.text);
    const Error error = error_of([&] { static_cast<void>(read_text_weights(row.text, shapes, DType::f32, "f.txt")); });
    EXPECT_EQ(error.kind(), row.kind);
    EXPECT_EQ(error.place().file, "f.txt");
    EXPECT_EQ(error.place().key, row.key);
    EXPECT_THAT(error.message(), HasSubstr(row.rule));
  }
}

TEST(TextWeights, HugeShapesCostNoMemoryBeforeTheLineIsSeen) {
  const std::vector<Shape> shapes{{std::size_t{1} << 40U}};
  EXPECT_THAT(error_of([&] { static_cast<void>(read_text_weights("1 2\n", shapes, DType::f32, "f")); }).message(),
              HasSubstr("expected 1099511627776 numbers, got 2"));
}

}  // namespace
}  // namespace dikkat::formats
