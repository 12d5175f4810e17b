#include "dikkat/inspect/head_scores.h"

#include <cmath>
#include <functional>
#include <map>

#include "dikkat/base/testing.h"
#include "dikkat/models/testing.h"

namespace dikkat::inspect {
namespace {

using kernels::Direction;
using kernels::Mask;

constexpr std::size_t at(HeadScore score) { return static_cast<std::size_t>(score); }

// Maps (W, T, H, T) of weights f(w, i, h, j).
using Weight = std::function<double(std::size_t w, std::size_t i, std::size_t h, std::size_t j)>;
Tensor maps(std::size_t windows, std::size_t length, std::size_t heads, const Weight& f, DType dtype = DType::f64) {
  const Tensor map = Tensor::empty({windows, length, heads, length}, dtype);
  with_number(dtype, [&]<class T>() {
    T* to = map.data<T>();
    for (std::size_t w = 0; w < windows; ++w) {
      for (std::size_t i = 0; i < length; ++i) {
        for (std::size_t h = 0; h < heads; ++h) {
          for (std::size_t j = 0; j < length; ++j) *to++ = static_cast<T>(f(w, i, h, j));
        }
      }
    }
  });
  return map;
}

Weight uniform_under(Mask mask, std::size_t length) {
  return [=](std::size_t, std::size_t i, std::size_t, std::size_t j) {
    const auto seen = mask.visible(i, length);
    return j >= seen.begin && j < seen.end ? 1.0 / static_cast<double>(seen.end - seen.begin) : 0.0;
  };
}

HeadWindows text_windows(std::size_t length, std::vector<text::Token> tokens) {
  return {.length = length, .text = std::move(tokens), .repeated = {}, .periods = {}};
}

class ScoreMaps : public ::testing::Test {
 protected:
  HeadValues scores(const Tensor& text, const HeadWindows& windows, const Mask& mask = {},
                    const Tensor& repeated = {}) {
    return score_maps(text, repeated, windows, mask, {pool_});
  }
  Pool pool_{1};
};

// Rows of head 0 (1), (.25 .75), (.5 .25 .25), (.125 .5 .25 .125) on the tokens 5 6 5 5; the first has no choice.
TEST_F(ScoreMaps, OfAHandMadeMapAreWhatAPersonWorksOut) {
  const double rows[4][4] = {{1, 0, 0, 0}, {.25, .75, 0, 0}, {.5, .25, .25, 0}, {.125, .5, .25, .125}};
  const auto weight = [&](std::size_t, std::size_t i, std::size_t h, std::size_t j) {
    return h == 0 ? rows[i][j] : j == i ? 1.0 : 0.0;
  };
  const HeadValues values = scores(maps(1, 4, 2, weight), text_windows(4, {5, 6, 5, 5}));
  const auto of = [&](HeadScore score) { return values.at(0, 0, 0, at(score)); };
  // Centres .75, .75, 1.375 stand 0.25, 1.25, 1.625 before their queries.
  EXPECT_DOUBLE_EQ(of(HeadScore::centre), (0.25 + 1.25 + 1.625) / 3);
  // Mean squares .75, 1.25, 2.625 less squared centres.
  EXPECT_NEAR(of(HeadScore::spread),
              (std::sqrt(0.75 - 0.5625) + std::sqrt(1.25 - 0.5625) + std::sqrt(2.625 - 1.890625)) / 3, 1e-15);
  const double l2 = std::log(2.0);
  EXPECT_NEAR(of(HeadScore::entropy), ((2 * l2 - 0.75 * std::log(3.0)) + 1.5 * l2 + 1.75 * l2) / 3, 1e-15);
  EXPECT_DOUBLE_EQ(of(HeadScore::self), (0.75 + 0.25 + 0.125) / 3);
  EXPECT_DOUBLE_EQ(of(HeadScore::previous), (0.25 + 0.25 + 0.25) / 3);
  EXPECT_DOUBLE_EQ(of(HeadScore::first), (0.25 + 0.5 + 0.125) / 3);
  // Query 2 has key 0 of its token, query 3 keys 0 and 2; query 1 none and does not count.
  EXPECT_DOUBLE_EQ(of(HeadScore::same_character), (0.5 + 0.375) / 2);
  // The other head looks at itself: total variation 1 - p_ii.
  EXPECT_DOUBLE_EQ(of(HeadScore::separation), (0.25 + 0.75 + 0.875) / 3);
  // Distances 0, 1, 2, 3; a query counts where there is such a key.
  EXPECT_EQ(values.columns, at(HeadScore::distance) + 4);
  EXPECT_DOUBLE_EQ(values.at(0, 0, 0, at(HeadScore::distance)), (0.75 + 0.25 + 0.125) / 3);
  EXPECT_DOUBLE_EQ(values.at(0, 0, 0, at(HeadScore::distance) + 1), (0.25 + 0.25 + 0.25) / 3);
  EXPECT_DOUBLE_EQ(values.at(0, 0, 0, at(HeadScore::distance) + 2), (0.5 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(values.at(0, 0, 0, at(HeadScore::distance) + 3), 0.125);
  EXPECT_TRUE(std::isnan(of(HeadScore::induction))) << "no repeated tokens, no induction";
}

TEST_F(ScoreMaps, HaveNoValueWhereNothingCounts) {
  const HeadValues values = scores(maps(1, 3, 1, uniform_under({}, 3)), text_windows(3, {1, 2, 3}));
  EXPECT_TRUE(std::isnan(values.at(0, 0, 0, at(HeadScore::separation)))) << "a single head has no sibling";
  EXPECT_TRUE(std::isnan(values.at(0, 0, 0, at(HeadScore::same_character)))) << "no token comes twice";
  EXPECT_FALSE(std::isnan(values.at(0, 0, 0, at(HeadScore::self))));
}

// Period 3, then 4, in windows of 8: query i looks at i - n + 1, once a whole period has gone by.
TEST_F(ScoreMaps, InductionIsWhatFollowedTheEarlierOccurrences) {
  const HeadWindows windows{.length = 8,
                            .text = std::vector<text::Token>(16, 0),
                            .repeated = {1, 2, 3, 1, 2, 3, 1, 2, 4, 5, 6, 7, 4, 5, 6, 7},
                            .periods = {3, 4}};
  const auto perfect = [&](std::size_t w, std::size_t i, std::size_t, std::size_t j) {
    const std::size_t n = windows.periods[w];
    return j == (i < n ? 0 : i - n + 1) ? 1.0 : 0.0;
  };
  const Tensor text = maps(2, 8, 1, uniform_under({}, 8));
  const HeadValues found = scores(text, windows, {}, maps(2, 8, 1, perfect));
  EXPECT_EQ(found.at(0, 0, 0, at(HeadScore::induction)), 1.0);
  EXPECT_EQ(found.at(1, 0, 0, at(HeadScore::induction)), 1.0);

  // A head that always looks two back follows period 3 and not period 4.
  const auto fixed = [](std::size_t, std::size_t i, std::size_t, std::size_t j) {
    return j == (i < 2 ? 0 : i - 2) ? 1.0 : 0.0;
  };
  const HeadValues positional = scores(text, windows, {}, maps(2, 8, 1, fixed));
  EXPECT_EQ(positional.at(0, 0, 0, at(HeadScore::induction)), 1.0);
  EXPECT_EQ(positional.at(1, 0, 0, at(HeadScore::induction)), 0.0);

  // Later repeats have several earlier occurrences: the uniform head gets 1/4 1/5 1/6 (one) and 2/7 2/8 (two).
  const HeadValues uniform = scores(text, windows, {}, maps(2, 8, 1, uniform_under({}, 8)));
  EXPECT_NEAR(uniform.at(0, 0, 0, at(HeadScore::induction)), (1. / 4 + 1. / 5 + 1. / 6 + 2. / 7 + 2. / 8) / 5, 1e-15);
}

// One odd head among four: its siblings stay near each other.
TEST_F(ScoreMaps, SeparationIsTheDistanceToTheNearestSibling) {
  const auto weight = [](std::size_t, std::size_t i, std::size_t h, std::size_t j) {
    if (h == 2) return j == i ? 1.0 : 0.0;
    return j <= i ? 1.0 / static_cast<double>(i + 1) : 0.0;
  };
  const HeadValues values = scores(maps(1, 5, 4, weight), text_windows(5, {0, 1, 2, 3, 4}));
  for (const std::size_t head : {0U, 1U, 3U}) EXPECT_EQ(values.at(0, 0, head, at(HeadScore::separation)), 0.0);
  EXPECT_NEAR(values.at(0, 0, 2, at(HeadScore::separation)), (1. / 2 + 2. / 3 + 3. / 4 + 4. / 5) / 4, 1e-15);
}

TEST(UniformHead, OfACausalWindowIsTheClosedForm) {
  const std::vector<double> values = uniform_head(text_windows(4, {1, 2, 3, 4}), {});
  const double third = (1. / 2 + 1. / 3 + 1. / 4) / 3;
  EXPECT_DOUBLE_EQ(values[at(HeadScore::self)], third);
  EXPECT_DOUBLE_EQ(values[at(HeadScore::previous)], third);
  EXPECT_DOUBLE_EQ(values[at(HeadScore::first)], third);
  EXPECT_DOUBLE_EQ(values[at(HeadScore::centre)], (0.5 + 1 + 1.5) / 3);
  EXPECT_DOUBLE_EQ(values[at(HeadScore::entropy)], std::log(2. * 3 * 4) / 3);
  EXPECT_DOUBLE_EQ(values[at(HeadScore::spread)], (std::sqrt(3. / 12) + std::sqrt(8. / 12) + std::sqrt(15. / 12)) / 3);
  EXPECT_EQ(values[at(HeadScore::separation)], 0.0);
}

// Every mask, windows longer than a block of rows: the scores of a map of equal weights are the closed form.
TEST_F(ScoreMaps, OfEqualWeightsAreTheUniformHeads) {
  const std::size_t length = 41;
  std::vector<text::Token> tokens;
  for (std::size_t i = 0; i < 3 * length; ++i) tokens.push_back(static_cast<text::Token>(i * i % 7));
  HeadWindows windows = text_windows(length, tokens);
  for (std::uint64_t w = 0; w < 3; ++w) {
    const RepeatedWindow repeated = repeat_random(length, 29, 4, w);
    windows.repeated.insert(windows.repeated.end(), repeated.tokens.begin(), repeated.tokens.end());
    windows.periods.push_back(repeated.period);
  }
  for (const Direction direction : {Direction::causal, Direction::bidirectional}) {
    for (const std::size_t window : {0U, 2U, 5U, 41U}) {
      const Mask mask{.direction = direction, .window = window};
      const Tensor equal = maps(3, length, 2, uniform_under(mask, length));
      const HeadValues values = scores(equal, windows, mask, equal);
      const std::vector<double> expected = uniform_head(windows, mask);
      const std::vector<double> means = values.means();
      ASSERT_EQ(means.size(), 2 * expected.size());
      for (std::size_t c = 0; c < expected.size(); ++c) {
        if (std::isnan(expected[c])) {
          EXPECT_TRUE(std::isnan(means[c])) << c;
        } else {
          EXPECT_NEAR(means[c], expected[c], 1e-13) << "column " << c << " window " << window;
        }
      }
    }
  }
}

TEST(HeadColumns, HaveBinsThatHoldEveryDistanceOnce) {
  const auto bins = [](std::size_t length, const Mask& mask) {
    std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> all;
    for (const DistanceBin& bin : HeadColumns(length, mask).bins) all.emplace_back(bin.first, bin.last);
    return all;
  };
  using Bins = std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>>;
  EXPECT_EQ(bins(12, {}), (Bins{{0, 0}, {1, 1}, {2, 2}, {3, 4}, {5, 8}, {9, 11}}));
  EXPECT_EQ(bins(12, {.window = 4}), (Bins{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(bins(4, {.direction = Direction::bidirectional}),
            (Bins{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {-1, -1}, {-2, -2}, {-3, -3}}));
  EXPECT_EQ(bins(1, {}), (Bins{{0, 0}}));
}

// A model's scores: the maps that the tap shows, window by window.
class Recorder final : public nn::Tap {
 public:
  bool wants(std::string_view path) const override { return path.ends_with(".attention.pattern"); }
  void see(std::string_view path, Tensor& activation) override { kept[std::string(path)] = activation.clone(); }
  std::map<std::string, Tensor> kept;
};

class ScoreHeads : public ::testing::TestWithParam<std::size_t> {
 protected:
  ScoreHeads() : model_(config(), DType::f32, nn::ParameterStore::Gradients::none) {
    models::testing::spread(model_, {pool_}, 2);
    const std::size_t length = config().context;
    std::vector<text::Token> tokens;
    const random::Stream stream = random::stream(3, "test text");
    for (std::uint32_t i = 0; i < 40 * length; ++i) {
      tokens.push_back(static_cast<text::Token>(random::below(stream, {i, 0, 0, 0}, config().vocabulary)));
    }
    windows_ = head_windows(tokens, {.length = length, .count = 20, .vocabulary = config().vocabulary, .seed = 8});
  }
  static const models::Config& config() { return models::testing::menu()[GetParam()].config; }

  HeadValues scores(unsigned threads, kernels::Bodies bodies, const HeadWindows& windows) {
    Pool pool(threads);
    Passes passes(model_, {.pool = pool, .bodies = bodies});
    return score_heads(passes, windows);
  }

  Pool pool_{1};
  models::LanguageModel model_;
  HeadWindows windows_;
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

TEST_P(ScoreHeads, HaveTheSameBitsWhateverTheThreadsBodiesAndNeighbours) {
  const HeadValues one = scores(1, kernels::Bodies::fast, windows_);
  EXPECT_TRUE(same_bits(scores(2, kernels::Bodies::fast, windows_).values, one.values));
  EXPECT_TRUE(same_bits(scores(3, kernels::Bodies::reference, windows_).values, one.values));
  for (const std::size_t w : {0U, 7U}) {
    HeadWindows alone = windows_.spread(1);
    alone.text.assign(windows_.text_window(w).begin(), windows_.text_window(w).end());
    if (!windows_.periods.empty()) {
      alone.repeated.assign(windows_.repeated_window(w).begin(), windows_.repeated_window(w).end());
      alone.periods = {windows_.periods[w]};
    }
    const HeadValues values = scores(1, kernels::Bodies::fast, alone);
    const auto begin = one.values.begin() + static_cast<std::ptrdiff_t>(w * values.values.size());
    EXPECT_TRUE(same_bits(values.values, {begin, begin + static_cast<std::ptrdiff_t>(values.values.size())})) << w;
  }
}

TEST_P(ScoreHeads, OfSomeWindowsAreSomeOfThem) {
  const HeadValues all = scores(1, kernels::Bodies::fast, windows_);
  EXPECT_TRUE(same_bits(all.spread(7).values, scores(1, kernels::Bodies::fast, windows_.spread(7)).values));
  EXPECT_TRUE(same_bits(all.spread(20).values, all.values));
}

TEST_P(ScoreHeads, AreThoseOfTheMapsThatTheTapShows) {
  const HeadValues found = scores(1, kernels::Bodies::fast, windows_);
  Passes passes(model_, {.pool = pool_});
  const std::size_t length = windows_.length;
  const Mask mask{.direction = config().direction, .window = config().window};
  for (const std::size_t w : {2U, 11U}) {
    Recorder text;
    (void)passes.logits(windows_.text_window(w), &text);
    Recorder repeated;
    if (!windows_.periods.empty()) (void)passes.logits(windows_.repeated_window(w), &repeated);
    HeadWindows alone = text_windows(length, {windows_.text_window(w).begin(), windows_.text_window(w).end()});
    if (!windows_.periods.empty()) {
      alone.repeated.assign(windows_.repeated_window(w).begin(), windows_.repeated_window(w).end());
      alone.periods = {windows_.periods[w]};
    }
    for (std::size_t l = 0; l < config().layers; ++l) {
      const std::string path = "blocks." + std::to_string(l) + ".attention.pattern";
      const Shape shape{1, length, config().heads, length};
      const Tensor of_repeated = repeated.kept.empty() ? Tensor() : repeated.kept[path].reshape(shape);
      const HeadValues expected = score_maps(text.kept[path].reshape(shape), of_repeated, alone, mask, {pool_});
      for (std::size_t h = 0; h < config().heads; ++h) {
        for (std::size_t c = 0; c < found.columns; ++c) {
          const double value = found.at(w, l, h, c);
          const double other = expected.at(0, 0, h, c);
          EXPECT_TRUE(value == other || (std::isnan(value) && std::isnan(other))) << path << " " << h << " " << c;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Menu, ScoreHeads, ::testing::Range(std::size_t{0}, models::testing::menu().size()),
                         [](const auto& which) { return models::testing::menu()[which.param].name; });

TEST(ScoreMapsErrors, RefuseMapsOfAnotherShape) {
  Pool pool(1);
  const Tensor map = Tensor::zeros({1, 4, 2, 3}, DType::f32);
  const Error error = dikkat::testing::error_of([&] {
    (void)score_maps(map, {}, text_windows(4, {1, 2, 3, 4}), {}, {pool});
  });
  EXPECT_EQ(error.kind(), ErrorKind::internal);
}

}  // namespace
}  // namespace dikkat::inspect
