// Databases that are opened in other ways than rocksdb_open, in the C API.

#include "shims/rocksdb/tests/c_api_test.h"

static void test_secondaries(void) {
  char* error = NULL;
  Database of = new_database();
  CHECK(rocksdb_open_as_secondary(of.options, of.path, "", &error) == NULL);
  CHECK_FAILED(error, "IO error: ");
  open_database(&of);
  put(&of, "a", "1");
  Database second = of;
  second.db = rocksdb_open_as_secondary(of.options, of.path, new_path(), &error);
  CHECK_OK(error);
  put(&of, "a", "2");
  check_get(&second, "a", "1");
  rocksdb_try_catch_up_with_primary(second.db, &error);
  CHECK_OK(error);
  check_get(&second, "a", "2");
  rocksdb_put(second.db, of.write, "a", 1, "3", 1, &error);
  CHECK_REFUSED(error);
  rocksdb_close(second.db);

  rocksdb_column_family_handle_t* const family =
      rocksdb_create_column_family(of.db, of.options, "other", &error);
  CHECK_OK(error);
  rocksdb_put_cf(of.db, of.write, family, "b", 1, "4", 1, &error);
  CHECK_OK(error);
  const char* const names[] = {"default", "other"};
  const rocksdb_options_t* const options[] = {of.options, of.options};
  rocksdb_column_family_handle_t* handles[2];
  second.db = rocksdb_open_as_secondary_column_families(of.options, of.path, new_path(), 2, names,
                                                        options, handles, &error);
  CHECK_OK(error);
  size_t size = 0;
  char* const value = rocksdb_get_cf(second.db, of.read, handles[1], "b", 1, &size, &error);
  CHECK_OK(error);
  check_taken(value, size, "4");
  rocksdb_column_family_handle_destroy(handles[0]);
  rocksdb_column_family_handle_destroy(handles[1]);
  rocksdb_close(second.db);
  rocksdb_column_family_handle_destroy(family);
  close_database(&of);
  end_database(&of);
}

void test_openings(void) { test_secondaries(); }
