// Transactions of the C API: of databases that lock, and of those that look for conflicts.

#include "shims/rocksdb/tests/c_api_test.h"

typedef struct {
  Database plain;  // its `db` is the database below
  rocksdb_transactiondb_t* db;
  rocksdb_transactiondb_options_t* options;
  rocksdb_transaction_options_t* how;
} Locking;

static void open_locking(Locking* of) {
  char* error = NULL;
  of->db = rocksdb_transactiondb_open(of->plain.options, of->options, of->plain.path, &error);
  CHECK_OK(error);
  of->plain.db = rocksdb_transactiondb_get_base_db(of->db);
}

static void close_locking(Locking* of) {
  rocksdb_transactiondb_close_base_db(of->plain.db);
  of->plain.db = NULL;
  rocksdb_transactiondb_close(of->db);
}

// Nobody waits for a lock.
static Locking new_locking(void) {
  Locking made = {new_database(), NULL, rocksdb_transactiondb_options_create(),
                  rocksdb_transaction_options_create()};
  rocksdb_options_set_merge_operator(made.plain.options, new_join());
  rocksdb_transactiondb_options_set_transaction_lock_timeout(made.options, 0);
  rocksdb_transactiondb_options_set_default_lock_timeout(made.options, 0);
  rocksdb_transactiondb_options_set_num_stripes(made.options, 4);
  rocksdb_transaction_options_set_deadlock_detect(made.how, 1);
  rocksdb_transaction_options_set_deadlock_detect_depth(made.how, 10);
  return made;
}

static void end_locking(Locking* of) {
  close_locking(of);
  rocksdb_transactiondb_options_destroy(of->options);
  rocksdb_transaction_options_destroy(of->how);
  end_database(&of->plain);
}

static rocksdb_transaction_t* begin(Locking* in) {
  return rocksdb_transaction_begin(in->db, in->plain.write, in->how, NULL);
}

static void put_in(rocksdb_transaction_t* in, const char* key, const char* value) {
  char* error = NULL;
  rocksdb_transaction_put(in, key, strlen(key), value, strlen(value), &error);
  CHECK_OK(error);
}

static void check_in(Locking* of, rocksdb_transaction_t* in, const char* key,
                     const char* expected) {
  char* error = NULL;
  size_t size = 99;
  char* const value = rocksdb_transaction_get(in, of->plain.read, key, strlen(key), &size, &error);
  CHECK_OK(error);
  check_taken(value, size, expected);
}

static void check_pinned(rocksdb_pinnableslice_t* pinned, const char* error, const char* expected) {
  CHECK_OK(error);
  if (expected == NULL) {
    CHECK(pinned == NULL);
    return;
  }
  size_t size = 0;
  check_bytes(rocksdb_pinnableslice_value(pinned, &size), size, expected);
  rocksdb_pinnableslice_destroy(pinned);
}

static void test_course(void) {
  Locking of = new_locking();
  open_locking(&of);
  char* error = NULL;
  rocksdb_transaction_t* t = begin(&of);
  put_in(t, "a", "1");
  check_in(&of, t, "a", "1");
  check_get(&of.plain, "a", NULL);
  rocksdb_transaction_commit(t, &error);
  CHECK_OK(error);
  check_get(&of.plain, "a", "1");
  rocksdb_transaction_commit(t, &error);
  CHECK_FAILED(error, "Invalid argument: ");

  // Used again, and with savepoints.
  CHECK(rocksdb_transaction_begin(of.db, of.plain.write, of.how, t) == t);
  rocksdb_transaction_rollback_to_savepoint(t, &error);
  CHECK_FAILED(error, "NotFound: ");
  rocksdb_transaction_merge(t, "a", 1, "2", 1, &error);
  CHECK_OK(error);
  rocksdb_transaction_set_savepoint(t);
  rocksdb_transaction_delete(t, "a", 1, &error);
  CHECK_OK(error);
  check_in(&of, t, "a", NULL);
  rocksdb_transaction_rollback_to_savepoint(t, &error);
  CHECK_OK(error);
  check_in(&of, t, "a", "1,2");
  rocksdb_transaction_rollback(t, &error);
  CHECK_OK(error);
  check_in(&of, t, "a", "1");

  // Its batch, and what is rebuilt from another one.
  put_in(t, "b", "1");
  rocksdb_writebatch_wi_t* const own = rocksdb_transaction_get_writebatch_wi(t);
  CHECK(rocksdb_writebatch_wi_count(own) == 1);
  rocksdb_transaction_t* const other = begin(&of);
  rocksdb_transaction_rebuild_from_writebatch_wi(other, own, &error);
  CHECK_FAILED(error, "Operation timed out: ");
  rocksdb_transaction_rollback(t, &error);
  rocksdb_free(own);
  rocksdb_writebatch_wi_t* const indexed = rocksdb_writebatch_wi_create(0, 1);
  rocksdb_writebatch_wi_put(indexed, "b", 1, "2", 1);
  rocksdb_transaction_rebuild_from_writebatch_wi(other, indexed, &error);
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put(batch, "c", 1, "2", 1);
  rocksdb_transaction_rebuild_from_writebatch(other, batch, &error);
  CHECK_OK(error);
  check_in(&of, other, "b", "2");
  rocksdb_transaction_commit(other, &error);
  CHECK_OK(error);
  check_walk(rocksdb_transactiondb_create_iterator(of.db, of.plain.read), "a=1 b=2 c=2 ");
  rocksdb_writebatch_destroy(batch);
  rocksdb_writebatch_wi_destroy(indexed);
  // Which there are none of.
  rocksdb_transaction_set_commit_timestamp(t, 1);
  rocksdb_transaction_set_read_timestamp_for_validation(t, 1);
  rocksdb_transaction_destroy(other);
  rocksdb_transaction_destroy(t);
  end_locking(&of);
}

static void test_locks_and_options(void) {
  Locking of = new_locking();
  rocksdb_transactiondb_options_set_max_num_locks(of.options, 4);
  open_locking(&of);
  char* error = NULL;
  rocksdb_transaction_options_set_max_write_batch_size(of.how, 200);
  rocksdb_transaction_options_set_lock_timeout(of.how, 0);
  rocksdb_transaction_t* const t = begin(&of);
  rocksdb_transaction_t* const other = begin(&of);
  put_in(t, "a", "1");
  rocksdb_transaction_put(other, "a", 1, "2", 1, &error);
  CHECK_FAILED(error, "Operation timed out: ");
  rocksdb_transactiondb_put(of.db, of.plain.write, "a", 1, "2", 1, &error);
  CHECK_FAILED(error, "Operation timed out: ");
  char value[300];
  memset(value, 'v', sizeof(value));
  rocksdb_transaction_put(t, "a", 1, value, sizeof(value), &error);
  CHECK_FAILED(error, "Operation aborted: ");
  put_in(other, "b", "1");
  put_in(other, "d", "1");
  put_in(other, "e", "1");
  rocksdb_transaction_put(t, "c", 1, "1", 1, &error);
  CHECK_FAILED(error, "Operation aborted: ");
  rocksdb_transaction_rollback(other, &error);
  CHECK_OK(error);

  // A key that is read for update, by one alone or by several.
  size_t size = 99;
  char* taken = rocksdb_transaction_get_for_update(t, of.plain.read, "b", 1, &size, 0, &error);
  CHECK_OK(error);
  check_taken(taken, size, NULL);
  check_pinned(rocksdb_transaction_get_pinned_for_update(other, of.plain.read, "b", 1, 0, &error),
               error, NULL);
  size = 99;
  taken = rocksdb_transaction_get_for_update(other, of.plain.read, "b", 1, &size, 1, &error);
  check_taken(taken, size, NULL);
  CHECK_FAILED(error, "Operation timed out: ");
  CHECK(rocksdb_transaction_get_pinned_for_update(other, of.plain.read, "a", 1, 1, &error) == NULL);
  CHECK_FAILED(error, "Operation timed out: ");
  rocksdb_transaction_commit(t, &error);
  rocksdb_transaction_rollback(other, &error);
  CHECK_OK(error);

  // What has changed since the snapshot.
  rocksdb_transaction_options_set_set_snapshot(of.how, 1);
  rocksdb_transaction_begin(of.db, of.plain.write, of.how, t);
  const rocksdb_snapshot_t* const snapshot = rocksdb_transaction_get_snapshot(t);
  rocksdb_transactiondb_put(of.db, of.plain.write, "a", 1, "2", 1, &error);
  CHECK_OK(error);
  check_in(&of, t, "a", "2");
  rocksdb_readoptions_t* const then = rocksdb_readoptions_create();
  rocksdb_readoptions_set_snapshot(then, snapshot);
  taken = rocksdb_transaction_get(t, then, "a", 1, &size, &error);
  check_taken(taken, size, "1");
  rocksdb_transaction_put(t, "a", 1, "3", 1, &error);
  CHECK_FAILED(error, "Resource busy: ");
  rocksdb_readoptions_destroy(then);
  rocksdb_free((void*)snapshot);
  rocksdb_transaction_options_set_set_snapshot(of.how, 0);

  // What has expired, and what must be prepared.
  rocksdb_transaction_options_set_expiration(of.how, 0);
  rocksdb_transaction_begin(of.db, of.plain.write, of.how, t);
  put_in(t, "a", "3");
  rocksdb_transaction_commit(t, &error);
  CHECK_FAILED(error, "Operation expired: ");
  rocksdb_transaction_options_set_expiration(of.how, -1);
  rocksdb_transaction_options_set_skip_prepare(of.how, 0);
  rocksdb_transaction_begin(of.db, of.plain.write, of.how, t);
  rocksdb_transaction_set_name(t, "t", 1, &error);
  put_in(t, "a", "4");
  CHECK_OK(error);
  rocksdb_transaction_commit(t, &error);
  CHECK_FAILED(error, "Invalid argument: ");
  rocksdb_transaction_prepare(t, &error);
  rocksdb_transaction_commit(t, &error);
  CHECK_OK(error);
  check_get(&of.plain, "a", "4");
  rocksdb_transaction_destroy(t);
  rocksdb_transaction_destroy(other);
  end_locking(&of);
}

static void test_two_phases(void) {
  Locking of = new_locking();
  open_locking(&of);
  char* error = NULL;
  size_t count = 99;
  CHECK(rocksdb_transactiondb_get_prepared_transactions(of.db, &count) == NULL && count == 0);
  const char* const names[] = {"one", "other"};
  for (int i = 0; i < 2; ++i) {
    rocksdb_transaction_t* const t = begin(&of);
    rocksdb_transaction_prepare(t, &error);
    CHECK_FAILED(error, "Invalid argument: ");
    rocksdb_transaction_set_name(t, names[i], strlen(names[i]), &error);
    put_in(t, names[i], "1");
    rocksdb_transaction_prepare(t, &error);
    CHECK_OK(error);
    size_t size = 0;
    char* const name = rocksdb_transaction_get_name(t, &size);
    check_taken(name, size, names[i]);
    rocksdb_transaction_destroy(t);
  }
  close_locking(&of);
  open_locking(&of);
  rocksdb_transaction_t** const prepared =
      rocksdb_transactiondb_get_prepared_transactions(of.db, &count);
  CHECK(count == 2);
  check_get(&of.plain, "one", NULL);
  rocksdb_transactiondb_put(of.db, of.plain.write, "one", 3, "2", 1, &error);
  CHECK_FAILED(error, "Operation timed out: ");
  for (size_t i = 0; i < count; ++i) {
    size_t size = 0;
    char* const name = rocksdb_transaction_get_name(prepared[i], &size);
    if (size == 3) {
      rocksdb_transaction_commit(prepared[i], &error);
    } else {
      rocksdb_transaction_rollback(prepared[i], &error);
    }
    CHECK_OK(error);
    rocksdb_free(name);
    rocksdb_transaction_destroy(prepared[i]);
  }
  rocksdb_free(prepared);
  check_walk(rocksdb_transactiondb_create_iterator(of.db, of.plain.read), "one=1 ");
  CHECK(rocksdb_transactiondb_get_prepared_transactions(of.db, &count) == NULL && count == 0);
  end_locking(&of);
}

// Reads and writes of several keys and families, in transactions and outside.
static void test_families(void) {
  Locking of = new_locking();
  open_locking(&of);
  char* error = NULL;
  rocksdb_column_family_handle_t* made =
      rocksdb_transactiondb_create_column_family(of.db, of.plain.options, "one", &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_destroy(made);
  close_locking(&of);
  const char* const names[] = {"default", "one", "none"};
  const rocksdb_options_t* const options[] = {of.plain.options, of.plain.options, of.plain.options};
  rocksdb_column_family_handle_t* handles[2] = {NULL, NULL};
  CHECK(rocksdb_transactiondb_open_column_families(of.plain.options, of.options, of.plain.path, 3,
                                                   names, options, handles, &error) == NULL);
  CHECK_FAILED(error, "Invalid argument: ");
  of.db = rocksdb_transactiondb_open_column_families(of.plain.options, of.options, of.plain.path, 2,
                                                     names, options, handles, &error);
  CHECK_OK(error);
  of.plain.db = rocksdb_transactiondb_get_base_db(of.db);
  rocksdb_column_family_handle_t* const one = handles[1];
  rocksdb_writeoptions_t* const write = of.plain.write;
  rocksdb_readoptions_t* const read = of.plain.read;

  rocksdb_transactiondb_put_cf(of.db, write, one, "a", 1, "1", 1, &error);
  rocksdb_transactiondb_put_cf(of.db, write, one, "b", 1, "1", 1, &error);
  rocksdb_transactiondb_delete_cf(of.db, write, one, "b", 1, &error);
  rocksdb_transactiondb_merge_cf(of.db, write, one, "a", 1, "2", 1, &error);
  rocksdb_transactiondb_put(of.db, write, "a", 1, "3", 1, &error);
  rocksdb_transactiondb_put(of.db, write, "b", 1, "3", 1, &error);
  rocksdb_transactiondb_delete(of.db, write, "b", 1, &error);
  rocksdb_transactiondb_merge(of.db, write, "a", 1, "4", 1, &error);
  rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
  rocksdb_writebatch_put_cf(batch, one, "c", 1, "5", 1);
  rocksdb_transactiondb_write(of.db, write, batch, &error);
  rocksdb_writebatch_destroy(batch);
  CHECK_OK(error);
  check_walk(rocksdb_transactiondb_create_iterator_cf(of.db, read, one), "a=1,2 c=5 ");

  size_t size = 99;
  char* taken = rocksdb_transactiondb_get(of.db, read, "a", 1, &size, &error);
  check_taken(taken, size, "3,4");
  taken = rocksdb_transactiondb_get_cf(of.db, read, one, "a", 1, &size, &error);
  check_taken(taken, size, "1,2");
  taken = rocksdb_transactiondb_get(of.db, read, "b", 1, &size, &error);
  check_taken(taken, size, NULL);
  check_pinned(rocksdb_transactiondb_get_pinned(of.db, read, "a", 1, &error), error, "3,4");
  check_pinned(rocksdb_transactiondb_get_pinned_cf(of.db, read, one, "c", 1, &error), error, "5");
  check_pinned(rocksdb_transactiondb_get_pinned_cf(of.db, read, one, "b", 1, &error), error, NULL);

  const rocksdb_snapshot_t* const snapshot = rocksdb_transactiondb_create_snapshot(of.db);
  rocksdb_transaction_t* const t = begin(&of);
  rocksdb_transaction_put_cf(t, one, "a", 1, "6", 1, &error);
  rocksdb_transaction_merge_cf(t, one, "a", 1, "7", 1, &error);
  rocksdb_transaction_delete_cf(t, one, "c", 1, &error);
  put_in(t, "d", "8");
  CHECK_OK(error);
  taken = rocksdb_transaction_get_cf(t, read, one, "a", 1, &size, &error);
  check_taken(taken, size, "6,7");
  taken = rocksdb_transaction_get_for_update_cf(t, read, one, "a", 1, &size, 1, &error);
  check_taken(taken, size, "6,7");
  check_pinned(rocksdb_transaction_get_pinned(t, read, "d", 1, &error), error, "8");
  check_pinned(rocksdb_transaction_get_pinned_cf(t, read, one, "c", 1, &error), error, NULL);
  check_pinned(rocksdb_transaction_get_pinned_for_update(t, read, "d", 1, 1, &error), error, "8");
  check_pinned(rocksdb_transaction_get_pinned_for_update_cf(t, read, one, "a", 1, 1, &error), error,
               "6,7");
  check_walk(rocksdb_transaction_create_iterator(t, read), "a=3,4 d=8 ");
  check_walk(rocksdb_transaction_create_iterator_cf(t, read, one), "a=6,7 ");

  const char* const keys[] = {"a", "c", "d"};
  const size_t key_sizes[] = {1, 1, 1};
  const rocksdb_column_family_handle_t* const families[] = {one, one, handles[0]};
  // By transactions and the database, of the default family and of others.
  const char* const expected[6][3] = {{"3,4", NULL, "8"}, {"3,4", NULL, "8"},  {"6,7", NULL, "8"},
                                      {"6,7", NULL, "8"}, {"3,4", NULL, NULL}, {"1,2", "5", NULL}};
  for (int how = 0; how < 6; ++how) {
    char* values[3];
    size_t sizes[3];
    char* errors[3];
    if (how == 0) {
      rocksdb_transaction_multi_get(t, read, 3, keys, key_sizes, values, sizes, errors);
    } else if (how == 1) {
      rocksdb_transaction_multi_get_for_update(t, read, 3, keys, key_sizes, values, sizes, errors);
    } else if (how == 2) {
      rocksdb_transaction_multi_get_cf(t, read, families, 3, keys, key_sizes, values, sizes,
                                       errors);
    } else if (how == 3) {
      rocksdb_transaction_multi_get_for_update_cf(t, read, families, 3, keys, key_sizes, values,
                                                  sizes, errors);
    } else if (how == 4) {
      rocksdb_transactiondb_multi_get(of.db, read, 3, keys, key_sizes, values, sizes, errors);
    } else {
      rocksdb_transactiondb_multi_get_cf(of.db, read, families, 3, keys, key_sizes, values, sizes,
                                         errors);
    }
    for (int i = 0; i < 3; ++i) {
      CHECK_OK(errors[i]);
      check_taken(values[i], sizes[i], expected[how][i]);
    }
  }
  // Its reads for update have locked also what they have not found.
  rocksdb_transactiondb_put(of.db, write, "c", 1, "9", 1, &error);
  CHECK_FAILED(error, "Operation timed out: ");
  rocksdb_transaction_commit(t, &error);
  CHECK_OK(error);
  rocksdb_transaction_destroy(t);
  rocksdb_readoptions_set_snapshot(read, snapshot);
  taken = rocksdb_transactiondb_get_cf(of.db, read, one, "a", 1, &size, &error);
  check_taken(taken, size, "1,2");
  rocksdb_readoptions_set_snapshot(read, NULL);
  rocksdb_transactiondb_release_snapshot(of.db, snapshot);

  rocksdb_flushoptions_t* const flush = rocksdb_flushoptions_create();
  rocksdb_transactiondb_flush(of.db, flush, &error);
  rocksdb_transactiondb_flush_cf(of.db, flush, one, &error);
  rocksdb_transactiondb_flush_cfs(of.db, flush, handles, 2, &error);
  rocksdb_transactiondb_flush_wal(of.db, 1, &error);
  CHECK_OK(error);
  rocksdb_flushoptions_destroy(flush);
  uint64_t number = 0;
  CHECK(rocksdb_transactiondb_property_int(of.db, "rocksdb.estimate-num-keys", &number) == 0);
  CHECK(number == 2);
  CHECK(rocksdb_transactiondb_property_int(of.db, "rocksdb.no-such", &number) == -1);
  check_text(rocksdb_transactiondb_property_value(of.db, "rocksdb.estimate-num-keys"), "2");

  rocksdb_checkpoint_t* const checkpoint =
      rocksdb_transactiondb_checkpoint_object_create(of.db, &error);
  CHECK_OK(error);
  Database copy = new_database();
  rocksdb_checkpoint_create(checkpoint, copy.path, 0, &error);
  CHECK_OK(error);
  rocksdb_checkpoint_object_destroy(checkpoint);
  CHECK(rocksdb_open(copy.options, copy.path, &error) == NULL);  // without the other family
  CHECK_FAILED(error, "Invalid argument: ");
  end_database(&copy);
  rocksdb_column_family_handle_destroy(handles[0]);
  rocksdb_column_family_handle_destroy(handles[1]);
  end_locking(&of);
}

static void test_optimistic(void) {
  Database of = new_database();
  char* error = NULL;
  rocksdb_optimistictransactiondb_t* db =
      rocksdb_optimistictransactiondb_open(of.options, of.path, &error);
  CHECK_OK(error);
  of.db = rocksdb_optimistictransactiondb_get_base_db(db);
  rocksdb_optimistictransaction_options_t* const how =
      rocksdb_optimistictransaction_options_create();
  rocksdb_transaction_t* const t = rocksdb_optimistictransaction_begin(db, of.write, how, NULL);
  put_in(t, "a", "1");
  check_get(&of, "a", NULL);
  rocksdb_transaction_commit(t, &error);
  CHECK_OK(error);
  check_get(&of, "a", "1");
  const rocksdb_snapshot_t* none = rocksdb_transaction_get_snapshot(t);
  CHECK(rocksdb_snapshot_get_sequence_number(none) == 0);
  rocksdb_free((void*)none);

  // Others have written since the snapshot: only with it that is a conflict.
  for (unsigned char with = 0; with < 2; ++with) {
    rocksdb_optimistictransaction_options_set_set_snapshot(how, with);
    CHECK(rocksdb_optimistictransaction_begin(db, of.write, how, t) == t);
    rocksdb_writebatch_t* const batch = rocksdb_writebatch_create();
    rocksdb_writebatch_put(batch, "a", 1, with ? "3" : "2", 1);
    rocksdb_optimistictransactiondb_write(db, of.write, batch, &error);
    CHECK_OK(error);
    rocksdb_writebatch_destroy(batch);
    put_in(t, "a", "own");
    rocksdb_transaction_commit(t, &error);
    if (with) {
      CHECK_FAILED(error, "Resource busy: ");
    } else {
      CHECK_OK(error);
    }
    check_get(&of, "a", with ? "3" : "own");
  }
  rocksdb_transaction_destroy(t);

  uint64_t number = 0;
  CHECK(rocksdb_optimistictransactiondb_property_int(db, "rocksdb.estimate-num-keys", &number) ==
        0);
  CHECK(number == 1);
  check_text(rocksdb_optimistictransactiondb_property_value(db, "rocksdb.estimate-num-keys"), "1");
  rocksdb_checkpoint_t* const checkpoint =
      rocksdb_optimistictransactiondb_checkpoint_object_create(db, &error);
  Database copy = new_database();
  rocksdb_checkpoint_create(checkpoint, copy.path, 0, &error);
  CHECK_OK(error);
  rocksdb_checkpoint_object_destroy(checkpoint);
  rocksdb_column_family_handle_t* const made =
      rocksdb_create_column_family(of.db, of.options, "one", &error);
  CHECK_OK(error);
  rocksdb_column_family_handle_destroy(made);
  rocksdb_optimistictransactiondb_close_base_db(of.db);
  rocksdb_optimistictransactiondb_close(db);
  open_database(&copy);
  check_get(&copy, "a", "3");
  end_database(&copy);

  const char* const names[] = {"default", "one"};
  const rocksdb_options_t* const options[] = {of.options, of.options};
  rocksdb_column_family_handle_t* handles[2] = {NULL, NULL};
  CHECK(rocksdb_optimistictransactiondb_open(of.options, of.path, &error) == NULL);
  CHECK_FAILED(error, "Invalid argument: ");
  db = rocksdb_optimistictransactiondb_open_column_families(of.options, of.path, 2, names, options,
                                                            handles, &error);
  CHECK_OK(error);
  of.db = rocksdb_optimistictransactiondb_get_base_db(db);
  rocksdb_transaction_t* const in_one =
      rocksdb_optimistictransaction_begin(db, of.write, how, NULL);
  rocksdb_transaction_put_cf(in_one, handles[1], "b", 1, "1", 1, &error);
  rocksdb_transaction_commit(in_one, &error);
  CHECK_OK(error);
  check_walk(rocksdb_create_iterator_cf(of.db, of.read, handles[1]), "b=1 ");
  rocksdb_transaction_destroy(in_one);
  rocksdb_column_family_handle_destroy(handles[0]);
  rocksdb_column_family_handle_destroy(handles[1]);
  rocksdb_optimistictransactiondb_close_base_db(of.db);
  of.db = NULL;
  rocksdb_optimistictransactiondb_close(db);
  rocksdb_optimistictransaction_options_destroy(how);
  end_database(&of);
}

void test_transactions(void) {
  test_course();
  test_locks_and_options();
  test_two_phases();
  test_families();
  test_optimistic();
}
