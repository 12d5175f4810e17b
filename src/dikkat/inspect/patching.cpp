#include "dikkat/inspect/patching.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dikkat/base/error.h"
#include "dikkat/inspect/readout.h"

namespace dikkat::inspect {
namespace {

void check(const models::Config& config, const PatchQuestion& question, const std::vector<Patch>& patches) {
  const std::size_t length = question.into.size();
  if (question.from.size() != length) {
    throw Error(ErrorKind::usage,
                fmt::format("the texts are of {} and {} tokens: rows of one cannot take the place of the other's",
                            length, question.from.size()),
                {.hint = "give two texts of the same length"});
  }
  const auto require_row = [&](std::size_t row) {
    if (row < length) return;
    throw Error(ErrorKind::usage, fmt::format("there is no row {} in texts of {} tokens", row, length),
                {.hint = length == 0 ? "give some text" : fmt::format("rows are 0 to {}", length - 1)});
  };
  require_row(question.row);
  for (const Patch& one : patches) {
    if (one.row) require_row(*one.row);
    if (one.part.without_positions) {
      throw Error(ErrorKind::usage, "positions are the same in both texts: there is nothing to put in their place");
    }
  }
  for (const text::Token token : {question.target, question.other}) {
    if (token >= config.vocabulary) {
      throw Error(ErrorKind::usage,
                  fmt::format("token {} is outside the model's vocabulary of {}", token, config.vocabulary));
    }
  }
}

PatchOutput output_of(const kernels::Executor& executor, const Tensor& logits, const PatchQuestion& question) {
  const Readout read = readout_of(executor, logits, question.row);
  PatchOutput output{.target_logit = read.logits[question.target],
                     .other_logit = read.logits[question.other],
                     .target_probability = read.probabilities[question.target]};
  output.target_loss_nats = read.loss_nats(executor, question.target);
  return output;
}

PatchResult patched(Passes& passes, const PatchQuestion& question, const Patch& patch,
                    const std::vector<Replacement>& replacements) {
  std::vector<bool> rows;
  if (patch.row) {
    rows.assign(question.into.size(), false);
    rows[*patch.row] = true;
  }
  Writer writer(passes.model(), passes.executor(), replacements, rows);
  const Tensor logits = passes.logits(question.into, &writer);
  return {.patch = patch, .output = output_of(passes.executor(), logits, question), .change = writer.change()};
}

}  // namespace

text::Token most_probable(Passes& passes, std::span<const text::Token> tokens, std::size_t row,
                          std::optional<text::Token> besides) {
  Readout read = readout_of(passes.executor(), passes.logits(tokens, nullptr), row);
  if (besides) read.logits[*besides] = -std::numeric_limits<double>::infinity();
  return read.top();
}

bool nearly_equal(const PatchOutput& into, const PatchOutput& from) {
  const double larger = std::max(std::abs(into.difference()), std::abs(from.difference()));
  return std::abs(from.difference() - into.difference()) < kLeastGap * larger;
}

Patching patch(Passes& passes, const PatchQuestion& question, const std::vector<Patch>& patches) {
  check(passes.model().config(), question, patches);
  std::vector<Part> parts;
  for (const Patch& one : patches) parts.push_back(one.part);
  Reader reader(together(parts, "").sites);
  Patching patching{.into = output_of(passes.executor(), passes.logits(question.into, nullptr), question),
                    .from = output_of(passes.executor(), passes.logits(question.from, &reader), question),
                    .results = {}};
  const double way = patching.from.difference() - patching.into.difference();
  for (const Patch& one : patches) {
    std::vector<Replacement> replacements;
    for (const Site& site : one.part.sites) {
      const auto found = std::find(reader.sites().begin(), reader.sites().end(), site);
      replacements.push_back(
          {.site = site, .values = reader.values(static_cast<std::size_t>(found - reader.sites().begin()))});
    }
    PatchResult result = patched(passes, question, one, replacements);
    if (way != 0) result.share = (result.output.difference() - patching.into.difference()) / way;
    patching.results.push_back(std::move(result));
  }
  return patching;
}

}  // namespace dikkat::inspect
