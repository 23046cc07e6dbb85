#include "format/followers_layout.h"

#include <cstring>

#include "base/checksum.h"

namespace hawthorn::format {

namespace {
template <typename Record>
uint64_t checksum_of(const Record& record) {
  static_assert(offsetof(Record, checksum) + sizeof(uint64_t) == sizeof(Record));
  return checksum64(reinterpret_cast<const char*>(&record), offsetof(Record, checksum), 0);
}
}  // namespace

void seal(FollowersHeader& header) {
  std::memcpy(header.magic, kFollowersMagic, sizeof(header.magic));
  header.version = kFollowersVersion;
  header.slot_count = kFollowerSlots;
  header.checksum = checksum_of(header);
}

void seal(FollowerSlot& slot) { slot.checksum = slot.claim == 0 ? 0 : checksum_of(slot); }

bool valid(const FollowersHeader& header) {
  return std::memcmp(header.magic, kFollowersMagic, sizeof(header.magic)) == 0 &&
         header.version == kFollowersVersion && header.slot_count == kFollowerSlots &&
         header.checksum == checksum_of(header);
}

bool valid(const FollowerSlot& slot) {
  static constexpr FollowerSlot kZero{};
  if (slot.claim == 0) return std::memcmp(&slot, &kZero, sizeof(slot)) == 0;
  return slot.checksum == checksum_of(slot) &&
         (slot.state == static_cast<uint32_t>(FollowerState::kOpening) ||
          slot.state == static_cast<uint32_t>(FollowerState::kPinned));
}

}  // namespace hawthorn::format
