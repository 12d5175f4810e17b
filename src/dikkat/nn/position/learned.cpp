#include "dikkat/nn/position/position.h"
#include "dikkat/ops/add.h"
#include "dikkat/ops/embedding.h"

namespace dikkat::nn {
namespace {

class Learned final : public Position {
 public:
  Learned(ParameterStore& store, const PositionOptions& options)
      : table_(&store.add("position_embedding.weight", {options.context, options.width}, options.learned)) {}

  Variable add_to_embedding(Context& context, const Variable& x) const override {
    return ops::add(context, x, ops::embedding(context, table_->use(context), context.rows->position));
  }

 private:
  Parameter* table_;
};

}  // namespace

std::unique_ptr<Position> learned_position(ParameterStore& store, const PositionOptions& options) {
  return std::make_unique<Learned>(store, options);
}

}  // namespace dikkat::nn
