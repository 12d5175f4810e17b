// What the lens saw, as people read it and as programs do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dikkat/base/json.h"
#include "dikkat/inspect/lens.h"
#include "dikkat/text/tokenizer.h"

namespace dikkat::cli {

struct LensSubject {
  std::vector<inspect::LensReading> readings;
  std::vector<text::Token> tokens;
  const text::Tokenizer& tokenizer;
  std::size_t first = 0;  // number of the first token in the whole text
};

enum class LensPoints : std::uint8_t { blocks, all };

// A line a position, a column a point, in so many columns of the terminal; points that do not fit are left out from the
// front, with a line that says so.
[[nodiscard]] std::string lens_table(const LensSubject& subject, LensPoints points, std::size_t columns);
// A line a point: mean loss, how often its best guess is the true next token, the median rank of that token.
[[nodiscard]] std::string lens_summary(const LensSubject& subject);
// position,token,next,point,path,top,top_probability,rank,probability,loss_nats
[[nodiscard]] std::string lens_csv(const LensSubject& subject);
[[nodiscard]] Json lens_json(const LensSubject& subject);

// losses (points, windows)
[[nodiscard]] std::string lens_losses_table(const std::vector<inspect::LensPoint>& points,
                                            const std::vector<std::vector<double>>& losses);
[[nodiscard]] Json lens_losses_json(const std::vector<inspect::LensPoint>& points,
                                    const std::vector<std::vector<double>>& losses);

}  // namespace dikkat::cli
