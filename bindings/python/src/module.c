// The extension module `hawthorn._hawthorn`: its table, lists of fields, and callbacks of one call.

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "binding.h"

// ---- Lists of fields: a list of a dict for each row

static int holds_key(const char* name) {
  const size_t size = strlen(name);
  return strcmp(name, "key") == 0 || (size > 4 && strcmp(name + size - 4, "_key") == 0);
}

static PyObject* field_value(const hawthorn_field* field) {
  switch (field->type) {
    case HAWTHORN_FIELD_NUMBER:
      return PyLong_FromUnsignedLongLong(field->number);
    case HAWTHORN_FIELD_FLAG:
      return PyBool_FromLong(field->number != 0);
    case HAWTHORN_FIELD_RECORDS:
      return records_to_list(field->records);
    case HAWTHORN_FIELD_BYTES:
      if (holds_key(field->name)) {
        return PyBytes_FromStringAndSize(field->data, (Py_ssize_t)field->size);
      }
      return PyUnicode_DecodeUTF8(field->data, (Py_ssize_t)field->size, "surrogateescape");
    default:
      Py_RETURN_NONE;
  }
}

PyObject* records_to_list(const hawthorn_records* records) {
  const size_t rows = hawthorn_records_count(records);
  PyObject* list = PyList_New(0);
  size_t row, place;
  for (row = 0; list != NULL && row < rows; ++row) {
    const size_t fields = hawthorn_records_field_count(records, row);
    PyObject* dict = PyDict_New();
    for (place = 0; dict != NULL && place < fields; ++place) {
      hawthorn_field field;
      PyObject* value = NULL;
      if (hawthorn_records_field(records, row, place, &field, NULL) != HAWTHORN_OK) continue;
      value = field_value(&field);
      if (value == NULL || PyDict_SetItemString(dict, field.name, value) != 0) Py_CLEAR(dict);
      Py_XDECREF(value);
    }
    if (dict == NULL || PyList_Append(list, dict) != 0) Py_CLEAR(list);
    Py_XDECREF(dict);
  }
  return list;
}

// ---- Callbacks of one call

void callback_keep(Callback* callback) {
  PyErr_Fetch(&callback->type, &callback->value, &callback->traceback);
}

int callback_raise(Call* call, Callback* callback) {
  if (callback->type == NULL) return 0;
  call->code = HAWTHORN_OK;  // the error that the library made of it is freed by call_end
  call_end(call);
  PyErr_Clear();
  PyErr_Restore(callback->type, callback->value, callback->traceback);
  return 1;
}

// ---- The end of the interpreter

static atomic_int entering;  // threads that ask for the GIL
static atomic_int ending;
static pthread_t ender;  // which goes on to run Python
static unsigned forks;

// Forked children have none of these threads.
static void begin_child(void) {
  atomic_store(&entering, 0);
  ++forks;
}

int shut_down_prepare(void) { return pthread_atfork(NULL, NULL, begin_child) == 0; }

unsigned process_forks(void) { return forks; }

int shutting_down(void) { return atomic_load(&ending); }

int python_enter(void) {
  atomic_fetch_add(&entering, 1);
  if (!atomic_load(&ending) || pthread_equal(pthread_self(), ender)) return 1;
  atomic_fetch_sub(&entering, 1);
  // A thread of Python would end where it comes back to it.
  if (call_running()) stay(NULL);
  return 0;
}

void python_entered(void) { atomic_fetch_sub(&entering, 1); }

void stay(void* nothing) {
  (void)nothing;
  for (;;) pause();
}

// Whoever asks for the GIL gets it before the interpreter begins to end; nobody asks from then on.
PyObject* shut_down(PyObject* module, PyObject* unused) {
  const struct timespec moment = {0, 100000};
  (void)module;
  (void)unused;
  ender = pthread_self();
  atomic_store(&ending, 1);
  Py_BEGIN_ALLOW_THREADS while (atomic_load(&entering) != 0) nanosleep(&moment, NULL);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

hawthorn_error* error_of_exception(void) {
  PyObject *type, *value, *traceback, *text = NULL, *number = NULL;
  hawthorn_code code = HAWTHORN_INTERNAL;
  hawthorn_error* error;
  const char* message = "a callback has raised an exception";
  Py_ssize_t size = (Py_ssize_t)strlen(message);
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != NULL) {
    number = PyObject_GetAttrString(value, "code");
    if (number != NULL && PyLong_Check(number)) {
      const long given = PyLong_AsLong(number);
      if (given > 0 && given < 1000) code = (hawthorn_code)given;
    }
    PyErr_Clear();
    text = PyObject_Str(value);
    if (text != NULL) {
      const char* words = PyUnicode_AsUTF8AndSize(text, &size);
      if (words != NULL) message = words;
    }
    PyErr_Clear();
  }
  error = hawthorn_error_create(code, message, (size_t)size);
  Py_XDECREF(text);
  Py_XDECREF(number);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return error;
}

hawthorn_error* error_of_end(void) {
  static const char message[] = "the interpreter ends";
  return hawthorn_error_create(HAWTHORN_CLOSED, message, sizeof(message) - 1);
}

static hawthorn_error* callback_error(Callback* callback) {
  static const char message[] = "a callback has raised an exception";
  callback_keep(callback);
  return hawthorn_error_create(HAWTHORN_INTERNAL, message, sizeof(message) - 1);
}

// The callable gets how many bytes there is room for, and returns up to as many: as file.read does.
int64_t stream_source(void* context, void* buffer, size_t capacity, hawthorn_error** error) {
  Callback* callback = context;
  int64_t filled = -1;
  PyObject* result;
  Py_buffer view;
  BEGIN_PYTHON((*error = error_of_end(), -1))
  result = PyObject_CallFunction(callback->callable, "n", (Py_ssize_t)capacity);
  if (result != NULL && PyObject_GetBuffer(result, &view, PyBUF_SIMPLE) == 0) {
    if ((size_t)view.len > capacity) {
      PyErr_SetString(PyExc_ValueError, "a source has given more bytes than it was asked for");
    } else {
      memcpy(buffer, view.buf, (size_t)view.len);
      filled = view.len;
    }
    PyBuffer_Release(&view);
  }
  Py_XDECREF(result);
  if (filled < 0) *error = callback_error(callback);
  END_PYTHON
  return filled;
}

hawthorn_error* copy_progress(void* context, uint64_t bytes) {
  Callback* callback = context;
  hawthorn_error* error = NULL;
  PyObject *number, *result;
  BEGIN_PYTHON(error_of_end())
  number = PyLong_FromUnsignedLongLong(bytes);
  result = number != NULL ? PyObject_CallFunctionObjArgs(callback->callable, number, NULL) : NULL;
  if (result == NULL) error = callback_error(callback);
  Py_XDECREF(result);
  Py_XDECREF(number);
  END_PYTHON
  return error;
}

// ---- The module

static PyObject* version(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  return PyUnicode_FromString(hawthorn_version());
}

static PyObject* format_version(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  return PyLong_FromUnsignedLong(hawthorn_format_version());
}

static PyObject* code_name(PyObject* module, PyObject* code) {
  const long number = PyLong_AsLong(code);
  (void)module;
  if (number == -1 && PyErr_Occurred()) return NULL;
  return PyUnicode_FromString(hawthorn_code_name((hawthorn_code)number));
}

static PyObject* limits(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  return Py_BuildValue(
      "{sKsKsKsKsK}", "key_bytes", (unsigned long long)hawthorn_limit_key_bytes(), "value_bytes",
      (unsigned long long)hawthorn_limit_value_bytes(), "stream_value_bytes",
      (unsigned long long)hawthorn_limit_stream_value_bytes(), "tree_name_bytes",
      (unsigned long long)hawthorn_limit_tree_name_bytes(), "memory_budget_bytes_min",
      (unsigned long long)hawthorn_limit_memory_budget_bytes_min());
}

static PyMethodDef module_methods[] = {{"set_errors", set_errors, METH_O, NULL},
                                       {"close", handle_close, METH_O, NULL},
                                       {"is_open", handle_is_open, METH_O, NULL},
                                       {"version", version, METH_NOARGS, NULL},
                                       {"format_version", format_version, METH_NOARGS, NULL},
                                       {"code_name", code_name, METH_O, NULL},
                                       {"limits", limits, METH_NOARGS, NULL},
                                       {"shut_down", shut_down, METH_NOARGS, NULL},
                                       {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_hawthorn",
    .m_doc = "The C API of Hawthorn, for the package hawthorn alone.",
    .m_size = -1,
    .m_methods = module_methods,
};

PyMODINIT_FUNC PyInit__hawthorn(void) {
  PyMethodDef* const tables[] = {access_methods, write_methods,   database_methods,
                                 txn_methods,    cursor_methods,  copies_methods,
                                 feed_methods,   options_methods, queue_methods};
  PyObject* module;
  size_t i;
  if (hawthorn_abi_version() < 1) {
    PyErr_SetString(PyExc_ImportError, "the library libhawthorn is too old");
    return NULL;
  }
  module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  if (!shut_down_prepare() || !handle_type_create() ||
      PyModule_AddObjectRef(module, "Handle", (PyObject*)handle_type) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  for (i = 0; i < sizeof(tables) / sizeof(tables[0]); ++i) {
    if (PyModule_AddFunctions(module, tables[i]) != 0) {
      Py_DECREF(module);
      return NULL;
    }
  }
  return module;
}
