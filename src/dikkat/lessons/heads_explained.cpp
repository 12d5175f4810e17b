// The lesson in English. Every sentence that depends on the figures is chosen by the figures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/base/size_text.h"
#include "dikkat/lessons/heads_claims.h"
#include "dikkat/text/wrap.h"

namespace dikkat::lessons {
namespace {

std::string paragraph(std::string_view text) { return text::prose("   " + std::string(text)); }

std::string the_question(const HeadsLesson& lesson) {
  std::string text = "1) The question\n";
  const bool more_rise = 2 * rising(lesson.held_out()) > lesson.held_out().size();
  text += paragraph(fmt::format(
      "{} made-up series of {} readings (seed {}). A series \"rises\" if its steps 7-11 lie, on average, more than "
      "0.30 above its steps 1-5; step 6 belongs to neither. {} train, {} of which rise; {} are held out, {} of which "
      "rise: whoever always says \"{}\" is right in {:.4f} of these. That is the baseline.",
      lesson.series.size(), kHeadsSteps, lesson.settings.seed, lesson.training().size(), rising(lesson.training()),
      lesson.held_out().size(), rising(lesson.held_out()), more_rise ? "rises" : "does not rise",
      baseline(lesson.held_out())));
  const HeadsSeries& first = lesson.series.front();
  std::string one = "The first one: ";
  for (const double reading : first.readings) one += python_float(reading) + " ";
  return text + paragraph(one + (first.label == 1 ? "- it rises." : "- it does not rise."));
}

// A line from `low` to `high` with a dot for each run (2: both at the same place) and | for the baseline.
class Dots {
 public:
  Dots(double low, double high) : low_(low), high_(high), line_(kColumns, ' ') {}
  void baseline(double at) { line_[column(at)] = '|'; }
  void dot(double at) {
    char& cell = line_[column(at)];
    cell = cell == 'o' ? '2' : 'o';
  }
  [[nodiscard]] const std::string& line() const { return line_; }

 private:
  static constexpr std::size_t kColumns = 51;
  [[nodiscard]] std::size_t column(double at) const {
    const double share = (at - low_) / (high_ - low_);
    return static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(kColumns - 1)));
  }

  double low_, high_;
  std::string line_;
};

std::string dots_of(const HeadsLesson& lesson) {
  double low = baseline(lesson.held_out());
  double high = low;
  for (const Runs& runs : lesson.with_position) {
    for (const HeadsRun& run : runs) {
      low = std::min(low, run.accuracy());
      high = std::max(high, run.accuracy());
    }
  }
  low = std::floor(low * 20) / 20;
  high = std::max(std::ceil(high * 20) / 20, low + 0.05);
  std::string text;
  for (const Runs& runs : lesson.with_position) {
    Dots dots(low, high);
    dots.baseline(baseline(lesson.held_out()));
    for (const HeadsRun& run : runs) dots.dot(run.accuracy());
    text += fmt::format("   {:<8} {:.2f} {} {:.2f}\n", heads_word(runs[0].heads), low, dots.line(), high);
  }
  return text + "   o one run, 2 both at the same place, | the baseline\n";
}

std::string heads_part(const HeadsLesson& lesson) {
  std::string text = "\n2) Equal budget, other heads\n";
  text += paragraph(fmt::format(
      "An inner width of {} is divided over 1, 2 and 4 heads: {} parameters each time. Every head has its own key map, "
      "value map and query; {} of descent with momentum over all {} series. Two runs each, from different "
      "starts. Accuracy on the {} held-out series:",
      lesson.settings.width, lesson.parameters(), counted(lesson.settings.epochs, "epoch"), lesson.training().size(),
      lesson.held_out().size()));
  text +=
      fmt::format("   {:<8} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "", "head width", "run 1", "run 2", "mean", "apart");
  for (const Runs& runs : lesson.with_position) {
    text += fmt::format("   {:<8} {:>10} {:>10.4f} {:>10.4f} {:>10.4f} {:>10.4f}\n", heads_word(runs[0].heads),
                        lesson.settings.width / runs[0].heads, runs[0].accuracy(), runs[1].accuracy(),
                        mean_accuracy(runs), spread(runs));
  }
  text += dots_of(lesson);
  return text + paragraph(means_claim(lesson) + " " + spread_claim(lesson)) + paragraph(choice_claim(lesson));
}

// A bar of up to `most` columns, in eighths of one.
std::string bar(double share, std::size_t most) {
  static constexpr std::array<std::string_view, 9> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(most * 8)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += kEighths[8];
  return text + std::string(kEighths[eighths % 8]);
}

// One column for each step, its height the head's mean weight there.
std::string column_of(double weight, double largest) {
  static constexpr std::array<std::string_view, 9> kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  return std::string(kHeights[static_cast<std::size_t>(std::lround(weight / largest * 8))]);
}

std::string weights_picture(const HeadsRun& run) {
  double largest = 0;
  for (std::size_t h = 0; h < run.heads; ++h) {
    const auto mean = run.mean_weights(h);
    largest = std::max(largest, *std::max_element(mean.begin(), mean.end()));
  }
  std::string text;
  for (std::size_t h = 0; h < run.heads; ++h) {
    const std::string name = fmt::format("{}, run {}", heads_word(run.heads), run.number);
    text += fmt::format("   {:<14}", h == 0 ? name : "");
    text += fmt::format("  head {}  ", h + 1);
    for (const double weight : run.mean_weights(h)) text += column_of(weight, largest) + column_of(weight, largest);
    text += fmt::format("  centre {:5.2f}", run.centres[h]);
    text += h == 0 ? fmt::format("   separation {:.4f}   accuracy {:.4f}\n", run.separation, run.accuracy()) : "\n";
  }
  return text;
}

// The steps under the pictures, and which region they belong to.
std::string weights_axis() {
  std::string steps;
  std::string regions;
  for (std::size_t t = 0; t < kHeadsSteps; ++t) {
    if (t % 2 == 0) steps += fmt::format("{:<4}", t);
    const bool first = t >= kHeadsRegions[0].first && t <= kHeadsRegions[0].last;
    const bool second = t >= kHeadsRegions[1].first && t <= kHeadsRegions[1].last;
    regions += first ? "--" : second ? "==" : "  ";
  }
  const std::string indent(27, ' ');
  return indent + steps + "  step\n" + indent + regions + "  -- steps 1-5, == steps 7-11\n";
}

// So many of 180 are within what another start moves.
constexpr std::size_t kFewSeries = 5;

std::string split_claim(const HeadsLesson& lesson) {
  const Runs& two = lesson.with_position[1];
  const auto centres = [](const HeadsRun& run) {
    return fmt::format("{:.2f} and {:.2f}", run.centres[0], run.centres[1]);
  };
  const std::size_t lower = two[0].correct <= two[1].correct ? 0 : 1;
  const std::size_t more = two[1 - lower].correct - two[lower].correct;
  const std::string between =
      more == 0 ? fmt::format("both get {} right", two[0].correct)
                : fmt::format("run {} is {:.4f} lower ({} of {} series)", lower + 1,
                              static_cast<double>(more) / static_cast<double>(kHeadsHeldOut), more, kHeadsHeldOut);
  std::string text;
  for (const HeadsRun& run : two) {
    text += fmt::format("Run {} of 2 heads {} the two regions (centres {}). ", run.number,
                        run.splits_by_region() ? "splits by" : "does not split by", centres(run));
  }
  text += fmt::format("In accuracy {}. ", between);
  if (lesson.settings == HeadsSettings{}) {
    text += "(The document's 0,0055 is the difference of two rounded figures; 1 / 180 is 0.0056.) ";
  }
  if (two[0].splits_by_region() == two[1].splits_by_region()) {
    return text + "Whether heads find the shape of the question depends on the start: try other seeds.";
  }
  text += "So whether heads find the shape of the question depends on the start, not on the architecture";
  const std::size_t split = two[0].splits_by_region() ? 0 : 1;
  if (two[1 - split].correct > two[split].correct) return text + ", and here the run that did not find it does better.";
  return text + (more <= kFewSeries ? ", and a run that did not find it may do nearly as well."
                                    : ", and here the run that did not find it pays for it.");
}

std::string looking_part(const HeadsLesson& lesson) {
  std::string text = "\n3) What the heads look at\n";
  text += paragraph(
      "The question needs two regions. Each head's weight on each step, the mean over the held-out series; the centre "
      "is "
      "the mean step it looks at, the separation how much of two heads' weight lies on different steps (0 to 1).");
  for (const Runs& runs : lesson.with_position) {
    for (const HeadsRun& run : runs) text += weights_picture(run);
  }
  return text + weights_axis() + paragraph(split_claim(lesson));
}

std::string order_line(const char* name, const Runs& runs) {
  const std::string picture = bar(runs[1].mean_change, 20);
  return fmt::format("   {:<17} {:>9.4f} {:>9.4f} {:>13.4f} {:>9.4f}{}{}\n", name, runs[0].accuracy(),
                     runs[1].accuracy(), runs[1].mean_change, runs[1].largest_change, picture.empty() ? "" : "  ",
                     picture);
}

// Whether position made a difference beyond what another start makes.
bool tells(const HeadsRun& with, const HeadsRun& without) { return with.correct > without.correct + kFewSeries; }
std::string untold(const HeadsLesson& lesson) {
  const std::size_t epochs = lesson.settings.epochs;
  return epochs < HeadsSettings{}.epochs ? fmt::format("{} of training {} too little to tell what position is worth",
                                                       counted(epochs, "epoch"), epochs == 1 ? "is" : "are")
                                         : "these runs do not tell what position is worth";
}

std::string position_claim(const HeadsLesson& lesson) {
  const Runs& without = lesson.without_position;
  const std::size_t changed = without[0].changed + without[1].changed;
  const double most = std::max(without[0].largest_change, without[1].largest_change);
  std::string text = fmt::format("Without the position channels the runs say \"rises\" for {} and {} of {} series. ",
                                 without[0].predicted_rising, without[1].predicted_rising, kHeadsHeldOut);
  if (changed == 0) {
    text += fmt::format("Shuffling moves not one bit of any of their {} probabilities: ", 2 * kHeadsHeldOut);
  } else {
    text += fmt::format("Shuffling changes {} of their {} probabilities, by at most {:.1e}: ", changed,
                        2 * kHeadsHeldOut, most);
  }
  const std::size_t base = baseline_count(lesson);
  const bool at_baseline = without[0].correct == base && without[1].correct == base;
  text +=
      "to attention a series without positions is a bag of readings (sums over steps are compensated, so that not even "
      "rounding sees an order). ";
  text +=
      at_baseline ? "They reach the baseline exactly, and no more." : "What they reach they reach without any order.";
  const Runs& with = lesson.with_position[1];
  if (!tells(with[0], without[0]) && !tells(with[1], without[1])) {
    text += fmt::format(" With position they reach {:.4f} and {:.4f}: {}.", with[0].accuracy(), with[1].accuracy(),
                        untold(lesson));
  }
  return text;
}

// What two runs of 2 heads, with and without position, say of it.
std::string worth_of_position(const HeadsLesson& lesson) {
  const Runs& with = lesson.with_position[1];
  const Runs& without = lesson.without_position;
  const std::string second = fmt::format("reaches {:.4f} with two position channels and {:.4f} without",
                                         with[1].accuracy(), without[1].accuracy());
  if (tells(with[1], without[1])) return ": run 2 of 2 heads " + second;
  if (!tells(with[0], without[0])) return ". Here run 2 of 2 heads " + second + ": " + untold(lesson);
  return fmt::format(": run 1 of 2 heads reaches {:.4f} with and {:.4f} without. Run 2 does not show it: it {}",
                     with[0].accuracy(), without[0].accuracy(), second);
}

std::string missing_parts(const HeadsLesson& lesson) {
  return fmt::format(
      "All {} parameters here are keys, values, queries and the read-out. A transformer also has a projection of its "
      "own for every step (the MLP) and skip connections around both: dikkat lesson block. A recurrent network gets "
      "order from its structure, reading step after step; attention gets it only from what is written into the "
      "input{}. One frequency is enough for {} steps; real systems use several.",
      lesson.parameters(), worth_of_position(lesson), kHeadsSteps);
}

std::string position_part(const HeadsLesson& lesson) {
  std::string text = "\n4) Position is a precondition\n";
  text += paragraph(
      "The order test: a series' readings are shuffled, its position channels stay; how far does the probability move? "
      "(Run 2 of 2 heads, over the held-out series.)");
  text += fmt::format("   {:<17} {:>9} {:>9} {:>13} {:>9}\n", "", "run 1", "run 2", "mean |change|", "largest");
  text += order_line("with position", lesson.with_position[1]);
  text += order_line("without position", lesson.without_position);
  return text + paragraph(position_claim(lesson)) + "\n5) What is missing from a transformer\n" +
         paragraph(missing_parts(lesson));
}

// What another seed, width or number of epochs has done to the published run.
std::string what_changed(const HeadsLesson& now, const HeadsLesson& published) {
  std::string text = "\n6) What you changed, and what it did to the published run\n";
  const auto note = [&](const char* name, auto was, auto is) {
    if (was != is) text += fmt::format("   {} {} -> {}\n", name, was, is);
  };
  note("seed", published.settings.seed, now.settings.seed);
  note("epochs", published.settings.epochs, now.settings.epochs);
  note("width", published.settings.width, now.settings.width);
  for (std::size_t at = 0; at < kHeadCounts.size(); ++at) {
    text += fmt::format("   mean accuracy of {:<8} {:.4f} -> {:.4f}\n", heads_word(kHeadCounts[at]) + ":",
                        mean_accuracy(published.with_position[at]), mean_accuracy(now.with_position[at]));
  }
  return text + fmt::format("   baseline:                 {:.4f} -> {:.4f}\n", baseline(published.held_out()),
                            baseline(now.held_out()));
}

std::string next_steps() {
  return "\nChange one thing:\n"
         "   dikkat lesson heads --seed 7        other series, other starts\n"
         "   dikkat lesson heads --epochs 20     stop earlier\n"
         "   dikkat lesson heads --width 8       twice the width, the same heads\n"
         "Or ask the same of a transformer, trained and held out as here:\n"
         "   dikkat lesson heads --export series.csv\n"
         "   dikkat train series-train.csv --task classify --out runs/series\n"
         "   dikkat eval runs/series series-held-out.csv\n";
}

}  // namespace

std::string explained(const HeadsLesson& lesson, const HeadsLesson* published) {
  return the_question(lesson) + heads_part(lesson) + looking_part(lesson) + position_part(lesson) +
         (published == nullptr ? "" : what_changed(lesson, *published)) + next_steps();
}

}  // namespace dikkat::lessons
