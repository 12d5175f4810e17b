#include "dikkat/data/series_source.h"

#include <utility>

#include "dikkat/data/corpus.h"
#include "dikkat/text/utf8.h"

namespace dikkat::data {
namespace {

constexpr std::size_t kPiece = std::size_t{8} << 20U;

bool begins_as_utf16(std::string_view raw) { return raw.starts_with("\xFF\xFE") || raw.starts_with("\xFE\xFF"); }

}  // namespace

SeriesSource::SeriesSource(const std::filesystem::path& path) {
  if (path == "-") {
    name_ = "standard input";
    read_ = read_standard_input(kLargestStandardInput);
  } else {
    name_ = path.string();
    mapped_.emplace(path);
  }
  begin();
}

SeriesSource::SeriesSource(std::string bytes, std::string name) : name_(std::move(name)), read_(std::move(bytes)) {
  begin();
}

void SeriesSource::begin() {
  if (begins_as_utf16(raw())) {
    std::string buffer;
    (void)text::clean_text(raw().substr(0, 4), buffer, name_);  // refuses it by name
  }
  if (raw().starts_with("\xEF\xBB\xBF")) mark_ = 3;
}

void SeriesSource::read_to(std::size_t at) {
  const std::size_t end = mark_ + at;
  if (end < hashed_ + kPiece) return;
  hash_.update(raw().substr(hashed_, end - hashed_));
  hashed_ = end;
  if (mapped_) mapped_->let_go(end);
}

std::string SeriesSource::fingerprint() {
  hash_.update(raw().substr(hashed_));
  hashed_ = raw().size();
  return hash_.hex();
}

}  // namespace dikkat::data
