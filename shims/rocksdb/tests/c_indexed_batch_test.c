// Write batches with an index, of the C API.

#include "shims/rocksdb/tests/c_api_test.h"

// Values are joined by commas.
static char* join(void* state, const char* key, size_t key_size, const char* existing,
                  size_t existing_size, const char* const* operands, const size_t* operand_sizes,
                  int count, unsigned char* success, size_t* size) {
  (void)state;
  (void)key;
  (void)key_size;
  char* const value = malloc(256);
  *size = existing_size;
  if (existing_size > 0) memcpy(value, existing, existing_size);
  for (int i = 0; i < count; ++i) {
    if (*size > 0) value[(*size)++] = ',';
    memcpy(value + *size, operands[i], operand_sizes[i]);
    *size += operand_sizes[i];
  }
  *success = 1;
  return value;
}
static const char* join_name(void* state) {
  (void)state;
  return "test.Join";
}
static void nothing(void* state) { (void)state; }

rocksdb_mergeoperator_t* new_join(void) {
  return rocksdb_mergeoperator_create(NULL, nothing, join, NULL, NULL, join_name);
}

static int backwards(void* state, const char* a, size_t a_size, const char* b, size_t b_size) {
  (void)state;
  const int order = memcmp(b, a, a_size < b_size ? a_size : b_size);
  return order != 0 ? order : (int)b_size - (int)a_size;
}
static const char* backwards_name(void* state) {
  (void)state;
  return "test.Backwards";
}

void check_walk_at(rocksdb_iterator_t* iterator, const char* expected) {
  char text[512] = "";
  for (rocksdb_iter_seek_to_first(iterator); rocksdb_iter_valid(iterator);
       rocksdb_iter_next(iterator)) {
    size_t key_size = 0, value_size = 0;
    const char* const key = rocksdb_iter_key(iterator, &key_size);
    const char* const value = rocksdb_iter_value(iterator, &value_size);
    const size_t at = strlen(text);
    snprintf(text + at, sizeof(text) - at, "%.*s=%.*s ", (int)key_size, key, (int)value_size,
             value);
  }
  char* error = NULL;
  rocksdb_iter_get_error(iterator, &error);
  CHECK_OK(error);
  check_bytes_at(text, strlen(text), expected);
  rocksdb_iter_destroy(iterator);
}

typedef struct {
  char text[512];
} Shown;
static void show_put(void* state, const char* key, size_t key_size, const char* value,
                     size_t value_size) {
  Shown* const to = state;
  const size_t at = strlen(to->text);
  snprintf(to->text + at, sizeof(to->text) - at, "%.*s=%.*s;", (int)key_size, key, (int)value_size,
           value);
}
static void show_deleted(void* state, const char* key, size_t key_size) {
  Shown* const to = state;
  const size_t at = strlen(to->text);
  snprintf(to->text + at, sizeof(to->text) - at, "-%.*s;", (int)key_size, key);
}
static void check_shown(rocksdb_writebatch_wi_t* batch, const char* expected) {
  Shown shown = {""};
  rocksdb_writebatch_wi_iterate(batch, &shown, show_put, show_deleted);
  check_bytes(shown.text, strlen(shown.text), expected);
}

static void check_in_batch(Database* in, rocksdb_writebatch_wi_t* batch, const char* key,
                           const char* expected) {
  char* error = NULL;
  size_t size = 99;
  char* const value =
      rocksdb_writebatch_wi_get_from_batch(batch, in->options, key, strlen(key), &size, &error);
  CHECK_OK(error);
  check_taken(value, size, expected);
}

static void check_in_family(Database* in, rocksdb_writebatch_wi_t* batch,
                            rocksdb_column_family_handle_t* family, const char* key,
                            const char* expected) {
  char* error = NULL;
  size_t size = 99;
  char* const value = rocksdb_writebatch_wi_get_from_batch_cf(batch, in->options, family, key,
                                                              strlen(key), &size, &error);
  CHECK_OK(error);
  check_taken(value, size, expected);
}

// Each kind of write, in the default family and another one.
static void test_all_kinds(void) {
  Database of = new_database();
  rocksdb_options_set_merge_operator(of.options, new_join());
  open_database(&of);
  char* error = NULL;
  rocksdb_column_family_handle_t* const family =
      rocksdb_create_column_family(of.db, of.options, "one", &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_t* const first = rocksdb_get_default_column_family_handle(of.db);
  rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create(100, 1);
  const char* const parts[] = {"a", "bc"};
  const size_t sizes[] = {1, 2};
  const char* const ends[] = {"y", "z"};
  const size_t end_sizes[] = {1, 1};
  rocksdb_writebatch_wi_put(batch, "p", 1, "1", 1);
  rocksdb_writebatch_wi_put_cf(batch, family, "p", 1, "2", 1);
  rocksdb_writebatch_wi_putv(batch, 2, parts, sizes, 1, ends, end_sizes);
  rocksdb_writebatch_wi_putv_cf(batch, family, 1, ends, end_sizes, 2, parts, sizes);
  rocksdb_writebatch_wi_merge(batch, "p", 1, "x", 1);
  rocksdb_writebatch_wi_merge_cf(batch, family, "p", 1, "xx", 2);
  rocksdb_writebatch_wi_mergev(batch, 1, ends, end_sizes, 2, parts, sizes);
  rocksdb_writebatch_wi_mergev_cf(batch, family, 2, parts, sizes, 1, ends, end_sizes);
  rocksdb_writebatch_wi_put_log_data(batch, "blob", 4);
  CHECK(rocksdb_writebatch_wi_count(batch) == 8);
  check_in_batch(&of, batch, "abc", "y");
  check_in_batch(&of, batch, "none", NULL);
  check_in_family(&of, batch, first, "p", "1,x");
  check_in_family(&of, batch, family, "p", "2,xx");
  check_in_family(&of, batch, family, "y", "abc");
  check_in_family(&of, batch, family, "none", NULL);
  // A merge of which the rest is not in the batch.
  size_t size = 99;
  CHECK(rocksdb_writebatch_wi_get_from_batch_cf(batch, of.options, family, "abc", 3, &size,
                                                &error) == NULL);
  CHECK(size == 0);
  CHECK_FAILED(error, "Merge in progress: ");
  rocksdb_write_writebatch_wi(of.db, of.write, batch, &error);
  CHECK_OK(error);
  check_get(&of, "p", "1,x");
  check_get(&of, "abc", "y");
  check_get(&of, "y", "abc");
  char* const value = rocksdb_get_cf(of.db, of.read, family, "abc", 3, &size, &error);
  check_taken(value, size, "y");

  rocksdb_writebatch_wi_clear(batch);
  CHECK(rocksdb_writebatch_wi_count(batch) == 0);
  check_in_batch(&of, batch, "abc", NULL);
  rocksdb_writebatch_wi_put(batch, "q", 1, "1", 1);
  rocksdb_writebatch_wi_delete(batch, "p", 1);
  rocksdb_writebatch_wi_deletev(batch, 2, parts, sizes);
  check_shown(batch, "q=1;-p;-abc;");
  rocksdb_writebatch_wi_delete_cf(batch, family, "p", 1);
  rocksdb_writebatch_wi_deletev_cf(batch, family, 1, ends, end_sizes);
  rocksdb_writebatch_wi_singledelete(batch, "y", 1);
  rocksdb_writebatch_wi_singledelete_cf(batch, family, "abc", 3);
  CHECK(rocksdb_writebatch_wi_count(batch) == 7);
  // Which it has not, in RocksDB neither.
  rocksdb_writebatch_wi_delete_range(batch, "a", 1, "z", 1);
  rocksdb_writebatch_wi_delete_range_cf(batch, family, "a", 1, "z", 1);
  rocksdb_writebatch_wi_delete_rangev(batch, 1, parts, sizes, ends, end_sizes);
  rocksdb_writebatch_wi_delete_rangev_cf(batch, family, 1, parts, sizes, ends, end_sizes);
  rocksdb_writebatch_wi_update_timestamps(batch, "ts", 2, NULL, NULL, &error);
  CHECK_REFUSED(error);
  CHECK(rocksdb_writebatch_wi_count(batch) == 7);
  rocksdb_write_writebatch_wi(of.db, of.write, batch, &error);
  CHECK_OK(error);
  check_walk(rocksdb_create_iterator(of.db, of.read), "q=1 ");
  check_walk(rocksdb_create_iterator_cf(of.db, of.read, family), "");
  rocksdb_writebatch_wi_destroy(batch);
  rocksdb_writebatch_wi_destroy(NULL);
  rocksdb_column_family_handle_destroy(first);
  rocksdb_column_family_handle_destroy(family);
  end_database(&of);
}

static void check_pinned(rocksdb_pinnableslice_t* pinned, const char* expected) {
  size_t size = 0;
  check_bytes(rocksdb_pinnableslice_value(pinned, &size), size, expected);
  rocksdb_pinnableslice_destroy(pinned);
}

static void test_over_a_database(void) {
  Database of = new_database();
  rocksdb_options_set_merge_operator(of.options, new_join());
  open_database(&of);
  put(&of, "a", "1");
  put(&of, "b", "1");
  put(&of, "c", "1");
  char* error = NULL;
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(of.db);
  rocksdb_writebatch_wi_t* const batch = rocksdb_writebatch_wi_create(0, 1);
  rocksdb_writebatch_wi_put(batch, "a", 1, "2", 1);
  rocksdb_writebatch_wi_delete(batch, "b", 1);
  rocksdb_writebatch_wi_put(batch, "d", 1, "", 0);
  const char* const keys[] = {"a", "b", "c", "d", "e"};
  const char* const expected[] = {"2", NULL, "1", "", NULL};
  for (int i = 0; i < 5; ++i) {
    size_t size = 99;
    char* value = rocksdb_writebatch_wi_get_from_batch_and_db(batch, of.db, of.read, keys[i], 1,
                                                              &size, &error);
    check_taken(value, size, expected[i]);
    value = rocksdb_writebatch_wi_get_from_batch_and_db_cf(batch, of.db, of.read, family, keys[i],
                                                           1, &size, &error);
    check_taken(value, size, expected[i]);
    rocksdb_pinnableslice_t* const pinned = rocksdb_writebatch_wi_get_pinned_from_batch_and_db(
        batch, of.db, of.read, keys[i], 1, &error);
    rocksdb_pinnableslice_t* const also = rocksdb_writebatch_wi_get_pinned_from_batch_and_db_cf(
        batch, of.db, of.read, family, keys[i], 1, &error);
    CHECK_OK(error);
    if (expected[i] == NULL) {
      CHECK(pinned == NULL && also == NULL);
    } else {
      check_pinned(pinned, expected[i]);
      check_pinned(also, expected[i]);
    }
  }
  rocksdb_readoptions_t* const bounded = rocksdb_readoptions_create();
  rocksdb_readoptions_set_iterate_upper_bound(bounded, "d", 1);
  check_walk(rocksdb_writebatch_wi_create_iterator_with_base(
                 batch, rocksdb_create_iterator(of.db, of.read)),
             "a=2 c=1 d= ");
  check_walk(rocksdb_writebatch_wi_create_iterator_with_base_readopts(
                 batch, rocksdb_create_iterator(of.db, bounded), bounded),
             "a=2 c=1 ");
  rocksdb_writebatch_wi_merge_cf(batch, family, "c", 1, "2", 1);
  check_walk(rocksdb_writebatch_wi_create_iterator_with_base_cf(
                 batch, rocksdb_create_iterator(of.db, of.read), family),
             "a=2 c=1,2 d= ");
  check_walk(rocksdb_writebatch_wi_create_iterator_with_base_cf_readopts(
                 batch, rocksdb_create_iterator(of.db, bounded), family, bounded),
             "a=2 c=1,2 ");
  rocksdb_readoptions_destroy(bounded);
  rocksdb_writebatch_wi_destroy(batch);
  rocksdb_column_family_handle_destroy(family);
  end_database(&of);
}

static void test_bytes_and_save_points(void) {
  Database of = new_database();
  open_database(&of);
  char* error = NULL;
  rocksdb_comparator_t* const order =
      rocksdb_comparator_create(NULL, nothing, backwards, backwards_name);
  rocksdb_writebatch_wi_t* const batch =
      rocksdb_writebatch_wi_create_with_params(order, 100, 1, 60, 0);
  rocksdb_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_FAILED(error, "NotFound: ");
  rocksdb_writebatch_wi_put(batch, "a", 1, "1", 1);
  rocksdb_writebatch_wi_put(batch, "b", 1, "1", 1);
  rocksdb_writebatch_wi_set_save_point(batch);
  rocksdb_writebatch_wi_put(batch, "a", 1, "2", 1);
  rocksdb_writebatch_wi_put(batch, "c", 1, "2", 1);
  // What has a limit leaves out what is beyond it.
  rocksdb_writebatch_wi_put(batch, "d", 1, "a long value that is too much for what is left", 46);
  check_walk(rocksdb_writebatch_wi_create_iterator_with_base(
                 batch, rocksdb_create_iterator(of.db, of.read)),
             "c=2 b=1 a=2 ");
  rocksdb_writebatch_wi_rollback_to_save_point(batch, &error);
  CHECK_OK(error);
  check_shown(batch, "a=1;b=1;");
  check_in_batch(&of, batch, "a", "1");
  check_in_batch(&of, batch, "c", NULL);

  size_t size = 0;
  const char* const bytes = rocksdb_writebatch_wi_data(batch, &size);
  rocksdb_writebatch_wi_t* const same = rocksdb_writebatch_wi_create_from(bytes, size);
  CHECK(rocksdb_writebatch_wi_count(same) == 2);
  check_in_batch(&of, same, "a", "1");
  rocksdb_writebatch_wi_put(same, "b", 1, "3", 1);
  check_in_batch(&of, same, "b", "3");
  rocksdb_write_writebatch_wi(of.db, of.write, same, &error);
  CHECK_OK(error);
  check_walk(rocksdb_create_iterator(of.db, of.read), "a=1 b=3 ");
  CHECK(rocksdb_writebatch_wi_create_from(bytes, size - 1) == NULL);
  CHECK(rocksdb_writebatch_wi_create_from(bytes, 11) == NULL);
  rocksdb_writebatch_wi_destroy(same);
  rocksdb_writebatch_wi_destroy(batch);
  rocksdb_comparator_destroy(order);
  end_database(&of);
}

void test_indexed_batches(void) {
  test_all_kinds();
  test_over_a_database();
  test_bytes_and_save_points();
}
