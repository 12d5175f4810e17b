#include "dikkat/autograd/node.h"

#include <string>

#include "dikkat/base/error.h"

namespace dikkat {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;

}  // namespace

void* RecordMemory::take(std::size_t bytes) {
  constexpr std::size_t kAlign = alignof(std::max_align_t);
  const std::size_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  if (rounded > kChunkBytes) throw Error(ErrorKind::internal, "tape: a record of " + std::to_string(bytes) + " bytes");
  if (chunk_ < chunks_.size() && used_ + rounded > kChunkBytes) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) chunks_.push_back(std::make_unique<std::byte[]>(kChunkBytes));
  void* at = chunks_[chunk_].get() + used_;
  used_ += rounded;
  return at;
}

void RecordMemory::clear() {
  chunk_ = 0;
  used_ = 0;
}

}  // namespace dikkat
