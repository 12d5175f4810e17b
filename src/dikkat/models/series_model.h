// The series model: a series of numbers in, logits of its class or one number out.
//
//   x = input map (or the channels as they are) (+ positions), dropout;  x = block(x) for each block;
//   out = output(pooling(norm(x)))
//
// Its blocks, norms and positions are those of the language model; layers may be 0 (the lesson on heads is such a
// model).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"
#include "dikkat/models/config.h"
#include "dikkat/nn/parameter.h"

namespace dikkat::models {

class SeriesModel {
 public:
  // Checks the config (Error{usage}); its task is classify or regress. Values are zero until initialised or loaded.
  SeriesModel(const Config& config, DType dtype, nn::ParameterStore::Gradients gradients);
  ~SeriesModel();
  SeriesModel(SeriesModel&&) noexcept;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const nn::ParameterStore& parameters() const { return parameters_; }
  void initialise(const kernels::Executor& executor, std::uint64_t seed) const {
    parameters_.initialise(executor, seed);
  }
  // Rows a sample has beyond its steps (class token): lay the rows out with them, their inputs zero, and with a context
  // of config().context + extra_rows().
  [[nodiscard]] std::size_t extra_rows() const;

  // values (R, channels), laid out as context.rows says -> (B, outputs): logits (one for two classes: that of the
  // second), or the number. Parameters: input.weight (channels, C), position_embedding.weight, blocks.*, final_norm.*,
  // pooling.*, output.weight (pooled, outputs), output.bias. Shown at the tap besides the blocks: embedding,
  // final_norm, pooling.*, pooled (B, pooled), outputs (B, outputs).
  [[nodiscard]] Variable forward(Context& context, const Tensor& values) const;

 private:
  struct Parts;

  [[nodiscard]] Variable read_out(Context& context, const Variable& pooled) const;

  Config config_;
  nn::ParameterStore parameters_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace dikkat::models
