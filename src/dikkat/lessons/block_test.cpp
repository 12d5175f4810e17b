// The chapter against its oracle: tests/golden/kucukgpt_oracle.json, made by oracle_kucukgpt.py beside it (PyTorch in
// double, automatic gradients).
#include "dikkat/lessons/block.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/file.h"
#include "dikkat/base/json.h"
#include "dikkat/base/testing.h"
#include "dikkat/models/book_layout.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/stepper.h"

namespace dikkat::lessons {
namespace {

using dikkat::testing::flowing;
using ::testing::HasSubstr;
using ::testing::Not;

const Json& oracle() {
  static const Json json = [] {
    const std::string file = DIKKAT_SOURCE_DIR "/tests/golden/kucukgpt_oracle.json";
    return parse_json(read_small_file(file, 1U << 20U), file);
  }();
  return json;
}

JsonAt oracle_at(std::string_view key) { return JsonAt(oracle(), "oracle")[key]; }

std::vector<double> reals(const JsonAt& list) {
  std::vector<double> values;
  for (const JsonAt& item : list.items()) values.push_back(item.real());
  return values;
}

class BlockLessonTest : public ::testing::Test {
 protected:
  Tensor logits(const models::LanguageModel& model, const data::Batch& batch) {
    Context context{.executor = executor_, .memory = heap(), .rows = &batch.rows};
    return model.forward(context, batch.inputs).value;
  }

  Pool pool_{1};
  kernels::Executor executor_{pool_};
};

TEST_F(BlockLessonTest, StartsWhereTheOracleStarts) {
  const models::LanguageModel model = block_lesson_model(models::Residuals::on);
  const auto tensors = models::book_layout(model);
  const auto expected = oracle_at("tensors").items();
  ASSERT_EQ(tensors.size(), 54U);
  ASSERT_EQ(expected.size(), 54U);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(tensors[i].name, expected[i]["name"].string());
    const Tensor flat = tensors[i].value.clone();
    const auto first = reals(expected[i]["first"]);
    for (std::size_t j = 0; j < first.size(); ++j) EXPECT_EQ(flat.data<double>()[j], first[j]) << tensors[i].name;
  }
}

TEST_F(BlockLessonTest, LogitsAreTheOracles) {
  const models::LanguageModel model = block_lesson_model(models::Residuals::on);
  const Tensor seen = logits(model, block_lesson_batch());
  const auto first = reals(oracle_at("logits_row0"));
  const auto last = reals(oracle_at("logits_row31"));
  for (std::size_t v = 0; v < 30; ++v) {
    EXPECT_NEAR(seen.data<double>()[v], first[v], 1e-9);
    EXPECT_NEAR(seen.data<double>()[31 * 30 + v], last[v], 1e-9);
  }
}

TEST_F(BlockLessonTest, FirstGradientsAreTheOracles) {
  const models::LanguageModel model = block_lesson_model(models::Residuals::on);
  const train::Settings& settings = train::preset_named("kucuk").settings;
  optim::Optimizer optimizer(model.parameters(), train::optimizer_settings(settings));
  class Source final : public train::BatchSource {
    void fill(std::uint64_t, std::size_t, std::size_t, data::Batch& batch) override { batch = block_lesson_batch(); }
  } source;
  train::LanguageObjective objective(model, source);
  train::Stepper stepper(objective, optimizer, settings, executor_);
  const train::StopRequest never;
  (void)stepper.measure(1, never);
  const auto gradients = models::book_gradients(model);
  const auto expected = oracle_at("grad_step1").items();
  ASSERT_EQ(gradients.size(), expected.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor flat = gradients[i].value.clone();
    const double* g = flat.data<double>();
    const double largest = expected[i]["absmax"].real();
    const double tolerance = 1e-9 * largest;
    const auto first = reals(expected[i]["first"]);
    for (std::size_t j = 0; j < first.size(); ++j) EXPECT_NEAR(g[j], first[j], tolerance) << gradients[i].name;
    double sum = 0;
    double squares = 0;
    double seen_largest = 0;
    for (std::size_t j = 0; j < flat.count(); ++j) {
      sum += g[j];
      squares += g[j] * g[j];
      seen_largest = std::max(seen_largest, std::abs(g[j]));
    }
    const double size = static_cast<double>(flat.count());
    EXPECT_NEAR(seen_largest, largest, tolerance) << gradients[i].name;
    EXPECT_NEAR(sum, expected[i]["sum"].real(), tolerance * size) << gradients[i].name;
    EXPECT_NEAR(squares, expected[i]["sumsq"].real(), tolerance * largest * size) << gradients[i].name;
  }
  // Finite differences as the oracle took them: step 1e-6, so some eight digits.
  for (const JsonAt& check : oracle_at("finite_difference_check").items()) {
    const auto found = std::find_if(gradients.begin(), gradients.end(),
                                    [&](const models::BookTensor& t) { return t.name == check["name"].string(); });
    ASSERT_NE(found, gradients.end());
    const Tensor flat = found->value.clone();
    const double seen = flat.data<double>()[check["index"].count()];
    EXPECT_NEAR(seen, check["autograd"].real(), 1e-12);
    EXPECT_NEAR(seen, check["finite_difference"].real(), 1e-8);
  }
}

TEST_F(BlockLessonTest, HundredAndFiftyLossesAreTheOracles) {
  const BlockLesson lesson = block_lesson(executor_, models::Residuals::on);
  const auto expected = reals(oracle_at("loss"));
  ASSERT_EQ(lesson.losses.size(), 150U);
  for (std::size_t i = 0; i < 150; ++i) EXPECT_NEAR(lesson.losses[i], expected[i], 1e-9) << "step " << i + 1;
  EXPECT_NEAR(lesson.final_loss, oracle_at("loss_after_150").real(), 1e-9);
  EXPECT_EQ(lesson.predicted, 32U);
}

// Without residuals a start changed by 1e-15 moves the late losses by 2e-6.
TEST_F(BlockLessonTest, WithoutResidualsTheOraclesLossesToo) {
  const BlockLesson lesson = block_lesson(executor_, models::Residuals::off);
  const auto expected = reals(oracle_at("no_residual_loss"));
  for (std::size_t i = 0; i < 150; ++i) {
    EXPECT_NEAR(lesson.losses[i], expected[i], i < 60 ? 1e-9 : 1e-4) << "step " << i + 1;
  }
}

TEST_F(BlockLessonTest, NormRowsAreExact) {
  const BlockLesson lesson = block_lesson(executor_, models::Residuals::on, 0);
  EXPECT_NEAR(lesson.norm_rows[0].after[3], 1.3416394448610998, 1e-15);
  EXPECT_NEAR(lesson.norm_rows[0].after[2], 0.4472131482870333, 1e-15);
  EXPECT_NEAR(lesson.norm_rows[1].after[1], 1.4141994204496, 1e-12);
  EXPECT_NEAR(lesson.norm_rows[2].after[3], 1.4142119910273114, 1e-15);
  EXPECT_NEAR(lesson.norm_rows[0].deviation, 0.999999, 1e-6);
  EXPECT_NEAR(lesson.norm_rows[1].deviation, 0.99999, 1e-6);
}

// Part C of the book hangs on a generator it does not give; A and B are its text.
TEST_F(BlockLessonTest, PartsAAndBArePrintedAsPublished) {
  const std::string text = as_published(block_lesson(executor_, models::Residuals::on, 1));
  const std::string parts = text.substr(0, text.find("   Adım"));
  EXPECT_EQ(parts, read_small_file(DIKKAT_SOURCE_DIR "/tests/golden/block_lesson_parts_a_b.txt", 4096));
}

// Changing character 10 of window 1 changes its rows 10 to 15 and nothing else.
TEST_F(BlockLessonTest, ALaterCharacterChangesNoEarlierRow) {
  const models::LanguageModel model = block_lesson_model(models::Residuals::on);
  data::Batch batch = block_lesson_batch();
  const Tensor before = logits(model, batch).clone();
  batch.inputs[10] = (batch.inputs[10] + 1) % 30;
  const Tensor after = logits(model, batch);
  std::vector<std::uint64_t> changed;
  for (std::size_t r = 0; r < 32; ++r) {
    const bool equal =
        std::equal(before.data<double>() + r * 30, before.data<double>() + (r + 1) * 30, after.data<double>() + r * 30);
    if (!equal) changed.push_back(r);
  }
  std::vector<std::uint64_t> expected;
  for (const JsonAt& row : oracle_at("causality_rows_changed").items()) expected.push_back(row.count());
  EXPECT_EQ(changed, expected);
}

TEST_F(BlockLessonTest, StackedWindowsEqualSingleOnesToTheBit) {
  const models::LanguageModel model = block_lesson_model(models::Residuals::on);
  const data::Batch both = block_lesson_batch();
  const Tensor stacked = logits(model, both);
  for (std::size_t w = 0; w < 2; ++w) {
    data::Batch one;
    one.inputs.assign(both.inputs.begin() + static_cast<std::ptrdiff_t>(16 * w),
                      both.inputs.begin() + static_cast<std::ptrdiff_t>(16 * (w + 1)));
    const std::array<std::size_t, 1> lengths = {16};
    one.rows.lay_out(lengths, 16);
    const Tensor alone = logits(model, one);
    EXPECT_TRUE(std::equal(alone.data<double>(), alone.data<double>() + 16 * 30, stacked.data<double>() + w * 16 * 30));
  }
}

// The claims: from a uniform guess to memory within 30 steps, more than half of the parameters in the feed-forward
// networks, what each part is for. Figures are those of the run: another start, other figures.
TEST_F(BlockLessonTest, ClaimsAreFiguresOfTheRun) {
  const BlockLesson lesson = block_lesson(executor_, models::Residuals::on);
  EXPECT_GT(lesson.memorised_at(), 1U);
  EXPECT_LE(lesson.memorised_at(), 30U);
  EXPECT_GE(lesson.losses[lesson.memorised_at() - 2], 0.01);
  const std::string text = flowing(explained(lesson));
  EXPECT_THAT(text, HasSubstr("costs 3.40 nats; this run began with 3.40 and is below 0.01 at step " +
                              std::to_string(lesson.memorised_at()) + "."));
  EXPECT_THAT(text, HasSubstr("Afterwards 32 of 32 next characters are predicted."));
  EXPECT_THAT(text, HasSubstr("hold 60.4 % of the parameters, more than half."));
  EXPECT_THAT(text, HasSubstr("moves the output of 6 places of its window"));
  EXPECT_THAT(text, HasSubstr("with attention silenced, of 1 place alone."));
  EXPECT_THAT(text, HasSubstr("[100.0, 101.0, 99.0, 100.0] becomes [0.0, 1.41, -1.41, 0.0]."));
  EXPECT_THAT(text, HasSubstr("this model has memorised its batch, down to 0.0008."));
}

TEST_F(BlockLessonTest, AnotherSeedHasOtherFigures) {
  const auto line = [](const std::string& text, const std::string& words) {
    const std::size_t at = text.find(words);
    EXPECT_NE(at, std::string::npos) << words;
    return text.substr(at, text.find(". ", at) - at);
  };
  const std::string a = flowing(explained(block_lesson(executor_, models::Residuals::on)));
  const std::string b = flowing(explained(block_lesson(executor_, models::Residuals::on, kBlockLessonSteps, 6)));
  for (const char* words : {"this run began with", "Several heads see", "of 6 places", "first gradient is"}) {
    EXPECT_NE(line(a, words), line(b, words));
  }
  EXPECT_THAT(b, HasSubstr("Afterwards 32 of 32"));
  EXPECT_THAT(b, HasSubstr("with attention silenced, of 1 place alone"));
  EXPECT_THAT(b, HasSubstr("0.2517 long with them and 0.3632 without. Without them it is no shorter from this start"));
  EXPECT_THAT(a, Not(HasSubstr("it is no shorter")));
}

TEST_F(BlockLessonTest, SaysWhatAnotherSeedDid) {
  const BlockLesson published = block_lesson(executor_, models::Residuals::on);
  const BlockLesson other = block_lesson(executor_, models::Residuals::on, kBlockLessonSteps, 6);
  EXPECT_THAT(explained(other, &published),
              HasSubstr("seed 5 -> 6: the first loss 3.4007 -> 3.3749, the last one 0.0008 -> 0.0007.\n"
                        "   With seed 5 the loss is below 0.01 at step 29, with 6 it is below 0.01 at step 33.\n"));
  EXPECT_THAT(explained(other), Not(HasSubstr("What you changed")));
}

// Without residual connections the first gradient that reaches the embedding is the smaller, and memory comes late.
TEST_F(BlockLessonTest, WithoutResidualsTheClaimsAreThatRunsToo) {
  const BlockLesson lesson = block_lesson(executor_, models::Residuals::off);
  EXPECT_LT(lesson.first_gradient_without, lesson.first_gradient_with_residuals);
  EXPECT_GT(lesson.memorised_at(), 120U);
  const std::string text = flowing(explained(block_lesson(executor_, models::Residuals::off, 20)));
  EXPECT_THAT(text, HasSubstr("did not fall below 0.01 in 20 steps"));
  EXPECT_THAT(text, HasSubstr("is not memorised; a long training would be in vain."));
}

// The document's losses are of a start that it does not give: they stand beside this run's, and are not called its own.
TEST_F(BlockLessonTest, TheDocumentsLossesStandBesideThisRuns) {
  const BlockLesson lesson = block_lesson(executor_, models::Residuals::on);
  EXPECT_TRUE(lesson.losses_with_residuals.empty());
  const std::string text = explained(lesson);
  EXPECT_THAT(text, HasSubstr("             this run document\n   step   1  3.4007   3.4682   #"));
  EXPECT_THAT(text, HasSubstr("\n   step  90  0.0013   0.0014   #"));
  EXPECT_THAT(flowing(text), HasSubstr("A and B are the document's to the digit. C starts from other random numbers"));
  EXPECT_THAT(as_published(lesson), Not(HasSubstr("3.4682")));
}

// The exercise's two runs have one start, and are set side by side.
TEST_F(BlockLessonTest, WithoutResidualsTheRunWithThemStandsBeside) {
  const BlockLesson without = block_lesson(executor_, models::Residuals::off);
  const BlockLesson with = block_lesson(executor_, models::Residuals::on);
  EXPECT_EQ(without.losses_with_residuals, with.losses);
  const std::string text = explained(without);
  EXPECT_THAT(text, HasSubstr("             without  with\n   step   1  3.5344   3.4007   #"));
  EXPECT_THAT(text, Not(HasSubstr("3.4682")));
  EXPECT_THAT(flowing(text),
              HasSubstr("without residual connections is below 0.01 at step " + std::to_string(without.memorised_at()) +
                        ", with them it is below 0.01 at step " + std::to_string(with.memorised_at()) + "."));
  EXPECT_EQ(without.figures.rows_moved_without_attention, 0U);
  EXPECT_THAT(flowing(text),
              HasSubstr("with attention silenced, of none: only through attention does the input come."));
  EXPECT_THAT(text, Not(HasSubstr("Residual connections keep the input")));
}

}  // namespace
}  // namespace dikkat::lessons
