#include <immintrin.h>

#include "harness.h"

namespace dikkat::bench {
namespace {

constexpr std::size_t kChains = 12;  // more than latency times units (4 x 2), fewer than registers
constexpr std::size_t kRounds = 2000;

__attribute__((target("avx512f"))) void spin_avx512() {
  __m512 sum[kChains];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kChains; ++i) sum[i] = _mm512_set1_ps(1.0F);
  const __m512 factor = _mm512_set1_ps(0.5F);
  for (std::size_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kChains; ++i) {
      sum[i] = _mm512_fmadd_ps(sum[i], factor, factor);
      asm volatile("" : "+v"(sum[i]));
    }
  }
}

__attribute__((target("avx2,fma"))) void spin_avx2() {
  __m256 sum[kChains];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kChains; ++i) sum[i] = _mm256_set1_ps(1.0F);
  const __m256 factor = _mm256_set1_ps(0.5F);
  for (std::size_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kChains; ++i) {
      sum[i] = _mm256_fmadd_ps(sum[i], factor, factor);
      asm volatile("" : "+x"(sum[i]));
    }
  }
}

}  // namespace

double register_peak(kernels::InstructionSet set) {
  const bool wide = set == kernels::InstructionSet::avx512;
  const double seconds = best_seconds(wide ? spin_avx512 : spin_avx2, 0.1);
  return static_cast<double>(2 * kChains * kRounds * (wide ? 16 : 8)) / seconds;
}

}  // namespace dikkat::bench
