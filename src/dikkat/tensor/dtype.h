// The kinds of number a tensor can hold, and the way from a dtype back to a C++ type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dikkat {

enum class DType : std::uint8_t { f32, f64 };

[[nodiscard]] constexpr std::size_t bytes_of(DType dtype) { return dtype == DType::f32 ? 4 : 8; }
// "F32", "F64": the names safetensors uses.
[[nodiscard]] constexpr std::string_view name_of(DType dtype) { return dtype == DType::f32 ? "F32" : "F64"; }

template <class T>
struct dtype_of;
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::f64;
};

// Calls use.template operator()<T>() with the number type of `dtype`: the one place where an erased type comes back.
template <class Use>
decltype(auto) with_number(DType dtype, Use&& use) {
  if (dtype == DType::f64) return use.template operator()<double>();
  return use.template operator()<float>();
}

}  // namespace dikkat
