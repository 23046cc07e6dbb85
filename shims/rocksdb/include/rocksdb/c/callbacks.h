#pragma once
// Comparators, merge operators, filters, transforms and loggers of the program's own.
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

rocksdb_logger_t* rocksdb_logger_create_stderr_logger(int log_level, const char* prefix);
rocksdb_logger_t* rocksdb_logger_create_callback_logger(
    int log_level, void (*callback)(void* state, unsigned level, char* text, size_t size),
    void* state);
void rocksdb_logger_destroy(rocksdb_logger_t* logger);
rocksdb_compactionfilter_t* rocksdb_compactionfilter_create(
    void* state, void (*destructor)(void* state), unsigned char (*filter)(void* state, int level,
    const char* key, size_t key_size, const char* existing_value, size_t value_size,
    char** new_value, size_t* new_value_size, unsigned char* value_changed),
    const char* (*name)(void* state));
void rocksdb_compactionfilter_set_ignore_snapshots(
    rocksdb_compactionfilter_t* filter, unsigned char value);
void rocksdb_compactionfilter_destroy(rocksdb_compactionfilter_t* filter);
unsigned char rocksdb_compactionfiltercontext_is_full_compaction(
    rocksdb_compactionfiltercontext_t* context);
unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(
    rocksdb_compactionfiltercontext_t* context);
rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(
    void* state, void (*destructor)(void* state),
    rocksdb_compactionfilter_t* (*create_compaction_filter)(void* state,
    rocksdb_compactionfiltercontext_t* context), const char* (*name)(void* state));
void rocksdb_compactionfilterfactory_destroy(rocksdb_compactionfilterfactory_t* factory);
rocksdb_comparator_t* rocksdb_comparator_create(
    void* state, void (*destructor)(void* state), int (*compare)(void* state, const char* a,
    size_t a_size, const char* batch, size_t b_size), const char* (*name)(void* state));
void rocksdb_comparator_destroy(rocksdb_comparator_t* comparator);
rocksdb_comparator_t* rocksdb_comparator_with_ts_create(
    void* state, void (*destructor)(void* state), int (*compare)(void* state, const char* a,
    size_t a_size, const char* batch, size_t b_size), int (*compare_ts)(void* state,
    const char* a, size_t a_size, const char* b, size_t b_size),
    int (*compare_without_ts)(void* state, const char* a, size_t a_size, unsigned char a_has_ts,
    const char* batch, size_t b_size, unsigned char b_has_ts), const char* (*name)(void* state),
    size_t timestamp_size);
void rocksdb_filterpolicy_destroy(rocksdb_filterpolicy_t* policy);
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom(double bits_per_key);
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_bloom_full(double bits_per_key);
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon(double bloom_equivalent_bits_per_key);
rocksdb_filterpolicy_t* rocksdb_filterpolicy_create_ribbon_hybrid(
    double bloom_equivalent_bits_per_key, int bloom_before_level);
rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(
    void* state, void (*destructor)(void* state), char* (*full_merge)(void* state,
    const char* key, size_t key_size, const char* existing_value, size_t existing_value_size,
    const char* const* operands, const size_t* operand_sizes, int operand_count,
    unsigned char* success, size_t* new_value_size), char* (*partial_merge)(void* state,
    const char* key, size_t key_size, const char* const* operands, const size_t* operand_sizes,
    int operand_count, unsigned char* success, size_t* new_value_size),
    void (*delete_value)(void* state, const char* value, size_t value_size),
    const char* (*name)(void* state));
void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t* merge_operator);
rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void* state), char* (*transform)(void* state,
    const char* key, size_t key_size, size_t* result_size),
    unsigned char (*in_domain)(void* state, const char* key, size_t key_size),
    unsigned char (*in_range)(void* state, const char* key, size_t key_size),
    const char* (*name)(void* state));
rocksdb_slicetransform_t* rocksdb_slicetransform_create_fixed_prefix(size_t value);
rocksdb_slicetransform_t* rocksdb_slicetransform_create_noop(void);
void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t* transform);

#ifdef __cplusplus
}
#endif
