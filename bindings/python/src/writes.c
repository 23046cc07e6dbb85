// Writes of a database or a transaction, and batches. What a write is told stands behind its other
// arguments: durability, expiry, expiry_ms; a transaction looks at the expiry of puts alone.

#include "binding.h"

static int is_db(const Handle* source) { return source->kind == kDatabase; }

static hawthorn_write_options take_options(Call* call, PyObject* const* args) {
  hawthorn_write_options options = HAWTHORN_WRITE_OPTIONS_INIT;
  options.durability = (hawthorn_durability)take_number(call, args[0]);
  options.expiry = (hawthorn_expiry)take_number(call, args[1]);
  options.expiry_ms = take_number(call, args[2]);
  return options;
}

// put(source, tree, key, value, *options).
static FUNCTION(put) {
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes value = take_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_put(AS(source, db), AS(tree, tree), B(key), B(value),
                                             &options, &call.error)
                           : hawthorn_txn_put(AS(source, txn), AS(tree, tree), B(key), B(value),
                                              &options, &call.error));
  return call_none(&call);
}

// delete(source, tree, key, *options).
static FUNCTION(delete_key) {
  BEGIN(6);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_write_options options = take_options(&call, args + 3);
  STOP_IF_FAILED;
  RUN(&call, is_db(source)
                 ? hawthorn_db_del(AS(source, db), AS(tree, tree), B(key), &options, &call.error)
                 : hawthorn_txn_del(AS(source, txn), AS(tree, tree), B(key), &call.error));
  return call_none(&call);
}

// delete_value(source, tree, key, value, *options).
static FUNCTION(delete_value) {
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes value = take_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_del_value(AS(source, db), AS(tree, tree), B(key), B(value),
                                                   &options, &call.error)
                           : hawthorn_txn_del_value(AS(source, txn), AS(tree, tree), B(key),
                                                    B(value), &call.error));
  return call_none(&call);
}

// delete_range(source, tree, low, high, *options).
static FUNCTION(delete_range) {
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes low = take_bytes(&call, args[2]);
  Bytes high = take_optional_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_delete_range(AS(source, db), AS(tree, tree), B(low),
                                                      B(high), &options, &call.error)
                           : hawthorn_txn_delete_range(AS(source, txn), AS(tree, tree), B(low),
                                                       B(high), &call.error));
  return call_none(&call);
}

// merge(source, tree, key, operand, *options).
static FUNCTION(merge) {
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes operand = take_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_merge(AS(source, db), AS(tree, tree), B(key), B(operand),
                                               &options, &call.error)
                           : hawthorn_txn_merge(AS(source, txn), AS(tree, tree), B(key), B(operand),
                                                &call.error));
  return call_none(&call);
}

// insert(source, tree, key, value, *options): whether it was written.
static FUNCTION(insert) {
  int done = 0;
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes value = take_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_insert(AS(source, db), AS(tree, tree), B(key), B(value),
                                                &options, &done, &call.error)
                           : hawthorn_txn_insert(AS(source, txn), AS(tree, tree), B(key), B(value),
                                                 &done, &call.error));
  return call_flag(&call, done);
}

// update(source, tree, key, value, *options): the same.
static FUNCTION(update) {
  int done = 0;
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes value = take_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_update(AS(source, db), AS(tree, tree), B(key), B(value),
                                                &options, &done, &call.error)
                           : hawthorn_txn_update(AS(source, txn), AS(tree, tree), B(key), B(value),
                                                 &done, &call.error));
  return call_flag(&call, done);
}

// replace(source, tree, key, expected, value, *options): the same.
static FUNCTION(replace) {
  int done = 0;
  BEGIN(8);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes expected = take_optional_bytes(&call, args[3]);
  Bytes value = take_bytes(&call, args[4]);
  const hawthorn_write_options options = take_options(&call, args + 5);
  STOP_IF_FAILED;
  RUN(&call, is_db(source)
                 ? hawthorn_db_replace(AS(source, db), AS(tree, tree), B(key), B(expected),
                                       B(value), &options, &done, &call.error)
                 : hawthorn_txn_replace(AS(source, txn), AS(tree, tree), B(key), B(expected),
                                        B(value), &done, &call.error));
  return call_flag(&call, done);
}

// remove_if(source, tree, key, expected, *options): the same.
static FUNCTION(remove_if) {
  int done = 0;
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes expected = take_optional_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_remove_if(AS(source, db), AS(tree, tree), B(key),
                                                   B(expected), &options, &done, &call.error)
                           : hawthorn_txn_remove_if(AS(source, txn), AS(tree, tree), B(key),
                                                    B(expected), &done, &call.error));
  return call_flag(&call, done);
}

// write_part(source, tree, key, offset, data, *options).
static FUNCTION(write_part) {
  BEGIN(8);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const uint64_t offset = take_number(&call, args[3]);
  Bytes data = take_bytes(&call, args[4]);
  const hawthorn_write_options options = take_options(&call, args + 5);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_write_part(AS(source, db), AS(tree, tree), B(key), offset,
                                                    B(data), &options, &call.error)
                           : hawthorn_txn_write_part(AS(source, txn), AS(tree, tree), B(key),
                                                     offset, B(data), &call.error));
  return call_none(&call);
}

// append(source, tree, key, data, *options): where it was put.
static FUNCTION(append) {
  uint64_t offset = 0;
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes data = take_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_append(AS(source, db), AS(tree, tree), B(key), B(data),
                                                &options, &offset, &call.error)
                           : hawthorn_txn_append(AS(source, txn), AS(tree, tree), B(key), B(data),
                                                 &offset, &call.error));
  return call_number(&call, offset);
}

// resize(source, tree, key, size, *options).
static FUNCTION(resize) {
  BEGIN(7);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const uint64_t size = take_number(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  RUN(&call,
      is_db(source)
          ? hawthorn_db_resize(AS(source, db), AS(tree, tree), B(key), size, &options, &call.error)
          : hawthorn_txn_resize(AS(source, txn), AS(tree, tree), B(key), size, &call.error));
  return call_none(&call);
}

// ---- Batches

// batch(db): a handle.
static FUNCTION(batch_create) {
  BEGIN(1);
  Handle* db = take(&call, args[0], kDatabase);
  STOP_IF_FAILED;
  return call_handle(&call, kBatch, hawthorn_batch_create(), db, NULL);
}

// batch_put(batch, tree, key, value, *options).
static FUNCTION(batch_put) {
  BEGIN(7);
  Handle* batch = take(&call, args[0], kBatch);
  Handle* tree = take_tree(&call, args[1], batch);
  Bytes key = take_bytes(&call, args[2]);
  Bytes value = take_bytes(&call, args[3]);
  const hawthorn_write_options options = take_options(&call, args + 4);
  STOP_IF_FAILED;
  call.code =
      hawthorn_batch_put(AS(batch, batch), AS(tree, tree), B(key), B(value), &options, &call.error);
  return call_none(&call);
}

// batch_change(batch, what, tree, a, b): 0 delete, 1 delete a value, 2 delete a range, 3 merge.
static FUNCTION(batch_change) {
  BEGIN(5);
  Handle* batch = take(&call, args[0], kBatch);
  const uint64_t what = take_number(&call, args[1]);
  Handle* tree = take_tree(&call, args[2], batch);
  Bytes a = take_bytes(&call, args[3]);
  Bytes b = take_optional_bytes(&call, args[4]);
  STOP_IF_FAILED;
  if (what == 0) {
    call.code = hawthorn_batch_del(AS(batch, batch), AS(tree, tree), B(a), &call.error);
  } else if (what == 1) {
    call.code = hawthorn_batch_del_value(AS(batch, batch), AS(tree, tree), B(a), B(b), &call.error);
  } else if (what == 2) {
    call.code =
        hawthorn_batch_delete_range(AS(batch, batch), AS(tree, tree), B(a), B(b), &call.error);
  } else {
    call.code = hawthorn_batch_merge(AS(batch, batch), AS(tree, tree), B(a), B(b), &call.error);
  }
  return call_none(&call);
}

// Columns to read from: rows, key_bytes, key_offsets, value_bytes, value_offsets.
static hawthorn_columns take_columns(Call* call, PyObject* const* args) {
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  const uint64_t rows = take_number(call, args[0]);
  Bytes keys = take_bytes(call, args[1]);
  Bytes key_offsets = take_bytes(call, args[2]);
  Bytes values = take_bytes(call, args[3]);
  Bytes value_offsets = take_bytes(call, args[4]);
  if (call->failed) return columns;
  if (rows >= key_offsets.size / sizeof(int64_t) || rows >= value_offsets.size / sizeof(int64_t) ||
      (uintptr_t)key_offsets.data % sizeof(int64_t) != 0 ||
      (uintptr_t)value_offsets.data % sizeof(int64_t) != 0) {
    PyErr_SetString(PyExc_ValueError, "buffers of offsets that do not fit the number of rows");
    call->failed = 1;
    return columns;
  }
  {
    const int64_t* k = key_offsets.data;
    const int64_t* v = value_offsets.data;
    uint64_t i;
    int ordered = k[0] >= 0 && v[0] >= 0 && (uint64_t)k[rows] <= keys.size &&
                  (uint64_t)v[rows] <= values.size;
    for (i = 0; i < rows; ++i) ordered &= k[i] <= k[i + 1] && v[i] <= v[i + 1];
    if (!ordered) {
      PyErr_SetString(PyExc_ValueError, "offsets that are not those of the bytes");
      call->failed = 1;
      return columns;
    }
  }
  columns.rows = columns.rows_capacity = (size_t)rows;
  columns.key_bytes = (void*)keys.data;
  columns.key_bytes_capacity = keys.size;
  columns.key_offsets = (int64_t*)key_offsets.data;
  columns.value_bytes = (void*)values.data;
  columns.value_bytes_capacity = values.size;
  columns.value_offsets = (int64_t*)value_offsets.data;
  return columns;
}

// batch_put_columns(batch, tree, *columns).
static FUNCTION(batch_put_columns) {
  BEGIN(7);
  Handle* batch = take(&call, args[0], kBatch);
  Handle* tree = take_tree(&call, args[1], batch);
  const hawthorn_columns columns = take_columns(&call, args + 2);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_batch_put_columns(AS(batch, batch), AS(tree, tree), &columns, &call.error));
  return call_none(&call);
}

// batch_clear(batch).
static FUNCTION(batch_clear) {
  BEGIN(1);
  Handle* batch = take(&call, args[0], kBatch);
  STOP_IF_FAILED;
  call.code = hawthorn_batch_clear(AS(batch, batch), &call.error);
  return call_none(&call);
}

// batch_size(batch): operations and bytes.
static FUNCTION(batch_size) {
  unsigned long long operations, bytes;
  BEGIN(1);
  Handle* batch = take(&call, args[0], kBatch);
  STOP_IF_FAILED;
  operations = hawthorn_batch_count(AS(batch, batch));
  bytes = hawthorn_batch_bytes(AS(batch, batch));
  if (!call_end(&call)) return NULL;
  return Py_BuildValue("(KK)", operations, bytes);
}

// batch_write(db, batch, durability).
static FUNCTION(batch_write) {
  hawthorn_write_options options = HAWTHORN_WRITE_OPTIONS_INIT;
  BEGIN(3);
  Handle* db = take(&call, args[0], kDatabase);
  Handle* batch = take(&call, args[1], kBatch);
  options.durability = (hawthorn_durability)take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_write(AS(db, db), AS(batch, batch), &options, &call.error));
  return call_none(&call);
}

// ---- Bulk loading

// ingest(db, tree, unsorted, durability, sort_memory_bytes): a handle.
static FUNCTION(ingest_begin) {
  hawthorn_ingest_options options = HAWTHORN_INGEST_OPTIONS_INIT;
  hawthorn_ingest* ingest = NULL;
  BEGIN(5);
  Handle* db = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], db);
  options.unsorted = take_flag(&call, args[2]);
  options.durability = (hawthorn_durability)take_number(&call, args[3]);
  options.sort_memory_bytes = take_number(&call, args[4]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_ingest(AS(db, db), AS(tree, tree), &options, &ingest, &call.error));
  return call_handle(&call, kIngest, ingest, db, NULL);
}

// ingest_add(ingest, key, value).
static FUNCTION(ingest_add) {
  BEGIN(3);
  Handle* ingest = take(&call, args[0], kIngest);
  Bytes key = take_bytes(&call, args[1]);
  Bytes value = take_bytes(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_ingest_add(AS(ingest, ingest), B(key), B(value), &call.error));
  return call_none(&call);
}

// ingest_add_columns(ingest, *columns).
static FUNCTION(ingest_add_columns) {
  BEGIN(6);
  Handle* ingest = take(&call, args[0], kIngest);
  const hawthorn_columns columns = take_columns(&call, args + 1);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_ingest_add_columns(AS(ingest, ingest), &columns, &call.error));
  return call_none(&call);
}

// ingest_add_stream(ingest, key, size, source).
static FUNCTION(ingest_add_stream) {
  Callback source = {NULL, NULL, NULL, NULL};
  BEGIN(4);
  Handle* ingest = take(&call, args[0], kIngest);
  Bytes key = take_bytes(&call, args[1]);
  const uint64_t size = take_number(&call, args[2]);
  source.callable = args[3];
  STOP_IF_FAILED;
  RUN(&call, hawthorn_ingest_add_stream(AS(ingest, ingest), B(key), size, stream_source, &source,
                                        &call.error));
  return callback_raise(&call, &source) ? NULL : call_none(&call);
}

// ingest_finish(ingest): a list of one dict.
static FUNCTION(ingest_finish) {
  hawthorn_records* records = NULL;
  BEGIN(1);
  Handle* ingest = take(&call, args[0], kIngest);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_ingest_finish(AS(ingest, ingest), &call.error));
  if (call.code == HAWTHORN_OK) {
    call.code = hawthorn_ingest_stats(AS(ingest, ingest), &records, &call.error);
  }
  return call_records(&call, records);
}

PyMethodDef write_methods[] = {
#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
    METHOD("put", put),
    METHOD("delete", delete_key),
    METHOD("delete_value", delete_value),
    METHOD("delete_range", delete_range),
    METHOD("merge", merge),
    METHOD("insert", insert),
    METHOD("update", update),
    METHOD("replace", replace),
    METHOD("remove_if", remove_if),
    METHOD("write_part", write_part),
    METHOD("append", append),
    METHOD("resize", resize),
    METHOD("batch", batch_create),
    METHOD("batch_put", batch_put),
    METHOD("batch_change", batch_change),
    METHOD("batch_put_columns", batch_put_columns),
    METHOD("batch_clear", batch_clear),
    METHOD("batch_size", batch_size),
    METHOD("batch_write", batch_write),
    METHOD("ingest", ingest_begin),
    METHOD("ingest_add", ingest_add),
    METHOD("ingest_add_columns", ingest_add_columns),
    METHOD("ingest_add_stream", ingest_add_stream),
    METHOD("ingest_finish", ingest_finish),
    {NULL, NULL, 0, NULL}};
