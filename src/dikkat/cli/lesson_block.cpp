#include "dikkat/base/json.h"
#include "dikkat/cli/arguments.h"
#include "dikkat/cli/console.h"
#include "dikkat/cli/execution.h"
#include "dikkat/cli/lessons.h"
#include "dikkat/lessons/block.h"

namespace dikkat::cli {
namespace {

Json as_json(const lessons::BlockLesson& lesson) {
  const lessons::ParameterTable& p = lesson.parameters;
  Json rows = Json::array();
  for (const lessons::NormRow& row : lesson.norm_rows) {
    Json after = Json::array();
    for (const double value : row.after) after.push(value);
    rows.push(Json::object().set("after", std::move(after)).set("mean", row.mean).set("deviation", row.deviation));
  }
  Json losses = Json::array();
  for (const double loss : lesson.losses) losses.push(loss);
  Json object = Json::object()
                    .set("residuals", lesson.residuals == models::Residuals::on)
                    .set("norm_rows", std::move(rows))
                    .set("parameters", Json::object()
                                           .set("embeddings", p.embeddings)
                                           .set("attention", p.attention)
                                           .set("mlp", p.mlp)
                                           .set("norms", p.norms)
                                           .set("output", p.output)
                                           .set("total", p.total())
                                           .set("counted", p.counted))
                    .set("losses_nats", std::move(losses))
                    .set("final_loss_nats", lesson.final_loss)
                    .set("predicted", lesson.predicted);
  if (!lesson.losses_with_residuals.empty()) {
    Json others = Json::array();
    for (const double loss : lesson.losses_with_residuals) others.push(loss);
    object.set("losses_with_residuals_nats", std::move(others));
  }
  return object;
}

// The document's generator has 32 bits of state.
std::uint32_t seed_of(const Arguments& arguments) {
  const auto seed = arguments.value<std::uint64_t>("seed", lessons::kBlockLessonSeed);
  if (seed > 0xFFFFFFFFU) refuse_value("seed", std::to_string(seed), "a whole number below 4294967296");
  return static_cast<std::uint32_t>(seed);
}

std::string explained(const lessons::BlockLesson& lesson, const Execution& execution) {
  if (lesson.seed == lessons::kBlockLessonSeed) return lessons::explained(lesson);
  const lessons::BlockLesson published = lessons::block_lesson(execution.executor(), lesson.residuals);
  return lessons::explained(lesson, &published);
}

int run_block_lesson(const Arguments& arguments, Output& output) {
  const Execution execution(arguments);
  const auto residuals = arguments.has("no-residual") ? models::Residuals::off : models::Residuals::on;
  const lessons::BlockLesson lesson =
      lessons::block_lesson(execution.executor(), residuals, lessons::kBlockLessonSteps, seed_of(arguments));
  if (arguments.json()) {
    output.line(text_of(as_json(lesson)));
  } else {
    output.write(arguments.has("as-published") ? lessons::as_published(lesson) : explained(lesson, execution));
  }
  return 0;
}

}  // namespace

Lesson lesson_block() {
  return {
      .name = "block",
      .summary = "the transformer block: norm, where a GPT's parameters are, memorising one batch",
      .description =
          "block: the transformer block. What layer norm does to a row, where a small GPT's parameters are, and "
          "whether it can memorise one batch; with --no-residual the exercise, the same without residuals. With "
          "--as-published parts A and B are the document's to the digit; C has this run's losses, since the document "
          "does not name the generator of its start.",
      .options = {{.name = "no-residual", .help = "without residual connections"},
                  {.name = "seed",
                   .value = "N",
                   .help = "seed of the initial weights",
                   .fallback = std::to_string(lessons::kBlockLessonSeed)}},
      .examples = {{"dikkat lesson block", "the chapter on the transformer block"},
                   {"dikkat lesson block --no-residual", "its exercise"},
                   {"dikkat lesson block --seed 6", "another start"}},
      .run = run_block_lesson};
}

}  // namespace dikkat::cli
