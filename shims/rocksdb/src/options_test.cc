// Each option that is mapped does something, each that is accepted leaves everything as it is, and
// each that is refused makes opening fail.

#include <rocksdb/memtablerep.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include "shims/rocksdb/src/families.h"
#include "shims/rocksdb/src/option_map.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

// What the API declares without a definition; tests need objects of them, by address alone.
namespace rocksdb {
class CompactionService {};
class CompressionManager {};
class ConcurrentTaskLimiter {};
class FlushBlockPolicyFactory {};
class MemoryAllocator {};
class PersistentCache {};
class SecondaryCache {};
class SstPartitionerFactory {};
class FileChecksumGenFactory {};
class SstFileManager {};
class TablePropertiesCollectorFactory {};
class WalFilter {};
}  // namespace rocksdb

namespace hawthorn::rocks {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::DBOptions;
using rocksdb::Options;
using rocksdb::WriteOptions;

constexpr size_t kMega = size_t{1} << 20;

class OptionsOf : public RocksTest {
 protected:
  // Opens with these, writes, reads, opens again, and reads.
  void works() {
    open();
    ASSERT_OK(put("a", "1"));
    EXPECT_EQ(get("a"), "1");
    reopen();
    EXPECT_EQ(get("a"), "1");
    ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
    EXPECT_EQ(get("a"), "1");
    close();
    ASSERT_OK(rocksdb::DestroyDB(path_, options_));
  }
  void refused() {
    EXPECT_TRUE(DB::Open(options_, path_, &db_).IsNotSupported());
    EXPECT_FALSE(std::filesystem::exists(path_));
    options_ = Options();
    options_.create_if_missing = true;
  }
  static size_t budget_of(const Options& options) { return memory_budget(options, {&options}); }
  uint64_t open_budget() {
    uint64_t bytes = 0;
    EXPECT_TRUE(db_->GetIntProperty("rocksdb.block-cache-capacity", &bytes));
    return bytes;
  }
};

class OtherEnv final : public rocksdb::Env {};

TEST_F(OptionsOf, ADatabaseThatAreRefused) {
  OtherEnv env;
  options_.env = &env;
  refused();
  options_.sst_file_manager = std::make_shared<rocksdb::SstFileManager>();
  refused();
  rocksdb::WalFilter filter;
  options_.wal_filter = &filter;
  refused();
  options_.file_checksum_gen_factory = std::make_shared<rocksdb::FileChecksumGenFactory>();
  refused();
  options_.best_efforts_recovery = true;
  refused();
  options_.compaction_service = std::make_shared<rocksdb::CompactionService>();
  refused();
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  refused();
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  refused();
}

TEST_F(OptionsOf, AFamilyThatAreRefused) {
  options_.inplace_callback = [](char*, uint32_t*, rocksdb::Slice, std::string*) {
    return rocksdb::UPDATE_FAILED;
  };
  refused();
  Options::TablePropertiesCollectorFactories& collectors =
      options_.table_properties_collector_factories;
  collectors.push_back(std::make_shared<rocksdb::TablePropertiesCollectorFactory>());
  refused();
  options_.compression_manager = std::make_shared<rocksdb::CompressionManager>();
  refused();
  options_.disallow_memtable_writes = true;
  refused();
  options_.compaction_style = rocksdb::kCompactionStyleFIFO;
  refused();
  options_.compression = rocksdb::kXpressCompression;
  refused();
  options_.compression_per_level = {static_cast<rocksdb::CompressionType>(0x80)};
  refused();
  open();
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  options_.disallow_memtable_writes = true;
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "other", &handle).IsNotSupported());
}

TEST_F(OptionsOf, ADatabaseThatAreAccepted) {
  options_.paranoid_checks = false;
  options_.flush_verify_memtable_count = false;
  options_.compaction_verify_record_count = false;
  options_.track_and_verify_wals_in_manifest = true;
  options_.track_and_verify_wals = true;
  options_.verify_sst_unique_id_in_manifest = false;
  options_.max_open_files = 10;
  options_.max_file_opening_threads = 1;
  options_.max_total_wal_size = 1;
  options_.use_fsync = true;
  options_.db_paths.emplace_back(directory_ + "/elsewhere", uint64_t{1000});
  options_.db_log_dir = directory_;
  options_.wal_dir = directory_;
  options_.delete_obsolete_files_period_micros = 1;
  options_.max_background_jobs = 8;
  options_.max_background_compactions = 8;
  options_.max_subcompactions = 8;
  options_.max_background_flushes = 8;
  options_.max_log_file_size = 1;
  options_.log_file_time_to_roll = 1;
  options_.keep_log_file_num = 1;
  options_.recycle_log_file_num = 1;
  options_.max_manifest_file_size = 1;
  options_.table_cache_numshardbits = 1;
  options_.WAL_ttl_seconds = 1;
  options_.WAL_size_limit_MB = 1;
  options_.manifest_preallocation_size = 1;
  options_.allow_mmap_reads = true;
  options_.allow_mmap_writes = true;
  options_.use_direct_reads = true;
  options_.use_direct_io_for_flush_and_compaction = true;
  options_.allow_fallocate = false;
  options_.is_fd_close_on_exec = false;
  options_.stats_dump_period_sec = 1;
  options_.stats_persist_period_sec = 1;
  options_.persist_stats_to_disk = true;
  options_.stats_history_buffer_size = 1;
  options_.advise_random_on_open = false;
  options_.compaction_readahead_size = 1;
  options_.writable_file_max_buffer_size = 1;
  options_.use_adaptive_mutex = true;
  options_.bytes_per_sync = 1;
  options_.wal_bytes_per_sync = 1;
  options_.strict_bytes_per_sync = true;
  options_.enable_thread_tracking = true;
  options_.delayed_write_rate = 1;
  options_.enable_pipelined_write = true;
  options_.unordered_write = true;
  options_.allow_concurrent_memtable_write = false;
  options_.enable_write_thread_adaptive_yield = false;
  options_.max_write_batch_group_size_bytes = 1;
  options_.write_thread_max_yield_usec = 1;
  options_.write_thread_slow_yield_usec = 1;
  options_.skip_stats_update_on_db_open = true;
  options_.skip_checking_sst_file_sizes_on_db_open = true;
  options_.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options_.allow_2pc = true;
  options_.dump_malloc_stats = true;
  options_.avoid_flush_during_recovery = true;
  options_.allow_ingest_behind = true;
  options_.two_write_queues = true;
  options_.manual_wal_flush = true;
  options_.wal_compression = rocksdb::kZSTD;
  options_.background_close_inactive_wals = true;
  options_.atomic_flush = true;
  options_.avoid_unnecessary_blocking_io = true;
  options_.write_dbid_to_manifest = false;
  options_.write_identity_file = false;
  options_.prefix_seek_opt_in_only = true;
  options_.log_readahead_size = 1;
  options_.max_bgerror_resume_count = 1;
  options_.bgerror_resume_retry_interval = 1;
  options_.allow_data_in_errors = true;
  options_.db_host_id = "host";
  options_.lowest_used_cache_tier = rocksdb::CacheTier::kVolatileTier;
  options_.enforce_single_del_contracts = false;
  options_.daily_offpeak_time_utc = "01:00-02:00";
  options_.follower_refresh_catchup_period_ms = 1;
  options_.follower_catchup_retry_count = 1;
  options_.follower_catchup_retry_wait_ms = 1;
  options_.metadata_write_temperature = rocksdb::Temperature::kCold;
  options_.wal_write_temperature = rocksdb::Temperature::kHot;
  works();
}

TEST_F(OptionsOf, AFamilyThatAreAccepted) {
  options_.min_write_buffer_number_to_merge = 2;
  options_.max_write_buffer_size_to_maintain = 1;
  options_.inplace_update_support = true;
  options_.inplace_update_num_locks = 1;
  options_.experimental_mempurge_threshold = 1;
  options_.memtable_prefix_bloom_size_ratio = 0.1;
  options_.memtable_whole_key_filtering = true;
  options_.memtable_huge_page_size = 1;
  options_.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewNoopTransform());
  options_.bloom_locality = 1;
  options_.arena_block_size = 1;
  options_.num_levels = 2;
  options_.level0_slowdown_writes_trigger = 1;
  options_.level0_stop_writes_trigger = 1;
  options_.target_file_size_base = 1;
  options_.target_file_size_multiplier = 2;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.max_bytes_for_level_multiplier = 2;
  options_.max_bytes_for_level_multiplier_additional = {1, 2};
  options_.max_compaction_bytes = 1;
  options_.soft_pending_compaction_bytes_limit = 1;
  options_.hard_pending_compaction_bytes_limit = 1;
  options_.compaction_style = rocksdb::kCompactionStyleUniversal;
  options_.compaction_pri = rocksdb::kRoundRobin;
  options_.compaction_options_universal.size_ratio = 2;
  options_.compaction_options_universal.stop_style = rocksdb::kCompactionStopStyleSimilarSize;
  options_.compaction_options_universal.min_merge_width = 3;
  options_.compaction_options_universal.max_merge_width = 4;
  options_.compaction_options_universal.max_size_amplification_percent = 5;
  options_.compaction_options_universal.compression_size_percent = 6;
  options_.compaction_options_universal.max_read_amp = 7;
  options_.compaction_options_universal.allow_trivial_move = true;
  options_.compaction_options_universal.incremental = true;
  options_.compaction_options_universal.reduce_file_locking = true;
  options_.compaction_options_fifo.max_table_files_size = 1;
  options_.compaction_options_fifo.allow_compaction = true;
  options_.compaction_options_fifo.age_for_warm = 1;
  options_.max_sequential_skip_in_iterations = 1;
  options_.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  options_.max_successive_merges = 1;
  options_.strict_max_successive_merges = true;
  options_.optimize_filters_for_hits = true;
  options_.paranoid_file_checks = true;
  options_.force_consistency_checks = false;
  options_.report_bg_io_stats = true;
  options_.ttl = 1;
  options_.periodic_compaction_seconds = 1;
  options_.sample_for_compression = 1;
  options_.last_level_temperature = rocksdb::Temperature::kCold;
  options_.default_write_temperature = rocksdb::Temperature::kWarm;
  options_.default_temperature = rocksdb::Temperature::kWarm;
  options_.preclude_last_level_data_seconds = 1;
  options_.preserve_internal_time_seconds = 1;
  options_.enable_blob_files = true;
  options_.min_blob_size = 1;
  options_.blob_file_size = 1;
  options_.blob_compression_type = rocksdb::kZSTD;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  options_.blob_garbage_collection_force_threshold = 0.5;
  options_.blob_compaction_readahead_size = 1;
  options_.blob_file_starting_level = 1;
  options_.prepopulate_blob_cache = rocksdb::PrepopulateBlobCache::kFlushOnly;
  options_.memtable_protection_bytes_per_key = 8;
  options_.persist_user_defined_timestamps = false;
  options_.block_protection_bytes_per_key = 8;
  options_.bottommost_file_compaction_delay = 1;
  options_.paranoid_memory_checks = true;
  options_.memtable_op_scan_flush_trigger = 1;
  options_.memtable_avg_op_scan_flush_trigger = 1;
  options_.bottommost_compression_opts.level = 3;
  options_.compression_opts.level = rocksdb::CompressionOptions::kDefaultCompressionLevel - 1;
  options_.compression_opts.window_bits = 1;
  options_.compression_opts.strategy = 1;
  options_.compression_opts.max_dict_bytes = 1;
  options_.compression_opts.zstd_max_train_bytes = 1;
  options_.compression_opts.parallel_threads = 2;
  options_.compression_opts.enabled = true;
  options_.compression_opts.max_dict_buffer_bytes = 1;
  options_.compression_opts.use_zstd_dict_trainer = false;
  options_.compression_opts.max_compressed_bytes_per_kb = 1;
  options_.compression_opts.checksum = true;
  options_.compaction_thread_limiter = std::make_shared<rocksdb::ConcurrentTaskLimiter>();
  options_.sst_partitioner_factory = std::make_shared<rocksdb::SstPartitionerFactory>();
  options_.level0_file_num_compaction_trigger = 1;
  options_.max_bytes_for_level_base = 1;
  options_.snap_refresh_nanos = 1;
  options_.disable_auto_compactions = true;
  options_.cf_paths.emplace_back(directory_, uint64_t{1});
  EXPECT_EQ(options_.cf_paths[0].target_size, 1U);
  options_.memtable_max_range_deletions = 1;
  options_.uncache_aggressiveness = 1;
  works();
  options_.compaction_style = rocksdb::kCompactionStyleNone;
  rocksdb::PlainTableOptions plain;
  EXPECT_EQ(plain.user_key_len, rocksdb::kPlainTableVariableLength);
  plain.user_key_len = 8;
  plain.bloom_bits_per_key = 1;
  plain.hash_table_ratio = 0.5;
  plain.index_sparseness = 1;
  plain.huge_page_tlb_size = 1;
  plain.encoding_type = rocksdb::kPrefix;
  plain.full_scan_mode = true;
  plain.store_index_in_file = true;
  options_.table_factory.reset(rocksdb::NewPlainTableFactory(plain));
  EXPECT_EQ(options_.table_factory->GetOptions<rocksdb::PlainTableOptions>()->user_key_len, 8U);
  EXPECT_STREQ(options_.table_factory->Name(), rocksdb::TableFactory::kPlainTableName());
  options_.memtable_factory.reset(rocksdb::NewHashSkipListRepFactory());
  works();
  rocksdb::CuckooTableOptions cuckoo;
  cuckoo.hash_table_ratio = 0.5;
  cuckoo.max_search_depth = 1;
  cuckoo.cuckoo_block_size = 1;
  cuckoo.identity_as_first_hash = true;
  cuckoo.use_module_hash = false;
  options_.table_factory.reset(rocksdb::NewCuckooTableFactory(cuckoo));
  EXPECT_STREQ(options_.table_factory->Name(), rocksdb::TableFactory::kCuckooTableName());
  options_.memtable_factory.reset(rocksdb::NewHashLinkListRepFactory());
  works();
  EXPECT_STREQ(options_.memtable_factory->Name(), "HashLinkListRepFactory");
}

TEST_F(OptionsOf, TablesThatAreAccepted) {
  BlockBasedTableOptions table;
  EXPECT_STREQ(BlockBasedTableOptions::kName(), "BlockTableOptions");
  EXPECT_STREQ(rocksdb::TableFactory::kBlockCacheOpts(), "BlockCache");
  table.flush_block_policy_factory = std::make_shared<rocksdb::FlushBlockPolicyFactory>();
  table.persistent_cache = std::make_shared<rocksdb::PersistentCache>();
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = false;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.pin_top_level_index_and_filter = false;
  table.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kAll;
  table.metadata_cache_options.top_level_index_pinning = rocksdb::PinningTier::kNone;
  table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.data_block_hash_table_util_ratio = 0.5;
  table.checksum = rocksdb::kCRC32c;
  table.block_size = 16384;
  table.block_size_deviation = 5;
  table.block_restart_interval = 8;
  table.index_block_restart_interval = 8;
  table.metadata_block_size = 8192;
  table.partition_filters = true;
  table.decouple_partitioned_filters = true;
  table.optimize_filters_for_memory = false;
  table.use_delta_encoding = false;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  EXPECT_STREQ(table.filter_policy->Name(), "bloomfilter");
  table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
  EXPECT_STREQ(table.filter_policy->CompatibilityName(), "rocksdb.BuiltinBloomFilter");
  table.whole_key_filtering = false;
  table.detect_filter_construct_corruption = true;
  table.verify_compression = true;
  table.read_amp_bytes_per_bit = 1;
  table.format_version = 5;
  table.enable_index_compression = false;
  table.block_align = true;
  table.index_shortening = BlockBasedTableOptions::IndexShorteningMode::kNoShortening;
  table.max_auto_readahead_size = 1;
  table.prepopulate_block_cache = BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  table.initial_auto_readahead_size = 1;
  table.num_file_reads_for_auto_readahead = 1;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  EXPECT_STREQ(options_.table_factory->Name(), rocksdb::TableFactory::kBlockBasedTableName());
  const auto* kept = options_.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->block_size, 16384U);
  EXPECT_EQ(options_.table_factory->GetOptions<rocksdb::PlainTableOptions>(), nullptr);
  works();
}

TEST_F(OptionsOf, ReadsAndWritesThatAreAccepted) {
  open();
  WriteOptions write(rocksdb::Env::IO_HIGH);
  write.no_slowdown = true;
  write.low_pri = true;
  write.memtable_insert_hint_per_batch = true;
  write.protection_bytes_per_key = 8;
  write.io_activity = rocksdb::Env::IOActivity::kUnknown;
  ASSERT_OK(db_->Put(write, "a", "1"));
  rocksdb::ReadOptions read(false, false);
  read.io_timeout = std::chrono::microseconds(1);
  read.rate_limiter_priority = rocksdb::Env::IO_LOW;
  read.ignore_range_deletions = true;
  read.async_io = true;
  read.optimize_multiget_for_io = false;
  read.readahead_size = 1;
  read.max_skippable_internal_keys = 1;
  read.total_order_seek = true;
  read.auto_prefix_mode = true;
  read.adaptive_readahead = true;
  read.background_purge_on_iterator_cleanup = true;
  read.auto_readahead_size = false;
  read.allow_unprepared_value = true;
  read.auto_refresh_iterator_with_snapshot = true;
  const std::string id = "id";
  read.request_id = &id;
  EXPECT_FALSE(read.fill_cache);
  EXPECT_EQ(all(nullptr, read), "a=1 ");
  std::string value;
  EXPECT_OK(db_->Get(read, "a", &value));
  EXPECT_TRUE(rocksdb::ReadOptions(rocksdb::Env::IOActivity::kGet).verify_checksums);
  EXPECT_FALSE(WriteOptions(rocksdb::Env::IOActivity::kFlush).sync);
}

TEST_F(OptionsOf, MemoryIsCachesAndWriteBuffers) {
  Options options;
  options.write_buffer_size = 20 * kMega;
  options.max_write_buffer_number = 3;
  EXPECT_EQ(budget_of(options), 92 * kMega);  // with the default cache of 32 MB
  BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(100 * kMega);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  EXPECT_EQ(budget_of(options), 160 * kMega);
  options.blob_cache = table.block_cache;  // the same one counts once
  EXPECT_EQ(budget_of(options), 160 * kMega);
  options.row_cache = rocksdb::NewLRUCache(rocksdb::LRUCacheOptions(kMega, 1, false, 0.5));
  EXPECT_EQ(budget_of(options), 161 * kMega);
  options.db_write_buffer_size = 10 * kMega;
  EXPECT_EQ(budget_of(options), 111 * kMega);
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(20 * kMega);
  options.write_buffer_manager->SetBufferSize(30 * kMega);
  EXPECT_EQ(options.write_buffer_manager->buffer_size(), 30 * kMega);
  EXPECT_TRUE(options.write_buffer_manager->enabled());
  EXPECT_FALSE(options.write_buffer_manager->cost_to_cache());
  options.write_buffer_manager->SetAllowStall(true);
  EXPECT_EQ(budget_of(options), 131 * kMega);
  options.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(30 * kMega, table.block_cache);
  EXPECT_EQ(budget_of(options), 101 * kMega);
  Options without;
  table.no_block_cache = true;
  without.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  without.write_buffer_size = kMega;
  EXPECT_EQ(budget_of(without), 16 * kMega);  // the least that there is
}

TEST_F(OptionsOf, CachesThatAreAccepted) {
  rocksdb::LRUCacheOptions lru;
  lru.capacity = 3 * kMega;
  lru.num_shard_bits = 1;
  lru.strict_capacity_limit = true;
  lru.memory_allocator = std::make_shared<rocksdb::MemoryAllocator>();
  EXPECT_EQ(lru.metadata_charge_policy, rocksdb::kDefaultCacheMetadataChargePolicy);
  lru.metadata_charge_policy = rocksdb::kDontChargeCacheMetadata;
  lru.secondary_cache = std::make_shared<rocksdb::SecondaryCache>();
  EXPECT_EQ(lru.hash_seed, rocksdb::ShardedCacheOptions::kHostHashSeed);
  lru.hash_seed = rocksdb::ShardedCacheOptions::kQuasiRandomHashSeed;
  lru.high_pri_pool_ratio = 0.25;
  lru.low_pri_pool_ratio = 0.25;
  lru.use_adaptive_mutex = !rocksdb::kDefaultToAdaptiveMutex;
  const std::shared_ptr<rocksdb::RowCache> rows = lru.MakeSharedRowCache();
  EXPECT_EQ(rows->GetCapacity(), 3 * kMega);
  EXPECT_TRUE(rows->HasStrictCapacityLimit());
  rocksdb::HyperClockCacheOptions clock(kMega, 100);
  EXPECT_EQ(clock.estimated_entry_charge, 100U);
  clock.min_avg_entry_charge = 1;
  clock.eviction_effort_cap = 1;
  EXPECT_EQ(clock.MakeSharedCache()->GetCapacity(), kMega);
}

TEST_F(OptionsOf, CachesMayGrow) {
  BlockBasedTableOptions table;
  const std::shared_ptr<rocksdb::Cache> cache =
      rocksdb::HyperClockCacheOptions(30 * kMega, 0).MakeSharedCache();
  EXPECT_STREQ(cache->Name(), "HyperClockCache");
  table.block_cache = cache;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options_.write_buffer_size = 10 * kMega;
  options_.max_write_buffer_number = 1;
  open();
  EXPECT_EQ(open_budget(), 40 * kMega);
  cache->SetCapacity(50 * kMega);
  EXPECT_EQ(cache->GetCapacity(), 50 * kMega);
  EXPECT_EQ(open_budget(), 60 * kMega);
  ASSERT_OK(put("a", std::string(100000, 'v')));
  ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
  EXPECT_EQ(get("a").size(), 100000U);
  EXPECT_GT(cache->GetUsage(), 0U);
  EXPECT_EQ(cache->GetPinnedUsage(), 0U);
  cache->SetStrictCapacityLimit(true);
  EXPECT_TRUE(cache->HasStrictCapacityLimit());
  rocksdb::ColumnFamilyOptions family;
  table.block_cache = rocksdb::NewLRUCache(5 * kMega);
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.write_buffer_size = kMega;
  rocksdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(family, "other", &handle));
  EXPECT_EQ(open_budget(), 67 * kMega);
  table.block_cache->SetCapacity(6 * kMega);
  EXPECT_EQ(open_budget(), 68 * kMega);
  ASSERT_OK(db_->DropColumnFamily(handle));
  delete handle;
  EXPECT_EQ(open_budget(), 60 * kMega);
  close();
  EXPECT_EQ(cache->GetUsage(), 0U);
}

TEST_F(OptionsOf, RateLimits) {
  options_.rate_limiter.reset(rocksdb::NewGenericRateLimiter(int64_t{10} << 20));
  EXPECT_EQ(engine_options(options_, false).background_io_bytes_per_second, 10 * kMega);
  open();
  options_.rate_limiter->SetBytesPerSecond(int64_t{20} << 20);
  EXPECT_EQ(options_.rate_limiter->GetBytesPerSecond(), int64_t{20} << 20);
  ASSERT_OK(put("a", "1"));
  ASSERT_OK(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
}

TEST_F(OptionsOf, Compression) {
  Options options;
  EXPECT_EQ(compression_of(options), hawthorn::Compression::kNone);
  options.compression = rocksdb::kSnappyCompression;
  EXPECT_EQ(compression_of(options), hawthorn::Compression::kLz4);
  options.compression = rocksdb::kZlibCompression;
  EXPECT_EQ(compression_of(options), hawthorn::Compression::kZstd);
  options.compression_per_level = {rocksdb::kZSTD, rocksdb::kLZ4Compression};
  EXPECT_EQ(compression_of(options), hawthorn::Compression::kLz4);
  options.bottommost_compression = rocksdb::kBZip2Compression;
  EXPECT_EQ(compression_of(options), hawthorn::Compression::kZstd);
  for (const rocksdb::CompressionType type :
       {rocksdb::kZSTD, rocksdb::kLZ4HCCompression, rocksdb::kNoCompression}) {
    options_.compression = type;
    open();
    EXPECT_OK(put("a" + std::to_string(type), std::string(100, 'v')));
    ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
    close();
  }
  open();
  EXPECT_EQ(get("a" + std::to_string(rocksdb::kZSTD)), std::string(100, 'v'));
}

TEST_F(OptionsOf, MessagesGoToTheLogger) {
  const auto logger = std::make_shared<Lines>();
  options_.info_log = logger;
  const hawthorn::Options engine = engine_options(options_, false);
  engine.log(hawthorn::LogLevel::kInfo, "one");
  engine.log(hawthorn::LogLevel::kWarning, "two 100%");
  EXPECT_EQ(logger->lines, "one\n[WARN] two 100%\n");
  options_.info_log_level = rocksdb::ERROR_LEVEL;
  const hawthorn::Options quiet = engine_options(options_, false);
  quiet.log(hawthorn::LogLevel::kWarning, "three");
  quiet.log(hawthorn::LogLevel::kError, "four");
  EXPECT_EQ(logger->lines, "one\n[WARN] two 100%\n[ERROR] four\n");
}

TEST_F(OptionsOf, FunctionsThatChooseValues) {
  Options options;
  EXPECT_EQ(options.IncreaseParallelism(4), &options);
  EXPECT_EQ(options.max_background_jobs, 4);
  options.OptimizeForSmallDb();
  EXPECT_EQ(options.write_buffer_size, 2 * kMega);
  EXPECT_EQ(budget_of(options), 20 * kMega);
  options.OptimizeForPointLookup(64);
  EXPECT_EQ(budget_of(options), 68 * kMega);
  options.OptimizeLevelStyleCompaction(64 * kMega);
  EXPECT_EQ(options.write_buffer_size, 16 * kMega);
  EXPECT_EQ(options.max_write_buffer_number, 6);
  options.OptimizeUniversalStyleCompaction(128 * kMega);
  EXPECT_EQ(options.write_buffer_size, 32 * kMega);
  EXPECT_EQ(options.compaction_style, rocksdb::kCompactionStyleUniversal);
  EXPECT_TRUE(options.PrepareForBulkLoad()->disable_auto_compactions);
  EXPECT_EQ(options.DisableExtraChecks(), &options);
  EXPECT_EQ(options.OldDefaults(), &options);
  EXPECT_EQ(ColumnFamilyOptions(options).write_buffer_size, 32 * kMega);
  EXPECT_EQ(DBOptions(options).max_background_jobs, 4);
  DBOptions database;
  std::shared_ptr<rocksdb::Cache> cache;
  database.OptimizeForSmallDb(&cache);
  EXPECT_NE(cache, nullptr);
  EXPECT_EQ(database.OldDefaults(), &database);
  const Options both(database, ColumnFamilyOptions(options));
  EXPECT_EQ(both.write_buffer_size, 32 * kMega);
}

}  // namespace
}  // namespace hawthorn::rocks
