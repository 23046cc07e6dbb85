#pragma once
// Options of databases, column families, reads and writes.
//
// Each is mapped to what the engine does, or accepted because it is about something that the engine
// does not have or decides by itself, or refused: Open, or the read or write, returns NotSupported
// where it is not its default. Nothing is ignored that would change results or durability.

#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/advanced_options.h"
#include "rocksdb/comparator.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/env.h"
#include "rocksdb/types.h"
#include "rocksdb/version.h"
#include "rocksdb/write_buffer_manager.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyHandle;
class CompactionFilter;
class CompactionFilterFactory;
class CompactionService;
class CompressionManager;
class ConcurrentTaskLimiter;
class EventListener;
class FileChecksumGenFactory;
class MergeOperator;
class RateLimiter;
class Snapshot;
class SstFileManager;
class SstPartitionerFactory;
class Statistics;
class WalFilter;
struct Options;
struct TableProperties;

// [accepted]
struct DbPath {
  DbPath() = default;
  DbPath(const std::string& p, uint64_t t) : path(p), target_size(t) {}
  std::string path;
  uint64_t target_size = 0;
};

// [accepted]
struct ColumnFamilyOptions : public AdvancedColumnFamilyOptions {
  ColumnFamilyOptions();
  explicit ColumnFamilyOptions(const Options& options);

  ColumnFamilyOptions* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);
  // These choose sizes of caches and write buffers, as RocksDB's do. [mapped]
  ColumnFamilyOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);
  // [mapped]
  ColumnFamilyOptions* OptimizeForPointLookup(uint64_t block_cache_size_mb);
  // [mapped]
  ColumnFamilyOptions* OptimizeLevelStyleCompaction(uint64_t memtable_memory_budget = 512 * 1024 *
                                                                                      1024);
  // [mapped]
  ColumnFamilyOptions* OptimizeUniversalStyleCompaction(uint64_t memtable_memory_budget = 512 *
                                                                                          1024 *
                                                                                          1024);

  const Comparator* comparator = BytewiseComparator();                           // [mapped]
  std::shared_ptr<MergeOperator> merge_operator = nullptr;                       // [mapped]
  const CompactionFilter* compaction_filter = nullptr;                           // [mapped]
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory = nullptr;  // [mapped]
  size_t write_buffer_size = 64 << 20;           // [mapped] counts in the memory budget
  CompressionType compression = kNoCompression;  // [mapped]
  CompressionType bottommost_compression = kDisableCompressionOption;  // [mapped] goes first
  CompressionOptions bottommost_compression_opts;
  CompressionOptions compression_opts;
  std::shared_ptr<CompressionManager> compression_manager = nullptr;  // [refused]
  int level0_file_num_compaction_trigger = 4;
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;  // [mapped]
  uint64_t max_bytes_for_level_base = 256 * 1048576;
  uint64_t snap_refresh_nanos = 0;
  bool disable_auto_compactions = false;
  std::shared_ptr<TableFactory> table_factory;  // [mapped] its block cache counts in the budget
  std::vector<DbPath> cf_paths;
  std::shared_ptr<ConcurrentTaskLimiter> compaction_thread_limiter = nullptr;
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory = nullptr;
  uint32_t memtable_max_range_deletions = 0;
  uint32_t uncache_aggressiveness = 0;
};

// A torn end of the log is cut off, and damage before it makes opening fail. [accepted]
enum class WALRecoveryMode : char {
  kTolerateCorruptedTailRecords = 0x00,
  kAbsoluteConsistency = 0x01,  // [refused]
  kPointInTimeRecovery = 0x02,
  kSkipAnyCorruptedRecords = 0x03,  // [refused]
};

// [accepted]
struct DBOptions {
  DBOptions() = default;
  explicit DBOptions(const Options& options);

  DBOptions* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);
  // [mapped]
  DBOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);
  DBOptions* IncreaseParallelism(int total_threads = 16);

  bool create_if_missing = false;               // [mapped]
  bool create_missing_column_families = false;  // [mapped]
  bool error_if_exists = false;                 // [mapped]
  bool paranoid_checks = true;
  bool flush_verify_memtable_count = true;
  bool compaction_verify_record_count = true;
  bool track_and_verify_wals_in_manifest = false;
  bool track_and_verify_wals = false;
  bool verify_sst_unique_id_in_manifest = true;
  Env* env = Env::Default();                                   // [refused] where it is another
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;         // [mapped]
  std::shared_ptr<SstFileManager> sst_file_manager = nullptr;  // [refused]
  std::shared_ptr<Logger> info_log = nullptr;                  // [mapped] null: nothing is logged
  InfoLogLevel info_log_level = Logger::kDefaultLogLevel;      // [mapped]
  int max_open_files = -1;
  int max_file_opening_threads = 16;
  uint64_t max_total_wal_size = 0;
  std::shared_ptr<Statistics> statistics = nullptr;  // [mapped]
  bool use_fsync = false;
  std::vector<DbPath> db_paths;  // all is in one directory
  std::string db_log_dir = "";
  std::string wal_dir = "";  // all is in one directory
  uint64_t delete_obsolete_files_period_micros = uint64_t{6} * 60 * 60 * 1000000;
  int max_background_jobs = 2;
  int max_background_compactions = -1;
  uint32_t max_subcompactions = 1;
  int max_background_flushes = -1;
  size_t max_log_file_size = 0;
  size_t log_file_time_to_roll = 0;
  size_t keep_log_file_num = 1000;
  size_t recycle_log_file_num = 0;
  uint64_t max_manifest_file_size = 1024 * 1024 * 1024;
  int table_cache_numshardbits = 6;
  // How long, or how much of it, the log is kept for DB::GetUpdatesSince: half as much again at
  // most, and at least half of the size. While it is kept, bulk ingests write as transactions do,
  // and large values take space. Both 0: as GetUpdatesSince says. [mapped]
  uint64_t WAL_ttl_seconds = 0;
  uint64_t WAL_size_limit_MB = 0;  // [mapped]
  size_t manifest_preallocation_size = 4 * 1024 * 1024;
  bool allow_mmap_reads = false;
  bool allow_mmap_writes = false;
  bool use_direct_reads = false;
  bool use_direct_io_for_flush_and_compaction = false;
  bool allow_fallocate = true;
  bool is_fd_close_on_exec = true;
  unsigned int stats_dump_period_sec = 600;
  unsigned int stats_persist_period_sec = 600;
  bool persist_stats_to_disk = false;
  size_t stats_history_buffer_size = 1024 * 1024;
  bool advise_random_on_open = true;
  size_t db_write_buffer_size = 0;  // [mapped] in place of the families' write buffers
  std::shared_ptr<WriteBufferManager> write_buffer_manager = nullptr;  // [mapped] likewise
  size_t compaction_readahead_size = 2 * 1024 * 1024;
  size_t writable_file_max_buffer_size = 1024 * 1024;
  bool use_adaptive_mutex = false;
  uint64_t bytes_per_sync = 0;
  uint64_t wal_bytes_per_sync = 0;
  bool strict_bytes_per_sync = false;
  std::vector<std::shared_ptr<EventListener>> listeners;  // [mapped] listener.h
  bool enable_thread_tracking = false;
  uint64_t delayed_write_rate = 0;
  bool enable_pipelined_write = false;
  bool unordered_write = false;
  bool allow_concurrent_memtable_write = true;
  bool enable_write_thread_adaptive_yield = true;
  uint64_t max_write_batch_group_size_bytes = 1 << 20;
  uint64_t write_thread_max_yield_usec = 100;
  uint64_t write_thread_slow_yield_usec = 3;
  bool skip_stats_update_on_db_open = false;
  bool skip_checking_sst_file_sizes_on_db_open = false;
  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  bool allow_2pc = false;
  std::shared_ptr<RowCache> row_cache = nullptr;  // [mapped] counts in the budget
  WalFilter* wal_filter = nullptr;                // [refused]
  bool dump_malloc_stats = false;
  bool avoid_flush_during_recovery = false;
  bool avoid_flush_during_shutdown = false;  // [mapped] the next open reads the log
  bool allow_ingest_behind = false;
  bool two_write_queues = false;
  bool manual_wal_flush = false;  // a write survives the process all the same
  CompressionType wal_compression = kNoCompression;
  bool background_close_inactive_wals = false;
  bool atomic_flush = false;
  bool avoid_unnecessary_blocking_io = false;
  bool write_dbid_to_manifest = true;
  bool write_identity_file = true;
  bool prefix_seek_opt_in_only = false;
  size_t log_readahead_size = 0;
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory = nullptr;  // [refused]
  bool best_efforts_recovery = false;                                           // [refused]
  int max_bgerror_resume_count = INT_MAX;
  uint64_t bgerror_resume_retry_interval = 1000000;
  bool allow_data_in_errors = false;
  std::string db_host_id = "__hostname__";
  std::shared_ptr<CompactionService> compaction_service = nullptr;  // [refused]
  CacheTier lowest_used_cache_tier = CacheTier::kNonVolatileBlockTier;
  bool enforce_single_del_contracts = true;
  std::string daily_offpeak_time_utc = "";
  uint64_t follower_refresh_catchup_period_ms = 10000;
  uint64_t follower_catchup_retry_count = 10;
  uint64_t follower_catchup_retry_wait_ms = 100;
  Temperature metadata_write_temperature = Temperature::kUnknown;
  Temperature wal_write_temperature = Temperature::kUnknown;
};

// Of a database and of all its families, or of the one that there is. [accepted]
struct Options : public DBOptions, public ColumnFamilyOptions {
  Options() = default;
  Options(const DBOptions& db_options, const ColumnFamilyOptions& column_family_options)
      : DBOptions(db_options), ColumnFamilyOptions(column_family_options) {}

  Options* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);
  Options* PrepareForBulkLoad();
  // [mapped]
  Options* OptimizeForSmallDb();
  Options* DisableExtraChecks() { return this; }
};

// [mapped]
enum ReadTier {
  kReadAllTier = 0x0,
  // Of what is in memory. Incomplete where the disk would have to be read, as for values over 64 KB
  kBlockCacheTier = 0x1,  // [mapped] Not of iterators and of the program's own comparators
  kPersistedTier = 0x2,   // what was written without a log is in it, too
  kMemtableTier = 0x3,    // [refused]
};

// [mapped]
struct Range {
  Range() = default;
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}
  Slice start;  // in it
  Slice limit;  // not in it
};

// [accepted]
struct ReadOptions {
  ReadOptions() = default;
  ReadOptions(bool _verify_checksums, bool _fill_cache)
      : verify_checksums(_verify_checksums), fill_cache(_fill_cache) {}
  explicit ReadOptions(Env::IOActivity _io_activity) : io_activity(_io_activity) {}

  const Snapshot* snapshot = nullptr;    // [mapped]
  const Slice* timestamp = nullptr;      // [refused]
  const Slice* iter_start_ts = nullptr;  // [refused]
  // Looked at when a read begins, not while it waits for the disk. [mapped]
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  std::chrono::microseconds io_timeout = std::chrono::microseconds::zero();
  ReadTier read_tier = kReadAllTier;  // [mapped]
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  // Of MultiGet: keys behind it get Aborted. [mapped]
  uint64_t value_size_soft_limit = std::numeric_limits<uint64_t>::max();
  std::optional<size_t> merge_operand_count_threshold;  // [refused]
  bool verify_checksums = true;                         // always
  bool fill_cache = true;
  bool ignore_range_deletions = false;
  bool async_io = false;
  bool optimize_multiget_for_io = true;
  size_t readahead_size = 0;
  uint64_t max_skippable_internal_keys = 0;
  // What they point to is looked at with each seek. [mapped]
  const Slice* iterate_lower_bound = nullptr;
  const Slice* iterate_upper_bound = nullptr;  // [mapped]
  // Seeks, and moves at its end, show what is committed then. [mapped]
  bool tailing = false;
  bool managed = false;  // [refused]
  bool total_order_seek = false;
  bool auto_prefix_mode = false;
  bool prefix_same_as_start = false;  // [mapped]
  bool pin_data = false;              // [mapped]
  bool adaptive_readahead = false;
  bool background_purge_on_iterator_cleanup = false;
  std::function<bool(const TableProperties&)> table_filter;  // [refused]
  bool auto_readahead_size = true;
  bool allow_unprepared_value = false;
  bool auto_refresh_iterator_with_snapshot = false;
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;
  const std::string* request_id = nullptr;
};

// [accepted]
struct WriteOptions {
  WriteOptions() = default;
  explicit WriteOptions(Env::IOActivity _io_activity) : io_activity(_io_activity) {}
  explicit WriteOptions(Env::IOPriority _rate_limiter_priority,
                        Env::IOActivity _io_activity = Env::IOActivity::kUnknown)
      : rate_limiter_priority(_rate_limiter_priority), io_activity(_io_activity) {}

  // True: the write survives a power loss when it returns. False: it survives the death of the
  // process, and after a power loss a prefix of all writes remains. [mapped]
  bool sync = false;
  bool disableWAL = false;                      // it is logged all the same
  bool ignore_missing_column_families = false;  // [mapped]
  bool no_slowdown = false;                     // a write is paced by milliseconds at most
  bool low_pri = false;
  bool memtable_insert_hint_per_batch = false;
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  size_t protection_bytes_per_key = 0;
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;
};

// [accepted]
struct FlushOptions {
  bool wait = true;  // it is always waited for
  bool allow_write_stall = false;
};

// [accepted]
enum class BottommostLevelCompaction { kSkip, kIfHaveCompactionFilter, kForce, kForceOptimized };

// [accepted]
enum class BlobGarbageCollectionPolicy { kForce, kDisable, kUseDefault };

// [accepted]
struct CompactRangeOptions {
  bool exclusive_manual_compaction = false;
  bool change_level = false;
  int target_level = -1;
  uint32_t target_path_id = 0;
  BottommostLevelCompaction bottommost_level_compaction =
      BottommostLevelCompaction::kIfHaveCompactionFilter;
  bool allow_write_stall = false;
  uint32_t max_subcompactions = 0;
  const Slice* full_history_ts_low = nullptr;  // [refused]
  std::atomic<bool>* canceled = nullptr;       // [mapped] looked at before it begins
  BlobGarbageCollectionPolicy blob_garbage_collection_policy =
      BlobGarbageCollectionPolicy::kUseDefault;
  double blob_garbage_collection_age_cutoff = -1;
};

// [accepted]
struct SizeApproximationOptions {
  bool include_memtables = false;
  bool include_files = true;  // [mapped]
  double files_size_error_margin = -1.0;
};

// [mapped]
struct WaitForCompactOptions {
  bool abort_on_pause = false;  // [accepted]
  bool flush = false;
  bool wait_for_purge = false;  // [accepted]
  bool close_db = false;
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();  // [refused]
};

// Of DB::IngestExternalFile. [mapped]
struct IngestExternalFileOptions {
  // The files are removed when they are taken in; their entries are copied in any case.
  bool move_files = false;
  // Not together with move_files. [accepted]
  bool link_files = false;
  bool failed_move_fall_back_to_copy = true;  // [accepted]
  bool snapshot_consistency = true;           // always so [accepted]
  bool allow_global_seqno = true;             // false is refused
  bool allow_blocking_flush = true;           // nothing is flushed [accepted]
  bool ingest_behind = false;                 // true is refused
  bool write_global_seqno = false;            // [accepted]
  // Always so. [accepted]
  bool verify_checksums_before_ingest = false;
  size_t verify_checksums_readahead_size = 0;  // [accepted]
  bool verify_file_checksum = true;            // [accepted]
  bool fail_if_not_bottommost_level = false;   // there are no levels [accepted]
  bool allow_db_generated_files = false;       // there are none [accepted]
  bool fill_cache = true;                      // [accepted]
};

// [mapped]
struct IngestExternalFileArg {
  ColumnFamilyHandle* column_family = nullptr;
  std::vector<std::string> external_files;
  IngestExternalFileOptions options;
};

}  // namespace ROCKSDB_NAMESPACE
