// Cursors: step by step, many entries as objects, many entries into columns; and reads that do not
// wait (queues).

#include "binding.h"

// cursor(source, tree, low, high, keys_only, snapshot): a handle. low and high may be None.
static FUNCTION(cursor_open) {
  hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
  hawthorn_cursor* cursor = NULL;
  int is_txn;
  BEGIN(6);
  Handle* source = take_source(&call, args[0]);
  Handle* tree = take_tree(&call, args[1], source);
  Bytes low = take_optional_bytes(&call, args[2]);
  Bytes high = take_optional_bytes(&call, args[3]);
  options.keys_only = take_flag(&call, args[4]);
  options.snapshot = take_snapshot(&call, args[5], source);
  STOP_IF_FAILED;
  options.lower = low.data, options.lower_size = low.size;
  options.upper = high.data, options.upper_size = high.size;
  is_txn = source->kind == kTxn;
  RUN(&call,
      is_txn ? hawthorn_txn_cursor(AS(source, txn), AS(tree, tree), &options, &cursor, &call.error)
             : hawthorn_db_cursor(AS(source, db), AS(tree, tree), &options, &cursor, &call.error));
  return call_handle(&call, kCursor, cursor, is_txn ? source->db : source,
                     is_txn ? source->root : NULL);
}

typedef hawthorn_code (*Move)(hawthorn_cursor*, int*, hawthorn_error**);
static const Move moves[] = {hawthorn_cursor_first,       hawthorn_cursor_last,
                             hawthorn_cursor_next,        hawthorn_cursor_prev,
                             hawthorn_cursor_next_key,    hawthorn_cursor_prev_key,
                             hawthorn_cursor_next_value,  hawthorn_cursor_prev_value,
                             hawthorn_cursor_first_value, hawthorn_cursor_last_value};

// cursor_move(cursor, which): flag.
static FUNCTION(cursor_move) {
  int found = 0;
  BEGIN(2);
  Handle* cursor = take(&call, args[0], kCursor);
  const uint64_t which = take_number(&call, args[1]);
  if (!call.failed && which >= sizeof(moves) / sizeof(moves[0])) {
    PyErr_SetString(PyExc_ValueError, "there is no such move");
    call.failed = 1;
  }
  STOP_IF_FAILED;
  RUN(&call, moves[which](AS(cursor, cursor), &found, &call.error));
  return call_flag(&call, found);
}

// cursor_seek(cursor, key, backward): flag.
static FUNCTION(cursor_seek) {
  int found = 0;
  BEGIN(3);
  Handle* cursor = take(&call, args[0], kCursor);
  Bytes key = take_bytes(&call, args[1]);
  const int backward = take_flag(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, backward
                 ? hawthorn_cursor_seek_for_prev(AS(cursor, cursor), B(key), &found, &call.error)
                 : hawthorn_cursor_seek(AS(cursor, cursor), B(key), &found, &call.error));
  return call_flag(&call, found);
}

// cursor_seek_value(cursor, key, value): flag.
static FUNCTION(cursor_seek_value) {
  int found = 0;
  BEGIN(3);
  Handle* cursor = take(&call, args[0], kCursor);
  Bytes key = take_bytes(&call, args[1]);
  Bytes value = take_bytes(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_cursor_seek_value(AS(cursor, cursor), B(key), B(value), &found, &call.error));
  return call_flag(&call, found);
}

// cursor_skip(cursor, count): flag.
static FUNCTION(cursor_skip) {
  int found = 0;
  BEGIN(2);
  Handle* cursor = take(&call, args[0], kCursor);
  const int64_t steps = take_signed(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_cursor_skip(AS(cursor, cursor), steps, &found, &call.error));
  return call_flag(&call, found);
}

// cursor_seek_random(cursor, random): flag.
static FUNCTION(cursor_seek_random) {
  int found = 0;
  BEGIN(2);
  Handle* cursor = take(&call, args[0], kCursor);
  const uint64_t random = take_number(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_cursor_seek_random(AS(cursor, cursor), random, &found, &call.error));
  return call_flag(&call, found);
}

// cursor_count_values(cursor): number.
static FUNCTION(cursor_count_values) {
  uint64_t number = 0;
  BEGIN(1);
  Handle* cursor = take(&call, args[0], kCursor);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_cursor_count_values(AS(cursor, cursor), &number, &call.error));
  return call_number(&call, number);
}

// cursor_is_subtree(cursor): flag.
static FUNCTION(cursor_is_subtree) {
  int is_subtree = 0;
  BEGIN(1);
  Handle* cursor = take(&call, args[0], kCursor);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_cursor_is_subtree(AS(cursor, cursor), &is_subtree, &call.error));
  return call_flag(&call, is_subtree);
}

// cursor_expires_at(cursor): milliseconds, 0 for never.
static FUNCTION(cursor_expires_at) {
  BEGIN(1);
  Handle* cursor = take(&call, args[0], kCursor);
  STOP_IF_FAILED;
  return call_number(&call, hawthorn_cursor_expires_at(AS(cursor, cursor)));
}

// cursor_entry(cursor, which): bytes, or None where it stands on none. 0 the key, 1 the value.
static FUNCTION(cursor_entry) {
  size_t size = 0;
  const void* data;
  PyObject* result;
  BEGIN(2);
  Handle* cursor = take(&call, args[0], kCursor);
  const uint64_t which = take_number(&call, args[1]);
  STOP_IF_FAILED;
  data = which == 0 ? hawthorn_cursor_key(AS(cursor, cursor), &size)
                    : hawthorn_cursor_value(AS(cursor, cursor), &size);
  if (data == NULL) {
    // Nothing is there: after an error, or where the transaction has ended, that is told.
    call.code = hawthorn_cursor_status(AS(cursor, cursor), &call.error);
    return call_none(&call);
  }
  result = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  if (result == NULL) call.failed = 1;
  if (call_end(&call)) return result;
  Py_XDECREF(result);
  return NULL;
}

// ---- Many entries as objects

enum { kKeys = 0, kValues = 1, kItems = 2, kEntriesFirst = 16, kEntriesMax = 1024 };
enum { kBufferBytes = 256 << 10 };

static PyObject* entry_object(const void* key, size_t key_size, const void* value,
                              size_t value_size, int what) {
  PyObject *k = NULL, *v = NULL, *pair;
  if (what != kValues) k = PyBytes_FromStringAndSize(key, (Py_ssize_t)key_size);
  if (what == kKeys) return k;
  if (what == kItems && k == NULL) return NULL;
  v = PyBytes_FromStringAndSize(value, (Py_ssize_t)value_size);
  if (what == kValues) return v;
  if (v == NULL) {
    Py_DECREF(k);
    return NULL;
  }
  pair = PyTuple_New(2);
  if (pair == NULL) {
    Py_DECREF(k);
    Py_DECREF(v);
    return NULL;
  }
  PyTuple_SetItem(pair, 0, k);
  PyTuple_SetItem(pair, 1, v);
  return pair;
}

// How many entries come next: twice as many as before, and no more than some 1 MB.
static void choose_next(Handle* cursor, size_t filled, size_t bytes) {
  size_t next = filled * 2;
  if (filled > 0 && bytes / filled > 0 && next > (1u << 20) / (bytes / filled)) {
    next = (1u << 20) / (bytes / filled);
  }
  cursor->entries_next = next < 1 ? 1 : next > kEntriesMax ? kEntriesMax : next;
}

static PyObject* list_ahead(Call* call, Handle* cursor, int what) {
  hawthorn_entry entries[kEntriesMax];
  size_t filled = 0, bytes = 0, i;
  PyObject* list;
  const size_t entries_max = cursor->entries_next > 0 ? cursor->entries_next : kEntriesFirst;
  RUN(call,
      hawthorn_cursor_next_batch(AS(cursor, cursor), entries, entries_max, &filled, &call->error));
  if (call->code != HAWTHORN_OK) return NULL;
  list = PyList_New((Py_ssize_t)filled);
  for (i = 0; list != NULL && i < filled; ++i) {
    PyObject* object = entry_object(entries[i].key, entries[i].key_size, entries[i].value,
                                    entries[i].value_size, what);
    bytes += entries[i].key_size + entries[i].value_size;
    if (object == NULL || PyList_SetItem(list, (Py_ssize_t)i, object) != 0) Py_CLEAR(list);
  }
  choose_next(cursor, filled, bytes);
  return list;
}

// Backwards entries are copied to memory of the cursor's handle first: half for keys, half for
// values.
static PyObject* list_back(Call* call, Handle* cursor, int what) {
  int64_t key_offsets[kEntriesMax + 1], value_offsets[kEntriesMax + 1];
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  size_t half, i;
  PyObject* list;
  if (cursor->buffer == NULL) {
    cursor->buffer = malloc(kBufferBytes);
    cursor->buffer_size = cursor->buffer != NULL ? kBufferBytes : 0;
  }
  for (;;) {
    half = cursor->buffer_size / 2;
    columns.rows_capacity = cursor->entries_next > 0 ? cursor->entries_next : kEntriesFirst;
    columns.key_bytes = cursor->buffer;
    columns.value_bytes = (char*)cursor->buffer + half;
    columns.key_bytes_capacity = columns.value_bytes_capacity = half;
    columns.key_offsets = key_offsets;
    columns.value_offsets = value_offsets;
    if (cursor->buffer == NULL) {
      PyErr_NoMemory();
      return NULL;
    }
    RUN(call, hawthorn_cursor_prev_columns(AS(cursor, cursor), &columns, &call->error));
    if (call->code != HAWTHORN_BUFFER_TOO_SMALL) break;
    hawthorn_error_free(call->error);
    call->error = NULL;
    call->code = HAWTHORN_OK;
    half = columns.value_bytes_needed > columns.key_bytes_needed ? columns.value_bytes_needed
                                                                 : columns.key_bytes_needed;
    free(cursor->buffer);
    cursor->buffer_size = half * 2;
    cursor->buffer = malloc(cursor->buffer_size);
  }
  if (call->code != HAWTHORN_OK) return NULL;
  list = PyList_New((Py_ssize_t)columns.rows);
  for (i = 0; list != NULL && i < columns.rows; ++i) {
    PyObject* object = entry_object((char*)columns.key_bytes + key_offsets[i],
                                    (size_t)(key_offsets[i + 1] - key_offsets[i]),
                                    (char*)columns.value_bytes + value_offsets[i],
                                    (size_t)(value_offsets[i + 1] - value_offsets[i]), what);
    if (object == NULL || PyList_SetItem(list, (Py_ssize_t)i, object) != 0) Py_CLEAR(list);
  }
  choose_next(cursor, columns.rows, 0);
  return list;
}

// cursor_list(cursor, what, backward): a list of keys, values or pairs; empty: the end.
static FUNCTION(cursor_list) {
  PyObject* list;
  BEGIN(3);
  Handle* cursor = take(&call, args[0], kCursor);
  const int what = (int)take_signed(&call, args[1]);
  const int backward = take_flag(&call, args[2]);
  STOP_IF_FAILED;
  list = backward ? list_back(&call, cursor, what) : list_ahead(&call, cursor, what);
  if (list == NULL && call.code == HAWTHORN_OK) call.failed = 1;
  if (call_end(&call)) return list;
  Py_XDECREF(list);
  return NULL;
}

// cursor_columns(cursor, rows, key_bytes, key_offsets, value_bytes, value_offsets, backward): rows,
// key bytes and value bytes; rows of -1: not one fits, and how much it takes.
static FUNCTION(cursor_columns) {
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  size_t key_offsets_size = 0, value_offsets_size = 0;
  long long rows;
  BEGIN(7);
  Handle* cursor = take(&call, args[0], kCursor);
  const uint64_t rows_max = take_number(&call, args[1]);
  columns.key_bytes = take_buffer(&call, args[2], &columns.key_bytes_capacity);
  columns.key_offsets = take_buffer(&call, args[3], &key_offsets_size);
  columns.value_bytes = take_buffer(&call, args[4], &columns.value_bytes_capacity);
  columns.value_offsets = take_buffer(&call, args[5], &value_offsets_size);
  const int backward = take_flag(&call, args[6]);
  STOP_IF_FAILED;
  if (rows_max == 0 || rows_max >= key_offsets_size / sizeof(int64_t) ||
      rows_max >= value_offsets_size / sizeof(int64_t) ||
      (uintptr_t)columns.key_offsets % sizeof(int64_t) != 0 ||
      (uintptr_t)columns.value_offsets % sizeof(int64_t) != 0) {
    PyErr_SetString(PyExc_ValueError, "buffers of offsets that do not fit the number of rows");
    call.failed = 1;
    return call_none(&call);
  }
  columns.rows_capacity = (size_t)rows_max;
  RUN(&call, backward ? hawthorn_cursor_prev_columns(AS(cursor, cursor), &columns, &call.error)
                      : hawthorn_cursor_next_columns(AS(cursor, cursor), &columns, &call.error));
  rows = (long long)columns.rows;
  if (call.code == HAWTHORN_BUFFER_TOO_SMALL) {
    call.code = HAWTHORN_OK;
    rows = -1;
  }
  if (!call_end(&call)) return NULL;
  if (rows >= 0) {
    return Py_BuildValue("(LLL)", rows, rows == 0 ? 0ll : (long long)columns.key_offsets[rows],
                         rows == 0 ? 0ll : (long long)columns.value_offsets[rows]);
  }
  return Py_BuildValue("(LKK)", rows, (unsigned long long)columns.key_bytes_needed,
                       (unsigned long long)columns.value_bytes_needed);
}

PyMethodDef cursor_methods[] = {
#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
    METHOD("cursor", cursor_open),
    METHOD("cursor_move", cursor_move),
    METHOD("cursor_seek", cursor_seek),
    METHOD("cursor_seek_value", cursor_seek_value),
    METHOD("cursor_skip", cursor_skip),
    METHOD("cursor_seek_random", cursor_seek_random),
    METHOD("cursor_count_values", cursor_count_values),
    METHOD("cursor_is_subtree", cursor_is_subtree),
    METHOD("cursor_expires_at", cursor_expires_at),
    METHOD("cursor_entry", cursor_entry),
    METHOD("cursor_list", cursor_list),
    METHOD("cursor_columns", cursor_columns),
    {NULL, NULL, 0, NULL}};

// ---- Reads that do not wait

// queue(db, depth): a handle.
static FUNCTION(queue_open) {
  hawthorn_read_queue* queue = NULL;
  hawthorn_value* value = NULL;
  PyObject* handle;
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  const uint64_t depth = take_number(&call, args[1]);
  if (!call.failed && depth > 4096) {
    PyErr_SetString(PyExc_ValueError, "the depth is 1 to 4096");
    call.failed = 1;
  }
  STOP_IF_FAILED;
  value = hawthorn_value_create();
  RUN(&call, hawthorn_read_queue_open(AS(db, db), (uint32_t)depth, &queue, &call.error));
  if (call.code == HAWTHORN_OK && value == NULL) {
    hawthorn_read_queue_free(queue);
    queue = NULL;
  }
  handle = call_handle(&call, kQueue, queue, db, NULL);
  if (handle == NULL) {
    hawthorn_value_free(value);
  } else {
    ((Handle*)handle)->buffer = value;
  }
  return handle;
}

// queue_fd(queue): a descriptor, or -1.
static FUNCTION(queue_fd) {
  int descriptor;
  BEGIN(1);
  Handle* queue = take(&call, args[0], kQueue);
  STOP_IF_FAILED;
  descriptor = hawthorn_read_queue_event_fd(AS(queue, read_queue));
  if (!call_end(&call)) return NULL;
  return PyLong_FromLong(descriptor);
}

// queue_get(queue, tree, key, snapshot, tag).
static FUNCTION(queue_get) {
  BEGIN(5);
  Handle* queue = take(&call, args[0], kQueue);
  Handle* tree = take_tree(&call, args[1], queue);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], queue);
  const uint64_t tag = take_number(&call, args[4]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_read_queue_get(AS(queue, read_queue), AS(tree, tree), B(key), snapshot, tag,
                                     NULL, NULL, &call.error));
  return call_none(&call);
}

// What the oldest completion came to: a tag, and bytes, None, or an exception. NULL without an
// exception: there is none.
static PyObject* take_completion(hawthorn_read_queue* queue, hawthorn_value* value) {
  hawthorn_error* error = NULL;
  PyObject* result = NULL;
  uint64_t tag = 0;
  int found = 0;
  const hawthorn_code code = hawthorn_read_queue_take(queue, &found, &tag, value, &error);
  if (!found) {
    hawthorn_error_free(error);
    return NULL;
  }
  if (code == HAWTHORN_OK) {
    size_t size = 0;
    const void* data = hawthorn_value_data(value, &size);
    result = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  } else if (code == HAWTHORN_NOT_FOUND) {
    Py_INCREF(Py_None);
    result = Py_None;
  } else {
    PyObject *type, *traceback;
    size_t size = 0;
    const char* message = hawthorn_error_message(error, &size);
    raise_code(code, message, size);
    PyErr_Fetch(&type, &result, &traceback);
    PyErr_NormalizeException(&type, &result, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
  }
  hawthorn_error_free(error);
  if (result == NULL) return NULL;
  return Py_BuildValue("(KN)", (unsigned long long)tag, result);
}

// queue_poll(queue, wait): a list of (tag, result).
static FUNCTION(queue_poll) {
  size_t completed = 0;
  PyObject *list = NULL, *pair;
  BEGIN(2);
  Handle* queue = take(&call, args[0], kQueue);
  const int wait = take_flag(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, wait ? hawthorn_read_queue_wait(AS(queue, read_queue), &completed, &call.error)
                  : hawthorn_read_queue_poll(AS(queue, read_queue), &completed, &call.error));
  if (call.code == HAWTHORN_OK) {
    list = PyList_New(0);
    while (list != NULL && (pair = take_completion(AS(queue, read_queue), queue->buffer)) != NULL) {
      if (PyList_Append(list, pair) != 0) Py_CLEAR(list);
      Py_DECREF(pair);
    }
    hawthorn_value_release(queue->buffer);
    if (PyErr_Occurred()) Py_CLEAR(list);
    if (list == NULL) call.failed = 1;
  }
  if (call_end(&call)) return list;
  Py_XDECREF(list);
  return NULL;
}

// queue_pending(queue): number.
static FUNCTION(queue_pending) {
  BEGIN(1);
  Handle* queue = take(&call, args[0], kQueue);
  STOP_IF_FAILED;
  return call_number(&call, hawthorn_read_queue_pending(AS(queue, read_queue)));
}

PyMethodDef queue_methods[] = {METHOD("queue", queue_open),
                               METHOD("queue_fd", queue_fd),
                               METHOD("queue_get", queue_get),
                               METHOD("queue_poll", queue_poll),
                               METHOD("queue_pending", queue_pending),
                               {NULL, NULL, 0, NULL}};
