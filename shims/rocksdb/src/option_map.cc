#include "shims/rocksdb/src/option_map.h"

#include <hawthorn/stats.h>

#include <algorithm>
#include <string>

#include "rocksdb/table.h"
#include "shims/rocksdb/src/resources.h"

namespace hawthorn::rocks {
namespace {

// Of a family whose options name no cache, as RocksDB has it.
constexpr size_t kDefaultCacheBytes = size_t{32} << 20;
// Of all families' write buffers together, where no option says how much: a program with many
// families means that each may have its buffers, not that all are full.
constexpr size_t kFamilyBuffersMax = size_t{1} << 30;

rocksdb::Status refused(const char* option) {
  return rocksdb::Status::NotSupported(option, "hawthorn-rocksdb does not have this option");
}

bool knows(rocksdb::CompressionType type) {
  return type <= rocksdb::kLastBuiltinCompression && type != rocksdb::kXpressCompression;
}

using Caches = std::vector<std::shared_ptr<rocksdb::Cache>>;

void add_cache(Caches& caches, const std::shared_ptr<rocksdb::Cache>& cache) {
  if (cache == nullptr) return;
  if (std::find(caches.begin(), caches.end(), cache) == caches.end()) caches.push_back(cache);
}

// Whether a cache of the default size is meant.
bool has_default_cache(const rocksdb::ColumnFamilyOptions& family) {
  const rocksdb::BlockBasedTableOptions* const table = block_options(family.table_factory.get());
  return table != nullptr && !table->no_block_cache && table->block_cache == nullptr;
}

void log_line(rocksdb::Logger& logger, rocksdb::InfoLogLevel level, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  logger.Logv(level, format, arguments);
  va_end(arguments);
}

}  // namespace

rocksdb::Status check_options(const rocksdb::DBOptions& options) {
  if (options.env != rocksdb::Env::Default()) return refused("env");
  if (options.sst_file_manager != nullptr) return refused("sst_file_manager");
  for (const auto& listener : options.listeners) {
    if (listener == nullptr) return rocksdb::Status::InvalidArgument("a listener that is null");
  }
  if (options.wal_filter != nullptr) return refused("wal_filter");
  if (options.file_checksum_gen_factory != nullptr) return refused("file_checksum_gen_factory");
  if (options.best_efforts_recovery) return refused("best_efforts_recovery");
  if (options.compaction_service != nullptr) return refused("compaction_service");
  if (options.wal_recovery_mode == rocksdb::WALRecoveryMode::kAbsoluteConsistency ||
      options.wal_recovery_mode == rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords) {
    return refused("wal_recovery_mode");
  }
  return rocksdb::Status::OK();
}

rocksdb::Status check_options(const rocksdb::ColumnFamilyOptions& options) {
  if (options.comparator == nullptr) {
    return rocksdb::Status::InvalidArgument("a column family without a comparator");
  }
  if (options.comparator->timestamp_size() != 0) return refused("user timestamps");
  if (options.inplace_callback != nullptr) return refused("inplace_callback");
  if (!options.table_properties_collector_factories.empty()) {
    return refused("table_properties_collector_factories");
  }
  if (options.compression_manager != nullptr) return refused("compression_manager");
  if (options.disallow_memtable_writes) return refused("disallow_memtable_writes");
  if (options.compaction_style == rocksdb::kCompactionStyleFIFO) return refused("FIFO compaction");
  std::vector<rocksdb::CompressionType> types = options.compression_per_level;
  types.push_back(options.compression);
  if (options.bottommost_compression != rocksdb::kDisableCompressionOption) {
    types.push_back(options.bottommost_compression);
  }
  if (!std::all_of(types.begin(), types.end(), knows)) return refused("compression");
  return rocksdb::Status::OK();
}

Caches caches_of(const rocksdb::DBOptions& options,
                 const std::vector<const rocksdb::ColumnFamilyOptions*>& families) {
  Caches caches;
  add_cache(caches, options.row_cache);
  for (const rocksdb::ColumnFamilyOptions* family : families) {
    add_cache(caches, family->blob_cache);
    const rocksdb::BlockBasedTableOptions* const table = block_options(family->table_factory.get());
    if (table != nullptr && !table->no_block_cache) add_cache(caches, table->block_cache);
  }
  return caches;
}

size_t memory_budget(const rocksdb::DBOptions& options,
                     const std::vector<const rocksdb::ColumnFamilyOptions*>& families) {
  size_t cache_bytes = 0;
  for (const std::shared_ptr<rocksdb::Cache>& cache : caches_of(options, families)) {
    cache_bytes += cache->GetCapacity();
  }
  size_t family_buffers = 0;
  bool default_cache = false;
  for (const rocksdb::ColumnFamilyOptions* family : families) {
    default_cache = default_cache || has_default_cache(*family);
    family_buffers += family->write_buffer_size *
                      static_cast<size_t>(std::max(family->max_write_buffer_number, 1));
  }
  if (default_cache) cache_bytes += kDefaultCacheBytes;
  size_t buffers = std::min(family_buffers, kFamilyBuffersMax);
  if (options.db_write_buffer_size != 0) buffers = options.db_write_buffer_size;
  if (const auto& manager = options.write_buffer_manager; manager && manager->enabled()) {
    buffers = manager->cost_to_cache() ? 0 : manager->buffer_size();
  }
  size_t budget = cache_bytes + buffers;
  // Where no cache was given, nobody has thought of how much memory there is.
  if (default_cache) budget = hawthorn::default_memory_budget_bytes(budget);
  return std::max(budget, hawthorn::Limits().memory_budget_bytes_min);
}

hawthorn::Options engine_options(const rocksdb::DBOptions& options, bool read_only) {
  hawthorn::Options engine;
  engine.read_only = read_only;
  engine.create_if_missing = options.create_if_missing && !read_only;
  engine.error_if_exists = options.error_if_exists && !read_only;
  // What a write without `sync` is; others name their level.
  engine.durability = hawthorn::Durability::kNone;
  if (options.rate_limiter != nullptr) {
    engine.background_io_bytes_per_second =
        static_cast<uint64_t>(std::max<int64_t>(options.rate_limiter->GetBytesPerSecond(), 0));
  }
  if (options.info_log != nullptr) {
    const rocksdb::InfoLogLevel lowest = options.info_log_level;
    engine.log = [logger = options.info_log, lowest](LogLevel level, std::string_view message) {
      const rocksdb::InfoLogLevel as = level == LogLevel::kInfo      ? rocksdb::INFO_LEVEL
                                       : level == LogLevel::kWarning ? rocksdb::WARN_LEVEL
                                                                     : rocksdb::ERROR_LEVEL;
      if (as < lowest) return;
      log_line(*logger, as, "%.*s", static_cast<int>(message.size()), message.data());
    };
  }
  return engine;
}

}  // namespace hawthorn::rocks
