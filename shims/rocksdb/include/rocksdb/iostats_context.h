#pragma once
// What the calls of this thread have read and written. The engine does that by threads of its own,
// and for all at once, so that nothing is counted here.

#include <cstdint>
#include <string>

#include "rocksdb/perf_level.h"

namespace ROCKSDB_NAMESPACE {

// All stay 0. [accepted]
struct FileIOByTemperature {
  uint64_t hot_file_bytes_read = 0;
  uint64_t warm_file_bytes_read = 0;
  uint64_t cold_file_bytes_read = 0;
  uint64_t hot_file_read_count = 0;
  uint64_t warm_file_read_count = 0;
  uint64_t cold_file_read_count = 0;
  void Reset() { *this = FileIOByTemperature(); }
};

// All stay 0. [accepted]
struct IOStatsContext {
  void Reset();
  std::string ToString(bool exclude_zero_counters = false) const;

  uint64_t thread_pool_id = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
  uint64_t open_nanos = 0;
  uint64_t allocate_nanos = 0;
  uint64_t write_nanos = 0;
  uint64_t read_nanos = 0;
  uint64_t range_sync_nanos = 0;
  uint64_t fsync_nanos = 0;
  uint64_t prepare_write_nanos = 0;
  uint64_t logger_nanos = 0;
  uint64_t cpu_write_nanos = 0;
  uint64_t cpu_read_nanos = 0;
  FileIOByTemperature file_io_stats_by_temperature;
  bool disable_iostats = false;
};

// Of this thread. [accepted]
IOStatsContext* get_iostats_context();

}  // namespace ROCKSDB_NAMESPACE
