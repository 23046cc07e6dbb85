// The C API of options of reads, writes, flushes and compactions.

#include "shims/rocksdb/src/c_fields.h"
#include "shims/rocksdb/src/c_types.h"

namespace {

// A bound or a timestamp, which may be missing.
const rocksdb::Slice* pointed(rocksdb::Slice* to, const char* bytes, size_t size) {
  if (bytes == nullptr) return nullptr;
  *to = rocksdb::Slice(bytes, size);
  return to;
}

uint64_t count_of(std::chrono::microseconds time) { return static_cast<uint64_t>(time.count()); }

}  // namespace

extern "C" {

// ---- Reads

rocksdb_readoptions_t* rocksdb_readoptions_create() try {
  return new rocksdb_readoptions_t;
} catch (...) {
  return nullptr;
}
void rocksdb_readoptions_destroy(rocksdb_readoptions_t* options) { delete options; }
FIELD(readoptions, unsigned char, verify_checksums, verify_checksums)
FIELD(readoptions, unsigned char, fill_cache, fill_cache)
FIELD(readoptions, int, read_tier, read_tier)
FIELD(readoptions, unsigned char, tailing, tailing)
SET(readoptions, unsigned char, managed, managed)
FIELD(readoptions, size_t, readahead_size, readahead_size)
FIELD(readoptions, unsigned char, prefix_same_as_start, prefix_same_as_start)
FIELD(readoptions, unsigned char, pin_data, pin_data)
FIELD(readoptions, unsigned char, total_order_seek, total_order_seek)
FIELD(readoptions, uint64_t, max_skippable_internal_keys, max_skippable_internal_keys)
FIELD(readoptions, unsigned char, background_purge_on_iterator_cleanup,
      background_purge_on_iterator_cleanup)
FIELD(readoptions, unsigned char, ignore_range_deletions, ignore_range_deletions)
FIELD(readoptions, unsigned char, async_io, async_io)
SET(readoptions, unsigned char, auto_readahead_size, auto_readahead_size)
void rocksdb_readoptions_set_snapshot(rocksdb_readoptions_t* options,
                                      const rocksdb_snapshot_t* snapshot) {
  options->rep.snapshot = snapshot == nullptr ? nullptr : snapshot->rep;
}
void rocksdb_readoptions_set_iterate_upper_bound(rocksdb_readoptions_t* options, const char* key,
                                                 size_t key_size) {
  options->rep.iterate_upper_bound = pointed(&options->upper_bound, key, key_size);
}
void rocksdb_readoptions_set_iterate_lower_bound(rocksdb_readoptions_t* options, const char* key,
                                                 size_t key_size) {
  options->rep.iterate_lower_bound = pointed(&options->lower_bound, key, key_size);
}
void rocksdb_readoptions_set_timestamp(rocksdb_readoptions_t* options, const char* timestamp,
                                       size_t timestamp_size) {
  options->rep.timestamp = pointed(&options->timestamp, timestamp, timestamp_size);
}
void rocksdb_readoptions_set_iter_start_ts(rocksdb_readoptions_t* options, const char* timestamp,
                                           size_t timestamp_size) {
  options->rep.iter_start_ts = pointed(&options->iter_start_ts, timestamp, timestamp_size);
}
void rocksdb_readoptions_set_deadline(rocksdb_readoptions_t* options, uint64_t microseconds) {
  options->rep.deadline = std::chrono::microseconds(microseconds);
}
uint64_t rocksdb_readoptions_get_deadline(rocksdb_readoptions_t* options) {
  return count_of(options->rep.deadline);
}
void rocksdb_readoptions_set_io_timeout(rocksdb_readoptions_t* options, uint64_t microseconds) {
  options->rep.io_timeout = std::chrono::microseconds(microseconds);
}
uint64_t rocksdb_readoptions_get_io_timeout(rocksdb_readoptions_t* options) {
  return count_of(options->rep.io_timeout);
}

// ---- Writes

rocksdb_writeoptions_t* rocksdb_writeoptions_create() try {
  return new rocksdb_writeoptions_t;
} catch (...) {
  return nullptr;
}
void rocksdb_writeoptions_destroy(rocksdb_writeoptions_t* options) { delete options; }
FIELD(writeoptions, unsigned char, sync, sync)
FIELD(writeoptions, unsigned char, ignore_missing_column_families, ignore_missing_column_families)
FIELD(writeoptions, unsigned char, no_slowdown, no_slowdown)
FIELD(writeoptions, unsigned char, low_pri, low_pri)
FIELD(writeoptions, unsigned char, memtable_insert_hint_per_batch, memtable_insert_hint_per_batch)
void rocksdb_writeoptions_disable_WAL(rocksdb_writeoptions_t* options, int disable) {
  options->rep.disableWAL = disable != 0;
}
GET(writeoptions, unsigned char, disable_WAL, disableWAL)

// ---- Flushes and compactions

rocksdb_flushoptions_t* rocksdb_flushoptions_create() try {
  return new rocksdb_flushoptions_t;
} catch (...) {
  return nullptr;
}
void rocksdb_flushoptions_destroy(rocksdb_flushoptions_t* options) { delete options; }
FIELD(flushoptions, unsigned char, wait, wait)

rocksdb_compactoptions_t* rocksdb_compactoptions_create() try {
  return new rocksdb_compactoptions_t;
} catch (...) {
  return nullptr;
}
void rocksdb_compactoptions_destroy(rocksdb_compactoptions_t* options) { delete options; }
FIELD(compactoptions, unsigned char, exclusive_manual_compaction, exclusive_manual_compaction)
FIELD(compactoptions, unsigned char, bottommost_level_compaction, bottommost_level_compaction)
FIELD(compactoptions, unsigned char, change_level, change_level)
FIELD(compactoptions, int, target_level, target_level)
FIELD(compactoptions, int, target_path_id, target_path_id)
FIELD(compactoptions, unsigned char, allow_write_stall, allow_write_stall)
FIELD(compactoptions, int, max_subcompactions, max_subcompactions)
void rocksdb_compactoptions_set_full_history_ts_low(rocksdb_compactoptions_t* options,
                                                    char* timestamp, size_t timestamp_size) {
  options->rep.full_history_ts_low =
      pointed(&options->full_history_ts_low, timestamp, timestamp_size);
}

rocksdb_wait_for_compact_options_t* rocksdb_wait_for_compact_options_create() try {
  return new rocksdb_wait_for_compact_options_t;
} catch (...) {
  return nullptr;
}
void rocksdb_wait_for_compact_options_destroy(rocksdb_wait_for_compact_options_t* options) {
  delete options;
}
FIELD(wait_for_compact_options, unsigned char, abort_on_pause, abort_on_pause)
FIELD(wait_for_compact_options, unsigned char, flush, flush)
FIELD(wait_for_compact_options, unsigned char, close_db, close_db)
void rocksdb_wait_for_compact_options_set_timeout(rocksdb_wait_for_compact_options_t* options,
                                                  uint64_t microseconds) {
  options->rep.timeout = std::chrono::microseconds(microseconds);
}
uint64_t rocksdb_wait_for_compact_options_get_timeout(rocksdb_wait_for_compact_options_t* options) {
  return count_of(options->rep.timeout);
}

}  // extern "C"
