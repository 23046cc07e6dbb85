#pragma once
// Statistics, memory, what a listener is told.
//
// Written by c_api.py from c_api.tsv, which says of each function whether it is mapped, accepted or
// refused. Included by rocksdb/c.h, which has the conventions and the types.
// clang-format off

#ifndef HAWTHORN_ROCKSDB_C_H
#error "include rocksdb/c.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

const char* rocksdb_flushjobinfo_cf_name(const rocksdb_flushjobinfo_t* info, size_t* size);
const char* rocksdb_flushjobinfo_file_path(const rocksdb_flushjobinfo_t* info, size_t* size);
unsigned char rocksdb_flushjobinfo_triggered_writes_slowdown(const rocksdb_flushjobinfo_t* info);
unsigned char rocksdb_flushjobinfo_triggered_writes_stop(const rocksdb_flushjobinfo_t* info);
uint64_t rocksdb_flushjobinfo_largest_seqno(const rocksdb_flushjobinfo_t* info);
uint64_t rocksdb_flushjobinfo_smallest_seqno(const rocksdb_flushjobinfo_t* info);
void rocksdb_reset_status(rocksdb_status_ptr_t* status_ptr);
void rocksdb_compactionjobinfo_status(const rocksdb_compactionjobinfo_t* info, char** errptr);
const char* rocksdb_compactionjobinfo_cf_name(
    const rocksdb_compactionjobinfo_t* info, size_t* size);
size_t rocksdb_compactionjobinfo_input_files_count(const rocksdb_compactionjobinfo_t* info);
const char* rocksdb_compactionjobinfo_input_file_at(
    const rocksdb_compactionjobinfo_t* info, size_t index, size_t* size);
size_t rocksdb_compactionjobinfo_output_files_count(const rocksdb_compactionjobinfo_t* info);
const char* rocksdb_compactionjobinfo_output_file_at(
    const rocksdb_compactionjobinfo_t* info, size_t index, size_t* size);
uint64_t rocksdb_compactionjobinfo_elapsed_micros(const rocksdb_compactionjobinfo_t* info);
uint64_t rocksdb_compactionjobinfo_num_corrupt_keys(const rocksdb_compactionjobinfo_t* info);
int rocksdb_compactionjobinfo_base_input_level(const rocksdb_compactionjobinfo_t* info);
int rocksdb_compactionjobinfo_output_level(const rocksdb_compactionjobinfo_t* info);
uint64_t rocksdb_compactionjobinfo_input_records(const rocksdb_compactionjobinfo_t* info);
uint64_t rocksdb_compactionjobinfo_output_records(const rocksdb_compactionjobinfo_t* info);
uint64_t rocksdb_compactionjobinfo_total_input_bytes(const rocksdb_compactionjobinfo_t* info);
uint64_t rocksdb_compactionjobinfo_total_output_bytes(const rocksdb_compactionjobinfo_t* info);
uint32_t rocksdb_compactionjobinfo_compaction_reason(const rocksdb_compactionjobinfo_t* info);
size_t rocksdb_compactionjobinfo_num_input_files(const rocksdb_compactionjobinfo_t* info);
size_t rocksdb_compactionjobinfo_num_input_files_at_output_level(
    const rocksdb_compactionjobinfo_t* info);
void rocksdb_subcompactionjobinfo_status(const rocksdb_subcompactionjobinfo_t* info, char** value);
const char* rocksdb_subcompactionjobinfo_cf_name(
    const rocksdb_subcompactionjobinfo_t* info, size_t* size);
uint64_t rocksdb_subcompactionjobinfo_thread_id(const rocksdb_subcompactionjobinfo_t* info);
int rocksdb_subcompactionjobinfo_base_input_level(const rocksdb_subcompactionjobinfo_t* info);
int rocksdb_subcompactionjobinfo_output_level(const rocksdb_subcompactionjobinfo_t* info);
const char* rocksdb_externalfileingestioninfo_cf_name(
    const rocksdb_externalfileingestioninfo_t* info, size_t* size);
const char* rocksdb_externalfileingestioninfo_internal_file_path(
    const rocksdb_externalfileingestioninfo_t* info, size_t* size);
const char* rocksdb_writestallinfo_cf_name(const rocksdb_writestallinfo_t* info, size_t* size);
const rocksdb_writestallcondition_t* rocksdb_writestallinfo_cur(
    const rocksdb_writestallinfo_t* info);
const rocksdb_writestallcondition_t* rocksdb_writestallinfo_prev(
    const rocksdb_writestallinfo_t* info);
const char* rocksdb_memtableinfo_cf_name(const rocksdb_memtableinfo_t* info, size_t* size);
uint64_t rocksdb_memtableinfo_first_seqno(const rocksdb_memtableinfo_t* info);
uint64_t rocksdb_memtableinfo_earliest_seqno(const rocksdb_memtableinfo_t* info);
uint64_t rocksdb_memtableinfo_num_entries(const rocksdb_memtableinfo_t* info);
uint64_t rocksdb_memtableinfo_num_deletes(const rocksdb_memtableinfo_t* info);
rocksdb_eventlistener_t* rocksdb_eventlistener_create(
    void* state, void (*destructor)(void* state), on_flush_begin_cb on_flush_begin,
    on_flush_completed_cb on_flush_completed, on_compaction_begin_cb on_compaction_begin,
    on_compaction_completed_cb on_compaction_completed,
    on_subcompaction_begin_cb on_subcompaction_begin,
    on_subcompaction_completed_cb on_subcompaction_completed,
    on_external_file_ingested_cb on_external_file_ingested,
    on_background_error_cb on_background_error,
    on_stall_conditions_changed_cb on_stall_conditions_changed,
    on_memtable_sealed_cb on_memtable_sealed);
void rocksdb_eventlistener_destroy(rocksdb_eventlistener_t* listener);
void rocksdb_options_add_eventlistener(
    rocksdb_options_t* options, rocksdb_eventlistener_t* listener);
void rocksdb_options_enable_statistics(rocksdb_options_t* options);
void rocksdb_options_set_statistics_level(rocksdb_options_t* options, int level);
int rocksdb_options_get_statistics_level(rocksdb_options_t* options);
char* rocksdb_options_statistics_get_string(rocksdb_options_t* options);
uint64_t rocksdb_options_statistics_get_ticker_count(
    rocksdb_options_t* options, uint32_t ticker_type);
void rocksdb_options_statistics_get_histogram_data(
    rocksdb_options_t* options, uint32_t histogram_type,
    rocksdb_statistics_histogram_data_t* const data);
void rocksdb_set_perf_level(int value);
rocksdb_perfcontext_t* rocksdb_perfcontext_create(void);
void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* context);
char* rocksdb_perfcontext_report(
    rocksdb_perfcontext_t* context, unsigned char exclude_zero_counters);
uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* context, int metric);
void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t* context);
rocksdb_memory_consumers_t* rocksdb_memory_consumers_create(void);
void rocksdb_memory_consumers_add_db(rocksdb_memory_consumers_t* consumers, rocksdb_t* db);
void rocksdb_memory_consumers_add_cache(
    rocksdb_memory_consumers_t* consumers, rocksdb_cache_t* cache);
void rocksdb_memory_consumers_destroy(rocksdb_memory_consumers_t* consumers);
rocksdb_memory_usage_t* rocksdb_approximate_memory_usage_create(
    rocksdb_memory_consumers_t* consumers, char** errptr);
void rocksdb_approximate_memory_usage_destroy(rocksdb_memory_usage_t* usage);
uint64_t rocksdb_approximate_memory_usage_get_mem_table_total(rocksdb_memory_usage_t* memory_usage);
uint64_t rocksdb_approximate_memory_usage_get_mem_table_unflushed(
    rocksdb_memory_usage_t* memory_usage);
uint64_t rocksdb_approximate_memory_usage_get_mem_table_readers_total(
    rocksdb_memory_usage_t* memory_usage);
uint64_t rocksdb_approximate_memory_usage_get_cache_total(rocksdb_memory_usage_t* memory_usage);
rocksdb_statistics_histogram_data_t* rocksdb_statistics_histogram_data_create(void);
void rocksdb_statistics_histogram_data_destroy(rocksdb_statistics_histogram_data_t* data);
double rocksdb_statistics_histogram_data_get_median(rocksdb_statistics_histogram_data_t* data);
double rocksdb_statistics_histogram_data_get_p95(rocksdb_statistics_histogram_data_t* data);
double rocksdb_statistics_histogram_data_get_p99(rocksdb_statistics_histogram_data_t* data);
double rocksdb_statistics_histogram_data_get_average(rocksdb_statistics_histogram_data_t* data);
double rocksdb_statistics_histogram_data_get_std_dev(rocksdb_statistics_histogram_data_t* data);
double rocksdb_statistics_histogram_data_get_max(rocksdb_statistics_histogram_data_t* data);
uint64_t rocksdb_statistics_histogram_data_get_count(rocksdb_statistics_histogram_data_t* data);
uint64_t rocksdb_statistics_histogram_data_get_sum(rocksdb_statistics_histogram_data_t* data);
double rocksdb_statistics_histogram_data_get_min(rocksdb_statistics_histogram_data_t* data);

// Of versions behind 10.4.
uint32_t rocksdb_flushjobinfo_flush_reason(const rocksdb_flushjobinfo_t* info);
void rocksdb_status_ptr_get_error(rocksdb_status_ptr_t* status, char** errptr);
uint32_t rocksdb_subcompactionjobinfo_compaction_reason(const rocksdb_subcompactionjobinfo_t* info);

#ifdef __cplusplus
}
#endif
