#include "format/superblock.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/bytes.h"
#include "base/checksum.h"
#include "hawthorn/version.h"

namespace hawthorn::format {
namespace {

constexpr size_t kSlotChecksumOffset = offsetof(SuperblockSlot, checksum_low);

bool readable(const Superblock& superblock) {
  return superblock.format_version <= kFormatVersion &&
         (superblock.features.incompatible & ~kFeaturesKnown.incompatible) == 0;
}

Status corrupt_superblock(std::string why) {
  return Status(StatusCode::kCorruption, std::move(why));
}

}  // namespace

std::string encode_superblock(const Superblock& superblock) {
  SuperblockSlot slot = {};
  std::memcpy(slot.magic, kSuperblockMagic, sizeof(slot.magic));
  slot.format_version = superblock.format_version;
  slot.uuid_low = superblock.uuid_low;
  slot.uuid_high = superblock.uuid_high;
  slot.generation = superblock.generation;
  slot.manifest_number = superblock.manifest_number;
  slot.features_compatible = superblock.features.compatible;
  slot.features_read_only = superblock.features.read_only;
  slot.features_incompatible = superblock.features.incompatible;
  const Checksum128 checksum = checksum128(&slot, kSlotChecksumOffset);
  slot.checksum_low = checksum.low;
  slot.checksum_high = checksum.high;
  return std::string(reinterpret_cast<const char*>(&slot), sizeof(slot));
}

Result<Superblock> decode_superblock(std::string_view block, size_t slot_index) {
  if (block.size() < kSuperblockSlotBytes) return corrupt_superblock("the slot is cut off");
  SuperblockSlot slot;
  std::memcpy(&slot, block.data(), sizeof(slot));
  if (std::memcmp(slot.magic, kSuperblockMagic, sizeof(slot.magic)) != 0) {
    return corrupt_superblock("no superblock: wrong magic");
  }
  const Checksum128 checksum = checksum128(block.data(), kSlotChecksumOffset);
  if (checksum.low != slot.checksum_low || checksum.high != slot.checksum_high) {
    return corrupt_superblock("checksum mismatch");
  }
  Superblock superblock;
  superblock.format_version = slot.format_version;
  superblock.uuid_low = slot.uuid_low;
  superblock.uuid_high = slot.uuid_high;
  superblock.generation = slot.generation;
  superblock.manifest_number = slot.manifest_number;
  superblock.features = {slot.features_compatible, slot.features_read_only,
                         slot.features_incompatible};
  if (slot.format_version == 0) return corrupt_superblock("format version 0");
  if (superblock_slot_of(slot.generation) != slot_index) {
    return corrupt_superblock("generation " + std::to_string(slot.generation) +
                              " belongs into the other slot");
  }
  // What a newer version does with the reserved bytes is its own affair.
  if (!readable(superblock)) return superblock;
  const bool reserved_zero =
      slot.reserved_0 == 0 && std::all_of(std::begin(slot.reserved_1), std::end(slot.reserved_1),
                                          [](uint8_t byte) { return byte == 0; });
  if (!reserved_zero) return corrupt_superblock("reserved bytes are not zero");
  if (slot.manifest_number == 0) return corrupt_superblock("manifest number 0");
  return superblock;
}

Result<Superblock> choose_superblock(std::string_view file, std::string* warning) {
  std::optional<Superblock> best;
  std::string problems;
  for (size_t i = 0; i < kSuperblockSlots; ++i) {
    const size_t offset = i * kSuperblockSlotBytes;
    const std::string_view block =
        offset < file.size() ? file.substr(offset, kSuperblockSlotBytes) : std::string_view();
    Result<Superblock> slot = decode_superblock(block, i);
    if (!slot.ok()) {
      if (!problems.empty()) problems += "; ";
      problems += "superblock at " + std::to_string(offset) + ": ";
      problems += slot.status().message();
      continue;
    }
    if (!best || slot->generation > best->generation) best = *slot;
  }
  if (!best) return corrupt_superblock(std::move(problems));
  if (warning != nullptr && !problems.empty()) *warning = problems + " (the other slot is used)";
  if (best->format_version > kFormatVersion) {
    return Status(StatusCode::kNotSupported,
                  "superblock: format version " + std::to_string(best->format_version) +
                      " is newer than " + std::to_string(kFormatVersion) +
                      ", the newest known here");
  }
  if (!readable(*best)) {
    return Status(StatusCode::kNotSupported,
                  "superblock: the database has features of a newer version (" +
                      unknown_features(best->features) + ")");
  }
  return *best;
}

namespace {
void add_unknown(uint64_t bits, const char* of, std::string* text) {
  for (int bit = 0; bit < 64; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    if (!text->empty()) *text += ", ";
    *text += "bit " + std::to_string(bit) + of;
  }
}
}  // namespace

std::string unknown_features(const Features& features) {
  std::string text;
  add_unknown(features.incompatible & ~kFeaturesKnown.incompatible, " of features_incompatible",
              &text);
  add_unknown(features.read_only & ~kFeaturesKnown.read_only, " of features_read_only", &text);
  return text;
}

bool must_not_write(const Features& features) {
  return (features.read_only & ~kFeaturesKnown.read_only) != 0;
}

}  // namespace hawthorn::format
