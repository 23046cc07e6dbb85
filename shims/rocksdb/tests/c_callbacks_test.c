// What a C program plugs in: comparators, merge operators, filters, transforms, loggers. Each
// destructor is called once.

#include "shims/rocksdb/tests/c_api_test.h"

static int destroyed[8];
static void destroy(void* state) { ++*(int*)state; }

static const char* name(void* state) {
  (void)state;
  return "test.C";
}

// By the last byte, backwards.
static int compare(void* state, const char* a, size_t a_size, const char* b, size_t b_size) {
  (void)state;
  const int left = a_size == 0 ? -1 : (unsigned char)a[a_size - 1];
  const int right = b_size == 0 ? -1 : (unsigned char)b[b_size - 1];
  return right - left;
}

static void test_comparator(void) {
  Database of = new_database();
  rocksdb_comparator_t* const comparator =
      rocksdb_comparator_create(&destroyed[0], destroy, compare, name);
  rocksdb_options_set_comparator(of.options, comparator);
  open_database(&of);
  put(&of, "1a", "a");
  put(&of, "0b", "b");
  rocksdb_iterator_t* const iterator = rocksdb_create_iterator(of.db, of.read);
  size_t size = 0;
  rocksdb_iter_seek_to_first(iterator);
  check_bytes(rocksdb_iter_key(iterator, &size), size, "0b");
  rocksdb_iter_destroy(iterator);
  check_get(&of, "a", "a");
  end_database(&of);
  CHECK(destroyed[0] == 0);
  rocksdb_comparator_destroy(comparator);
  CHECK(destroyed[0] == 1);
}

static int full_merges, partial_merges, values_deleted;

static char* joined(const char* first, size_t first_size, const char* const* operands,
                    const size_t* operand_sizes, int count, size_t* size) {
  size_t total = first_size;
  for (int i = 0; i < count; ++i) total += operand_sizes[i] + 1;
  char* const value = malloc(total + 1);
  memcpy(value, first, first_size);
  *size = first_size;
  for (int i = 0; i < count; ++i) {
    if (*size > 0) value[(*size)++] = ',';
    memcpy(value + *size, operands[i], operand_sizes[i]);
    *size += operand_sizes[i];
  }
  return value;
}

static char* full_merge(void* state, const char* key, size_t key_size, const char* existing,
                        size_t existing_size, const char* const* operands,
                        const size_t* operand_sizes, int count, unsigned char* success,
                        size_t* size) {
  (void)state;
  ++full_merges;
  *success = !(key_size == 3 && memcmp(key, "bad", 3) == 0);
  if (!*success) {
    *size = 0;
    return NULL;
  }
  return joined(existing == NULL ? "" : existing, existing == NULL ? 0 : existing_size, operands,
                operand_sizes, count, size);
}

static char* partial_merge(void* state, const char* key, size_t key_size,
                           const char* const* operands, const size_t* operand_sizes, int count,
                           unsigned char* success, size_t* size) {
  (void)state;
  (void)key;
  (void)key_size;
  ++partial_merges;
  *success = 1;
  return joined("", 0, operands, operand_sizes, count, size);
}

static void delete_value(void* state, const char* value, size_t size) {
  (void)state;
  (void)size;
  ++values_deleted;
  free((void*)value);
}

static void merge(Database* in, const char* key, const char* operand) {
  char* error = NULL;
  rocksdb_merge(in->db, in->write, key, strlen(key), operand, strlen(operand), &error);
  CHECK_OK(error);
}

static void test_merge_operators(void) {
  Database of = new_database();
  char* error = NULL;
  rocksdb_options_set_merge_operator(
      of.options, rocksdb_mergeoperator_create(&destroyed[1], destroy, full_merge, partial_merge,
                                               delete_value, name));
  open_database(&of);
  put(&of, "k", "1");
  merge(&of, "k", "2");
  merge(&of, "k", "3");
  check_get(&of, "k", "1,2,3");
  merge(&of, "new", "x");
  check_get(&of, "new", "x");
  merge(&of, "bad", "x");
  size_t size = 0;
  CHECK(rocksdb_get(of.db, of.read, "bad", 3, &size, &error) == NULL);
  CHECK_FAILED(error, "Corruption: ");
  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(of.db);
  rocksdb_merge_cf(of.db, of.write, family, "k", 1, "4", 1, &error);
  CHECK_OK(error);
  check_get(&of, "k", "1,2,3,4");
  rocksdb_column_family_handle_destroy(family);
  CHECK(full_merges > 0 && values_deleted > 0);
  end_database(&of);
  CHECK(destroyed[1] == 1);
  CHECK(values_deleted == full_merges + partial_merges);

  of = new_database();
  // Without a function that deletes values they are freed.
  rocksdb_options_set_merge_operator(
      of.options,
      rocksdb_mergeoperator_create(&destroyed[2], destroy, full_merge, NULL, NULL, name));
  open_database(&of);
  merge(&of, "k", "2");
  merge(&of, "k", "3");
  check_get(&of, "k", "2,3");
  end_database(&of);
  CHECK(destroyed[2] == 1);
  rocksdb_mergeoperator_destroy(
      rocksdb_mergeoperator_create(&destroyed[3], destroy, full_merge, NULL, NULL, name));
  CHECK(destroyed[3] == 1);

  of = new_database();
  rocksdb_options_set_uint64add_merge_operator(of.options);
  open_database(&of);
  const char numbers[2][8] = {{5, 1}, {(char)0xff}};
  for (int i = 0; i < 2; ++i) {
    rocksdb_merge(of.db, of.write, "sum", 3, numbers[i], 8, &error);
    CHECK_OK(error);
  }
  char* const sum = rocksdb_get(of.db, of.read, "sum", 3, &size, &error);
  CHECK(size == 8 && sum[0] == 4 && sum[1] == 2 && sum[2] == 0);
  rocksdb_free(sum);
  merge(&of, "sum", "another size");
  char* const same = rocksdb_get(of.db, of.read, "sum", 3, &size, &error);
  CHECK(size == 8 && same[0] == 4 && same[1] == 2);
  rocksdb_free(same);
  end_database(&of);
}

static char* transform(void* state, const char* key, size_t size, size_t* result_size) {
  (void)state;
  *result_size = size < 2 ? size : 2;
  return (char*)key;
}
static unsigned char in_domain(void* state, const char* key, size_t size) {
  (void)state;
  (void)key;
  return size >= 2;
}

static int count_from(Database* in, const char* key) {
  rocksdb_readoptions_set_prefix_same_as_start(in->read, 1);
  rocksdb_iterator_t* const iterator = rocksdb_create_iterator(in->db, in->read);
  int count = 0;
  for (rocksdb_iter_seek(iterator, key, strlen(key)); rocksdb_iter_valid(iterator);
       rocksdb_iter_next(iterator)) {
    ++count;
  }
  rocksdb_iter_destroy(iterator);
  return count;
}

static void test_transforms(void) {
  const int expected[] = {2, 3, 1};
  for (int i = 0; i < 3; ++i) {
    Database of = new_database();
    rocksdb_slicetransform_t* const prefix =
        i == 0   ? rocksdb_slicetransform_create(&destroyed[4], destroy, transform, in_domain, NULL,
                                                 name)
        : i == 1 ? rocksdb_slicetransform_create_fixed_prefix(1)
                 : rocksdb_slicetransform_create_noop();
    rocksdb_options_set_prefix_extractor(of.options, prefix);
    open_database(&of);
    put(&of, "aa1", "");
    put(&of, "aa2", "");
    put(&of, "ab1", "");
    put(&of, "b", "");
    CHECK(count_from(&of, i == 1 ? "a" : "aa1") == expected[i]);
    end_database(&of);
  }
  CHECK(destroyed[4] == 1);
  rocksdb_slicetransform_destroy(rocksdb_slicetransform_create_noop());
}

static unsigned char filter(void* state, int level, const char* key, size_t key_size,
                            const char* existing, size_t existing_size, char** new_value,
                            size_t* new_size, unsigned char* changed) {
  (void)state;
  (void)level;
  (void)existing;
  (void)existing_size;
  static char secret[] = "secret";
  if (key_size > 0 && key[0] == '%') {
    *new_value = secret;
    *new_size = 6;
    *changed = 1;
  }
  return key_size > 0 && key[0] == '_';
}

static int filters_made, filters_gone, full_compactions;
static void gone(void* state) {
  (void)state;
  ++filters_gone;
}
static rocksdb_compactionfilter_t* make_filter(void* state,
                                               rocksdb_compactionfiltercontext_t* context) {
  (void)state;
  ++filters_made;
  full_compactions += rocksdb_compactionfiltercontext_is_full_compaction(context) +
                      rocksdb_compactionfiltercontext_is_manual_compaction(context);
  return rocksdb_compactionfilter_create(NULL, gone, filter, name);
}

static void check_filtered(Database* of) {
  open_database(of);
  put(of, "k", "a");
  put(of, "_k", "b");
  put(of, "%k", "c");
  rocksdb_compact_range(of->db, NULL, 0, NULL, 0);
  check_get(of, "k", "a");
  check_get(of, "_k", NULL);
  check_get(of, "%k", "secret");
  char* error = NULL;
  rocksdb_column_family_handle_t* const late =
      rocksdb_create_column_family(of->db, of->options, "late", &error);
  CHECK_OK(error);
  rocksdb_put_cf(of->db, of->write, late, "_k", 2, "b", 1, &error);
  CHECK_OK(error);
  rocksdb_compact_range(of->db, NULL, 0, NULL, 0);
  check_walk(rocksdb_create_iterator_cf(of->db, of->read, late), "");
  rocksdb_column_family_handle_destroy(late);
  end_database(of);
}

static void test_compaction_filters(void) {
  Database of = new_database();
  rocksdb_compactionfilter_t* const own =
      rocksdb_compactionfilter_create(&destroyed[5], destroy, filter, name);
  rocksdb_compactionfilter_set_ignore_snapshots(own, 1);
  rocksdb_options_set_compaction_filter(of.options, own);
  check_filtered(&of);
  CHECK(destroyed[5] == 0);
  rocksdb_compactionfilter_destroy(own);
  CHECK(destroyed[5] == 1);

  of = new_database();
  rocksdb_options_set_compaction_filter_factory(
      of.options,
      rocksdb_compactionfilterfactory_create(&destroyed[6], destroy, make_filter, name));
  check_filtered(&of);
  CHECK(destroyed[6] == 1);
  CHECK(filters_made > 0 && filters_gone == filters_made && full_compactions == 0);
  rocksdb_compactionfilterfactory_destroy(
      rocksdb_compactionfilterfactory_create(&destroyed[7], destroy, make_filter, name));
  CHECK(destroyed[7] == 1);
}

static int messages;
static void log_message(void* state, unsigned level, char* text, size_t size) {
  CHECK(state == &messages);
  CHECK(level >= 1 && strlen(text) == size);
  ++messages;
}

static void test_loggers(void) {
  Database of = new_database();
  rocksdb_logger_t* const logger = rocksdb_logger_create_callback_logger(1, log_message, &messages);
  rocksdb_options_set_info_log(of.options, logger);
  rocksdb_options_set_info_log(of.options, NULL);
  rocksdb_options_set_info_log_level(of.options, 1);
  CHECK(rocksdb_options_get_info_log_level(of.options) == 1);
  rocksdb_logger_t* const same = rocksdb_options_get_info_log(of.options);
  rocksdb_logger_destroy(same);
  rocksdb_logger_destroy(logger);
  open_database(&of);
  put(&of, "a", "1");
  end_database(&of);
  rocksdb_logger_destroy(rocksdb_logger_create_stderr_logger(4, "test"));
  rocksdb_logger_destroy(rocksdb_logger_create_stderr_logger(4, NULL));
}

void test_callbacks(void) {
  test_comparator();
  test_merge_operators();
  test_transforms();
  test_compaction_filters();
  test_loggers();
}
