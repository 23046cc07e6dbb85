// Options: values by name, and what a database calls. Callbacks run on threads of the library,
// which take the GIL for them; what they raise is written by sys.unraisablehook, but where the
// library takes an error. A context holds a tuple of callables, until the library gives it back.

#include "binding.h"

// options(): a handle.
static FUNCTION(options_create) {
  BEGIN(0);
  (void)args;
  return call_handle(&call, kOptions, hawthorn_options_create(), NULL, NULL);
}

// options_set(options, name, value).
static FUNCTION(options_set) {
  BEGIN(3);
  Handle* options = take(&call, args[0], kOptions);
  const char* name = take_path(&call, args[1]);
  const char* value = take_path(&call, args[2]);
  STOP_IF_FAILED;
  call.code = hawthorn_options_set(AS(options, options), name, value, &call.error);
  return call_none(&call);
}

// options_get(options, name): bytes.
static FUNCTION(options_get) {
  char* value = NULL;
  PyObject* result;
  BEGIN(2);
  Handle* options = take(&call, args[0], kOptions);
  const char* name = take_path(&call, args[1]);
  STOP_IF_FAILED;
  call.code = hawthorn_options_get(AS(options, options), name, &value, &call.error);
  if (!call_end(&call)) return NULL;
  result = PyBytes_FromString(value);
  hawthorn_free(value);
  return result;
}

// options_names(): a list of strings.
static FUNCTION(options_names) {
  PyObject* list;
  size_t i;
  BEGIN(0);
  (void)args;
  list = PyList_New(0);
  for (i = 0; list != NULL && hawthorn_options_name(i) != NULL; ++i) {
    PyObject* name = PyUnicode_FromString(hawthorn_options_name(i));
    if (name == NULL || PyList_Append(list, name) != 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

// generate_key(): 32 bytes.
static FUNCTION(generate_key) {
  uint8_t key[32];
  BEGIN(0);
  (void)args;
  RUN(&call, hawthorn_generate_key(key, &call.error));
  if (!call_end(&call)) return NULL;
  return PyBytes_FromStringAndSize((const char*)key, sizeof(key));
}

// ---- What callbacks share

// For "y#", which makes None of NULL.
static const char* text(const void* bytes) { return bytes != NULL ? bytes : ""; }

static PyObject* callable_of(void* context, Py_ssize_t place) {
  return PyTuple_GetItem((PyObject*)context, place);
}

static void destroy_context(void* context) {
  BEGIN_PYTHON()  // else what is left goes with the process
  Py_DECREF((PyObject*)context);
  END_PYTHON
}

static void tell_unraisable(PyObject* callable) {
  if (PyErr_Occurred()) PyErr_WriteUnraisable(callable);
}

// Appends what a callable has returned; 0 for None, and where it has raised.
static int fill(hawthorn_buffer* buffer, PyObject* result, PyObject* callable) {
  Py_buffer view;
  int done = 0;
  if (result != NULL && result != Py_None && PyObject_GetBuffer(result, &view, PyBUF_SIMPLE) == 0) {
    done = hawthorn_buffer_append(buffer, view.len > 0 ? view.buf : "", (size_t)view.len);
    PyBuffer_Release(&view);
  }
  tell_unraisable(callable);
  Py_XDECREF(result);
  return done;
}

// ---- What is told

static void on_log(void* context, hawthorn_log_level level, const char* message, size_t size) {
  PyObject *text, *result = NULL;
  BEGIN_PYTHON()
  text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)size, "replace");
  if (text != NULL) {
    result = PyObject_CallFunction(callable_of(context, 0), "iO", (int)level, text);
  }
  tell_unraisable(callable_of(context, 0));
  Py_XDECREF(result);
  Py_XDECREF(text);
  END_PYTHON
}

static void on_expiry(void* context, const char* tree, size_t tree_size, const void* key,
                      size_t key_size, const void* value, size_t value_size) {
  PyObject* result;
  BEGIN_PYTHON()
  result =
      PyObject_CallFunction(callable_of(context, 0), "y#y#y#", text(tree), (Py_ssize_t)tree_size,
                            text(key), (Py_ssize_t)key_size, text(value), (Py_ssize_t)value_size);
  tell_unraisable(callable_of(context, 0));
  Py_XDECREF(result);
  END_PYTHON
}

static void on_event(void* context, hawthorn_event event, const hawthorn_records* fields) {
  PyObject *list, *result = NULL;
  BEGIN_PYTHON()
  list = records_to_list(fields);
  if (list != NULL) {
    result = PyObject_CallFunction(callable_of(context, 0), "sO", hawthorn_event_name(event),
                                   PyList_GetItem(list, 0));
  }
  tell_unraisable(callable_of(context, 0));
  Py_XDECREF(result);
  Py_XDECREF(list);
  END_PYTHON
}

static hawthorn_error* before_commit(void* context, uint64_t operations,
                                     hawthorn_durability durability) {
  PyObject* result;
  hawthorn_error* error = NULL;
  BEGIN_PYTHON(error_of_end())
  result = PyObject_CallFunction(callable_of(context, 0), "KI", (unsigned long long)operations,
                                 (unsigned)durability);
  if (result == NULL) error = error_of_exception();
  Py_XDECREF(result);
  END_PYTHON
  return error;
}

static void after_commit(void* context, uint64_t operations, hawthorn_durability durability,
                         uint64_t timestamp, hawthorn_code code, const hawthorn_error* outcome) {
  PyObject* result;
  (void)outcome;
  BEGIN_PYTHON()
  result = PyObject_CallFunction(callable_of(context, 1), "KIKi", (unsigned long long)operations,
                                 (unsigned)durability, (unsigned long long)timestamp, (int)code);
  tell_unraisable(callable_of(context, 1));
  Py_XDECREF(result);
  END_PYTHON
}

// ---- What makes, orders and removes

static int merge(void* context, const void* key, size_t key_size, const void* existing,
                 size_t existing_size, const hawthorn_bytes* operands, size_t operand_count,
                 hawthorn_buffer* merged) {
  PyObject *list, *result = NULL;
  size_t i;
  int done;
  BEGIN_PYTHON(0)
  list = PyList_New((Py_ssize_t)operand_count);
  for (i = 0; list != NULL && i < operand_count; ++i) {
    PyObject* operand = PyBytes_FromStringAndSize(operands[i].data, (Py_ssize_t)operands[i].size);
    if (operand == NULL || PyList_SetItem(list, (Py_ssize_t)i, operand) != 0) Py_CLEAR(list);
  }
  if (list != NULL) {  // y# makes None of NULL
    result =
        PyObject_CallFunction(callable_of(context, 0), "y#y#O", text(key), (Py_ssize_t)key_size,
                              (const char*)existing, (Py_ssize_t)existing_size, list);
  }
  done = fill(merged, result, callable_of(context, 0));
  Py_XDECREF(list);
  END_PYTHON
  return done;
}

static int combine(void* context, const void* key, size_t key_size, const void* left,
                   size_t left_size, const void* right, size_t right_size,
                   hawthorn_buffer* combined) {
  int done;
  BEGIN_PYTHON(0)
  done = fill(
      combined,
      PyObject_CallFunction(callable_of(context, 1), "y#y#y#", text(key), (Py_ssize_t)key_size,
                            text(left), (Py_ssize_t)left_size, text(right), (Py_ssize_t)right_size),
      callable_of(context, 1));
  END_PYTHON
  return done;
}

static int encode(void* context, const void* key, size_t size, hawthorn_buffer* sort_key) {
  int done;
  BEGIN_PYTHON(0)
  done = fill(sort_key,
              PyObject_CallFunction(callable_of(context, 0), "y#", text(key), (Py_ssize_t)size),
              callable_of(context, 0));
  END_PYTHON
  return done;
}

static int decode(void* context, const void* sort_key, size_t size, hawthorn_buffer* key) {
  int done;
  BEGIN_PYTHON(0)
  done = fill(
      key, PyObject_CallFunction(callable_of(context, 1), "y#", text(sort_key), (Py_ssize_t)size),
      callable_of(context, 1));
  END_PYTHON
  return done;
}

static int compare(void* context, const void* a, size_t a_size, const void* b, size_t b_size) {
  PyObject* result;
  long order = 0;
  BEGIN_PYTHON((stay(NULL), 0))  // any answer would be an order that is not the tree's
  result = PyObject_CallFunction(callable_of(context, 0), "y#y#", text(a), (Py_ssize_t)a_size,
                                 text(b), (Py_ssize_t)b_size);
  if (result != NULL) order = PyLong_AsLong(result);
  tell_unraisable(callable_of(context, 0));
  Py_XDECREF(result);
  END_PYTHON
  return (order > 0) - (order < 0);
}

// The callable returns True to keep the entry, False to remove it, or bytes: its new value.
static hawthorn_filter_decision filter(void* context, const void* key, size_t key_size,
                                       const void* value, size_t value_size,
                                       hawthorn_buffer* changed) {
  PyObject *result, *callable;
  hawthorn_filter_decision decision = HAWTHORN_FILTER_KEEP;
  BEGIN_PYTHON(decision)
  callable = callable_of(context, 0);
  result = PyObject_CallFunction(callable, "y#y#", text(key), (Py_ssize_t)key_size, text(value),
                                 (Py_ssize_t)value_size);
  if (result == Py_False) {
    decision = HAWTHORN_FILTER_REMOVE;
  } else if (result != NULL && result != Py_True) {
    if (PyObject_CheckBuffer(result)) {
      Py_INCREF(result);
      if (fill(changed, result, callable)) decision = HAWTHORN_FILTER_CHANGE;
    } else {
      PyErr_SetString(PyExc_TypeError, "a filter returns True, False or bytes");
    }
  }
  tell_unraisable(callable);
  Py_XDECREF(result);
  END_PYTHON
  return decision;
}

static hawthorn_error* give_key(void* context, const char* key_id, size_t key_id_size,
                                uint8_t key[32]) {
  PyObject *id, *result = NULL;
  hawthorn_error* error = NULL;
  Py_buffer view;
  BEGIN_PYTHON(error_of_end())
  id = PyUnicode_DecodeUTF8(key_id, (Py_ssize_t)key_id_size, "surrogateescape");
  if (id != NULL) result = PyObject_CallFunctionObjArgs(callable_of(context, 0), id, NULL);
  if (result != NULL && PyObject_GetBuffer(result, &view, PyBUF_SIMPLE) == 0) {
    if (view.len == 32) {
      memcpy(key, view.buf, 32);
    } else {
      error = hawthorn_error_create(HAWTHORN_INVALID_ARGUMENT, "a key has 32 bytes", 18);
    }
    PyBuffer_Release(&view);
  }
  if (PyErr_Occurred()) error = error_of_exception();
  Py_XDECREF(result);
  Py_XDECREF(id);
  END_PYTHON
  return error;
}

// ---- Setting them: options_callback(options, which, name, flag, callables). `name` is bytes: that
// of the operator, order, tree or key; `flag` a number: fixed bytes, or whether only keys are
// filtered. `callables` is a tuple.
enum { kLog, kExpiry, kListener, kHook, kMerge, kOrder, kComparator, kFilter, kEncryption };

static hawthorn_code set_callback(hawthorn_options* options, uint64_t which, Bytes name,
                                  uint64_t flag, PyObject* callables, hawthorn_error** error) {
  const int has_second = PyTuple_Size(callables) > 1 && PyTuple_GetItem(callables, 1) != Py_None;
  switch (which) {
    case kLog:
      return hawthorn_options_set_log(options, on_log, callables, destroy_context, error);
    case kExpiry:
      return hawthorn_options_set_on_expiry(options, on_expiry, callables, destroy_context, error);
    case kListener:
      return hawthorn_options_add_listener(options, on_event, callables, destroy_context, error);
    case kHook: {
      const int has_first = PyTuple_GetItem(callables, 0) != Py_None;
      return hawthorn_options_add_commit_hook(options, has_first ? before_commit : NULL,
                                              has_second ? after_commit : NULL, callables,
                                              destroy_context, error);
    }
    case kMerge: {
      hawthorn_merge_operator made = HAWTHORN_MERGE_OPERATOR_INIT;
      made.name = name.data, made.context = callables, made.destroy = destroy_context;
      made.merge = merge, made.combine = has_second ? combine : NULL;
      return hawthorn_options_add_merge_operator(options, &made, error);
    }
    case kOrder: {
      hawthorn_key_order made = HAWTHORN_KEY_ORDER_INIT;
      made.name = name.data, made.context = callables, made.destroy = destroy_context;
      made.encode = encode, made.decode = decode, made.fixed_bytes = (size_t)flag;
      return hawthorn_options_add_key_order(options, &made, error);
    }
    case kComparator:
      return hawthorn_options_add_key_comparator(options, name.data, compare, callables,
                                                 destroy_context, error);
    case kFilter: {
      hawthorn_flush_filter made = HAWTHORN_FLUSH_FILTER_INIT;
      made.name = "python", made.context = callables, made.destroy = destroy_context;
      made.keys_only = flag != 0, made.filter = filter;
      return hawthorn_options_set_flush_filter(options, B(name), &made, error);
    }
    default:
      return hawthorn_options_set_encryption(options, name.data, name.size, give_key, callables,
                                             destroy_context, error);
  }
}

static FUNCTION(options_callback) {
  BEGIN(5);
  Handle* options = take(&call, args[0], kOptions);
  const uint64_t which = take_number(&call, args[1]);
  Bytes name = take_optional_bytes(&call, args[2]);
  const uint64_t flag = take_number(&call, args[3]);
  PyObject* callables = args[4];
  if (!call.failed && (!PyTuple_Check(callables) || PyTuple_Size(callables) < 1)) {
    PyErr_SetString(PyExc_TypeError, "a tuple of callables is needed");
    call.failed = 1;
  }
  STOP_IF_FAILED;
  Py_INCREF(callables);
  call.code = set_callback(AS(options, options), which, name, flag, callables, &call.error);
  if (call.code != HAWTHORN_OK) Py_DECREF(callables);  // then the library did not take it
  return call_none(&call);
}

PyMethodDef options_methods[] = {
#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
    METHOD("options", options_create),
    METHOD("options_set", options_set),
    METHOD("options_get", options_get),
    METHOD("options_names", options_names),
    METHOD("generate_key", generate_key),
    METHOD("options_callback", options_callback),
    {NULL, NULL, 0, NULL}};
