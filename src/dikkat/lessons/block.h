// The lesson on the transformer block (document "Bölüm 7 - Transformer bloğu"): A) what layer norm does, B) where the
// parameters of a small GPT are, C) can it memorise one batch? The exercise: the same without residuals.
//
// The book's own generator is not known, so the start is a stated one: the document on heads' generator (a 32-bit
// finaliser, then the linear congruence 1664525 x + 1013904223) with seed 5 or another, value = (u + u + u - 1.5) * 2 *
// scale, in the constructor's order, alphabet " .abcçdefgğhıiklmnoöprsştuüvyz". Everything in double.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "dikkat/data/batch.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/models/language_model.h"

namespace dikkat::lessons {

inline constexpr std::size_t kBlockLessonSteps = 150;
inline constexpr std::uint32_t kBlockLessonSeed = 5;

struct NormRow {
  std::array<double, 4> before;
  std::array<double, 4> after;
  double mean;       // of after
  double deviation;  // root mean square of after
};

struct ParameterTable {
  std::size_t embeddings, attention, mlp, norms, output;  // by hand
  std::size_t counted;                                    // by the model
  [[nodiscard]] std::size_t total() const { return embeddings + attention + mlp + norms + output; }
};

// What the parts are for, on the trained model. The changed character is the eleventh of the first window.
struct BlockFigures {
  double heads_apart = 0;                        // mean |difference| of two heads' weights on a visible key
  std::size_t rows_moved = 0;                    // whose logits move with that character
  double later_move = 0;                         // of a logit of a later row, at most
  std::size_t rows_moved_without_attention = 0;  // the same where attention adds nothing
};

// The document's part C: losses at kPrintedSteps. Its generator is not named, so another start cannot have them.
inline constexpr std::array<std::size_t, 6> kPrintedSteps = {1, 30, 60, 90, 120, 150};
inline constexpr std::array<double, 6> kDocumentLosses = {3.4682, 0.0085, 0.0020, 0.0014, 0.0011, 0.0008};

// The first step whose loss, before its update, is below 0.01; 0: none.
[[nodiscard]] std::size_t memorised_at(const std::vector<double>& losses);

struct BlockLesson {
  std::array<NormRow, 3> norm_rows;
  ParameterTable parameters;
  std::uint32_t seed = kBlockLessonSeed;
  models::Residuals residuals = models::Residuals::on;
  std::vector<double> losses;                      // 150, before each update
  std::vector<double> losses_with_residuals = {};  // of the same start; empty where `losses` are these
  double final_loss = 0;                           // after the last
  std::size_t predicted = 0;                       // next characters greedily predicted right after training, of 32
  BlockFigures figures;
  double first_gradient_with_residuals = 0;  // length of the token embedding's gradient at step 1
  double first_gradient_without = 0;

  [[nodiscard]] std::size_t memorised_at() const { return lessons::memorised_at(losses); }
};

[[nodiscard]] BlockLesson block_lesson(const kernels::Executor& executor, models::Residuals residuals,
                                       std::size_t steps = kBlockLessonSteps, std::uint32_t seed = kBlockLessonSeed);

// The document's layout with its Turkish labels, and this run's figures.
[[nodiscard]] std::string as_published(const BlockLesson& lesson);
// In English, with a picture. With a run of kBlockLessonSeed, also what another seed did.
[[nodiscard]] std::string explained(const BlockLesson& lesson, const BlockLesson* published = nullptr);

// The lesson's model with its stated start, and its one batch of two windows: for tests and for looking inside.
[[nodiscard]] models::LanguageModel block_lesson_model(models::Residuals residuals,
                                                       std::uint32_t seed = kBlockLessonSeed);
[[nodiscard]] data::Batch block_lesson_batch();
[[nodiscard]] BlockFigures block_figures(const kernels::Executor& executor, const models::LanguageModel& model);
[[nodiscard]] double first_gradient(const kernels::Executor& executor, models::Residuals residuals, std::uint32_t seed);

}  // namespace dikkat::lessons
