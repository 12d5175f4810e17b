// A second opinion on paired differences that assumes no distribution, only that without a difference each would as
// well have had the other sign (Fisher 1935).
#pragma once

#include <span>

namespace dikkat::stats {

// The share of all choices of signs under which |sum| is at least as large as it is (what rounding could make of a tie
// counts as one). All 2^m of them for up to 20 differences that are not zero; up to 2,000, 99,999 draws that are always
// the same and the data itself: (1 + hits) / 100,000; beyond, the normal limit, erfc(|sum| / sqrt(2 sum of squares)). 1
// where all are zero, or there are none.
[[nodiscard]] double sign_flip_p(std::span<const double> differences);

}  // namespace dikkat::stats
