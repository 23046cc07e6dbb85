#pragma once
// Counters and histograms of what a database does, which a program may ask for.
//
// Those that are marked are counted; of the others there is nothing to count here, or the engine
// does not say, and they stay 0, but for what a program records itself. Their numbers are those of
// RocksDB 10.4. Without DBOptions::statistics nothing is counted, and nothing is measured.
//
// Figures of the engine (blocks, log, stalls, filters, files) are up to date where statistics of
// CreateDBStatistics are read; a program's own are told of them behind Flush and CompactRange, and
// by Close, but for what that flushes. Those of flushes, compactions, stalls and errors come some
// moments behind them. Iterators tell of their steps with the next seek, and when they go.
// Threads: any.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/customizable.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// Bytes written are those of batches; bytes read, of values. [accepted]
enum Tickers : uint32_t {
  BLOCK_CACHE_MISS = 0,  // [mapped] blocks read into memory for single reads
  BLOCK_CACHE_HIT,       // [mapped] blocks found there
  BLOCK_CACHE_ADD,       // [mapped] as BLOCK_CACHE_MISS
  BLOCK_CACHE_ADD_FAILURES,
  BLOCK_CACHE_INDEX_MISS,
  BLOCK_CACHE_INDEX_HIT,
  BLOCK_CACHE_INDEX_ADD,
  BLOCK_CACHE_INDEX_BYTES_INSERT,
  BLOCK_CACHE_FILTER_MISS,
  BLOCK_CACHE_FILTER_HIT,
  BLOCK_CACHE_FILTER_ADD,
  BLOCK_CACHE_FILTER_BYTES_INSERT,
  BLOCK_CACHE_DATA_MISS,
  BLOCK_CACHE_DATA_HIT,
  BLOCK_CACHE_DATA_ADD,
  BLOCK_CACHE_DATA_BYTES_INSERT,
  BLOCK_CACHE_BYTES_READ,
  BLOCK_CACHE_BYTES_WRITE,
  BLOCK_CACHE_COMPRESSION_DICT_MISS,
  BLOCK_CACHE_COMPRESSION_DICT_HIT,
  BLOCK_CACHE_COMPRESSION_DICT_ADD,
  BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT,
  BLOCK_CACHE_ADD_REDUNDANT,
  BLOCK_CACHE_INDEX_ADD_REDUNDANT,
  BLOCK_CACHE_FILTER_ADD_REDUNDANT,
  BLOCK_CACHE_DATA_ADD_REDUNDANT,
  BLOCK_CACHE_COMPRESSION_DICT_ADD_REDUNDANT,
  SECONDARY_CACHE_HITS,
  SECONDARY_CACHE_FILTER_HITS,
  SECONDARY_CACHE_INDEX_HITS,
  SECONDARY_CACHE_DATA_HITS,
  COMPRESSED_SECONDARY_CACHE_DUMMY_HITS,
  COMPRESSED_SECONDARY_CACHE_HITS,
  COMPRESSED_SECONDARY_CACHE_PROMOTIONS,
  COMPRESSED_SECONDARY_CACHE_PROMOTION_SKIPS,
  BLOOM_FILTER_USEFUL,
  BLOOM_FILTER_FULL_POSITIVE,
  BLOOM_FILTER_FULL_TRUE_POSITIVE,
  BLOOM_FILTER_PREFIX_CHECKED,
  BLOOM_FILTER_PREFIX_USEFUL,
  BLOOM_FILTER_PREFIX_TRUE_POSITIVE,
  PERSISTENT_CACHE_HIT,
  PERSISTENT_CACHE_MISS,
  SIM_BLOCK_CACHE_HIT,
  SIM_BLOCK_CACHE_MISS,
  MEMTABLE_HIT,
  MEMTABLE_MISS,
  GET_HIT_L0,
  GET_HIT_L1,
  GET_HIT_L2_AND_UP,
  COMPACTION_KEY_DROP_NEWER_ENTRY,
  COMPACTION_KEY_DROP_OBSOLETE,
  COMPACTION_KEY_DROP_RANGE_DEL,
  COMPACTION_KEY_DROP_USER,  // [mapped] entries that compaction filters have removed
  COMPACTION_RANGE_DEL_DROP_OBSOLETE,
  COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE,
  COMPACTION_CANCELLED,
  NUMBER_KEYS_WRITTEN,  // [mapped]
  NUMBER_KEYS_READ,     // [mapped]
  NUMBER_KEYS_UPDATED,
  BYTES_WRITTEN,         // [mapped]
  BYTES_READ,            // [mapped]
  NUMBER_DB_SEEK,        // [mapped]
  NUMBER_DB_NEXT,        // [mapped]
  NUMBER_DB_PREV,        // [mapped]
  NUMBER_DB_SEEK_FOUND,  // [mapped]
  NUMBER_DB_NEXT_FOUND,  // [mapped]
  NUMBER_DB_PREV_FOUND,  // [mapped]
  ITER_BYTES_READ,       // [mapped] keys and values
  NUMBER_ITER_SKIP,
  NUMBER_OF_RESEEKS_IN_ITERATION,
  NO_ITERATOR_CREATED,  // [mapped]
  NO_ITERATOR_DELETED,  // [mapped]
  NO_FILE_OPENS,
  NO_FILE_ERRORS,
  STALL_MICROS,  // [mapped] of all writers
  DB_MUTEX_WAIT_MICROS,
  NUMBER_MULTIGET_CALLS,       // [mapped]
  NUMBER_MULTIGET_KEYS_READ,   // [mapped]
  NUMBER_MULTIGET_BYTES_READ,  // [mapped]
  NUMBER_MULTIGET_KEYS_FOUND,  // [mapped]
  NUMBER_MERGE_FAILURES,       // [mapped]
  GET_UPDATES_SINCE_CALLS,
  WAL_FILE_SYNCED,     // [mapped]
  WAL_FILE_BYTES,      // [mapped] as far as they have left the process
  WRITE_DONE_BY_SELF,  // [mapped]
  WRITE_DONE_BY_OTHER,
  WRITE_WITH_WAL,  // [mapped]
  COMPACT_READ_BYTES,
  COMPACT_WRITE_BYTES,  // [mapped] of containers rewritten for their own sake
  FLUSH_WRITE_BYTES,    // [mapped]
  COMPACT_READ_BYTES_MARKED,
  COMPACT_READ_BYTES_PERIODIC,
  COMPACT_READ_BYTES_TTL,
  COMPACT_WRITE_BYTES_MARKED,
  COMPACT_WRITE_BYTES_PERIODIC,
  COMPACT_WRITE_BYTES_TTL,
  NUMBER_DIRECT_LOAD_TABLE_PROPERTIES,
  NUMBER_SUPERVERSION_ACQUIRES,
  NUMBER_SUPERVERSION_RELEASES,
  NUMBER_SUPERVERSION_CLEANUPS,
  NUMBER_BLOCK_COMPRESSED,
  NUMBER_BLOCK_DECOMPRESSED,
  BYTES_COMPRESSED_FROM,
  BYTES_COMPRESSED_TO,
  BYTES_COMPRESSION_BYPASSED,
  BYTES_COMPRESSION_REJECTED,
  NUMBER_BLOCK_COMPRESSION_BYPASSED,
  NUMBER_BLOCK_COMPRESSION_REJECTED,
  BYTES_DECOMPRESSED_FROM,
  BYTES_DECOMPRESSED_TO,
  MERGE_OPERATION_TOTAL_TIME,   // [mapped] of reads and flushes, in nanoseconds
  FILTER_OPERATION_TOTAL_TIME,  // [mapped] nanoseconds, from kExceptTimeForMutex on
  COMPACTION_CPU_TOTAL_TIME,
  ROW_CACHE_HIT,
  ROW_CACHE_MISS,
  READ_AMP_ESTIMATE_USEFUL_BYTES,
  READ_AMP_TOTAL_READ_BYTES,
  NUMBER_RATE_LIMITER_DRAINS,
  BLOB_DB_NUM_PUT,
  BLOB_DB_NUM_WRITE,
  BLOB_DB_NUM_GET,
  BLOB_DB_NUM_MULTIGET,
  BLOB_DB_NUM_SEEK,
  BLOB_DB_NUM_NEXT,
  BLOB_DB_NUM_PREV,
  BLOB_DB_NUM_KEYS_WRITTEN,
  BLOB_DB_NUM_KEYS_READ,
  BLOB_DB_BYTES_WRITTEN,
  BLOB_DB_BYTES_READ,
  BLOB_DB_WRITE_INLINED,
  BLOB_DB_WRITE_INLINED_TTL,
  BLOB_DB_WRITE_BLOB,
  BLOB_DB_WRITE_BLOB_TTL,
  BLOB_DB_BLOB_FILE_BYTES_WRITTEN,
  BLOB_DB_BLOB_FILE_BYTES_READ,
  BLOB_DB_BLOB_FILE_SYNCED,
  BLOB_DB_BLOB_INDEX_EXPIRED_COUNT,
  BLOB_DB_BLOB_INDEX_EXPIRED_SIZE,
  BLOB_DB_BLOB_INDEX_EVICTED_COUNT,
  BLOB_DB_BLOB_INDEX_EVICTED_SIZE,
  BLOB_DB_GC_NUM_FILES,
  BLOB_DB_GC_NUM_NEW_FILES,
  BLOB_DB_GC_FAILURES,
  BLOB_DB_GC_NUM_KEYS_RELOCATED,
  BLOB_DB_GC_BYTES_RELOCATED,
  BLOB_DB_FIFO_NUM_FILES_EVICTED,
  BLOB_DB_FIFO_NUM_KEYS_EVICTED,
  BLOB_DB_FIFO_BYTES_EVICTED,
  BLOB_DB_CACHE_MISS,
  BLOB_DB_CACHE_HIT,
  BLOB_DB_CACHE_ADD,
  BLOB_DB_CACHE_ADD_FAILURES,
  BLOB_DB_CACHE_BYTES_READ,
  BLOB_DB_CACHE_BYTES_WRITE,
  TXN_PREPARE_MUTEX_OVERHEAD,
  TXN_OLD_COMMIT_MAP_MUTEX_OVERHEAD,
  TXN_DUPLICATE_KEY_OVERHEAD,
  TXN_SNAPSHOT_MUTEX_OVERHEAD,
  TXN_GET_TRY_AGAIN,
  FILES_MARKED_TRASH,
  FILES_DELETED_FROM_TRASH_QUEUE,
  FILES_DELETED_IMMEDIATELY,        // [mapped] data files that were given back
  ERROR_HANDLER_BG_ERROR_COUNT,     // [mapped]
  ERROR_HANDLER_BG_IO_ERROR_COUNT,  // [mapped]
  ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT,
  ERROR_HANDLER_AUTORESUME_COUNT,
  ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT,
  ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT,
  MEMTABLE_PAYLOAD_BYTES_AT_FLUSH,
  MEMTABLE_GARBAGE_BYTES_AT_FLUSH,
  VERIFY_CHECKSUM_READ_BYTES,  // [mapped] of VerifyChecksum
  BACKUP_READ_BYTES,           // [mapped]
  BACKUP_WRITE_BYTES,          // [mapped]
  REMOTE_COMPACT_READ_BYTES,
  REMOTE_COMPACT_WRITE_BYTES,
  HOT_FILE_READ_BYTES,
  WARM_FILE_READ_BYTES,
  COLD_FILE_READ_BYTES,
  HOT_FILE_READ_COUNT,
  WARM_FILE_READ_COUNT,
  COLD_FILE_READ_COUNT,
  LAST_LEVEL_READ_BYTES,
  LAST_LEVEL_READ_COUNT,
  NON_LAST_LEVEL_READ_BYTES,
  NON_LAST_LEVEL_READ_COUNT,
  LAST_LEVEL_SEEK_FILTERED,
  LAST_LEVEL_SEEK_FILTER_MATCH,
  LAST_LEVEL_SEEK_DATA,
  LAST_LEVEL_SEEK_DATA_USEFUL_NO_FILTER,
  LAST_LEVEL_SEEK_DATA_USEFUL_FILTER_MATCH,
  NON_LAST_LEVEL_SEEK_FILTERED,
  NON_LAST_LEVEL_SEEK_FILTER_MATCH,
  NON_LAST_LEVEL_SEEK_DATA,
  NON_LAST_LEVEL_SEEK_DATA_USEFUL_NO_FILTER,
  NON_LAST_LEVEL_SEEK_DATA_USEFUL_FILTER_MATCH,
  BLOCK_CHECKSUM_COMPUTE_COUNT,
  BLOCK_CHECKSUM_MISMATCH_COUNT,
  MULTIGET_COROUTINE_COUNT,
  READ_ASYNC_MICROS,
  ASYNC_READ_ERROR_COUNT,
  TABLE_OPEN_PREFETCH_TAIL_MISS,
  TABLE_OPEN_PREFETCH_TAIL_HIT,
  TIMESTAMP_FILTER_TABLE_CHECKED,
  TIMESTAMP_FILTER_TABLE_FILTERED,
  READAHEAD_TRIMMED,
  FIFO_MAX_SIZE_COMPACTIONS,
  FIFO_TTL_COMPACTIONS,
  FIFO_CHANGE_TEMPERATURE_COMPACTIONS,
  PREFETCH_BYTES,
  PREFETCH_BYTES_USEFUL,
  PREFETCH_HITS,
  SST_FOOTER_CORRUPTION_COUNT,
  FILE_READ_CORRUPTION_RETRY_COUNT,
  FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT,
  NUMBER_WBWI_INGEST,
  TICKER_ENUM_MAX,
};
// Of all, in their order. [mapped]
extern const std::vector<std::pair<Tickers, std::string>> TickersNameMap;

// Times are microseconds. [accepted]
enum Histograms : uint32_t {
  DB_GET = 0,       // [mapped]
  DB_WRITE,         // [mapped]
  COMPACTION_TIME,  // [mapped] of a container
  COMPACTION_CPU_TIME,
  SUBCOMPACTION_SETUP_TIME,
  TABLE_SYNC_MICROS,
  COMPACTION_OUTFILE_SYNC_MICROS,
  WAL_FILE_SYNC_MICROS,  // [mapped] of SyncWAL and FlushWAL(true)
  MANIFEST_FILE_SYNC_MICROS,
  TABLE_OPEN_IO_MICROS,
  DB_MULTIGET,  // [mapped]
  READ_BLOCK_COMPACTION_MICROS,
  READ_BLOCK_GET_MICROS,
  WRITE_RAW_BLOCK_MICROS,
  NUM_FILES_IN_SINGLE_COMPACTION,  // [mapped] containers
  DB_SEEK,                         // [mapped] of Seek and SeekForPrev
  WRITE_STALL,                     // [mapped] one for each time in which writers waited
  SST_READ_MICROS,
  FILE_READ_FLUSH_MICROS,
  FILE_READ_COMPACTION_MICROS,
  FILE_READ_DB_OPEN_MICROS,
  FILE_READ_GET_MICROS,
  FILE_READ_MULTIGET_MICROS,
  FILE_READ_DB_ITERATOR_MICROS,
  FILE_READ_VERIFY_DB_CHECKSUM_MICROS,
  FILE_READ_VERIFY_FILE_CHECKSUMS_MICROS,
  SST_WRITE_MICROS,
  FILE_WRITE_FLUSH_MICROS,
  FILE_WRITE_COMPACTION_MICROS,
  FILE_WRITE_DB_OPEN_MICROS,
  NUM_SUBCOMPACTIONS_SCHEDULED,
  BYTES_PER_READ,      // [mapped]
  BYTES_PER_WRITE,     // [mapped]
  BYTES_PER_MULTIGET,  // [mapped]
  COMPRESSION_TIMES_NANOS,
  DECOMPRESSION_TIMES_NANOS,
  READ_NUM_MERGE_OPERANDS,
  BLOB_DB_KEY_SIZE,
  BLOB_DB_VALUE_SIZE,
  BLOB_DB_WRITE_MICROS,
  BLOB_DB_GET_MICROS,
  BLOB_DB_MULTIGET_MICROS,
  BLOB_DB_SEEK_MICROS,
  BLOB_DB_NEXT_MICROS,
  BLOB_DB_PREV_MICROS,
  BLOB_DB_BLOB_FILE_WRITE_MICROS,
  BLOB_DB_BLOB_FILE_READ_MICROS,
  BLOB_DB_BLOB_FILE_SYNC_MICROS,
  BLOB_DB_COMPRESSION_MICROS,
  BLOB_DB_DECOMPRESSION_MICROS,
  FLUSH_TIME,  // [mapped] of a container
  SST_BATCH_SIZE,
  MULTIGET_IO_BATCH_SIZE,
  NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL,
  NUM_SST_READ_PER_LEVEL,
  NUM_LEVEL_READ_PER_MULTIGET,
  ERROR_HANDLER_AUTORESUME_RETRY_COUNT,
  ASYNC_READ_BYTES,
  POLL_WAIT_MICROS,
  COMPACTION_PREFETCH_BYTES,
  PREFETCHED_BYTES_DISCARDED,
  ASYNC_PREFETCH_ABORT_MICROS,
  TABLE_OPEN_PREFETCH_TAIL_READ_BYTES,
  NUM_OP_PER_TRANSACTION,  // [mapped]
  HISTOGRAM_ENUM_MAX,
};
// Of all, in their order. [mapped]
extern const std::vector<std::pair<Histograms, std::string>> HistogramsNameMap;

// Percentiles are within an eighth of what they were. [mapped]
struct HistogramData {
  double median = 0;
  double percentile95 = 0;
  double percentile99 = 0;
  double average = 0;
  double standard_deviation = 0;
  double max = 0;
  uint64_t count = 0;
  uint64_t sum = 0;
  double min = 0;
};

// From kExceptTimers on histograms of bytes are counted, too, and behind it those of times.
// [mapped]
enum StatsLevel : uint8_t {
  kDisableAll,
  kExceptTickers = kDisableAll,
  kExceptHistogramOrTimers,
  kExceptTimers,
  kExceptDetailedTimers,
  kExceptTimeForMutex,
  kAll,
};

// A program may derive from it, and is called for each figure. [mapped]
class Statistics : public Customizable {
 public:
  static const char* Type() { return "Statistics"; }
  const char* Name() const override { return ""; }

  virtual uint64_t getTickerCount(uint32_t tickerType) const = 0;
  virtual void histogramData(uint32_t type, HistogramData* const data) const = 0;
  virtual std::string getHistogramString(uint32_t /*type*/) const { return ""; }
  virtual void recordTick(uint32_t tickerType, uint64_t count = 1) = 0;
  virtual void setTickerCount(uint32_t tickerType, uint64_t count) = 0;
  virtual uint64_t getAndResetTickerCount(uint32_t tickerType) = 0;
  virtual void reportTimeToHistogram(uint32_t histogramType, uint64_t time) {
    if (get_stats_level() > StatsLevel::kExceptTimers) recordInHistogram(histogramType, time);
  }
  virtual void recordInHistogram(uint32_t /*histogramType*/, uint64_t /*time*/) {}
  virtual Status Reset() { return Status::NotSupported("Not implemented"); }
  // A line for each.
  virtual std::string ToString() const { return ""; }
  virtual bool getTickerMap(std::map<std::string, uint64_t>* /*tickers*/) const { return false; }
  virtual bool HistEnabledForType(uint32_t type) const { return type < HISTOGRAM_ENUM_MAX; }

  void set_stats_level(StatsLevel sl) { stats_level_.store(sl, std::memory_order_relaxed); }
  StatsLevel get_stats_level() const { return stats_level_.load(std::memory_order_relaxed); }

 private:
  std::atomic<StatsLevel> stats_level_{kExceptDetailedTimers};
};

// [mapped]
std::shared_ptr<Statistics> CreateDBStatistics();

}  // namespace ROCKSDB_NAMESPACE
