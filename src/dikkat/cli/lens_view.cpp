#include "dikkat/cli/lens_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dikkat/cli/csv.h"
#include "dikkat/cli/interventions.h"
#include "dikkat/stats/summary.h"
#include "dikkat/text/display_width.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kTokenColumns = 6;
constexpr std::size_t kPointColumns = 13;  // a token, blank, "100 %", asterisk, blanks

bool follows(const LensSubject& subject, std::size_t row) { return row + 1 < subject.tokens.size(); }

std::string cell(const LensSubject& subject, const inspect::LensRow& row, std::size_t r) {
  std::string out = text::padded_label(subject.tokenizer.bytes_of(row.top), kTokenColumns, text::Side::left);
  out += fmt::format("{:>3.0f} %", 100 * row.top_probability);
  return out + (follows(subject, r) && row.top == subject.tokens[r + 1] ? "* " : "  ");
}

std::vector<std::size_t> shown(const LensSubject& subject, LensPoints points) {
  std::vector<std::size_t> list;
  for (std::size_t p = 0; p < subject.readings.size(); ++p) {
    if (points == LensPoints::all || p % 2 == 0) list.push_back(p);
  }
  return list;
}

struct Summary {
  double loss = std::nan("");
  std::size_t right = 0;
  double rank = 0;  // median
};

Summary summary_of(const inspect::LensReading& reading) {
  std::vector<double> losses;
  std::vector<std::size_t> ranks;
  Summary summary;
  for (const inspect::LensRow& row : reading.rows) {
    if (row.rank == 0) continue;
    losses.push_back(row.loss_nats);
    ranks.push_back(row.rank);
    summary.right += row.rank == 1 ? 1U : 0U;
  }
  if (ranks.empty()) return summary;
  summary.loss = stats::mean(losses);
  std::sort(ranks.begin(), ranks.end());
  summary.rank = static_cast<double>(ranks[(ranks.size() - 1) / 2] + ranks[ranks.size() / 2]) / 2;
  return summary;
}

std::string bytes_of(const LensSubject& subject, text::Token token) {
  return std::string(subject.tokenizer.bytes_of(token));
}

}  // namespace

std::string lens_table(const LensSubject& subject, LensPoints points, std::size_t columns) {
  std::vector<std::size_t> list = shown(subject, points);
  const std::size_t left = 8 + kTokenColumns + 2;
  const std::size_t fit = std::max<std::size_t>(1, columns > left ? (columns - left) / kPointColumns : 1);
  std::string notice;
  if (list.size() > fit) {
    notice = fmt::format("Only the last {} of the {} columns fit here; --json and --csv have all.\n", fit, list.size());
    list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(fit));
  }
  std::string out = fmt::format("{:<{}}", "position", left);
  for (const std::size_t p : list) out += fmt::format("{:<{}}", subject.readings[p].point.name, kPointColumns);
  out.erase(out.find_last_not_of(' ') + 1);
  for (std::size_t r = 0; r < subject.tokens.size(); ++r) {
    std::string line = fmt::format("\n{:>6}  ", subject.first + r);
    line += text::padded_label(subject.tokenizer.bytes_of(subject.tokens[r]), kTokenColumns + 2, text::Side::left);
    for (const std::size_t p : list) line += cell(subject, subject.readings[p].rows[r], r);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line;
  }
  return out + "\n" + notice;
}

std::string lens_summary(const LensSubject& subject) {
  const std::size_t asked = subject.tokens.size() - 1;
  if (asked == 0) return "One token has none that follows: nothing to measure.\n";
  std::string out = "Rank: the place of the true next token among all, 1 the most probable.\n";
  out += fmt::format("{:<14}{:>10}{:>22}{:>14}\n", "stopped after", "loss", "best guess is true", "median rank");
  for (const inspect::LensReading& reading : subject.readings) {
    const Summary summary = summary_of(reading);
    out += fmt::format("{:<14}{:>10.4f}{:>22}{:>14}\n", reading.point.name, summary.loss,
                       fmt::format("{} of {}", summary.right, asked), summary.rank);
  }
  return out;
}

std::string lens_csv(const LensSubject& subject) {
  std::string out = "position,token,next,point,path,top,top_probability,rank,probability,loss_nats\n";
  for (const inspect::LensReading& reading : subject.readings) {
    for (std::size_t r = 0; r < reading.rows.size(); ++r) {
      const inspect::LensRow& row = reading.rows[r];
      out += fmt::format("{},{},", subject.first + r, csv_field(bytes_of(subject, subject.tokens[r])));
      out += follows(subject, r) ? csv_field(bytes_of(subject, subject.tokens[r + 1])) : "";
      out += fmt::format(",{},{},{},{},", csv_field(reading.point.name), reading.point.path,
                         csv_field(bytes_of(subject, row.top)), text_of(row.top_probability));
      out += follows(subject, r) ? fmt::format("{},{},{}\n", row.rank, text_of(row.probability), text_of(row.loss_nats))
                                 : ",,\n";
    }
  }
  return out;
}

Json lens_json(const LensSubject& subject) {
  Json tokens = Json::array();
  for (const text::Token token : subject.tokens) tokens.push(bytes_of(subject, token));
  Json points = Json::array();
  for (const inspect::LensReading& reading : subject.readings) {
    Json rows = Json::array();
    for (std::size_t r = 0; r < reading.rows.size(); ++r) {
      const inspect::LensRow& row = reading.rows[r];
      const bool asked = follows(subject, r);
      rows.push(Json::object()
                    .set("top", bytes_of(subject, row.top))
                    .set("top_probability", finite_or_null(row.top_probability))
                    .set("rank", asked ? Json(row.rank) : Json())
                    .set("probability", asked ? finite_or_null(row.probability) : Json())
                    .set("loss_nats", asked ? finite_or_null(row.loss_nats) : Json()));
    }
    points.push(Json::object()
                    .set("point", reading.point.name)
                    .set("path", reading.point.path)
                    .set("loss_nats", finite_or_null(summary_of(reading).loss))
                    .set("positions", std::move(rows)));
  }
  return Json::object().set("first", subject.first).set("tokens", std::move(tokens)).set("points", std::move(points));
}

std::string lens_losses_table(const std::vector<inspect::LensPoint>& points,
                              const std::vector<std::vector<double>>& losses) {
  std::string out = fmt::format("{:<14}{:>20}{:>30}\n", "stopped after", "loss", "change from the one before");
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::string line = fmt::format("{:<14}{:>20}", points[p].name, mean_text(losses[p]));
    if (p > 0) {
      std::vector<double> change;
      for (std::size_t w = 0; w < losses[p].size(); ++w) change.push_back(losses[p][w] - losses[p - 1][w]);
      line += fmt::format("{:>30}", mean_text(change, Sign::always));
    }
    out += line + "\n";
  }
  return out;
}

Json lens_losses_json(const std::vector<inspect::LensPoint>& points, const std::vector<std::vector<double>>& losses) {
  Json list = Json::array();
  for (std::size_t p = 0; p < points.size(); ++p) {
    Json windows = Json::array();
    for (const double loss : losses[p]) windows.push(finite_or_null(loss));
    list.push(Json::object()
                  .set("point", points[p].name)
                  .set("path", points[p].path)
                  .set("loss_nats", finite_or_null(stats::mean(losses[p])))
                  .set("interval95", as_json(stats::t_interval(losses[p])))
                  .set("losses_nats", std::move(windows)));
  }
  return Json::object().set("points", std::move(list));
}

}  // namespace dikkat::cli
