// Contexts of threads, and their text.

#include "rocksdb/perf_context.h"

#include "rocksdb/iostats_context.h"
#include "shims/of_thread.h"
#include "shims/rocksdb/src/perf.h"

namespace hawthorn::rocks {

constinit thread_local PerfOfThread perf_of_thread;

namespace {

template <typename Context>
struct Metric {
  const char* name;
  uint64_t Context::* figure;
};

#define METRIC(name) {#name, &rocksdb::PerfContextBase::name}
constexpr Metric<rocksdb::PerfContextBase> kMetrics[] = {
    METRIC(user_key_comparison_count),
    METRIC(block_cache_hit_count),
    METRIC(block_read_count),
    METRIC(block_read_byte),
    METRIC(block_read_time),
    METRIC(block_read_cpu_time),
    METRIC(block_cache_index_hit_count),
    METRIC(block_cache_standalone_handle_count),
    METRIC(block_cache_real_handle_count),
    METRIC(index_block_read_count),
    METRIC(block_cache_filter_hit_count),
    METRIC(filter_block_read_count),
    METRIC(compression_dict_block_read_count),
    METRIC(block_cache_index_read_byte),
    METRIC(block_cache_filter_read_byte),
    METRIC(block_cache_compression_dict_read_byte),
    METRIC(block_cache_read_byte),
    METRIC(secondary_cache_hit_count),
    METRIC(compressed_sec_cache_insert_real_count),
    METRIC(compressed_sec_cache_insert_dummy_count),
    METRIC(compressed_sec_cache_uncompressed_bytes),
    METRIC(compressed_sec_cache_compressed_bytes),
    METRIC(block_checksum_time),
    METRIC(block_decompress_time),
    METRIC(get_read_bytes),
    METRIC(multiget_read_bytes),
    METRIC(iter_read_bytes),
    METRIC(blob_cache_hit_count),
    METRIC(blob_read_count),
    METRIC(blob_read_byte),
    METRIC(blob_read_time),
    METRIC(blob_checksum_time),
    METRIC(blob_decompress_time),
    METRIC(internal_key_skipped_count),
    METRIC(internal_delete_skipped_count),
    METRIC(internal_recent_skipped_count),
    METRIC(internal_merge_count),
    METRIC(internal_merge_point_lookup_count),
    METRIC(internal_range_del_reseek_count),
    METRIC(get_snapshot_time),
    METRIC(get_from_memtable_time),
    METRIC(get_from_memtable_count),
    METRIC(get_post_process_time),
    METRIC(get_from_output_files_time),
    METRIC(seek_on_memtable_time),
    METRIC(seek_on_memtable_count),
    METRIC(next_on_memtable_count),
    METRIC(prev_on_memtable_count),
    METRIC(seek_child_seek_time),
    METRIC(seek_child_seek_count),
    METRIC(seek_min_heap_time),
    METRIC(seek_max_heap_time),
    METRIC(seek_internal_seek_time),
    METRIC(find_next_user_entry_time),
    METRIC(write_wal_time),
    METRIC(write_memtable_time),
    METRIC(write_delay_time),
    METRIC(write_scheduling_flushes_compactions_time),
    METRIC(write_pre_and_post_process_time),
    METRIC(write_thread_wait_nanos),
    METRIC(db_mutex_lock_nanos),
    METRIC(db_condition_wait_nanos),
    METRIC(merge_operator_time_nanos),
    METRIC(read_index_block_nanos),
    METRIC(read_filter_block_nanos),
    METRIC(new_table_block_iter_nanos),
    METRIC(new_table_iterator_nanos),
    METRIC(block_seek_nanos),
    METRIC(find_table_nanos),
    METRIC(bloom_memtable_hit_count),
    METRIC(bloom_memtable_miss_count),
    METRIC(bloom_sst_hit_count),
    METRIC(bloom_sst_miss_count),
    METRIC(key_lock_wait_time),
    METRIC(key_lock_wait_count),
    METRIC(env_new_sequential_file_nanos),
    METRIC(env_new_random_access_file_nanos),
    METRIC(env_new_writable_file_nanos),
    METRIC(env_reuse_writable_file_nanos),
    METRIC(env_new_random_rw_file_nanos),
    METRIC(env_new_directory_nanos),
    METRIC(env_file_exists_nanos),
    METRIC(env_get_children_nanos),
    METRIC(env_get_children_file_attributes_nanos),
    METRIC(env_delete_file_nanos),
    METRIC(env_create_dir_nanos),
    METRIC(env_create_dir_if_missing_nanos),
    METRIC(env_delete_dir_nanos),
    METRIC(env_get_file_size_nanos),
    METRIC(env_get_file_modification_time_nanos),
    METRIC(env_rename_file_nanos),
    METRIC(env_link_file_nanos),
    METRIC(env_lock_file_nanos),
    METRIC(env_unlock_file_nanos),
    METRIC(env_new_logger_nanos),
    METRIC(get_cpu_nanos),
    METRIC(iter_next_cpu_nanos),
    METRIC(iter_prev_cpu_nanos),
    METRIC(iter_seek_cpu_nanos),
    METRIC(iter_next_count),
    METRIC(iter_prev_count),
    METRIC(iter_seek_count),
    METRIC(encrypt_data_nanos),
    METRIC(decrypt_data_nanos),
    METRIC(number_async_seek),
    METRIC(file_ingestion_nanos),
    METRIC(file_ingestion_blocking_live_writes_nanos),
};
#undef METRIC

#define METRIC(name) {#name, &rocksdb::IOStatsContext::name}
constexpr Metric<rocksdb::IOStatsContext> kIoMetrics[] = {
    METRIC(thread_pool_id),      METRIC(bytes_written),    METRIC(bytes_read),
    METRIC(open_nanos),          METRIC(allocate_nanos),   METRIC(write_nanos),
    METRIC(read_nanos),          METRIC(range_sync_nanos), METRIC(fsync_nanos),
    METRIC(prepare_write_nanos), METRIC(logger_nanos),     METRIC(cpu_write_nanos),
    METRIC(cpu_read_nanos),
};
#undef METRIC

template <typename Context, typename Metrics>
std::string text_of(const Context& context, const Metrics& metrics, bool without_zeros) {
  std::string text;
  for (const auto& [name, figure] : metrics) {
    if (without_zeros && context.*figure == 0) continue;
    if (!text.empty()) text += ", ";
    text += name + std::string(" = ") + std::to_string(context.*figure);
  }
  return text;
}

rocksdb::PerfContext& context_of_thread() { return OfThread<rocksdb::PerfContext>::get(); }

}  // namespace

void PerfOfThread::point() {
  rocksdb::PerfContext* const context = &context_of_thread();
  counts = level >= rocksdb::kEnableCount ? context : nullptr;
  times = level >= rocksdb::kEnableTimeExceptForMutex ? context : nullptr;
  cpu_times = level >= rocksdb::kEnableTimeAndCPUTimeExceptForMutex ? context : nullptr;
}

}  // namespace hawthorn::rocks

namespace rocksdb {

using hawthorn::rocks::perf_of_thread;

void SetPerfLevel(PerfLevel level) {
  perf_of_thread.level = level;
  perf_of_thread.point();
}

PerfLevel GetPerfLevel() { return perf_of_thread.level; }

PerfContext* get_perf_context() {
  perf_of_thread.point();
  return &hawthorn::rocks::context_of_thread();
}

PerfContext::~PerfContext() { delete level_to_perf_context; }

PerfContext::PerfContext(const PerfContext& other) : PerfContextBase(other) { *this = other; }

PerfContext::PerfContext(PerfContext&& other) noexcept : PerfContextBase(other) {
  std::swap(level_to_perf_context, other.level_to_perf_context);
  std::swap(per_level_perf_context_enabled, other.per_level_perf_context_enabled);
}

PerfContext& PerfContext::operator=(const PerfContext& other) {
  if (this == &other) return *this;
  copyMetrics(&other);
  ClearPerLevelPerfContext();
  if (other.level_to_perf_context != nullptr) {
    level_to_perf_context =
        new std::map<uint32_t, PerfContextByLevel>(*other.level_to_perf_context);
  }
  per_level_perf_context_enabled = other.per_level_perf_context_enabled;
  return *this;
}

void PerfContext::copyMetrics(const PerfContext* other) noexcept {
  static_cast<PerfContextBase&>(*this) = *other;
}

void PerfContext::Reset() {
  static_cast<PerfContextBase&>(*this) = PerfContextBase();
  if (level_to_perf_context != nullptr) level_to_perf_context->clear();
}

std::string PerfContext::ToString(bool exclude_zero_counters) const {
  return hawthorn::rocks::text_of(*this, hawthorn::rocks::kMetrics, exclude_zero_counters);
}

void PerfContext::EnablePerLevelPerfContext() {
  if (level_to_perf_context == nullptr) {
    level_to_perf_context = new std::map<uint32_t, PerfContextByLevel>;
  }
  per_level_perf_context_enabled = true;
}

void PerfContext::ClearPerLevelPerfContext() {
  delete std::exchange(level_to_perf_context, nullptr);
  per_level_perf_context_enabled = false;
}

void IOStatsContext::Reset() {
  const bool disabled = disable_iostats;
  *this = IOStatsContext();
  disable_iostats = disabled;
}

std::string IOStatsContext::ToString(bool exclude_zero_counters) const {
  return hawthorn::rocks::text_of(*this, hawthorn::rocks::kIoMetrics, exclude_zero_counters);
}

IOStatsContext* get_iostats_context() {
  thread_local IOStatsContext context;
  return &context;
}

}  // namespace rocksdb
