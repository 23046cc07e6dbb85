#pragma once
// Bytes and numbers in them: little-endian loads and stores, varints, key comparison, the 8-byte
// key head.
//
// Not here: checksums (checksum.h), I/O. Used by every layer. Threads: pure functions.
//
// 1. All integers on disk are little-endian.
// 2. Keys compare as unsigned bytes, a prefix before its extensions.
// 3. head(a) < head(b) implies a < b for keys that share the skipped prefix; equal heads say
//    nothing.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hawthorn {

static_assert(std::endian::native == std::endian::little,
              "Hawthorn runs on little-endian machines");

template <typename T>
inline T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
inline void store(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <typename T>
inline void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// The bytes of a value, which are valid as long as it is there.
template <typename T>
inline std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

// By memcmp, which looks at many bytes at once.
inline bool all_zero(const void* from, size_t size) {
  const char* bytes = static_cast<const char*>(from);
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}
inline bool all_zero(std::string_view bytes) { return all_zero(bytes.data(), bytes.size()); }

namespace internal {
// The first and the last word of what has `size` bytes, from one to two words.
template <typename Word>
inline void copy_words(char* to, const char* from, size_t size) {
  const Word first = load<Word>(from);
  const Word last = load<Word>(from + size - sizeof(Word));
  store(to, first);
  store(to + size - sizeof(Word), last);
}
template <typename Word>
inline bool equal_words(const char* a, const char* b, size_t size) {
  const size_t last = size - sizeof(Word);
  return load<Word>(a) == load<Word>(b) && load<Word>(a + last) == load<Word>(b + last);
}
}  // namespace internal

// As memcpy, but an empty view may have no address, and keys and small values cost no call.
inline void copy_bytes(void* target, std::string_view from) {
  char* const to = static_cast<char*>(target);
  const size_t size = from.size();
  if (size > 16) {
    std::memcpy(to, from.data(), size);
  } else if (size >= 8) {
    internal::copy_words<uint64_t>(to, from.data(), size);
  } else if (size >= 4) {
    internal::copy_words<uint32_t>(to, from.data(), size);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

// As a == b, without a call where they are small.
inline bool equal_bytes(std::string_view a, std::string_view b) {
  const size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= 8) return internal::equal_words<uint64_t>(a.data(), b.data(), size);
  if (size >= 4) return internal::equal_words<uint32_t>(a.data(), b.data(), size);
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// LEB128, 7 bits a byte, low bits first; at most 10 bytes.
inline constexpr size_t kVarintBytesMax = 10;
inline char* put_varint(char* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}
inline void append_varint(std::string& to, uint64_t value) {
  char buffer[kVarintBytesMax];
  to.append(buffer, static_cast<size_t>(put_varint(buffer, value) - buffer));
}
inline size_t varint_bytes(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}
// Reads a varint from [from, end); returns the byte after it, or nullptr when it is cut off or
// longer than 64 bits.
inline const char* get_varint(const char* from, const char* end, uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 64 && from < end; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(*from++);
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (shift == 63 && byte > 1) return nullptr;
      *value = result;
      return from;
    }
  }
  return nullptr;
}

// The same of one that must fit 32 bits.
inline const char* get_varint32(const char* from, const char* end, uint32_t* value) {
  uint64_t wide = 0;
  from = get_varint(from, end, &wide);
  if (from == nullptr || wide > ~uint32_t{0}) return nullptr;
  *value = static_cast<uint32_t>(wide);
  return from;
}

// The first 8 bytes of key after `skip`, as a big-endian number, padded with zero bytes. key.size()
// >= skip or the key is a prefix of the skipped part (then 0).
inline uint64_t key_head(std::string_view key, size_t skip) {
  if (key.size() >= skip + 8) return __builtin_bswap64(load<uint64_t>(key.data() + skip));
  if (key.size() <= skip) return 0;
  // The key's last 8 bytes end where the head does: no copy of a variable length.
  if (key.size() >= 8) {
    return __builtin_bswap64(load<uint64_t>(key.data() + key.size() - 8))
           << (8 * (skip + 8 - key.size()));
  }
  uint64_t head = 0;
  std::memcpy(&head, key.data() + skip, key.size() - skip);
  return __builtin_bswap64(head);
}

// The length of the common prefix.
inline size_t common_prefix(std::string_view a, std::string_view b) {
  const size_t n = a.size() < b.size() ? a.size() : b.size();
  size_t i = 0;
  while (i < n && a[i] == b[i]) ++i;
  return i;
}

inline constexpr size_t align_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace hawthorn
