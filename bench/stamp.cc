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

// Runs f(piece of the fill, offset in the value, bytes) over what follows the stamp, up to `end`.
template <class F>
void for_each_piece(uint64_t key, uint8_t version, size_t end, F&& f) {
  size_t from = mix64(key + version) % (kFillBytes / 2);
  for (size_t at = kStampBytes; at < end;) {
    const size_t bytes = std::min(end - at, kFillBytes - from);
    f(fill_bytes() + from, at, bytes);
    at += bytes;
    from = 0;
  }
}

// Where the noise of a value ends: what follows repeats the value from its start on.
size_t noise_end(size_t value_bytes, Fill fill) {
  return fill == Fill::kHalf ? std::max(kStampBytes, (value_bytes + 1) / 2) : value_bytes;
}

}  // namespace

uint64_t random_key(uint64_t sequence) { return XXH3_64bits(&sequence, sizeof sequence); }

void make_value(uint64_t key, uint8_t version, char* value, size_t value_bytes, Fill fill) {
  store64(value, stamp(key, version));
  const size_t end = noise_end(value_bytes, fill);
  for_each_piece(key, version, end, [&](const char* piece, size_t at, size_t bytes) {
    std::memcpy(value + at, piece, bytes);
  });
  // No more than what stands before it.
  std::memcpy(value + end, value, value_bytes - end);
}

bool value_is_whole(uint64_t key, uint8_t version, std::string_view value, Fill fill) {
  if (value.size() < kStampBytes || load64(value.data()) != stamp(key, version)) return false;
  const size_t end = noise_end(value.size(), fill);
  bool whole = true;
  for_each_piece(key, version, end, [&](const char* piece, size_t at, size_t bytes) {
    whole = whole && std::memcmp(value.data() + at, piece, bytes) == 0;
  });
  return whole && std::memcmp(value.data() + end, value.data(), value.size() - end) == 0;
}

}  // namespace hawthorn::bench
