// Sizes of a tensor's axes, outermost first; at most kMaxRank of them, without allocation.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>

namespace dikkat {

inline constexpr std::size_t kMaxRank = 6;

class Shape {
 public:
  Shape() = default;
  // Error{internal} above kMaxRank.
  Shape(std::initializer_list<std::size_t> sizes);
  explicit Shape(std::span<const std::size_t> sizes);

  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::size_t operator[](std::size_t axis) const { return sizes_[axis]; }
  // Number of elements; 1 for rank 0. Error{limit} if it does not fit 2^62.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] const std::size_t* begin() const { return sizes_.data(); }
  [[nodiscard]] const std::size_t* end() const { return sizes_.data() + rank_; }
  // "(2,4,8,16)".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::size_t, kMaxRank> sizes_{};
  std::size_t rank_ = 0;
};

}  // namespace dikkat
