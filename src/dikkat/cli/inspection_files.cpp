#include "dikkat/cli/inspection_files.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "dikkat/cli/csv.h"
#include "dikkat/text/utf8.h"

namespace dikkat::cli {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;

std::string pattern_name(std::size_t layer) { return fmt::format("blocks.{}.attention.pattern", layer); }

void add_tokens(formats::NpzWriter& npz, const std::vector<inspect::TokenLabel>& labels) {
  std::vector<std::int32_t> tokens;
  std::vector<std::string> texts;
  std::vector<std::uint8_t> generated;
  for (const inspect::TokenLabel& label : labels) {
    tokens.push_back(static_cast<std::int32_t>(label.token));
    texts.push_back(label.text);
    generated.push_back(label.generated ? 1 : 0);
  }
  npz.add("tokens", formats::NpyNumber::i32, std::span<const std::int32_t>(tokens));
  npz.add_texts("texts", texts);
  npz.add("generated", formats::NpyNumber::boolean, std::span<const std::uint8_t>(generated));
}

}  // namespace

NpzFile::NpzFile(const std::string& path, const InspectedRun& run, const Subject& subject)
    : subject_(subject), number_(formats::npy_number(run.dtype)), heads_(run.model.heads), npz_(path) {
  if (run.of_series()) {
    npz_.add("readings", subject.readings);
  } else {
    add_tokens(npz_, subject.labels);
  }
}

void NpzFile::begin_layer(std::size_t layer) {
  const std::size_t rows = subject_.rows();
  const inspect::HeadRange heads = subject_.choice.heads;
  if (subject_.choice.one_head(heads_)) {
    npz_.begin(fmt::format("{}.{}", pattern_name(layer), heads.first), {.number = number_, .shape = {rows, rows}});
  } else {
    npz_.begin(pattern_name(layer), {.number = number_, .shape = {rows, heads.last - heads.first, rows}});
  }
}

void NpzFile::take(const inspect::MapRows& rows) { npz_.write({rows.weights.raw(), rows.weights.bytes()}); }

void NpzFile::end_layer() { npz_.end(); }

void NpzFile::take(const std::string& path, const Tensor& activation) { npz_.add(path, activation); }

CsvFile::CsvFile(const std::string& path, Content content, const Subject& subject) : subject_(subject), file_(path) {
  add(content == Content::maps ? "layer,head,query,query_token,key,key_token,weight\n"
                               : "path,row,token,index,value\n");
  for (const inspect::TokenLabel& label : subject.labels) tokens_.push_back(csv_field(label.text));
}

void CsvFile::take(const inspect::MapRows& rows) {
  const std::size_t tokens = subject_.rows();
  const std::size_t heads = rows.weights.shape()[1];
  for (std::size_t i = 0; i < rows.weights.shape()[0]; ++i) {
    const std::size_t query = rows.first_row + i;
    const kernels::KeyRange visible = subject_.rule.mask.visible(query, tokens);
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t key = visible.begin; key < visible.end; ++key) {
        add(fmt::format("{},{},{},{},{},{},{}\n", rows.layer, rows.first_head + h, query, tokens_[query], key,
                        tokens_[key], shortest(rows.weights, (i * heads + h) * tokens + key)));
      }
    }
  }
}

void CsvFile::take(const std::string& path, const Tensor& activation) {
  const std::size_t rows = activation.shape()[0];
  const std::size_t width = activation.count() / rows;
  const bool ours = rows == tokens_.size();
  for (std::size_t i = 0; i < activation.count(); ++i) {
    const std::size_t row = i / width;
    add(fmt::format("{},{},{},{},{}\n", path, row, ours ? tokens_[row] : "", i % width, shortest(activation, i)));
  }
}

void CsvFile::add(std::string_view text) {
  pending_ += text;
  if (pending_.size() < kPiece) return;
  file_.write(pending_);
  pending_.clear();
}

void CsvFile::finish() {
  file_.write(pending_);
  file_.finish();
}

void JsonMaps::begin_layer(std::size_t) { layer_.clear(); }

void JsonMaps::take(const inspect::MapRows& rows) {
  const std::size_t heads = rows.weights.shape()[1];
  const std::size_t keys = rows.weights.shape()[2];
  layer_.resize(heads, Json::array());
  for (std::size_t i = 0; i < rows.weights.shape()[0]; ++i) {
    for (std::size_t h = 0; h < heads; ++h) {
      Json row = Json::array();
      for (std::size_t key = 0; key < keys; ++key) row.push(json_number(rows.weights, (i * heads + h) * keys + key));
      layer_[h].push(std::move(row));
    }
  }
}

void JsonMaps::end_layer() {
  for (Json& map : layer_) maps_.push_back(std::move(map));
}

// By way of the shortest decimals of its own kind: 0.1 of 32 bits is written 0.1, not 0.10000000149011612.
Json json_number(const Tensor& contiguous, std::size_t index) {
  return with_number(contiguous.dtype(), [&]<class T>() {
    const T value = contiguous.data<T>()[index];
    if (!std::isfinite(value)) return Json();
    const auto read = real_from(fmt::format("{}", value));
    return Json(read ? *read : static_cast<double>(value));
  });
}

}  // namespace dikkat::cli
