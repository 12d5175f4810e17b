// The lesson in English. Every sentence that depends on the figures is chosen by the figures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/lessons/heads.h"

namespace dikkat::lessons {
namespace {

using Runs = std::array<HeadsRun, 2>;

double mean_accuracy(const Runs& runs) { return (runs[0].accuracy() + runs[1].accuracy()) / 2; }
double spread(const Runs& runs) { return std::abs(runs[0].accuracy() - runs[1].accuracy()); }

std::string heads_word(std::size_t heads) { return heads == 1 ? "1 head" : fmt::format("{} heads", heads); }

std::string paragraph(std::string_view text) {
  constexpr std::size_t kWidth = 100;
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column != 0 && column + 1 + end > kWidth) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? "   " : " ";
    out += text.substr(0, end);
    column += end + (column == 0 ? 3 : 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "\n";
}

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
  text += "   The first one: ";
  for (const double reading : first.readings) text += python_float(reading) + " ";
  return text + (first.label == 1 ? "- it rises.\n" : "- it does not rise.\n");
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

std::string means_claim(const HeadsLesson& lesson) {
  std::array<double, 3> means{};
  std::transform(lesson.with_position.begin(), lesson.with_position.end(), means.begin(), mean_accuracy);
  const double base = baseline(lesson.held_out());
  const double best = *std::max_element(means.begin(), means.end());
  const double gain = means[2] - means[0];
  const bool rises = means[0] < means[1] && means[1] < means[2];
  return fmt::format(
      "{}: {:.4f}, {:.4f}, {:.4f}. From 1 head to 4 the mean {} {:.4f}; the best mean lies {:.4f} {} the "
      "baseline.",
      rises ? "The means rise with the number of heads" : "The means do not rise step by step", means[0], means[1],
      means[2], gain >= 0 ? "gains" : "loses", std::abs(gain), std::abs(best - base), best >= base ? "above" : "below");
}

// What the number of heads brings against what another start brings.
std::string spread_claim(const HeadsLesson& lesson) {
  const Runs& four = lesson.with_position.back();
  const double gain = mean_accuracy(four) - mean_accuracy(lesson.with_position.front());
  std::string text = fmt::format(
      "But two runs of 4 heads, which differ in nothing but the seed of their start, lie {:.4f} apart", spread(four));
  if (gain > 0) text += fmt::format(", {:.1f} times that gain", spread(four) / gain);
  // Differences of accuracies are whole series; half a series is none.
  const double difference = (spread(four) - std::abs(gain)) * static_cast<double>(kHeadsHeldOut);
  if (difference > 0.25) {
    return text + ": training again moves the figure more than dividing the width over heads does.";
  }
  if (difference < -0.25) {
    return text + ": in these runs the number of heads moves the figure more than training again does.";
  }
  return text + ": training again moves the figure as much as dividing the width over heads does.";
}

// The set-ups with the most correct answers in one run: "4 heads", "1 or 2 heads".
std::string chosen_after(const HeadsLesson& lesson, std::size_t run) {
  std::size_t most = 0;
  for (const Runs& runs : lesson.with_position) most = std::max(most, runs[run].correct);
  std::string heads;
  for (const Runs& runs : lesson.with_position) {
    if (runs[run].correct == most) heads += (heads.empty() ? "" : " or ") + std::to_string(runs[run].heads);
  }
  return heads == "1" ? "1 head" : heads + " heads";
}

std::string choice_claim(const HeadsLesson& lesson) {
  const std::string first = chosen_after(lesson, 0);
  const std::string second = chosen_after(lesson, 1);
  if (first != second) {
    return fmt::format(
        "Whoever trains each set-up once takes {} after run 1 and {} after run 2: a number of heads chosen "
        "from one run is chosen wrongly.",
        first, second);
  }
  return fmt::format(
      "After either run one would take {}; two runs that agree are still only two, and --seed {} may choose "
      "otherwise.",
      first, lesson.settings.seed + 1);
}

std::string heads_part(const HeadsLesson& lesson) {
  std::string text = "\n2) Equal budget, other heads\n";
  text += paragraph(fmt::format(
      "An inner width of {} is divided over 1, 2 and 4 heads: {} parameters each time. Every head has its own key map, "
      "value map and query; {} epochs of descent with momentum over all {} series. Two runs each, from different "
      "starts. Accuracy on the {} held-out series:",
      lesson.settings.width, lesson.parameters(), lesson.settings.epochs, lesson.training().size(),
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
  const bool at_baseline =
      without[0].accuracy() == baseline(lesson.held_out()) && without[1].accuracy() == baseline(lesson.held_out());
  text +=
      "to attention a series without positions is a bag of readings (sums over steps are compensated, so that not even "
      "rounding sees an order). ";
  text +=
      at_baseline ? "They reach the baseline exactly, and no more." : "What they reach they reach without any order.";
  return text;
}

std::string missing_parts(const HeadsLesson& lesson) {
  const HeadsRun& with = lesson.with_position[1][1];
  const HeadsRun& without = lesson.without_position[1];
  return fmt::format(
      "All {} parameters here are keys, values, queries and the read-out. A transformer also has a projection of its "
      "own for "
      "every step (the MLP) and skip connections around both: dikkat lesson block. A recurrent network gets order from "
      "its "
      "structure, reading step after step; attention gets it only from what is written into the input: run 2 of 2 "
      "heads "
      "reaches {:.4f} with two position channels and {:.4f} without. One frequency is enough for {} steps; real "
      "systems use "
      "several.",
      lesson.parameters(), with.accuracy(), without.accuracy(), kHeadsSteps);
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

std::string next_steps() {
  return "\nChange one thing:\n"
         "   dikkat lesson heads --seed 7        other series, other starts\n"
         "   dikkat lesson heads --epochs 20     stop earlier\n"
         "   dikkat lesson heads --width 8       twice the width, the same heads\n"
         "   dikkat lesson heads --export series.csv && dikkat train series.csv --task classify --out runs/series\n";
}

}  // namespace

std::string explained(const HeadsLesson& lesson) {
  return the_question(lesson) + heads_part(lesson) + looking_part(lesson) + position_part(lesson) + next_steps();
}

}  // namespace dikkat::lessons
