#include "dikkat/kernels/executor.h"

#include <cpuid.h>

#include "dikkat/base/error.h"

namespace dikkat::kernels {
namespace {

// clang 16 does not know "f16c" in __builtin_cpu_supports: CPUID leaf 1, ECX bit 29.
bool has_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1U << 29U)) != 0;
}

}  // namespace

bool supports(InstructionSet set) {
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                    __builtin_cpu_supports("bmi2") != 0 && has_f16c();
  if (set == InstructionSet::avx2) return avx2;
#ifdef DIKKAT_WITHOUT_AVX512
  return false;
#else
  return avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#endif
}

InstructionSet best_instruction_set() {
  static const bool avx512 = supports(InstructionSet::avx512);
  static const bool avx2 = supports(InstructionSet::avx2);
  if (avx512) return InstructionSet::avx512;
  if (avx2) return InstructionSet::avx2;
  throw Error(ErrorKind::incompatible, "this processor lacks AVX2, FMA, F16C or BMI2, which every kernel needs",
              {.hint = "run on an x86-64 processor of 2013 (Intel Haswell) or 2015 (AMD Excavator) or newer"});
}

std::string_view name_of(InstructionSet set) { return set == InstructionSet::avx2 ? "avx2" : "avx512"; }

std::optional<Bodies> bodies_named(std::string_view name) {
  if (name == "reference") return Bodies::reference;
  if (name == "fast") return Bodies::fast;
  if (name == "check") return Bodies::check;
  return std::nullopt;
}

}  // namespace dikkat::kernels
