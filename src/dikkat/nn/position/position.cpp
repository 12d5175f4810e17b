#include "dikkat/nn/position/position.h"

namespace dikkat::nn {

std::unique_ptr<Position> make_position(PositionKind kind, ParameterStore& store, const PositionOptions& options) {
  switch (kind) {
    case PositionKind::none: return std::make_unique<Position>();
    case PositionKind::learned: return learned_position(store, options);
    case PositionKind::sinusoidal: return sinusoidal_position(options);
    case PositionKind::sinusoidal_one: return single_sinusoid_position(options);
    case PositionKind::rotary: return rotary_position(options);
    case PositionKind::alibi: return alibi_position(options);
  }
  return nullptr;
}

}  // namespace dikkat::nn
