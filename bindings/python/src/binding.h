#pragma once
// What the files of the extension module share: handles, arguments of a call, errors.
//
// Not here: what users see, which is the Python package `hawthorn` around this module.
//
// A Handle owns one object of the C API. All functions take the GIL for granted, and release it
// while the library works; the counters below are read and written with the GIL held. So that no
// object is freed or entered twice while the library works on it:
//   1. `calls` of each handle that a call uses, and of its database, is above 0 during the call;
//      who closes it meanwhile is refused.
//   2. Of what one thread at a time may use, `root` (a transaction's, for all that belongs to it)
//      is `busy` during the call; a second call is refused.
//   3. Closing a database frees all that was made from it first; `pointer` is NULL from then on.
// Whoever calls Python from a thread that is within the library does so between BEGIN_PYTHON and
// END_PYTHON alone: at its end the interpreter ends other threads where they take the GIL, and a
// thread must not end with C++ below it.

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <hawthorn/c.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
  kDatabase,
  kTree,
  kSnapshot,
  kTxn,
  kCursor,
  kBatch,
  kValue,
  kQueue,
  kIngest,
  kFeed,
  kReplica,
  kFollower,
  kRepository,
  kOptions,
  kKinds
} Kind;

typedef struct Handle {
  PyObject_HEAD Kind kind;
  void* pointer;        // NULL: closed
  struct Handle* db;    // what it was made from, and keeps; NULL: nothing, or it is a database
  struct Handle* root;  // whose `busy` counts; itself, or the outermost transaction, which it keeps
  struct Handle *children, *previous, *next;  // of a database: what is to be freed before it
  unsigned forks;                             // process_forks() when it was made
  Py_ssize_t calls, exports;
  int busy;
  int closing;                // of a database
  int is_view;                // of a database: a follower's, which is freed and not closed
  struct Deferred* deferred;  // of a root: what is to be freed when it is not busy any more
  void* buffer;               // of a cursor: memory for entries; of a queue: its value
  size_t buffer_size;
  size_t entries_next;  // of a cursor: how many are handed out next
} Handle;

extern PyTypeObject* handle_type;

// A new handle for `pointer`, which is freed where there is no memory. `db` and `root` may be NULL.
PyObject* handle_new(Kind kind, void* pointer, Handle* db, Handle* root);
PyObject* handle_close(PyObject* module, PyObject* handle);
PyObject* handle_is_open(PyObject* module, PyObject* handle);
int handle_type_create(void);

// ---- A call: what was taken of its arguments, and is given back at its end

enum { kHandlesMax = 6, kViewsMax = 8 };

// A callback of the call itself: what it raises is kept and raised again when the call ends.
typedef struct {
  PyObject* callable;  // borrowed from the arguments
  PyObject *type, *value, *traceback;
} Callback;

typedef struct {
  Handle* handles[kHandlesMax];
  int handle_count;
  Callback interrupt;  // what a signal's handler has raised while the library waited
  Py_buffer views[kViewsMax];
  int view_count;
  int failed;  // a Python exception is set; what follows does nothing
  hawthorn_code code;
  hawthorn_error* error;
} Call;

typedef struct {
  const void* data;
  size_t size;
} Bytes;

// An argument as what it must be. Where it is something else the call is failed.
Handle* take(Call* call, PyObject* object, Kind kind);
Handle* take_source(Call* call, PyObject* object);  // a database or a transaction
Handle* take_tree(Call* call, PyObject* object, const Handle* source);
const hawthorn_snapshot* take_snapshot(Call* call, PyObject* object, const Handle* source);
Bytes take_bytes(Call* call, PyObject* object);                 // bytes-like
Bytes take_optional_bytes(Call* call, PyObject* object);        // None: NULL
void* take_buffer(Call* call, PyObject* object, size_t* size);  // writable
const char* take_path(Call* call, PyObject* object);            // bytes without a zero byte
uint64_t take_number(Call* call, PyObject* object);
int64_t take_signed(Call* call, PyObject* object);
int take_flag(Call* call, PyObject* object);
int take_count(Call* call, Py_ssize_t given, Py_ssize_t wanted);

// The call in which this thread is within the library; returns the one around it, for call_leave.
Call* call_enter(Call* call);
void call_leave(Call* outer);
int call_running(void);
// Gives everything back; raises what the library or an argument has reported. 1: nothing was.
int call_end(Call* call);
PyObject* call_none(Call* call);
PyObject* call_flag(Call* call, int flag);
PyObject* call_number(Call* call, uint64_t number);
PyObject* call_handle(Call* call, Kind kind, void* pointer, Handle* db, Handle* root);
PyObject* call_records(Call* call, hawthorn_records* records);

#define B(bytes) (bytes).data, (bytes).size
// Signals are answered while the library waits for other users of the database.
#define RUN(call, expression)                          \
  do {                                                 \
    Call* const outer_call = call_enter(call);         \
    Py_BEGIN_ALLOW_THREADS(call)->code = (expression); \
    Py_END_ALLOW_THREADS call_leave(outer_call);       \
  } while (0)
#define AS(handle, type) ((hawthorn_##type*)(handle)->pointer)
#define BEGIN(wanted)                         \
  Call call;                                  \
  memset(&call, 0, offsetof(Call, views));    \
  call.view_count = 0, call.failed = 0;       \
  call.code = HAWTHORN_OK, call.error = NULL; \
  (void)module;                               \
  if (!take_count(&call, count, wanted)) return NULL
#define STOP_IF_FAILED \
  if (call.failed) return call_none(&call)
#define FUNCTION(name) PyObject* name(PyObject* module, PyObject* const* args, Py_ssize_t count)

// ---- Errors, lists of fields, callbacks

PyObject* set_errors(PyObject* module, PyObject* classes);
void raise_code(hawthorn_code code, const char* message, size_t size);
void raise_closed(const char* what);
PyObject* records_to_list(const hawthorn_records* records);

void callback_keep(Callback* callback);
// 1: an exception of the callback was set, in place of the error that the library made of it.
int callback_raise(Call* call, Callback* callback);
hawthorn_error* error_of_end(void);
hawthorn_error* error_of_exception(void);  // of the one that is set, which it clears

// Calls Python from within the library, with the GIL; no return in between. When the interpreter
// ends, threads of Python stay there until the process ends, which is what the interpreter does
// with them elsewhere; those of the library return the argument from the function.
#define BEGIN_PYTHON(...)                  \
  PyGILState_STATE gil_state;              \
  if (!python_enter()) return __VA_ARGS__; \
  pthread_cleanup_push(stay, NULL);        \
  gil_state = PyGILState_Ensure();         \
  python_entered();
#define END_PYTHON               \
  PyGILState_Release(gil_state); \
  pthread_cleanup_pop(0);
int python_enter(void);
void python_entered(void);
void stay(void* nothing);
int shutting_down(void);
// How many forks lie between the process that loaded the module and this one.
unsigned process_forks(void);
PyObject* shut_down(PyObject* module, PyObject* unused);
int shut_down_prepare(void);

int64_t stream_source(void* context, void* buffer, size_t capacity, hawthorn_error** error);
hawthorn_error* copy_progress(void* context, uint64_t bytes);

extern PyMethodDef access_methods[], write_methods[], database_methods[], txn_methods[],
    cursor_methods[], copies_methods[], feed_methods[], options_methods[], queue_methods[];
