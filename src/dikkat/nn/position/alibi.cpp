#include <bit>
#include <cmath>
#include <vector>

#include "dikkat/nn/position/position.h"

namespace dikkat::nn {
namespace {

// 2^(-8 h / count) for h = 1..count; exact: every factor is a power of two or a square root of one, by sqrt alone, so
// that no library's pow enters.
std::vector<double> geometric_slopes(std::size_t count) {
  // ratio = 2^(-8 / count) by repeated square roots of 2^-8.
  double ratio = 0x1.0p-8;
  for (std::size_t n = 1; n < count; n *= 2) ratio = std::sqrt(ratio);
  std::vector<double> slopes(count);
  double slope = 1.0;
  for (double& s : slopes) s = slope *= ratio;
  return slopes;
}

class Alibi final : public Position {
 public:
  explicit Alibi(std::size_t heads) : slopes_(geometric_slopes(std::bit_floor(heads))) {
    const std::size_t lower = slopes_.size();
    const std::vector<double> finer = geometric_slopes(2 * lower);
    for (std::size_t i = 0; slopes_.size() < heads; i += 2) slopes_.push_back(finer[i]);
  }

  std::span<const double> slopes() const override { return slopes_; }

 private:
  std::vector<double> slopes_;
};

}  // namespace

std::unique_ptr<Position> alibi_position(const PositionOptions& options) {
  return std::make_unique<Alibi>(options.heads);
}

}  // namespace dikkat::nn
