#include "dikkat/tensor/tensor.h"

#include <cstring>
#include <string>
#include <utility>

#include "dikkat/base/error.h"

namespace dikkat {
namespace {

std::array<std::size_t, kMaxRank> row_major(const Shape& shape) {
  std::array<std::size_t, kMaxRank> strides{};
  std::size_t stride = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

// Calls visit(offset in elements) for every element in row-major order of the view.
template <class Visit>
void for_each_offset(const Shape& shape, const std::array<std::size_t, kMaxRank>& strides, Visit&& visit) {
  const std::size_t count = shape.count();
  std::array<std::size_t, kMaxRank> at{};
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    visit(offset);
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::internal, "tensor: " + what); }

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, Allocator& from) {
  Tensor t;
  t.shape_ = shape;
  t.count_ = shape.count();
  t.dtype_ = dtype;
  t.strides_ = row_major(shape);
  t.storage_ = Storage(from, t.count_ * bytes_of(dtype));
  return t;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Allocator& from) {
  Tensor t = empty(shape, dtype, from);
  std::memset(t.raw(), 0, t.bytes());
  return t;
}

template <class T>
Tensor Tensor::of(const Shape& shape, std::span<const T> values) {
  Tensor t = empty(shape, dtype_of<T>::value);
  if (values.size() != t.count_) {
    refuse("of: " + std::to_string(values.size()) + " values for shape " + shape.text());
  }
  if (!values.empty()) std::memcpy(t.raw(), values.data(), t.bytes());
  return t;
}
template Tensor Tensor::of(const Shape&, std::span<const float>);
template Tensor Tensor::of(const Shape&, std::span<const double>);

bool Tensor::contiguous() const {
  std::size_t stride = 1;
  for (std::size_t axis = shape_.rank(); axis-- > 0;) {
    if (shape_[axis] != 1 && strides_[axis] != stride) return count_ == 0;
    stride *= shape_[axis];
  }
  return true;
}

Tensor Tensor::reshape(const Shape& shape) const {
  require_contiguous();
  if (shape.count() != count_) refuse("reshape: " + shape_.text() + " does not fit " + shape.text());
  Tensor view = *this;
  view.shape_ = shape;
  view.strides_ = row_major(shape);
  return view;
}

Tensor Tensor::slice(std::size_t axis, std::size_t begin, std::size_t end) const {
  if (axis >= shape_.rank() || begin > end || end > shape_[axis]) {
    refuse("slice: [" + std::to_string(begin) + ", " + std::to_string(end) + ") of axis " + std::to_string(axis) +
           " of " + shape_.text());
  }
  std::array<std::size_t, kMaxRank> sizes{};
  std::copy(shape_.begin(), shape_.end(), sizes.begin());
  sizes[axis] = end - begin;
  Tensor view = *this;
  view.shape_ = Shape(std::span<const std::size_t>(sizes.data(), shape_.rank()));
  view.count_ = view.shape_.count();
  view.offset_ += begin * strides_[axis];
  return view;
}

Tensor Tensor::split(std::size_t axis, std::size_t parts) const {
  if (axis >= shape_.rank() || shape_.rank() == kMaxRank || parts == 0 || shape_[axis] % parts != 0) {
    refuse("split: axis " + std::to_string(axis) + " of " + shape_.text() + " into " + std::to_string(parts));
  }
  std::array<std::size_t, kMaxRank> sizes{};
  Tensor view = *this;
  for (std::size_t a = 0, to = 0; a < shape_.rank(); ++a) {
    if (a == axis) {
      sizes[to] = parts;
      view.strides_[to++] = strides_[a] * (shape_[a] / parts);
    }
    sizes[to] = a == axis ? shape_[a] / parts : shape_[a];
    view.strides_[to++] = strides_[a];
  }
  view.shape_ = Shape(std::span<const std::size_t>(sizes.data(), shape_.rank() + 1));
  return view;
}

Tensor Tensor::transpose(std::size_t axis_a, std::size_t axis_b) const {
  if (axis_a >= shape_.rank() || axis_b >= shape_.rank()) refuse("transpose: no such axis of " + shape_.text());
  std::array<std::size_t, kMaxRank> sizes{};
  std::copy(shape_.begin(), shape_.end(), sizes.begin());
  std::swap(sizes[axis_a], sizes[axis_b]);
  Tensor view = *this;
  view.shape_ = Shape(std::span<const std::size_t>(sizes.data(), shape_.rank()));
  std::swap(view.strides_[axis_a], view.strides_[axis_b]);
  return view;
}

Tensor Tensor::clone(Allocator& from) const {
  Tensor copy = empty(shape_, dtype_, from);
  copy.assign(*this);
  return copy;
}

void Tensor::assign(const Tensor& values) const {
  if (values.shape_ != shape_) refuse("assign: shape " + values.shape_.text() + " to " + shape_.text());
  if (count_ == 0) return;
  if (values.dtype_ == dtype_ && contiguous() && values.contiguous()) {
    std::memmove(raw(), values.raw(), bytes());
    return;
  }
  with_number(dtype_, [&]<class To>() {
    with_number(values.dtype_, [&]<class From>() {
      // Two walks in step: the source's offsets are visited while the target's walk keeps its own place.
      To* to = data<To>();
      const From* from = values.data<From>();
      std::array<std::size_t, kMaxRank> at{};
      std::size_t target = 0;
      for_each_offset(shape_, values.strides_, [&](std::size_t source) {
        to[target] = static_cast<To>(from[source]);
        for (std::size_t axis = shape_.rank(); axis-- > 0;) {
          target += strides_[axis];
          if (++at[axis] < shape_[axis]) break;
          target -= strides_[axis] * shape_[axis];
          at[axis] = 0;
        }
      });
    });
  });
}

void Tensor::fill(double value) const {
  with_number(dtype_, [&]<class T>() {
    T* to = data<T>();
    for_each_offset(shape_, strides_, [&](std::size_t offset) { to[offset] = static_cast<T>(value); });
  });
}

void Tensor::require(DType wanted) const {
  if (wanted != dtype_) refuse("holds " + std::string(name_of(dtype_)) + ", asked for " + std::string(name_of(wanted)));
}

void Tensor::require_contiguous() const {
  if (!contiguous()) refuse("a view of shape " + shape_.text() + " is not contiguous");
}

}  // namespace dikkat
