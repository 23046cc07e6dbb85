#pragma once
// Writes a file of entries in order, which DB::IngestExternalFile takes into a database.
//
// The file is of this library's own format; RocksDB's tables are neither written nor read.
// Not here: timestamps, reading such a file.
// Used by programs. Threads: one object from one thread at a time.

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/types.h"
#include "rocksdb/wide_columns.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyHandle;
class Comparator;

// [mapped]
struct ExternalSstFileInfo {
  std::string file_path;
  // Of puts, merges and deletes.
  std::string smallest_key;
  std::string largest_key;
  // Of deleted ranges: the first begin and the last end.
  std::string smallest_range_del_key;
  std::string largest_range_del_key;
  // [accepted]
  std::string file_checksum;
  std::string file_checksum_func_name;  // [accepted]
  SequenceNumber sequence_number = 0;   // [accepted]
  // [mapped]
  uint64_t file_size = 0;
  uint64_t num_entries = 0;
  uint64_t num_range_del_entries = 0;
  int32_t version = 0;  // of the format
};

// [mapped]
class SstFileWriter {
 public:
  // The comparator is that of the options, or of the family, and outlives the writer. With a
  // column_family the file is taken into that one alone. The rest means nothing.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                ColumnFamilyHandle* column_family = nullptr, bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL, bool skip_filters = false);
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                const Comparator* user_comparator, ColumnFamilyHandle* column_family = nullptr,
                bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL, bool skip_filters = false);
  // A file that was not finished stays as it is, and is not taken in.
  ~SstFileWriter();
  SstFileWriter(const SstFileWriter&) = delete;
  SstFileWriter& operator=(const SstFileWriter&) = delete;

  // What is at the path is written over. Errors: those of the disk.
  Status Open(const std::string& file_path);
  // Keys come in the comparator's order, none twice. Errors: InvalidArgument; those of the disk.
  Status Put(const Slice& user_key, const Slice& value);
  Status PutEntity(const Slice& user_key, const WideColumns& columns);
  Status Merge(const Slice& user_key, const Slice& value);
  Status Delete(const Slice& user_key);
  // As Put.
  Status Add(const Slice& user_key, const Slice& value) { return Put(user_key, value); }
  // In any order. Deletes what was in the database before; entries of the file stay, also those
  // that were added before it.
  Status DeleteRange(const Slice& begin_key, const Slice& end_key);
  // Durable when it returns. Errors: InvalidArgument where there are no entries; then the file is
  // removed. Another one may be opened behind it.
  Status Finish(ExternalSstFileInfo* file_info = nullptr);
  // So far.
  uint64_t FileSize();

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ROCKSDB_NAMESPACE
