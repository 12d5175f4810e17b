#include "dikkat/nn/parameter.h"

#include <algorithm>
#include <cstring>

#include "dikkat/autograd/tape.h"
#include "dikkat/base/error.h"
#include "dikkat/kernels/elementwise.h"
#include "dikkat/kernels/normal_fill.h"

namespace dikkat::nn {
namespace {

// Parameters start on 64-byte boundaries of the flat buffer.
constexpr std::size_t kAlignedElements = 16;

std::size_t aligned(std::size_t count) { return (count + kAlignedElements - 1) / kAlignedElements * kAlignedElements; }

Variable used(Context& context, const Tensor& value, const Tensor& gradient) {
  if (context.tape == nullptr || !gradient.defined()) return {value};
  return {value, context.tape->leaf(gradient)};
}

}  // namespace

Variable Parameter::use(Context& context) const { return used(context, value_, gradient_); }

Variable Parameter::use_again(Context& context) const { return used(context, value_, second_gradient_); }

Parameter& ParameterStore::add(std::string path, const Shape& shape, Init init) {
  if (find(path) != nullptr) throw Error(ErrorKind::internal, "parameter " + path + " exists already");
  parameters_.push_back(std::make_unique<Parameter>(std::move(path), shape, init));
  Parameter& added = *parameters_.back();
  count_ += shape.count();
  const auto place = std::upper_bound(sorted_.begin(), sorted_.end(), &added,
                                      [](const Parameter* a, const Parameter* b) { return a->path() < b->path(); });
  sorted_.insert(place, &added);
  return added;
}

void ParameterStore::second_use(Parameter& parameter) { used_twice_.push_back(&parameter); }

void ParameterStore::allocate(DType dtype, Gradients gradients) {
  std::size_t values = 0;
  for (const auto& parameter : parameters_) values += aligned(parameter->shape_.count());
  std::size_t gradient_values = values;
  for (const Parameter* parameter : used_twice_) gradient_values += aligned(parameter->shape_.count());
  values_ = Tensor::zeros({values}, dtype);
  if (gradients == Gradients::kept) gradients_ = Tensor::zeros({gradient_values}, dtype);

  std::size_t at = 0;
  const auto place = [&](const Tensor& flat, const Shape& shape) {
    return flat.slice(0, at, at + shape.count()).reshape(shape);
  };
  for (const auto& parameter : parameters_) {
    parameter->offset_ = at;
    parameter->value_ = place(values_, parameter->shape_);
    if (gradients_.defined()) parameter->gradient_ = place(gradients_, parameter->shape_);
    at += aligned(parameter->shape_.count());
  }
  if (!gradients_.defined()) return;
  for (Parameter* parameter : used_twice_) {
    parameter->second_gradient_ = place(gradients_, parameter->shape_);
    at += aligned(parameter->shape_.count());
  }
}

void ParameterStore::initialise(const kernels::Executor& executor, std::uint64_t seed) const {
  for (const auto& parameter : parameters_) {
    const Init init = parameter->init_;
    if (init.kind == Init::Kind::zeros) parameter->value_.fill(0.0);
    if (init.kind == Init::Kind::ones) parameter->value_.fill(1.0);
    if (init.kind == Init::Kind::normal) {
      with_number(dtype(), [&]<class T>() {
        kernels::normal_fill<T>(executor, random::stream(seed, "init", parameter->path_), init.deviation,
                                parameter->value_.data<T>(), parameter->value_.count());
      });
    }
  }
}

const Parameter* ParameterStore::find(std::string_view path) const {
  const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), path,
                                      [](const Parameter* a, std::string_view b) { return a->path() < b; });
  return place != sorted_.end() && (*place)->path() == path ? *place : nullptr;
}

void ParameterStore::zero_gradients() const {
  if (gradients_.defined()) std::memset(gradients_.raw(), 0, gradients_.bytes());
}

void ParameterStore::finish_gradients(const kernels::Executor& executor) const {
  for (const Parameter* parameter : used_twice_) {
    with_number(dtype(), [&]<class T>() {
      kernels::add<T>(executor, parameter->gradient_.data<T>(), parameter->second_gradient_.data<T>(),
                      parameter->gradient_.data<T>(), parameter->gradient_.count());
    });
  }
}

}  // namespace dikkat::nn
