#include "dikkat/inspect/ablation_study.h"

#include <fmt/format.h>

#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/inspect/ablation_positions.h"
#include "dikkat/inspect/ablation_windows.h"
#include "dikkat/inspect/windows.h"

namespace dikkat::inspect {
namespace {

std::vector<bool> rows_at(const data::Batch& batch, const std::vector<std::size_t>& positions) {
  std::vector<bool> rows;
  if (positions.empty()) return rows;
  for (const std::uint32_t position : batch.rows.position) {
    rows.push_back(std::find(positions.begin(), positions.end(), position) != positions.end());
  }
  return rows;
}

// Sums of columns over rows, row by row in order, whatever the batches.
class ColumnMeans {
 public:
  void add(const Tensor& values, const std::vector<bool>& rows) {
    const std::size_t columns = values.shape()[1];
    sums_.resize(columns);
    with_number(values.dtype(), [&]<class T>() {
      for (std::size_t r = 0; r < values.shape()[0]; ++r) {
        if (!rows.empty() && !rows[r]) continue;
        const T* row = values.data<T>() + r * columns;
        for (std::size_t c = 0; c < columns; ++c) sums_[c] += static_cast<double>(row[c]);
        ++rows_;
      }
    });
  }
  // (1, columns)
  [[nodiscard]] Tensor means(DType dtype) const {
    const Tensor wide = Tensor::empty({1, sums_.size()}, DType::f64);
    for (std::size_t c = 0; c < sums_.size(); ++c) wide.data<double>()[c] = sums_[c] / static_cast<double>(rows_);
    Tensor means = Tensor::empty(wide.shape(), dtype);
    means.assign(wide);
    return means;
  }

 private:
  std::vector<double> sums_;
  std::size_t rows_ = 0;
};

// tokens (R,C) + vectors (length,C): row r of a sample takes the vector of place order[r], or, `vectors` being one row,
// that one.
template <class Order>
Tensor with_vectors(const Tensor& tokens, const Tensor& vectors, Order&& place) {
  Tensor sum = tokens.clone();
  with_number(sum.dtype(), [&]<class T>() {
    const std::size_t columns = sum.shape()[1];
    for (std::size_t r = 0; r < sum.shape()[0]; ++r) {
      const T* vector = vectors.data<T>() + place(r) * columns;
      T* row = sum.data<T>() + r * columns;
      for (std::size_t c = 0; c < columns; ++c) row[c] = row[c] + vector[c];
    }
  });
  return sum;
}

}  // namespace

AblationStudy::AblationStudy(const models::LanguageModel& model, const kernels::Executor& executor,
                             const AblationText& text, Ablation& into)
    : model_(model), text_(text), into_(into), passes_(model, executor) {
  AblationWindows windows = ablation_windows(text_, into_.options);
  into_.starts = std::move(windows.measured);
  into_.reference_starts = std::move(windows.references);
  for (const Part& part : into_.parts) {
    any_positions_ = any_positions_ || part.without_positions;
    for (const Site& site : part.sites) {
      if (std::find(sites_.begin(), sites_.end(), site) == sites_.end()) sites_.push_back(site);
    }
  }
  if (any_positions_) prepare_positions();
  list_effects();
}

void AblationStudy::prepare_positions() {
  const models::Config& config = model_.config();
  if (positions_added(config)) {
    position_vectors_ = position_vectors(model_, passes_.executor(), into_.options.length);
    return;
  }
  if (!into_.options.positions.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("positions of kind {} stand between rows and cannot be taken away at some of them",
                            text_of(config.position)),
                {.key = "--at", .hint = "leave out --at or --positions"});
  }
  bare_.emplace(without_positions(model_));
  bare_passes_.emplace(*bare_, passes_.executor());
}

void AblationStudy::list_effects() {
  const std::size_t count = into_.parts.size();
  const auto add = [&](const std::vector<std::size_t>& parts) {
    for (const Substitute by : into_.options.by) into_.effects.push_back({.parts = parts, .by = by});
  };
  for (std::size_t a = 0; a < count; ++a) add({a});
  if (into_.options.pairs == Pairs::all) {
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = a + 1; b < count; ++b) add({a, b});
    }
  }
  const bool listed = count == 1 || (count == 2 && into_.options.pairs == Pairs::all);
  if (into_.options.together == Together::yes && !listed) {
    std::vector<std::size_t> all(count);
    for (std::size_t a = 0; a < count; ++a) all[a] = a;
    add(all);
  }
  for (Effect& effect : into_.effects) {
    if (bare_ && takes_positions(effect) && effect.by != Substitute::zero) {
      effect.undefined = fmt::format("positions of kind {} have no {}", text_of(model_.config().position),
                                     effect.by == Substitute::mean ? "mean" : "other to stand in for them");
    }
  }
}

bool AblationStudy::uses(Substitute by) const {
  return std::find(into_.options.by.begin(), into_.options.by.end(), by) != into_.options.by.end();
}

bool AblationStudy::takes_positions(const Effect& effect) const {
  return std::any_of(effect.parts.begin(), effect.parts.end(),
                     [&](std::size_t part) { return into_.parts[part].without_positions; });
}

bool AblationStudy::report(const Progress& progress, std::size_t passes) {
  done_ += passes;
  return !progress || progress(done_, planned_);
}

bool AblationStudy::run(const Progress& progress) {
  const std::size_t trials = static_cast<std::size_t>(
      std::count_if(into_.effects.begin(), into_.effects.end(), [](const Effect& e) { return e.undefined.empty(); }));
  const std::size_t donors = uses(Substitute::resample) && !sites_.empty() ? 1 : 0;
  const bool means = uses(Substitute::mean) && !sites_.empty();
  planned_ = into_.starts.size() * (1 + donors + trials) + (means ? into_.reference_starts.size() : 0);
  if (means && !take_means(progress)) return false;
  const std::size_t at_a_time = windows_at_a_time(into_.options.length);
  for (std::size_t first = 0; first < into_.starts.size(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, into_.starts.size() - first);
    const Windows now = windows(first, count);
    into_.losses.insert(into_.losses.end(), now.losses.begin(), now.losses.end());
    if (!report(progress, count * (1 + donors))) return false;
    for (Effect& effect : into_.effects) {
      if (!effect.undefined.empty()) continue;
      measure(effect, now);
      if (!report(progress, count)) return false;
    }
  }
  return true;
}

bool AblationStudy::take_means(const Progress& progress) {
  const std::span<const text::Token> tokens = into_.reference_apart ? text_.reference : text_.measured;
  const std::span<const std::size_t> starts = into_.reference_starts;
  std::vector<ColumnMeans> sums(sites_.size());
  const std::size_t at_a_time = windows_at_a_time(into_.options.length);
  data::Batch batch;
  for (std::size_t first = 0; first < starts.size(); first += at_a_time) {
    const std::size_t count = std::min(at_a_time, starts.size() - first);
    fill(tokens, starts.subspan(first, count), into_.options.length, batch);
    Reader reader(sites_);
    passes_.look(batch, reader);
    const std::vector<bool> rows = rows_at(batch, into_.options.positions);
    for (std::size_t s = 0; s < sites_.size(); ++s) sums[s].add(reader.values(s), rows);
    if (!report(progress, count)) return false;
  }
  for (const ColumnMeans& sum : sums) means_.push_back(sum.means(model_.parameters().dtype()));
  return true;
}

AblationStudy::Windows AblationStudy::windows(std::size_t first, std::size_t count) {
  Windows now{.first = first};
  const std::size_t length = into_.options.length;
  fill(text_.measured, std::span(into_.starts).subspan(first, count), length, now.batch);
  now.rows = rows_at(now.batch, into_.options.positions);
  Reader where(bare_ ? std::vector{first_site_of_positions(model_.config())} : std::vector<Site>{});
  now.losses = passes_.losses(now.batch, &where);
  if (bare_) now.where_positions = where.values(0);
  if (position_vectors_.defined()) now.tokens = token_vectors(model_, passes_.executor(), now.batch);
  if (!uses(Substitute::resample) || sites_.empty()) return now;
  std::vector<std::size_t> starts;
  for (std::size_t w = first; w < first + count; ++w) {
    starts.push_back(into_.reference_starts[donor_of(w, into_.reference_starts.size(), into_.options.seed)]);
  }
  data::Batch donors;
  fill(into_.reference_apart ? text_.reference : text_.measured, starts, length, donors);
  Reader reader(sites_);
  passes_.look(donors, reader);
  for (std::size_t s = 0; s < sites_.size(); ++s) now.donated.push_back(reader.values(s));
  return now;
}

void AblationStudy::measure(Effect& effect, const Windows& windows) {
  Writer writer(model_, passes_.executor(), replacements(effect, windows), windows.rows);
  std::vector<double> losses;
  if (bare_ && takes_positions(effect)) {
    Reader where({first_site_of_positions(model_.config())});
    Taps tap({&writer, &where});
    losses = bare_passes_->losses(windows.batch, &tap);
    effect.change += change_between(windows.where_positions, where.values(0));
  } else {
    losses = passes_.losses(windows.batch, &writer);
  }
  effect.change += writer.change();
  for (std::size_t w = 0; w < losses.size(); ++w) effect.differences.push_back(losses[w] - windows.losses[w]);
}

std::vector<Replacement> AblationStudy::replacements(const Effect& effect, const Windows& windows) const {
  std::vector<Replacement> list;
  for (const std::size_t part : effect.parts) {
    if (into_.parts[part].without_positions && position_vectors_.defined()) {
      const Site embedding{.path = "embedding"};
      list.push_back({.site = embedding, .values = embedding_by(effect.by, windows)});
    }
    for (const Site& site : into_.parts[part].sites) {
      Replacement replacement{.site = site};
      const auto s = static_cast<std::size_t>(std::find(sites_.begin(), sites_.end(), site) - sites_.begin());
      if (effect.by == Substitute::mean) replacement.values = means_[s];
      if (effect.by == Substitute::resample) replacement.values = windows.donated[s];
      list.push_back(std::move(replacement));
    }
  }
  return list;
}

Tensor AblationStudy::embedding_by(Substitute by, const Windows& windows) const {
  if (by == Substitute::zero) return windows.tokens;
  if (by == Substitute::mean) {
    ColumnMeans mean;
    mean.add(position_vectors_, {});
    return with_vectors(windows.tokens, mean.means(position_vectors_.dtype()), [](std::size_t) { return 0U; });
  }
  const std::size_t length = into_.options.length;
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < windows.batch.rows.samples(); ++w) {
    for (const std::size_t place : position_order(windows.first + w, length, into_.options.seed))
      order.push_back(place);
  }
  return with_vectors(windows.tokens, position_vectors_, [&](std::size_t r) { return order[r]; });
}

}  // namespace dikkat::inspect
