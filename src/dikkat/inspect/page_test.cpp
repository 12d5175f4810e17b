#include "dikkat/inspect/page.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "dikkat/base/json.h"
#include "dikkat/base/parallel.h"
#include "dikkat/base/testing.h"
#include "dikkat/inspect/page_maps.h"
#include "dikkat/inspect/page_modules.h"

namespace dikkat::inspect {
namespace {

using dikkat::testing::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// One head of width 1 over four tokens: q = 1, k_j = ln(j + 1), scale 1, so that row i of a causal map has the weights
// (1, 2, ..., i + 1) / ((i + 1)(i + 2) / 2).
PageData counting() {
  PageData data;
  data.title = "counting";
  for (const char* text : {"a", "b", "c", "d"}) data.tokens.push_back({.text = text});
  data.tokens[3].generated = true;
  const std::vector<float> q(4, 1.0F);
  const std::vector<float> k = {0.0F, 0.6931471805F, 1.0986122887F, 1.3862943611F};
  PageLayer layer;
  layer.q = Tensor::of<float>({4, 1, 1}, q);
  layer.k = Tensor::of<float>({4, 1, 1}, k);
  data.layers.push_back(layer);
  return data;
}

class PageTest : public ::testing::Test {
 protected:
  [[nodiscard]] PageLayerMaps maps_of(const PageData& data) const {
    return layer_maps(data, data.layers.front(), executor_);
  }
  [[nodiscard]] std::string page_of(const PageData& data) const { return html_page(data, executor_); }
  // What stands in the block `id`.
  static std::string block(const std::string& page, const std::string& id) {
    const std::size_t at = page.find("id=\"" + id + "\">");
    if (at == std::string::npos) return "missing";
    const std::size_t begin = page.find('>', at) + 1;
    return page.substr(begin, page.find("</script>", begin) - begin);
  }

  mutable Pool pool_{1};
  kernels::Executor executor_{pool_};
};

TEST_F(PageTest, RowSumsAreThoseOfTheFormula) {
  const PageLayerMaps maps = maps_of(counting());
  ASSERT_EQ(maps.max.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {  // m = ln(i + 1), Z = (1 + ... + (i + 1)) / (i + 1) = (i + 2) / 2
    EXPECT_NEAR(maps.max[i], std::log(static_cast<double>(i + 1)), 1e-6);
    EXPECT_NEAR(maps.sum[i], static_cast<double>(i + 2) / 2, 1e-6);
  }
}

TEST_F(PageTest, FactsAreMeansOverTheRows) {
  // rows: (1), (1,2)/3, (1,2,3)/6, (1,2,3,4)/10
  const PageHeadFacts facts = maps_of(counting()).heads.at(0).facts;
  EXPECT_NEAR(facts.self, (1 + 2.0 / 3 + 3.0 / 6 + 4.0 / 10) / 4, 1e-6);
  EXPECT_NEAR(facts.previous, (0 + 1.0 / 3 + 2.0 / 6 + 3.0 / 10) / 4, 1e-6);
  EXPECT_NEAR(facts.first, (1 + 1.0 / 3 + 1.0 / 6 + 1.0 / 10) / 4, 1e-6);
  EXPECT_NEAR(facts.distance, (0 + 1.0 / 3 + (2 + 2) / 6.0 + (3 + 4 + 3) / 10.0) / 4, 1e-6);
  EXPECT_NEAR(facts.spread, (1 + 9.0 / 5 + 36.0 / 14 + 100.0 / 30) / 4, 1e-6);
}

TEST_F(PageTest, ThumbnailHasAShadeForEachWeightAndNoneWhereNothingIsVisible) {
  const std::vector<std::uint8_t> thumbnail = maps_of(counting()).heads.at(0).thumbnail;
  ASSERT_EQ(thumbnail.size(), 16U);
  EXPECT_EQ(thumbnail[0], 255);  // 1
  EXPECT_EQ(thumbnail[1], 0);
  EXPECT_EQ(thumbnail[4], 1 + std::lround(254 * (1 + std::log10(1.0 / 3) / 5)));
  EXPECT_EQ(thumbnail[12], 1 + 203);  // 0.1: a fifth of the way down
}

TEST_F(PageTest, LongThumbnailsShowTheLargestOfEachBlock) {
  PageData data = counting();
  data.tokens.assign(300, {.text = "x"});
  std::vector<float> q(300, 1.0F);
  std::vector<float> k(300, 0.0F);
  k[77] = 9.0F;  // exp(9) = 8103 against one each: 0.96 or more
  data.layers[0].q = Tensor::of<float>({300, 1, 1}, q);
  data.layers[0].k = Tensor::of<float>({300, 1, 1}, k);
  const std::vector<std::uint8_t> thumbnail = maps_of(data).heads.at(0).thumbnail;
  ASSERT_EQ(thumbnail.size(), kThumbnailSide * kThumbnailSide);
  const std::size_t column = 77 * kThumbnailSide / 300;  // 32
  const auto at = [&](std::size_t row, std::size_t key) { return thumbnail[row * kThumbnailSide + key]; };
  for (const std::size_t row : {40U, 90U, 127U}) {
    EXPECT_GE(at(row, column), 254);
    EXPECT_LT(at(row, column - 1), 60);
    EXPECT_LT(at(row, column + 1), 60);
  }
  EXPECT_EQ(at(20, column), 0);
}

TEST_F(PageTest, ThreadsBodiesAndChunksChangeNothing) {
  PageData data = counting();
  data.tokens.assign(600, {.text = "x"});
  std::vector<float> q(600 * 2 * 3);
  std::vector<float> k(600 * 3);
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = static_cast<float>(std::sin(static_cast<double>(i)) * 2);
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = static_cast<float>(std::cos(static_cast<double>(3 * i)) * 2);
  data.layers[0].q = Tensor::of<float>({600, 2, 3}, q);
  data.layers[0].k = Tensor::of<float>({600, 1, 3}, k);
  data.slopes = {0.25, 0.0625};
  const std::string expected = page_of(data);
  Pool three(3);
  EXPECT_EQ(html_page(data, {three}), expected);
  EXPECT_EQ(html_page(data, {pool_, kernels::Bodies::reference}), expected);
  EXPECT_LT(maps_of(data).largest_difference, 1e-7);
}

TEST_F(PageTest, TwoWayMapsWithAWindowOrSlopesAreRight) {
  PageData data = counting();
  data.tokens.assign(400, {.text = "x"});
  data.layers[0].q = Tensor::zeros({400, 1, 1}, DType::f32);
  data.layers[0].k = Tensor::zeros({400, 1, 1}, DType::f32);
  data.mask = {.direction = kernels::Direction::bidirectional,
               .window = 3};  // |i - j| < 3: five keys, fewer at the ends
  const PageLayerMaps maps = maps_of(data);
  EXPECT_EQ(maps.sum[0], 3.0F);
  EXPECT_EQ(maps.sum[1], 4.0F);
  EXPECT_EQ(maps.sum[350], 5.0F);
  EXPECT_NEAR(maps.heads[0].facts.spread, (396 * 5 + 2 * 4 + 2 * 3) / 400.0, 1e-5);
  EXPECT_LT(maps.largest_difference, 1e-7);
}

TEST_F(PageTest, HoldsFactsTokensAndNumbers) {
  PageData data = counting();
  data.facts = {{"weights", "sha256 abc"}};
  const std::string page = page_of(data);
  EXPECT_THAT(page, HasSubstr("<!doctype html>"));
  const Json facts = parse_json(block(page, "page-facts"), "page");
  const JsonAt at(facts, "page");
  EXPECT_EQ(at["title"].string(), "counting");
  EXPECT_EQ(at["facts"].items()[0]["value"].string(), "sha256 abc");
  EXPECT_EQ(at["tokens"].items()[2].string(), "c");
  EXPECT_EQ(at["generated"].items()[0].items()[0].count(), 3U);
  EXPECT_EQ(at["generated"].items()[0].items()[1].count(), 4U);
  EXPECT_TRUE(at["mask"]["causal"].boolean());
  // q: E = 127, four times 000000, four distances of 0 (00): 7f, 12 zero bytes, 00
  EXPECT_EQ(block(page, "q-0-0"), "fwAAAAAAAAAAAAAAAAA=");
  EXPECT_NE(block(page, "k-0-0"), "missing");
  EXPECT_EQ(block(page, "q-0-1"), "missing");
}

TEST_F(PageTest, HoldsTheReadingsOfASeriesByChannel) {
  PageData data = counting();
  EXPECT_THAT(page_of(data), HasSubstr("\"readings\":null"));
  data.readings = Tensor::of<double>({3, 2}, std::vector<double>{1, 10, 2, 20, 3, std::nan("")});
  EXPECT_THAT(page_of(data), HasSubstr("\"readings\":[[1.0,2.0,3.0],[10.0,20.0,null]]"));
  data.readings = Tensor::of<double>({5, 1}, std::vector<double>(5));
  EXPECT_EQ(error_of([&] { (void)page_of(data); }).kind(), ErrorKind::internal);
}

TEST_F(PageTest, SharedKeysStandOnceAndOnlyChosenHeadsAreWritten) {
  PageData data = counting();
  data.layers[0].q = Tensor::zeros({4, 6, 2}, DType::f32);
  data.layers[0].k = Tensor::zeros({4, 2, 2}, DType::f32);
  data.layers[0].number = 7;
  const std::string all = page_of(data);
  EXPECT_NE(block(all, "q-7-5"), "missing");
  EXPECT_NE(block(all, "k-7-1"), "missing");
  EXPECT_EQ(block(all, "k-7-2"), "missing");
  data.layers[0].heads = {4, 5};
  const std::string some = page_of(data);
  EXPECT_NE(block(some, "q-7-4"), "missing");
  EXPECT_EQ(block(some, "q-7-3"), "missing");
  EXPECT_NE(block(some, "k-7-1"), "missing");
  EXPECT_EQ(block(some, "k-7-0"), "missing");
}

TEST_F(PageTest, NoTokenLeavesItsPlace) {
  PageData data = counting();
  data.title = "</script><script>alert(1)</script>";
  data.tokens[0].text = "</script><!--<script>";
  data.tokens[1].text = "{numbers}{script}";
  data.tokens[2].text = "\xff\xc3";
  data.facts = {{"<b>", "{script}"}};
  const std::string page = page_of(data);
  const auto count_of = [&](std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(count_of("</script>"), count_of("<script"));
  EXPECT_EQ(count_of("<script"), count_of("<script>") + count_of("<script type="));
  EXPECT_EQ(count_of("<script>"), 1U);
  const Json facts = parse_json(block(page, "page-facts"), "page");
  const JsonAt at(facts, "page");
  EXPECT_EQ(at["tokens"].items()[0].string(), "</script><!--<script>");
  EXPECT_EQ(at["tokens"].items()[1].string(), "{numbers}{script}");
  EXPECT_EQ(at["tokens"].items()[2]["bytes"].string(), "ffc3");
}

TEST_F(PageTest, AsksTheNetworkForNothing) {
  const std::string page = page_of(counting());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  for (const PageModule& part : page_modules()) {
    if (!part.name.ends_with(".js")) continue;
    EXPECT_THAT(std::string(part.text),
                AllOf(Not(HasSubstr("innerHTML")), Not(HasSubstr("eval(")), Not(HasSubstr("fetch("))))
        << part.name;
  }
}

TEST_F(PageTest, WhatIsNoNumberIsSaid) {
  PageData data = counting();
  data.layers[0].k = Tensor::of<float>({4, 1, 1}, std::vector<float>(4, std::nanf("")));
  const Json facts = parse_json(block(page_of(data), "page-facts"), "page");
  const JsonAt at(facts, "page");
  EXPECT_TRUE(at["largestDifference"].is_null());
  EXPECT_TRUE(at["layers"].items()[0]["heads"].items()[0]["facts"]["self"].is_null());
}

TEST_F(PageTest, RefusesWhatCannotBeShown) {
  PageData data = counting();
  data.layers.clear();
  EXPECT_EQ(error_of([&] { (void)page_of(data); }).kind(), ErrorKind::incompatible);
  data = counting();
  data.tokens.clear();
  EXPECT_EQ(error_of([&] { (void)page_of(data); }).kind(), ErrorKind::incompatible);
  data = counting();
  data.tokens.pop_back();
  const Error error = error_of([&] { (void)page_of(data); });
  EXPECT_EQ(error.kind(), ErrorKind::internal);
  EXPECT_THAT(error.message(), HasSubstr("3 tokens, q (4,1,1), k (4,1,1)"));
  data = counting();
  data.layers[0].heads = {1};
  EXPECT_EQ(error_of([&] { (void)page_of(data); }).kind(), ErrorKind::internal);
}

TEST_F(PageTest, RefusesMoreNumbersThanABrowserTakes) {
  PageData data = counting();
  const std::size_t tokens = 4096;
  data.tokens.assign(tokens, {.text = "x"});
  PageLayer layer;
  layer.q = Tensor::zeros({tokens, 4, 64}, DType::f32);
  layer.k = Tensor::zeros({tokens, 4, 64}, DType::f32);
  data.layers.assign(33, layer);  // 33 * 4096 * 8 * 64 > 64 Mi; the memory is shared
  const Error error = error_of([&] { (void)page_of(data); });
  EXPECT_EQ(error.kind(), ErrorKind::limit);
  EXPECT_THAT(error.place().hint, HasSubstr("fewer layers or heads"));
}

}  // namespace
}  // namespace dikkat::inspect
