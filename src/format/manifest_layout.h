#pragma once
// How a manifest file is laid out: one header block, then batches of records. Structs only;
// encoding and decoding are in manifest_record.h and manifest_reader.h.
//
//   | header block | batch: begin, records ..., commit | batch | ... | zeros up to the file's end
//
// 1. Every batch begins at a multiple of 4096 and ends at one: its commit record is filled up with
//    zeros. No block holds bytes of two batches, so appending never rewrites a byte that is
//    durable.
// 2. Record sequence numbers count 0, 1, 2, ... through the file. Every record is salted with the
//    file's random salt: bytes of another file, or of an earlier one in the same place, never
//    validate.
// 3. The first batch is the snapshot of a whole state; all others are changes, with consecutive
//    batch numbers.
// 4. Reserved fields and padding are zero and checked.

#include <cstddef>
#include <cstdint>

namespace hawthorn::format {

inline constexpr size_t kManifestBlockBytes = 4096;
inline constexpr char kManifestMagic[] = "HAWTMANI";  // without the final zero on disk

// OFFSET SIZE FIELD
//      0    8 magic           "HAWTMANI"
//      8    4 format_version
//     12    4 reserved_0      zero
//     16    8 uuid_low        of the database, as in the superblock
//     24    8 uuid_high
//     32    8 number          of this file: manifest.<number>
//     40    8 salt            random; of all records of this file
//     48    4 key             the data key that payloads are sealed with; 0: they are not
//     52   12 key_salt        from which their key is derived; zero where there is none
//     64 4024 reserved_1      zero
//   4088    8 checksum        checksum64 of bytes [0, 4088), no salt
struct ManifestHeader {
  char magic[8];
  uint32_t format_version;
  uint32_t reserved_0;
  uint64_t uuid_low;
  uint64_t uuid_high;
  uint64_t number;
  uint64_t salt;
  uint32_t key;
  uint8_t key_salt[12];
  uint8_t reserved_1[4024];
  uint64_t checksum;
};
static_assert(sizeof(ManifestHeader) == kManifestBlockBytes);
static_assert(offsetof(ManifestHeader, number) == 32);
static_assert(offsetof(ManifestHeader, checksum) == 4088);

enum class ManifestRecordType : uint8_t {
  kBatchBegin = 1,
  kBatchCommit = 2,
  kTreeCreate = 3,
  kTreeDrop = 4,
  kContainerSet = 5,
  kContainerDelete = 6,
  kEpochSet = 7,
  kEpochDelete = 8,
  kLogTrim = 9,
  kLsnReserve = 10,
  kCounters = 11,  // in snapshots only
  kDeviceSet = 12,
  kTreeSet = 13,
  kDictionaryAdd = 14,
  kSnapshotSet = 15,
  kSnapshotDelete = 16,
  kFeedSet = 19,
  kFeedDelete = 20,
};

// Before every record's payload. The payload is filled up with zeros to a multiple of 8 bytes.
//
// OFFSET SIZE FIELD
//      0    4 checksum        checksum32 of the rest, filling included, with the salt
//      4    4 payload_bytes   without the filling
//      8    8 sequence        of this record in the file
//     16    1 type            ManifestRecordType
//     17    7 reserved        zero
struct ManifestRecordHeader {
  uint32_t checksum;
  uint32_t payload_bytes;
  uint64_t sequence;
  uint8_t type;
  uint8_t reserved[7];
};
static_assert(sizeof(ManifestRecordHeader) == 24);
static_assert(offsetof(ManifestRecordHeader, type) == 16);

inline constexpr size_t kManifestRecordAlign = 8;
inline constexpr size_t kManifestPayloadBytesMax = size_t{16} << 20;

enum class ManifestBatchKind : uint32_t {
  kChanges = 0,
  kSnapshot = 1,
};

// OFFSET SIZE FIELD
//      0    8 number          of the batch; of a snapshot: the last batch in it
//      8    4 kind            ManifestBatchKind
//     12    4 reserved        zero
struct BatchBeginPayload {
  uint64_t number;
  uint32_t kind;
  uint32_t reserved;
};
static_assert(sizeof(BatchBeginPayload) == 16);

// Followed by as many zeros as fill the batch's last block; they count in payload_bytes. The
// checksum goes over all records before this one: each whole record is hashed with the hash of the
// one before as the seed, the first with the salt.
//
// OFFSET SIZE FIELD
//      0    8 number          as in the begin record
//      8    8 checksum        chained: checksum64(record, of the one before)
//     16    8 record_count    records of the batch, the begin included, the commit not
struct BatchCommitPayload {
  uint64_t number;
  uint64_t checksum;
  uint64_t record_count;
};
static_assert(sizeof(BatchCommitPayload) == 24);

// Followed by the name, by a LayerPayload, a ClonePayload and a shape where the flags say so and,
// where the tree has a merge operator, by the size of the operator's name in one byte, not 0, and
// that name. A shape is its size in two bytes and what tree_shape.h describes.
//
// OFFSET SIZE FIELD
//      0    4 id
//      4    4 comparator      0: bytewise
//      8    4 flags           the codec; 256: it is a layer; 512: a clone; 1024: it has a shape
//     12    4 name_bytes
struct TreeCreatePayload {
  uint32_t id;
  uint32_t comparator;
  uint32_t flags;
  uint32_t name_bytes;
};
static_assert(sizeof(TreeCreatePayload) == 16);
inline constexpr uint32_t kTreeIsLayer = 256;
inline constexpr uint32_t kTreeIsClone = 512;
inline constexpr uint32_t kTreeHasShape = 1024;

// What a layer's tree belongs to.
//
// OFFSET SIZE FIELD
//      0    4 of              the tree whose keys it holds
//      4    4 reserved        zero
//      8    8 cts             of the commit that wrote it; 0: there was none yet
struct LayerPayload {
  uint32_t of;
  uint32_t reserved;
  uint64_t cts;
};
static_assert(sizeof(LayerPayload) == 16);

// What a clone was made of.
//
// OFFSET SIZE FIELD
//      0    4 of              the tree that it shows where it has nothing itself
//      4    4 reserved        zero
//      8    8 cts             of the commit that made it; 0: the log tells, or it was not committed
struct ClonePayload {
  uint32_t of;
  uint32_t reserved;
  uint64_t cts;
};
static_assert(sizeof(ClonePayload) == 16);

// OFFSET SIZE FIELD
//      0    4 id              its remaining containers go with it
//      4    4 reserved        zero
struct TreeDropPayload {
  uint32_t id;
  uint32_t reserved;
};
static_assert(sizeof(TreeDropPayload) == 8);

// OFFSET SIZE FIELD
//      0    4 file            data.<file>
//      4    4 block           first block of 4096 bytes
//      8    4 blocks
struct ExtentPayload {
  uint32_t file;
  uint32_t block;
  uint32_t blocks;
};
static_assert(sizeof(ExtentPayload) == 12);

// OFFSET SIZE FIELD
//      0    4 file            data.<file>
//      4    4 block           first block of 4096 bytes
//      8    4 blocks
//     12    4 bytes           of values in it; more than fit into its blocks: they are packed
//     16    4 garbage_bytes   of those, no longer referred to by the run
struct ValueExtentPayload {
  uint32_t file;
  uint32_t block;
  uint32_t blocks;
  uint32_t bytes;
  uint32_t garbage_bytes;
};
static_assert(sizeof(ValueExtentPayload) == 20);

// Followed by value_count value extents, large_count extents of large values, and the low key. With
// four value extents and a key of 8 bytes a record takes 24 + 104 + 80 + 8 = 216 bytes.
//
// OFFSET SIZE FIELD
//      0    8 id
//      8    8 cut             the run reflects every version with cts <= cut and none above
//     16    8 max_ts          the largest cts in the run
//     24    8 entries
//     32    8 run_checksum    of the run's header block
//     40    4 tree
//     44    4 run_file
//     48    4 run_block
//     52    4 run_blocks      0: the run is empty, then run_file and run_block are 0
//     56    4 low_bytes       of the low key
//     60    4 value_count
//     64    4 large_count
//     68    2 version         1
//     70    2 flags           bit 0: wide groups; bit 1: first heads; bit 2: separators; others 0
//     72    1 codec           1: the run's heap is packed; 0: it is not
//     73    1 cipher          1: the run is sealed; 0: it is not
//     74    2 reserved_0      zero
//     76    4 comparator      of keys that differ from the tree's; none yet: zero
//     80    8 nonce           of a sealed run: the base of its header area's seal; else zero
//     88    8 expiry_min      the earliest expiry in the run; none yet: zero
//     96    4 unpacked_blocks of the run's image where its heap is packed; else zero
//    100    4 separator_blocks of the run's header area; zero without bit 2
struct ContainerSetPayload {
  uint64_t id;
  uint64_t cut;
  uint64_t max_ts;
  uint64_t entries;
  uint64_t run_checksum;
  uint32_t tree;
  uint32_t run_file;
  uint32_t run_block;
  uint32_t run_blocks;
  uint32_t low_bytes;
  uint32_t value_count;
  uint32_t large_count;
  uint16_t version;
  uint16_t flags;
  uint8_t codec;
  uint8_t cipher;
  uint16_t reserved_0;
  uint32_t comparator;
  uint64_t nonce;
  uint64_t expiry_min;
  uint32_t unpacked_blocks;
  uint32_t separator_blocks;
};
static_assert(sizeof(ContainerSetPayload) == 104);
static_assert(offsetof(ContainerSetPayload, tree) == 40);
static_assert(offsetof(ContainerSetPayload, version) == 68);
static_assert(offsetof(ContainerSetPayload, nonce) == 80);

inline constexpr uint16_t kContainerPayloadVersion = 1;
inline constexpr uint16_t kContainerFlagWide = 1;
inline constexpr uint16_t kContainerFlagFirstHeads = 2;
inline constexpr uint16_t kContainerFlagSeparated = 4;
inline constexpr uint16_t kContainerFlagsKnown =
    kContainerFlagWide | kContainerFlagFirstHeads | kContainerFlagSeparated;

// OFFSET SIZE FIELD
//      0    8 id
struct ContainerDeletePayload {
  uint64_t id;
};
static_assert(sizeof(ContainerDeletePayload) == 8);

// OFFSET SIZE FIELD
//      0    8 number
//      8    8 start           first lsn
//     16    8 end             first lsn behind its last record; 2^62 - 1 while it is open
//     24    8 salt            of its records
struct EpochSetPayload {
  uint64_t number;
  uint64_t start;
  uint64_t end;
  uint64_t salt;
};
static_assert(sizeof(EpochSetPayload) == 32);

// Behind that, of an epoch whose records are sealed:
//
// OFFSET SIZE FIELD
//      0    4 key             the data key of its records; not 0
//      4    4 reserved        zero
struct EpochKeyPayload {
  uint32_t key;
  uint32_t reserved;
};
static_assert(sizeof(EpochKeyPayload) == 8);

// OFFSET SIZE FIELD
//      0    8 number
struct EpochDeletePayload {
  uint64_t number;
};
static_assert(sizeof(EpochDeletePayload) == 8);

// Of kLogTrim (the log below is not needed) and kLsnReserve (no lsn at or above was ever issued).
//
// OFFSET SIZE FIELD
//      0    8 lsn
struct LsnPayload {
  uint64_t lsn;
};
static_assert(sizeof(LsnPayload) == 8);

// Numbers that outlive what they were given to.
//
// OFFSET SIZE FIELD
//      0    8 next_container
//      8    4 next_tree
//     12    4 reserved        zero
struct CountersPayload {
  uint64_t next_container;
  uint32_t next_tree;
  uint32_t reserved;
};
static_assert(sizeof(CountersPayload) == 16);

// Followed by the path.
//
// OFFSET SIZE FIELD
//      0    4 index           of the device, from 0
//      4    4 path_bytes
//      8    8 generation      of the label, whose own may be one more
//     16    8 blocks          of 4096 bytes, the label's and the last 16 among them
struct DeviceSetPayload {
  uint32_t index;
  uint32_t path_bytes;
  uint64_t generation;
  uint64_t blocks;
};
static_assert(sizeof(DeviceSetPayload) == 24);

// Followed by the dictionary.
//
// OFFSET SIZE FIELD
//      0    4 id              not 0
//      4    4 tree
//      8    4 bytes           of the dictionary
//     12    4 reserved        zero
struct DictionaryAddPayload {
  uint32_t id;
  uint32_t tree;
  uint32_t bytes;
  uint32_t reserved;
};
static_assert(sizeof(DictionaryAddPayload) == 16);

// Followed by the name. In a delete record the numbers are zero.
//
// OFFSET SIZE FIELD
//      0    8 timestamp       what the snapshot shows
//      8    8 created_us      wall clock, microseconds since 1970
//     16    4 name_bytes      1 to 255
//     20    4 reserved        zero
struct SnapshotPayload {
  uint64_t timestamp;
  uint64_t created_us;
  uint32_t name_bytes;
  uint32_t reserved;
};
static_assert(sizeof(SnapshotPayload) == 24);

// Followed by the name. In a delete record the numbers are zero.
//
// OFFSET SIZE FIELD
//      0    8 position        cts of the last commit that was acknowledged
//      8    8 scan_from       no commit behind the position has anything in the log below
//     16    8 created_us      wall clock, microseconds since 1970
//     24    8 log_bytes_max   beyond which the log is not kept for it; 0: no limit
//     32    4 name_bytes      1 to 255
//     36    4 flags           bit 0: it is lost, the log is not kept for it any more; others zero
struct FeedPayload {
  uint64_t position;
  uint64_t scan_from;
  uint64_t created_us;
  uint64_t log_bytes_max;
  uint32_t name_bytes;
  uint32_t flags;
};
static_assert(sizeof(FeedPayload) == 40);
inline constexpr uint32_t kFeedLost = 1;

}  // namespace hawthorn::format
