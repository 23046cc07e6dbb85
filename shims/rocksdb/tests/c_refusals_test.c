// What the C API refuses says so, or gives null, and harms nothing.

#include "shims/rocksdb/tests/c_api_test.h"

static void test_timestamps(Database* of) {
  char* error = NULL;
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(of->db);
  rocksdb_put_with_ts(of->db, of->write, "a", 1, "ts", 2, "1", 1, &error);
  CHECK_REFUSED(error);
  rocksdb_put_cf_with_ts(of->db, of->write, family, "a", 1, "ts", 2, "1", 1, &error);
  CHECK_REFUSED(error);
  rocksdb_delete_with_ts(of->db, of->write, "a", 1, "ts", 2, &error);
  CHECK_REFUSED(error);
  rocksdb_delete_cf_with_ts(of->db, of->write, family, "a", 1, "ts", 2, &error);
  CHECK_REFUSED(error);
  rocksdb_singledelete_with_ts(of->db, of->write, "a", 1, "ts", 2, &error);
  CHECK_REFUSED(error);
  rocksdb_singledelete_cf_with_ts(of->db, of->write, family, "a", 1, "ts", 2, &error);
  CHECK_REFUSED(error);
  rocksdb_increase_full_history_ts_low(of->db, family, "ts", 2, &error);
  CHECK_REFUSED(error);
  size_t size = 9, timestamp_size = 9;
  CHECK(rocksdb_get_full_history_ts_low(of->db, family, &size, &error) == NULL && size == 0);
  CHECK_REFUSED(error);
  char* timestamp = NULL;
  CHECK(rocksdb_get_with_ts(of->db, of->read, "a", 1, &size, &timestamp, &timestamp_size, &error) ==
        NULL);
  CHECK_REFUSED(error);
  CHECK(rocksdb_get_cf_with_ts(of->db, of->read, family, "a", 1, &size, &timestamp, &timestamp_size,
                               &error) == NULL);
  CHECK_REFUSED(error);
  const char* const key = "a";
  const size_t key_size = 1;
  const rocksdb_column_family_handle_t* const same = family;
  char* value = NULL;
  rocksdb_multi_get_with_ts(of->db, of->read, 1, &key, &key_size, &value, &size, &timestamp,
                            &timestamp_size, &error);
  CHECK_REFUSED(error);
  rocksdb_multi_get_cf_with_ts(of->db, of->read, &same, 1, &key, &key_size, &value, &size,
                               &timestamp, &timestamp_size, &error);
  CHECK_REFUSED(error);
  rocksdb_column_family_handle_destroy(family);
}

static void test_care(Database* of) {
  char* error = NULL;
  rocksdb_disable_file_deletions(of->db, &error);
  CHECK_REFUSED(error);
  rocksdb_enable_file_deletions(of->db, &error);
  CHECK_REFUSED(error);
  // As it was called before version 9.
  rocksdb_enable_file_deletions(of->db, (char**)1);
  rocksdb_try_catch_up_with_primary(of->db, &error);
  CHECK_REFUSED(error);
  CHECK(rocksdb_jemalloc_nodump_allocator_create(&error) == NULL);
  CHECK_REFUSED(error);
  rocksdb_memory_allocator_destroy(NULL);
  const rocksdb_livefiles_t* const files = rocksdb_livefiles(of->db);
  CHECK(rocksdb_livefiles_count(files) == 0);
  rocksdb_livefiles_destroy(files);
  rocksdb_delete_file(of->db, "1.sst");
  rocksdb_sst_file_manager_t* const manager = rocksdb_sst_file_manager_create(NULL);
  rocksdb_sst_file_manager_set_max_trash_db_ratio(manager, 0.5);
  CHECK(rocksdb_sst_file_manager_get_max_trash_db_ratio(manager) == 0.5);
  rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(manager, 17);
  CHECK(rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(manager) == 17);
  rocksdb_options_t* const options = rocksdb_options_create();
  rocksdb_options_set_sst_file_manager(options, manager);
  rocksdb_sst_file_manager_destroy(manager);
  CHECK(rocksdb_open(options, new_path(), &error) == NULL);
  CHECK_REFUSED(error);
  rocksdb_options_destroy(options);
}

static void test_file_writers(Database* of) {
  char* error = NULL;
  rocksdb_envoptions_t* const env = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* const writer = rocksdb_sstfilewriter_create(env, of->options);
  rocksdb_sstfilewriter_put_with_ts(writer, "a", 1, "ts", 2, "1", 1, &error);
  CHECK_REFUSED(error);
  rocksdb_sstfilewriter_delete_with_ts(writer, "a", 1, "ts", 2, &error);
  CHECK_REFUSED(error);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env);
}

static int gone;
static void go(void* state) {
  (void)state;
  ++gone;
}
static int compare(void* state, const char* a, size_t a_size, const char* b, size_t b_size) {
  (void)state;
  const int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
  return order != 0 ? order : (int)a_size - (int)b_size;
}
static const char* name(void* state) {
  (void)state;
  return "test.Timestamps";
}

static void test_objects(void) {
  char* error = NULL;
  Database of = new_database();
  rocksdb_comparator_t* const comparator =
      rocksdb_comparator_with_ts_create(NULL, go, compare, compare, NULL, name, 8);
  rocksdb_options_set_comparator(of.options, comparator);
  CHECK(rocksdb_open(of.options, of.path, &error) == NULL);
  CHECK_REFUSED(error);
  end_database(&of);
  rocksdb_comparator_destroy(comparator);
  CHECK(gone == 1);
}

void test_refusals(void) {
  Database of = new_database();
  open_database(&of);
  test_timestamps(&of);
  test_care(&of);
  test_file_writers(&of);
  check_get(&of, "a", NULL);
  end_database(&of);
  test_objects();
}
