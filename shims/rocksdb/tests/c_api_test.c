// The C API as a C program calls it: databases, families, reads, iterators, snapshots, care.

#include "shims/rocksdb/tests/c_api_test.h"

static char directory[4096];

int line_of_check = 0;
const char* file_of_check = "";

static void check_at(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "%s:%d: %s\n", file_of_check, line_of_check, what);
  exit(1);
}

void check_bytes_at(const char* bytes, size_t size, const char* expected) {
  check_at(bytes != NULL, "is null");
  check_at(size == strlen(expected) && memcmp(bytes, expected, size) == 0, expected);
}

void check_taken_at(char* value, size_t size, const char* expected) {
  if (expected == NULL) {
    check_at(value == NULL && size == 0, "is not null");
    return;
  }
  check_bytes_at(value, size, expected);
  rocksdb_free(value);
}

void check_text_at(char* text, const char* expected) {
  check_at(text != NULL && strcmp(text, expected) == 0, expected);
  rocksdb_free(text);
}

const char* new_path(void) {
  static char paths[64][4224];
  static int count = 0;
  CHECK(count < 64);
  snprintf(paths[count], sizeof(paths[count]), "%s/%d", directory, count);
  return paths[count++];
}

Database new_database(void) {
  Database made = {new_path(), rocksdb_options_create(), rocksdb_readoptions_create(),
                   rocksdb_writeoptions_create(), NULL};
  rocksdb_options_set_create_if_missing(made.options, 1);
  rocksdb_options_set_write_buffer_size(made.options, (size_t)4 << 20);
  return made;
}

void open_database(Database* of) {
  char* error = NULL;
  of->db = rocksdb_open(of->options, of->path, &error);
  CHECK_OK(error);
  CHECK(of->db != NULL);
}

void close_database(Database* of) {
  rocksdb_close(of->db);
  of->db = NULL;
}

void end_database(Database* of) {
  char* error = NULL;
  if (of->db != NULL) close_database(of);
  rocksdb_destroy_db(of->options, of->path, &error);
  CHECK_OK(error);
  rocksdb_options_destroy(of->options);
  rocksdb_readoptions_destroy(of->read);
  rocksdb_writeoptions_destroy(of->write);
}

void put(Database* in, const char* key, const char* value) {
  char* error = NULL;
  rocksdb_put(in->db, in->write, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}

void check_get_at(Database* in, const char* key, const char* expected) {
  char* error = NULL;
  size_t size = 99;
  char* const value = rocksdb_get(in->db, in->read, key, strlen(key), &size, &error);
  check_at(error == NULL, "fails");
  check_taken_at(value, size, expected);
}

static void check_get_cf(Database* in, rocksdb_column_family_handle_t* family, const char* key,
                         const char* expected) {
  char* error = NULL;
  size_t size = 99;
  char* const value = rocksdb_get_cf(in->db, in->read, family, key, strlen(key), &size, &error);
  CHECK_OK(error);
  check_taken(value, size, expected);
}

// Errors replace those before, and a success leaves them.
static void test_errors(void) {
  Database of = new_database();
  rocksdb_options_set_create_if_missing(of.options, 0);
  char* error = NULL;
  CHECK(rocksdb_open(of.options, of.path, &error) == NULL);
  CHECK(strncmp(error, "Invalid argument: ", 18) == 0);
  CHECK(rocksdb_open_for_read_only(of.options, of.path, 0, &error) == NULL);
  CHECK(error != NULL);
  rocksdb_options_set_create_if_missing(of.options, 1);
  open_database(&of);
  rocksdb_put(of.db, of.write, "a", 1, "1", 1, &error);
  CHECK(error != NULL);
  rocksdb_free(error);
  rocksdb_free(NULL);
  end_database(&of);
}

static void test_single_keys(void) {
  Database of = new_database();
  open_database(&of);
  char* error = NULL;
  put(&of, "a", "1");
  put(&of, "empty", "");
  check_get(&of, "a", "1");
  check_get(&of, "empty", "");
  check_get(&of, "b", NULL);
  rocksdb_delete(of.db, of.write, "a", 1, &error);
  CHECK_OK(error);
  check_get(&of, "a", NULL);
  put(&of, "a", "2");
  rocksdb_singledelete(of.db, of.write, "a", 1, &error);
  CHECK_OK(error);
  check_get(&of, "a", NULL);

  put(&of, "k", "value");
  size_t size = 0;
  rocksdb_pinnableslice_t* const pinned = rocksdb_get_pinned(of.db, of.read, "k", 1, &error);
  check_bytes(rocksdb_pinnableslice_value(pinned, &size), size, "value");
  rocksdb_pinnableslice_destroy(pinned);
  CHECK(rocksdb_get_pinned(of.db, of.read, "no", 2, &error) == NULL);
  CHECK(rocksdb_pinnableslice_value(NULL, &size) == NULL && size == 0);
  rocksdb_pinnable_handle_t* const handle = rocksdb_get_pinned_v2(of.db, of.read, "k", 1, &error);
  check_bytes(rocksdb_pinnable_handle_get_value(handle, &size), size, "value");
  rocksdb_pinnable_handle_destroy(handle);
  CHECK(rocksdb_get_pinned_v2(of.db, of.read, "no", 2, &error) == NULL);
  CHECK_OK(error);

  char buffer[5];
  unsigned char found = 9;
  CHECK(rocksdb_get_into_buffer(of.db, of.read, "k", 1, buffer, 5, &size, &found, &error) == 1);
  CHECK(found == 1);
  check_bytes(buffer, size, "value");
  CHECK(rocksdb_get_into_buffer(of.db, of.read, "k", 1, buffer, 4, &size, &found, &error) == 0);
  CHECK(found == 1 && size == 5);
  CHECK(rocksdb_get_into_buffer(of.db, of.read, "no", 2, buffer, 5, &size, &found, &error) == 0);
  CHECK(found == 0 && size == 0);

  char* value = NULL;
  CHECK(rocksdb_key_may_exist(of.db, of.read, "k", 1, &value, &size, NULL, 0, &found) == 1);
  CHECK(found == 1);
  check_taken(value, size, "value");
  CHECK(rocksdb_key_may_exist(of.db, of.read, "k", 1, NULL, NULL, NULL, 0, NULL) == 1);
  CHECK(rocksdb_key_may_exist(of.db, of.read, "no", 2, &value, &size, NULL, 0, &found) == 0);
  CHECK(found == 1);
  check_taken(value, size, "");
  CHECK(rocksdb_key_may_exist(of.db, of.read, "no", 2, &value, &size, "ts", 2, &found) == 1);
  CHECK(found == 0);
  end_database(&of);
}

static void test_several_keys(void) {
  Database of = new_database();
  open_database(&of);
  put(&of, "a", "1");
  put(&of, "c", "");
  const char* const keys[] = {"a", "b", "c"};
  const size_t sizes[] = {1, 1, 1};
  char* values[3];
  size_t value_sizes[3];
  char* errors[3];
  rocksdb_multi_get(of.db, of.read, 3, keys, sizes, values, value_sizes, errors);
  for (int i = 0; i < 3; ++i) CHECK_OK(errors[i]);
  check_taken(values[0], value_sizes[0], "1");
  check_taken(values[1], value_sizes[1], NULL);
  check_taken(values[2], value_sizes[2], "");

  rocksdb_column_family_handle_t* const family = rocksdb_get_default_column_family_handle(of.db);
  const rocksdb_column_family_handle_t* const families[] = {family, family, family};
  rocksdb_multi_get_cf(of.db, of.read, families, 3, keys, sizes, values, value_sizes, errors);
  check_taken(values[0], value_sizes[0], "1");
  check_taken(values[1], value_sizes[1], NULL);
  check_taken(values[2], value_sizes[2], "");
  CHECK(errors[0] == NULL && errors[1] == NULL && errors[2] == NULL);

  rocksdb_pinnableslice_t* pinned[3];
  size_t size = 0;
  rocksdb_batched_multi_get_cf(of.db, of.read, family, 3, keys, sizes, pinned, errors, true);
  check_bytes(rocksdb_pinnableslice_value(pinned[0], &size), size, "1");
  CHECK(pinned[1] == NULL && errors[1] == NULL);
  rocksdb_pinnableslice_destroy(pinned[0]);
  rocksdb_pinnableslice_destroy(pinned[2]);
  const rocksdb_slice_t slices[] = {{"c", 1}, {"a", 1}};
  rocksdb_batched_multi_get_cf_slice(of.db, of.read, family, 2, slices, pinned, errors, false);
  check_bytes(rocksdb_pinnableslice_value(pinned[1], &size), size, "1");
  rocksdb_pinnableslice_destroy(pinned[0]);
  rocksdb_pinnableslice_destroy(pinned[1]);

  // A read that is refused says so for each key.
  rocksdb_readoptions_set_managed(of.read, 1);
  rocksdb_multi_get(of.db, of.read, 2, keys, sizes, values, value_sizes, errors);
  for (int i = 0; i < 2; ++i) {
    CHECK(values[i] == NULL && value_sizes[i] == 0);
    CHECK_REFUSED(errors[i]);
  }
  rocksdb_column_family_handle_destroy(family);
  end_database(&of);
}

static void test_families(void) {
  Database of = new_database();
  open_database(&of);
  char* error = NULL;
  rocksdb_column_family_handle_t* const one =
      rocksdb_create_column_family(of.db, of.options, "one", &error);
  CHECK_OK(error);
  CHECK(rocksdb_create_column_family(of.db, of.options, "one", &error) == NULL);
  CHECK_FAILED(error, "Invalid argument: ");
  const char* const more[] = {"two", "three"};
  size_t count = 0;
  rocksdb_column_family_handle_t** const made =
      rocksdb_create_column_families(of.db, of.options, 2, more, &count, &error);
  CHECK_OK(error);
  CHECK(count == 2);
  CHECK(rocksdb_column_family_handle_get_id(one) == 1);
  size_t size = 0;
  char* const name = rocksdb_column_family_handle_get_name(made[1], &size);
  check_taken(name, size, "three");

  rocksdb_put_cf(of.db, of.write, one, "a", 1, "in one", 6, &error);
  rocksdb_put_cf(of.db, of.write, one, "b", 1, "2", 1, &error);
  rocksdb_put_cf(of.db, of.write, one, "c", 1, "3", 1, &error);
  rocksdb_put_cf(of.db, of.write, one, "d", 1, "4", 1, &error);
  rocksdb_delete_cf(of.db, of.write, one, "b", 1, &error);
  rocksdb_singledelete_cf(of.db, of.write, one, "c", 1, &error);
  CHECK_OK(error);
  check_get_cf(&of, one, "a", "in one");
  check_get_cf(&of, one, "b", NULL);
  check_get_cf(&of, one, "c", NULL);
  check_get(&of, "a", NULL);
  rocksdb_delete_range_cf(of.db, of.write, one, "b", 1, "z", 1, &error);
  CHECK_OK(error);
  check_get_cf(&of, one, "d", NULL);
  rocksdb_delete_range_cf(of.db, of.write, one, "z", 1, "a", 1, &error);
  CHECK_FAILED(error, "Invalid argument: ");

  rocksdb_pinnableslice_t* const pinned =
      rocksdb_get_pinned_cf(of.db, of.read, one, "a", 1, &error);
  check_bytes(rocksdb_pinnableslice_value(pinned, &size), size, "in one");
  rocksdb_pinnableslice_destroy(pinned);
  rocksdb_pinnable_handle_t* const handle =
      rocksdb_get_pinned_cf_v2(of.db, of.read, one, "a", 1, &error);
  check_bytes(rocksdb_pinnable_handle_get_value(handle, &size), size, "in one");
  rocksdb_pinnable_handle_destroy(handle);
  CHECK(rocksdb_pinnable_handle_get_value(NULL, &size) == NULL && size == 0);
  char buffer[8];
  unsigned char found = 0;
  CHECK(rocksdb_get_into_buffer_cf(of.db, of.read, one, "a", 1, buffer, sizeof(buffer), &size,
                                   &found, &error) == 1);
  check_bytes(buffer, size, "in one");
  CHECK(rocksdb_key_may_exist_cf(of.db, of.read, one, "a", 1, NULL, NULL, NULL, 0, NULL) == 1);

  rocksdb_column_family_handle_t* families[] = {one, made[0]};
  rocksdb_iterator_t* iterators[2];
  rocksdb_create_iterators(of.db, of.read, families, iterators, 2, &error);
  CHECK_OK(error);
  rocksdb_iter_seek_to_first(iterators[0]);
  CHECK(rocksdb_iter_valid(iterators[0]) == 1);
  rocksdb_iter_seek_to_first(iterators[1]);
  CHECK(rocksdb_iter_valid(iterators[1]) == 0);
  rocksdb_iter_destroy(iterators[0]);
  rocksdb_iter_destroy(iterators[1]);
  rocksdb_iterator_t* const iterator = rocksdb_create_iterator_cf(of.db, of.read, one);
  rocksdb_iter_seek_to_last(iterator);
  check_bytes(rocksdb_iter_value(iterator, &size), size, "in one");
  rocksdb_iter_destroy(iterator);

  rocksdb_drop_column_family(of.db, made[0], &error);
  CHECK_OK(error);
  rocksdb_drop_column_family(of.db, made[0], &error);
  CHECK_FAILED(error, "Invalid argument: ");
  rocksdb_column_family_handle_destroy(one);
  rocksdb_column_family_handle_destroy(made[0]);
  rocksdb_column_family_handle_destroy(made[1]);
  rocksdb_create_column_families_destroy(made);
  close_database(&of);

  char** const names = rocksdb_list_column_families(of.options, of.path, &count, &error);
  CHECK_OK(error);
  CHECK(count == 3);
  CHECK(strcmp(names[0], "default") == 0 && strcmp(names[2], "three") == 0);
  rocksdb_list_column_families_destroy(names, count);
  CHECK(rocksdb_list_column_families(of.options, new_path(), &count, &error) == NULL);
  CHECK(count == 0 && error != NULL);
  rocksdb_free(error);
  error = NULL;

  const char* const all[] = {"default", "one", "three"};
  const rocksdb_options_t* const options[] = {of.options, of.options, of.options};
  rocksdb_column_family_handle_t* handles[3];
  of.db = rocksdb_open_column_families(of.options, of.path, 3, all, options, handles, &error);
  CHECK_OK(error);
  check_get_cf(&of, handles[1], "a", "in one");
  for (int i = 0; i < 3; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  close_database(&of);
  CHECK(rocksdb_open_column_families(of.options, of.path, 1, all, options, handles, &error) ==
        NULL);
  CHECK_FAILED(error, "Invalid argument: ");

  of.db = rocksdb_open_for_read_only_column_families(of.options, of.path, 2, all, options, handles,
                                                     0, &error);
  CHECK_OK(error);
  check_get_cf(&of, handles[1], "a", "in one");
  rocksdb_put_cf(of.db, of.write, handles[1], "a", 1, "2", 1, &error);
  CHECK_REFUSED(error);
  for (int i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  close_database(&of);
  of.db = rocksdb_open_for_read_only(of.options, of.path, 0, &error);
  CHECK_OK(error);
  end_database(&of);
}

static void test_iterators(void) {
  Database of = new_database();
  open_database(&of);
  char* error = NULL;
  put(&of, "a", "1");
  put(&of, "b", "2");
  put(&of, "c", "3");
  rocksdb_readoptions_set_iterate_lower_bound(of.read, "b", 1);
  rocksdb_iterator_t* const bounded = rocksdb_create_iterator(of.db, of.read);
  rocksdb_iter_seek_to_first(bounded);
  size_t size = 0;
  check_bytes(rocksdb_iter_key(bounded, &size), size, "b");
  rocksdb_iter_destroy(bounded);
  rocksdb_readoptions_set_iterate_lower_bound(of.read, NULL, 0);
  rocksdb_readoptions_set_iterate_upper_bound(of.read, "c", 1);

  rocksdb_iterator_t* const iterator = rocksdb_create_iterator(of.db, of.read);
  CHECK(rocksdb_iter_valid(iterator) == 0);
  rocksdb_iter_seek(iterator, "aa", 2);
  check_bytes(rocksdb_iter_key(iterator, &size), size, "b");
  check_bytes(rocksdb_iter_value(iterator, &size), size, "2");
  CHECK(rocksdb_iter_key_slice(iterator).size == 1);
  CHECK(rocksdb_iter_key_slice(iterator).data[0] == 'b');
  CHECK(rocksdb_iter_value_slice(iterator).data[0] == '2');
  CHECK(rocksdb_iter_timestamp_slice(iterator).size == 0);
  check_bytes(rocksdb_iter_timestamp(iterator, &size), size, "");
  rocksdb_iter_next(iterator);
  CHECK(rocksdb_iter_valid(iterator) == 0);
  rocksdb_iter_seek_for_prev(iterator, "aa", 2);
  check_bytes(rocksdb_iter_key(iterator, &size), size, "a");
  rocksdb_iter_seek_to_last(iterator);
  check_bytes(rocksdb_iter_key(iterator, &size), size, "b");
  rocksdb_iter_prev(iterator);
  check_bytes(rocksdb_iter_key(iterator, &size), size, "a");
  put(&of, "ab", "new");
  rocksdb_iter_refresh(iterator, &error);
  CHECK_OK(error);
  rocksdb_iter_seek(iterator, "ab", 2);
  check_bytes(rocksdb_iter_value(iterator, &size), size, "new");
  rocksdb_iter_get_error(iterator, &error);
  CHECK_OK(error);
  rocksdb_iter_destroy(iterator);
  rocksdb_readoptions_set_iterate_upper_bound(of.read, NULL, 0);

  const uint64_t before = rocksdb_get_latest_sequence_number(of.db);
  const rocksdb_snapshot_t* const snapshot = rocksdb_create_snapshot(of.db);
  CHECK(rocksdb_snapshot_get_sequence_number(snapshot) >= before);
  put(&of, "a", "later");
  rocksdb_readoptions_set_snapshot(of.read, snapshot);
  check_get(&of, "a", "1");
  rocksdb_readoptions_set_snapshot(of.read, NULL);
  check_get(&of, "a", "later");
  rocksdb_release_snapshot(of.db, snapshot);
  CHECK(rocksdb_get_latest_sequence_number(of.db) > before);
  end_database(&of);
}

static void test_care(void) {
  Database of = new_database();
  open_database(&of);
  char* error = NULL;
  rocksdb_column_family_handle_t* family = rocksdb_get_default_column_family_handle(of.db);
  CHECK(rocksdb_column_family_handle_get_id(family) == 0);
  for (int i = 0; i < 100; ++i) {
    char key[16];
    snprintf(key, sizeof(key), "%04d", i);
    put(&of, key, "value");
  }
  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_flush(of.db, flush, &error);
  rocksdb_flush_cf(of.db, flush, family, &error);
  rocksdb_flush_cfs(of.db, flush, &family, 1, &error);
  rocksdb_flush_wal(of.db, 1, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);

  uint64_t number = 0;
  CHECK(rocksdb_property_int(of.db, "rocksdb.estimate-num-keys", &number) == 0);
  CHECK(number == 100);
  CHECK(rocksdb_property_int(of.db, "rocksdb.no-such", &number) == -1);
  CHECK(rocksdb_property_int_cf(of.db, family, "rocksdb.estimate-num-keys", &number) == 0);
  check_text(rocksdb_property_value(of.db, "rocksdb.estimate-num-keys"), "100");
  check_text(rocksdb_property_value_cf(of.db, family, "rocksdb.num-live-versions"), "1");
  CHECK(rocksdb_property_value(of.db, "rocksdb.no-such") == NULL);
  size_t size = 0;
  char* const identity = rocksdb_get_db_identity(of.db, &size);
  CHECK(size > 0);
  rocksdb_free(identity);

  const char* const begins[] = {"", "zz"};
  const char* const ends[] = {"z", "zzz"};
  const size_t begin_sizes[] = {0, 2};
  const size_t end_sizes[] = {1, 3};
  uint64_t sizes[2] = {0, 9};
  rocksdb_approximate_sizes(of.db, 2, begins, begin_sizes, ends, end_sizes, sizes, &error);
  CHECK_OK(error);
  CHECK(sizes[0] > 0 && sizes[1] == 0);
  uint64_t again[2] = {0, 9};
  rocksdb_approximate_sizes_cf(of.db, family, 2, begins, begin_sizes, ends, end_sizes, again,
                               &error);
  CHECK(again[0] == sizes[0] && again[1] == 0);
  rocksdb_approximate_sizes_cf_with_flags(of.db, family, 2, begins, begin_sizes, ends, end_sizes,
                                          rocksdb_size_approximation_flags_include_files, again,
                                          &error);
  CHECK_OK(error);
  CHECK(again[0] == sizes[0]);
  rocksdb_approximate_sizes_cf_with_flags(of.db, family, 2, begins, begin_sizes, ends, end_sizes,
                                          rocksdb_size_approximation_flags_none, again, &error);
  CHECK_FAILED(error, "Invalid argument: ");

  rocksdb_compactoptions_t* const compact = rocksdb_compactoptions_create();
  rocksdb_compact_range(of.db, NULL, 0, NULL, 0);
  rocksdb_compact_range_cf(of.db, family, "a", 1, "z", 1);
  rocksdb_compact_range_opt(of.db, compact, NULL, 0, "z", 1);
  rocksdb_compact_range_cf_opt(of.db, family, compact, "a", 1, NULL, 0);
  rocksdb_compactoptions_destroy(compact);
  rocksdb_suggest_compact_range(of.db, NULL, 0, "z", 1, &error);
  rocksdb_suggest_compact_range_cf(of.db, family, "a", 1, NULL, 0, &error);
  CHECK_OK(error);
  rocksdb_disable_manual_compaction(of.db);
  rocksdb_enable_manual_compaction(of.db);
  rocksdb_wait_for_compact_options_t* const wait = rocksdb_wait_for_compact_options_create();
  rocksdb_wait_for_compact(of.db, wait, &error);
  CHECK_OK(error);
  rocksdb_wait_for_compact_options_destroy(wait);
  rocksdb_cancel_all_background_work(of.db, 1);

  rocksdb_column_family_metadata_t* metadata = rocksdb_get_column_family_metadata(of.db);
  check_text(rocksdb_column_family_metadata_get_name(metadata), "default");
  CHECK(rocksdb_column_family_metadata_get_size(metadata) > 0);
  CHECK(rocksdb_column_family_metadata_get_file_count(metadata) == 1);
  CHECK(rocksdb_column_family_metadata_get_level_count(metadata) == 0);
  CHECK(rocksdb_column_family_metadata_get_level_metadata(metadata, 0) == NULL);
  rocksdb_column_family_metadata_destroy(metadata);
  metadata = rocksdb_get_column_family_metadata_cf(of.db, family);
  check_text(rocksdb_column_family_metadata_get_name(metadata), "default");
  rocksdb_column_family_metadata_destroy(metadata);
  rocksdb_delete_file_in_range(of.db, "a", 1, "z", 1, &error);
  rocksdb_delete_file_in_range_cf(of.db, family, "a", 1, "z", 1, &error);
  CHECK_OK(error);

  rocksdb_memory_consumers_t* const consumers = rocksdb_memory_consumers_create();
  rocksdb_cache_t* const cache = rocksdb_cache_create_lru(1 << 20);
  rocksdb_memory_consumers_add_db(consumers, of.db);
  rocksdb_memory_consumers_add_cache(consumers, cache);
  put(&of, "in memory", "1");
  rocksdb_memory_usage_t* const usage = rocksdb_approximate_memory_usage_create(consumers, &error);
  CHECK_OK(error);
  CHECK(rocksdb_approximate_memory_usage_get_mem_table_total(usage) > 0);
  CHECK(rocksdb_approximate_memory_usage_get_mem_table_unflushed(usage) > 0);
  CHECK(rocksdb_approximate_memory_usage_get_mem_table_readers_total(usage) == 0);
  CHECK(rocksdb_approximate_memory_usage_get_cache_total(usage) == 0);
  rocksdb_approximate_memory_usage_destroy(usage);
  rocksdb_memory_consumers_destroy(consumers);
  rocksdb_cache_destroy(cache);
  rocksdb_column_family_handle_destroy(family);
  end_database(&of);
}

static void test_checkpoints(void) {
  Database of = new_database();
  open_database(&of);
  put(&of, "a", "1");
  char* error = NULL;
  rocksdb_checkpoint_t* const checkpoint = rocksdb_checkpoint_object_create(of.db, &error);
  CHECK_OK(error);
  Database copy = new_database();
  rocksdb_checkpoint_create(checkpoint, copy.path, 0, &error);
  CHECK_OK(error);
  rocksdb_checkpoint_create(checkpoint, copy.path, 0, &error);
  CHECK_FAILED(error, "Invalid argument: ");
  rocksdb_checkpoint_object_destroy(checkpoint);
  put(&of, "a", "2");
  open_database(&copy);
  check_get(&copy, "a", "1");
  end_database(&copy);
  end_database(&of);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  snprintf(directory, sizeof(directory), "%s", argv[1]);
  test_errors();
  test_single_keys();
  test_several_keys();
  test_families();
  test_iterators();
  test_care();
  test_checkpoints();
  test_options();
  test_resources();
  test_callbacks();
  test_batches();
  test_indexed_batches();
  test_transactions();
  test_files();
  test_listeners();
  test_openings();
  test_refusals();
  puts("ok");
  return 0;
}
