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

// As of a write in 2020.
static void put_old(Database* in, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  const char value[] = {'1', 0, 0, 0, 0x5e};
  rocksdb_put_cf(in->db, in->write, family, "old", 3, value, sizeof(value), &error);
  CHECK_OK(error);
}

static void test_ttls(void) {
  char* error = NULL;
  Database of = new_database();
  open_database(&of);
  CHECK(rocksdb_create_column_family_with_ttl(of.db, of.options, "other", 1, &error) == NULL);
  CHECK_FAILED(error, "Invalid argument: ");
  rocksdb_column_family_handle_t* family =
      rocksdb_create_column_family(of.db, of.options, "other", &error);
  CHECK_OK(error);
  put_old(&of, family);
  rocksdb_column_family_handle_destroy(family);
  family = rocksdb_get_default_column_family_handle(of.db);
  put_old(&of, family);
  rocksdb_column_family_handle_destroy(family);
  close_database(&of);

  const char* const names[] = {"default", "other"};
  const rocksdb_options_t* const options[] = {of.options, of.options};
  const int ttls[] = {0, 3600};
  rocksdb_column_family_handle_t* handles[2];
  of.db = rocksdb_open_column_families_with_ttl(of.options, of.path, 2, names, options, handles,
                                                ttls, &error);
  CHECK_OK(error);
  put(&of, "new", "2");
  rocksdb_compact_range(of.db, NULL, 0, NULL, 0);
  check_walk(rocksdb_create_iterator(of.db, of.read), "new=2 old=1 ");
  check_walk(rocksdb_create_iterator_cf(of.db, of.read, handles[1]), "");
  family = rocksdb_create_column_family_with_ttl(of.db, of.options, "later", 3600, &error);
  CHECK_OK(error);
  rocksdb_drop_column_family(of.db, family, &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_destroy(family);
  rocksdb_drop_column_family(of.db, handles[1], &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_destroy(handles[0]);
  rocksdb_column_family_handle_destroy(handles[1]);
  close_database(&of);

  of.db = rocksdb_open_with_ttl(of.options, of.path, 3600, &error);
  CHECK_OK(error);
  rocksdb_compact_range(of.db, NULL, 0, NULL, 0);
  check_walk(rocksdb_create_iterator(of.db, of.read), "new=2 ");
  close_database(&of);
  end_database(&of);
}

static void test_repair(void) {
  char* error = NULL;
  Database of = new_database();
  rocksdb_repair_db(of.options, of.path, &error);
  CHECK_FAILED(error, "Corruption: ");
  open_database(&of);
  put(&of, "a", "1");
  rocksdb_repair_db(of.options, of.path, &error);
  CHECK_FAILED(error, "IO error: ");
  close_database(&of);
  rocksdb_repair_db(of.options, of.path, &error);
  CHECK_OK(error);
  open_database(&of);
  check_get(&of, "a", "1");
  close_database(&of);
  end_database(&of);
}

void test_openings(void) {
  test_secondaries();
  test_ttls();
  test_repair();
}
