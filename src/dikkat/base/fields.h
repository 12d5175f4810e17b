// A settings struct names its own fields once; the command line, TOML, JSON, printing and comparison all derive from
// that one list:
//
//   struct Config {
//     std::size_t layers = 4;
//     Norm norm = Norm::layer;
//
//     template <class Self, class Visit>  // Self: Config or const Config
//     static void fields(Self& self, Visit&& visit) {
//       visit("layers", self.layers, "number of blocks, L");
//       visit("norm", self.norm, "normalisation of a block's input");
//     }
//   };
//
// A field is std::size_t, std::uint64_t, double, bool, std::string, or an enum with EnumNames.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dikkat {

// Specialise with `static constexpr std::array<std::pair<E, std::string_view>, n> names`.
template <class E>
struct EnumNames;

template <class E>
concept NamedEnum = std::is_enum_v<E> && requires { EnumNames<E>::names; };

template <NamedEnum E>
[[nodiscard]] constexpr std::string_view text_of(E value) {
  for (const auto& [known, name] : EnumNames<E>::names) {
    if (known == value) return name;
  }
  return "?";
}

template <NamedEnum E>
[[nodiscard]] constexpr std::optional<E> enum_named(std::string_view name) {
  for (const auto& [known, known_name] : EnumNames<E>::names) {
    if (known_name == name) return known;
  }
  return std::nullopt;
}

// Shortest text that reads back as the same value; independent of locale.
[[nodiscard]] std::string text_of(double value);
[[nodiscard]] inline std::string text_of(std::uint64_t value) { return std::to_string(value); }
[[nodiscard]] inline std::string text_of(bool value) { return value ? "true" : "false"; }
[[nodiscard]] inline std::string text_of(const std::string& value) { return value; }

// Exact readings; nullopt for anything else. A count: decimal digits only, no sign, no leading zero, no "1.0", within
// 64 bits. A real: finite decimal number as from_chars reads it (no hex, nan, inf), no leading '+'. A switch: true or
// false.
[[nodiscard]] std::optional<std::uint64_t> count_from(std::string_view text);
[[nodiscard]] std::optional<double> real_from(std::string_view text);
[[nodiscard]] std::optional<bool> switch_from(std::string_view text);

template <class T>
[[nodiscard]] std::optional<T> field_from(std::string_view text) {
  if constexpr (std::is_same_v<T, bool>) {
    return switch_from(text);
  } else if constexpr (NamedEnum<T>) {
    return enum_named<T>(text);
  } else if constexpr (std::is_floating_point_v<T>) {
    return real_from(text);
  } else if constexpr (std::is_integral_v<T>) {
    return count_from(text);
  } else {
    return std::string(text);
  }
}

// What is acceptable for a field, in words ("a whole number >= 0", "one of layer, rms, none"), for errors and help.
template <class T>
[[nodiscard]] std::string domain_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (NamedEnum<T>) {
    std::string words = "one of";
    const char* separator = " ";
    for (const auto& [value, name] : EnumNames<T>::names) {
      words += separator;
      words += name;
      separator = ", ";
    }
    return words;
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a finite decimal number";
  } else if constexpr (std::is_integral_v<T>) {
    return "a whole number >= 0 in decimal digits";
  } else {
    return "text";
  }
}

// The known name nearest to `name` (Damerau-Levenshtein distance), if near enough to be a slip: "did you mean".
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace dikkat
