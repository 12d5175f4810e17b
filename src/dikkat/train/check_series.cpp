#include "dikkat/train/check_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dikkat/base/fields.h"
#include "dikkat/base/json.h"

namespace dikkat::train {
namespace {

constexpr double kHeavyImbalance = 10;     // largest class over smallest
constexpr double kFar = 50;                // deviations from the mean
constexpr std::size_t kFewSeries = 5;      // for validation
constexpr std::size_t kFewNumbers = 10;    // distinct
constexpr std::size_t kEnoughSeries = 50;  // to tell that numbers are few

using data::SeriesTable;
using data::SeriesTarget;

class SeriesCheck {
 public:
  explicit SeriesCheck(const CheckedSeries& parts) : parts_(parts), table_(parts.table) {
    firsts_.push_back(0);
    for (const std::size_t length : table_.lengths) firsts_.push_back(firsts_.back() + length * table_.channels);
  }

  Findings all() {
    check_format();
    try {
      coding_ = data::series_coding_of(table_, parts_.training, parts_.target, parts_.name);
    } catch (const Error& error) {
      findings_.push_back(finding_of(error, "labels"));
      return std::move(findings_);
    }
    parts_.target == SeriesTarget::label ? check_classes() : check_numbers();
    check_channels();
    check_values();
    check_duplicates();
    check_size();
    return std::move(findings_);
  }

 private:
  void say(Severity severity, std::string check, std::string what, std::string remedy = {}, std::string row = {}) {
    findings_.push_back({.severity = severity,
                         .check = std::move(check),
                         .what = std::move(what),
                         .where = row.empty() ? parts_.name : parts_.name + ": " + row,
                         .remedy = std::move(remedy)});
  }

  // The values of a series, as bytes, to compare by.
  [[nodiscard]] std::string_view values_of(std::size_t row) const {
    return {reinterpret_cast<const char*>(table_.values.data() + firsts_[row]),
            (firsts_[row + 1] - firsts_[row]) * sizeof(double)};
  }
  [[nodiscard]] std::string row_name(std::size_t row) const { return label_of(table_.names[row]); }

  void check_format() {
    const auto [shortest, longest] = std::minmax_element(table_.lengths.begin(), table_.lengths.end());
    const std::string steps =
        *shortest == *longest ? fmt::format("{}", *longest) : fmt::format("{} to {}", *shortest, *longest);
    say(Severity::fine, "format",
        fmt::format("{} series of {} steps, {} {}", table_.count(), steps, table_.channels,
                    table_.channels == 1 ? "channel" : "channels"));
  }

  void check_classes() {
    std::map<std::string, std::size_t> counts;
    for (const std::string& label : table_.labels) ++counts[label];
    std::set<std::string> seen;
    for (const std::size_t row : parts_.validation) seen.insert(table_.labels[row]);
    const std::size_t before = findings_.size();
    check_own_labels(counts);
    if (!parts_.validation.empty()) check_coverage(counts, seen);
    check_balance(counts);
    if (findings_.size() > before) return;
    say(Severity::fine, "labels", fmt::format("{} classes, each in both parts", counts.size()));
  }

  void check_own_labels(const std::map<std::string, std::size_t>& counts) {
    if (counts.size() * 2 <= table_.count()) return;
    const bool numbers =
        std::all_of(counts.begin(), counts.end(), [](const auto& entry) { return real_from(entry.first).has_value(); });
    say(Severity::warning, "labels", fmt::format("{} series have {} different labels", table_.count(), counts.size()),
        numbers ? "say --task regress if they are numbers, or name the right column by --label"
                : "name the right column by --label");
  }

  void check_coverage(const std::map<std::string, std::size_t>& counts, const std::set<std::string>& seen) {
    std::size_t absent = 0;
    std::string some;
    for (const auto& [label, count] : counts) {
      if (seen.contains(label)) continue;
      if (++absent <= 5) some += (absent == 1 ? "'" : ", '") + label_of(label) + "'";
    }
    if (absent == 0) return;
    say(Severity::warning, "labels",
        fmt::format("{} of {} classes have no series for validation: {}{}", absent, counts.size(), some,
                    absent > 5 ? ", ..." : ""),
        "give at least two series of each class, or leave the class out");
  }

  void check_balance(const std::map<std::string, std::size_t>& counts) {
    const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end(), by_count);
    if (static_cast<double>(most->second) < kHeavyImbalance * static_cast<double>(least->second)) return;
    say(Severity::warning, "labels",
        fmt::format(
            "the classes are far from even: '{}' has {} series, '{}' has {}; always saying '{}' is right {:.1f} % "
            "of the time",
            label_of(most->first), most->second, label_of(least->first), least->second, label_of(most->first),
            100 * static_cast<double>(most->second) / static_cast<double>(table_.count())),
        "look at macro F1 rather than accuracy, or even the classes out");
  }

  void check_numbers() {
    std::set<std::string> distinct(table_.labels.begin(), table_.labels.end());
    if (distinct.size() == 1) {
      say(Severity::trouble, "labels", "all series have the same number: there is nothing to learn",
          "name the right column by --label");
    } else if (distinct.size() <= kFewNumbers && table_.count() >= kEnoughSeries) {
      say(Severity::note, "labels", fmt::format("there are only {} different numbers", distinct.size()),
          "say --task classify if they are classes");
    } else {
      say(Severity::fine, "labels",
          fmt::format("numbers of mean {:.6g} and deviation {:.6g}", coding_.target_mean, coding_.target_deviation));
    }
  }

  // Whether channel c has one value only, in these rows.
  [[nodiscard]] bool is_constant(std::size_t c, std::span<const std::size_t> rows) const {
    const double first = table_.values[firsts_[rows.front()] + c];
    for (const std::size_t row : rows) {
      for (std::size_t at = firsts_[row] + c; at < firsts_[row + 1]; at += table_.channels) {
        if (table_.values[at] != first) return false;
      }
    }
    return true;
  }

  void check_channels() {
    const std::size_t before = findings_.size();
    for (std::size_t c = 0; c < table_.channels; ++c) {
      if (!is_constant(c, parts_.training)) continue;
      say(Severity::warning, "channels",
          fmt::format("channel '{}' is constant in the training part", label_of(table_.channel_names[c])),
          "leave it out: it tells nothing");
    }
    if (findings_.size() == before) check_flat_series();
    if (findings_.size() == before) say(Severity::fine, "channels", "every channel varies");
  }

  void check_flat_series() {
    std::size_t flat = 0;
    std::size_t first = 0;
    for (std::size_t row = 0; row < table_.count(); ++row) {
      if (table_.lengths[row] < 2) continue;
      const std::size_t rows[] = {row};
      bool varies = false;
      for (std::size_t c = 0; c < table_.channels && !varies; ++c) varies = !is_constant(c, rows);
      if (!varies && flat++ == 0) first = row;
    }
    if (flat == 0) return;
    say(Severity::warning, "channels", fmt::format("{} series {} constant", flat, flat == 1 ? "is" : "are"),
        "look whether something was not recorded", row_name(first));
  }

  void check_values() {
    std::size_t far = 0;
    double farthest = 0;
    std::string place;
    for (std::size_t row = 0; row < table_.count(); ++row) {
      for (std::size_t at = firsts_[row]; at < firsts_[row + 1]; ++at) {
        const std::size_t c = (at - firsts_[row]) % table_.channels;
        const double away = std::abs((table_.values[at] - coding_.means[c]) / coding_.deviations[c]);
        if (!(away > kFar)) continue;
        ++far;
        if (away <= farthest) continue;
        farthest = away;
        place = fmt::format("{}, step {}", row_name(row), (at - firsts_[row]) / table_.channels + 1);
      }
    }
    if (far == 0) return;
    say(Severity::warning, "values",
        fmt::format("{} {} more than {} deviations from the mean, the farthest {:.3g}", far,
                    far == 1 ? "value is" : "values are", kFar, farthest),
        "look whether it is an error of measurement or a mark for a missing value", place);
  }

  void check_duplicates() {
    std::unordered_map<std::string_view, std::size_t> first_with;  // values -> row
    const std::size_t before = findings_.size();
    std::size_t contradictions = 0;
    std::string place;
    for (std::size_t row = 0; row < table_.count(); ++row) {
      const auto [found, is_new] = first_with.try_emplace(values_of(row), row);
      if (is_new || table_.labels[found->second] == table_.labels[row]) continue;
      if (contradictions++ == 0) place = row_name(found->second) + " and " + row_name(row);
    }
    if (contradictions > 0) {
      say(Severity::warning, "duplicates",
          fmt::format("{} series {} equal to an earlier one but labelled otherwise", contradictions,
                      contradictions == 1 ? "is" : "are"),
          "decide which label is right", place);
    }
    check_leak();
    if (findings_.size() == before) say(Severity::fine, "duplicates", "no series for validation is one of training");
  }

  void check_leak() {
    std::set<std::string_view> training;
    for (const std::size_t row : parts_.training) training.insert(values_of(row));
    std::size_t leaked = 0;
    std::string place;
    for (const std::size_t row : parts_.validation) {
      if (training.contains(values_of(row)) && leaked++ == 0) place = row_name(row);
    }
    if (leaked == 0) return;
    const double share = static_cast<double>(leaked) / static_cast<double>(parts_.validation.size());
    const Severity severity = share >= kManyDuplicates  ? Severity::trouble
                              : share >= kFewDuplicates ? Severity::warning
                                                        : Severity::note;
    say(severity, "duplicates",
        fmt::format("{} of {} series for validation also {} in the training part", leaked, parts_.validation.size(),
                    leaked == 1 ? "stands" : "stand"),
        "remove repeated series", place);
  }

  void check_size() {
    const std::string counts =
        fmt::format("{} series for training, {} for validation", parts_.training.size(), parts_.validation.size());
    if (parts_.validation.size() >= kFewSeries) {
      say(Severity::fine, "size", counts);
    } else if (parts_.validation.empty()) {
      say(Severity::note, "size", counts + ": overfitting will not be seen",
          "keep a share of the series for validation");
    } else {
      say(Severity::warning, "size", counts + ", too few to trust the result", "give more series");
    }
  }

  const CheckedSeries& parts_;
  const SeriesTable& table_;
  std::vector<std::size_t> firsts_;  // (n+1) where each series' values begin
  data::SeriesCoding coding_;
  Findings findings_;
};

}  // namespace

Findings check_series(const CheckedSeries& parts) { return SeriesCheck(parts).all(); }

}  // namespace dikkat::train
