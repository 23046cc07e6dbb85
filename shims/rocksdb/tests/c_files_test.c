// Backups in the C API.

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

void test_files(void) {
  test_backup_options();
  test_backups();
}
