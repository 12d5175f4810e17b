// Parameters: named, initialised, and laid out in flat memory.
//
// A parameter's name is its path ("blocks.0.attention.qkv.weight"), the same in checkpoint, tap, error and page. All
// values lie in one flat buffer and all gradients in another, so that one sweep updates, clips or hashes everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dikkat/autograd/context.h"
#include "dikkat/autograd/variable.h"

namespace dikkat::nn {

// Initial values: zeros, ones, or normal with a deviation.
struct Init {
  enum class Kind : std::uint8_t { zeros, ones, normal };
  Kind kind = Kind::zeros;
  double deviation = 0.0;
};
[[nodiscard]] constexpr Init zeros() { return {Init::Kind::zeros, 0.0}; }
[[nodiscard]] constexpr Init ones() { return {Init::Kind::ones, 0.0}; }
[[nodiscard]] constexpr Init normal(double deviation) { return {Init::Kind::normal, deviation}; }

class Parameter {
 public:
  Parameter(std::string path, const Shape& shape, Init init) : path_(std::move(path)), shape_(shape), init_(init) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] Init init() const { return init_; }
  // Weight decay acts on matrices only, never on gains and biases.
  [[nodiscard]] bool decays() const { return shape_.rank() >= 2; }
  // Of the first element in the store's flat buffers.
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] const Tensor& value() const { return value_; }
  [[nodiscard]] const Tensor& gradient() const { return gradient_; }

  // This parameter in a pass: its gradient is added to gradient().
  [[nodiscard]] Variable use(Context& context) const;
  // A second use in the same pass (an output layer tied to the embedding) has a gradient of its own, so that
  // micro-batches add up in the big batch's order; ParameterStore::finish_gradients adds it to gradient().
  [[nodiscard]] Variable use_again(Context& context) const;

 private:
  friend class ParameterStore;
  std::string path_;
  Shape shape_;
  Init init_;
  std::size_t offset_ = 0;
  Tensor value_;
  Tensor gradient_;
  Tensor second_gradient_;  // undefined unless the store was told of a second use
};

class ParameterStore {
 public:
  // The returned reference stays valid. Error{internal} for a path used twice.
  Parameter& add(std::string path, const Shape& shape, Init init);
  void second_use(Parameter& parameter);

  // Lays out values (and, with_gradients, gradients) and makes them zero. Once.
  enum class Gradients : std::uint8_t { none, kept };
  void allocate(DType dtype, Gradients gradients);
  // Draws every parameter's initial values: a function of (seed, path, index).
  void initialise(const kernels::Executor& executor, std::uint64_t seed) const;

  [[nodiscard]] std::span<const std::unique_ptr<Parameter>> in_creation_order() const { return parameters_; }
  // Sorted by path, byte by byte.
  [[nodiscard]] std::span<const Parameter* const> in_path_order() const { return sorted_; }
  // nullptr if there is none.
  [[nodiscard]] const Parameter* find(std::string_view path) const;
  // The flat buffers, parameters in creation order, each from its offset() on; zeros in the gaps.
  [[nodiscard]] const Tensor& values() const { return values_; }
  [[nodiscard]] const Tensor& gradients() const { return gradients_; }
  // Elements of all parameters.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] DType dtype() const { return values_.dtype(); }

  void zero_gradients() const;
  // After the step's last backward: adds second uses to the gradients.
  void finish_gradients(const kernels::Executor& executor) const;

 private:
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::vector<const Parameter*> sorted_;
  std::vector<Parameter*> used_twice_;
  std::size_t count_ = 0;
  Tensor values_;
  Tensor gradients_;
};

}  // namespace dikkat::nn
