// Taps that read and that change: the columns of chosen activations kept, or replaced in the midst of the forward pass.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/inspect/intervention_parts.h"
#include "dikkat/kernels/executor.h"
#include "dikkat/models/language_model.h"
#include "dikkat/nn/tap.h"

namespace dikkat::inspect {

// Keeps what stands at each site: (R, count) each.
class Reader final : public nn::Tap {
 public:
  explicit Reader(std::vector<Site> sites) : sites_(std::move(sites)), values_(sites_.size()) {}

  [[nodiscard]] bool wants(std::string_view path) const override;
  void see(std::string_view path, Tensor& activation) override;

  [[nodiscard]] const std::vector<Site>& sites() const { return sites_; }
  // Of sites()[index], from the last pass; undefined when its path was not shown.
  [[nodiscard]] const Tensor& values(std::size_t index) const { return values_[index]; }

 private:
  std::vector<Site> sites_;
  std::vector<Tensor> values_;
};

// Several taps in their order: each sees what those before it wrote. They outlive it.
class Taps final : public nn::Tap {
 public:
  explicit Taps(std::vector<nn::Tap*> taps) : taps_(std::move(taps)) {}

  [[nodiscard]] bool wants(std::string_view path) const override;
  void see(std::string_view path, Tensor& activation) override;

 private:
  std::vector<nn::Tap*> taps_;
};

// Whether an intervention changed anything, element by element, of the rows it was to change.
struct Change {
  std::size_t elements = 0;  // written
  std::size_t changed = 0;   // of them, those that are another number now
  double squares = 0;        // sum of (new - old)^2
  double old_squares = 0;    // sum of old^2

  [[nodiscard]] bool none() const { return changed == 0; }
  // |new - old| / |old|, Euclidean; 0 when nothing changed, infinite when old was zero.
  [[nodiscard]] double relative() const;
  Change& operator+=(const Change& more);
};
// The change from `old` to `now`, equal shapes.
[[nodiscard]] Change change_between(const Tensor& old, const Tensor& now);

// What is put at a site: nothing at all (an undefined tensor: zeros), the same values in every row (1, count), or each
// row's own (R, count), in the model's number.
struct Replacement {
  Site site;
  Tensor values = {};
};

// Writes replacements into the rows that are marked (`rows` (R); empty: all of them). Several at one path are written
// in their order. A carried site's replacement x' makes x' + sublayer(x) of x + sublayer(x), and its norm in a model
// with the norm after it; zeros leave sublayer(x) itself, to the bit. Model and executor outlive it.
class Writer final : public nn::Tap {
 public:
  Writer(const models::LanguageModel& model, const kernels::Executor& executor, std::vector<Replacement> replacements,
         std::vector<bool> rows = {});

  [[nodiscard]] bool wants(std::string_view path) const override;
  void see(std::string_view path, Tensor& activation) override;

  // Of all passes so far.
  [[nodiscard]] const Change& change() const { return change_; }

 private:
  // Where a carried site's sum is made, and of what.
  struct Carried {
    std::size_t replacement = 0;
    std::string update = {};  // path of what the sublayer adds
    std::string sum = {};     // path of what is made of it
    std::string norm = {};    // path of the norm that a model with the norm after it applies
    Tensor added = {};        // seen at `update`
  };

  void write(const Site& site, const Tensor& values, Tensor& activation);
  void write_sum(const Carried& carried, Tensor& activation);
  [[nodiscard]] Tensor normed(const Carried& carried, const Tensor& sum) const;

  const models::LanguageModel& model_;
  kernels::Executor executor_;
  std::vector<Replacement> replacements_;
  std::vector<bool> rows_;
  std::vector<Carried> carried_;
  Change change_;
};

}  // namespace dikkat::inspect
