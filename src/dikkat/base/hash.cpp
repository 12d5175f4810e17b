#include "dikkat/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "dikkat/base/hex.h"

namespace dikkat {
namespace {

std::string hex_of(const XXH128_hash_t& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  return hex(std::as_bytes(std::span(canonical.digest)));
}

}  // namespace

std::string xxh3_128_hex(std::span<const std::byte> bytes) { return hex_of(XXH3_128bits(bytes.data(), bytes.size())); }

struct Xxh3Stream::State {
  XXH3_state_t xxh;
};

Xxh3Stream::Xxh3Stream() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Xxh3Stream::~Xxh3Stream() = default;
Xxh3Stream::Xxh3Stream(Xxh3Stream&&) noexcept = default;
Xxh3Stream& Xxh3Stream::operator=(Xxh3Stream&&) noexcept = default;

void Xxh3Stream::update(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::string Xxh3Stream::hex() const { return hex_of(XXH3_128bits_digest(&state_->xxh)); }

}  // namespace dikkat
