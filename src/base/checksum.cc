#include "base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hawthorn {

uint32_t checksum32(const void* data, size_t size, uint64_t salt) {
  return static_cast<uint32_t>(XXH3_64bits_withSeed(data, size, salt));
}

uint64_t checksum64(const void* data, size_t size, uint64_t salt) {
  return XXH3_64bits_withSeed(data, size, salt);
}

Checksum128 checksum128(const void* data, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.low64, hash.high64};
}

}  // namespace hawthorn
