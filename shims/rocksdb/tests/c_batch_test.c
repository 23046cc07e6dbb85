// Write batches of the C API.

#include "shims/rocksdb/tests/c_api_test.h"

typedef struct {
  char text[512];
} Shown;

static void add(Shown* to, const char* what, uint32_t family, const char* key, size_t key_size,
                const char* value, size_t value_size) {
  const size_t at = strlen(to->text);
  snprintf(to->text + at, sizeof(to->text) - at, "%s%u %.*s=%.*s;", what, family, (int)key_size,
           key, (int)value_size, value);
}
static void show_put(void* state, const char* key, size_t key_size, const char* value,
                     size_t value_size) {
  add(state, "put", 0, key, key_size, value, value_size);
}
static void show_deleted(void* state, const char* key, size_t key_size) {
  add(state, "del", 0, key, key_size, "", 0);
}
static void show_put_cf(void* state, uint32_t family, const char* key, size_t key_size,
                        const char* value, size_t value_size) {
  add(state, "put", family, key, key_size, value, value_size);
}
static void show_deleted_cf(void* state, uint32_t family, const char* key, size_t key_size) {
  add(state, "del", family, key, key_size, "", 0);
}
static void show_merge_cf(void* state, uint32_t family, const char* key, size_t key_size,
                          const char* value, size_t value_size) {
  add(state, "merge", family, key, key_size, value, value_size);
}

static void check_shown(rocksdb_writebatch_t* batch, const char* expected) {
  Shown shown = {""};
  rocksdb_writebatch_iterate_cf(batch, &shown, show_put_cf, show_deleted_cf, show_merge_cf);
  if (strcmp(shown.text, expected) != 0) fprintf(stderr, "shown: %s\n", shown.text);
  CHECK(strcmp(shown.text, expected) == 0);
}

static char* sum(void* state, const char* key, size_t key_size, const char* existing,
                 size_t existing_size, const char* const* operands, const size_t* operand_sizes,
                 int count, unsigned char* success, size_t* size) {
  (void)state;
  (void)key;
  (void)key_size;
  (void)operands;
  char* const value = malloc(32);
  for (int i = 0; i < count; ++i) existing_size += operand_sizes[i];
  *size = (size_t)snprintf(value, 32, "%s%zu", existing == NULL ? "" : "+", existing_size);
  *success = 1;
  return value;
}
static const char* name(void* state) {
  (void)state;
  return "test.Sum";
}
static void nothing(void* state) { (void)state; }

static void test_all_kinds(void) {
  Database of = new_database();
  char* error = NULL;
  rocksdb_options_set_merge_operator(
      of.options, rocksdb_mergeoperator_create(NULL, nothing, sum, NULL, NULL, name));
  open_database(&of);
  rocksdb_column_family_handle_t* const family =
      rocksdb_create_column_family(of.db, of.options, "one", &error);
  CHECK_OK(error);
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  const char* const parts[] = {"a", "bc"};
  const size_t sizes[] = {1, 2};
  const char* const ends[] = {"y", "z"};
  const size_t end_sizes[] = {1, 1};
  rocksdb_writebatch_put(batch, "p", 1, "1", 1);
  rocksdb_writebatch_put_cf(batch, family, "p", 1, "2", 1);
  rocksdb_writebatch_putv(batch, 2, parts, sizes, 1, ends, end_sizes);
  rocksdb_writebatch_putv_cf(batch, family, 1, ends, end_sizes, 2, parts, sizes);
  rocksdb_writebatch_merge(batch, "m", 1, "xx", 2);
  rocksdb_writebatch_merge_cf(batch, family, "m", 1, "xxx", 3);
  rocksdb_writebatch_mergev(batch, 1, ends, end_sizes, 2, parts, sizes);
  rocksdb_writebatch_mergev_cf(batch, family, 2, parts, sizes, 1, ends, end_sizes);
  CHECK(rocksdb_writebatch_count(batch) == 8);
  check_shown(batch,
              "put0 p=1;put1 p=2;put0 abc=y;put1 y=abc;merge0 m=xx;merge1 m=xxx;merge0 y=abc;"
              "merge1 abc=y;");
  rocksdb_write(of.db, of.write, batch, &error);
  CHECK_OK(error);
  check_get(&of, "p", "1");
  check_get(&of, "abc", "y");
  check_get(&of, "m", "2");
  check_get(&of, "y", "3");
  size_t size = 0;
  char* const value = rocksdb_get_cf(of.db, of.read, family, "y", 1, &size, &error);
  check_taken(value, size, "abc");

  rocksdb_writebatch_clear(batch);
  CHECK(rocksdb_writebatch_count(batch) == 0);
  rocksdb_writebatch_delete(batch, "p", 1);
  rocksdb_writebatch_delete_cf(batch, family, "p", 1);
  rocksdb_writebatch_deletev(batch, 2, parts, sizes);
  rocksdb_writebatch_deletev_cf(batch, family, 1, ends, end_sizes);
  check_shown(batch, "del0 p=;del1 p=;del0 abc=;del1 y=;");
  rocksdb_writebatch_singledelete(batch, "m", 1);
  rocksdb_writebatch_singledelete_cf(batch, family, "m", 1);
  rocksdb_writebatch_put_log_data(batch, "blob", 4);
  rocksdb_write(of.db, of.write, batch, &error);
  CHECK_OK(error);
  check_get(&of, "p", NULL);
  check_get(&of, "abc", NULL);
  check_get(&of, "m", NULL);

  rocksdb_writebatch_clear(batch);
  put(&of, "abcde", "1");
  put(&of, "c", "1");
  rocksdb_writebatch_delete_range(batch, "abc", 3, "b", 1);
  rocksdb_writebatch_delete_range_cf(batch, family, "a", 1, "z", 1);
  rocksdb_writebatch_delete_rangev(batch, 2, parts, sizes, ends, end_sizes);
  rocksdb_writebatch_delete_rangev_cf(batch, family, 2, parts, sizes, ends, end_sizes);
  CHECK(rocksdb_writebatch_count(batch) == 4);
  rocksdb_write(of.db, of.write, batch, &error);
  CHECK_OK(error);
  check_get(&of, "abcde", NULL);
  check_get(&of, "c", NULL);
  rocksdb_writebatch_destroy(batch);
  rocksdb_column_family_handle_destroy(family);
  end_database(&of);
}

static void test_bytes_and_save_points(void) {
  Database of = new_database();
  open_database(&of);
  char* error = NULL;
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create_with_params(100, 0, 0, 0);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_FAILED(error, "NotFound: ");
  rocksdb_writebatch_pop_save_point(batch, &error);
  CHECK_FAILED(error, "NotFound: ");
  rocksdb_writebatch_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_delete(batch, "b", 1);
  rocksdb_writebatch_set_save_point(batch);
  rocksdb_writebatch_pop_save_point(batch, &error);
  CHECK_OK(error);
  Shown shown = {""};
  rocksdb_writebatch_iterate(batch, &shown, show_put, show_deleted);
  CHECK(strcmp(shown.text, "put0 a=1;del0 b=;") == 0);
  rocksdb_writebatch_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  check_shown(batch, "put0 a=1;");

  size_t size = 0;
  const char* const bytes = rocksdb_writebatch_data(batch, &size);
  rocksdb_writebatch_t* const same = rocksdb_writebatch_create_from(bytes, size);
  CHECK(rocksdb_writebatch_count(same) == 1);
  rocksdb_write(of.db, of.write, same, &error);
  CHECK_OK(error);
  check_get(&of, "a", "1");
  rocksdb_writebatch_destroy(same);
  rocksdb_writebatch_destroy(batch);

  // What has a limit leaves out what is beyond it.
  rocksdb_writebatch_t* const small = rocksdb_writebatch_create_with_params(0, 20, 0, 0);
  rocksdb_writebatch_put(small, "a", 1, "1", 1);
  rocksdb_writebatch_put(small, "b", 1, "a long value that is too much", 29);
  CHECK(rocksdb_writebatch_count(small) == 1);
  rocksdb_writebatch_destroy(small);
  end_database(&of);
}

// A write with a timestamp is not left out in silence.
static void test_timestamps(void) {
  Database of = new_database();
  open_database(&of);
  char* error = NULL;
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(of.db);
  for (int kind = 0; kind < 3; ++kind) {
    rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
    rocksdb_writebatch_put(batch, "a", 1, "1", 1);
    if (kind == 0) rocksdb_writebatch_put_cf_with_ts(batch, family, "b", 1, "ts", 2, "1", 1);
    if (kind == 1) rocksdb_writebatch_delete_cf_with_ts(batch, family, "b", 1, "ts", 2);
    if (kind == 2) rocksdb_writebatch_singledelete_cf_with_ts(batch, family, "b", 1, "ts", 2);
    rocksdb_writebatch_put(batch, "c", 1, "1", 1);
    rocksdb_write(of.db, of.write, batch, &error);
    CHECK_REFUSED(error);
    rocksdb_writebatch_update_timestamps(batch, "ts", 2, NULL, NULL, &error);
    CHECK_REFUSED(error);
    rocksdb_writebatch_destroy(batch);
  }
  check_get(&of, "a", NULL);
  rocksdb_column_family_handle_destroy(family);
  end_database(&of);
}

void test_batches(void) {
  test_all_kinds();
  test_bytes_and_save_points();
  test_timestamps();
}
