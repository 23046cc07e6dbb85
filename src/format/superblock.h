#pragma once
// The file `superblock`: two slots in two 4 KB blocks that say which manifest is the current one.
// Pure: no I/O.
//
// Not here: when a slot is written and what must be durable before (db/manifest.h).
// Used by db/manifest and the tools. Threads: pure functions.
//
// OFFSET SIZE FIELD
//      0    8 magic                  "HAWTHORN"
//      8    4 format_version         magic, version and checksum never move
//     12    4 reserved_0             zero, checked
//     16    8 uuid_low               of the database; every manifest repeats it
//     24    8 uuid_high
//     32    8 generation             grows with every slot written; the highest valid one wins
//     40    8 manifest_number        the current manifest is manifest.<number>
//     48    8 features_compatible    unknown bits: read and write as usual, keep the bits
//     56    8 features_read_only     unknown bits: may be read, not written
//     64    8 features_incompatible  unknown bits: refused
//     72 4008 reserved_1             zero, checked
//   4080    8 checksum_low           checksum128 of bytes [0, 4080)
//   4088    8 checksum_high
//
// 1. The slot of generation g is slot g mod 2: a slot in the wrong place is bad.
// 2. Two slots are written for each new manifest, one after the other, each synced, before the old
//    manifest is removed. So each slot alone leads to the present state, and one bad slot costs
//    nothing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr size_t kSuperblockSlotBytes = 4096;
inline constexpr size_t kSuperblockSlots = 2;
inline constexpr size_t kSuperblockBytes = kSuperblockSlotBytes * kSuperblockSlots;
inline constexpr char kSuperblockMagic[] = "HAWTHORN";  // without the final zero on disk

struct SuperblockSlot {
  char magic[8];
  uint32_t format_version;
  uint32_t reserved_0;
  uint64_t uuid_low;
  uint64_t uuid_high;
  uint64_t generation;
  uint64_t manifest_number;
  uint64_t features_compatible;
  uint64_t features_read_only;
  uint64_t features_incompatible;
  uint8_t reserved_1[4008];
  uint64_t checksum_low;
  uint64_t checksum_high;
};
static_assert(sizeof(SuperblockSlot) == kSuperblockSlotBytes);
static_assert(offsetof(SuperblockSlot, uuid_low) == 16);
static_assert(offsetof(SuperblockSlot, features_incompatible) == 64);
static_assert(offsetof(SuperblockSlot, checksum_low) == 4080);

struct Features {
  uint64_t compatible = 0;
  uint64_t read_only = 0;
  uint64_t incompatible = 0;
  bool operator==(const Features&) const = default;
};
// Incompatible: the data lie on devices (device_label.h), not in data files.
inline constexpr uint64_t kFeatureDevices = 1;
// Incompatible: some tree is or was compressed: its flags, dictionaries, packed blocks (packing.h).
inline constexpr uint64_t kFeatureCompression = 2;
// Incompatible: runs may have wide groups, and first heads in their header areas (run_layout.h). In
// every database that a version which knows them has opened for writing.
inline constexpr uint64_t kFeatureRunShapes = 4;
// Incompatible: names of trees stand in the catalog (catalog_entry.h); snapshots may have names.
// As kFeatureRunShapes.
inline constexpr uint64_t kFeatureCatalog = 8;
// Incompatible: some tree has or had a merge operator: its record, operations of the log, records
// of runs.
inline constexpr uint64_t kFeatureMergeOperators = 16;
// Incompatible: there is or was a layer: the log has records of them, manifests trees that are
// some.
inline constexpr uint64_t kFeatureLayers = 32;
// Incompatible: some tree is or was a clone: its record, its entry in the catalog, deletes in its
// runs that hide nothing there.
inline constexpr uint64_t kFeatureClones = 64;
// Incompatible: some tree has or had an order of its own, or several values to a key: its record,
// its entry in the catalog.
inline constexpr uint64_t kFeatureTreeShapes = 128;
// Incompatible: some large value is or was in pieces (large_value.h).
inline constexpr uint64_t kFeatureLargePieces = 256;
// Incompatible: some tree may have or had values that are trees: its record, entries of the
// catalog.
inline constexpr uint64_t kFeatureSubtrees = 512;
// Incompatible: there is or was a feed: its record, and a log that is kept for it.
inline constexpr uint64_t kFeatureFeeds = 1024;
// Incompatible: all of the program's data are encrypted, by the keys of the file `keys`
// (key_file.h). In databases that were created so.
inline constexpr uint64_t kFeatureEncryption = 2048;
// Incompatible: runs may have separators (run_separators.h), of which records of containers tell.
// As kFeatureRunShapes.
inline constexpr uint64_t kFeatureSeparators = 4096;
// What this version knows.
inline constexpr Features kFeaturesKnown = {
    0, 0,
    kFeatureDevices | kFeatureCompression | kFeatureRunShapes | kFeatureCatalog |
        kFeatureMergeOperators | kFeatureLayers | kFeatureClones | kFeatureTreeShapes |
        kFeatureLargePieces | kFeatureSubtrees | kFeatureFeeds | kFeatureEncryption |
        kFeatureSeparators};

struct Superblock {
  uint32_t format_version = 0;
  uint64_t uuid_low = 0;
  uint64_t uuid_high = 0;
  uint64_t generation = 0;
  uint64_t manifest_number = 0;
  Features features;
  bool operator==(const Superblock&) const = default;
};

inline constexpr size_t superblock_slot_of(uint64_t generation) {
  return static_cast<size_t>(generation % kSuperblockSlots);
}

// The 4096 bytes of its slot.
std::string encode_superblock(const Superblock& superblock);

// One slot from its block. Errors: kCorruption (why, without file and offset). A slot of a newer
// format version or with unknown incompatible features is not an error here: only what all versions
// share has been checked then.
Result<Superblock> decode_superblock(std::string_view block, size_t slot);

// The valid slot with the highest generation of a whole superblock file, of whatever length. One
// bad slot is described in `warning`. Errors: kCorruption when both are bad; kNotSupported for a
// newer format version or unknown incompatible features.
Result<Superblock> choose_superblock(std::string_view file, std::string* warning);

// Whether features_read_only has bits that this version does not know: then nothing may be written.
bool must_not_write(const Features& features);
// "bit 11 of features_incompatible, ...": those of incompatible and read_only that this version
// does not know, as docs/format.md of the version that has made them numbers them.
std::string unknown_features(const Features& features);

}  // namespace hawthorn::format
