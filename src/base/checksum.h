#pragma once
// The two checksums of the file formats, both XXH3 (xxhash): 32 bits with a salt for blocks and
// records, 128 bits for the superblock. A salt makes old bytes of a recycled place invalid.
//
// Threads: pure functions.

#include <cstddef>
#include <cstdint>

namespace hawthorn {

struct Checksum128 {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Checksum128&) const = default;
};

// The low 32 bits of XXH3_64bits_withSeed(data, size, salt).
uint32_t checksum32(const void* data, size_t size, uint64_t salt);
uint64_t checksum64(const void* data, size_t size, uint64_t salt);
Checksum128 checksum128(const void* data, size_t size);

}  // namespace hawthorn
