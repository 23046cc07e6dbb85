// Copies of a database: checkpoints, repositories, streams; checks and repairs.

#include "binding.h"

// bytes_per_second, progress (None: nobody is told), a flag of the copy, encryption (options or
// None).
static hawthorn_copy_options take_copy_options(Call* call, PyObject* const* args,
                                               Callback* progress) {
  hawthorn_copy_options options = HAWTHORN_COPY_OPTIONS_INIT;
  Handle* encryption = NULL;
  progress->callable = args[1];
  progress->type = progress->value = progress->traceback = NULL;
  options.bytes_per_second = take_number(call, args[0]);
  if (args[1] != Py_None) {
    options.progress = copy_progress;
    options.context = progress;
  }
  options.copy_blocks = options.full = take_flag(call, args[2]);
  if (!call->failed && args[3] != Py_None) encryption = take(call, args[3], kOptions);
  if (encryption != NULL) options.encryption = AS(encryption, options);
  return options;
}

// checkpoint(db, directory, *copy_options).
static FUNCTION(checkpoint) {
  Callback progress;
  BEGIN(6);
  Handle* db = take(&call, args[0], kDatabase);
  const char* directory = take_path(&call, args[1]);
  hawthorn_copy_options options = take_copy_options(&call, args + 2, &progress);
  options.full = 0;
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_checkpoint(AS(db, db), directory, &options, &call.error));
  return callback_raise(&call, &progress) ? NULL : call_none(&call);
}

// repository(directory): a handle.
static FUNCTION(repository_open) {
  hawthorn_repository* repository = NULL;
  BEGIN(1);
  const char* directory = take_path(&call, args[0]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_repository_open(directory, &repository, &call.error));
  return call_handle(&call, kRepository, repository, NULL, NULL);
}

// backup(db, repository, *copy_options): a list of one dict.
static FUNCTION(backup) {
  Callback progress;
  hawthorn_records* records = NULL;
  BEGIN(6);
  Handle* db = take(&call, args[0], kDatabase);
  Handle* repository = take(&call, args[1], kRepository);
  hawthorn_copy_options options = take_copy_options(&call, args + 2, &progress);
  options.copy_blocks = 0;
  STOP_IF_FAILED;
  RUN(&call,
      hawthorn_db_backup(AS(db, db), AS(repository, repository), &options, &records, &call.error));
  if (callback_raise(&call, &progress)) return NULL;
  return call_records(&call, records);
}

// repository_list(repository): a list of dicts.
static FUNCTION(repository_list) {
  hawthorn_records* records = NULL;
  BEGIN(1);
  Handle* repository = take(&call, args[0], kRepository);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_repository_list(AS(repository, repository), &records, &call.error));
  return call_records(&call, records);
}

// repository_verify(repository, id, *copy_options).
static FUNCTION(repository_verify) {
  Callback progress;
  BEGIN(6);
  Handle* repository = take(&call, args[0], kRepository);
  const uint64_t id = take_number(&call, args[1]);
  hawthorn_copy_options options = take_copy_options(&call, args + 2, &progress);
  STOP_IF_FAILED;
  options.copy_blocks = options.full = 0;
  RUN(&call, hawthorn_repository_verify(AS(repository, repository), id, &options, &call.error));
  return callback_raise(&call, &progress) ? NULL : call_none(&call);
}

// repository_restore(repository, id, target, *copy_options).
static FUNCTION(repository_restore) {
  Callback progress;
  BEGIN(7);
  Handle* repository = take(&call, args[0], kRepository);
  const uint64_t id = take_number(&call, args[1]);
  const char* target = take_path(&call, args[2]);
  hawthorn_copy_options options = take_copy_options(&call, args + 3, &progress);
  STOP_IF_FAILED;
  options.copy_blocks = options.full = 0;
  RUN(&call,
      hawthorn_repository_restore(AS(repository, repository), id, target, &options, &call.error));
  return callback_raise(&call, &progress) ? NULL : call_none(&call);
}

// repository_remove(repository, id).
static FUNCTION(repository_remove) {
  BEGIN(2);
  Handle* repository = take(&call, args[0], kRepository);
  const uint64_t id = take_number(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_repository_remove(AS(repository, repository), id, &call.error));
  return call_none(&call);
}

// The sink is called with bytes; what it returns is not looked at.
static hawthorn_error* backup_sink(void* context, const void* data, size_t size) {
  Callback* sink = context;
  hawthorn_error* error = NULL;
  PyObject *bytes, *result;
  BEGIN_PYTHON(error_of_end())
  bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  result = bytes != NULL ? PyObject_CallFunctionObjArgs(sink->callable, bytes, NULL) : NULL;
  if (result == NULL) {
    callback_keep(sink);
    error = hawthorn_error_create(HAWTHORN_INTERNAL, "the sink has raised", 19);
  }
  Py_XDECREF(result);
  Py_XDECREF(bytes);
  END_PYTHON
  return error;
}

// backup_to(db, sink, *copy_options): a list of one dict.
static FUNCTION(backup_to) {
  Callback progress, sink = {NULL, NULL, NULL, NULL};
  hawthorn_records* records = NULL;
  BEGIN(6);
  Handle* db = take(&call, args[0], kDatabase);
  hawthorn_copy_options options = take_copy_options(&call, args + 2, &progress);
  sink.callable = args[1];
  STOP_IF_FAILED;
  options.copy_blocks = options.full = 0;
  RUN(&call,
      hawthorn_db_backup_to(AS(db, db), backup_sink, &sink, &options, &records, &call.error));
  if (callback_raise(&call, &sink) || callback_raise(&call, &progress)) return NULL;
  return call_records(&call, records);
}

// read_backup(source, target, *copy_options): a list of one dict; a target of None: verifies.
static FUNCTION(read_backup) {
  Callback progress, source = {NULL, NULL, NULL, NULL};
  hawthorn_records* records = NULL;
  BEGIN(6);
  const char* target = args[1] != Py_None ? take_path(&call, args[1]) : NULL;
  hawthorn_copy_options options = take_copy_options(&call, args + 2, &progress);
  source.callable = args[0];
  STOP_IF_FAILED;
  options.copy_blocks = options.full = 0;
  RUN(&call,
      target != NULL
          ? hawthorn_restore_backup(stream_source, &source, target, &options, &records, &call.error)
          : hawthorn_verify_backup(stream_source, &source, &options, &records, &call.error));
  if (callback_raise(&call, &source) || callback_raise(&call, &progress)) return NULL;
  return call_records(&call, records);
}

// ---- Checks and repairs

// Told on threads of the library. An exception cannot end the check; it is raised behind it.
static void check_progress(void* context, uint64_t done, uint64_t all) {
  Callback* progress = context;
  BEGIN_PYTHON()
  if (progress->type == NULL) {
    PyObject* result = PyObject_CallFunction(progress->callable, "KK", (unsigned long long)done,
                                             (unsigned long long)all);
    if (result == NULL) callback_keep(progress);
    Py_XDECREF(result);
  }
  END_PYTHON
}

// check(db, skip_values, skip_files, threads, bytes_per_second, errors_max, progress): a list of
// one dict.
static FUNCTION(check) {
  hawthorn_check_options options = HAWTHORN_CHECK_OPTIONS_INIT;
  Callback progress = {NULL, NULL, NULL, NULL};
  hawthorn_records* records = NULL;
  BEGIN(7);
  Handle* db = take(&call, args[0], kDatabase);
  options.skip_values = take_flag(&call, args[1]);
  options.skip_files = take_flag(&call, args[2]);
  const uint64_t threads = take_number(&call, args[3]);
  options.bytes_per_second = take_number(&call, args[4]);
  options.errors_max = take_number(&call, args[5]);
  progress.callable = args[6];
  STOP_IF_FAILED;
  options.threads = threads > 65 ? 65 : (uint32_t)threads;  // 65 is refused as more would be
  if (args[6] != Py_None) options.progress = check_progress, options.context = &progress;
  RUN(&call, hawthorn_db_check(AS(db, db), &options, &records, &call.error));
  if (callback_raise(&call, &progress)) {
    hawthorn_records_free(records);
    return NULL;
  }
  return call_records(&call, records);
}

// repair(source, target, options, ignore_manifest, progress): a list of one dict.
static FUNCTION(repair) {
  hawthorn_repair_options options = HAWTHORN_REPAIR_OPTIONS_INIT;
  Callback progress = {NULL, NULL, NULL, NULL};
  hawthorn_records* records = NULL;
  BEGIN(5);
  const char* source = take_path(&call, args[0]);
  const char* target = take_path(&call, args[1]);
  Handle* database = args[2] != Py_None ? take(&call, args[2], kOptions) : NULL;
  options.ignore_manifest = take_flag(&call, args[3]);
  progress.callable = args[4];
  STOP_IF_FAILED;
  if (database != NULL) options.database = AS(database, options);
  if (args[4] != Py_None) options.progress = check_progress, options.context = &progress;
  RUN(&call, hawthorn_repair(source, target, &options, &records, &call.error));
  if (callback_raise(&call, &progress)) {
    hawthorn_records_free(records);
    return NULL;
  }
  return call_records(&call, records);
}

PyMethodDef copies_methods[] = {
#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
    METHOD("checkpoint", checkpoint),
    METHOD("repository", repository_open),
    METHOD("backup", backup),
    METHOD("repository_list", repository_list),
    METHOD("repository_verify", repository_verify),
    METHOD("repository_restore", repository_restore),
    METHOD("repository_remove", repository_remove),
    METHOD("backup_to", backup_to),
    METHOD("read_backup", read_backup),
    METHOD("check", check),
    METHOD("repair", repair),
    {NULL, NULL, 0, NULL}};
