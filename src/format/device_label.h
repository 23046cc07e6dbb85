#pragma once
// The label of a device that holds a database's data: whose it is, and which of them. Two slots in
// its first two blocks of 4 KB. Pure: no I/O.
//
// Not here: when a label is written and what is refused (space/devices.h).
// Used by space/devices. Threads: pure functions.
//
// OFFSET SIZE FIELD
//      0    8 magic            "HAWTDEVI"
//      8    4 format_version   magic, version and checksum never move
//     12    4 index            of the device in its database, from 0
//     16    8 uuid_low         of the database, as in the superblock
//     24    8 uuid_high
//     32    8 generation       0: the database is being created; then grows with each open
//     40    8 blocks           of 4096 bytes, the label's and the last 16 among them
//     48 4032 reserved         zero, checked
//   4080    8 checksum_low     checksum128 of bytes [0, 4080)
//   4088    8 checksum_high
//
// 1. The slot of generation g is slot g mod 2; the valid one with the higher generation counts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr size_t kDeviceSlotBytes = 4096;
inline constexpr size_t kDeviceSlots = 2;
// Extents lie behind the first megabyte and before the last 64 KB, where other formats have their
// signatures.
inline constexpr uint32_t kDeviceHeadBlocks = 256;
inline constexpr uint32_t kDeviceTailBlocks = 16;
inline constexpr char kDeviceMagic[] = "HAWTDEVI";  // without the final zero on disk

struct DeviceSlot {
  char magic[8];
  uint32_t format_version;
  uint32_t index;
  uint64_t uuid_low;
  uint64_t uuid_high;
  uint64_t generation;
  uint64_t blocks;
  uint8_t reserved[4032];
  uint64_t checksum_low;
  uint64_t checksum_high;
};
static_assert(sizeof(DeviceSlot) == kDeviceSlotBytes);
static_assert(offsetof(DeviceSlot, generation) == 32);
static_assert(offsetof(DeviceSlot, checksum_low) == 4080);

struct DeviceLabel {
  uint32_t index = 0;
  uint64_t uuid_low = 0;
  uint64_t uuid_high = 0;
  uint64_t generation = 0;
  uint64_t blocks = 0;
  bool operator==(const DeviceLabel&) const = default;
};

// The 4096 bytes of its slot.
std::string encode_device_label(const DeviceLabel& label);

// The label of a device from its first two blocks. Errors: kNotFound: neither is a label;
// kCorruption: there was one; kNotSupported: of a newer format version.
Result<DeviceLabel> choose_device_label(std::string_view blocks);

}  // namespace hawthorn::format
