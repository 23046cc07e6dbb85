#pragma once
// For tests: keys of all shapes that an ordered index can get wrong, from a seed.
//
// Threads: pure functions.

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/prng.h"

namespace hawthorn::tree::delta_keys {

enum class KeyShape : uint8_t {
  kRandom,      // any bytes, 0 to 20 of them
  kFixed8,      // 8 random bytes
  kSequence,    // ascending numbers
  kReverse,     // descending numbers
  kTwoLetters,  // of 1 to 16 letters: keys are prefixes of each other
  kEdges,       // of 0x00 and 0xff only, the empty key among them
  kEqualHeads,  // the first 8 bytes are the same
  kFewHeads,    // a few different heads, long tails
  kDecimal,     // "user" and a number in decimal
  kCount
};

inline std::string random_bytes(Prng& prng, size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(prng.next());
  return bytes;
}

inline std::string big_endian(uint64_t number) {
  std::string bytes(8, '\0');
  store(bytes.data(), __builtin_bswap64(number));
  return bytes;
}

inline std::string make_key(Prng& prng, KeyShape shape, uint64_t number) {
  const auto of_letters = [&prng](size_t size, std::string_view letters) {
    std::string key(size, '\0');
    for (char& letter : key) letter = letters[prng.below(letters.size())];
    return key;
  };
  switch (shape) {
    case KeyShape::kRandom:
      return random_bytes(prng, prng.below(21));
    case KeyShape::kFixed8:
      return big_endian(prng.next());
    case KeyShape::kSequence:
      return big_endian(number * 3);
    case KeyShape::kReverse:
      return big_endian(1'000'000'000 - number * 3);
    case KeyShape::kTwoLetters:
      return of_letters(prng.between(1, 16), "ab");
    case KeyShape::kEdges:
      return of_letters(prng.below(14), std::string_view("\x00\xff", 2));
    case KeyShape::kEqualHeads:
      return "samehead" + random_bytes(prng, prng.below(6));
    case KeyShape::kFewHeads:
      return "head" + big_endian(prng.below(5)).substr(4) + of_letters(prng.below(9), "xyz");
    case KeyShape::kDecimal:
      return "user" + std::to_string(prng.below(1'000'000));
    case KeyShape::kCount:
      break;
  }
  return {};
}

inline std::vector<std::string> make_keys(Prng& prng, KeyShape shape, size_t count,
                                          const std::string& prefix) {
  std::vector<std::string> keys;
  keys.reserve(count);
  for (size_t i = 0; i < count; ++i) keys.push_back(prefix + make_key(prng, shape, i));
  return keys;
}

}  // namespace hawthorn::tree::delta_keys
