#include "dikkat/inspect/intervention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "dikkat/base/error.h"
#include "dikkat/ops/norm.h"

namespace dikkat::inspect {
namespace {

std::size_t columns_of(const Tensor& activation) {
  return activation.shape()[0] == 0 ? 0 : activation.count() / activation.shape()[0];
}

// Element (row, column) of an activation (R, columns) or (R, a, b), which may be a view.
template <class T>
T& at(const Tensor& activation, std::size_t row, std::size_t column) {
  T* start = activation.data<T>() + row * activation.stride(0);
  if (activation.shape().rank() == 2) return start[column * activation.stride(1)];
  const std::size_t inner = activation.shape()[2];
  return start[column / inner * activation.stride(1) + column % inner * activation.stride(2)];
}

struct Columns {
  std::size_t first = 0;
  std::size_t count = 0;
};

Columns columns_of(const Site& site, const Tensor& activation) {
  const std::size_t all = columns_of(activation);
  const std::size_t count = site.count == 0 ? all : site.count;
  if (count > all || site.first > all - count) {
    throw Error(ErrorKind::internal,
                fmt::format("columns {} to {} of {}, which has {}", site.first, site.first + count, site.path, all));
  }
  return {site.first, count};
}

Tensor columns_at(const Site& site, const Tensor& activation) {
  const Columns columns = columns_of(site, activation);
  const std::size_t rows = activation.shape()[0];
  Tensor kept = Tensor::empty({rows, columns.count}, activation.dtype());
  with_number(kept.dtype(), [&]<class T>() {
    T* to = kept.data<T>();
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns.count; ++c) *to++ = at<T>(activation, r, columns.first + c);
    }
  });
  return kept;
}

void require_fit(const Replacement& replacement, std::size_t rows, std::size_t columns) {
  if (!replacement.values.defined()) return;
  const Shape& shape = replacement.values.shape();
  if (shape.rank() == 2 && (shape[0] == 1 || shape[0] == rows) && shape[1] == columns) return;
  throw Error(ErrorKind::internal, fmt::format("{} is to be ({},{}) or (1,{}); got {}", replacement.site.path, rows,
                                               columns, columns, shape.text()));
}

// Row r of what is to be put there; nullptr for zeros.
template <class T>
const T* row_of(const Tensor& values, std::size_t r) {
  if (!values.defined()) return nullptr;
  return values.data<T>() + (values.shape()[0] == 1 ? 0 : r) * values.shape()[1];
}

template <class T>
void count_change(T old, T now, Change& change) {
  const double difference = static_cast<double>(now) - static_cast<double>(old);
  ++change.elements;
  if (now != old) ++change.changed;
  change.squares += difference * difference;
  change.old_squares += static_cast<double>(old) * static_cast<double>(old);
}

}  // namespace

bool Reader::wants(std::string_view path) const {
  return std::any_of(sites_.begin(), sites_.end(), [&](const Site& site) { return site.path == path; });
}

void Reader::see(std::string_view path, Tensor& activation) {
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i].path == path) values_[i] = columns_at(sites_[i], activation);
  }
}

bool Taps::wants(std::string_view path) const {
  return std::any_of(taps_.begin(), taps_.end(), [&](const nn::Tap* tap) { return tap->wants(path); });
}

void Taps::see(std::string_view path, Tensor& activation) {
  for (nn::Tap* tap : taps_) {
    if (tap->wants(path)) tap->see(path, activation);
  }
}

double Change::relative() const {
  if (none()) return 0;
  return old_squares == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(squares / old_squares);
}

Change& Change::operator+=(const Change& more) {
  elements += more.elements;
  changed += more.changed;
  squares += more.squares;
  old_squares += more.old_squares;
  return *this;
}

Change change_between(const Tensor& old, const Tensor& now) {
  Change change;
  with_number(old.dtype(), [&]<class T>() {
    const std::span<const T> before = old.span<T>();
    const std::span<const T> after = now.span<T>();
    for (std::size_t i = 0; i < before.size(); ++i) count_change(before[i], after[i], change);
  });
  return change;
}

Writer::Writer(const models::LanguageModel& model, const kernels::Executor& executor,
               std::vector<Replacement> replacements, std::vector<bool> rows)
    : model_(model), executor_(executor), replacements_(std::move(replacements)), rows_(std::move(rows)) {
  for (std::size_t i = 0; i < replacements_.size(); ++i) {
    const Site& site = replacements_[i].site;
    if (site.kind != Site::Kind::carried) continue;
    const std::string block = site.path.substr(0, site.path.rfind('.'));
    const bool attention = site.path.ends_with("residual_pre");
    carried_.push_back({.replacement = i,
                        .update = block + (attention ? ".attention.out" : ".mlp.out"),
                        .sum = block + (attention ? ".residual_mid" : ".residual_post"),
                        .norm = block + (attention ? ".norm1" : ".norm2")});
  }
}

bool Writer::wants(std::string_view path) const {
  const auto written = [&](const Replacement& one) {
    return one.site.kind == Site::Kind::activation && one.site.path == path;
  };
  const auto needed = [&](const Carried& one) { return one.update == path || one.sum == path; };
  return std::any_of(replacements_.begin(), replacements_.end(), written) ||
         std::any_of(carried_.begin(), carried_.end(), needed);
}

void Writer::see(std::string_view path, Tensor& activation) {
  for (const Carried& carried : carried_) {
    if (carried.sum == path) write_sum(carried, activation);
  }
  for (const Replacement& one : replacements_) {
    if (one.site.kind == Site::Kind::activation && one.site.path == path) write(one.site, one.values, activation);
  }
  for (Carried& carried : carried_) {
    if (carried.update == path) carried.added = activation.clone();
  }
}

void Writer::write(const Site& site, const Tensor& values, Tensor& activation) {
  const Columns columns = columns_of(site, activation);
  require_fit({site, values}, activation.shape()[0], columns.count);
  with_number(activation.dtype(), [&]<class T>() {
    for (std::size_t r = 0; r < activation.shape()[0]; ++r) {
      if (!rows_.empty() && !rows_[r]) continue;
      const T* from = row_of<T>(values, r);
      for (std::size_t c = 0; c < columns.count; ++c) {
        T& element = at<T>(activation, r, columns.first + c);
        const T now = from == nullptr ? T{0} : from[c];
        count_change(element, now, change_);
        element = now;
      }
    }
  });
}

void Writer::write_sum(const Carried& carried, Tensor& activation) {
  const Replacement& replacement = replacements_[carried.replacement];
  require_fit(replacement, activation.shape()[0], columns_of(activation));
  const Tensor sum = carried.added.clone();
  if (replacement.values.defined()) {
    with_number(sum.dtype(), [&]<class T>() {
      const std::size_t columns = columns_of(sum);
      for (std::size_t r = 0; r < sum.shape()[0]; ++r) {
        const T* from = row_of<T>(replacement.values, r);
        for (std::size_t c = 0; c < columns; ++c) at<T>(sum, r, c) = from[c] + at<T>(sum, r, c);
      }
    });
  }
  write({.path = carried.sum}, normed(carried, sum), activation);
}

Tensor Writer::normed(const Carried& carried, const Tensor& sum) const {
  const models::Config& config = model_.config();
  if (config.placement == models::Placement::pre || config.norm == models::NormKind::none) return sum;
  const nn::Parameter* gain = model_.parameters().find(carried.norm + ".gain");
  const nn::Parameter* bias = model_.parameters().find(carried.norm + ".bias");
  if (gain == nullptr) throw Error(ErrorKind::internal, "no parameter " + carried.norm + ".gain");
  Context context{.executor = executor_, .memory = heap()};
  const kernels::Norm kind = config.norm == models::NormKind::layer ? kernels::Norm::layer : kernels::Norm::rms;
  return ops::norm(context, kind, config.norm_epsilon, Variable{sum}, Variable{gain->value()},
                   bias == nullptr ? Variable{} : Variable{bias->value()})
      .value;
}

}  // namespace dikkat::inspect
