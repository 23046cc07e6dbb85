// Change feeds, replicas and followers.

#include "binding.h"

// create_feed(db, name, log_bytes_max): log_bytes_max may be None.
static FUNCTION(create_feed) {
  uint64_t log_bytes_max = HAWTHORN_FEED_LOG_DEFAULT;
  BEGIN(3);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes name = take_bytes(&call, args[1]);
  if (args[2] != Py_None) log_bytes_max = take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_create_feed(AS(db, db), B(name), log_bytes_max, &call.error));
  return call_none(&call);
}

// drop_feed(db, name).
static FUNCTION(drop_feed) {
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes name = take_bytes(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_drop_feed(AS(db, db), B(name), &call.error));
  return call_none(&call);
}

// feed(db, name, position): a handle; a name of None: behind the position.
static FUNCTION(feed_open) {
  hawthorn_feed* feed = NULL;
  BEGIN(3);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes name = take_optional_bytes(&call, args[1]);
  const uint64_t position = take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, name.data != NULL ? hawthorn_feed_open(AS(db, db), B(name), &feed, &call.error)
                               : hawthorn_feed_open_at(AS(db, db), position, &feed, &call.error));
  return call_handle(&call, kFeed, feed, db, NULL);
}

// feed_state(feed): position and source id.
static FUNCTION(feed_state) {
  PyObject* result;
  BEGIN(1);
  Handle* feed = take(&call, args[0], kFeed);
  STOP_IF_FAILED;
  result = Py_BuildValue("(Ks)", (unsigned long long)hawthorn_feed_position(AS(feed, feed)),
                         hawthorn_feed_source_id(AS(feed, feed)));
  call_end(&call);
  return result;
}

// feed_next(feed, timeout_ms): None, or the timestamp of the commit and of the one before.
static FUNCTION(feed_next) {
  int found = 0;
  unsigned long long timestamp, previous;
  BEGIN(2);
  Handle* feed = take(&call, args[0], kFeed);
  const uint64_t timeout_ms = take_number(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_feed_next(AS(feed, feed), timeout_ms, &found, &call.error));
  timestamp = hawthorn_feed_commit_timestamp(AS(feed, feed));
  previous = hawthorn_feed_commit_previous(AS(feed, feed));
  if (!call_end(&call)) return NULL;
  if (!found) Py_RETURN_NONE;
  return Py_BuildValue("(KK)", timestamp, previous);
}

static PyObject* optional_bytes(const void* data, size_t size) {
  return data == NULL ? Py_BuildValue("") : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

// feed_change(feed): None, or (type, tree_id, tree_name, key, value, high, other_name,
// expires_at_ms, value_bytes, streamed); names are bytes.
static FUNCTION(feed_change) {
  hawthorn_change change = HAWTHORN_CHANGE_INIT;
  int found = 0;
  PyObject *result = NULL, *parts[5] = {NULL};
  BEGIN(1);
  Handle* feed = take(&call, args[0], kFeed);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_feed_next_change(AS(feed, feed), &change, &found, &call.error));
  if (call.code == HAWTHORN_OK && found) {
    parts[0] = optional_bytes(change.tree_name, change.tree_name_size);
    parts[1] = optional_bytes(change.key, change.key_size);
    parts[2] = optional_bytes(change.value, change.value_size);
    parts[3] = optional_bytes(change.high, change.high_size);
    parts[4] = optional_bytes(change.other_name, change.other_name_size);
    result = Py_BuildValue("(IINNNNNKKi)", (unsigned)change.type, (unsigned)change.tree_id,
                           parts[0], parts[1], parts[2], parts[3], parts[4],
                           (unsigned long long)change.expires_at_ms,
                           (unsigned long long)change.value_bytes, change.streamed != 0);
    if (result == NULL) call.failed = 1;
  }
  if (!call_end(&call)) {
    Py_XDECREF(result);
    return NULL;
  }
  if (!found) Py_RETURN_NONE;
  return result;
}

// feed_change_tree(feed): a list of one dict.
static FUNCTION(feed_change_tree) {
  hawthorn_records* records = NULL;
  BEGIN(1);
  Handle* feed = take(&call, args[0], kFeed);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_feed_change_tree(AS(feed, feed), &records, &call.error));
  return call_records(&call, records);
}

// feed_read_value(feed, offset, buffer): how many bytes were read.
static FUNCTION(feed_read_value) {
  size_t size = 0, capacity = 0;
  BEGIN(3);
  Handle* feed = take(&call, args[0], kFeed);
  const uint64_t offset = take_number(&call, args[1]);
  void* buffer = take_buffer(&call, args[2], &capacity);
  STOP_IF_FAILED;
  RUN(&call,
      hawthorn_feed_read_value(AS(feed, feed), offset, buffer, capacity, &size, &call.error));
  return call_number(&call, size);
}

// feed_encode(feed): the next piece of the commit, or None behind the last.
static FUNCTION(feed_encode) {
  const void* data = NULL;
  size_t size = 0;
  int found = 0;
  PyObject* result = NULL;
  BEGIN(1);
  Handle* feed = take(&call, args[0], kFeed);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_feed_encode(AS(feed, feed), &data, &size, &found, &call.error));
  if (call.code == HAWTHORN_OK && found) {
    result = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    if (result == NULL) call.failed = 1;
  }
  if (!call_end(&call)) {
    Py_XDECREF(result);
    return NULL;
  }
  if (!found) Py_RETURN_NONE;
  return result;
}

// feed_acknowledge(feed, timestamp).
static FUNCTION(feed_acknowledge) {
  BEGIN(2);
  Handle* feed = take(&call, args[0], kFeed);
  const uint64_t timestamp = take_number(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_feed_acknowledge(AS(feed, feed), timestamp, &call.error));
  return call_none(&call);
}

// ---- Replicas

// replica(target): a handle.
static FUNCTION(replica_open) {
  hawthorn_replica* replica = NULL;
  BEGIN(1);
  Handle* db = take(&call, args[0], kDatabase);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_replica_open(AS(db, db), &replica, &call.error));
  return call_handle(&call, kReplica, replica, db, NULL);
}

// replica_copy(replica, source).
static FUNCTION(replica_copy) {
  BEGIN(2);
  Handle* replica = take(&call, args[0], kReplica);
  Handle* db = take(&call, args[1], kDatabase);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_replica_copy(AS(replica, replica), AS(db, db), &call.error));
  return call_none(&call);
}

// replica_begin_at(replica, source_id, timestamp).
static FUNCTION(replica_begin_at) {
  BEGIN(3);
  Handle* replica = take(&call, args[0], kReplica);
  Bytes id = take_bytes(&call, args[1]);
  const uint64_t timestamp = take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_replica_begin_at(AS(replica, replica), B(id), timestamp, &call.error));
  return call_none(&call);
}

// replica_state(replica): position and source id.
static FUNCTION(replica_state) {
  PyObject* result;
  BEGIN(1);
  Handle* replica = take(&call, args[0], kReplica);
  STOP_IF_FAILED;
  result =
      Py_BuildValue("(Ks)", (unsigned long long)hawthorn_replica_position(AS(replica, replica)),
                    hawthorn_replica_source_id(AS(replica, replica)));
  call_end(&call);
  return result;
}

// replica_apply(replica, feed, durability).
static FUNCTION(replica_apply) {
  BEGIN(3);
  Handle* replica = take(&call, args[0], kReplica);
  Handle* feed = take(&call, args[1], kFeed);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_replica_apply(AS(replica, replica), AS(feed, feed), durability, &call.error));
  return call_none(&call);
}

typedef struct {
  Callback callback;
  PyObject* piece;  // what the library reads until the next call
} Pieces;

static hawthorn_error* next_piece(void* context, const void** data, size_t* size) {
  static const char message[] = "the pieces have ended, or are no bytes";
  Pieces* pieces = context;
  hawthorn_error* error = NULL;
  PyObject* given;
  BEGIN_PYTHON(error_of_end())
  given = PyObject_CallNoArgs(pieces->callback.callable);
  Py_XDECREF(pieces->piece);
  pieces->piece = given != NULL ? PyBytes_FromObject(given) : NULL;
  Py_XDECREF(given);
  if (pieces->piece != NULL) {
    *data = PyBytes_AsString(pieces->piece);
    *size = (size_t)PyBytes_Size(pieces->piece);
  } else {
    callback_keep(&pieces->callback);
    error = hawthorn_error_create(HAWTHORN_INTERNAL, message, sizeof(message) - 1);
  }
  END_PYTHON
  return error;
}

// replica_apply_pieces(replica, next, durability).
static FUNCTION(replica_apply_pieces) {
  Pieces pieces = {{NULL, NULL, NULL, NULL}, NULL};
  BEGIN(3);
  Handle* replica = take(&call, args[0], kReplica);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[2]);
  pieces.callback.callable = args[1];
  STOP_IF_FAILED;
  RUN(&call, hawthorn_replica_apply_pieces(AS(replica, replica), next_piece, &pieces, durability,
                                           &call.error));
  Py_XDECREF(pieces.piece);
  return callback_raise(&call, &pieces.callback) ? NULL : call_none(&call);
}

// ---- Followers

// follower(path, options): a handle.
static FUNCTION(follower_open) {
  hawthorn_follower* follower = NULL;
  BEGIN(2);
  const char* path = take_path(&call, args[0]);
  Handle* options = args[1] != Py_None ? take(&call, args[1], kOptions) : NULL;
  STOP_IF_FAILED;
  RUN(&call, hawthorn_follower_open(path, options != NULL ? AS(options, options) : NULL, &follower,
                                    &call.error));
  return call_handle(&call, kFollower, follower, NULL, NULL);
}

// follower_refresh(follower, rebuild).
static FUNCTION(follower_refresh) {
  BEGIN(2);
  Handle* follower = take(&call, args[0], kFollower);
  const int rebuild = take_flag(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, rebuild ? hawthorn_follower_rebuild(AS(follower, follower), &call.error)
                     : hawthorn_follower_refresh(AS(follower, follower), &call.error));
  return call_none(&call);
}

// follower_view(follower, refresh): a handle of a database.
static FUNCTION(follower_view) {
  hawthorn_db* db = NULL;
  PyObject* handle;
  BEGIN(2);
  Handle* follower = take(&call, args[0], kFollower);
  const int refresh = take_flag(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, refresh ? hawthorn_follower_latest(AS(follower, follower), &db, &call.error)
                     : hawthorn_follower_view(AS(follower, follower), &db, &call.error));
  handle = call_handle(&call, kDatabase, db, NULL, NULL);
  if (handle != NULL) ((Handle*)handle)->is_view = 1;
  return handle;
}

PyMethodDef feed_methods[] = {
#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
    METHOD("create_feed", create_feed),
    METHOD("drop_feed", drop_feed),
    METHOD("feed", feed_open),
    METHOD("feed_state", feed_state),
    METHOD("feed_next", feed_next),
    METHOD("feed_change", feed_change),
    METHOD("feed_change_tree", feed_change_tree),
    METHOD("feed_read_value", feed_read_value),
    METHOD("feed_encode", feed_encode),
    METHOD("feed_acknowledge", feed_acknowledge),
    METHOD("replica", replica_open),
    METHOD("replica_copy", replica_copy),
    METHOD("replica_begin_at", replica_begin_at),
    METHOD("replica_state", replica_state),
    METHOD("replica_apply", replica_apply),
    METHOD("replica_apply_pieces", replica_apply_pieces),
    METHOD("follower", follower_open),
    METHOD("follower_refresh", follower_refresh),
    METHOD("follower_view", follower_view),
    {NULL, NULL, 0, NULL}};
