#include "dikkat/train/language_objective.h"

#include <algorithm>

#include "dikkat/kernels/cross_entropy.h"
#include "dikkat/ops/cross_entropy.h"

namespace dikkat::train {

WindowSource::WindowSource(std::span<const text::Token> tokens, std::size_t context, std::uint64_t seed)
    : tokens_(tokens), context_(context), sampler_(random::stream(seed, "sampler")) {}

void WindowSource::fill(std::uint64_t t, std::size_t first, std::size_t count, data::Batch& batch) {
  data::training_batch(tokens_, context_, sampler_, t, first, count, batch);
}

std::uint64_t WindowSource::start_of(std::uint64_t t, std::size_t sample) const {
  return data::window_start(tokens_.size() - context_, sampler_, t, sample);
}

Drawn LanguageObjective::draw(std::size_t place, std::uint64_t t, std::size_t first, std::size_t count) {
  if (batches_.size() <= place) batches_.resize(place + 1);
  data::Batch& batch = batches_[place];
  source_.fill(t, first, count, batch);
  const auto counts = [](std::int32_t id) { return id != kernels::kNoTarget; };
  return {.rows = &batch.rows,
          .losses = batch.inputs.size(),
          .targets = static_cast<std::size_t>(std::count_if(batch.targets.begin(), batch.targets.end(), counts))};
}

Tensor LanguageObjective::losses(Context& context, std::size_t place, double gradient_scale) {
  const data::Batch& batch = batches_[place];
  const Variable logits = model_.forward(context, batch.inputs);
  return ops::cross_entropy(context, logits, batch.targets, gradient_scale);
}

}  // namespace dikkat::train
