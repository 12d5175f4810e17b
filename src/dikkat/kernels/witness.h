// Runs a kernel by the body the executor asks for; in `check` by both, comparing every output byte.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "dikkat/base/error.h"
#include "dikkat/kernels/executor.h"

namespace dikkat::kernels {

// The memory an output may touch, as bytes (for a strided output the whole range from first to last element).
template <class T>
[[nodiscard]] std::span<std::byte> memory(T* data, std::size_t n) {
  return data == nullptr ? std::span<std::byte>{} : std::as_writable_bytes(std::span<T>(data, n));
}

// plain() and fast() compute the same outputs from the same inputs (an output may also be an input).
template <class Plain, class Fast>
void witness(const Executor& executor, const char* kernel, std::initializer_list<std::span<std::byte>> outputs,
             Plain&& plain, Fast&& fast) {
  if (executor.bodies == Bodies::fast) return fast();
  if (executor.bodies == Bodies::reference) return plain();
  std::vector<std::vector<std::byte>> before;
  for (const auto& output : outputs) before.emplace_back(output.begin(), output.end());
  fast();
  // All are read before any is put back: strided outputs (queries, keys and values of one projection) may interleave.
  std::vector<std::vector<std::byte>> seen;
  for (const auto& output : outputs) seen.emplace_back(output.begin(), output.end());
  std::size_t which = 0;
  for (const auto& output : outputs) {
    if (!output.empty()) std::memcpy(output.data(), before[which].data(), output.size());
    ++which;
  }
  plain();
  which = 0;
  for (const auto& output : outputs) {
    for (std::size_t byte = 0; byte < output.size(); ++byte) {
      if (output[byte] != seen[which][byte]) {
        throw Error(ErrorKind::internal, std::string(kernel) + ": fast and plain bodies differ in output " +
                                             std::to_string(which) + " at byte " + std::to_string(byte));
      }
    }
    ++which;
  }
}

}  // namespace dikkat::kernels
