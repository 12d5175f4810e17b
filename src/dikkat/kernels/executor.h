// How a kernel is to be executed: on which threads, with which instructions, by which of its two bodies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dikkat/base/parallel.h"

namespace dikkat::kernels {

enum class InstructionSet : std::uint8_t { avx2, avx512 };

// The best this processor has; Error{incompatible} on x86 without AVX2, FMA, F16C and BMI2.
[[nodiscard]] InstructionSet best_instruction_set();
[[nodiscard]] bool supports(InstructionSet set);
[[nodiscard]] std::string_view name_of(InstructionSet set);

// Every kernel has a plain body (the formula in loops: the law) and a fast one (a faster witness), equal to the bit.
// `check` runs both and throws Error{internal} naming the kernel and the first differing element.
enum class Bodies : std::uint8_t { reference, fast, check };

[[nodiscard]] std::optional<Bodies> bodies_named(std::string_view name);

struct Executor {
  Pool& pool;
  Bodies bodies = Bodies::fast;
  InstructionSet instructions = best_instruction_set();
};

// Whether a kernel overwrites its output or adds its result to what stands there (existing + result, one rounding).
enum class Store : std::uint8_t { assign, add };

}  // namespace dikkat::kernels
