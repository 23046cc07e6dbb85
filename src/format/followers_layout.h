#pragma once
// The file `followers`: which processes read beside the one that writes, and what of the data files
// they may still read; and the file `revocations`, by which that one takes it from them. Pure: no
// I/O.
//
//   followers:    | header | slots, each written by its follower |
//   revocations:  | one for each slot |
//
// Not here: claiming slots, and what the writer makes of them (db/follower_registry.h). Threads:
// pure.
//
// Both are made by who opens the database for writing, and never replaced by others: who has them
// open would not know. Nothing of them is synced; behind a crash of the machine nobody reads.
// Followers may be of users that are trusted with less, and write `followers`: nobody maps it,
// since who cuts it off would end whoever does. `revocations` is written by the owner alone.
//
// 1. A slot is its follower's as long as that holds the lock of the slot's first byte, which goes
//    with the process. Without the lock it says nothing any more.
// 2. A slot whose checksum is wrong is being written: it counts as one that pins everything.
// 3. A revocation that names the slot's claim ends what the slot pins. No claim is made twice.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hawthorn::format {

inline constexpr std::string_view kFollowersName = "followers";
inline constexpr std::string_view kRevocationsName = "revocations";
inline constexpr char kFollowersMagic[] = "HAWTFOLL";  // without the final zero on disk
inline constexpr uint32_t kFollowersVersion = 2;
inline constexpr uint32_t kFollowerSlots = 128;
inline constexpr uint64_t kFollowerSlotsAt = 4096;
inline constexpr size_t kFollowersFileBytes = 12288;
inline constexpr size_t kRevocationsFileBytes = 65536;  // so that it can be mapped; zeros behind

// OFFSET SIZE FIELD
//      0    8 magic       "HAWTFOLL"
//      8    4 version     2
//     12    4 slot_count  128
//     16    8 salt        of the log epoch that the process begins which writes
//     24    8 salt_before of the last epoch that it found; 0: none
//     32   24 reserved    zero
//     56    8 checksum    checksum64 of bytes [0, 56)
struct FollowersHeader {
  char magic[8];
  uint32_t version;
  uint32_t slot_count;
  uint64_t salt;
  uint64_t salt_before;
  uint8_t reserved[24];
  uint64_t checksum;
};
static_assert(sizeof(FollowersHeader) == 64);

enum class FollowerState : uint32_t { kFree = 0, kOpening = 1, kPinned = 2 };

// OFFSET SIZE FIELD
//      0    8 claim          a number that only this claim of the slot has; 0: it is free
//      8    8 pid            of the follower, as it sees itself
//     16    8 process_start  field 22 of /proc/<pid>/stat
//     24    8 since_us       microseconds since 1970
//     32    8 batch          of the manifest, which its view was made from
//     40    4 state          0 free, 1 opening: pins everything, 2 pinned
//     44   12 reserved       zero
//     56    8 checksum       checksum64 of bytes [0, 56); 0 where all is zero
struct FollowerSlot {
  uint64_t claim;
  uint64_t pid;
  uint64_t process_start;
  uint64_t since_us;
  uint64_t batch;
  uint32_t state;
  uint8_t reserved[12];
  uint64_t checksum;
};
static_assert(sizeof(FollowerSlot) == 64);
static_assert(kFollowerSlotsAt + kFollowerSlots * sizeof(FollowerSlot) == kFollowersFileBytes);

inline constexpr uint64_t follower_slot_at(uint32_t slot) {
  return kFollowerSlotsAt + slot * sizeof(FollowerSlot);
}
inline constexpr uint64_t follower_revocation_at(uint32_t slot) { return slot * sizeof(uint64_t); }

void seal(FollowersHeader& header);
void seal(FollowerSlot& slot);
// Whether these are bytes that seal has finished, of this version.
bool valid(const FollowersHeader& header);
bool valid(const FollowerSlot& slot);

}  // namespace hawthorn::format
