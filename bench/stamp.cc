#include "bench/stamp.h"

#include <algorithm>
#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace hawthorn::bench {
namespace {

constexpr size_t kFillBytes = size_t{1} << 20;

// One megabyte of xorshift output, from which values take a stretch.
const char* fill_bytes() {
  static const auto* const table = [] {
    auto* words = new std::array<uint64_t, kFillBytes / sizeof(uint64_t)>;
    uint64_t state = 0xdeadbeefcafebabeULL;
    for (uint64_t& word : *words) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      word = state;
    }
    return words;
  }();
  return reinterpret_cast<const char*>(table->data());
}

// Runs f(piece of the fill, offset in the value, bytes) over what follows the stamp.
template <class F>
void for_each_piece(uint64_t key, uint8_t version, size_t value_bytes, F&& f) {
  size_t from = mix64(key + version) % (kFillBytes / 2);
  for (size_t at = kStampBytes; at < value_bytes;) {
    const size_t bytes = std::min(value_bytes - at, kFillBytes - from);
    f(fill_bytes() + from, at, bytes);
    at += bytes;
    from = 0;
  }
}

}  // namespace

uint64_t random_key(uint64_t sequence) { return XXH3_64bits(&sequence, sizeof sequence); }

void make_value(uint64_t key, uint8_t version, char* value, size_t value_bytes) {
  store64(value, stamp(key, version));
  for_each_piece(key, version, value_bytes, [&](const char* piece, size_t at, size_t bytes) {
    std::memcpy(value + at, piece, bytes);
  });
}

bool value_is_whole(uint64_t key, uint8_t version, std::string_view value) {
  if (value.size() < kStampBytes || load64(value.data()) != stamp(key, version)) return false;
  bool whole = true;
  for_each_piece(key, version, value.size(), [&](const char* piece, size_t at, size_t bytes) {
    whole = whole && std::memcmp(value.data() + at, piece, bytes) == 0;
  });
  return whole;
}

}  // namespace hawthorn::bench
