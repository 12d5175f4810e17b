// Pages to look at: of models through their taps, and of heads planted by hand, at any length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dikkat/inspect/page.h"
#include "dikkat/models/language_model.h"

namespace dikkat::testing {

// What a model of `config` (random weights, spread out) does with `tokens` random tokens; their texts are letters.
struct TappedPage {
  inspect::PageData data;
  std::vector<Tensor> patterns;  // (T,H,T) of each layer: the forward pass's own weights
};
[[nodiscard]] TappedPage tapped_page(const models::Config& config, std::size_t tokens,
                                     const kernels::Executor& executor);

// `layers` x `heads` heads of width 64 over the letters of `text`, repeated up to `tokens` of them, the last eighth
// marked as generated. Each head looks in its own way: at the token before, itself, the first, the same letter, what
// followed the same letter, near by, far off, everywhere.
[[nodiscard]] inspect::PageData planted_page(const std::vector<std::string>& text, std::size_t tokens,
                                             std::size_t layers, std::size_t heads);

// The letters (code points) of a text.
[[nodiscard]] std::vector<std::string> letters_of(const std::string& text);

}  // namespace dikkat::testing
