#pragma once
// What stands behind the pointers of the C API, and what its functions have in common.
//
// Not here: semantics; each function is a call of the C++ API, whose objects are called `rep`.
// Used by c_*.cc. Threads: as the C++ objects.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/c.h"
#include "rocksdb/db.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/table.h"

struct rocksdb_t {
  std::unique_ptr<rocksdb::DB> rep;
};
struct rocksdb_column_family_handle_t {
  rocksdb::ColumnFamilyHandle* rep = nullptr;
  bool owned = true;  // the default family's own handle is the database's
  ~rocksdb_column_family_handle_t() {
    if (owned) delete rep;
  }
};
struct rocksdb_snapshot_t {
  const rocksdb::Snapshot* rep;
};
struct rocksdb_iterator_t {
  std::unique_ptr<rocksdb::Iterator> rep;
};
struct rocksdb_pinnableslice_t {
  rocksdb::PinnableSlice rep;
};
struct rocksdb_pinnable_handle_t {
  rocksdb::PinnableSlice rep;
};
struct rocksdb_wal_iterator_t {
  std::unique_ptr<rocksdb::TransactionLogIterator> rep;
};

struct rocksdb_writebatch_t {
  rocksdb::WriteBatch rep;
};
struct rocksdb_options_t {
  rocksdb::Options rep;
  // What the C++ API of 10.4 has no longer.
  int max_write_buffer_number_to_maintain = 0;
  int access_hint_on_compaction_start = 1;
};
struct rocksdb_readoptions_t {
  rocksdb::ReadOptions rep;
  // Where `rep` points to; iterators look at them as long as they live, as in RocksDB.
  rocksdb::Slice lower_bound, upper_bound, timestamp, iter_start_ts;
};
struct rocksdb_writeoptions_t {
  rocksdb::WriteOptions rep;
};
struct rocksdb_flushoptions_t {
  rocksdb::FlushOptions rep;
};
struct rocksdb_compactoptions_t {
  rocksdb::CompactRangeOptions rep;
  rocksdb::Slice full_history_ts_low;
};
struct rocksdb_wait_for_compact_options_t {
  rocksdb::WaitForCompactOptions rep;
};
struct rocksdb_block_based_table_options_t {
  rocksdb::BlockBasedTableOptions rep;
};
struct rocksdb_cuckoo_table_options_t {
  rocksdb::CuckooTableOptions rep;
};
struct rocksdb_universal_compaction_options_t {
  rocksdb::CompactionOptionsUniversal rep;
};
struct rocksdb_fifo_compaction_options_t {
  rocksdb::CompactionOptionsFIFO rep;
};
struct rocksdb_cache_t {
  std::shared_ptr<rocksdb::Cache> rep;
};
struct rocksdb_write_buffer_manager_t {
  std::shared_ptr<rocksdb::WriteBufferManager> rep;
};
struct rocksdb_ratelimiter_t {
  std::shared_ptr<rocksdb::RateLimiter> rep;
};
struct rocksdb_logger_t {
  std::shared_ptr<rocksdb::Logger> rep;
};
struct rocksdb_env_t {
  rocksdb::Env* rep;
};
struct rocksdb_dbpath_t {
  rocksdb::DbPath rep;
};

namespace hawthorn::rocks {

// True where it failed: then *errptr is its text, in place of what was there.
inline bool failed(char** errptr, const rocksdb::Status& status) {
  if (status.ok()) return false;
  std::free(*errptr);
  *errptr = strdup(status.ToString().c_str());
  return true;
}

// What a function does that this library does not have.
inline void refuse(char** errptr, const char* function) {
  failed(errptr, rocksdb::Status::NotSupported(function, "hawthorn-rocksdb does not have it"));
}

// In c_callbacks.cc.
const rocksdb::Comparator* comparator_of(const rocksdb_comparator_t* comparator);

// For rocksdb_free; never null, so that an empty value is not taken for none.
inline char* copy_of(const rocksdb::Slice& bytes) {
  char* const copy = static_cast<char*>(std::malloc(bytes.empty() ? 1 : bytes.size()));
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

inline std::vector<rocksdb::Slice> slices_of(const char* const* bytes, const size_t* sizes,
                                             size_t count) {
  std::vector<rocksdb::Slice> slices(count);
  for (size_t i = 0; i < count; ++i) slices[i] = rocksdb::Slice(bytes[i], sizes[i]);
  return slices;
}

// Families to open, and their handles.
inline std::vector<rocksdb::ColumnFamilyDescriptor> descriptors_of(
    int count, const char* const* names, const rocksdb_options_t* const* options) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (int i = 0; i < count; ++i) {
    descriptors.emplace_back(names[i], rocksdb::ColumnFamilyOptions(options[i]->rep));
  }
  return descriptors;
}

inline void hand_out(const std::vector<rocksdb::ColumnFamilyHandle*>& from,
                     rocksdb_column_family_handle_t** to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] = new rocksdb_column_family_handle_t{from[i]};
}

}  // namespace hawthorn::rocks
