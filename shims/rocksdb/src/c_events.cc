// The C API of figures: statistics, performance, memory.

#include <algorithm>
#include <string>
#include <vector>

#include "rocksdb/perf_context.h"
#include "rocksdb/statistics.h"
#include "shims/rocksdb/src/c_types.h"

struct rocksdb_memory_consumers_t {
  std::vector<rocksdb_t*> dbs;
  std::vector<std::shared_ptr<rocksdb::Cache>> caches;
};
struct rocksdb_memory_usage_t {
  uint64_t tables = 0;
  uint64_t caches = 0;
};
struct rocksdb_perfcontext_t {
  rocksdb::PerfContext* rep;  // of the thread that has made it
};
struct rocksdb_statistics_histogram_data_t {
  rocksdb::HistogramData rep;
};

namespace {

using hawthorn::rocks::failed;

// By the number of the metric (c.h).
using Perf = rocksdb::PerfContextBase;
constexpr uint64_t Perf::* kMetrics[] = {
    &Perf::user_key_comparison_count,
    &Perf::block_cache_hit_count,
    &Perf::block_read_count,
    &Perf::block_read_byte,
    &Perf::block_read_time,
    &Perf::block_checksum_time,
    &Perf::block_decompress_time,
    &Perf::get_read_bytes,
    &Perf::multiget_read_bytes,
    &Perf::iter_read_bytes,
    &Perf::internal_key_skipped_count,
    &Perf::internal_delete_skipped_count,
    &Perf::internal_recent_skipped_count,
    &Perf::internal_merge_count,
    &Perf::get_snapshot_time,
    &Perf::get_from_memtable_time,
    &Perf::get_from_memtable_count,
    &Perf::get_post_process_time,
    &Perf::get_from_output_files_time,
    &Perf::seek_on_memtable_time,
    &Perf::seek_on_memtable_count,
    &Perf::next_on_memtable_count,
    &Perf::prev_on_memtable_count,
    &Perf::seek_child_seek_time,
    &Perf::seek_child_seek_count,
    &Perf::seek_min_heap_time,
    &Perf::seek_max_heap_time,
    &Perf::seek_internal_seek_time,
    &Perf::find_next_user_entry_time,
    &Perf::write_wal_time,
    &Perf::write_memtable_time,
    &Perf::write_delay_time,
    &Perf::write_pre_and_post_process_time,
    &Perf::db_mutex_lock_nanos,
    &Perf::db_condition_wait_nanos,
    &Perf::merge_operator_time_nanos,
    &Perf::read_index_block_nanos,
    &Perf::read_filter_block_nanos,
    &Perf::new_table_block_iter_nanos,
    &Perf::new_table_iterator_nanos,
    &Perf::block_seek_nanos,
    &Perf::find_table_nanos,
    &Perf::bloom_memtable_hit_count,
    &Perf::bloom_memtable_miss_count,
    &Perf::bloom_sst_hit_count,
    &Perf::bloom_sst_miss_count,
    &Perf::key_lock_wait_time,
    &Perf::key_lock_wait_count,
    &Perf::env_new_sequential_file_nanos,
    &Perf::env_new_random_access_file_nanos,
    &Perf::env_new_writable_file_nanos,
    &Perf::env_reuse_writable_file_nanos,
    &Perf::env_new_random_rw_file_nanos,
    &Perf::env_new_directory_nanos,
    &Perf::env_file_exists_nanos,
    &Perf::env_get_children_nanos,
    &Perf::env_get_children_file_attributes_nanos,
    &Perf::env_delete_file_nanos,
    &Perf::env_create_dir_nanos,
    &Perf::env_create_dir_if_missing_nanos,
    &Perf::env_delete_dir_nanos,
    &Perf::env_get_file_size_nanos,
    &Perf::env_get_file_modification_time_nanos,
    &Perf::env_rename_file_nanos,
    &Perf::env_link_file_nanos,
    &Perf::env_lock_file_nanos,
    &Perf::env_unlock_file_nanos,
    &Perf::env_new_logger_nanos,
    &Perf::number_async_seek,
    &Perf::blob_cache_hit_count,
    &Perf::blob_read_count,
    &Perf::blob_read_byte,
    &Perf::blob_read_time,
    &Perf::blob_checksum_time,
    &Perf::blob_decompress_time,
    &Perf::internal_range_del_reseek_count,
    &Perf::block_read_cpu_time,
    &Perf::internal_merge_point_lookup_count,
};

}  // namespace

extern "C" {

// ---- Memory

rocksdb_memory_consumers_t* rocksdb_memory_consumers_create() try {
  return new rocksdb_memory_consumers_t;
} catch (...) {
  return nullptr;
}
void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers, rocksdb_t* db) try {
  consumers->dbs.push_back(db);
} catch (...) {
  return;
}
void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t* consumers,
                                        rocksdb_cache_t* cache) try {
  consumers->caches.push_back(cache->rep);
} catch (...) {
  return;
}
void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers) { delete consumers; }

rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(
    rocksdb_memory_consumers_t* consumers, char** errptr) try {
  rocksdb_memory_usage_t usage;
  for (const rocksdb_t* db : consumers->dbs) {
    uint64_t bytes = 0;
    if (!db->rep->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes)) {
      failed(errptr, rocksdb::Status::Aborted("a database does not tell its memory"));
      return nullptr;
    }
    usage.tables += bytes;
  }
  for (const std::shared_ptr<rocksdb::Cache>& cache : consumers->caches) {
    usage.caches += cache->GetUsage();
  }
  return new rocksdb_memory_usage_t(usage);
} catch (...) {
  hawthorn::rocks::fail_by_exception(errptr);
  return nullptr;
}
void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage) { delete usage; }
uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(rocksdb_memory_usage_t* usage) {
  return usage->tables;
}
uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(rocksdb_memory_usage_t* usage) {
  return usage->tables;
}
uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(rocksdb_memory_usage_t*) {
  return 0;
}
uint64_t rocksdb_approximate_memory_usage_get_cache_total(rocksdb_memory_usage_t* usage) {
  return usage->caches;
}

// ---- Statistics and performance

void rocksdb_options_enable_statistics(rocksdb_options_t* options) try {
  options->rep.statistics = rocksdb::CreateDBStatistics();
} catch (...) {
  options->short_of_memory = true;
}
void rocksdb_options_set_statistics_level(rocksdb_options_t* options, int level) try {
  if (options->rep.statistics == nullptr) return;
  options->rep.statistics->set_stats_level(static_cast<rocksdb::StatsLevel>(
      std::clamp<int>(level, rocksdb_statistics_level_disable_all, rocksdb_statistics_level_all)));
} catch (...) {
  options->short_of_memory = true;
}
int rocksdb_options_get_statistics_level(rocksdb_options_t* options) try {
  if (options->rep.statistics == nullptr) return rocksdb::kDisableAll;
  return options->rep.statistics->get_stats_level();
} catch (...) {
  return 0;
}
char* rocksdb_options_statistics_get_string(rocksdb_options_t* options) try {
  if (options->rep.statistics == nullptr) return nullptr;
  return hawthorn::rocks::copy_of_words(options->rep.statistics->ToString().c_str());
} catch (...) {
  return nullptr;
}
uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t* options,
                                                     uint32_t ticker_type) try {
  if (options->rep.statistics == nullptr) return 0;
  return options->rep.statistics->getTickerCount(ticker_type);
} catch (...) {
  return 0;
}
void rocksdb_options_statistics_get_histogram_data(
    rocksdb_options_t* options, uint32_t histogram_type,
    rocksdb_statistics_histogram_data_t* const data) try {
  data->rep = {};
  if (options->rep.statistics == nullptr) return;
  options->rep.statistics->histogramData(histogram_type, &data->rep);
} catch (...) {
  return;
}
rocksdb_statistics_histogram_data_t* rocksdb_statistics_histogram_data_create() try {
  return new rocksdb_statistics_histogram_data_t;
} catch (...) {
  return nullptr;
}
void rocksdb_statistics_histogram_data_destroy(rocksdb_statistics_histogram_data_t* data) {
  delete data;
}
double rocksdb_statistics_histogram_data_get_median(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.median;
}
double rocksdb_statistics_histogram_data_get_p95(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.percentile95;
}
double rocksdb_statistics_histogram_data_get_p99(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.percentile99;
}
double rocksdb_statistics_histogram_data_get_average(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.average;
}
double rocksdb_statistics_histogram_data_get_std_dev(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.standard_deviation;
}
double rocksdb_statistics_histogram_data_get_max(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.max;
}
uint64_t rocksdb_statistics_histogram_data_get_count(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.count;
}
uint64_t rocksdb_statistics_histogram_data_get_sum(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.sum;
}
double rocksdb_statistics_histogram_data_get_min(rocksdb_statistics_histogram_data_t* data) {
  return data->rep.min;
}

void rocksdb_set_perf_level(int value) try {
  rocksdb::SetPerfLevel(static_cast<rocksdb::PerfLevel>(value));
} catch (...) {
  return;
}
rocksdb_perfcontext_t* rocksdb_perfcontext_create() try {
  return new rocksdb_perfcontext_t{rocksdb::get_perf_context()};
} catch (...) {
  return nullptr;
}
void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* context) try {
  context->rep->Reset();
} catch (...) {
  return;
}
char* rocksdb_perfcontext_report(rocksdb_perfcontext_t* context,
                                 unsigned char exclude_zero_counters) try {
  return hawthorn::rocks::copy_of_words(context->rep->ToString(exclude_zero_counters != 0).c_str());
} catch (...) {
  return nullptr;
}
uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* context, int metric) {
  if (metric < 0 || static_cast<size_t>(metric) >= std::size(kMetrics)) return 0;
  return context->rep->*kMetrics[metric];
}
void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t* context) { delete context; }

}  // extern "C"
