#pragma once
// Keys and values of the upsert and micro workloads: a value begins with a stamp that follows from
// its key, so that every value that is read can be checked for the price of one multiplication.
//
// Used by workloads and sinks. Threads: no state but a constant table.
//
// 1. stamp(key, version) differs from stamp(other key, any version) in its upper 56 bits, except
//    for one pair in 2^56.
// 2. Everything follows from the sequence number alone: two runs write the same bytes.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hawthorn::bench {

inline uint64_t load64(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

inline void store64(char* bytes, uint64_t word) { std::memcpy(bytes, &word, sizeof word); }

// Big-endian: keys in the order of their numbers.
inline uint64_t big_endian(uint64_t word) {
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  return word;
}

// A bijection whose result looks random (the finalizer of splitmix64).
inline uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

__extension__ typedef unsigned __int128 Wide;  // __extension__: -Wpedantic knows no such type

// The number in [0, limit) that a random 64-bit number stands for.
inline uint64_t scale(uint64_t random, uint64_t limit) {
  return static_cast<uint64_t>((static_cast<Wide>(random) * limit) >> 64);
}

inline constexpr size_t kKeyBytes = 8;
inline constexpr size_t kStampBytes = 8;

inline uint64_t stamp(uint64_t key, uint8_t version) {
  return (((key ^ 0x5bf03635f0935ba9ULL) * 0x9e3779b97f4a7c15ULL) & ~uint64_t{0xff}) | version;
}

// Whether a value that begins with `found` can belong to the key, whatever its version.
inline bool stamp_fits(uint64_t key, uint64_t found) { return ((found ^ stamp(key, 0)) >> 8) == 0; }

// The key of a sequence number: XXH3 of its eight bytes, as the upsert document defines it.
uint64_t random_key(uint64_t sequence);

// Wide keys: the eight bytes of random_key, then bytes that follow from them.
inline constexpr size_t kKeyBytesMax = 64;
inline void make_key(uint64_t key, char* bytes, size_t key_bytes) {
  store64(bytes, key);
  for (size_t at = sizeof key; at < key_bytes; at += sizeof key)
    store64(bytes + at, mix64(key + at));
}
// Whether a key is what make_key wrote, to the last byte.
inline bool key_is_whole(std::string_view key) {
  uint64_t differing = 0;
  for (size_t at = kKeyBytes; at < key.size(); at += kKeyBytes) {
    differing |= load64(key.data() + at) ^ mix64(load64(key.data()) + at);
  }
  return differing == 0;
}

// What follows a value's stamp.
enum class Fill {
  kNoise,  // bytes that no codec can shrink
  kHalf,   // the second half repeats the first: a codec shrinks a value to half
};

// Writes the value of a key: its stamp, then the fill.
void make_value(uint64_t key, uint8_t version, char* value, size_t value_bytes,
                Fill fill = Fill::kNoise);
// Whether a value is what make_value wrote, to the last byte.
bool value_is_whole(uint64_t key, uint8_t version, std::string_view value,
                    Fill fill = Fill::kNoise);

}  // namespace hawthorn::bench
