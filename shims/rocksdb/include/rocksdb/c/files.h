#pragma once
// Checkpoints, backups, files, the log.
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

rocksdb_t* rocksdb_open_with_ttl(
    const rocksdb_options_t* options, const char* name, int ttl, char** errptr);
rocksdb_t* rocksdb_open_as_secondary(
    const rocksdb_options_t* options, const char* name, const char* secondary_path,
    char** errptr);
rocksdb_backup_engine_t* rocksdb_backup_engine_open(
    const rocksdb_options_t* options, const char* path, char** errptr);
rocksdb_backup_engine_t* rocksdb_backup_engine_open_opts(
    const rocksdb_backup_engine_options_t* options, rocksdb_env_t* env, char** errptr);
void rocksdb_backup_engine_create_new_backup(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, char** errptr);
void rocksdb_backup_engine_create_new_backup_flush(
    rocksdb_backup_engine_t* engine, rocksdb_t* db, unsigned char flush_before_backup,
    char** errptr);
void rocksdb_backup_engine_purge_old_backups(
    rocksdb_backup_engine_t* engine, uint32_t num_backups_to_keep, char** errptr);
rocksdb_restore_options_t* rocksdb_restore_options_create(void);
void rocksdb_restore_options_destroy(rocksdb_restore_options_t* options);
void rocksdb_restore_options_set_keep_log_files(rocksdb_restore_options_t* options, int value);
void rocksdb_backup_engine_verify_backup(
    rocksdb_backup_engine_t* engine, uint32_t backup_id, char** errptr);
void rocksdb_backup_engine_restore_db_from_latest_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, char** errptr);
void rocksdb_backup_engine_restore_db_from_backup(
    rocksdb_backup_engine_t* engine, const char* db_dir, const char* wal_dir,
    const rocksdb_restore_options_t* restore_options, const uint32_t backup_id, char** errptr);
const rocksdb_backup_engine_info_t* rocksdb_backup_engine_get_backup_info(
    rocksdb_backup_engine_t* engine);
int rocksdb_backup_engine_info_count(const rocksdb_backup_engine_info_t* info);
int64_t rocksdb_backup_engine_info_timestamp(const rocksdb_backup_engine_info_t* info, int index);
uint32_t rocksdb_backup_engine_info_backup_id(const rocksdb_backup_engine_info_t* info, int index);
uint64_t rocksdb_backup_engine_info_size(const rocksdb_backup_engine_info_t* info, int index);
uint32_t rocksdb_backup_engine_info_number_files(
    const rocksdb_backup_engine_info_t* info, int index);
void rocksdb_backup_engine_info_destroy(const rocksdb_backup_engine_info_t* info);
void rocksdb_backup_engine_close(rocksdb_backup_engine_t* engine);
rocksdb_backup_engine_options_t* rocksdb_backup_engine_options_create(const char* backup_dir);
void rocksdb_backup_engine_options_set_backup_dir(
    rocksdb_backup_engine_options_t* options, const char* backup_dir);
void rocksdb_backup_engine_options_set_env(
    rocksdb_backup_engine_options_t* options, rocksdb_env_t* env);
void rocksdb_backup_engine_options_set_share_table_files(
    rocksdb_backup_engine_options_t* options, unsigned char value);
unsigned char rocksdb_backup_engine_options_get_share_table_files(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_sync(
    rocksdb_backup_engine_options_t* options, unsigned char value);
unsigned char rocksdb_backup_engine_options_get_sync(rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_destroy_old_data(
    rocksdb_backup_engine_options_t* options, unsigned char value);
unsigned char rocksdb_backup_engine_options_get_destroy_old_data(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_backup_log_files(
    rocksdb_backup_engine_options_t* options, unsigned char value);
unsigned char rocksdb_backup_engine_options_get_backup_log_files(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_backup_rate_limit(
    rocksdb_backup_engine_options_t* options, uint64_t limit);
uint64_t rocksdb_backup_engine_options_get_backup_rate_limit(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_restore_rate_limit(
    rocksdb_backup_engine_options_t* options, uint64_t limit);
uint64_t rocksdb_backup_engine_options_get_restore_rate_limit(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_max_background_operations(
    rocksdb_backup_engine_options_t* options, int value);
int rocksdb_backup_engine_options_get_max_background_operations(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_callback_trigger_interval_size(
    rocksdb_backup_engine_options_t* options, uint64_t size);
uint64_t rocksdb_backup_engine_options_get_callback_trigger_interval_size(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_max_valid_backups_to_open(
    rocksdb_backup_engine_options_t* options, int value);
int rocksdb_backup_engine_options_get_max_valid_backups_to_open(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_set_share_files_with_checksum_naming(
    rocksdb_backup_engine_options_t* options, int value);
int rocksdb_backup_engine_options_get_share_files_with_checksum_naming(
    rocksdb_backup_engine_options_t* options);
void rocksdb_backup_engine_options_destroy(rocksdb_backup_engine_options_t* options);
rocksdb_checkpoint_t* rocksdb_checkpoint_object_create(rocksdb_t* db, char** errptr);
void rocksdb_checkpoint_create(
    rocksdb_checkpoint_t* checkpoint, const char* checkpoint_dir, uint64_t log_size_for_flush,
    char** errptr);
void rocksdb_checkpoint_object_destroy(rocksdb_checkpoint_t* checkpoint);
rocksdb_t* rocksdb_open_and_trim_history(
    const rocksdb_options_t* options, const char* name, int family_count,
    const char* const* names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, char* timestamp, size_t timestamp_size,
    char** errptr);
rocksdb_t* rocksdb_open_column_families_with_ttl(
    const rocksdb_options_t* options, const char* name, int family_count,
    const char* const* names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, const int* ttls, char** errptr);
rocksdb_t* rocksdb_open_as_secondary_column_families(
    const rocksdb_options_t* options, const char* name, const char* secondary_path,
    int family_count, const char* const* names, const rocksdb_options_t* const* family_options,
    rocksdb_column_family_handle_t** handles, char** errptr);
rocksdb_column_family_handle_t* rocksdb_create_column_family_with_ttl(
    rocksdb_t* db, const rocksdb_options_t* family_options, const char* name, int ttl,
    char** errptr);
rocksdb_wal_iterator_t* rocksdb_get_updates_since(
    rocksdb_t* db, uint64_t seq_number, const rocksdb_wal_readoptions_t* options, char** errptr);
const rocksdb_livefiles_t* rocksdb_livefiles(rocksdb_t* db);
void rocksdb_disable_file_deletions(rocksdb_t* db, char** errptr);
void rocksdb_enable_file_deletions(rocksdb_t* db, char** errptr);
void rocksdb_repair_db(const rocksdb_options_t* options, const char* name, char** errptr);
void rocksdb_wal_iter_next(rocksdb_wal_iterator_t* iterator);
unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t* iterator);
void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t* iterator, char** errptr);
rocksdb_writebatch_t* rocksdb_wal_iter_get_batch(
    const rocksdb_wal_iterator_t* iterator, uint64_t* seq);
void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t* iterator);
void rocksdb_load_latest_options(
    const char* path, rocksdb_env_t* env, bool ignore_unknown_options, rocksdb_cache_t* cache,
    rocksdb_options_t** db_options, size_t* family_count, char*** names,
    rocksdb_options_t*** family_options, char** errptr);
void rocksdb_load_latest_options_destroy(
    rocksdb_options_t* db_options, char** names, rocksdb_options_t** family_options, size_t size);
rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t* env);
void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* manager);
void rocksdb_sst_file_manager_set_max_allowed_space_usage(
    rocksdb_sst_file_manager_t* manager, uint64_t max_allowed_space);
void rocksdb_sst_file_manager_set_compaction_buffer_size(
    rocksdb_sst_file_manager_t* manager, uint64_t compaction_buffer_size);
bool rocksdb_sst_file_manager_is_max_allowed_space_reached(rocksdb_sst_file_manager_t* manager);
bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    rocksdb_sst_file_manager_t* manager);
uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t* manager);
int64_t rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(
    rocksdb_sst_file_manager_t* manager);
void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(
    rocksdb_sst_file_manager_t* manager, int64_t delete_rate);
double rocksdb_sst_file_manager_get_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager);
void rocksdb_sst_file_manager_set_max_trash_db_ratio(
    rocksdb_sst_file_manager_t* manager, double ratio);
uint64_t rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t* manager);
rocksdb_envoptions_t* rocksdb_envoptions_create(void);
void rocksdb_envoptions_destroy(rocksdb_envoptions_t* options);
rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options);
rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create_with_comparator(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options,
    const rocksdb_comparator_t* comparator);
void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t* writer, const char* name, char** errptr);
void rocksdb_sstfilewriter_add(
    rocksdb_sstfilewriter_t* writer, const char* key, size_t key_size, const char* value,
    size_t value_size, char** errptr);
void rocksdb_sstfilewriter_put(
    rocksdb_sstfilewriter_t* writer, const char* key, size_t key_size, const char* value,
    size_t value_size, char** errptr);
void rocksdb_sstfilewriter_put_with_ts(
    rocksdb_sstfilewriter_t* writer, const char* key, size_t key_size, const char* timestamp,
    size_t timestamp_size, const char* value, size_t value_size, char** errptr);
void rocksdb_sstfilewriter_merge(
    rocksdb_sstfilewriter_t* writer, const char* key, size_t key_size, const char* value,
    size_t value_size, char** errptr);
void rocksdb_sstfilewriter_delete(
    rocksdb_sstfilewriter_t* writer, const char* key, size_t key_size, char** errptr);
void rocksdb_sstfilewriter_delete_with_ts(
    rocksdb_sstfilewriter_t* writer, const char* key, size_t key_size, const char* timestamp,
    size_t timestamp_size, char** errptr);
void rocksdb_sstfilewriter_delete_range(
    rocksdb_sstfilewriter_t* writer, const char* begin, size_t begin_size, const char* end,
    size_t end_size, char** errptr);
void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t* writer, char** errptr);
void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t* writer, uint64_t* file_size);
void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t* writer);
rocksdb_ingestexternalfileoptions_t* rocksdb_ingestexternalfileoptions_create(void);
void rocksdb_ingestexternalfileoptions_set_move_files(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char move_files);
void rocksdb_ingestexternalfileoptions_set_snapshot_consistency(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char snapshot_consistency);
void rocksdb_ingestexternalfileoptions_set_allow_global_seqno(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char allow_global_seqno);
void rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char allow_blocking_flush);
void rocksdb_ingestexternalfileoptions_set_ingest_behind(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char ingest_behind);
void rocksdb_ingestexternalfileoptions_set_fail_if_not_bottommost_level(
    rocksdb_ingestexternalfileoptions_t* options, unsigned char fail_if_not_bottommost_level);
void rocksdb_ingestexternalfileoptions_destroy(rocksdb_ingestexternalfileoptions_t* options);
void rocksdb_ingest_external_file(
    rocksdb_t* db, const char* const* files, const size_t count,
    const rocksdb_ingestexternalfileoptions_t* options, char** errptr);
void rocksdb_ingest_external_file_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, const char* const* files,
    const size_t count, const rocksdb_ingestexternalfileoptions_t* options, char** errptr);
void rocksdb_try_catch_up_with_primary(rocksdb_t* db, char** errptr);
int rocksdb_livefiles_count(const rocksdb_livefiles_t* files);
const char* rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t* files, int index);
const char* rocksdb_livefiles_name(const rocksdb_livefiles_t* files, int index);
int rocksdb_livefiles_level(const rocksdb_livefiles_t* files, int index);
size_t rocksdb_livefiles_size(const rocksdb_livefiles_t* files, int index);
const char* rocksdb_livefiles_smallestkey(
    const rocksdb_livefiles_t* files, int index, size_t* size);
const char* rocksdb_livefiles_largestkey(const rocksdb_livefiles_t* files, int index, size_t* size);
uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t* files, int index);
uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t* files, int index);
void rocksdb_livefiles_destroy(const rocksdb_livefiles_t* files);
void rocksdb_get_options_from_string(
    const rocksdb_options_t* base_options, const char* text, rocksdb_options_t* new_options,
    char** errptr);
void rocksdb_delete_file_in_range(
    rocksdb_t* db, const char* begin, size_t begin_size, const char* end, size_t end_size,
    char** errptr);
void rocksdb_delete_file_in_range_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family, const char* begin,
    size_t begin_size, const char* end, size_t end_size, char** errptr);
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata(rocksdb_t* db);
rocksdb_column_family_metadata_t* rocksdb_get_column_family_metadata_cf(
    rocksdb_t* db, rocksdb_column_family_handle_t* column_family);
void rocksdb_column_family_metadata_destroy(rocksdb_column_family_metadata_t* metadata);
uint64_t rocksdb_column_family_metadata_get_size(rocksdb_column_family_metadata_t* metadata);
size_t rocksdb_column_family_metadata_get_file_count(rocksdb_column_family_metadata_t* metadata);
char* rocksdb_column_family_metadata_get_name(rocksdb_column_family_metadata_t* metadata);
size_t rocksdb_column_family_metadata_get_level_count(rocksdb_column_family_metadata_t* metadata);
rocksdb_level_metadata_t* rocksdb_column_family_metadata_get_level_metadata(
    rocksdb_column_family_metadata_t* metadata, size_t index);
void rocksdb_level_metadata_destroy(rocksdb_level_metadata_t* metadata);
int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t* metadata);
uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t* metadata);
size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t* metadata);
rocksdb_sst_file_metadata_t* rocksdb_level_metadata_get_sst_file_metadata(
    rocksdb_level_metadata_t* metadata, size_t index);
void rocksdb_sst_file_metadata_destroy(rocksdb_sst_file_metadata_t* metadata);
char* rocksdb_sst_file_metadata_get_relative_filename(rocksdb_sst_file_metadata_t* metadata);
char* rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t* metadata);
uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t* metadata);
char* rocksdb_sst_file_metadata_get_smallestkey(
    rocksdb_sst_file_metadata_t* metadata, size_t* size);
char* rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t* metadata, size_t* size);

// Of versions before 10.4.
void rocksdb_delete_file(rocksdb_t* db, const char* name);

// Of versions behind 10.4.
rocksdb_export_import_files_metadata_t* rocksdb_checkpoint_export_column_family(
    rocksdb_checkpoint_t* checkpoint, rocksdb_column_family_handle_t* column_family,
    const char* export_dir, char** errptr);
rocksdb_column_family_handle_t* rocksdb_create_column_family_with_import(
    rocksdb_t* db, rocksdb_options_t* family_options, const char* name,
    rocksdb_import_column_family_options_t* import_options,
    rocksdb_export_import_files_metadata_t* metadata, char** errptr);
rocksdb_livefiles_t* rocksdb_livefiles_create(void);
const char* rocksdb_livefiles_directory(const rocksdb_livefiles_t* files, int index);
uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t* files, int index);
uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t* files, int index);
rocksdb_livefile_t* rocksdb_livefile_create(void);
void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t* file, const char* value);
void rocksdb_livefile_set_level(rocksdb_livefile_t* file, int value);
void rocksdb_livefile_set_name(rocksdb_livefile_t* file, const char* value);
void rocksdb_livefile_set_directory(rocksdb_livefile_t* file, const char* value);
void rocksdb_livefile_set_size(rocksdb_livefile_t* file, size_t value);
void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t* file, const char* key, size_t key_size);
void rocksdb_livefile_set_largest_key(rocksdb_livefile_t* file, const char* key, size_t key_size);
void rocksdb_livefile_set_smallest_seqno(rocksdb_livefile_t* file, uint64_t value);
void rocksdb_livefile_set_largest_seqno(rocksdb_livefile_t* file, uint64_t value);
void rocksdb_livefile_set_num_entries(rocksdb_livefile_t* file, uint64_t value);
void rocksdb_livefile_set_num_deletions(rocksdb_livefile_t* file, uint64_t value);
void rocksdb_livefile_destroy(rocksdb_livefile_t* file);
void rocksdb_livefiles_add(rocksdb_livefiles_t* files, rocksdb_livefile_t* file);
rocksdb_import_column_family_options_t* rocksdb_import_column_family_options_create(void);
void rocksdb_import_column_family_options_set_move_files(
    rocksdb_import_column_family_options_t* options, unsigned char value);
void rocksdb_import_column_family_options_destroy(rocksdb_import_column_family_options_t* options);
rocksdb_export_import_files_metadata_t* rocksdb_export_import_files_metadata_create(void);
char* rocksdb_export_import_files_metadata_get_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata);
void rocksdb_export_import_files_metadata_set_db_comparator_name(
    rocksdb_export_import_files_metadata_t* metadata, const char* value);
rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(
    rocksdb_export_import_files_metadata_t* metadata);
void rocksdb_export_import_files_metadata_set_files(
    rocksdb_export_import_files_metadata_t* metadata, rocksdb_livefiles_t* files);
void rocksdb_export_import_files_metadata_destroy(rocksdb_export_import_files_metadata_t* metadata);

#ifdef __cplusplus
}
#endif
