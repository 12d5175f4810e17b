#include "dikkat/inspect/ablation_positions.h"

#include <array>

#include "dikkat/base/error.h"
#include "dikkat/nn/position/position.h"
#include "dikkat/ops/embedding.h"

namespace dikkat::inspect {

using models::PositionKind;

bool positions_added(const models::Config& config) {
  return config.position == PositionKind::learned || config.position == PositionKind::sinusoidal ||
         config.position == PositionKind::sinusoidal_one;
}

models::LanguageModel without_positions(const models::LanguageModel& model) {
  models::Config config = model.config();
  config.position = PositionKind::none;
  models::LanguageModel bare(config, model.parameters().dtype(), nn::ParameterStore::Gradients::none);
  for (const nn::Parameter* parameter : bare.parameters().in_path_order()) {
    parameter->value().assign(model.parameters().find(parameter->path())->value());
  }
  return bare;
}

Site first_site_of_positions(const models::Config& config) {
  if (positions_added(config)) return {.path = "embedding"};
  return {.path = config.position == PositionKind::rotary ? "blocks.0.attention.q" : "blocks.0.attention.pattern"};
}

Tensor position_vectors(const models::LanguageModel& model, const kernels::Executor& executor, std::size_t length) {
  const models::Config& config = model.config();
  if (!positions_added(config)) throw Error(ErrorKind::internal, "positions are not added to the embedding");
  const DType dtype = model.parameters().dtype();
  nn::ParameterStore store;
  const auto position = nn::make_position(config.position, store, {.context = config.context, .width = config.width});
  store.allocate(dtype, nn::ParameterStore::Gradients::none);
  for (const nn::Parameter* parameter : store.in_path_order()) {
    parameter->value().assign(model.parameters().find(parameter->path())->value());
  }
  position->prepare(executor, dtype);
  kernels::Rows rows;
  rows.lay_out(std::array{length}, length);
  Context context{.executor = executor, .memory = heap(), .rows = &rows};
  return position->add_to_embedding(context, Variable{Tensor::zeros({length, config.width}, dtype)}).value;
}

Tensor token_vectors(const models::LanguageModel& model, const kernels::Executor& executor, const data::Batch& batch) {
  Context context{.executor = executor, .memory = heap(), .rows = &batch.rows};
  const Variable table{model.parameters().find("token_embedding.weight")->value()};
  return ops::embedding(context, table, batch.inputs).value;
}

}  // namespace dikkat::inspect
