#pragma once
// CRC-32C of what the shim writes into files of its own.
//
// Used by backups and files of entries. Threads: any.

#include <array>
#include <cstdint>
#include <string_view>

namespace hawthorn::rocks {

constexpr std::array<uint32_t, 256> crc32c_table() {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
    table[byte] = rest;
  }
  return table;
}

inline uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc32c_table();
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

}  // namespace hawthorn::rocks
