// The options of each structure that have a text. supported.py --check compares them with the
// members that the headers declare: each is here, or in a line of UNWRITTEN.

#include "rocksdb/table.h"
#include "shims/rocksdb/src/option_values.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using Config = rocksdb::ConfigOptions;
using F = OptionField;

}  // namespace

// Within a function where `Of` is the structure.
#define OPTION(member, ...) field<Of, &Of::member>(#member __VA_OPT__(, ) __VA_ARGS__)
#define OPAQUE(member, ...) opaque_field<Of, &Of::member>(#member __VA_OPT__(, ) __VA_ARGS__)
#define RENAMED(name, member, ...) field<Of, &Of::member>(name __VA_OPT__(, ) __VA_ARGS__)
// Members without a text, as in RocksDB: what they hold is told by nothing but the object.
#define UNWRITTEN(...)

#define NAMED(value) {#value, rocksdb::value}
#define NAMED_IN(scope, value) {#value, rocksdb::scope::value}

template <>
std::span<const Named<rocksdb::CompressionType>> names_of() {
  static constexpr Named<rocksdb::CompressionType> kNames[] = {
      NAMED(kNoCompression),           NAMED(kSnappyCompression),
      NAMED(kZlibCompression),         NAMED(kBZip2Compression),
      NAMED(kLZ4Compression),          NAMED(kLZ4HCCompression),
      NAMED(kXpressCompression),       NAMED(kZSTD),
      NAMED(kDisableCompressionOption)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::CompactionStyle>> names_of() {
  static constexpr Named<rocksdb::CompactionStyle> kNames[] = {
      NAMED(kCompactionStyleLevel), NAMED(kCompactionStyleUniversal), NAMED(kCompactionStyleFIFO),
      NAMED(kCompactionStyleNone)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::CompactionPri>> names_of() {
  static constexpr Named<rocksdb::CompactionPri> kNames[] = {
      NAMED(kByCompensatedSize), NAMED(kOldestLargestSeqFirst), NAMED(kOldestSmallestSeqFirst),
      NAMED(kMinOverlappingRatio), NAMED(kRoundRobin)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::CompactionStopStyle>> names_of() {
  static constexpr Named<rocksdb::CompactionStopStyle> kNames[] = {
      NAMED(kCompactionStopStyleSimilarSize), NAMED(kCompactionStopStyleTotalSize)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::Temperature>> names_of() {
  static constexpr Named<rocksdb::Temperature> kNames[] = {
      NAMED_IN(Temperature, kUnknown), NAMED_IN(Temperature, kHot), NAMED_IN(Temperature, kWarm),
      NAMED_IN(Temperature, kCold)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::PrepopulateBlobCache>> names_of() {
  static constexpr Named<rocksdb::PrepopulateBlobCache> kNames[] = {
      NAMED_IN(PrepopulateBlobCache, kDisable), NAMED_IN(PrepopulateBlobCache, kFlushOnly)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::WALRecoveryMode>> names_of() {
  static constexpr Named<rocksdb::WALRecoveryMode> kNames[] = {
      NAMED_IN(WALRecoveryMode, kTolerateCorruptedTailRecords),
      NAMED_IN(WALRecoveryMode, kAbsoluteConsistency),
      NAMED_IN(WALRecoveryMode, kPointInTimeRecovery),
      NAMED_IN(WALRecoveryMode, kSkipAnyCorruptedRecords)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::CacheTier>> names_of() {
  static constexpr Named<rocksdb::CacheTier> kNames[] = {
      NAMED_IN(CacheTier, kVolatileTier), NAMED_IN(CacheTier, kVolatileCompressedTier),
      NAMED_IN(CacheTier, kNonVolatileBlockTier)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::InfoLogLevel>> names_of() {
  static constexpr Named<rocksdb::InfoLogLevel> kNames[] = {
      NAMED(DEBUG_LEVEL), NAMED(INFO_LEVEL),  NAMED(WARN_LEVEL),
      NAMED(ERROR_LEVEL), NAMED(FATAL_LEVEL), NAMED(HEADER_LEVEL)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::ChecksumType>> names_of() {
  static constexpr Named<rocksdb::ChecksumType> kNames[] = {
      NAMED(kNoChecksum), NAMED(kCRC32c), NAMED(kxxHash), NAMED(kxxHash64), NAMED(kXXH3)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::EncodingType>> names_of() {
  static constexpr Named<rocksdb::EncodingType> kNames[] = {NAMED(kPlain), NAMED(kPrefix)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::PinningTier>> names_of() {
  static constexpr Named<rocksdb::PinningTier> kNames[] = {
      NAMED_IN(PinningTier, kFallback), NAMED_IN(PinningTier, kNone),
      NAMED_IN(PinningTier, kFlushedAndSimilar), NAMED_IN(PinningTier, kAll)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::BlockBasedTableOptions::IndexType>> names_of() {
  static constexpr Named<rocksdb::BlockBasedTableOptions::IndexType> kNames[] = {
      NAMED_IN(BlockBasedTableOptions, kBinarySearch),
      NAMED_IN(BlockBasedTableOptions, kHashSearch),
      NAMED_IN(BlockBasedTableOptions, kTwoLevelIndexSearch),
      NAMED_IN(BlockBasedTableOptions, kBinarySearchWithFirstKey)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::BlockBasedTableOptions::DataBlockIndexType>> names_of() {
  static constexpr Named<rocksdb::BlockBasedTableOptions::DataBlockIndexType> kNames[] = {
      NAMED_IN(BlockBasedTableOptions, kDataBlockBinarySearch),
      NAMED_IN(BlockBasedTableOptions, kDataBlockBinaryAndHash)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::BlockBasedTableOptions::IndexShorteningMode>> names_of() {
  static constexpr Named<rocksdb::BlockBasedTableOptions::IndexShorteningMode> kNames[] = {
      NAMED_IN(BlockBasedTableOptions::IndexShorteningMode, kNoShortening),
      NAMED_IN(BlockBasedTableOptions::IndexShorteningMode, kShortenSeparators),
      NAMED_IN(BlockBasedTableOptions::IndexShorteningMode, kShortenSeparatorsAndSuccessor)};
  return kNames;
}
template <>
std::span<const Named<rocksdb::BlockBasedTableOptions::PrepopulateBlockCache>> names_of() {
  static constexpr Named<rocksdb::BlockBasedTableOptions::PrepopulateBlockCache> kNames[] = {
      NAMED_IN(BlockBasedTableOptions::PrepopulateBlockCache, kDisable),
      NAMED_IN(BlockBasedTableOptions::PrepopulateBlockCache, kFlushOnly)};
  return kNames;
}

template <>
OptionTable table_of<rocksdb::FileTemperatureAge>() {
  using Of = rocksdb::FileTemperatureAge;
  static constexpr OptionField kTable[] = {OPTION(temperature, F::kMutable),
                                           OPTION(age, F::kMutable)};
  return kTable;
}
template <>
OptionTable table_of<rocksdb::CompressionOptions>() {
  using Of = rocksdb::CompressionOptions;
  static constexpr OptionField kTable[] = {OPTION(window_bits, F::kMutable),
                                           OPTION(level, F::kMutable),
                                           OPTION(strategy, F::kMutable),
                                           OPTION(max_compressed_bytes_per_kb, F::kMutable),
                                           OPTION(max_dict_bytes, F::kMutable),
                                           OPTION(zstd_max_train_bytes, F::kMutable),
                                           OPTION(parallel_threads, F::kMutable),
                                           OPTION(enabled, F::kMutable),
                                           OPTION(max_dict_buffer_bytes, F::kMutable),
                                           OPTION(use_zstd_dict_trainer, F::kMutable),
                                           OPTION(checksum, F::kMutable)};
  return kTable;
}
template <>
OptionTable table_of<rocksdb::CompactionOptionsFIFO>() {
  using Of = rocksdb::CompactionOptionsFIFO;
  static constexpr OptionField kTable[] = {
      OPTION(max_table_files_size, F::kMutable),
      OPTION(age_for_warm, F::kMutable),
      OPTION(allow_compaction, F::kMutable),
      OPTION(file_temperature_age_thresholds, F::kMutable),
      OPTION(allow_trivial_copy_when_change_temperature, F::kMutable),
      OPTION(trivial_copy_buffer_size, F::kMutable),
      {"ttl"}};
  return kTable;
}
template <>
OptionTable table_of<rocksdb::CompactionOptionsUniversal>() {
  using Of = rocksdb::CompactionOptionsUniversal;
  static constexpr OptionField kTable[] = {OPTION(size_ratio, F::kMutable),
                                           OPTION(min_merge_width, F::kMutable),
                                           OPTION(max_merge_width, F::kMutable),
                                           OPTION(max_size_amplification_percent, F::kMutable),
                                           OPTION(compression_size_percent, F::kMutable),
                                           OPTION(max_read_amp, F::kMutable),
                                           OPTION(stop_style, F::kMutable),
                                           OPTION(incremental, F::kMutable),
                                           OPTION(allow_trivial_move, F::kMutable),
                                           OPTION(reduce_file_locking, F::kMutable)};
  return kTable;
}
template <>
OptionTable table_of<rocksdb::MetadataCacheOptions>() {
  using Of = rocksdb::MetadataCacheOptions;
  static constexpr OptionField kTable[] = {
      OPTION(top_level_index_pinning), OPTION(partition_pinning), OPTION(unpartitioned_pinning)};
  return kTable;
}

namespace {

// Compression options of old files are numbers with colons between, of which the last ones may be
// missing: where there are six, the sixth is `enabled`.
S parse_numbers(const Config& config, const std::string& text, rocksdb::CompressionOptions* to) {
  std::vector<std::string> numbers;
  if (S s = parse_value(config, text, &numbers); !s.ok()) return s;
  static constexpr const char* kOrder[] = {"window_bits",
                                           "level",
                                           "strategy",
                                           "max_dict_bytes",
                                           "zstd_max_train_bytes",
                                           "parallel_threads",
                                           "enabled",
                                           "max_dict_buffer_bytes",
                                           "use_zstd_dict_trainer"};
  if (numbers.size() < 3 || numbers.size() > std::size(kOrder)) return not_read(text);
  OptionMap options;
  for (size_t i = 0; i < numbers.size(); ++i) options[kOrder[i]] = numbers[i];
  if (numbers.size() == 6) {
    options["enabled"] = options["parallel_threads"];
    options.erase("parallel_threads");
  }
  return parse_options(table_of<rocksdb::CompressionOptions>(), config, options, to);
}

template <auto Member>
S parse_compression(const Config& config, std::string_view part, const std::string& text,
                    void* in) {
  using Of = rocksdb::ColumnFamilyOptions;
  if (part.empty() && text.find('=') == std::string::npos) {
    return parse_numbers(config, text, &(static_cast<Of*>(in)->*Member));
  }
  return FieldOf<Of, Member>::parse(config, part, text, in);
}
template <auto Member>
constexpr OptionField compression_field(const char* name) {
  using Of = FieldOf<rocksdb::ColumnFamilyOptions, Member>;
  return {name, F::kMutable | F::kUncompared, &parse_compression<Member>, &Of::show, &Of::copy};
}

S parse_block_based(const Config& config, std::string_view part, const std::string& text,
                    void* in) {
  return parse_options_of_table(config, rocksdb::TableFactory::kBlockBasedTableName(), part, text,
                                &static_cast<rocksdb::ColumnFamilyOptions*>(in)->table_factory);
}
S parse_plain(const Config& config, std::string_view part, const std::string& text, void* in) {
  return parse_options_of_table(config, rocksdb::TableFactory::kPlainTableName(), part, text,
                                &static_cast<rocksdb::ColumnFamilyOptions*>(in)->table_factory);
}
void copy_table_factory(const void* from, void* to) {
  static_cast<rocksdb::ColumnFamilyOptions*>(to)->table_factory =
      static_cast<const rocksdb::ColumnFamilyOptions*>(from)->table_factory;
}

}  // namespace

OptionTable db_option_table() {
  using Of = rocksdb::DBOptions;
  UNWRITTEN(sst_file_manager, info_log, db_paths, write_buffer_manager, listeners, row_cache,
            compaction_service)
  static constexpr OptionField kTable[] = {
      OPTION(max_background_jobs, F::kMutable),
      OPTION(max_background_compactions, F::kMutable),
      OPTION(max_subcompactions, F::kMutable),
      OPTION(avoid_flush_during_shutdown, F::kMutable),
      OPTION(writable_file_max_buffer_size, F::kMutable),
      OPTION(delayed_write_rate, F::kMutable),
      OPTION(max_total_wal_size, F::kMutable),
      OPTION(delete_obsolete_files_period_micros, F::kMutable),
      OPTION(stats_dump_period_sec, F::kMutable),
      OPTION(stats_persist_period_sec, F::kMutable),
      OPTION(stats_history_buffer_size, F::kMutable),
      OPTION(max_open_files, F::kMutable),
      OPTION(bytes_per_sync, F::kMutable),
      OPTION(wal_bytes_per_sync, F::kMutable),
      OPTION(strict_bytes_per_sync, F::kMutable),
      OPTION(compaction_readahead_size, F::kMutable),
      OPTION(max_background_flushes, F::kMutable),
      OPTION(daily_offpeak_time_utc, F::kMutable),
      OPTION(advise_random_on_open),
      OPTION(allow_mmap_reads),
      OPTION(allow_fallocate),
      OPTION(allow_mmap_writes),
      OPTION(use_direct_reads),
      OPTION(use_direct_io_for_flush_and_compaction),
      OPTION(allow_2pc),
      OPTION(create_if_missing),
      OPTION(create_missing_column_families),
      OPTION(enable_thread_tracking),
      OPTION(error_if_exists),
      OPTION(is_fd_close_on_exec),
      OPTION(paranoid_checks),
      OPTION(flush_verify_memtable_count),
      OPTION(compaction_verify_record_count),
      OPTION(track_and_verify_wals_in_manifest),
      OPTION(track_and_verify_wals),
      OPTION(verify_sst_unique_id_in_manifest),
      OPTION(skip_stats_update_on_db_open),
      OPTION(skip_checking_sst_file_sizes_on_db_open),
      OPTION(use_adaptive_mutex),
      OPTION(use_fsync),
      OPTION(max_file_opening_threads),
      OPTION(table_cache_numshardbits),
      OPTION(db_write_buffer_size),
      OPTION(keep_log_file_num),
      OPTION(recycle_log_file_num),
      OPTION(log_file_time_to_roll),
      OPTION(manifest_preallocation_size),
      OPTION(max_log_file_size),
      OPTION(db_log_dir),
      OPTION(wal_dir),
      OPTION(WAL_size_limit_MB),
      OPTION(WAL_ttl_seconds),
      OPTION(max_manifest_file_size),
      OPTION(persist_stats_to_disk),
      OPTION(enable_pipelined_write),
      OPTION(unordered_write),
      OPTION(allow_concurrent_memtable_write),
      OPTION(wal_recovery_mode),
      OPTION(enable_write_thread_adaptive_yield),
      OPTION(write_thread_slow_yield_usec),
      OPTION(max_write_batch_group_size_bytes),
      OPTION(write_thread_max_yield_usec),
      OPTION(info_log_level),
      OPTION(dump_malloc_stats),
      OPTION(avoid_flush_during_recovery),
      OPTION(allow_ingest_behind),
      OPTION(two_write_queues),
      OPTION(manual_wal_flush),
      OPTION(wal_compression),
      OPTION(background_close_inactive_wals),
      OPTION(atomic_flush),
      OPTION(avoid_unnecessary_blocking_io),
      OPTION(prefix_seek_opt_in_only),
      OPTION(write_dbid_to_manifest),
      OPTION(write_identity_file),
      OPTION(log_readahead_size),
      OPTION(best_efforts_recovery),
      OPTION(max_bgerror_resume_count),
      OPTION(bgerror_resume_retry_interval),
      OPTION(allow_data_in_errors),
      OPTION(lowest_used_cache_tier),
      OPTION(enforce_single_del_contracts),
      OPTION(follower_refresh_catchup_period_ms),
      OPTION(follower_catchup_retry_count),
      OPTION(follower_catchup_retry_wait_ms),
      OPTION(metadata_write_temperature),
      OPTION(wal_write_temperature),
      OPTION(db_host_id, F::kUncompared),
      OPTION(statistics, F::kHidden),
      RENAMED("rate_limiter_bytes_per_sec", rate_limiter, F::kHidden),
      OPAQUE(env, F::kHidden),
      OPAQUE(wal_filter),
      OPAQUE(file_checksum_gen_factory),
      {"allow_os_buffer"},
      {"base_background_compactions"},
      {"use_direct_writes"},
      {"disableDataSync"},
      {"disable_data_sync"},
      {"experimental_allow_mempurge"},
      {"experimental_mempurge_policy"},
      {"experimental_mempurge_threshold"},
      {"skip_log_error_on_recovery"},
      {"new_table_reader_for_compaction_inputs"},
      {"random_access_max_buffer_size"},
      {"fail_if_options_file_error"},
      {"access_hint_on_compaction_start"},
      {"preserve_deletes"},
      {"concurrent_prepare"},
      {"seq_per_batch"},
      {"rate_limiter"}};
  return kTable;
}

OptionTable family_option_table() {
  using Of = rocksdb::ColumnFamilyOptions;
  UNWRITTEN(inplace_callback, cf_paths, compaction_thread_limiter, snap_refresh_nanos,
            table_properties_collector_factories)
  static constexpr uint32_t kPrefix = F::kByName | F::kMayBeMissing;
  static constexpr OptionField kTable[] = {
      OPTION(report_bg_io_stats, F::kMutable),
      OPTION(disable_auto_compactions, F::kMutable),
      OPTION(paranoid_file_checks, F::kMutable),
      OPTION(soft_pending_compaction_bytes_limit, F::kMutable),
      OPTION(hard_pending_compaction_bytes_limit, F::kMutable),
      OPTION(max_compaction_bytes, F::kMutable),
      OPTION(level0_file_num_compaction_trigger, F::kMutable),
      OPTION(level0_slowdown_writes_trigger, F::kMutable),
      OPTION(level0_stop_writes_trigger, F::kMutable),
      OPTION(max_write_buffer_number, F::kMutable),
      OPTION(target_file_size_multiplier, F::kMutable),
      OPTION(arena_block_size, F::kMutable),
      OPTION(inplace_update_num_locks, F::kMutable),
      OPTION(max_successive_merges, F::kMutable),
      OPTION(strict_max_successive_merges, F::kMutable),
      OPTION(memtable_huge_page_size, F::kMutable),
      OPTION(write_buffer_size, F::kMutable),
      OPTION(memtable_prefix_bloom_size_ratio, F::kMutable),
      OPTION(memtable_whole_key_filtering, F::kMutable),
      OPTION(max_bytes_for_level_base, F::kMutable),
      OPTION(max_bytes_for_level_multiplier, F::kMutable),
      OPTION(max_bytes_for_level_multiplier_additional, F::kMutable),
      OPTION(max_sequential_skip_in_iterations, F::kMutable),
      OPTION(target_file_size_base, F::kMutable),
      OPTION(compression, F::kMutable),
      OPTION(ttl, F::kMutable),
      OPTION(periodic_compaction_seconds, F::kMutable),
      OPTION(preclude_last_level_data_seconds, F::kMutable),
      OPTION(preserve_internal_time_seconds, F::kMutable),
      OPTION(last_level_temperature, F::kMutable),
      OPTION(default_write_temperature, F::kMutable),
      OPTION(enable_blob_files, F::kMutable),
      OPTION(min_blob_size, F::kMutable),
      OPTION(blob_file_size, F::kMutable),
      OPTION(blob_compression_type, F::kMutable),
      OPTION(enable_blob_garbage_collection, F::kMutable),
      OPTION(blob_garbage_collection_age_cutoff, F::kMutable),
      OPTION(blob_garbage_collection_force_threshold, F::kMutable),
      OPTION(blob_compaction_readahead_size, F::kMutable),
      OPTION(blob_file_starting_level, F::kMutable),
      OPTION(prepopulate_blob_cache, F::kMutable),
      OPTION(sample_for_compression, F::kMutable),
      OPTION(bottommost_compression, F::kMutable),
      OPTION(compression_per_level, F::kMutable),
      OPTION(experimental_mempurge_threshold, F::kMutable),
      OPTION(memtable_protection_bytes_per_key, F::kMutable),
      OPTION(bottommost_file_compaction_delay, F::kMutable),
      OPTION(uncache_aggressiveness, F::kMutable),
      OPTION(block_protection_bytes_per_key, F::kMutable),
      OPTION(paranoid_memory_checks, F::kMutable),
      OPTION(compaction_options_fifo, F::kMutable),
      OPTION(compaction_options_universal, F::kMutable),
      OPTION(memtable_max_range_deletions, F::kMutable),
      OPTION(memtable_op_scan_flush_trigger, F::kMutable),
      OPTION(memtable_avg_op_scan_flush_trigger, F::kMutable),
      compression_field<&Of::compression_opts>("compression_opts"),
      compression_field<&Of::bottommost_compression_opts>("bottommost_compression_opts"),
      OPTION(inplace_update_support),
      OPTION(level_compaction_dynamic_level_bytes),
      OPTION(optimize_filters_for_hits),
      OPTION(force_consistency_checks),
      OPTION(disallow_memtable_writes),
      OPTION(max_write_buffer_size_to_maintain),
      OPTION(min_write_buffer_number_to_merge),
      OPTION(num_levels),
      OPTION(bloom_locality),
      OPTION(compaction_style),
      OPTION(compaction_pri),
      OPTION(default_temperature, F::kUncompared),
      OPTION(persist_user_defined_timestamps, F::kLoose),
      OPTION(comparator, F::kByName | F::kLoose),
      OPTION(merge_operator, F::kByName | F::kLoose | F::kMayBeMissing),
      OPTION(prefix_extractor, F::kMutable | kPrefix),
      OPTION(memtable_insert_with_hint_prefix_extractor, kPrefix),
      OPTION(memtable_factory, F::kByName),
      RENAMED("memtable", memtable_factory, F::kHidden),
      OPTION(compaction_filter, F::kByName),
      OPTION(compaction_filter_factory, F::kByName),
      OPTION(table_factory, F::kMutable | F::kByName | F::kLoose),
      {"block_based_table_factory", F::kMutable, &parse_block_based, nullptr, &copy_table_factory},
      {"plain_table_factory", F::kMutable, &parse_plain, nullptr, &copy_table_factory},
      OPTION(blob_cache, F::kHidden),
      OPAQUE(sst_partitioner_factory),
      OPAQUE(compression_manager, F::kMutable),
      {"filter_deletes"},
      {"check_flush_compaction_key_order"},
      {"verify_checksums_in_compaction"},
      {"hard_rate_limit"},
      {"soft_rate_limit"},
      {"ignore_max_compaction_bytes_for_input"},
      {"expanded_compaction_factor"},
      {"max_grandparent_overlap_factor"},
      {"source_compaction_factor"},
      {"memtable_prefix_bloom_huge_page_tlb_size"},
      {"memtable_prefix_bloom_bits"},
      {"memtable_prefix_bloom_probes"},
      {"min_partial_merge_operands"},
      {"snap_refresh_nanos"},
      {"bottommost_temperature"},
      {"compaction_measure_io_stats"},
      {"purge_redundant_kvs_while_flush"},
      {"level_compaction_dynamic_file_size"},
      {"max_mem_compaction_level"},
      {"max_write_buffer_number_to_maintain"},
      {"rate_limit_delay_max_milliseconds"}};
  return kTable;
}

OptionTable block_based_table() {
  using Of = rocksdb::BlockBasedTableOptions;
  UNWRITTEN(persistent_cache)
  static constexpr OptionField kTable[] = {OPTION(cache_index_and_filter_blocks),
                                           OPTION(cache_index_and_filter_blocks_with_high_priority),
                                           OPTION(pin_l0_filter_and_index_blocks_in_cache),
                                           OPTION(pin_top_level_index_and_filter),
                                           OPTION(metadata_cache_options),
                                           OPTION(index_type),
                                           OPTION(data_block_index_type),
                                           OPTION(index_shortening),
                                           OPTION(data_block_hash_table_util_ratio),
                                           OPTION(checksum),
                                           OPTION(no_block_cache),
                                           OPTION(block_size),
                                           OPTION(block_size_deviation),
                                           OPTION(block_restart_interval),
                                           OPTION(index_block_restart_interval),
                                           OPTION(metadata_block_size),
                                           OPTION(partition_filters),
                                           OPTION(decouple_partitioned_filters),
                                           OPTION(optimize_filters_for_memory),
                                           OPTION(use_delta_encoding),
                                           OPTION(whole_key_filtering),
                                           OPTION(detect_filter_construct_corruption),
                                           OPTION(format_version),
                                           OPTION(verify_compression),
                                           OPTION(read_amp_bytes_per_bit),
                                           OPTION(enable_index_compression),
                                           OPTION(block_align),
                                           OPTION(max_auto_readahead_size),
                                           OPTION(prepopulate_block_cache),
                                           OPTION(initial_auto_readahead_size),
                                           OPTION(num_file_reads_for_auto_readahead),
                                           OPTION(filter_policy, F::kByName | F::kMayBeMissing),
                                           OPTION(block_cache, F::kHidden),
                                           OPAQUE(flush_block_policy_factory),
                                           {"hash_index_allow_collision"},
                                           {"index_per_partition"},
                                           {"reserve_table_builder_memory"},
                                           {"reserve_table_reader_memory"},
                                           {"skip_table_builder_flush"},
                                           {"block_cache_compressed"}};
  return kTable;
}

OptionTable plain_table() {
  using Of = rocksdb::PlainTableOptions;
  static constexpr OptionField kTable[] = {OPTION(user_key_len),       OPTION(bloom_bits_per_key),
                                           OPTION(hash_table_ratio),   OPTION(index_sparseness),
                                           OPTION(huge_page_tlb_size), OPTION(encoding_type),
                                           OPTION(full_scan_mode),     OPTION(store_index_in_file)};
  return kTable;
}

OptionTable cuckoo_table() {
  using Of = rocksdb::CuckooTableOptions;
  static constexpr OptionField kTable[] = {OPTION(hash_table_ratio), OPTION(max_search_depth),
                                           OPTION(cuckoo_block_size),
                                           OPTION(identity_as_first_hash), OPTION(use_module_hash)};
  return kTable;
}

OptionTable cache_table() {
  using Of = rocksdb::LRUCacheOptions;
  UNWRITTEN(memory_allocator, metadata_charge_policy, secondary_cache, hash_seed,
            use_adaptive_mutex)
  static constexpr OptionField kTable[] = {OPTION(capacity), OPTION(num_shard_bits),
                                           OPTION(strict_capacity_limit),
                                           OPTION(high_pri_pool_ratio), OPTION(low_pri_pool_ratio)};
  return kTable;
}

}  // namespace hawthorn::rocks

namespace rocksdb {

Status GetStringFromCompressionType(std::string* compression_str,
                                    CompressionType compression_type) {
  const auto text = hawthorn::rocks::show_value(ConfigOptions(), compression_type);
  *compression_str = text.value_or("");
  return text.has_value() ? Status::OK() : Status::InvalidArgument("Invalid compression types");
}

}  // namespace rocksdb
