// Handles, the arguments of calls, and how errors become exceptions (binding.h).

#include "binding.h"

PyTypeObject* handle_type;
static PyObject* error_classes;  // a dict from codes; 0: the class of all others

static const char* const kind_names[kKinds] = {
    "database", "tree",      "snapshot", "transaction", "cursor",   "batch",      "value",
    "queue",    "bulk load", "feed",     "replica",     "follower", "repository", "options"};

static int is_shared(Kind kind) {
  return kind == kDatabase || kind == kTree || kind == kSnapshot || kind == kFollower ||
         kind == kRepository;
}

static void free_pointer(Kind kind, void* pointer) {
  switch (kind) {
    case kDatabase:
      hawthorn_db_free(pointer);
      break;
    case kTree:
      hawthorn_tree_free(pointer);
      break;
    case kSnapshot:
      hawthorn_snapshot_free(pointer);
      break;
    case kTxn:
      hawthorn_txn_free(pointer);
      break;
    case kCursor:
      hawthorn_cursor_free(pointer);
      break;
    case kBatch:
      hawthorn_batch_free(pointer);
      break;
    case kValue:
      hawthorn_value_free(pointer);
      break;
    case kQueue:
      hawthorn_read_queue_free(pointer);
      break;
    case kIngest:
      hawthorn_ingest_free(pointer);
      break;
    case kFeed:
      hawthorn_feed_free(pointer);
      break;
    case kReplica:
      hawthorn_replica_free(pointer);
      break;
    case kFollower:
      hawthorn_follower_free(pointer);
      break;
    case kRepository:
      hawthorn_repository_free(pointer);
      break;
    case kOptions:
      hawthorn_options_free(pointer);
      break;
    case kKinds:
      break;
  }
}

// Made by a process of which this one is a child of fork. What its threads were doing stays half
// done here, and their calls never end: it is left as it is, and goes with the process.
static int is_inherited(const Handle* self) { return self->forks != process_forks(); }

// Frees the object, of which nobody knows any more. The library may wait for its threads, which
// may wait for the GIL.
static void free_unlocked(Kind kind, void* pointer, void* value) {
  Py_BEGIN_ALLOW_THREADS free_pointer(kind, pointer);
  if (value != NULL) hawthorn_value_free(value);
  Py_END_ALLOW_THREADS
}

static void unlink_child(Handle* self) {
  if (self->db == NULL) return;
  if (self->previous != NULL) self->previous->next = self->next;
  if (self->next != NULL) self->next->previous = self->previous;
  if (self->db->children == self) self->db->children = self->next;
  self->previous = self->next = NULL;
}

// What went while another call used its transaction: it is freed when that call ends.
typedef struct Deferred {
  struct Deferred* next;
  Kind kind;
  void* pointer;
} Deferred;

static void free_deferred(Handle* root) {
  while (root->deferred != NULL) {
    Deferred* const first = root->deferred;
    root->deferred = first->next;
    free_unlocked(first->kind, first->pointer, NULL);
    free(first);
  }
}

static void release_pointer(Handle* self) {
  void* const pointer = self->pointer;
  void* value = NULL;
  if (pointer == NULL) return;
  unlink_child(self);
  self->pointer = NULL;
  if (is_inherited(self)) return;
  if (self->root != self && self->root->busy) {
    Deferred* deferred = malloc(sizeof(Deferred));
    free(self->buffer);
    self->buffer = NULL;
    if (deferred == NULL) return;  // without memory it stays until the process ends
    deferred->next = self->root->deferred;
    deferred->kind = self->kind;
    deferred->pointer = pointer;
    self->root->deferred = deferred;
    return;
  }
  if (self->kind == kQueue) {
    value = self->buffer;
  } else {
    free(self->buffer);
  }
  self->buffer = NULL;
  self->buffer_size = 0;
  free_unlocked(self->kind, pointer, value);
}

PyObject* handle_new(Kind kind, void* pointer, Handle* db, Handle* root) {
  Handle* self = PyObject_New(Handle, handle_type);
  if (self == NULL) {
    free_unlocked(kind, pointer, NULL);
    return NULL;
  }
  memset((char*)self + offsetof(Handle, kind), 0, sizeof(Handle) - offsetof(Handle, kind));
  self->kind = kind;
  self->pointer = pointer;
  self->forks = process_forks();
  self->root = root != NULL ? root : self;
  if (root != NULL) Py_INCREF((PyObject*)root);
  if (db != NULL) {
    Py_INCREF((PyObject*)db);
    self->db = db;
    self->next = db->children;
    if (self->next != NULL) self->next->previous = self;
    db->children = self;
  }
  return (PyObject*)self;
}

static void handle_dealloc(PyObject* object) {
  Handle* self = (Handle*)object;
  PyTypeObject* type = Py_TYPE(object);
  PyObject *exception, *value, *traceback;
  PyErr_Fetch(&exception, &value, &traceback);
  // At the end threads may be within the library for ever: what is left goes with the process.
  if (!shutting_down()) release_pointer(self);
  if (self->root != self) Py_DECREF((PyObject*)self->root);
  if (self->db != NULL) Py_DECREF((PyObject*)self->db);
  PyErr_Restore(exception, value, traceback);
  PyObject_Free(object);
  Py_DECREF((PyObject*)type);
}

static PyObject* close_database(Handle* self) {
  Call call;
  Handle* child;
  hawthorn_db* const db = self->pointer;
  if (is_inherited(self)) {
    while (self->children != NULL) release_pointer(self->children);
    release_pointer(self);
    Py_RETURN_NONE;
  }
  if (self->closing || self->calls > 0) {
    static const char running[] = "the database cannot be closed while other calls use it";
    raise_code(HAWTHORN_BUSY, running, sizeof(running) - 1);
    return NULL;
  }
  for (child = self->children; child != NULL; child = child->next) {
    if (child->exports > 0) {
      static const char held[] = "a view of a value is held, such as a memoryview or an array";
      raise_code(HAWTHORN_BUSY, held, sizeof(held) - 1);
      return NULL;
    }
  }
  self->closing = 1;
  while (self->children != NULL) release_pointer(self->children);
  memset(&call, 0, sizeof(call));
  if (!self->is_view) RUN(&call, hawthorn_db_close(db, &call.error));
  self->closing = 0;
  if (call.code != HAWTHORN_BUSY) release_pointer(self);
  return call_none(&call);
}

PyObject* handle_close(PyObject* module, PyObject* object) {
  Handle* self = (Handle*)object;
  (void)module;
  if (Py_TYPE(object) != handle_type) {
    PyErr_SetString(PyExc_TypeError, "a handle is needed");
    return NULL;
  }
  if (self->pointer == NULL) Py_RETURN_NONE;
  if (self->kind == kDatabase) return close_database(self);
  if (self->exports > 0) {
    PyErr_SetString(PyExc_BufferError, "a view of the value is held");
    return NULL;
  }
  if (!is_inherited(self) && (self->calls > 0 || self->root->busy)) {
    PyObject* message =
        PyUnicode_FromFormat("the %s is in use by another call", kind_names[self->kind]);
    if (message != NULL) {
      Py_ssize_t size = 0;
      const char* text = PyUnicode_AsUTF8AndSize(message, &size);
      raise_code(HAWTHORN_BUSY, text, (size_t)size);
      Py_DECREF(message);
    }
    return NULL;
  }
  release_pointer(self);
  Py_RETURN_NONE;
}

PyObject* handle_is_open(PyObject* module, PyObject* object) {
  (void)module;
  if (Py_TYPE(object) != handle_type) {
    PyErr_SetString(PyExc_TypeError, "a handle is needed");
    return NULL;
  }
  return PyBool_FromLong(((Handle*)object)->pointer != NULL);
}

static int handle_getbuffer(PyObject* object, Py_buffer* view, int flags) {
  Handle* self = (Handle*)object;
  const void* data;
  size_t size = 0;
  if (self->kind != kValue || self->pointer == NULL) {
    PyErr_SetString(PyExc_BufferError, "the value was closed, or this is none");
    return -1;
  }
  data = hawthorn_value_data(self->pointer, &size);
  if (PyBuffer_FillInfo(view, object, data != NULL ? (void*)data : (void*)"", (Py_ssize_t)size, 1,
                        flags) != 0) {
    return -1;
  }
  ++self->exports;
  return 0;
}

static void handle_releasebuffer(PyObject* object, Py_buffer* view) {
  (void)view;
  --((Handle*)object)->exports;
}

int handle_type_create(void) {
  static PyType_Slot slots[] = {{Py_tp_dealloc, handle_dealloc},
                                {Py_bf_getbuffer, handle_getbuffer},
                                {Py_bf_releasebuffer, handle_releasebuffer},
                                {Py_tp_doc, "Owns one object of the library."},
                                {0, NULL}};
  static PyType_Spec spec = {
      .name = "hawthorn._hawthorn.Handle",
      .basicsize = sizeof(Handle),
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
      .slots = slots,
  };
  handle_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return handle_type != NULL;
}

// ---- Arguments

int take_count(Call* call, Py_ssize_t given, Py_ssize_t wanted) {
  (void)call;
  if (given == wanted) return 1;
  PyErr_Format(PyExc_TypeError, "%zd arguments are needed, %zd were given", wanted, given);
  return 0;
}

static Handle* fail(Call* call) {
  call->failed = 1;
  return NULL;
}

static Handle* enter(Call* call, Handle* self) {
  Handle* db = self->kind == kDatabase ? self : self->db;
  int i;
  if (self->pointer == NULL || (db != NULL && (db->pointer == NULL || db->closing))) {
    raise_closed(self->pointer != NULL ? "database" : kind_names[self->kind]);
    return fail(call);
  }
  if (!is_shared(self->kind)) {
    int entered = 0;  // by this call itself, as by a cursor of the transaction that it uses, too
    for (i = 0; i < call->handle_count; ++i) {
      entered |= !is_shared(call->handles[i]->kind) && call->handles[i]->root == self->root;
    }
    if (self->root->busy && !entered && !is_inherited(self->root)) {
      raise_code(HAWTHORN_INVALID_ARGUMENT, "used by two calls at a time", 27);
      return fail(call);
    }
    ++self->root->busy;
  }
  if (db != NULL && db != self) ++db->calls;
  ++self->calls;
  call->handles[call->handle_count++] = self;
  return self;
}

static Handle* of_kind(Call* call, PyObject* object, Kind kind, Kind other) {
  Handle* self = (Handle*)object;
  if (call->failed) return NULL;
  if (Py_TYPE(object) != handle_type || (self->kind != kind && self->kind != other)) {
    PyErr_Format(PyExc_TypeError, "a %s is needed", kind_names[kind]);
    return fail(call);
  }
  return enter(call, self);
}

Handle* take(Call* call, PyObject* object, Kind kind) { return of_kind(call, object, kind, kind); }
Handle* take_source(Call* call, PyObject* object) { return of_kind(call, object, kDatabase, kTxn); }

static Handle* of_same_database(Call* call, PyObject* object, Kind kind, const Handle* source) {
  Handle* self = of_kind(call, object, kind, kind);
  const Handle* db;
  if (call->failed) return NULL;
  db = source->db != NULL ? source->db : source;
  if (self->db != db) {
    static const char other_tree[] = "the tree belongs to another database";
    static const char other_snapshot[] = "the snapshot belongs to another database";
    raise_code(HAWTHORN_INVALID_ARGUMENT, kind == kTree ? other_tree : other_snapshot,
               kind == kTree ? sizeof(other_tree) - 1 : sizeof(other_snapshot) - 1);
    return fail(call);
  }
  return self;
}

Handle* take_tree(Call* call, PyObject* object, const Handle* source) {
  return of_same_database(call, object, kTree, source);
}

const hawthorn_snapshot* take_snapshot(Call* call, PyObject* object, const Handle* source) {
  Handle* self;
  if (call->failed || object == Py_None) return NULL;
  self = of_same_database(call, object, kSnapshot, source);
  return self != NULL ? self->pointer : NULL;
}

static const Py_buffer* take_view(Call* call, PyObject* object, int flags) {
  Py_buffer* view = &call->views[call->view_count];
  if (PyObject_GetBuffer(object, view, flags) != 0) {
    fail(call);
    return NULL;
  }
  ++call->view_count;
  return view;
}

Bytes take_bytes(Call* call, PyObject* object) {
  Bytes bytes = {"", 0};
  if (call->failed) return bytes;
  if (PyBytes_CheckExact(object)) {
    bytes.data = PyBytes_AsString(object);
    bytes.size = (size_t)PyBytes_Size(object);
  } else {
    const Py_buffer* view = take_view(call, object, PyBUF_SIMPLE);
    if (view != NULL && view->len > 0) {
      bytes.data = view->buf;
      bytes.size = (size_t)view->len;
    }
  }
  return bytes;
}

Bytes take_optional_bytes(Call* call, PyObject* object) {
  Bytes bytes = {NULL, 0};
  return object == Py_None ? bytes : take_bytes(call, object);
}

void* take_buffer(Call* call, PyObject* object, size_t* size) {
  static char nothing[1];
  const Py_buffer* view;
  *size = 0;
  if (call->failed) return NULL;
  view = take_view(call, object, PyBUF_WRITABLE);
  if (view == NULL || view->len == 0) return nothing;
  *size = (size_t)view->len;
  return view->buf;
}

const char* take_path(Call* call, PyObject* object) {
  char* text = NULL;
  if (call->failed) return NULL;
  if (PyBytes_AsStringAndSize(object, &text, NULL) != 0) fail(call);
  return text;
}

uint64_t take_number(Call* call, PyObject* object) {
  unsigned long long number;
  if (call->failed) return 0;
  number = PyLong_AsUnsignedLongLong(object);
  if (number == (unsigned long long)-1 && PyErr_Occurred()) fail(call);
  return (uint64_t)number;
}

int64_t take_signed(Call* call, PyObject* object) {
  long long number;
  if (call->failed) return 0;
  number = PyLong_AsLongLong(object);
  if (number == -1 && PyErr_Occurred()) fail(call);
  return (int64_t)number;
}

int take_flag(Call* call, PyObject* object) {
  int flag;
  if (call->failed) return 0;
  flag = PyObject_IsTrue(object);
  if (flag < 0) fail(call);
  return flag > 0;
}

// ---- Signals while the library waits

static __thread Call* running;
static __thread int asks;

static int interrupted(void* nothing) {
  Call* const call = running;
  (void)nothing;
  if (call == NULL) return 0;
  if (call->interrupt.type != NULL) return 1;
  BEGIN_PYTHON(0)
  if (PyErr_CheckSignals() != 0) callback_keep(&call->interrupt);
  END_PYTHON
  return call->interrupt.type != NULL;
}

Call* call_enter(Call* call) {
  Call* const outer = running;
  running = call;
  if (!asks) hawthorn_set_interrupt(interrupted, NULL);
  asks = 1;
  return outer;
}

void call_leave(Call* outer) { running = outer; }
int call_running(void) { return running != NULL; }

// ---- Results

int call_end(Call* call) {
  int i;
  hawthorn_error* const error = call->error;
  call->error = NULL;
  for (i = call->handle_count; i-- > 0;) {
    Handle* self = call->handles[i];
    Handle* db = self->kind == kDatabase ? self : self->db;
    if (!is_shared(self->kind) && --self->root->busy == 0) free_deferred(self->root);
    if (db != NULL && db != self) --db->calls;
    --self->calls;
  }
  call->handle_count = 0;
  for (i = 0; i < call->view_count; ++i) PyBuffer_Release(&call->views[i]);
  call->view_count = 0;
  if (call->interrupt.type != NULL) {
    PyErr_Clear();
    PyErr_Restore(call->interrupt.type, call->interrupt.value, call->interrupt.traceback);
    call->interrupt.type = NULL;
    call->failed = 1;
  } else if (call->code != HAWTHORN_OK && !call->failed) {
    size_t size = 0;
    const char* message = hawthorn_error_message(error, &size);
    raise_code(call->code, message, size);
    call->failed = 1;
  }
  hawthorn_error_free(error);
  return !call->failed;
}

PyObject* call_none(Call* call) {
  if (!call_end(call)) return NULL;
  Py_RETURN_NONE;
}

PyObject* call_flag(Call* call, int flag) { return call_end(call) ? PyBool_FromLong(flag) : NULL; }

PyObject* call_number(Call* call, uint64_t number) {
  return call_end(call) ? PyLong_FromUnsignedLongLong(number) : NULL;
}

PyObject* call_handle(Call* call, Kind kind, void* pointer, Handle* db, Handle* root) {
  PyObject* result = NULL;
  if (!call->failed && call->code == HAWTHORN_OK) {
    if (pointer == NULL) {
      PyErr_NoMemory();
      call->failed = 1;
    } else {
      result = handle_new(kind, pointer, db, root);
      if (result == NULL) call->failed = 1;
    }
  }
  if (call_end(call)) return result;
  Py_XDECREF(result);
  return NULL;
}

PyObject* call_records(Call* call, hawthorn_records* records) {
  PyObject* list = call_end(call) ? records_to_list(records) : NULL;
  hawthorn_records_free(records);
  return list;
}

// ---- Errors

PyObject* set_errors(PyObject* module, PyObject* classes) {
  (void)module;
  if (!PyDict_Check(classes)) {
    PyErr_SetString(PyExc_TypeError, "a dict is needed");
    return NULL;
  }
  Py_INCREF(classes);
  Py_XDECREF(error_classes);
  error_classes = classes;
  Py_RETURN_NONE;
}

void raise_code(hawthorn_code code, const char* message, size_t size) {
  PyObject* number = PyLong_FromLong(code);
  PyObject* text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)size, "replace");
  PyObject* kind = NULL;
  if (number != NULL && text != NULL && error_classes != NULL) {
    kind = PyDict_GetItemWithError(error_classes, number);  // borrowed
    if (kind == NULL && !PyErr_Occurred()) {
      PyObject* zero = PyLong_FromLong(0);
      if (zero != NULL) kind = PyDict_GetItemWithError(error_classes, zero);
      Py_XDECREF(zero);
    }
  }
  if (kind != NULL) {
    PyObject* exception = PyObject_CallFunctionObjArgs(kind, number, text, NULL);
    if (exception != NULL) {
      PyErr_SetObject(kind, exception);
      Py_DECREF(exception);
    }
  } else if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_RuntimeError, "the package hawthorn was not imported");
  }
  Py_XDECREF(number);
  Py_XDECREF(text);
}

void raise_closed(const char* what) {
  PyObject* message = PyUnicode_FromFormat("the %s was closed", what);
  if (message != NULL) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(message, &size);
    if (text != NULL) raise_code(HAWTHORN_CLOSED, text, (size_t)size);
    Py_DECREF(message);
  }
}
