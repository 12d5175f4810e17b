// Which heads dikkat inspect is asked for, and who takes what the one forward pass shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dikkat/cli/arguments.h"
#include "dikkat/inspect/attention_maps.h"
#include "dikkat/models/config.h"

namespace dikkat::cli {

// --layer and --head.
struct HeadChoice {
  std::vector<std::size_t> layers;  // ascending
  inspect::HeadRange heads;         // all of them, or one
  bool given = false;               // whether anything was chosen

  [[nodiscard]] bool one_head(std::size_t of) const { return heads.last - heads.first == 1 && of > 1; }
  [[nodiscard]] std::size_t count() const { return layers.size() * (heads.last - heads.first); }
};
// Error{usage} for a layer or head that the model does not have, with the nearest.
[[nodiscard]] HeadChoice head_choice(const Arguments& arguments, const models::Config& config);

// Takes the maps of the chosen heads: layer after layer, rows ascending.
class MapSink {
 public:
  virtual ~MapSink() = default;
  virtual void begin_layer(std::size_t /*layer*/) {}
  virtual void take(const inspect::MapRows& rows) = 0;
  virtual void end_layer() {}
};

// Takes the chosen activations in the order of the pass; they are contiguous, and gone afterwards.
class ActivationSink {
 public:
  virtual ~ActivationSink() = default;
  virtual void take(const std::string& path, const Tensor& activation) = 0;
};

// One number of a weight or an activation, as short as it can be without reading back as another.
[[nodiscard]] std::string shortest(const Tensor& contiguous, std::size_t index);

}  // namespace dikkat::cli
