#include "dikkat/cli/loss_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dikkat::cli {
namespace {

std::vector<double> column_means(const std::vector<double>& losses, std::size_t columns) {
  std::vector<double> means;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t begin = c * losses.size() / columns;
    const std::size_t end = (c + 1) * losses.size() / columns;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += losses[i];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

struct Scale {
  double low;
  double high;
  std::size_t height;

  // Row 0 is on top.
  [[nodiscard]] std::size_t row(double value) const {
    if (high <= low) return height - 1;
    const double share = std::clamp((high - value) / (high - low), 0.0, 1.0);
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(height - 1)));
  }
};

}  // namespace

std::string drawn(const LossCurve& curve, std::size_t width, std::size_t height) {
  const std::size_t columns = std::min(width, curve.training.size());
  if (columns < 2 || height < 2) return {};
  const std::vector<double> means = column_means(curve.training, columns);
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  if (!std::all_of(means.begin(), means.end(), [](double m) { return std::isfinite(m); })) return {};
  Scale scale{*low, *high, height};
  for (const auto& [step, loss] : curve.validation) {
    if (!std::isfinite(loss)) return {};
    scale.low = std::min(scale.low, loss);
    scale.high = std::max(scale.high, loss);
  }

  std::vector<std::string> rows(height, std::string(columns, ' '));
  for (std::size_t c = 0; c < columns; ++c) rows[scale.row(means[c])][c] = '*';
  for (const auto& [step, loss] : curve.validation) {
    if (step < curve.first_step || step - curve.first_step >= curve.training.size()) continue;
    rows[scale.row(loss)][(step - curve.first_step) * columns / curve.training.size()] = 'o';
  }

  std::string out;
  for (std::size_t r = 0; r < height; ++r) {
    const std::string label = r == 0            ? fmt::format("{:.2f}", scale.high)
                              : r + 1 == height ? fmt::format("{:.2f}", scale.low)
                                                : "";
    std::string& line = rows[r];
    line.erase(line.find_last_not_of(' ') + 1);
    out += fmt::format("{:>8} |{}\n", label, line);
  }
  const std::string first = std::to_string(curve.first_step);
  const std::string last = std::to_string(curve.first_step + curve.training.size() - 1);
  out += "         +" + std::string(columns, '-') + "\n";
  const std::size_t gap = columns > first.size() + last.size() ? columns - first.size() - last.size() : 1;
  return out + "          " + first + std::string(gap, ' ') + last + "\n";
}

}  // namespace dikkat::cli
