#include "dikkat/nn/position/position.h"
#include "dikkat/ops/add.h"
#include "dikkat/ops/embedding.h"

namespace dikkat::nn {
namespace {

class Learned final : public Position {
 public:
  Learned(ParameterStore& store, PositionShape shape, Init init)
      : table_(&store.add("position_embedding.weight", {shape.context, shape.width}, init)) {}

  Variable add_to_embedding(Context& context, const Variable& x) const override {
    return ops::add(context, x, ops::embedding(context, table_->use(context), context.rows->position));
  }

 private:
  Parameter* table_;
};

}  // namespace

std::unique_ptr<Position> learned_position(ParameterStore& store, PositionShape shape, Init init) {
  return std::make_unique<Learned>(store, shape, init);
}

}  // namespace dikkat::nn
