#include "dikkat/cli/inspection_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dikkat/text/display_width.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kNarrowestThumbnail = 6;
constexpr std::size_t kWidestThumbnail = 20;
constexpr std::size_t kWidestLabel = 8;  // of a large map's rows
constexpr double kMostly = 0.5;
constexpr double kEvenly = 0.8;
constexpr double kNear = 3.0;  // tokens

HeatMap heat_map(const inspect::SmallMap& small) {
  return {.rows = small.side, .columns = small.side, .values = small.values};
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// Thumbnails side by side.
std::string strip(std::span<const inspect::HeadSummary> summaries, std::size_t columns, const Look& look) {
  std::string head;
  std::vector<std::string> lines(columns / 2);
  for (const inspect::HeadSummary& summary : summaries) {
    head += text::padded_label(fmt::format("{}.{}", summary.layer, summary.head), columns, text::Side::left) + " ";
    const auto picture = thumbnail(heat_map(summary.small), lines.size(), columns, look);
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += picture[i] + " ";
  }
  std::string out = without_trailing_blanks(head) + "\n";
  for (const std::string& line : lines) out += without_trailing_blanks(line) + "\n";
  return out + "\n";
}

}  // namespace

std::string overview(const std::vector<inspect::HeadSummary>& summaries, const Look& look) {
  std::string out;
  for (std::size_t begin = 0; begin < summaries.size();) {
    std::size_t heads = 0;
    while (begin + heads < summaries.size() && summaries[begin + heads].layer == summaries[begin].layer) ++heads;
    const std::size_t columns = std::clamp(look.columns / heads, kNarrowestThumbnail + 1, kWidestThumbnail + 1) - 1;
    const std::size_t together = std::max<std::size_t>(1, look.columns / (columns + 1));
    for (std::size_t at = 0; at < heads; at += together) {
      out += strip(std::span(summaries).subspan(begin + at, std::min(together, heads - at)), columns, look);
    }
    begin += heads;
  }
  return out;
}

std::string looks_at(const inspect::HeadFacts& facts) {
  if (facts.self >= kMostly) return "itself";
  if (facts.previous >= kMostly) return "the token before";
  if (facts.first >= kMostly) return "the first token";
  if (facts.evenness >= kEvenly) return "all it sees, evenly";
  return facts.distance < kNear ? "its neighbourhood" : "here and there";
}

std::string facts_table(const std::vector<inspect::HeadSummary>& summaries) {
  std::string out = fmt::format("{:>7}{:>7}{:>10}{:>7}{:>10}{:>8}  {}\n", "head", "self", "previous", "first",
                                "distance", "spread", "looks mostly at");
  for (const inspect::HeadSummary& summary : summaries) {
    const inspect::HeadFacts& f = summary.facts;
    out += fmt::format("{:>7}{:>7.2f}{:>10.2f}{:>7.2f}{:>10.1f}{:>8.1f}  {}\n",
                       fmt::format("{}.{}", summary.layer, summary.head), f.self, f.previous, f.first, f.distance,
                       f.spread, looks_at(f));
  }
  return out;
}

const inspect::HeadSummary& most_focused(const std::vector<inspect::HeadSummary>& summaries) {
  return *std::min_element(summaries.begin(), summaries.end(),
                           [](const auto& a, const auto& b) { return a.facts.evenness < b.facts.evenness; });
}

ShownTokens shown_tokens(const std::vector<inspect::TokenLabel>& labels, const Look& look) {
  const std::size_t count = std::min(labels.size(), look.columns - kWidestLabel - 3);
  const bool written = !labels.empty() && labels.back().generated;
  return {written ? labels.size() - count : 0, count};
}

std::string large_map(const std::vector<double>& weights, ShownTokens shown,
                      const std::vector<inspect::TokenLabel>& labels, const Look& look) {
  std::vector<std::string> texts;
  std::vector<bool> marked;
  bool written = false;
  for (std::size_t i = shown.first; i < shown.first + shown.count; ++i) {
    texts.push_back(labels[i].text);
    marked.push_back(labels[i].generated);
    written = written || labels[i].generated;
  }
  std::vector<std::string> rows;
  for (const std::string& text : texts) rows.push_back(text);
  HeatMap map{.rows = shown.count,
              .columns = shown.count,
              .values = weights,
              .row_labels = std::move(rows),
              .column_labels = std::move(texts),
              .widest_row_label = kWidestLabel};
  if (written) map.marked = std::move(marked);
  std::string out = drawn(map, look) + legend(0.0, 1.0, look) + "\n";
  if (written) out += "> was written by the model\n";
  if (shown.count < labels.size()) {
    out += fmt::format("(rows and columns {} to {} of 0 to {} shown; --columns {} shows all)\n", shown.first,
                       shown.first + shown.count - 1, labels.size() - 1, labels.size() + kWidestLabel + 3);
  }
  return out;
}

ActivationFacts facts_of(const std::string& path, const Tensor& contiguous) {
  const std::size_t rows = contiguous.shape()[0];
  const std::size_t width = contiguous.count() / rows;
  const std::size_t side = std::min({rows, width, inspect::kSmallMapSide});
  ActivationFacts facts{.path = path,
                        .shape = contiguous.shape(),
                        .smallest = std::numeric_limits<double>::infinity(),
                        .largest = -std::numeric_limits<double>::infinity(),
                        .small = {side, std::vector<double>(side * side, 0.0)}};
  double sum = 0;
  double squares = 0;
  std::size_t counted = 0;
  const auto each = [&](auto&& use) {
    with_number(contiguous.dtype(), [&]<class T>() {
      for (std::size_t i = 0; i < contiguous.count(); ++i) {
        const auto value = static_cast<double>(contiguous.data<T>()[i]);
        if (std::isfinite(value)) use(i, value);
      }
    });
  };
  each([&](std::size_t i, double value) {
    ++counted;
    sum += value;
    squares += value * value;
    facts.smallest = std::min(facts.smallest, value);
    facts.largest = std::max(facts.largest, value);
    double& block = facts.small.values[i / width * side / rows * side + i % width * side / width];
    block = std::max(block, std::abs(value));
  });
  facts.not_finite = contiguous.count() - counted;
  if (counted == 0) {
    facts.mean = facts.deviation = facts.root_mean_square = facts.smallest = facts.largest = std::nan("");
    return facts;
  }
  const auto count = static_cast<double>(counted);
  facts.mean = sum / count;
  facts.root_mean_square = std::sqrt(squares / count);
  double around = 0;
  each([&](std::size_t, double value) { around += (value - facts.mean) * (value - facts.mean); });
  facts.deviation = std::sqrt(around / count);
  return facts;
}

std::string activations_table(const std::vector<ActivationFacts>& all) {
  std::size_t widest = 10;
  for (const ActivationFacts& facts : all) widest = std::max(widest, facts.path.size());
  std::string out = fmt::format("{:<{}}  {:>14}{:>11}{:>11}{:>11}{:>11}{:>11}\n", "activation", widest, "shape", "mean",
                                "deviation", "rms", "smallest", "largest");
  for (const ActivationFacts& facts : all) {
    out += fmt::format("{:<{}}  {:>14}{:>11.4g}{:>11.4g}{:>11.4g}{:>11.4g}{:>11.4g}{}\n", facts.path, widest,
                       facts.shape.text(), facts.mean, facts.deviation, facts.root_mean_square, facts.smallest,
                       facts.largest, facts.not_finite == 0 ? "" : fmt::format("  {} not finite", facts.not_finite));
  }
  return out;
}

std::string small_map(const ActivationFacts& facts, const Look& look) {
  const double largest = std::max(std::abs(facts.smallest), std::abs(facts.largest));
  HeatMap map = heat_map(facts.small);
  map.high = largest > 0 ? largest : 1.0;
  const std::size_t lines = std::min<std::size_t>(facts.small.side, 8);
  std::string out = fmt::format("\n{}: magnitude, rows from above, at most {:.4g}\n", facts.path, map.high);
  for (const std::string& line : thumbnail(map, lines, std::min(facts.small.side, look.columns), look)) {
    out += "  " + without_trailing_blanks(line) + "\n";
  }
  return out;
}

}  // namespace dikkat::cli
