#pragma once
// What stands between Go and the C API.
//
// Results come by value, so that a call leaves nothing on Go's heap. Bytes are char pointers, of
// which cgo knows that nothing is behind them: so it looks at no memory of the caller. Structures
// with addresses in them are made here, since Go may not put its own into them.
//
// An access is a transaction where there is one, else the database, at a snapshot where there is
// one.

#ifdef __has_include
#if !__has_include(<hawthorn/c.h>)
#error "libhawthorn was not found: install it, or set CGO_CFLAGS and CGO_LDFLAGS (README.md)"
#endif
#endif
#include <hawthorn/c.h>
#include <stdlib.h>
#include <string.h>

typedef struct hw_result {
  hawthorn_code code;
  int found;
  hawthorn_error* error;
  void* data;
  size_t size;
  uint64_t number;
} hw_result;

#define HW_ACCESS hawthorn_db *db, hawthorn_txn *txn, const hawthorn_snapshot *snap
#define HW_TREE const hawthorn_tree* tree
#define HW_KEY HW_TREE, const char *key, size_t key_size
#define HW_VALUE const char *value, size_t value_size
#define HW_RANGE HW_TREE, const char *low, size_t low_size, const char *high, size_t high_size
#define HW_OPTIONS uint32_t durability, uint32_t expiry, uint64_t expiry_ms
#define HW_RESULT hw_result r = {0, 0, NULL, NULL, 0, 0}
#define HW_WRITE_OPTIONS \
  hawthorn_write_options options = {sizeof(options), durability, expiry, expiry_ms}

// These two are answers to a get, and no errors.
static inline hw_result hw_answer(hw_result r) {
  if (r.code == HAWTHORN_NOT_FOUND || r.code == HAWTHORN_BUFFER_TOO_SMALL) {
    hawthorn_error_free(r.error);
    r.error = NULL;
  }
  return r;
}

// ---- Reads

static inline hw_result hw_get(HW_ACCESS, HW_KEY, char* buffer, size_t capacity) {
  HW_RESULT;
  r.code = txn ? hawthorn_txn_get_into(txn, tree, key, key_size, buffer, capacity, &r.size,
                                       &r.error)
               : hawthorn_db_get_into(db, tree, key, key_size, snap, buffer, capacity, &r.size,
                                      &r.error);
  return hw_answer(r);
}

// Reads a value in place: `data` becomes its bytes, and *out what holds them.
static inline hw_result hw_get_value(HW_ACCESS, HW_KEY, hawthorn_value** out) {
  HW_RESULT;
  *out = NULL;
  hawthorn_value* value = hawthorn_value_create();
  if (value == NULL) {
    r.code = HAWTHORN_OUT_OF_MEMORY;
    r.error = hawthorn_error_create(r.code, "no memory for a value", HAWTHORN_STRING);
    return r;
  }
  r.code = txn ? hawthorn_txn_get(txn, tree, key, key_size, value, &r.error)
               : hawthorn_db_get(db, tree, key, key_size, snap, value, &r.error);
  if (r.code == HAWTHORN_OK) {
    r.data = (void*)hawthorn_value_data(value, &r.size);
    *out = value;
  } else {
    hawthorn_value_free(value);
  }
  return hw_answer(r);
}

// Copies a value into the buffer, or, where it does not fit, into memory of its own.
static inline hw_result hw_copy_value(hw_result r, hawthorn_value* value, char* buffer,
                                      size_t capacity) {
  if (r.code == HAWTHORN_OK) {
    const void* from = hawthorn_value_data(value, &r.size);
    if (r.size > capacity) {
      r.data = malloc(r.size);
      if (r.data == NULL) {
        r.code = HAWTHORN_OUT_OF_MEMORY;
        r.error = hawthorn_error_create(r.code, "no memory for a value", HAWTHORN_STRING);
      }
    }
    if (r.size > 0 && r.code == HAWTHORN_OK) memcpy(r.data ? r.data : buffer, from, r.size);
  }
  hawthorn_value_free(value);
  return hw_answer(r);
}

static inline hw_result hw_get_for_update(hawthorn_txn* txn, HW_KEY, char* buffer,
                                          size_t capacity) {
  HW_RESULT;
  hawthorn_value* value = hawthorn_value_create();
  r.code = hawthorn_txn_get_for_update(txn, tree, key, key_size, value, &r.error);
  return hw_copy_value(r, value, buffer, capacity);
}

static inline hw_result hw_get_in_memory(HW_ACCESS, HW_KEY, char* buffer, size_t capacity) {
  HW_RESULT;
  hawthorn_value* value = hawthorn_value_create();
  (void)txn;
  r.code = hawthorn_db_get_in_memory(db, tree, key, key_size, snap, value, &r.error);
  return hw_copy_value(r, value, buffer, capacity);
}

static inline hw_result hw_size_of(HW_ACCESS, HW_KEY) {
  HW_RESULT;
  r.code = txn ? hawthorn_txn_size_of(txn, tree, key, key_size, &r.number, &r.error)
               : hawthorn_db_size_of(db, tree, key, key_size, snap, &r.number, &r.error);
  return r;
}

static inline hw_result hw_read_part(HW_ACCESS, HW_KEY, uint64_t offset, char* buffer,
                                     size_t capacity) {
  HW_RESULT;
  r.code = txn ? hawthorn_txn_read_part(txn, tree, key, key_size, offset, buffer, capacity, &r.size,
                                        &r.error)
               : hawthorn_db_read_part(db, tree, key, key_size, offset, buffer, capacity, snap,
                                       &r.size, &r.error);
  return r;
}

static inline hw_result hw_changed_since(hawthorn_db* db, HW_KEY, const hawthorn_snapshot* since) {
  HW_RESULT;
  r.code = hawthorn_db_changed_since(db, tree, key, key_size, since, &r.found, &r.error);
  return r;
}

static inline hw_result hw_expires_at(HW_ACCESS, HW_KEY) {
  HW_RESULT;
  (void)txn;
  r.code = hawthorn_db_expires_at(db, tree, key, key_size, snap, &r.number, &r.error);
  return hw_answer(r);
}

static inline hw_result hw_explain(HW_ACCESS, HW_KEY) {
  HW_RESULT;
  (void)txn;
  r.code = hawthorn_db_explain(db, tree, key, key_size, snap, (hawthorn_records**)&r.data,
                               &r.error);
  return r;
}

static inline hw_result hw_count(HW_ACCESS, HW_RANGE) {
  HW_RESULT;
  r.code = txn ? hawthorn_txn_count(txn, tree, low, low_size, high, high_size, &r.number, &r.error)
               : hawthorn_db_count(db, tree, low, low_size, high, high_size, snap, &r.number,
                                   &r.error);
  return r;
}

// The entries become `number`, the bytes `size`.
static inline hw_result hw_estimate(hawthorn_db* db, HW_RANGE) {
  HW_RESULT;
  uint64_t bytes = 0;
  r.code = hawthorn_db_estimate(db, tree, low, low_size, high, high_size, &r.number, &bytes,
                                &r.error);
  r.size = (size_t)bytes;
  return r;
}

// ---- Columns

typedef struct hw_columns_result {
  hawthorn_code code;
  int more;  // the batch holds further answers
  hawthorn_error* error;
  size_t rows;
  size_t key_bytes;  // needed, where nothing fitted
  size_t value_bytes;
} hw_columns_result;

#define HW_COLUMNS                                                                       \
  size_t rows_capacity, char *key_bytes, size_t key_capacity, int64_t *key_offsets,      \
      char *value_bytes, size_t value_capacity, int64_t *value_offsets
#define HW_MAKE_COLUMNS                                                                         \
  hawthorn_columns columns = {sizeof(columns), rows_capacity, key_bytes,                        \
                              key_capacity,    key_offsets,   value_bytes,                      \
                              value_capacity,  value_offsets, NULL,        0, 0, 0}
#define HW_COLUMNS_RESULT(columns)                                                   \
  {                                                                                  \
    code, 0, error, (columns).rows, (columns).key_bytes_needed, (columns).value_bytes_needed \
  }

static inline hw_columns_result hw_cursor_columns(hawthorn_cursor* cursor, int reverse,
                                                  HW_COLUMNS) {
  HW_MAKE_COLUMNS;
  hawthorn_error* error = NULL;
  hawthorn_code code = reverse ? hawthorn_cursor_prev_columns(cursor, &columns, &error)
                               : hawthorn_cursor_next_columns(cursor, &columns, &error);
  hw_columns_result r = HW_COLUMNS_RESULT(columns);
  return r;
}

// Lets go of the batch where all answers fitted. Where they did not, value_bytes is what all take.
static inline hw_columns_result hw_multi_get(HW_ACCESS, HW_TREE, const char* wanted,
                                             const int64_t* wanted_offsets, size_t wanted_count,
                                             hawthorn_read_batch* batch, char* value_bytes,
                                             size_t value_capacity, int64_t* value_offsets,
                                             uint8_t* found) {
  hawthorn_columns columns = {sizeof(columns), wanted_count, NULL, 0, NULL, value_bytes,
                              value_capacity,  value_offsets, found, 0,    0, 0};
  hawthorn_error* error = NULL;
  hawthorn_code code =
      txn ? hawthorn_txn_multi_get_columns(txn, tree, wanted, wanted_offsets, wanted_count, batch,
                                           &columns, &error)
          : hawthorn_db_multi_get_columns(db, tree, wanted, wanted_offsets, wanted_count, snap,
                                          batch, &columns, &error);
  if (code == HAWTHORN_BUFFER_TOO_SMALL) {
    hawthorn_error_free(error);
    error = NULL;
    code = HAWTHORN_OK;
    columns.rows = 0;
  }
  hw_columns_result r = HW_COLUMNS_RESULT(columns);
  r.more = code == HAWTHORN_OK && columns.rows < wanted_count;
  if (r.more) {
    r.value_bytes = (size_t)hawthorn_read_batch_value_bytes(batch);
  } else {
    hawthorn_read_batch_release(batch);
  }
  return r;
}

// All answers of the batch, which it lets go of.
static inline hw_columns_result hw_batch_answers(hawthorn_read_batch* batch, size_t rows_capacity,
                                                 char* value_bytes, size_t value_capacity,
                                                 int64_t* value_offsets, uint8_t* found) {
  hawthorn_columns columns = {sizeof(columns), rows_capacity, NULL, 0, NULL, value_bytes,
                              value_capacity,  value_offsets, found, 0,    0, 0};
  hawthorn_error* error = NULL;
  hawthorn_code code = hawthorn_read_batch_columns(batch, 0, &columns, &error);
  hw_columns_result r = HW_COLUMNS_RESULT(columns);
  hawthorn_read_batch_release(batch);
  return r;
}

// ---- Writes

static inline hw_result hw_put(HW_ACCESS, HW_KEY, HW_VALUE, HW_OPTIONS) {
  HW_RESULT;
  HW_WRITE_OPTIONS;
  (void)snap;
  r.code = txn ? hawthorn_txn_put(txn, tree, key, key_size, value, value_size, &options, &r.error)
               : hawthorn_db_put(db, tree, key, key_size, value, value_size, &options, &r.error);
  return r;
}

typedef enum hw_op_kind {
  HW_PUT,
  HW_DEL,
  HW_DEL_VALUE,
  HW_DELETE_RANGE,  // `value` is where it ends; NULL: nowhere
  HW_MERGE,
  HW_INSERT,
  HW_UPDATE
} hw_op_kind;

// All writes but puts: `found` becomes whether it was done, where there is a condition.
static inline hw_result hw_change(HW_ACCESS, int kind, HW_KEY, HW_VALUE, HW_OPTIONS) {
  HW_RESULT;
  HW_WRITE_OPTIONS;
  hawthorn_error** e = &r.error;
  int* done = &r.found;
  (void)snap;
  switch (kind) {
    case HW_DEL:
      r.code = txn ? hawthorn_txn_del(txn, tree, key, key_size, e)
                   : hawthorn_db_del(db, tree, key, key_size, &options, e);
      break;
    case HW_DEL_VALUE:
      r.code = txn ? hawthorn_txn_del_value(txn, tree, key, key_size, value, value_size, e)
                   : hawthorn_db_del_value(db, tree, key, key_size, value, value_size, &options, e);
      break;
    case HW_DELETE_RANGE:
      r.code = txn ? hawthorn_txn_delete_range(txn, tree, key, key_size, value, value_size, e)
                   : hawthorn_db_delete_range(db, tree, key, key_size, value, value_size, &options,
                                              e);
      break;
    case HW_MERGE:
      r.code = txn ? hawthorn_txn_merge(txn, tree, key, key_size, value, value_size, e)
                   : hawthorn_db_merge(db, tree, key, key_size, value, value_size, &options, e);
      break;
    case HW_INSERT:
      r.code =
          txn ? hawthorn_txn_insert(txn, tree, key, key_size, value, value_size, done, e)
              : hawthorn_db_insert(db, tree, key, key_size, value, value_size, &options, done, e);
      break;
    default:
      r.code =
          txn ? hawthorn_txn_update(txn, tree, key, key_size, value, value_size, done, e)
              : hawthorn_db_update(db, tree, key, key_size, value, value_size, &options, done, e);
      break;
  }
  return r;
}

static inline hw_result hw_replace(HW_ACCESS, HW_KEY, const char* expected, size_t expected_size,
                                   HW_VALUE, HW_OPTIONS) {
  HW_RESULT;
  HW_WRITE_OPTIONS;
  (void)snap;
  r.code = txn ? hawthorn_txn_replace(txn, tree, key, key_size, expected, expected_size, value,
                                      value_size, &r.found, &r.error)
               : hawthorn_db_replace(db, tree, key, key_size, expected, expected_size, value,
                                     value_size, &options, &r.found, &r.error);
  return r;
}

static inline hw_result hw_remove_if(HW_ACCESS, HW_KEY, const char* expected, size_t expected_size,
                                     HW_OPTIONS) {
  HW_RESULT;
  HW_WRITE_OPTIONS;
  (void)snap;
  r.code = txn ? hawthorn_txn_remove_if(txn, tree, key, key_size, expected, expected_size, &r.found,
                                        &r.error)
               : hawthorn_db_remove_if(db, tree, key, key_size, expected, expected_size, &options,
                                       &r.found, &r.error);
  return r;
}

static inline hw_result hw_write_part(HW_ACCESS, HW_KEY, uint64_t offset, HW_VALUE, HW_OPTIONS) {
  HW_RESULT;
  HW_WRITE_OPTIONS;
  (void)snap;
  r.code = txn ? hawthorn_txn_write_part(txn, tree, key, key_size, offset, value, value_size,
                                         &r.error)
               : hawthorn_db_write_part(db, tree, key, key_size, offset, value, value_size,
                                        &options, &r.error);
  return r;
}

static inline hw_result hw_append(HW_ACCESS, HW_KEY, HW_VALUE, HW_OPTIONS) {
  HW_RESULT;
  HW_WRITE_OPTIONS;
  (void)snap;
  r.code = txn ? hawthorn_txn_append(txn, tree, key, key_size, value, value_size, &r.number,
                                     &r.error)
               : hawthorn_db_append(db, tree, key, key_size, value, value_size, &options, &r.number,
                                    &r.error);
  return r;
}

static inline hw_result hw_resize(HW_ACCESS, HW_KEY, uint64_t size, HW_OPTIONS) {
  HW_RESULT;
  HW_WRITE_OPTIONS;
  (void)snap;
  r.code = txn ? hawthorn_txn_resize(txn, tree, key, key_size, size, &r.error)
               : hawthorn_db_resize(db, tree, key, key_size, size, &options, &r.error);
  return r;
}

static inline hw_result hw_lock(hawthorn_txn* txn, HW_KEY, uint32_t lock, uint64_t timeout_ms) {
  HW_RESULT;
  r.code = hawthorn_txn_lock(txn, tree, key, key_size, lock, timeout_ms, &r.error);
  return r;
}

// ---- Batches: written down in Go, added and committed in one call

typedef struct hw_op {
  const hawthorn_tree* tree;
  uint32_t kind;
  uint32_t expiry;
  uint64_t expiry_ms;
  size_t key;  // offset into the bytes of all operations; the value stands behind the key
  size_t key_size;
  size_t value_size;
  int32_t open_end;
} hw_op;

static inline hw_result hw_write(hawthorn_db* db, hawthorn_batch* batch, const hw_op* ops,
                                 size_t count, const char* bytes, uint32_t durability) {
  HW_RESULT;
  hawthorn_write_options commit = {sizeof(commit), durability, 0, 0};
  r.code = hawthorn_batch_clear(batch, &r.error);
  for (size_t i = 0; i < count && r.code == HAWTHORN_OK; ++i) {
    const hw_op* op = ops + i;
    const char* key = bytes + op->key;
    const char* value = key + op->key_size;
    hawthorn_write_options options = {sizeof(options), 0, op->expiry, op->expiry_ms};
    switch (op->kind) {
      case HW_PUT:
        r.code = hawthorn_batch_put(batch, op->tree, key, op->key_size, value, op->value_size,
                                    &options, &r.error);
        break;
      case HW_DEL:
        r.code = hawthorn_batch_del(batch, op->tree, key, op->key_size, &r.error);
        break;
      case HW_DEL_VALUE:
        r.code = hawthorn_batch_del_value(batch, op->tree, key, op->key_size, value, op->value_size,
                                          &r.error);
        break;
      case HW_DELETE_RANGE:
        r.code = hawthorn_batch_delete_range(batch, op->tree, key, op->key_size,
                                             op->open_end ? NULL : value, op->value_size, &r.error);
        break;
      default:
        r.code = hawthorn_batch_merge(batch, op->tree, key, op->key_size, value, op->value_size,
                                      &r.error);
        break;
    }
  }
  if (r.code == HAWTHORN_OK) r.code = hawthorn_db_write(db, batch, &commit, &r.error);
  hawthorn_batch_clear(batch, NULL);
  return r;
}

static inline hw_result hw_ingest_add(hawthorn_ingest* ingest, const char* key, size_t key_size,
                                      HW_VALUE) {
  HW_RESULT;
  r.code = hawthorn_ingest_add(ingest, key, key_size, value, value_size, &r.error);
  return r;
}

static inline hw_result hw_ingest_columns(hawthorn_ingest* ingest, size_t rows, char* key_bytes,
                                          size_t key_capacity, int64_t* key_offsets,
                                          char* value_bytes, size_t value_capacity,
                                          int64_t* value_offsets) {
  const size_t rows_capacity = rows;
  HW_RESULT;
  HW_MAKE_COLUMNS;
  columns.rows = rows;
  r.code = hawthorn_ingest_add_columns(ingest, &columns, &r.error);
  return r;
}

// ---- Cursors: a move, and the entry where it ends

typedef struct hw_move_result {
  hawthorn_code code;
  int found;
  hawthorn_error* error;
  const void* key;
  size_t key_size;
  const void* value;
  size_t value_size;
} hw_move_result;

typedef enum hw_move_kind {
  HW_FIRST,
  HW_LAST,
  HW_NEXT,
  HW_PREV,
  HW_SEEK,
  HW_SEEK_FOR_PREV,
  HW_SKIP,
  HW_SEEK_RANDOM,
  HW_NEXT_KEY,
  HW_PREV_KEY,
  HW_NEXT_VALUE,
  HW_PREV_VALUE,
  HW_FIRST_VALUE,
  HW_LAST_VALUE,
  HW_SEEK_VALUE
} hw_move_kind;

hw_move_result hw_move(hawthorn_cursor* cursor, int kind, const char* key, size_t key_size,
                       const char* value, size_t value_size, int64_t count);

static inline hw_result hw_cursor(HW_ACCESS, HW_RANGE, int keys_only) {
  HW_RESULT;
  hawthorn_cursor_options options = {sizeof(options), keys_only, low, low_size,
                                     high,            high_size, txn ? NULL : snap};
  r.code = txn ? hawthorn_txn_cursor(txn, tree, &options, (hawthorn_cursor**)&r.data, &r.error)
               : hawthorn_db_cursor(db, tree, &options, (hawthorn_cursor**)&r.data, &r.error);
  return r;
}

// ---- Asynchronous reads

static inline hw_result hw_queue_get(hawthorn_read_queue* queue, HW_KEY,
                                     const hawthorn_snapshot* snapshot, uint64_t tag) {
  HW_RESULT;
  r.code = hawthorn_read_queue_get(queue, tree, key, key_size, snapshot, tag, NULL, NULL, &r.error);
  return r;
}

// The oldest completion: `number` is its tag; its value in the buffer or in memory of its own.
static inline hw_result hw_queue_take(hawthorn_read_queue* queue, char* buffer, size_t capacity) {
  HW_RESULT;
  hawthorn_value* value = hawthorn_value_create();
  r.code = hawthorn_read_queue_take(queue, &r.found, &r.number, value, &r.error);
  if (!r.found) {
    hawthorn_value_free(value);
    return r;
  }
  return hw_copy_value(r, value, buffer, capacity);
}

// ---- Trees as values

static inline hw_result hw_subtree(HW_ACCESS, HW_KEY) {
  HW_RESULT;
  r.code = txn ? hawthorn_txn_subtree(txn, tree, key, key_size, (hawthorn_tree**)&r.data, &r.error)
               : hawthorn_db_subtree(db, tree, key, key_size, snap, (hawthorn_tree**)&r.data,
                                     &r.error);
  return r;
}

static inline hw_result hw_create_subtree(HW_ACCESS, HW_KEY, const hawthorn_tree_options* options,
                                          uint32_t durability) {
  HW_RESULT;
  (void)snap;
  r.code = txn ? hawthorn_txn_create_subtree(txn, tree, key, key_size, options,
                                             (hawthorn_tree**)&r.data, &r.error)
               : hawthorn_db_create_subtree(db, tree, key, key_size, options, durability,
                                            (hawthorn_tree**)&r.data, &r.error);
  return r;
}

static inline hw_result hw_attach(HW_ACCESS, HW_KEY, const char* name, size_t name_size,
                                  uint32_t durability) {
  HW_RESULT;
  (void)snap;
  r.code = txn ? hawthorn_txn_attach(txn, tree, key, key_size, name, name_size, &r.error)
               : hawthorn_db_attach(db, tree, key, key_size, name, name_size, durability, &r.error);
  return r;
}

static inline hw_result hw_detach(HW_ACCESS, HW_KEY, const char* name, size_t name_size,
                                  uint32_t durability) {
  HW_RESULT;
  (void)snap;
  r.code = txn ? hawthorn_txn_detach(txn, tree, key, key_size, name, name_size, &r.error)
               : hawthorn_db_detach(db, tree, key, key_size, name, name_size, durability, &r.error);
  return r;
}

static inline hw_result hw_move_subtree(HW_ACCESS, HW_KEY, const hawthorn_tree* to_tree,
                                        const char* to_key, size_t to_key_size,
                                        uint32_t durability) {
  HW_RESULT;
  (void)snap;
  r.code = txn ? hawthorn_txn_move_subtree(txn, tree, key, key_size, to_tree, to_key, to_key_size,
                                           &r.error)
               : hawthorn_db_move_subtree(db, tree, key, key_size, to_tree, to_key, to_key_size,
                                          durability, &r.error);
  return r;
}

static inline hw_result hw_clone_subtree(HW_ACCESS, HW_KEY, const char* to, size_t to_size,
                                         uint32_t durability) {
  HW_RESULT;
  (void)snap;
  r.code = txn ? hawthorn_txn_clone_subtree(txn, tree, key, key_size, to, to_size,
                                            (hawthorn_tree**)&r.data, &r.error)
               : hawthorn_db_clone_subtree(db, tree, key, key_size, to, to_size, durability,
                                           (hawthorn_tree**)&r.data, &r.error);
  return r;
}

static inline hw_result hw_feed_read_value(hawthorn_feed* feed, uint64_t offset, char* buffer,
                                           size_t capacity) {
  HW_RESULT;
  r.code = hawthorn_feed_read_value(feed, offset, buffer, capacity, &r.size, &r.error);
  return r;
}
