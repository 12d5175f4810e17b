// One self-contained HTML page of attention maps: it asks the network for nothing, runs no code but its own (a content
// security policy with the hashes of its one script and one style) and shows every token as text.
//
// What it stores, for each head shown: q (T,D) and, once for each group, k (T,D), as 32-bit floats without loss (see
// page_floats.h); for each row the maximum m and the sum Z of the forward pass; a thumbnail of at most 128 x 128 block
// maxima; and a few facts. The browser computes the rows and columns that are looked at by the formula of
// kernels/attention.h, s = (fma chain of q and k) * scale [+ slope * -|i - j|] in 32-bit floats, then
// p = exp(s - m) / Z in double. The page's foot states the largest difference between those and the weights of the
// forward pass, measured here on the rows checked.
//
// Size of the file: about 4.6 bytes for each number of q and k (base64 of 27.6 bits; random weights of head width 64,
// 16 heads, 4,096 tokens: 37 MiB), 11 for each row of each head, 22 KiB for each thumbnail.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dikkat/kernels/executor.h"
#include "dikkat/kernels/mask.h"
#include "dikkat/tensor/tensor.h"

namespace dikkat::inspect {

struct PageToken {
  std::string text;        // any bytes: what is no UTF-8 is shown as hexadecimal bytes, what is invisible by its name
  bool generated = false;  // written by the model, not by its user
};

struct PageLayer {
  std::size_t number = 0;  // I of blocks.I
  Tensor q;                // (T,H,D), what the tap shows as blocks.I.attention.q (after rotation), cloned; f32 or f64
  Tensor k;                // (T,G,D), likewise; G divides H
  std::vector<std::size_t> heads;  // which of the H to show, ascending; empty: all
};

// A line about the model or the text, such as {"weights", "sha256 ..."}. Shown as text, in order.
struct PageFact {
  std::string name;
  std::string value;
};

struct PageData {
  std::string title;              // what the page is about, such as the run's name
  std::vector<PageToken> tokens;  // (T), at least one
  std::vector<PageLayer> layers;  // those to show, at least one; H, G, D and T are the same in all
  kernels::Mask mask = {};
  double scale = 1.0;          // on q k, usually 1 / sqrt(D)
  std::vector<double> slopes;  // (H) of ALiBi; empty: none
  // (steps, channels) f64: the readings of a series, whose steps the tokens are then (the model's extra rows follow
  // them). Undefined: text.
  Tensor readings = {};
  std::vector<PageFact> facts;  // weights, source of the text, window of it, settings, version of the program
};

// Error{internal} where shapes do not fit, Error{incompatible} where there is no layer or no token, Error{limit} where
// q and k to be stored would exceed kLargestPageNumbers (choose fewer layers or heads).
[[nodiscard]] std::string html_page(const PageData& data, const kernels::Executor& executor);

inline constexpr std::size_t kLargestPageNumbers = std::size_t{64} << 20U;  // 64 Mi floats, about 300 MB of file

}  // namespace dikkat::inspect
