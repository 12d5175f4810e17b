// Compiles a kernel's bodies once per instruction set. A kernel's .cpp says
//
//   #define HWY_TARGET_INCLUDE "dikkat/kernels/fast/softmax-inl.h"
//   #include "dikkat/kernels/each_instruction_set.h"
//
// and then calls DIKKAT_BODY(executor, softmax_forward_fast<T>)(arguments...). The -inl.h holds everything between
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE in dikkat::kernels::HWY_NAMESPACE, guarded per target:
//
//   #if defined(DIKKAT_FAST_SOFTMAX_INL_H) == defined(HWY_TARGET_TOGGLE)
//   #ifdef DIKKAT_FAST_SOFTMAX_INL_H
//   #undef DIKKAT_FAST_SOFTMAX_INL_H
//   #else
//   #define DIKKAT_FAST_SOFTMAX_INL_H
//   #endif
//   ...
//   #endif
//
// Why not Highway's own dispatch: it needs libhwy.so at run time, and its table is a global. Why not -mavx512f per
// file: the linker could then pick an AVX-512 copy of a standard inline function for the whole program.
// Everything a body calls must itself be inside the region, or it loses the instruction set.
// No include guard: one per kernel source.

#ifdef DIKKAT_WITHOUT_AVX512  // a build for this processor alone
#define HWY_DISABLED_TARGETS (~(HWY_SCALAR | HWY_EMU128 | HWY_AVX2))
#else
#define HWY_DISABLED_TARGETS (~(HWY_SCALAR | HWY_EMU128 | HWY_AVX2 | HWY_AVX3))
#endif
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#ifdef DIKKAT_WITHOUT_AVX512
#define DIKKAT_BODY(executor, ...) \
  ((executor).instructions == ::dikkat::kernels::InstructionSet::avx512 ? &N_AVX2::__VA_ARGS__ : &N_AVX2::__VA_ARGS__)
#else
#define DIKKAT_BODY(executor, ...) \
  ((executor).instructions == ::dikkat::kernels::InstructionSet::avx512 ? &N_AVX3::__VA_ARGS__ : &N_AVX2::__VA_ARGS__)
#endif
