#include "dikkat/lessons/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/autograd/tape.h"
#include "dikkat/kernels/elementwise.h"
#include "dikkat/kernels/norm.h"
#include "dikkat/lessons/block_batch.h"
#include "dikkat/lessons/published_generator.h"
#include "dikkat/models/book_layout.h"
#include "dikkat/train/language_objective.h"
#include "dikkat/train/stepper.h"

namespace dikkat::lessons {
namespace {

constexpr std::string_view kAlphabet = " .abcçdefgğhıiklmnoöprsştuüvyz";
constexpr std::string_view kText = ".damlaya damlaya göl olur.acele işe şeytan karışır.";
constexpr std::size_t kWindow = 16;
constexpr std::array<std::size_t, 2> kWindowStarts = {0, 20};
constexpr std::size_t kVocabulary = 30;

// Ids in the stated order of the alphabet (the character tokenizer would sort by code point).
std::vector<text::Token> ids_of(std::string_view text) {
  std::vector<std::string> alphabet;
  const auto split = [](std::string_view from) {
    std::vector<std::string> parts;
    for (const char byte : from) {
      if ((static_cast<unsigned char>(byte) & 0xC0U) == 0x80U) {
        parts.back() += byte;
      } else {
        parts.emplace_back(1, byte);
      }
    }
    return parts;
  };
  alphabet = split(kAlphabet);
  std::vector<text::Token> ids;
  for (const std::string& character : split(text)) {
    ids.push_back(static_cast<text::Token>(std::find(alphabet.begin(), alphabet.end(), character) - alphabet.begin()));
  }
  return ids;
}

models::Config config_of(models::Residuals residuals) {
  models::Config config = train::preset_named("kucuk").model;
  config.vocabulary = kVocabulary;
  config.residuals = residuals;
  return config;
}

std::array<NormRow, 3> norm_rows(const kernels::Executor& executor) {
  constexpr std::array<std::array<double, 4>, 3> kRows = {{{2, 4, 6, 8}, {100, 101, 99, 100}, {-3, 0, 0, 3}}};
  std::array<NormRow, 3> rows{};
  for (std::size_t i = 0; i < 3; ++i) {
    NormRow& row = rows[i];
    row.before = kRows[i];
    double mean = 0;
    double rstd = 0;
    kernels::norm_forward<double>(executor, {.rows = 1, .columns = 4},
                                  {.x = row.before.data(),
                                   .gain = nullptr,
                                   .bias = nullptr,
                                   .y = row.after.data(),
                                   .mean = &mean,
                                   .rstd = &rstd});
    row.mean = kernels::sum<double>(executor, row.after.data(), 4) / 4;
    row.deviation = std::sqrt(kernels::sum_of_squares<double>(executor, row.after.data(), 4) / 4);
  }
  return rows;
}

ParameterTable parameter_table(const models::LanguageModel& model) {
  const models::Config& c = model.config();
  const std::size_t d = c.width;
  return {.embeddings = c.vocabulary * d + c.context * d,
          .attention = c.layers * (4 * d * d),
          .mlp = c.layers * (d * 4 * d + 4 * d + 4 * d * d + d),
          .norms = c.layers * (4 * d) + 2 * d,
          .output = d * c.vocabulary + c.vocabulary,
          .counted = model.parameters().count()};
}

// Rows whose largest logit is the target's.
std::size_t predicted(const kernels::Executor& executor, const models::LanguageModel& model) {
  const data::Batch batch = block_lesson_batch();
  Context context{.executor = executor, .memory = heap(), .rows = &batch.rows};
  const Tensor logits = model.forward(context, batch.inputs).value;
  std::size_t right = 0;
  for (std::size_t r = 0; r < batch.inputs.size(); ++r) {
    const double* row = logits.data<double>() + r * kVocabulary;
    if (std::max_element(row, row + kVocabulary) - row == batch.targets[r]) ++right;
  }
  return right;
}

// "-0.00" is printed as "0.00".
std::string rounded(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find_first_not_of("-0.") == std::string::npos && text[0] == '-') text.erase(0, 1);
  return text;
}

// A row as the book prints lists of numbers: shortest decimals, at least one.
std::string book_list(const std::array<double, 4>& row, int decimals) {
  std::string text = "[";
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::string number = rounded(row[i], decimals);
    while (number.back() == '0' && number[number.size() - 2] != '.') number.pop_back();
    text += (i == 0 ? "" : ", ") + number;
  }
  return text + "]";
}

bool printed_step(std::size_t step) { return std::ranges::find(kPrintedSteps, step) != kPrintedSteps.end(); }

// Losses before each update; the model is trained.
std::vector<double> train(const kernels::Executor& executor, const models::LanguageModel& model, std::size_t steps,
                          double& final_loss) {
  const train::Settings& settings = train::preset_named("kucuk").settings;
  optim::Optimizer optimizer(model.parameters(), train::optimizer_settings(settings));
  LessonBatch batch;
  train::LanguageObjective objective(model, batch);
  train::Stepper stepper(objective, optimizer, settings, executor);
  const train::StopRequest never;
  std::vector<double> losses;
  for (std::uint64_t t = 1; t <= steps; ++t) {
    const train::Measured measured = stepper.measure(t, never);
    losses.push_back(measured.loss_nats);
    stepper.update(t, measured);
  }
  final_loss = stepper.measure(steps + 1, never).loss_nats;
  return losses;
}

std::vector<double> losses_with_residuals(const kernels::Executor& executor, std::size_t steps, std::uint32_t seed) {
  double final_loss = 0;
  return train(executor, block_lesson_model(models::Residuals::on, seed), steps, final_loss);
}

}  // namespace

models::LanguageModel block_lesson_model(models::Residuals residuals, std::uint32_t seed) {
  models::LanguageModel model(config_of(residuals), DType::f64, nn::ParameterStore::Gradients::kept);
  Pool pool(1);
  model.initialise({pool}, 0);  // ones and zeros; what the book draws is drawn next
  PublishedGenerator generator(seed);
  for (const models::BookTensor& tensor : models::book_layout(model, models::BookOrder::construction)) {
    if (tensor.scale == 0) continue;
    const Tensor values = Tensor::empty(tensor.value.shape(), DType::f64);
    for (double& value : values.span<double>()) value = generator.bell() * 2.0 * tensor.scale;
    tensor.value.assign(values);
  }
  return model;
}

data::Batch block_lesson_batch() {
  const std::vector<text::Token> ids = ids_of(kText);
  data::Batch batch;
  for (const std::size_t start : kWindowStarts) {
    for (std::size_t t = 0; t < kWindow; ++t) {
      batch.inputs.push_back(ids[start + t]);
      batch.targets.push_back(static_cast<std::int32_t>(ids[start + t + 1]));
    }
  }
  const std::array<std::size_t, 2> lengths = {kWindow, kWindow};
  batch.rows.lay_out(lengths, kWindow);
  return batch;
}

std::size_t memorised_at(const std::vector<double>& losses) {
  const auto below = std::ranges::find_if(losses, [](double loss) { return loss < 0.01; });
  return below == losses.end() ? 0 : static_cast<std::size_t>(below - losses.begin()) + 1;
}

BlockLesson block_lesson(const kernels::Executor& executor, models::Residuals residuals, std::size_t steps,
                         std::uint32_t seed) {
  const models::LanguageModel model = block_lesson_model(residuals, seed);
  BlockLesson lesson;
  lesson.norm_rows = norm_rows(executor);
  lesson.parameters = parameter_table(model);
  lesson.seed = seed;
  lesson.residuals = residuals;
  lesson.losses = train(executor, model, steps, lesson.final_loss);
  if (residuals == models::Residuals::off) lesson.losses_with_residuals = losses_with_residuals(executor, steps, seed);
  lesson.predicted = predicted(executor, model);
  lesson.figures = block_figures(executor, model);
  lesson.first_gradient_with_residuals = first_gradient(executor, models::Residuals::on, seed);
  lesson.first_gradient_without = first_gradient(executor, models::Residuals::off, seed);
  return lesson;
}

std::string as_published(const BlockLesson& lesson) {
  std::string text = "A) Katman normalleştirme öncesi ve sonrası:\n";
  for (const NormRow& row : lesson.norm_rows) {
    text += fmt::format("   {}  →  {}   (ortalama {}, sapma {})\n", book_list(row.before, 1), book_list(row.after, 2),
                        rounded(row.mean, 2), rounded(row.deviation, 2));
  }
  const ParameterTable& p = lesson.parameters;
  text += "\nB) Küçük GPT (2 katman, 4 kafa, 32 boyut, 16 karakter bağlam):\n";
  text += fmt::format("   Karakter ve konum gömmeleri : {:6}\n", p.embeddings);
  text += fmt::format("   Dikkat (Q, K, V, çıkış)     : {:6}\n", p.attention);
  text += fmt::format("   İleri besleme ağları        : {:6}\n", p.mlp);
  text += fmt::format("   Katman normalleştirmeler    : {:6}\n", p.norms);
  text += fmt::format("   Çıkış katmanı               : {:6}\n", p.output);
  text += fmt::format("   Toplam                      : {:6}   (model.ParametreAdedi = {})\n", p.total(), p.counted);
  text += "\nC) İki pencerelik tek bir yığını ezberleme:\n";
  for (std::size_t step = 1; step <= lesson.losses.size(); ++step) {
    if (printed_step(step)) text += fmt::format("   Adım {:3}: kayıp {:.4f}\n", step, lesson.losses[step - 1]);
  }
  return text;
}

namespace {

std::string memorised(const std::vector<double>& losses) {
  const std::size_t step = memorised_at(losses);
  if (step == 0) {
    return fmt::format("did not fall below 0.01 in {} step{}", losses.size(), losses.size() == 1 ? "" : "s");
  }
  return fmt::format("is below 0.01 at step {}", step);
}

// "6 places", "1 place alone", "none".
std::string places(std::size_t count) {
  return count == 0 ? "none" : fmt::format("{} place{}", count, count == 1 ? "" : "s");
}

// Whether less gradient comes through depends on the start; that the layers lose the input does not.
std::string residuals_explained(const BlockLesson& lesson) {
  const double with = lesson.first_gradient_with_residuals;
  const double without = lesson.first_gradient_without;
  const std::string gradients =
      fmt::format("the embedding's first gradient is {:.4f} long with them and {:.4f} without.\n", with, without);
  std::string text = lesson.residuals == models::Residuals::on
                         ? "   Residual connections keep the input and the gradient's path:\n   "
                         : "   No residual connection keeps the input here or the gradient's path:\n   ";
  text += gradients;
  if (without >= with) text += "   Without them it is no shorter from this start: its length alone says little.\n";
  return text;
}

// Each printed step: this run's loss, what it is held against, a bar of log10.
std::string losses_explained(const BlockLesson& lesson) {
  const bool with = lesson.residuals == models::Residuals::on;
  std::string text = fmt::format("             {:<9}{}\n", with ? "this run" : "without", with ? "document" : "with");
  for (std::size_t i = 0; i < kPrintedSteps.size() && kPrintedSteps[i] <= lesson.losses.size(); ++i) {
    const std::size_t step = kPrintedSteps[i];
    const double loss = lesson.losses[step - 1];
    const double length = 10 * (std::log10(std::max(loss, 1e-4)) + 4);
    text += fmt::format("   step {:3}  {:.4f}   {:.4f}   {}\n", step, loss,
                        with ? kDocumentLosses[i] : lesson.losses_with_residuals[step - 1],
                        std::string(static_cast<std::size_t>(std::max(1.0, length)), '#'));
  }
  if (with) {
    return text +
           "   A and B are the document's to the digit. C starts from other random numbers:\n"
           "   the document does not name its generator, so its losses cannot be had again.\n";
  }
  return text + fmt::format("   From the same start the loss without residual connections\n   {}, with them it {}.\n",
                            memorised(lesson.losses), memorised(lesson.losses_with_residuals));
}

std::string parts_explained(const BlockLesson& lesson) {
  const BlockFigures& f = lesson.figures;
  const ParameterTable& p = lesson.parameters;
  const double share = 100 * static_cast<double>(p.mlp) / static_cast<double>(p.total());
  std::string text = fmt::format(
      "\nD) What the parts are for, in this run\n"
      "   Several heads see several patterns: on one key two heads' weights differ by\n"
      "   {:.3f} on average.\n"
      "   Attention communicates, the feed-forward network thinks: another eleventh\n"
      "   character moves the output of {} of its window, later ones by up to\n"
      "   {:.2f}; with attention silenced, of {}{}.\n"
      "   The feed-forward networks hold {:.1f} % of the parameters{}.\n",
      f.heads_apart, places(f.rows_moved), f.later_move, places(f.rows_moved_without_attention),
      f.rows_moved_without_attention == 0 ? ": only through\n   attention does the input come" : " alone", share,
      share > 50 ? ", more than half" : "");
  text += residuals_explained(lesson);
  text += fmt::format("   Norm takes the scale away and keeps differences:\n   {} becomes {}.\n",
                      book_list(lesson.norm_rows[1].before, 1), book_list(lesson.norm_rows[1].after, 2));
  text += fmt::format(
      "   Parts are tested before a long training:\n   {}\n",
      lesson.predicted == 32
          ? fmt::format("this model has memorised its batch, down to {:.4f}.", lesson.final_loss)
          : fmt::format("{} of 32 characters is not memorised; a long training would be in vain.", lesson.predicted));
  if (lesson.residuals == models::Residuals::on) {
    text += "   Now take the residual connections away: dikkat lesson block --no-residual\n";
  }
  return text;
}

std::string what_changed(const BlockLesson& now, const BlockLesson& published) {
  return fmt::format(
      "\nE) What you changed, and what it did\n"
      "   seed {} -> {}: the first loss {:.4f} -> {:.4f}, the last one {:.4f} -> {:.4f}.\n"
      "   With seed {} the loss {}, with {} it {}.\n",
      published.seed, now.seed, published.losses.front(), now.losses.front(), published.losses.back(),
      now.losses.back(), published.seed, memorised(published.losses), now.seed, memorised(now.losses));
}

}  // namespace

std::string explained(const BlockLesson& lesson, const BlockLesson* published) {
  std::string text = "A) Layer norm takes away a row's mean and size and keeps its differences\n";
  for (const NormRow& row : lesson.norm_rows) {
    text += fmt::format("   {:28}  ->  {:28}  mean {}, deviation {}\n", book_list(row.before, 1),
                        book_list(row.after, 2), rounded(row.mean, 2), rounded(row.deviation, 2));
  }
  const ParameterTable& p = lesson.parameters;
  text += fmt::format("\nB) Where the {} parameters are (the model counts {})\n", p.total(), p.counted);
  const auto part = [&](const char* name, std::size_t count) {
    const double share = static_cast<double>(count) / static_cast<double>(p.total());
    text += fmt::format("   {:<24}{:>6}  {:>4.1f} %  {}\n", name, count, 100 * share,
                        std::string(static_cast<std::size_t>(std::lround(40 * share)), '#'));
  };
  part("embeddings", p.embeddings);
  part("attention", p.attention);
  part("feed-forward networks", p.mlp);
  part("norms", p.norms);
  part("output layer", p.output);

  const char* how = lesson.residuals == models::Residuals::on ? "" : ", without residual connections";
  text += fmt::format("\nC) Memorising one batch of two windows{}:\n   loss in nats, a bar of log10\n", how);
  text += losses_explained(lesson);
  text +=
      fmt::format("   A uniform guess over {} characters costs {:.2f} nats; this run began with\n   {:.2f} and {}.\n",
                  kVocabulary, std::log(static_cast<double>(kVocabulary)),
                  lesson.losses.empty() ? lesson.final_loss : lesson.losses.front(), memorised(lesson.losses));
  text += fmt::format("   Afterwards {} of 32 next characters are predicted.\n", lesson.predicted);
  text += parts_explained(lesson);
  return published == nullptr ? text : text + what_changed(lesson, *published);
}

}  // namespace dikkat::lessons
