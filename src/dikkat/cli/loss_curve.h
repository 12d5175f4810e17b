// A small picture of a training in plain characters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dikkat::cli {

struct LossCurve {
  std::uint64_t first_step = 1;
  std::vector<double> training;                                   // one a step, from first_step on
  std::vector<std::pair<std::uint64_t, double>> validation = {};  // step, loss
};

// '*' is the mean training loss of a column's steps, 'o' the validation loss. Empty when there is less than two steps
// to show or a value that is not finite.
//
//   4.21 |*
//        | *
//   1.92 |  ***oo
//        +-------
//         1   600
[[nodiscard]] std::string drawn(const LossCurve& curve, std::size_t width, std::size_t height);

}  // namespace dikkat::cli
