#pragma once
// What the manifest says: trees, containers, extents, log epochs. Plain data; encode and decode are
// in manifest_record.h, files in db/manifest.h.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/thin.h"
#include "format/log_epoch.h"
#include "format/record_map.h"

namespace hawthorn::format {

// Blocks of a data file are numbered 0 to kFileBlocksMax - 1, so that a count of blocks always fits
// into 32 bits.
inline constexpr uint64_t kFileBlocksMax = (uint64_t{1} << 32) - 1;

// A piece of a data file, in blocks of 4 KB.
struct ExtentAddress {
  uint32_t file = 0;
  uint32_t block = 0;
  uint32_t blocks = 0;
  bool operator==(const ExtentAddress&) const = default;
  auto operator<=>(const ExtentAddress&) const = default;
};

struct ValueExtentRecord {
  ExtentAddress address;       // of fewer blocks than hold `bytes`: it is packed (packing.h)
  uint32_t bytes = 0;          // of values in it, unpacked, without the last block's rest
  uint32_t garbage_bytes = 0;  // of those, no longer referred to by the run
  bool operator==(const ValueExtentRecord&) const = default;
};

// A large value's extent, owned by a container since its flush.
struct ContainerRecord {
  uint64_t id = 0;
  ThinString low;  // first key of its range, which ends where the next container begins
  Lsn cut = 0;     // F: the run reflects every version with cts <= F and none above (R10)
  Lsn max_ts = 0;  // the largest cts in the run
  uint64_t entries = 0;
  uint64_t run_checksum = 0;  // of the run's header block, which holds the checksums of the others
  uint64_t seal = 0;  // of a sealed run: the base of its header area's seal; 0: it is not sealed
  ThinVector<ValueExtentRecord> values;
  ThinVector<ExtentAddress> large;  // extents of values over 64 KB that the run refers to
  uint32_t tree = 0;
  ExtentAddress run;              // blocks == 0: the run is empty, nothing on disk
  uint32_t unpacked_blocks = 0;   // of the run's image, where its heap is packed; 0: it is not
  uint32_t separator_blocks = 0;  // of its header area
  bool wide = false;              // the run's groups are wide (run_layout.h)
  bool first_heads = false;       // its header area holds their first heads
  bool separated = false;         // it has separators where heads tie, if they do
  // Of the run's image in memory.
  uint32_t image_blocks() const { return unpacked_blocks == 0 ? run.blocks : unpacked_blocks; }
  bool sealed() const { return seal != 0; }
  bool operator==(const ContainerRecord&) const = default;
};

// A device that holds data instead of files; as files its extents have the numbers from
// kDeviceFilesFirst on.
struct DeviceRecord {
  uint32_t index = 0;
  uint64_t generation = 0;  // of its label, or one less
  uint64_t blocks = 0;      // that the database may use, the label's among them
  std::string path;         // where it last was
  bool operator==(const DeviceRecord&) const = default;
};

inline constexpr uint32_t kDeviceFilesFirst = 16384;
inline constexpr uint32_t kDevicesMax = 64;
inline constexpr size_t kDevicePathBytesMax = 4096;

inline constexpr size_t kMergeOperatorBytesMax = 255;  // of its name

struct TreeRecord {
  uint32_t id = 0;
  std::string name;         // may be behind what the catalog says (catalog_entry.h)
  uint32_t comparator = 0;  // 0: bytewise
  uint32_t flags = 0;       // the codec of what is written from now on (packing.h); else zero
  std::string merge_operator = {};  // its name; empty: none
  uint32_t layer_of = 0;            // the tree whose layer it is (tree/layers.h); 0: it is none
  Lsn layer_cts = 0;       // the commit that the layer is of; 0: there is none yet, and it may go
  uint32_t clone_of = 0;   // what it shows where it has nothing itself (tree/clones.h); 0: nothing
  Lsn clone_ts = 0;        // as of this commit, which made it; 0: the log tells
  std::string shape = {};  // tree_shape.h; empty: keys and values are stored as they are
  bool operator==(const TreeRecord&) const = default;
};

// What Zstd knows before it packs chunks of a tree.
struct DictionaryRecord {
  uint32_t id = 0;  // not 0
  uint32_t tree = 0;
  std::string bytes;
  bool operator==(const DictionaryRecord&) const = default;
};
inline constexpr size_t kDictionaryBytesMax = size_t{64} << 10;

// A snapshot with a name, which a restart does not end.
struct SnapshotRecord {
  std::string name;
  Lsn timestamp = 0;
  uint64_t created_us = 0;  // wall clock
  bool operator==(const SnapshotRecord&) const = default;
};
inline constexpr size_t kSnapshotNameBytesMax = 255;

// A position in the order of commits, for which the log behind it is kept.
struct FeedRecord {
  std::string name;
  Lsn position = 0;   // all commits up to there were acknowledged
  Lsn scan_from = 0;  // no commit behind the position has anything in the log below
  uint64_t created_us = 0;
  uint64_t log_bytes_max = 0;  // 0: no limit
  bool lost = false;           // what it had not read is gone
  bool operator==(const FeedRecord&) const = default;
};

// A value's offset has 28 bits.
inline constexpr uint32_t kValueExtentBytesMax = uint32_t{1} << 28;

struct ManifestState {
  RecordMap<uint32_t, TreeRecord> trees;
  std::map<uint32_t, DictionaryRecord> dictionaries;  // by id; they go with their trees
  RecordMap<uint64_t, ContainerRecord> containers;
  std::map<std::string, SnapshotRecord> snapshots;  // by name
  std::map<std::string, FeedRecord> feeds;          // by name
  uint32_t next_tree = 1;
  uint64_t next_container = 1;
  std::vector<LogEpoch> epochs;
  std::vector<DeviceRecord> devices;  // by index, without gaps; empty: data files
  Lsn log_trim = 0;                   // the log below is not needed
  Lsn lsn_reserved = 0;               // no lsn at or above was ever issued (R2)
  uint64_t last_batch = 0;
  bool operator==(const ManifestState&) const = default;
};

// One batch of changes: durable together or not at all.
struct ManifestBatch {
  std::vector<TreeRecord> trees_created;
  std::vector<TreeRecord> trees_set;  // replaced by id: anything else may differ
  std::vector<uint32_t> trees_dropped;
  std::vector<DictionaryRecord> dictionaries_added;
  std::vector<ContainerRecord> containers_set;  // added, or replaced by id
  std::vector<uint64_t> containers_deleted;
  std::vector<LogEpoch> epochs_set;  // added, or replaced by number
  std::vector<uint64_t> epochs_deleted;
  std::vector<SnapshotRecord> snapshots_set;  // added
  std::vector<std::string> snapshots_deleted;
  std::vector<FeedRecord> feeds_set;  // added, or replaced by name
  std::vector<std::string> feeds_deleted;
  std::vector<DeviceRecord> devices_set;  // added (the next index), or replaced by index
  Lsn log_trim = 0;                       // 0: unchanged
  Lsn lsn_reserved = 0;                   // 0: unchanged
  uint64_t features = 0;  // incompatible ones that the superblock has to name from here on
  bool empty() const { return features == 0 && changes_nothing(); }
  // Of what a manifest's state holds.
  bool changes_nothing() const {
    return trees_created.empty() && trees_set.empty() && trees_dropped.empty() &&
           dictionaries_added.empty() && containers_set.empty() && containers_deleted.empty() &&
           epochs_set.empty() && epochs_deleted.empty() && snapshots_set.empty() &&
           snapshots_deleted.empty() && feeds_set.empty() && feeds_deleted.empty() &&
           devices_set.empty() && log_trim == 0 && lsn_reserved == 0;
  }
  bool operator==(const ManifestBatch&) const = default;
};

}  // namespace hawthorn::format
