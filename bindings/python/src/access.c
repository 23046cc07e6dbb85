// Reads of a database or a transaction: one key, many keys, counts, parts of values.

#include "binding.h"

enum { kOnStack = 4096 };  // values up to this size cost one copy, and no object of the library

static int is_db(const Handle* source) { return source->kind == kDatabase; }

static hawthorn_code get_value(Handle* source, Handle* tree, Bytes key,
                               const hawthorn_snapshot* snapshot, int how, hawthorn_value* value,
                               hawthorn_error** error) {
  if (!is_db(source)) {
    return how == 2
               ? hawthorn_txn_get_for_update(AS(source, txn), AS(tree, tree), B(key), value, error)
               : hawthorn_txn_get(AS(source, txn), AS(tree, tree), B(key), value, error);
  }
  return how == 1 ? hawthorn_db_get_in_memory(AS(source, db), AS(tree, tree), B(key), snapshot,
                                              value, error)
                  : hawthorn_db_get(AS(source, db), AS(tree, tree), B(key), snapshot, value, error);
}

// get(source, tree, key, snapshot): bytes, or None.
static FUNCTION(get) {
  char buffer[kOnStack];
  size_t size = 0;
  hawthorn_value* value = NULL;
  PyObject* result = NULL;
  BEGIN(4);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_get_into(AS(source, db), AS(tree, tree), B(key), snapshot,
                                                  buffer, sizeof(buffer), &size, &call.error)
                           : hawthorn_txn_get_into(AS(source, txn), AS(tree, tree), B(key), buffer,
                                                   sizeof(buffer), &size, &call.error));
  if (call.code == HAWTHORN_OK) {
    result = PyBytes_FromStringAndSize(buffer, (Py_ssize_t)size);
  } else if (call.code == HAWTHORN_BUFFER_TOO_SMALL) {
    hawthorn_error_free(call.error);
    call.error = NULL;
    call.code = HAWTHORN_OK;
    value = hawthorn_value_create();
    if (value != NULL) {
      RUN(&call, get_value(source, tree, key, snapshot, 0, value, &call.error));
    }
    if (value != NULL && call.code == HAWTHORN_OK) {
      const void* data = hawthorn_value_data(value, &size);
      result = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    } else if (value == NULL) {
      PyErr_NoMemory();
    }
    hawthorn_value_free(value);
  }
  if (call.code == HAWTHORN_NOT_FOUND) {
    call.code = HAWTHORN_OK;
    Py_INCREF(Py_None);
    result = Py_None;
  }
  if (result == NULL && call.code == HAWTHORN_OK) call.failed = 1;
  if (call_end(&call)) return result;
  Py_XDECREF(result);
  return NULL;
}

// get_value(source, tree, key, snapshot, how): a handle with the buffer protocol, or None. how: 0 a
// get, 1 one from memory alone, 2 one for an update.
static FUNCTION(get_view) {
  hawthorn_value* value = NULL;
  BEGIN(5);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], source);
  const int how = (int)take_signed(&call, args[4]);
  STOP_IF_FAILED;
  value = hawthorn_value_create();
  if (value != NULL) {
    RUN(&call, get_value(source, tree, key, snapshot, how, value, &call.error));
    if (call.code != HAWTHORN_OK) hawthorn_value_free(value);
    if (call.code == HAWTHORN_NOT_FOUND) {
      call.code = HAWTHORN_OK;
      return call_none(&call);
    }
  }
  return call_handle(&call, kValue, value, source->db != NULL ? source->db : source, NULL);
}

// contains(source, tree, key, snapshot): flag.
static FUNCTION(contains) {
  char nothing[1];
  size_t size = 0;
  int found;
  BEGIN(4);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_get_into(AS(source, db), AS(tree, tree), B(key), snapshot,
                                                  nothing, 0, &size, &call.error)
                           : hawthorn_txn_get_into(AS(source, txn), AS(tree, tree), B(key), nothing,
                                                   0, &size, &call.error));
  found = call.code == HAWTHORN_OK || call.code == HAWTHORN_BUFFER_TOO_SMALL;
  if (found || call.code == HAWTHORN_NOT_FOUND) call.code = HAWTHORN_OK;
  return call_flag(&call, found);
}

// changed_since(db, tree, key, snapshot): flag.
static FUNCTION(changed_since) {
  int changed = 0;
  BEGIN(4);
  Handle* source = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* since = take_snapshot(&call, args[3], source);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_changed_since(AS(source, db), AS(tree, tree), B(key), since, &changed,
                                       &call.error));
  return call_flag(&call, changed);
}

// expires_at(db, tree, key, snapshot): milliseconds, or None where there is no such key.
static FUNCTION(expires_at) {
  uint64_t moment = 0;
  BEGIN(4);
  Handle* source = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], source);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_expires_at(AS(source, db), AS(tree, tree), B(key), snapshot, &moment,
                                    &call.error));
  return call_number(&call, moment);
}

// count(source, tree, low, high, snapshot): number.
static FUNCTION(count_range) {
  uint64_t number = 0;
  BEGIN(5);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes low = take_bytes(&call, args[2]);
  Bytes high = take_optional_bytes(&call, args[3]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[4], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_count(AS(source, db), AS(tree, tree), B(low), B(high),
                                               snapshot, &number, &call.error)
                           : hawthorn_txn_count(AS(source, txn), AS(tree, tree), B(low), B(high),
                                                &number, &call.error));
  return call_number(&call, number);
}

// estimate(db, tree, low, high): entries and bytes.
static FUNCTION(estimate) {
  uint64_t entries = 0, bytes = 0;
  BEGIN(4);
  Handle* source = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes low = take_bytes(&call, args[2]);
  Bytes high = take_optional_bytes(&call, args[3]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_estimate(AS(source, db), AS(tree, tree), B(low), B(high), &entries, &bytes,
                                  &call.error));
  if (!call_end(&call)) return NULL;
  return Py_BuildValue("(KK)", (unsigned long long)entries, (unsigned long long)bytes);
}

// explain(db, tree, key, snapshot): a list of one dict.
static FUNCTION(explain) {
  hawthorn_records* records = NULL;
  BEGIN(4);
  Handle* source = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], source);
  STOP_IF_FAILED;
  RUN(&call,
      hawthorn_db_explain(AS(source, db), AS(tree, tree), B(key), snapshot, &records, &call.error));
  return call_records(&call, records);
}

// size_of(source, tree, key, snapshot): number, or None.
static FUNCTION(size_of) {
  uint64_t size = 0;
  BEGIN(4);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_size_of(AS(source, db), AS(tree, tree), B(key), snapshot,
                                                 &size, &call.error)
                           : hawthorn_txn_size_of(AS(source, txn), AS(tree, tree), B(key), &size,
                                                  &call.error));
  return call_number(&call, size);
}

// read_part(source, tree, key, offset, buffer, snapshot): how many bytes were read.
static FUNCTION(read_part) {
  size_t size = 0, capacity = 0;
  BEGIN(6);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const uint64_t offset = take_number(&call, args[3]);
  void* buffer = take_buffer(&call, args[4], &capacity);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[5], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_read_part(AS(source, db), AS(tree, tree), B(key), offset,
                                                   buffer, capacity, snapshot, &size, &call.error)
                           : hawthorn_txn_read_part(AS(source, txn), AS(tree, tree), B(key), offset,
                                                    buffer, capacity, &size, &call.error));
  return call_number(&call, size);
}

// ---- Many keys. Batches of answers are used again, since they keep their memory.

enum { kSpareMax = 4 };
static hawthorn_read_batch* spare[kSpareMax];
static int spare_count;

static hawthorn_read_batch* batch_take(void) {
  return spare_count > 0 ? spare[--spare_count] : hawthorn_read_batch_create();
}

static void batch_give(hawthorn_read_batch* batch) {
  int keep;
  if (batch == NULL) return;
  // One that has become very large is let go.
  keep = hawthorn_read_batch_value_bytes(batch) <= (4u << 20);
  Py_BEGIN_ALLOW_THREADS hawthorn_read_batch_release(batch);
  Py_END_ALLOW_THREADS if (keep && spare_count < kSpareMax) { spare[spare_count++] = batch; }
  else {
    hawthorn_read_batch_free(batch);
  }
}

// The keys of a sequence, as a tuple that holds them, and where they are.
static hawthorn_bytes* keys_of(PyObject* sequence, PyObject** held, size_t* key_count) {
  hawthorn_bytes* keys = NULL;
  Py_ssize_t i, size;
  PyObject* list = PySequence_List(sequence);  // ours: nobody else changes it
  *held = NULL;
  if (list == NULL) return NULL;
  size = PyList_Size(list);
  keys = malloc(((size_t)size + 1) * sizeof(hawthorn_bytes));
  if (keys == NULL) PyErr_NoMemory();
  for (i = 0; keys != NULL && i < size; ++i) {
    PyObject* key = PyList_GetItem(list, i);
    if (!PyBytes_CheckExact(key)) {
      if (!PyObject_CheckBuffer(key)) {
        PyErr_SetString(PyExc_TypeError, "keys are bytes-like");
        key = NULL;
      } else {
        key = PyBytes_FromObject(key);
      }
      if (key == NULL || PyList_SetItem(list, i, key) != 0) {
        free(keys);
        keys = NULL;
        break;
      }
    }
    keys[i].data = PyBytes_AsString(key);
    keys[i].size = (size_t)PyBytes_Size(key);
  }
  if (keys == NULL) {
    Py_DECREF(list);
    return NULL;
  }
  *held = list;
  *key_count = (size_t)size;
  return keys;
}

// multi_get(source, tree, keys, snapshot): a list of bytes or None.
static FUNCTION(multi_get) {
  PyObject *held = NULL, *result = NULL;
  hawthorn_read_batch* batch = NULL;
  hawthorn_bytes* keys;
  size_t key_count = 0, i;
  BEGIN(4);
  keys = keys_of(args[2], &held, &key_count);
  if (keys == NULL) return NULL;
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], source);
  if (!call.failed) {
    batch = batch_take();
    if (batch == NULL) {
      PyErr_NoMemory();
      call.failed = 1;
    }
  }
  if (!call.failed) {
    RUN(&call, is_db(source) ? hawthorn_db_multi_get(AS(source, db), AS(tree, tree), keys,
                                                     key_count, snapshot, batch, &call.error)
                             : hawthorn_txn_multi_get(AS(source, txn), AS(tree, tree), keys,
                                                      key_count, batch, &call.error));
    if (call.code == HAWTHORN_OK) result = PyList_New((Py_ssize_t)key_count);
    for (i = 0; result != NULL && i < key_count; ++i) {
      size_t size = 0;
      const void* data = hawthorn_read_batch_value(batch, i, &size);
      PyObject* value = Py_None;
      if (data != NULL) {
        value = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
      } else {
        Py_INCREF(value);
      }
      if (value == NULL || PyList_SetItem(result, (Py_ssize_t)i, value) != 0) Py_CLEAR(result);
    }
    if (call.code == HAWTHORN_OK && result == NULL) call.failed = 1;
  }
  batch_give(batch);
  free(keys);
  Py_DECREF(held);
  if (call_end(&call)) return result;
  Py_XDECREF(result);
  return NULL;
}

// multi_get_columns(source, tree, key_bytes, key_offsets, snapshot, value_bytes, value_offsets,
// found): 0, or how many bytes all values take where these do not fit.
static FUNCTION(multi_get_columns) {
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  hawthorn_read_batch* batch;
  size_t offsets_size = 0, found_size = 0, key_count;
  uint64_t needed = 0;
  BEGIN(8);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes key_bytes = take_bytes(&call, args[2]);
  Bytes key_offsets = take_bytes(&call, args[3]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[4], source);
  columns.value_bytes = take_buffer(&call, args[5], &columns.value_bytes_capacity);
  columns.value_offsets = take_buffer(&call, args[6], &offsets_size);
  columns.found = take_buffer(&call, args[7], &found_size);
  STOP_IF_FAILED;
  key_count = key_offsets.size / sizeof(int64_t);
  if (key_count > 0) --key_count;
  if (key_offsets.size % sizeof(int64_t) != 0 || key_offsets.size == 0 ||
      (uintptr_t)key_offsets.data % sizeof(int64_t) != 0 ||
      (uintptr_t)columns.value_offsets % sizeof(int64_t) != 0 ||
      offsets_size < (key_count + 1) * sizeof(int64_t) || found_size < key_count) {
    PyErr_SetString(PyExc_ValueError, "buffers of offsets that do not fit the number of keys");
    call.failed = 1;
    return call_none(&call);
  }
  {
    const int64_t* offsets = key_offsets.data;
    size_t i;
    int ordered = offsets[0] >= 0 && (uint64_t)offsets[key_count] <= key_bytes.size;
    for (i = 0; i < key_count; ++i) ordered &= offsets[i] <= offsets[i + 1];
    if (!ordered) {
      PyErr_SetString(PyExc_ValueError, "offsets that are not those of the keys' bytes");
      call.failed = 1;
      return call_none(&call);
    }
  }
  columns.rows_capacity = key_count;
  batch = batch_take();
  if (batch == NULL) {
    PyErr_NoMemory();
    call.failed = 1;
    return call_none(&call);
  }
  RUN(&call, is_db(source) ? hawthorn_db_multi_get_columns(
                                 AS(source, db), AS(tree, tree), key_bytes.data, key_offsets.data,
                                 key_count, snapshot, batch, &columns, &call.error)
                           : hawthorn_txn_multi_get_columns(
                                 AS(source, txn), AS(tree, tree), key_bytes.data, key_offsets.data,
                                 key_count, batch, &columns, &call.error));
  if (call.code == HAWTHORN_BUFFER_TOO_SMALL ||
      (call.code == HAWTHORN_OK && columns.rows < key_count)) {
    call.code = HAWTHORN_OK;
    needed = hawthorn_read_batch_value_bytes(batch);
  }
  batch_give(batch);
  return call_number(&call, needed);
}

PyMethodDef access_methods[] = {
#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
    METHOD("get", get),
    METHOD("get_value", get_view),
    METHOD("contains", contains),
    METHOD("changed_since", changed_since),
    METHOD("expires_at", expires_at),
    METHOD("count", count_range),
    METHOD("estimate", estimate),
    METHOD("explain", explain),
    METHOD("size_of", size_of),
    METHOD("read_part", read_part),
    METHOD("multi_get", multi_get),
    METHOD("multi_get_columns", multi_get_columns),
    {NULL, NULL, 0, NULL}};
