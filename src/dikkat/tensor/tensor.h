// Tensor is data: numbers of one dtype in a strided view of shared memory. It knows nothing of gradients (see
// autograd/variable.h). Copies share the memory; `clone` copies it. Row-major; batch first.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "dikkat/tensor/dtype.h"
#include "dikkat/tensor/shape.h"
#include "dikkat/tensor/storage.h"

namespace dikkat {

class Tensor {
 public:
  Tensor() = default;
  // Content unspecified.
  [[nodiscard]] static Tensor empty(const Shape& shape, DType dtype, Allocator& from = heap());
  [[nodiscard]] static Tensor zeros(const Shape& shape, DType dtype, Allocator& from = heap());
  template <class T>
  [[nodiscard]] static Tensor of(const Shape& shape, std::span<const T> values);

  [[nodiscard]] bool defined() const { return storage_.data() != nullptr; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * bytes_of(dtype_); }
  // Distance, in elements, between neighbours along `axis`.
  [[nodiscard]] std::size_t stride(std::size_t axis) const { return strides_[axis]; }
  [[nodiscard]] bool contiguous() const;
  // Whether other tensors hold the same memory.
  [[nodiscard]] bool storage_shared() const { return storage_.shared(); }

  // First element. Error{internal} when T is not the tensor's number.
  template <class T>
  [[nodiscard]] T* data() const {
    require(dtype_of<T>::value);
    return reinterpret_cast<T*>(storage_.data()) + offset_;
  }
  // All elements of a contiguous tensor.
  template <class T>
  [[nodiscard]] std::span<T> span() const {
    require_contiguous();
    return {data<T>(), count_};
  }
  [[nodiscard]] std::byte* raw() const { return storage_.data() + offset_ * bytes_of(dtype_); }

  // Views on the same memory.
  [[nodiscard]] Tensor reshape(const Shape& shape) const;  // contiguous only, equal count
  [[nodiscard]] Tensor slice(std::size_t axis, std::size_t begin, std::size_t end) const;
  // One axis of size n as two, (parts, n / parts); parts divides n.
  [[nodiscard]] Tensor split(std::size_t axis, std::size_t parts) const;
  [[nodiscard]] Tensor transpose(std::size_t axis_a, std::size_t axis_b) const;

  // Contiguous copy in fresh memory.
  [[nodiscard]] Tensor clone(Allocator& from = heap()) const;
  // Copies the values of an equal-shaped tensor into this memory, converting the number if needed.
  void assign(const Tensor& values) const;
  void fill(double value) const;

 private:
  void require(DType wanted) const;
  void require_contiguous() const;

  Storage storage_;
  std::size_t offset_ = 0;  // elements
  std::size_t count_ = 0;
  Shape shape_;
  std::array<std::size_t, kMaxRank> strides_{};
  DType dtype_ = DType::f32;
};

}  // namespace dikkat
