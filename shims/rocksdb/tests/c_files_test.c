// Backups, and files that are taken in, in the C API.

#include "shims/rocksdb/tests/c_api_test.h"

static void test_backup_options(void) {
  char* error = NULL;
  rocksdb_backup_engine_options_t* const backup = rocksdb_backup_engine_options_create("backups");
  rocksdb_backup_engine_options_set_share_table_files(backup, 0);
  CHECK(rocksdb_backup_engine_options_get_share_table_files(backup) == 0);
  rocksdb_backup_engine_options_set_sync(backup, 0);
  CHECK(rocksdb_backup_engine_options_get_sync(backup) == 0);
  rocksdb_backup_engine_options_set_destroy_old_data(backup, 1);
  CHECK(rocksdb_backup_engine_options_get_destroy_old_data(backup) == 1);
  rocksdb_backup_engine_options_set_backup_rate_limit(backup, 1 << 30);
  CHECK(rocksdb_backup_engine_options_get_backup_rate_limit(backup) == 1 << 30);
  rocksdb_backup_engine_options_set_restore_rate_limit(backup, 1 << 30);
  CHECK(rocksdb_backup_engine_options_get_restore_rate_limit(backup) == 1 << 30);
  rocksdb_backup_engine_options_set_max_background_operations(backup, 17);
  CHECK(rocksdb_backup_engine_options_get_max_background_operations(backup) == 17);
  rocksdb_backup_engine_options_set_callback_trigger_interval_size(backup, 17);
  CHECK(rocksdb_backup_engine_options_get_callback_trigger_interval_size(backup) == 17);
  rocksdb_backup_engine_options_set_max_valid_backups_to_open(backup, 17);
  CHECK(rocksdb_backup_engine_options_get_max_valid_backups_to_open(backup) == 17);
  rocksdb_backup_engine_options_set_share_files_with_checksum_naming(backup, 17);
  CHECK(rocksdb_backup_engine_options_get_share_files_with_checksum_naming(backup) == 17);

  rocksdb_env_t* const env = rocksdb_create_default_env();
  rocksdb_backup_engine_options_set_backup_dir(backup, new_path());
  rocksdb_backup_engine_options_set_env(backup, env);
  CHECK(rocksdb_backup_engine_open_opts(backup, NULL, &error) == NULL);
  CHECK_REFUSED(error);
  rocksdb_backup_engine_options_set_backup_log_files(backup, 0);
  CHECK(rocksdb_backup_engine_options_get_backup_log_files(backup) == 0);
  CHECK(rocksdb_backup_engine_open_opts(backup, env, &error) == NULL);
  CHECK_REFUSED(error);
  rocksdb_backup_engine_options_set_backup_log_files(backup, 1);
  rocksdb_backup_engine_t* const engine = rocksdb_backup_engine_open_opts(backup, env, &error);
  CHECK_OK(error);
  const rocksdb_backup_engine_info_t* const info = rocksdb_backup_engine_get_backup_info(engine);
  CHECK(rocksdb_backup_engine_info_count(info) == 0);
  rocksdb_backup_engine_info_destroy(info);
  rocksdb_backup_engine_close(engine);
  rocksdb_env_destroy(env);
  rocksdb_backup_engine_options_destroy(backup);
}

static void test_backups(void) {
  char* error = NULL;
  Database of = new_database();
  open_database(&of);
  put(&of, "a", "1");
  rocksdb_backup_engine_t* const engine =
      rocksdb_backup_engine_open(of.options, new_path(), &error);
  CHECK_OK(error);
  rocksdb_backup_engine_create_new_backup(engine, of.db, &error);
  CHECK_OK(error);
  put(&of, "a", "2");
  rocksdb_backup_engine_create_new_backup_flush(engine, of.db, 1, &error);
  CHECK_OK(error);
  put(&of, "a", "3");
  rocksdb_backup_engine_create_new_backup(engine, of.db, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_purge_old_backups(engine, 2, &error);
  CHECK_OK(error);
  const rocksdb_backup_engine_info_t* const info = rocksdb_backup_engine_get_backup_info(engine);
  CHECK(rocksdb_backup_engine_info_count(info) == 2);
  CHECK(rocksdb_backup_engine_info_backup_id(info, 0) == 2);
  CHECK(rocksdb_backup_engine_info_backup_id(info, 1) == 3);
  CHECK(rocksdb_backup_engine_info_timestamp(info, 0) > 0);
  CHECK(rocksdb_backup_engine_info_size(info, 0) > 0);
  CHECK(rocksdb_backup_engine_info_number_files(info, 0) == 1);
  rocksdb_backup_engine_info_destroy(info);
  rocksdb_backup_engine_verify_backup(engine, 2, &error);
  CHECK_OK(error);
  rocksdb_backup_engine_verify_backup(engine, 1, &error);
  CHECK_FAILED(error, "NotFound: ");

  rocksdb_restore_options_t* const restore = rocksdb_restore_options_create();
  rocksdb_backup_engine_restore_db_from_latest_backup(engine, of.path, of.path, restore, &error);
  CHECK_FAILED(error, "Resource busy: ");
  close_database(&of);
  rocksdb_backup_engine_restore_db_from_backup(engine, of.path, of.path, restore, 2, &error);
  CHECK_OK(error);
  open_database(&of);
  check_get(&of, "a", "2");
  close_database(&of);
  rocksdb_backup_engine_restore_db_from_latest_backup(engine, of.path, of.path, restore, &error);
  CHECK_OK(error);
  open_database(&of);
  check_get(&of, "a", "3");
  close_database(&of);
  rocksdb_restore_options_set_keep_log_files(restore, 1);
  rocksdb_backup_engine_restore_db_from_latest_backup(engine, of.path, of.path, restore, &error);
  CHECK_REFUSED(error);
  rocksdb_restore_options_destroy(restore);
  rocksdb_backup_engine_close(engine);
  end_database(&of);
}

static void test_taking_in(void) {
  char* error = NULL;
  Database of = new_database();
  rocksdb_options_set_uint64add_merge_operator(of.options);
  open_database(&of);
  put(&of, "c", "gone");
  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* writer = rocksdb_sstfilewriter_create(env, of.options);
  const char* const path = new_path();
  rocksdb_sstfilewriter_open(writer, path, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_add(writer, "a", 1, "1", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_put(writer, "a", 1, "2", 1, &error);
  CHECK_FAILED(error, "Invalid argument: ");
  rocksdb_sstfilewriter_put(writer, "b", 1, "2", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_delete(writer, "c", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_merge(writer, "d", 1, "12345678", 8, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_delete_range(writer, "e", 1, "f", 1, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_finish(writer, &error);
  CHECK_OK(error);
  uint64_t size = 0;
  rocksdb_sstfilewriter_file_size(writer, &size);
  CHECK(size > 50);
  rocksdb_sstfilewriter_destroy(writer);

  rocksdb_ingestexternalfileoptions_t* const ingest = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingestexternalfileoptions_set_snapshot_consistency(ingest, 0);
  rocksdb_ingestexternalfileoptions_set_allow_blocking_flush(ingest, 0);
  rocksdb_ingestexternalfileoptions_set_fail_if_not_bottommost_level(ingest, 1);
  rocksdb_ingestexternalfileoptions_set_ingest_behind(ingest, 1);
  rocksdb_ingest_external_file(of.db, &path, 1, ingest, &error);
  CHECK_REFUSED(error);
  rocksdb_ingestexternalfileoptions_set_ingest_behind(ingest, 0);
  rocksdb_ingestexternalfileoptions_set_allow_global_seqno(ingest, 0);
  rocksdb_ingest_external_file(of.db, &path, 1, ingest, &error);
  CHECK_REFUSED(error);
  rocksdb_ingestexternalfileoptions_set_allow_global_seqno(ingest, 1);
  rocksdb_ingest_external_file(of.db, &path, 1, ingest, &error);
  CHECK_OK(error);
  check_get(&of, "a", "1");
  check_get(&of, "b", "2");
  check_get(&of, "c", NULL);
  check_get(&of, "d", "12345678");
  rocksdb_ingestexternalfileoptions_set_move_files(ingest, 1);
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(of.db);
  put(&of, "a", "3");
  rocksdb_ingest_external_file_cf(of.db, family, &path, 1, ingest, &error);
  CHECK_OK(error);
  check_get(&of, "a", "1");
  rocksdb_ingest_external_file_cf(of.db, family, &path, 1, ingest, &error);
  CHECK_FAILED(error, "IO error: ");  // it was moved
  rocksdb_column_family_handle_destroy(family);
  rocksdb_ingestexternalfileoptions_destroy(ingest);

  writer = rocksdb_sstfilewriter_create_with_comparator(env, of.options, NULL);
  rocksdb_sstfilewriter_open(writer, path, &error);
  CHECK_OK(error);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);
  end_database(&of);
}

// The next batch as "put a=1 " and so on, and where to go on.
static void shown_put(void* state, const char* key, size_t key_size, const char* value,
                      size_t value_size) {
  char* const text = state;
  snprintf(text + strlen(text), 100, "put %.*s=%.*s ", (int)key_size, key, (int)value_size, value);
}
static void shown_delete(void* state, const char* key, size_t key_size) {
  char* const text = state;
  snprintf(text + strlen(text), 100, "delete %.*s ", (int)key_size, key);
}

static void test_updates(void) {
  char* error = NULL;
  Database of = new_database();
  open_database(&of);
  const uint64_t begin = rocksdb_get_latest_sequence_number(of.db) + 1;
  CHECK(rocksdb_get_updates_since(of.db, begin, NULL, &error) == NULL);
  CHECK_FAILED(error, "NotFound: ");
  put(&of, "a", "1");
  put(&of, "b", "2");
  rocksdb_delete(of.db, of.write, "a", 1, &error);
  CHECK_OK(error);
  rocksdb_wal_iterator_t* const at = rocksdb_get_updates_since(of.db, begin, NULL, &error);
  CHECK_OK(error);
  char text[400] = "";
  uint64_t next = begin;
  for (; rocksdb_wal_iter_valid(at); rocksdb_wal_iter_next(at)) {
    uint64_t sequence = 0;
    rocksdb_writebatch_t* const batch = rocksdb_wal_iter_get_batch(at, &sequence);
    CHECK(sequence >= next);
    next = sequence + (uint64_t)rocksdb_writebatch_count(batch);
    rocksdb_writebatch_iterate(batch, text, shown_put, shown_delete);
    rocksdb_writebatch_destroy(batch);
  }
  rocksdb_wal_iter_status(at, &error);
  CHECK_OK(error);
  rocksdb_wal_iter_destroy(at);
  CHECK(strcmp(text, "put a=1 put b=2 delete a ") == 0);
  CHECK(next == rocksdb_get_latest_sequence_number(of.db) + 1);
  end_database(&of);
}

void test_files(void) {
  test_taking_in();
  test_backup_options();
  test_backups();
  test_updates();
}
