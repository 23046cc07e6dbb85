#include "format/device_label.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/checksum.h"
#include "hawthorn/version.h"

namespace hawthorn::format {
namespace {

constexpr size_t kLabelChecksumOffset = offsetof(DeviceSlot, checksum_low);

Result<DeviceLabel> decode(std::string_view block, size_t slot_index) {
  DeviceSlot slot;
  std::memcpy(&slot, block.data(), sizeof(slot));
  if (std::memcmp(slot.magic, kDeviceMagic, sizeof(slot.magic)) != 0) {
    return Status(StatusCode::kNotFound, "no label");
  }
  const Checksum128 checksum = checksum128(block.data(), kLabelChecksumOffset);
  if (checksum.low != slot.checksum_low || checksum.high != slot.checksum_high) {
    return Status(StatusCode::kCorruption, "checksum mismatch in the label");
  }
  if (slot.format_version > kFormatVersion) {
    return Status(StatusCode::kNotSupported, "the label has format version " +
                                                 std::to_string(slot.format_version) +
                                                 ", newer than " + std::to_string(kFormatVersion));
  }
  const bool zero = std::all_of(std::begin(slot.reserved), std::end(slot.reserved),
                                [](uint8_t byte) { return byte == 0; });
  if (!zero || slot.format_version == 0 || slot.generation % kDeviceSlots != slot_index) {
    return Status(StatusCode::kCorruption, "the label has fields that do not fit");
  }
  return DeviceLabel{slot.index, slot.uuid_low, slot.uuid_high, slot.generation, slot.blocks};
}

}  // namespace

std::string encode_device_label(const DeviceLabel& label) {
  DeviceSlot slot = {};
  std::memcpy(slot.magic, kDeviceMagic, sizeof(slot.magic));
  slot.format_version = kFormatVersion;
  slot.index = label.index;
  slot.uuid_low = label.uuid_low;
  slot.uuid_high = label.uuid_high;
  slot.generation = label.generation;
  slot.blocks = label.blocks;
  const Checksum128 checksum = checksum128(&slot, kLabelChecksumOffset);
  slot.checksum_low = checksum.low;
  slot.checksum_high = checksum.high;
  return std::string(reinterpret_cast<const char*>(&slot), sizeof(slot));
}

Result<DeviceLabel> choose_device_label(std::string_view blocks) {
  std::optional<DeviceLabel> best;
  Status error(StatusCode::kNotFound, "no label");
  for (size_t i = 0; i < kDeviceSlots && blocks.size() >= (i + 1) * kDeviceSlotBytes; ++i) {
    Result<DeviceLabel> label = decode(blocks.substr(i * kDeviceSlotBytes, kDeviceSlotBytes), i);
    if (!label.ok()) {
      if (!label.status().is_not_found()) error = label.status();
      continue;
    }
    if (!best || label->generation > best->generation) best = *label;
  }
  if (error.is(StatusCode::kNotSupported)) return error;
  if (best) return *best;
  return error;
}

}  // namespace hawthorn::format
