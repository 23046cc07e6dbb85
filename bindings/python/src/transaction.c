// Transactions: beginning and ending, savepoints, two phases, locks, values by stream.

#include "binding.h"

// begin(db, mode, isolation, read_only, lock_timeout_ms, snapshot): a handle. lock_timeout_ms may
// be None.
static FUNCTION(txn_begin) {
  hawthorn_txn_options options = HAWTHORN_TXN_OPTIONS_INIT;
  hawthorn_txn* txn = NULL;
  BEGIN(6);
  Handle* db = take(&call, args[0], kDatabase);
  options.mode = (hawthorn_txn_mode)take_number(&call, args[1]);
  options.isolation = (hawthorn_isolation)take_number(&call, args[2]);
  options.read_only = take_flag(&call, args[3]);
  options.has_lock_timeout = args[4] != Py_None;
  if (options.has_lock_timeout) options.lock_timeout_ms = take_number(&call, args[4]);
  options.snapshot = take_snapshot(&call, args[5], db);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_txn_begin(AS(db, db), &options, &txn, &call.error));
  return call_handle(&call, kTxn, txn, db, NULL);
}

// begin_nested(txn): a handle.
static FUNCTION(txn_begin_nested) {
  hawthorn_txn* inner = NULL;
  BEGIN(1);
  Handle* txn = take(&call, args[0], kTxn);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_txn_begin_nested(AS(txn, txn), &inner, &call.error));
  return call_handle(&call, kTxn, inner, txn->db, txn->root);
}

// commit(txn, durability).
static FUNCTION(txn_commit) {
  BEGIN(2);
  Handle* txn = take(&call, args[0], kTxn);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_txn_commit(AS(txn, txn), durability, &call.error));
  return call_none(&call);
}

// abort(txn).
static FUNCTION(txn_abort) {
  BEGIN(1);
  Handle* txn = take(&call, args[0], kTxn);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_txn_abort(AS(txn, txn), &call.error));
  return call_none(&call);
}

// txn_is_open(txn): flag.
static FUNCTION(txn_is_open) {
  BEGIN(1);
  Handle* txn = take(&call, args[0], kTxn);
  STOP_IF_FAILED;
  return call_flag(&call, hawthorn_txn_is_open(AS(txn, txn)));
}

// savepoint(txn): two numbers.
static FUNCTION(txn_savepoint) {
  hawthorn_savepoint savepoint = {{0, 0}};
  BEGIN(1);
  Handle* txn = take(&call, args[0], kTxn);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_txn_savepoint(AS(txn, txn), &savepoint, &call.error));
  if (!call_end(&call)) return NULL;
  return Py_BuildValue("(KK)", (unsigned long long)savepoint.words[0],
                       (unsigned long long)savepoint.words[1]);
}

// rollback_to(txn, word, word).
static FUNCTION(txn_rollback_to) {
  hawthorn_savepoint savepoint;
  BEGIN(3);
  Handle* txn = take(&call, args[0], kTxn);
  savepoint.words[0] = take_number(&call, args[1]);
  savepoint.words[1] = take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_txn_rollback_to(AS(txn, txn), &savepoint, &call.error));
  return call_none(&call);
}

// release(txn, word, word).
static FUNCTION(txn_release) {
  hawthorn_savepoint savepoint;
  BEGIN(3);
  Handle* txn = take(&call, args[0], kTxn);
  savepoint.words[0] = take_number(&call, args[1]);
  savepoint.words[1] = take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_txn_release(AS(txn, txn), &savepoint, &call.error));
  return call_none(&call);
}

// prepare(txn, id).
static FUNCTION(txn_prepare) {
  BEGIN(2);
  Handle* txn = take(&call, args[0], kTxn);
  Bytes id = take_bytes(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_txn_prepare(AS(txn, txn), B(id), &call.error));
  return call_none(&call);
}

// commit_prepared(db, id, durability).
static FUNCTION(commit_prepared) {
  BEGIN(3);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes id = take_bytes(&call, args[1]);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_commit_prepared(AS(db, db), B(id), durability, &call.error));
  return call_none(&call);
}

// rollback_prepared(db, id).
static FUNCTION(rollback_prepared) {
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes id = take_bytes(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_rollback_prepared(AS(db, db), B(id), &call.error));
  return call_none(&call);
}

// lock(txn, tree, key, lock, timeout_ms): timeout_ms may be None.
static FUNCTION(txn_lock) {
  uint64_t timeout_ms = HAWTHORN_TIMEOUT_DEFAULT;
  BEGIN(5);
  Handle* txn = take(&call, args[0], kTxn);
  Handle* tree = take_tree(&call, args[1], txn);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_row_lock lock = (hawthorn_row_lock)take_number(&call, args[3]);
  if (args[4] != Py_None) timeout_ms = take_number(&call, args[4]);
  STOP_IF_FAILED;
  RUN(&call,
      hawthorn_txn_lock(AS(txn, txn), AS(tree, tree), B(key), lock, timeout_ms, &call.error));
  return call_none(&call);
}

// stream(txn, which, tree, key, offset, size, source): which: 0 a put, 1 a part from the offset on,
// 2 an append. Returns where it begins.
static FUNCTION(txn_stream) {
  Callback source = {NULL, NULL, NULL, NULL};
  BEGIN(7);
  Handle* txn = take(&call, args[0], kTxn);
  const uint64_t which = take_number(&call, args[1]);
  Handle* tree = take_tree(&call, args[2], txn);
  Bytes key = take_bytes(&call, args[3]);
  uint64_t offset = take_number(&call, args[4]);
  const uint64_t size = take_number(&call, args[5]);
  source.callable = args[6];
  STOP_IF_FAILED;
  if (which == 0) {
    RUN(&call, hawthorn_txn_put_stream(AS(txn, txn), AS(tree, tree), B(key), size, stream_source,
                                       &source, &call.error));
  } else if (which == 1) {
    RUN(&call, hawthorn_txn_write_part_stream(AS(txn, txn), AS(tree, tree), B(key), offset, size,
                                              stream_source, &source, &call.error));
  } else {
    RUN(&call, hawthorn_txn_append_stream(AS(txn, txn), AS(tree, tree), B(key), size, stream_source,
                                          &source, &offset, &call.error));
  }
  return callback_raise(&call, &source) ? NULL : call_number(&call, offset);
}

PyMethodDef txn_methods[] = {
#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
    METHOD("begin", txn_begin),
    METHOD("begin_nested", txn_begin_nested),
    METHOD("commit", txn_commit),
    METHOD("abort", txn_abort),
    METHOD("txn_is_open", txn_is_open),
    METHOD("savepoint", txn_savepoint),
    METHOD("rollback_to", txn_rollback_to),
    METHOD("release", txn_release),
    METHOD("prepare", txn_prepare),
    METHOD("commit_prepared", commit_prepared),
    METHOD("rollback_prepared", rollback_prepared),
    METHOD("lock", txn_lock),
    METHOD("stream", txn_stream),
    {NULL, NULL, 0, NULL}};
