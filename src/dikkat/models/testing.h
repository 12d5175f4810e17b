// What tests of whole models share: small models out of the whole menu, batches whose samples depend on nothing but
// their number, one pass forward and backward, and comparison to the bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dikkat/autograd/tape.h"
#include "dikkat/data/batch.h"
#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/models/language_model.h"
#include "dikkat/ops/cross_entropy.h"

namespace dikkat::models::testing {

struct Named {
  std::string name;
  Config config;
};

// Every option once at least; odd widths; dropout at every place.
inline const std::vector<Named>& menu() {
  static const std::vector<Named> all = {
      {"learned_tied",
       {.vocabulary = 23,
        .context = 17,
        .width = 20,
        .layers = 2,
        .heads = 4,
        .dropout = 0.2,
        .attention_dropout = 0.1}},
      {"rotary_grouped_window",
       {.vocabulary = 19,
        .context = 17,
        .width = 12,
        .layers = 2,
        .heads = 4,
        .kv_heads = 2,
        .head_width = 6,
        .mlp_width = 21,
        .norm = NormKind::rms,
        .activation = Activation::silu,
        .position = PositionKind::rotary,
        .window = 5,
        .output = OutputKind::free,
        .attention_bias = true,
        .output_bias = true,
        .dropout = 0.3}},
      {"alibi_one_key_head",
       {.vocabulary = 31,
        .context = 17,
        .width = 7,
        .layers = 2,
        .heads = 6,
        .kv_heads = 1,
        .head_width = 1,
        .norm = NormKind::none,
        .activation = Activation::swiglu,
        .position = PositionKind::alibi,
        .direction = Direction::bidirectional,
        .mlp_bias = true,
        .output_bias = true,
        .attention_dropout = 0.25}},
      {"sinusoidal_post",
       {.vocabulary = 9,
        .context = 17,
        .width = 15,
        .layers = 1,
        .heads = 3,
        .placement = Placement::post,
        .activation = Activation::gelu_tanh,
        .position = PositionKind::sinusoidal,
        .norm_bias = true,
        .dropout = 0.5}},
      {"one_sinusoid_no_residuals",
       {.vocabulary = 9,
        .context = 17,
        .width = 18,
        .layers = 2,
        .heads = 6,
        .activation = Activation::relu,
        .position = PositionKind::sinusoidal_one,
        .direction = Direction::bidirectional,
        .window = 2,
        .output = OutputKind::free,
        .norm_bias = true,
        .mlp_bias = true,
        .residuals = Residuals::off,
        .dropout = 0.1,
        .init = InitKind::book}},
      {"no_position_long",
       {.vocabulary = 65,
        .context = 150,
        .width = 48,
        .layers = 1,
        .heads = 3,
        .position = PositionKind::none,
        .dropout = 0.1}},
  };
  return all;
}

// Samples [first, first + lengths.size()) of a step: the tokens of a sample are a function of its number.
inline data::Batch batch_of(const Config& config, const std::vector<std::size_t>& lengths, std::size_t first = 0) {
  data::Batch batch;
  batch.lengths = lengths;
  const random::Stream stream = random::stream(11, "test tokens");
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    const auto token = [&](std::size_t t) {
      return random::below(stream, {static_cast<std::uint32_t>(first + b), static_cast<std::uint32_t>(t), 0, 0},
                           config.vocabulary);
    };
    for (std::size_t t = 0; t < lengths[b]; ++t) {
      batch.inputs.push_back(static_cast<text::Token>(token(t)));
      batch.targets.push_back(static_cast<std::int32_t>(token(t + 1)));
    }
  }
  batch.rows.lay_out(lengths, config.context, first);
  return batch;
}

// Values with spread, gains and biases included, so that no parameter stands at a special value.
template <class Model>
void spread(const Model& model, const kernels::Executor& executor, std::uint64_t seed) {
  model.initialise(executor, seed);
  for (const nn::Parameter* parameter : model.parameters().in_path_order()) {
    with_number(parameter->value().dtype(), [&]<class T>() {
      const random::Stream stream = random::stream(seed, "test spread", parameter->path());
      std::uint32_t i = 0;
      for (T& value : parameter->value().span<T>())
        value += static_cast<T>(0.8 * random::uniform(stream, {i++, 0, 0, 0}) - 0.4);
    });
  }
}

inline double scale_of(const data::Batch& batch) {
  const auto none = std::count(batch.targets.begin(), batch.targets.end(), kernels::kNoTarget);
  const auto valid = static_cast<std::ptrdiff_t>(batch.targets.size()) - none;
  return 1.0 / static_cast<double>(std::max<std::ptrdiff_t>(valid, 1));
}

struct Pass {
  Tensor logits;  // (R,V)
  Tensor losses;  // (R)
  std::vector<std::pair<std::string, Tensor>> gradients;
};

inline Context context_of(const kernels::Executor& executor, const data::Batch& batch, Mode mode) {
  return {.executor = executor, .memory = heap(), .rows = &batch.rows, .mode = mode, .seed = 3, .step = 5};
}

// Forward and backward of one micro-batch; its gradients are added to what the model holds.
inline void add_pass(const LanguageModel& model, Context context, const data::Batch& batch, double scale, Pass& pass) {
  Tape tape;
  context.tape = &tape;
  {
    const Variable logits = model.forward(context, batch.inputs);
    pass.logits = logits.value.clone();
    pass.losses = ops::cross_entropy(context, logits, batch.targets, scale);
  }
  tape.backward(context);
}

template <class Model>
void take_gradients(const Model& model, const kernels::Executor& executor, Pass& pass) {
  model.parameters().finish_gradients(executor);
  for (const nn::Parameter* parameter : model.parameters().in_path_order()) {
    pass.gradients.emplace_back(parameter->path(), parameter->gradient().clone());
  }
}

inline Pass pass_over(const LanguageModel& model, const Context& context, const data::Batch& batch) {
  Pass pass;
  model.parameters().zero_gradients();
  add_pass(model, context, batch, scale_of(batch), pass);
  take_gradients(model, context.executor, pass);
  return pass;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor left = a.clone();
  const Tensor right = b.clone();
  return std::memcmp(left.raw(), right.raw(), left.bytes()) == 0;
}

// "" or what differs.
inline std::string difference(const Pass& a, const Pass& b) {
  if (!same_bits(a.logits, b.logits)) return "logits";
  if (!same_bits(a.losses, b.losses)) return "losses";
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    if (!same_bits(a.gradients[i].second, b.gradients[i].second)) return "gradient of " + a.gradients[i].first;
  }
  return "";
}

}  // namespace dikkat::models::testing
