// A stream of bytes, shown piece by piece: whole characters only, ended by the first stop string, no part of which is
// ever shown.
//
// The first stop string is the one complete first, the longest if several end at the same byte; so where a token ends
// does not matter. Bytes that are not UTF-8 pass as they are.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dikkat::generate {

class TextStream {
 public:
  // Error{usage} for an empty stop string.
  explicit TextStream(std::span<const std::string> stops);

  // Takes bytes and returns what can be shown now; valid until the next call. Once a stop string is complete this is
  // all before it, and later bytes are ignored.
  [[nodiscard]] std::string_view add(std::string_view bytes);
  // The rest, when no more bytes come: what might have become a stop string or a character.
  [[nodiscard]] std::string_view finish();
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  void forget_shown();
  [[nodiscard]] std::size_t complete_stop() const;
  [[nodiscard]] std::size_t beginning_of_a_stop() const;

  std::vector<std::string> stops_;
  std::string held_;
  std::size_t shown_ = 0;  // bytes of held_ that the last call returned
  bool stopped_ = false;
};

}  // namespace dikkat::generate
