#include "dikkat/data/series_coding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "dikkat/base/error.h"
#include "dikkat/base/fields.h"
#include "dikkat/base/hash.h"
#include "dikkat/base/json.h"

namespace dikkat::data {
namespace {

// A sum that does not lose small terms (Neumaier), so that scaling by a power of two scales it exactly.
class Sum {
 public:
  void add(double term) {
    const double next = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

struct Spread {
  double mean = 0;
  double deviation = 1;
};

// Visits every value twice: each(visit) calls visit(value) for all. Nothing if they are too large for it.
template <class Each>
std::optional<Spread> spread_of(std::size_t count, const Each& each) {
  Sum sum;
  double least = std::numeric_limits<double>::infinity();
  double largest = -least;
  each([&](double value) {
    sum.add(value);
    least = std::min(least, value);
    largest = std::max(largest, value);
  });
  if (least == largest) return Spread{.mean = least, .deviation = 1};
  const double mean = sum.value() / static_cast<double>(count);
  // A spread so small that its square would be nothing, or subnormal, is squared after scaling by a power of two.
  const double scale = largest - least < 0x1p-500 ? 0x1p+990 : 1;
  Sum squares;
  each([&](double value) { squares.add((value - mean) * scale * ((value - mean) * scale)); });
  const double deviation = std::sqrt(squares.value() / static_cast<double>(count)) / scale;
  if (!std::isfinite(mean) || !std::isfinite(deviation)) return std::nullopt;
  return Spread{.mean = mean, .deviation = deviation > 0 ? deviation : 1};
}

std::vector<std::size_t> first_steps(const SeriesTable& table) {
  std::vector<std::size_t> firsts{0};
  firsts.reserve(table.count() + 1);
  for (const std::size_t length : table.lengths) firsts.push_back(firsts.back() + length);
  return firsts;
}

[[noreturn]] void refuse_too_large(const std::string& file, const std::string& what) {
  throw Error(ErrorKind::malformed, what + " are too large to compute with", {.file = file, .hint = "scale them"});
}

void take_channels(SeriesCoding& coding, const SeriesTable& table, std::span<const std::size_t> rows,
                   const std::string& file) {
  const std::vector<std::size_t> firsts = first_steps(table);
  std::size_t steps = 0;
  for (const std::size_t row : rows) {
    steps += table.lengths[row];
    coding.longest = std::max(coding.longest, table.lengths[row]);
  }
  coding.channel_names = table.channel_names;
  for (std::size_t channel = 0; channel < table.channels; ++channel) {
    const std::optional<Spread> spread = spread_of(steps, [&](const auto& visit) {
      for (const std::size_t row : rows) {
        for (std::size_t t = firsts[row]; t < firsts[row + 1]; ++t) visit(table.values[t * table.channels + channel]);
      }
    });
    if (!spread) refuse_too_large(file, "the values of '" + label_of(table.channel_names[channel]) + "'");
    coding.means.push_back(spread->mean);
    coding.deviations.push_back(spread->deviation);
  }
}

bool all_numbers(const std::vector<std::string>& labels) {
  return std::all_of(labels.begin(), labels.end(), [](const auto& label) { return real_from(label).has_value(); });
}

bool is_ordered(const std::string& a, const std::string& b, bool by_value) {
  return by_value ? *real_from(a) < *real_from(b) : a < b;
}

void take_labels(SeriesCoding& coding, const SeriesTable& table, std::span<const std::size_t> rows,
                 const std::string& file) {
  std::vector<std::string>& labels = coding.labels;
  for (const std::size_t row : rows) labels.push_back(table.labels[row]);
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const bool by_value = all_numbers(labels);
  std::stable_sort(labels.begin(), labels.end(),
                   [&](const auto& a, const auto& b) { return is_ordered(a, b, by_value); });
  const auto twice = std::adjacent_find(labels.begin(), labels.end(),
                                        [&](const auto& a, const auto& b) { return !is_ordered(a, b, by_value); });
  if (twice != labels.end()) {
    throw Error(ErrorKind::malformed,
                fmt::format("the labels '{}' and '{}' are the same number", label_of(*twice), label_of(*(twice + 1))),
                {.file = file, .hint = "write each label in one way"});
  }
  if (labels.size() < 2) {
    throw Error(
        ErrorKind::malformed,
        fmt::format("there is one class only: every series for training is labelled '{}'",
                    labels.empty() ? std::string() : label_of(labels.front())),
        {.file = file, .hint = "give series of two or more classes, or name the right label column by --label"});
  }
}

std::string row_name(const SeriesTable& table, std::size_t row) { return label_of(table.names[row]); }

double number_of(const SeriesTable& table, std::size_t row, const std::string& file) {
  const std::optional<double> number = real_from(table.labels[row]);
  if (number) return *number;
  throw Error(
      ErrorKind::malformed,
      fmt::format("the label '{}' is not a number, as regression needs", label_of(table.labels[row])),
      {.file = file, .key = row_name(table, row), .hint = "use --task classify, or name another column by --label"});
}

void take_numbers(SeriesCoding& coding, const SeriesTable& table, std::span<const std::size_t> rows,
                  const std::string& file) {
  const std::optional<Spread> spread = spread_of(rows.size(), [&](const auto& visit) {
    for (const std::size_t row : rows) visit(number_of(table, row, file));
  });
  if (!spread) refuse_too_large(file, "the labels");
  coding.target_mean = spread->mean;
  coding.target_deviation = spread->deviation;
}

}  // namespace

SeriesCoding series_coding_of(const SeriesTable& table, std::span<const std::size_t> rows, SeriesTarget target,
                              const std::string& file) {
  if (rows.empty() || table.labels.empty()) {
    throw Error(ErrorKind::malformed, rows.empty() ? "there is no series to train on" : "the series have no labels",
                {.file = file, .hint = "give series with labels"});
  }
  SeriesCoding coding;
  coding.target = target;
  take_channels(coding, table, rows, file);
  if (target == SeriesTarget::label) {
    take_labels(coding, table, rows, file);
  } else {
    take_numbers(coding, table, rows, file);
  }
  return coding;
}

std::string SeriesCoding::to_json() const {
  Json channel_list = Json::array();
  for (std::size_t i = 0; i < channels(); ++i) {
    Json channel = Json::object();
    channel.set("name", channel_names[i]).set("mean", means[i]).set("deviation", deviations[i]);
    channel_list.push(std::move(channel));
  }
  Json label_list = Json::array();
  for (const std::string& label : labels) label_list.push(label);
  Json all = Json::object();
  all.set("format", "dikkat series").set("version", std::uint64_t{1});
  all.set("target", target == SeriesTarget::label ? "label" : "number");
  all.set("channels", std::move(channel_list)).set("longest", longest).set("labels", std::move(label_list));
  all.set("target_mean", target_mean).set("target_deviation", target_deviation);
  return text_of(all, JsonLayout::indented);
}

std::string SeriesCoding::fingerprint() const { return xxh3_128_hex(to_json()); }

namespace {

double deviation_in(const JsonAt& at) {
  const double deviation = at.real();
  if (!(deviation > 0)) at.refuse("a deviation must be above 0");
  return deviation;
}

void read_channels(const JsonAt& at, SeriesCoding& coding) {
  for (const JsonAt& channel : at.items()) {
    channel.allow_only({"name", "mean", "deviation"});
    const std::string& name = channel["name"].string();
    auto& names = coding.channel_names;
    if (std::find(names.begin(), names.end(), name) != names.end()) channel["name"].refuse("a channel is named twice");
    names.push_back(name);
    coding.means.push_back(channel["mean"].real());
    coding.deviations.push_back(deviation_in(channel["deviation"]));
  }
  if (coding.channels() == 0) at.refuse("there must be a channel");
}

void read_labels(const JsonAt& at, SeriesCoding& coding) {
  for (const JsonAt& label : at.items()) coding.labels.push_back(label.string());
  if (coding.target == SeriesTarget::number) {
    if (!coding.labels.empty()) at.refuse("there are no labels where the target is a number");
    return;
  }
  if (coding.labels.size() < 2) at.refuse("there must be two labels or more");
  const bool by_value = all_numbers(coding.labels);
  for (std::size_t i = 1; i < coding.labels.size(); ++i) {
    if (!is_ordered(coding.labels[i - 1], coding.labels[i], by_value)) {
      at.refuse("labels must be distinct and in order, numbers by value and others byte by byte");
    }
  }
}

SeriesTarget target_in(const JsonAt& at) {
  if (at.string() == "label") return SeriesTarget::label;
  if (at.string() != "number") at.refuse("'" + label_of(at.string()) + "' is neither label nor number");
  return SeriesTarget::number;
}

void check_version(const JsonAt& at, const std::string& file) {
  if (at["format"].string() != "dikkat series") at["format"].refuse("this is no description of series");
  if (at["version"].count() == 1) return;
  throw Error(ErrorKind::incompatible, "the description of series is of another version than 1",
              {.file = file, .key = "version", .hint = "use the program that wrote it"});
}

}  // namespace

SeriesCoding series_coding_from(std::string_view json, const std::string& file) {
  const Json document = parse_json(json, file);
  const JsonAt at(document, file);
  check_version(at, file);
  at.allow_only({"format", "version", "target", "channels", "longest", "labels", "target_mean", "target_deviation"});
  SeriesCoding coding;
  coding.target = target_in(at["target"]);
  read_channels(at["channels"], coding);
  coding.longest = at["longest"].count();
  if (coding.longest == 0) at["longest"].refuse("a series has at least one step");
  read_labels(at["labels"], coding);
  coding.target_mean = at["target_mean"].real();
  coding.target_deviation = deviation_in(at["target_deviation"]);
  const bool plain = coding.target_mean == 0 && coding.target_deviation == 1;
  if (coding.target == SeriesTarget::label && !plain)
    at["target_mean"].refuse("labels have neither mean nor deviation");
  return coding;
}

namespace {

// Which of the table's channels is each of the coding's.
std::vector<std::size_t> channel_order(const SeriesTable& table, const SeriesCoding& coding, const std::string& file) {
  if (table.channels != coding.channels()) {
    throw Error(ErrorKind::incompatible,
                fmt::format("the series have {} channels, the model's have {}", table.channels, coding.channels()),
                {.file = file, .hint = "give series with the channels it was trained on"});
  }
  std::vector<std::size_t> order;
  for (const std::string& name : coding.channel_names) {
    const auto& names = table.channel_names;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) order.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return order;
}

bool is_unnamed(const std::vector<std::string>& names) { return names.front().starts_with("value"); }

std::vector<std::size_t> channels_by_name(const SeriesTable& table, const SeriesCoding& coding,
                                          const std::string& file) {
  std::vector<std::size_t> order = channel_order(table, coding, file);
  if (order.size() == coding.channels()) return order;
  if (!is_unnamed(table.channel_names) && !is_unnamed(coding.channel_names)) {
    const auto unknown = std::find_if(table.channel_names.begin(), table.channel_names.end(), [&](const auto& name) {
      return std::find(coding.channel_names.begin(), coding.channel_names.end(), name) == coding.channel_names.end();
    });
    const std::string name = unknown == table.channel_names.end() ? "" : *unknown;
    const auto near = nearest_name(name, coding.channel_names);
    throw Error(
        ErrorKind::incompatible, fmt::format("the model has no channel '{}'", label_of(name)),
        {.file = file, .hint = near ? "did you mean '" + label_of(*near) + "'?" : "name the channels as in training"});
  }
  order.resize(coding.channels());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

// Of a coding's labels, by text, and of numbers also by value.
class ClassOf {
 public:
  ClassOf(const SeriesCoding& coding, const std::string& file)
      : coding_(coding), file_(file), numbers_(all_numbers(coding.labels)) {
    for (std::size_t i = 0; i < coding.labels.size(); ++i) {
      by_text_.emplace(coding.labels[i], static_cast<std::int32_t>(i));
    }
  }

  [[nodiscard]] std::int32_t operator()(const SeriesTable& table, std::size_t row) const {
    const std::string& label = table.labels[row];
    const auto found = by_text_.find(label);
    if (found != by_text_.end()) return found->second;
    if (numbers_) {
      if (const auto same = by_value(label)) return *same;
    }
    const auto near = nearest_name(label, coding_.labels);
    throw Error(ErrorKind::incompatible, fmt::format("the label '{}' is none of those of training", label_of(label)),
                {.file = file_,
                 .key = row_name(table, row),
                 .hint = near ? "did you mean '" + label_of(*near) + "'?" : "known are " + some_labels()});
  }

 private:
  [[nodiscard]] std::optional<std::int32_t> by_value(const std::string& label) const {
    const std::optional<double> value = real_from(label);
    if (!value) return std::nullopt;
    const auto at = std::lower_bound(coding_.labels.begin(), coding_.labels.end(), *value,
                                     [](const auto& known, double v) { return *real_from(known) < v; });
    if (at == coding_.labels.end() || *real_from(*at) != *value) return std::nullopt;
    return static_cast<std::int32_t>(at - coding_.labels.begin());
  }

  [[nodiscard]] std::string some_labels() const {
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(8, coding_.labels.size()); ++i) {
      list += (i == 0 ? "'" : ", '") + label_of(coding_.labels[i]) + "'";
    }
    return coding_.labels.size() > 8 ? list + ", ..." : list;
  }

  const SeriesCoding& coding_;
  const std::string& file_;
  bool numbers_;
  std::unordered_map<std::string, std::int32_t> by_text_;
};

void code_values(CodedSeries& coded, const SeriesTable& table, const SeriesCoding& coding, const std::string& file) {
  const std::vector<std::size_t> order = channels_by_name(table, coding, file);
  coded.values.reserve(table.values.size());
  for (std::size_t row = 0; row < table.count(); ++row) {
    for (std::size_t t = coded.first_step[row]; t < coded.first_step[row + 1]; ++t) {
      for (std::size_t c = 0; c < order.size(); ++c) {
        const double value = (table.values[t * table.channels + order[c]] - coding.means[c]) / coding.deviations[c];
        if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
          refuse_too_large(file, "the values of " + row_name(table, row));
        }
        coded.values.push_back(value);
      }
    }
  }
}

}  // namespace

CodedSeries coded(const SeriesTable& table, const SeriesCoding& coding, const std::string& file) {
  CodedSeries coded;
  coded.channels = table.channels;
  coded.first_step = first_steps(table);
  code_values(coded, table, coding, file);
  coded.classes.assign(table.count(), -1);
  if (table.labels.empty()) return coded;
  const ClassOf class_of(coding, file);
  for (std::size_t row = 0; row < table.count(); ++row) {
    if (coding.target == SeriesTarget::label) {
      coded.classes[row] = class_of(table, row);
    } else {
      coded.numbers.push_back((number_of(table, row, file) - coding.target_mean) / coding.target_deviation);
    }
  }
  return coded;
}

}  // namespace dikkat::data
