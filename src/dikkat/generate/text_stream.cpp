#include "dikkat/generate/text_stream.h"

#include <algorithm>

#include "dikkat/base/error.h"
#include "dikkat/text/utf8.h"

namespace dikkat::generate {

TextStream::TextStream(std::span<const std::string> stops) : stops_(stops.begin(), stops.end()) {
  if (std::find(stops_.begin(), stops_.end(), "") == stops_.end()) return;
  throw Error(ErrorKind::usage, "a stop string is empty, which would end every text before it begins",
              {.key = "stop", .hint = "leave the empty stop string out"});
}

std::string_view TextStream::add(std::string_view bytes) {
  forget_shown();
  for (std::size_t i = 0; i < bytes.size() && !stopped_; ++i) {
    held_ += bytes[i];
    const std::size_t stop = complete_stop();
    held_.resize(held_.size() - stop);
    stopped_ = stop > 0;
  }
  if (stopped_) return finish();
  const std::string_view safe(held_.data(), held_.size() - beginning_of_a_stop());
  shown_ = text::whole_characters(safe);
  return safe.substr(0, shown_);
}

std::string_view TextStream::finish() {
  forget_shown();
  shown_ = held_.size();
  return held_;
}

void TextStream::forget_shown() {
  held_.erase(0, shown_);
  shown_ = 0;
}

// Length of the longest stop string that held_ ends with; 0 for none.
std::size_t TextStream::complete_stop() const {
  std::size_t longest = 0;
  for (const std::string& stop : stops_) {
    if (held_.ends_with(stop)) longest = std::max(longest, stop.size());
  }
  return longest;
}

// Length of the longest end of held_ that a stop string begins with; 0 for none.
std::size_t TextStream::beginning_of_a_stop() const {
  std::size_t longest = 0;
  for (const std::string_view stop : stops_) {
    for (std::size_t length = std::min(stop.size() - 1, held_.size()); length > longest; --length) {
      if (std::string_view(held_).ends_with(stop.substr(0, length))) longest = length;
    }
  }
  return longest;
}

}  // namespace dikkat::generate
