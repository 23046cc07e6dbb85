// The C API of figures: statistics, performance, memory.

#include <algorithm>
#include <string>
#include <vector>

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
// Nothing is counted, yet.
struct rocksdb_perfcontext_t {};
struct rocksdb_statistics_histogram_data_t {
  rocksdb::HistogramData rep;
};

namespace {

using hawthorn::rocks::failed;

}  // namespace

extern "C" {

// ---- Memory

rocksdb_memory_consumers_t* rocksdb_memory_consumers_create() {
  return new rocksdb_memory_consumers_t;
}
void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers, rocksdb_t* db) {
  consumers->dbs.push_back(db);
}
void rocksdb_memory_consumers_add_cache(rocksdb_memory_consumers_t* consumers,
                                        rocksdb_cache_t* cache) {
  consumers->caches.push_back(cache->rep);
}
void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers) { delete consumers; }

rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(
    rocksdb_memory_consumers_t* consumers, char** errptr) {
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

void rocksdb_options_enable_statistics(rocksdb_options_t* options) {
  options->rep.statistics = rocksdb::CreateDBStatistics();
}
void rocksdb_options_set_statistics_level(rocksdb_options_t* options, int level) {
  if (options->rep.statistics == nullptr) return;
  options->rep.statistics->set_stats_level(static_cast<rocksdb::StatsLevel>(
      std::clamp<int>(level, rocksdb_statistics_level_disable_all, rocksdb_statistics_level_all)));
}
int rocksdb_options_get_statistics_level(rocksdb_options_t* options) {
  if (options->rep.statistics == nullptr) return rocksdb::kDisableAll;
  return options->rep.statistics->get_stats_level();
}
char* rocksdb_options_statistics_get_string(rocksdb_options_t* options) {
  if (options->rep.statistics == nullptr) return nullptr;
  return strdup(options->rep.statistics->ToString().c_str());
}
uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t* options,
                                                     uint32_t ticker_type) {
  if (options->rep.statistics == nullptr) return 0;
  return options->rep.statistics->getTickerCount(ticker_type);
}
void rocksdb_options_statistics_get_histogram_data(
    rocksdb_options_t* options, uint32_t histogram_type,
    rocksdb_statistics_histogram_data_t* const data) {
  data->rep = {};
  if (options->rep.statistics == nullptr) return;
  options->rep.statistics->histogramData(histogram_type, &data->rep);
}
rocksdb_statistics_histogram_data_t* rocksdb_statistics_histogram_data_create() {
  return new rocksdb_statistics_histogram_data_t;
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

void rocksdb_set_perf_level(int) {}
rocksdb_perfcontext_t* rocksdb_perfcontext_create() { return new rocksdb_perfcontext_t; }
void rocksdb_perfcontext_reset(rocksdb_perfcontext_t*) {}
char* rocksdb_perfcontext_report(rocksdb_perfcontext_t*, unsigned char) { return strdup(""); }
uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t*, int) { return 0; }
void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t* context) { delete context; }

}  // extern "C"
