#include "dikkat/nn/position/position.h"

namespace dikkat::nn {

std::unique_ptr<Position> no_position() { return std::make_unique<Position>(); }

}  // namespace dikkat::nn
