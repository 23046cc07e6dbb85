#pragma once
// Files of entries, which rocksdb::SstFileWriter writes and DB::IngestExternalFile reads.
//
//   magic     kEntriesMagic
//   blocks    of about 64 KB: size (4 bytes), CRC-32C of the bytes (4), bytes: records as those of
//             a write batch (batch_format.h), of the default family
//   index     of the file: as below; its CRC and size are in the tail
//   tail      size of the index (4), its CRC-32C (4), kEntriesTail
//
//   index     4 x 8 bytes: entries, ranges among them, what there is beside puts (kOthers), the
//             family (or kAnyFamily); strings, each behind its length (varint): the comparator's
//             name, the smallest and the largest key
//
// All integers are little-endian. Bytes may come from anywhere: everything is checked.
// Used by SstFileWriter and DBImpl. Threads: one object from one thread.
//
// 1. Records other than ranges are in the order of the comparator, no key twice; the writer sees to
//    that, and the reader does not look.
// 2. A file without a whole tail is none.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rocksdb/status.h"
#include "shims/rocksdb/src/batch_format.h"
#include "shims/rocksdb/src/files.h"

namespace hawthorn::rocks {

inline constexpr std::string_view kEntriesMagic = "hawthorn-rocksdb entries 1\n";
inline constexpr std::string_view kEntriesTail = "entries end\n";
inline constexpr int32_t kEntriesVersion = 1;
inline constexpr uint64_t kAnyFamily = UINT64_MAX;
// Merges, deletes or ranges, which depend on what the database holds.
inline constexpr uint64_t kOthersApplied = 1;
inline constexpr uint64_t kOthersEntities = 2;

struct EntriesIndex {
  uint64_t entries = 0;
  uint64_t ranges = 0;
  uint64_t others = 0;  // than puts of plain values
  uint64_t family = kAnyFamily;
  std::string comparator;
  std::string smallest;  // of all but ranges
  std::string largest;
};

std::string encode_index(const EntriesIndex& index);

class EntriesReader {
 public:
  // Errors: Corruption naming the file; those of reading.
  rocksdb::Status open(const std::string& path);
  const EntriesIndex& index() const { return index_; }
  const std::string& path() const { return path_; }
  void rewind() { at_ = kEntriesMagic.size(), block_.clear(), in_block_ = 0, seen_ = 0; }
  // The next record, whose bytes are valid until the next call; false in *found at the end.
  rocksdb::Status next(BatchRecord* record, bool* found);

  // Blocks stand from here up to there, each behind the one before.
  static uint64_t blocks_begin() { return kEntriesMagic.size(); }
  uint64_t blocks_end() const { return blocks_end_; }
  uint64_t bytes() const { return file_.bytes(); }
  // The bytes of the one at `at`, and where it ends.
  rocksdb::Status read_block(uint64_t at, std::string* block, uint64_t* behind) const;
  // The record at *in_block, which is below the block's size, and where the next one is.
  rocksdb::Status record_at(const std::string& block, size_t* in_block, BatchRecord* record) const;

 private:
  rocksdb::Status corrupt(const char* what) const {
    return rocksdb::Status::Corruption(path_, what);
  }

  std::string path_;
  FileReader file_;
  EntriesIndex index_;
  uint64_t blocks_end_ = 0;
  uint64_t at_ = 0;
  std::string block_;
  size_t in_block_ = 0;
  uint64_t seen_ = 0;
};

}  // namespace hawthorn::rocks
