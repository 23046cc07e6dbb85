#pragma once
// Encoding of the manifest's batches, and the decoding of single records. Pure: no I/O.
//
// Not here: the layout (manifest_layout.h), walking through a file (manifest_reader.h), files
// (db/manifest.h).
// Threads: one encoder from one thread at a time.
//
// 1. What check() accepts, the encoder writes and the decoder accepts: a batch is checked before it
//    is written, so that no acknowledged batch is refused at the next open.
// 2. Decoding trusts no length: each is compared with the bytes that are there before it is used.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/aead.h"
#include "format/manifest_layout.h"
#include "format/manifest_state.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

// Whether a record can be written and read back. Errors: kCorruption, saying what is wrong with it.
Status check(const ContainerRecord& record);
Status check(const TreeRecord& record);
Status check(const LogEpoch& epoch);
Status check(const DeviceRecord& device);
Status check(const DictionaryRecord& dictionary);
Status check(const SnapshotRecord& snapshot);
Status check(const FeedRecord& feed);

struct ManifestIdentity {
  uint64_t uuid_low = 0;
  uint64_t uuid_high = 0;
  uint64_t number = 0;
  uint64_t salt = 0;
  uint32_t key = 0;  // with which payloads are sealed; 0: they are not
  Salt key_salt{};
  bool operator==(const ManifestIdentity&) const = default;
};

// How the payloads of a manifest are sealed: the nonce is the record's sequence number, which no
// two records of a file have, so that each verifies in its place of this file alone.
class ManifestSealer {
 public:
  // `aead`: of identity.key and key_salt.
  ManifestSealer(const ManifestIdentity& identity, std::unique_ptr<Aead> aead)
      : identity_(identity), aead_(std::move(aead)) {}
  // `payload` is followed by room for a tag. False: libcrypto failed.
  bool seal(const ManifestRecordHeader& header, char* payload);
  // Into `to`, without the tag. False: it is not what was written there.
  bool open(const ManifestRecordHeader& header, std::string_view payload, std::string* to);

 private:
  const ManifestIdentity identity_;
  const std::unique_ptr<Aead> aead_;
};

// The header block, 4096 bytes.
std::string encode_manifest_header(const ManifestIdentity& identity);
// Errors: kCorruption or kNotSupported, without file and offset.
Result<ManifestIdentity> decode_manifest_header(std::string_view block);

// The record alone, as an operation of the log carries it. It passes check.
std::string encode_container(const ContainerRecord& record);
// Errors: kCorruption, saying what is wrong with it.
Status decode_container(std::string_view payload, ContainerRecord& record);

// Builds batches. What it has written so far may be taken away between any two records (a snapshot
// is larger than one wants to hold): it keeps the batch's checksum, count and size itself.
class ManifestEncoder {
 public:
  // `sealer`: null where payloads are not sealed. Copies share it.
  explicit ManifestEncoder(uint64_t salt, std::shared_ptr<ManifestSealer> sealer = nullptr)
      : salt_(salt), sealer_(std::move(sealer)) {}

  void begin(uint64_t number, ManifestBatchKind kind);
  void create_tree(const TreeRecord& tree);
  void set_tree(const TreeRecord& tree);
  void drop_tree(uint32_t id);
  void add_dictionary(const DictionaryRecord& dictionary);
  void set_container(const ContainerRecord& container);
  void delete_container(uint64_t id);
  void set_epoch(const LogEpoch& epoch);
  void delete_epoch(uint64_t number);
  void set_device(const DeviceRecord& device);
  void set_snapshot(const SnapshotRecord& snapshot);
  void delete_snapshot(std::string_view name);
  void set_feed(const FeedRecord& feed);
  void delete_feed(std::string_view name);
  void trim_log(Lsn lsn);
  void reserve_lsn(Lsn lsn);
  void set_counters(uint64_t next_container, uint32_t next_tree);
  // Ends the batch at a multiple of the block size.
  void commit();

  // Everything of a batch of changes, from begin to commit.
  void add_batch(uint64_t number, const ManifestBatch& batch);

  // The bytes since the last take.
  size_t pending_bytes() const { return bytes_.size(); }
  std::string take();
  // False: libcrypto has failed, and what was encoded must not be written.
  bool good() const { return good_; }

 private:
  void add_tree(ManifestRecordType type, const TreeRecord& tree);
  void add(ManifestRecordType type, std::string_view fixed, std::string_view variable = {},
           size_t zeros = 0);

  uint64_t salt_;
  std::shared_ptr<ManifestSealer> sealer_;
  bool good_ = true;
  std::string bytes_;
  uint64_t sequence_ = 0;
  uint64_t batch_number_ = 0;
  uint64_t batch_records_ = 0;
  uint64_t batch_bytes_ = 0;
  uint64_t batch_checksum_ = 0;
};

// One batch as read.
struct DecodedBatch {
  uint64_t number = 0;
  bool snapshot = false;
  ManifestBatch changes;
  uint64_t next_container = 0;  // of a snapshot; 0: none given
  uint32_t next_tree = 0;
};

// Adds one record between begin and commit to the batch. Errors: kCorruption, saying what is wrong
// with it.
Status decode_change(ManifestRecordType type, std::string_view payload, DecodedBatch& batch);

}  // namespace hawthorn::format
