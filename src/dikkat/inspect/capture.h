// Activations by name: which there are, which of them a pattern means, and taps that show or keep them.
//
// A name is a path of nn/tap.h, or has '*' in it, which stands for any run of characters: "blocks.*.attention.pattern".
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/formats/named_tensor.h"
#include "dikkat/nn/tap.h"

namespace dikkat::inspect {

// Runs a model's forward pass over so many rows (tokens, steps) with somebody looking.
using TappedPass = std::function<void(std::size_t rows, nn::Tap& tap)>;

struct ActivationEntry {
  std::string path;
  std::string shape;  // as text; T stands for the number of rows: "(T,4,T)"
};

// Every activation, in the order of the pass. Runs two short passes, or one where the model takes but one row.
[[nodiscard]] std::vector<ActivationEntry> activations(const TappedPass& pass, std::size_t most_rows);

[[nodiscard]] bool matches(std::string_view pattern, std::string_view path);

// The paths that the patterns mean, each once, in the order of `paths`. Error{usage} for a pattern that means none,
// with the nearest path.
[[nodiscard]] std::vector<std::string> matching(const std::vector<std::string>& patterns,
                                                const std::vector<std::string>& paths);

// Shows the activations of these paths, each once and in the order of the pass, while they are there: what `see` wants
// to keep it clones. They may be views that are not contiguous.
class Watch final : public nn::Tap {
 public:
  using See = std::function<void(const std::string& path, const Tensor& activation)>;
  Watch(std::vector<std::string> paths, See see);

  [[nodiscard]] bool wants(std::string_view path) const override;
  void see(std::string_view path, Tensor& activation) override;

 private:
  std::vector<std::string> paths_;
  See see_;
};

// Keeps clones of them.
class Capture final : public nn::Tap {
 public:
  explicit Capture(std::vector<std::string> paths);
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  [[nodiscard]] bool wants(std::string_view path) const override { return watch_.wants(path); }
  void see(std::string_view path, Tensor& activation) override { watch_.see(path, activation); }
  // In the order of the pass.
  [[nodiscard]] const std::vector<formats::NamedTensor>& kept() const { return kept_; }

 private:
  std::vector<formats::NamedTensor> kept_;
  Watch watch_;
};

// Several taps on one pass: each is asked and shown in turn.
class SeveralTaps final : public nn::Tap {
 public:
  explicit SeveralTaps(std::vector<nn::Tap*> taps) : taps_(std::move(taps)) {}

  [[nodiscard]] bool wants(std::string_view path) const override;
  void see(std::string_view path, Tensor& activation) override;

 private:
  std::vector<nn::Tap*> taps_;
};

}  // namespace dikkat::inspect
