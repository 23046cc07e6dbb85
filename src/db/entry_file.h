#pragma once
// A sequence of entries on its way through a bulk ingest: in memory as long as it is small, else in
// a temporary file of the database directory.
//
// Not here: order (external_sort.h). Files are named `ingest.N`; nothing refers to them after a
// crash, and the next open removes them. They are never synced.
// Threads: one object, one thread at a time.
//
//   FILE    blocks, each: u64 checksum64 of the rest, u32 bytes, u32 entries, entries
//   ENTRY   u8 kind, u32 key size, u32 value size, key, value
//
// In an encrypted database the entries of a block are encrypted, with a tag of 16 bytes behind them
// that counts in its bytes, by a key that nothing but this object has: nobody else reads the file.
//
// 1. What is read back is verified: a temporary file is a disk's answer, too.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/aead.h"
#include "format/operation.h"
#include "hawthorn/status.h"
#include "os/machine.h"

namespace hawthorn::db {

struct IngestEntry {
  std::string_view key;
  std::string_view value;  // of a large value: its encoded format::LargeValue
  bool large = false;
};

inline constexpr size_t kEntryHeaderBytes = 9;

inline size_t encoded_bytes(const IngestEntry& entry) {
  return kEntryHeaderBytes + entry.key.size() + entry.value.size();
}
void append_entry(std::string& to, const IngestEntry& entry);
// The byte behind the entry at `at`; null when [at, end) does not hold one.
const char* decode_entry(const char* at, const char* end, IngestEntry* entry);

bool is_ingest_file(std::string_view name);
std::string ingest_file_name(uint64_t number);

class EntryFile {
 public:
  static constexpr size_t kBlockBytes = size_t{64} << 10;

  // The file is created when more than `kept_bytes` were added.
  EntryFile(const os::Machine& machine, std::string path, size_t kept_bytes);
  // Removes the file.
  ~EntryFile();
  EntryFile(const EntryFile&) = delete;
  EntryFile& operator=(const EntryFile&) = delete;

  // Errors: those of the disk, kNoSpace among them.
  Status add(const IngestEntry& entry);
  // Everything was added.
  Status finish();
  uint64_t entries() const { return entries_; }
  uint64_t bytes() const { return bytes_; }

  // From the first entry on, as often as one likes; after finish.
  void rewind();
  // *more: there was one. Its views are valid until the next call. Errors: kCorruption; kIoError.
  Status next(IngestEntry* entry, bool* more);

 private:
  Status write_block();
  Status read_block();
  Status seal_block();

  const os::Machine& machine_;
  const std::string path_;
  const size_t kept_bytes_;
  std::unique_ptr<os::File> file_;  // null: all of it is in block_
  std::unique_ptr<Aead> aead_;      // of the file, in an encrypted database
  std::string block_;
  uint32_t block_entries_ = 0;
  uint64_t entries_ = 0;
  uint64_t bytes_ = 0;
  uint64_t written_ = 0;  // bytes of the file
  uint64_t read_ = 0;
  size_t at_ = 0;  // in block_
};

}  // namespace hawthorn::db
