// The parts of a model that can be taken away or exchanged, by name, and where in the forward pass each is found.
//
//   head 1.3              columns 3D to 4D of blocks.1.attention.mixed: what head 3 of block 1 hands to the output
//                         projection
//   block 1.attention     blocks.1.attention.out: what attention adds to the stream (or, without residuals, is)
//   block 1.mlp           blocks.1.mlp.out: what the MLP adds
//   block 1               both of them; what is left of the block is the stream that runs past it (and, post-norm, its
//                         norms)
//   residual 1.attention  the residual connection around attention: x in x + attention(x); taken away, attention(x) is
//                         left
//   residual 1.mlp        the one around the MLP
//   positions             all the model knows of positions: by zero, the same weights in a model of position `none`
//   blocks.1.mlp.post     or any other path of nn/tap.h: that activation, whole
//
// A name is the word of the option that takes it, after the option's own in the singular.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/models/config.h"

namespace dikkat::inspect {

// Columns [first, first + count) of an activation seen as (R, columns), that is with everything but its rows in one
// axis; count 0 means all.
struct Site {
  // activation: the activation itself. carried: the x of x + sublayer(x), where x is the activation (residual_pre for
  // attention, residual_mid for the MLP); the sublayer itself still sees x.
  enum class Kind : std::uint8_t { activation, carried };
  std::string path;
  std::size_t first = 0;
  std::size_t count = 0;
  Kind kind = Kind::activation;

  friend bool operator==(const Site&, const Site&) = default;
};

enum class PartKind : std::uint8_t { head, attention, mlp, block, skip, positions, activation };

struct Part {
  std::string name;
  PartKind kind = PartKind::activation;
  std::size_t layer = 0;
  std::size_t head = 0;            // of a head
  std::vector<Site> sites = {};    // none for positions
  bool without_positions = false;  // the pass is one of the model without positions

  friend bool operator==(const Part&, const Part&) = default;
};

// Several parts as one.
[[nodiscard]] Part together(const std::vector<Part>& parts, std::string name);

// By what people write: "1.3"; "1", "1.attention" or "1.mlp"; "1.attention" or "1.mlp"; a path. Each refuses what the
// model does not have with Error{usage}, naming what it has and the nearest; skip_named also a model without residual
// connections, positions_of one without positions.
[[nodiscard]] Part head_named(const models::Config& config, std::string_view name);
[[nodiscard]] Part block_named(const models::Config& config, std::string_view name);
[[nodiscard]] Part skip_named(const models::Config& config, std::string_view name);
[[nodiscard]] Part activation_named(const models::Config& config, std::string_view path);
[[nodiscard]] Part positions_of(const models::Config& config);

// All of a kind, in order.
[[nodiscard]] std::vector<Part> all_heads(const models::Config& config);
[[nodiscard]] std::vector<Part> all_blocks(const models::Config& config);
[[nodiscard]] std::vector<Part> all_skips(const models::Config& config);

// Every path the language model of this configuration shows, in the order of the pass.
[[nodiscard]] std::vector<std::string> activation_paths(const models::Config& config);

}  // namespace dikkat::inspect
