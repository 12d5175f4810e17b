// The lesson against NumPy and PyTorch: tests/golden/self_attention_expected.json (make_self_attention.py, the
// document's program and its exercises) and self_attention_more.json (make_self_attention_more.py: other seeds,
// MultiheadAttention).
#include "dikkat/lessons/self_attention_lesson.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "dikkat/base/file.h"
#include "dikkat/base/testing.h"
#include "dikkat/random/numpy_compatible.h"

namespace dikkat::lessons {
namespace {

using ::testing::HasSubstr;

// NumPy's order of additions and its exponential differ from ours in the last bits.
constexpr double kLessonTolerance = 1e-12;

std::string lesson_golden_text(const std::string& name) {
  return read_small_file(DIKKAT_SOURCE_DIR "/tests/golden/" + name, 1U << 20U);
}
Json golden(const std::string& name) { return parse_json(lesson_golden_text(name), name); }

// Equal in structure, words and counts, numbers within the tolerance. `compared` counts the numbers.
void expect_equal(const JsonAt& ours, const JsonAt& theirs, std::size_t& compared) {
  SCOPED_TRACE(theirs.path());
  if (theirs.value().kind() == Json::Kind::array) {
    const auto a = ours.items();
    const auto b = theirs.items();
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) expect_equal(a[i], b[i], compared);
  } else if (theirs.value().kind() == Json::Kind::object) {
    for (const std::string& key : theirs.keys()) expect_equal(ours[key], theirs[key], compared);
  } else if (theirs.value().kind() == Json::Kind::string) {
    EXPECT_EQ(ours.string(), theirs.string());
  } else if (theirs.value().kind() == Json::Kind::boolean) {
    EXPECT_EQ(ours.boolean(), theirs.boolean());
  } else if (theirs.value().kind() == Json::Kind::real) {
    EXPECT_NEAR(ours.real(), theirs.real(), kLessonTolerance);
    ++compared;
  } else {
    EXPECT_EQ(ours.count(), theirs.count());
    ++compared;
  }
}

// The golden document without what is its maker's own: versions, words about how, checks of NumPy against itself.
Json without(const Json& object, const std::set<std::string>& left_out) {
  Json kept = Json::object();
  for (const JsonMember& member : object.members()) {
    if (left_out.contains(member.key)) continue;
    kept.set(member.key, member.value.kind() == Json::Kind::object ? without(member.value, left_out) : member.value);
  }
  return kept;
}

SelfAttentionLesson lesson_with(const SelfAttentionOptions& options = {}) {
  Pool pool(1);
  return self_attention_lesson({.pool = pool}, options);
}

const SelfAttentionLesson& published_lesson() {
  static const SelfAttentionLesson lesson = lesson_with();
  return lesson;
}

TEST(SelfAttentionLesson, PrintsWhatTheDocumentsProgramPrints) {
  EXPECT_EQ(as_published(published_lesson()), lesson_golden_text("self_attention_published.out"));
}

// 0, 7, 2026 and one of 40 digits, through NumPy.
TEST(SelfAttentionLesson, PrintsWhatTheProgramPrintsWithOtherSeeds) {
  const Json more = golden("self_attention_more.json");
  std::size_t seeds = 0;
  for (const JsonAt& run : JsonAt(more, "more")["seeds"].items()) {
    const SelfAttentionLesson lesson = lesson_with({.seed = *random::entropy_words(run["seed"].string())});
    EXPECT_EQ(as_published(lesson), run["stdout"].string()) << "seed " << run["seed"].string();
    const Json ours = as_json(lesson);
    std::size_t compared = 0;
    for (const char* key : {"X", "weights", "output"}) {
      expect_equal(JsonAt(ours, "ours")["base"][key], run[key], compared);
    }
    EXPECT_EQ(compared, 48U + 36U + 24U);
    ++seeds;
  }
  EXPECT_EQ(seeds, 4U);
}

// Every number of the golden file that the lesson computes, and every printed table, map and level.
TEST(SelfAttentionLesson, HoldsEveryNumberOfTheGoldenFile) {
  const Json expected =
      without(golden("self_attention_expected.json"),
              {"numpy", "python", "stdout", "rng", "published_script_d16", "max_abs_diff_blas_vs_plain_loops",
               "X_first32_times_scale_equals_Wq", "init", "mask", "X", "synthetic_n8_keys_rng0", "row_sums_equal_1"});
  const Json ours = as_json(published_lesson());
  std::size_t compared = 0;
  expect_equal(JsonAt(ours, "ours"), JsonAt(expected, "expected"), compared);
  EXPECT_GT(compared, 2000U);
}

TEST(SelfAttentionLesson, DrawsTheDocumentsVectors) {
  const Json expected = golden("self_attention_expected.json");
  const Json ours = as_json(published_lesson());
  std::size_t compared = 0;
  expect_equal(JsonAt(ours, "ours")["base"]["X"], JsonAt(expected, "expected")["base"]["X"], compared);
  EXPECT_EQ(compared, 48U);
  const SelfAttentionLesson& lesson = published_lesson();
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(lesson.projections.query.values[i], lesson.x.values[i] * std::sqrt(2.0 / 12));
  }
}

TEST(SelfAttentionLesson, ScoresGrowWithTheRootOfTheWidthAsInNumpy) {
  const Json expected = golden("self_attention_expected.json");
  const Json ours = as_json(published_lesson());
  std::size_t compared = 0;
  expect_equal(JsonAt(ours, "ours")["scaling"]["synthetic_n8_keys"],
               JsonAt(expected, "expected")["scaling"]["synthetic_n8_keys_rng0"], compared);
  EXPECT_EQ(compared, 24U);
}

// d_model 16, dk = dv = 8, as the course's own script has it.
TEST(SelfAttentionLesson, HoldsThePublishedScriptsSizesToo) {
  const Json json = golden("self_attention_expected.json");
  const JsonAt expected = JsonAt(json, "expected")["published_script_d16"];
  const Json ours = as_json(lesson_with({.width = 16, .head_width = 8}));
  std::size_t compared = 0;
  for (const char* key : {"X", "weights", "weights_3dp", "heatmap", "heatmap_levels", "output"}) {
    expect_equal(JsonAt(ours, "ours")["base"][key], expected[key], compared);
  }
  const Json heads = without(expected["multihead_per_head"].value(), {"init"});
  expect_equal(JsonAt(ours, "ours")["multihead_per_head"], JsonAt(heads, "expected"), compared);
  EXPECT_EQ(compared, 96U + 36U + 36U + 48U + 3U + 256U + 72U + 2 * 96U);
}

TEST(SelfAttentionLesson, SeveralHeadsAreTorchsMultiheadAttention) {
  const Json json = golden("self_attention_more.json");
  std::size_t cases = 0;
  for (const JsonAt& one : JsonAt(json, "more")["multihead"].items()) {
    const SelfAttentionLesson lesson = lesson_with({.seed = {static_cast<std::uint32_t>(one["seed"].count())},
                                                    .width = one["width"].count(),
                                                    .heads = one["heads"].count()});
    const Json ours = as_json(lesson);
    const std::string variant = one["variant"].string() == "split" ? "multihead_split" : "multihead_per_head";
    const JsonAt seen = JsonAt(ours, "ours")[variant + (one["mask"].string() == "causal" ? "_causal" : "")];
    std::size_t compared = 0;
    for (const char* key : {"output", "head_weights", "mean_weights"}) expect_equal(seen[key], one[key], compared);
    EXPECT_EQ(compared, 6 * one["width"].count() + 36 * (one["heads"].count() + 1));
    const Attended& attended = one["variant"].string() == "split" ? lesson.split.free : lesson.per_head.free;
    const auto shapes = one["shapes"].items();
    EXPECT_EQ(attended.output.rows, shapes[1].items()[1].count());
    EXPECT_EQ(attended.output.columns, shapes[1].items()[2].count());
    EXPECT_EQ(mean_of(attended.weights).columns, shapes[2].items()[2].count());
    ++cases;
  }
  EXPECT_EQ(cases, 12U);
}

TEST(SelfAttentionLesson, FirstHeadOfItsOwnIsTheSingleAttention) {
  const SelfAttentionLesson& lesson = published_lesson();
  EXPECT_EQ(lesson.per_head.free.weights[0], lesson.base.weights[0]);
  EXPECT_TRUE(lesson.one_head_is_single_attention);
}

TEST(SelfAttentionLesson, ACausalMaskChangesTheMainTable) {
  const SelfAttentionLesson lesson = lesson_with({.direction = kernels::Direction::causal});
  EXPECT_EQ(lesson.base.weights[0], published_lesson().causal.weights[0]);
  EXPECT_THAT(as_published(lesson), HasSubstr("   The 1.000 0.000 0.000 0.000 0.000 0.000\n   cat 0.557 0.443"));
}

// A line of the explained lesson that begins with `start`, blanks at its head left out.
std::string line_of(const std::string& text, const std::string& start) {
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::size_t first = text.find_first_not_of(' ', from);
    if (first < end && text.compare(first, start.size(), start) == 0) return text.substr(first, end - first);
    from = end + 1;
  }
  ADD_FAILURE() << "no line begins with " << start;
  return {};
}

// What the seed must change, in the lines of the claims.
void expect_other_line(const std::string& a, const std::string& b, const std::string& start) {
  EXPECT_NE(line_of(a, start), line_of(b, start));
}

class ExplainedSelfAttention : public ::testing::Test {
 protected:
  const std::string text_ = explained(published_lesson());
  const std::string other_ = explained(lesson_with({.seed = {7}, .second_seed = {42}, .scaling_seed = {7}}));
};

TEST_F(ExplainedSelfAttention, ShowsWhyTheWidthsRootDivides) {
  EXPECT_THAT(text_, HasSubstr("          4     1.9         0.93        0.49         0.32"));
  EXPECT_THAT(text_, HasSubstr("         64     8.1         1.02        0.88         0.37"));
  EXPECT_THAT(text_, HasSubstr("       1024    32.1         1.00        0.97         0.36"));
  EXPECT_THAT(text_, HasSubstr("1.710 nats divided, 1.557 undivided (of at most 1.792)"));
  expect_other_line(text_, other_, "4    ");
  expect_other_line(text_, other_, "Undivided, softmax goes from");
}

// Query against all keys and blend of all values; the three roles; the pipeline with its shapes; the formula; n steps
// against one.
TEST_F(ExplainedSelfAttention, ShowsTheSoftLookupWithThisRunsFigures) {
  for (const char* part :
       {"A recurrent network reads 6 words in 6 steps, O(n)", "in one parallel step: 6 x 6 = 36 scores",
        "query of 'The' -> similarity to ALL keys\n                       -> a blend of ALL values",
        "(what am I looking for?)", "a value (what do I offer if I am chosen?)",
        "on      2.03  0.445  ##################", "+-> Q = X Wq (6,4) -+",
        "X (6,8) ---+-> K = X Wk (6,4) -+-> Q K^T / sqrt(4) (6,6) -> softmax (6,6)", "-+-> weighted sum (6,4)",
        "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V",
        "and becomes 0.097 v(The) + 0.122 v(cat) + 0.236 v(sat) + ...", "= [-0.233 0.443 1.035 0.550]",
        "Here 'mat' takes 16.8 % of what it becomes straight from 'The'."}) {
    EXPECT_THAT(text_, HasSubstr(part));
  }
  for (const char* start : {"Here 'mat' takes", "and becomes", "on      ", "= ["}) {
    expect_other_line(text_, other_, start);
  }
}

TEST_F(ExplainedSelfAttention, ShowsTheDocumentsWrongSoftmaxRight) {
  EXPECT_THAT(text_,
              HasSubstr("For the scores\n   [2.1 0.3 0.1 0.8 0.2] it shows\n   [0.52 0.09 0.07 0.14 0.08], which is "
                        "0.90 in sum: no softmax. Right is\n   [0.580 0.096 0.079 0.158 0.087], sum 1.000"));
  EXPECT_THAT(text_, HasSubstr("0.580 v1 + 0.096 v2 + 0.079 v3 + 0.158 v4 + 0.087 v5."));
  EXPECT_THAT(text_,
              HasSubstr("[0.51 0.74 1.40 2.03 -0.21 -0.12]      -> [0.097 0.122 0.236 0.445 0.047 0.052]  sum 1.0000\n"
                        "      (the row of 'The' in this run)"));
  const auto row = [](const std::string& text) {
    const std::size_t end = text.find("\n      (the row of 'The' in this run)");
    return text.substr(text.rfind('\n', end - 1), end - text.rfind('\n', end - 1));
  };
  EXPECT_NE(row(text_), row(other_));
}

TEST_F(ExplainedSelfAttention, ShowsTheSevenTermsWithThisRunsFigures) {
  const auto terms = [](const std::string& text) {
    const std::size_t from = text.find("11. Seven terms");
    return text.substr(from, text.find("\n\n", from) - from);
  };
  for (const char* term :
       {"query (Q)", "key (K)", "value (V)", "scaled dot-product attention", "self-attention", "attention weights",
        "multi-head attention", "of 'The': [0.615 1.647 -1.110 0.353]", "of 'The': [0.694 0.743 0.511 -0.167]",
        "of 'The': [-0.370 0.695 1.573 0.996]", "'The' and 'mat': -0.234 / sqrt(4) = -0.117",
        "'mat' looks at itself with 0.234", "of 'The': [0.097 0.122 0.236 0.445 0.047 0.052], sum 1.0000",
        "2 heads here differ by 0.041 on average"}) {
    EXPECT_THAT(terms(text_), HasSubstr(term));
  }
  const auto count = [&](const std::string& start) {
    return line_of(terms(text_), start) != line_of(terms(other_), start);
  };
  EXPECT_TRUE(count("of 'The': ["));
  EXPECT_TRUE(count("score of"));
  EXPECT_TRUE(count("one sequence; 'mat'"));
  EXPECT_TRUE(count("2 heads here differ"));
}

TEST_F(ExplainedSelfAttention, ShowsTheThreeExercises) {
  for (const char* part :
       {"output is its value, to the bit: yes.\n   -1e9 in place of minus infinity gives the same bits: yes.",
        "sat 0.326 0.255 0.419 0.000 0.000 0.000", "d_k = d_model / heads = 8 / 2 = 4", "The 0.132 0.222 0.185 0.211",
        "The 0.206 0.195 0.156 0.173", "input (1,6,8),\n   output (1,6,8), weights (1,6,6), averaged over heads",
        "the weights (by 0.086 on average, by 0.380 at most)",
        "most:\n   on, the, sat, mat, on, mat; now\n   park, park, the, the, park, the.",
        "What stays: the projections Wq, Wk, Wv, all shapes, rows that are 1 in sum.",
        "\"the cat sat on The mat\":\n   weights and outputs move along with their words\n   (differences 0.0e+00 "
        "and"}) {
    EXPECT_THAT(text_, HasSubstr(part));
  }
}

TEST_F(ExplainedSelfAttention, SaysWhatAChangeDid) {
  EXPECT_EQ(text_.find("What you changed"), std::string::npos);
  EXPECT_THAT(other_, HasSubstr("seed 42 -> 7\n"));
  EXPECT_THAT(other_, HasSubstr("The weights of step 5 moved by"));
  const std::string heads = explained(lesson_with({.heads = 4}));
  EXPECT_THAT(heads,
              HasSubstr("heads 2 -> 4\n   No weight of step 5 has moved.\n   Step 9 has 4 heads of width 2 now"));
  const std::string sentence = explained(lesson_with({.words = {"one", "two"}, .second_words = {"drei", "vier"}}));
  EXPECT_THAT(sentence, HasSubstr("The table has 2 x 2 weights now"));
  EXPECT_THAT(sentence, HasSubstr("other words bring\n   other labels only"));
  EXPECT_THAT(explained(lesson_with({.words = {"one", "two"}})), HasSubstr("one has 2, the other 6"));
  EXPECT_THAT(explained(lesson_with({.second_words = {"a", "b", "c", "d", "e", "f"}})),
              HasSubstr("No weight of step 5 has moved.\n   The vectors here are drawn by place"));
}

// With the mask a word's weights hang on its place: 0.90 and 0.78 are the differences, not the unmasked run's.
TEST_F(ExplainedSelfAttention, ACausalMaskKnowsTheOrderAndSeesHalf) {
  const SelfAttentionLesson lesson = lesson_with({.direction = kernels::Direction::causal});
  ASSERT_TRUE(lesson.causal_permuted);
  EXPECT_GT(lesson.causal_permuted->weights_apart, 0.5);
  EXPECT_LT(lesson.permuted.weights_apart, 1e-15);
  const std::string text = explained(lesson);
  for (const char* part : {"look at itself and\n   at the words before it in one parallel step: 6 x 7 / 2 = 21 scores",
                           "query of 'mat' -> similarity to its own and earlier keys\n",
                           "(differences\n   0.90 and 0.78)", "A causal\n   mask does know the order of words"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  for (const char* part : {"ALL keys", "36 scores", "Attention by itself does not know"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part;
  }
  EXPECT_FALSE(published_lesson().causal_permuted);
}

TEST_F(ExplainedSelfAttention, OneHeadIsShownOnce) {
  const std::string text = explained(lesson_with({.heads = 1}));
  EXPECT_THAT(text, HasSubstr("are cut in 1 chunk of"));
  EXPECT_THAT(text, HasSubstr("(seed 42) is the same one"));
  EXPECT_EQ(text.find("sees other things"), std::string::npos);
  EXPECT_EQ(text.find("head 0"), text.rfind("head 0"));
}

TEST_F(ExplainedSelfAttention, TheWidthMattersUpTo16) {
  EXPECT_THAT(text_,
              HasSubstr("Divided, it is 0.24 at d_k 1, 0.32 at 4,\n   and from 16 on it stays between 0.36 and 0.37"));
}

TEST(ExplainedSelfAttentionLayout, OneWordAndOneHeadAreSpokenOfAsOne) {
  const std::string text = explained(lesson_with({.words = {"alone"}, .heads = 1}));
  for (const char* part : {"1 word as vectors of 8", "reads 1 word in 1 step, O(n)", "1 x 1 = 1 score,\n   and",
                           "One word has no other order.", "there is one head here"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ExplainedSelfAttentionLayout, LongAndHostileWordsAreCutAndEscaped) {
  SelfAttentionOptions options;
  options.words = {"<script>alert(1)</script>", "\x1B[2J", "a\nb",
                   "\xE2\x80\xAE"
                   "abc"};
  options.second_words = options.words;
  const std::string text = explained(lesson_with(options));
  EXPECT_EQ(text.find('\x1B'), std::string::npos);
  EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos);
  EXPECT_EQ(text.find("alert"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("<script>al…"));
  EXPECT_THAT(text, HasSubstr("a\\nb  "));
}

TEST(SelfAttentionLesson, OtherLengthsAndWidthsHoldTheLaws) {
  for (const std::size_t words : {1U, 2U, 3U, 16U}) {
    const std::vector<std::string> sentence(words, "w");
    const SelfAttentionLesson lesson =
        lesson_with({.words = sentence, .seed = {9}, .width = 6, .head_width = 1, .heads = 3});
    for (std::size_t r = 0; r < words; ++r) {
      double sum = 0;
      for (const double w : lesson.base.weights[0].row(r)) sum += w;
      EXPECT_NEAR(sum, 1.0, 1e-15);
    }
    EXPECT_FALSE(lesson.two);
    EXPECT_FALSE(lesson.from_published);
    EXPECT_LT(lesson.permuted.weights_apart, 1e-15);
    EXPECT_LT(lesson.permuted.output_apart, 1e-14);
    EXPECT_TRUE(lesson.first_output_is_first_value);
    EXPECT_TRUE(lesson.minus_1e9_is_minus_infinity);
  }
}

TEST(SelfAttentionLesson, WhatCannotBeShownIsRefusedByItsOption) {
  const auto key_of = [](const SelfAttentionOptions& options) {
    const Error error = dikkat::testing::error_of([&] { check(options); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.place().key;
  };
  EXPECT_EQ(key_of({.words = {}}), "sentence");
  EXPECT_EQ(key_of({.words = std::vector<std::string>(17, "w")}), "sentence");
  EXPECT_EQ(key_of({.second_words = std::vector<std::string>(100000, "w")}), "sentence");
  EXPECT_EQ(key_of({.width = 0}), "d-model");
  EXPECT_EQ(key_of({.width = 1025}), "d-model");
  EXPECT_EQ(key_of({.head_width = 0}), "dk");
  EXPECT_EQ(key_of({.heads = 3}), "heads");
  EXPECT_EQ(key_of({.heads = 0}), "heads");
}

TEST(SelfAttentionLesson, SeedsAreAddedToAndWrittenInDecimal) {
  EXPECT_EQ(added({0xFFFFFFFFU}, 2), (Seed{1, 1}));
  EXPECT_EQ(added({0xFFFFFFFFU, 0xFFFFFFFFU}, 1), (Seed{0, 0, 1}));
  EXPECT_EQ(decimal({0}), "0");
  EXPECT_EQ(decimal({42}), "42");
  EXPECT_EQ(decimal({1, 0, 1}), "18446744073709551617");
}

TEST(SelfAttentionLesson, HostileWordsCannotSteerATerminal) {
  SelfAttentionOptions options;
  options.words[1] = "\x1B[31m";
  options.words[2] = "a\nb";
  const std::string text = as_published(lesson_with(options));
  EXPECT_EQ(text.find('\x1B'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("a\\nb"));
  const std::string published = lesson_golden_text("self_attention_published.out");
  EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(published, '\n'));
}

}  // namespace
}  // namespace dikkat::lessons
