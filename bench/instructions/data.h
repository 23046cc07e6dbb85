#pragma once
// The entries that the counted programs use: random keys and values that are the same in each run.
//
// Used by the counted programs (native.cc, shim_*.cc). Threads: any.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hawthorn::bench {

struct Shape {
  size_t key_bytes = 8;
  size_t value_bytes = 8;
};

constexpr uint64_t kCountedEntries = 200'000;

// A bijection, so that different numbers have different keys (splitmix64).
constexpr uint64_t mix(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

inline std::string bytes_of(uint64_t number, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    const uint64_t word = mix(number * 64 + at / sizeof(uint64_t));
    std::memcpy(text.data() + at, &word, std::min(sizeof(word), bytes - at));
  }
  return text;
}

inline std::string key_of(const Shape& shape, uint64_t number) {
  return bytes_of(number, shape.key_bytes);
}
// `generation` tells the values of one key apart.
inline std::string value_of(const Shape& shape, uint64_t number, uint64_t generation = 0) {
  return bytes_of((generation + 1) * 1'000'000'007 + number, shape.value_bytes);
}

// The `i`th of a sequence of entries in random order, with repetitions; `salt` tells sequences
// apart.
constexpr uint64_t random_entry(uint64_t i, uint64_t salt) {
  return mix(i ^ (salt << 40)) % kCountedEntries;
}

}  // namespace hawthorn::bench
