// Transactions, cursors, batches of writes and of reads, columns.

#include "binding.h"

JNI(jlong, begin)
(JNIEnv* env, jclass type, jlong db, jint mode, jint isolation, jboolean read_only,
 jlong lock_timeout_ms, jlong snapshot) {
  (void)type;
  hawthorn_txn* txn = NULL;
  hawthorn_error* error = NULL;
  hawthorn_txn_options options = HAWTHORN_TXN_OPTIONS_INIT;
  options.mode = (hawthorn_txn_mode)mode;
  options.isolation = (hawthorn_isolation)isolation;
  options.read_only = read_only;
  options.has_lock_timeout = lock_timeout_ms >= 0;
  options.lock_timeout_ms = lock_timeout_ms >= 0 ? (uint64_t)lock_timeout_ms : 0;
  options.snapshot = P(snapshot, snapshot);
  failed(env, hawthorn_txn_begin(P(db, db), &options, &txn, &error), error);
  return (jlong)(intptr_t)txn;
}

JNI(jlong, beginNested)(JNIEnv* env, jclass type, jlong txn) {
  (void)type;
  hawthorn_txn* nested = NULL;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_txn_begin_nested(P(txn, txn), &nested, &error), error);
  return (jlong)(intptr_t)nested;
}

JNI(void, commit)(JNIEnv* env, jclass type, jlong txn, jint durability) {
  (void)type;
  hawthorn_error* error = NULL;
  const hawthorn_code code =
      hawthorn_txn_commit(P(txn, txn), (hawthorn_durability)durability, &error);
  failed(env, code, error);
}

JNI(void, abort)(JNIEnv* env, jclass type, jlong txn) {
  (void)type;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_txn_abort(P(txn, txn), &error), error);
}

JNI(jboolean, isOpen)(JNIEnv* env, jclass type, jlong txn) {
  (void)env, (void)type;
  return hawthorn_txn_is_open(P(txn, txn)) != 0;
}

// 0: takes one into `words`; 1: rolls back to it; 2: forgets it.
JNI(void, savepoint)(JNIEnv* env, jclass type, jlong txn, jint what, jlongArray words) {
  (void)type;
  hawthorn_savepoint savepoint = {{0, 0}};
  jlong numbers[2] = {0, 0};
  hawthorn_error* error = NULL;
  hawthorn_code code = HAWTHORN_OK;
  (*env)->GetLongArrayRegion(env, words, 0, 2, numbers);
  savepoint.words[0] = (uint64_t)numbers[0];
  savepoint.words[1] = (uint64_t)numbers[1];
  code = what == 0   ? hawthorn_txn_savepoint(P(txn, txn), &savepoint, &error)
         : what == 1 ? hawthorn_txn_rollback_to(P(txn, txn), &savepoint, &error)
                     : hawthorn_txn_release(P(txn, txn), &savepoint, &error);
  if (failed(env, code, error) || what != 0) return;
  numbers[0] = (jlong)savepoint.words[0];
  numbers[1] = (jlong)savepoint.words[1];
  (*env)->SetLongArrayRegion(env, words, 0, 2, numbers);
}

JNI(void, prepare)(JNIEnv* env, jclass type, jlong txn, jbyteArray id) {
  (void)type;
  Bytes i;
  hawthorn_error* error = NULL;
  if (!take(env, id, &i)) return;
  const hawthorn_code code = hawthorn_txn_prepare(P(txn, txn), i.data, i.size, &error);
  drop(&i);
  failed(env, code, error);
}

JNI(void, endPrepared)
(JNIEnv* env, jclass type, jlong db, jbyteArray id, jboolean commit, jint durability) {
  (void)type;
  Bytes i;
  hawthorn_error* error = NULL;
  if (!take(env, id, &i)) return;
  const hawthorn_code code =
      commit ? hawthorn_db_commit_prepared(P(db, db), i.data, i.size,
                                           (hawthorn_durability)durability, &error)
             : hawthorn_db_rollback_prepared(P(db, db), i.data, i.size, &error);
  drop(&i);
  failed(env, code, error);
}

JNI(void, lock)
(JNIEnv* env, jclass type, jlong txn, jlong tree, jbyteArray key, jint lock, jlong timeout_ms) {
  (void)type;
  Bytes k;
  hawthorn_error* error = NULL;
  if (!take(env, key, &k)) return;
  const hawthorn_code code =
      hawthorn_txn_lock(P(txn, txn), P(tree, tree), k.data, k.size, (hawthorn_row_lock)lock,
                        timeout_ms < 0 ? HAWTHORN_TIMEOUT_DEFAULT : (uint64_t)timeout_ms, &error);
  drop(&k);
  failed(env, code, error);
}

// ---- Cursors

JNI(jlong, cursor)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jboolean keys_only,
 jbyteArray lower, jbyteArray upper) {
  (void)type;
  Bytes l, u;
  hawthorn_cursor* cursor = NULL;
  hawthorn_error* error = NULL;
  hawthorn_cursor_options options = HAWTHORN_CURSOR_OPTIONS_INIT;
  if (!take2(env, lower, &l, upper, &u)) return 0;
  options.keys_only = keys_only;
  options.lower = l.data;
  options.lower_size = l.size;
  options.upper = u.data;
  options.upper_size = u.size;
  options.snapshot = P(snapshot, snapshot);
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_cursor(P(txn, txn), P(tree, tree), &options, &cursor, &error)
               : hawthorn_db_cursor(P(db, db), P(tree, tree), &options, &cursor, &error);
  drop(&l);
  drop(&u);
  failed(env, code, error);
  return (jlong)(intptr_t)cursor;
}

// Moves without an argument, as dev.hawthorn.Cursor counts them.
static hawthorn_code (*const moves[])(hawthorn_cursor*, int*, hawthorn_error**) = {
    hawthorn_cursor_first,    hawthorn_cursor_last,       hawthorn_cursor_next,
    hawthorn_cursor_prev,     hawthorn_cursor_next_key,   hawthorn_cursor_prev_key,
    hawthorn_cursor_next_value, hawthorn_cursor_prev_value, hawthorn_cursor_first_value,
    hawthorn_cursor_last_value};

JNI(jboolean, move)(JNIEnv* env, jclass type, jlong cursor, jint move) {
  (void)type;
  int found = 0;
  hawthorn_error* error = NULL;
  failed(env, moves[move](P(cursor, cursor), &found, &error), error);
  return found != 0;
}

// 0: skips; 1: to a random entry.
JNI(jboolean, moveBy)(JNIEnv* env, jclass type, jlong cursor, jint how, jlong number) {
  (void)type;
  int found = 0;
  hawthorn_error* error = NULL;
  const hawthorn_code code =
      how == 0 ? hawthorn_cursor_skip(P(cursor, cursor), number, &found, &error)
               : hawthorn_cursor_seek_random(P(cursor, cursor), (uint64_t)number, &found, &error);
  failed(env, code, error);
  return found != 0;
}

// 0: not before the key; 1: not behind it; 2: to the value of it that is not before `value`.
JNI(jboolean, seek)
(JNIEnv* env, jclass type, jlong cursor, jint how, jbyteArray key, jbyteArray value) {
  (void)type;
  Bytes k, v;
  int found = 0;
  hawthorn_error* error = NULL;
  hawthorn_cursor* const c = P(cursor, cursor);
  if (!take2(env, key, &k, value, &v)) return JNI_FALSE;
  const hawthorn_code code =
      how == 0   ? hawthorn_cursor_seek(c, k.data, k.size, &found, &error)
      : how == 1 ? hawthorn_cursor_seek_for_prev(c, k.data, k.size, &found, &error)
                 : hawthorn_cursor_seek_value(c, k.data, k.size, v.data, v.size, &found, &error);
  drop(&k);
  drop(&v);
  failed(env, code, error);
  return found != 0;
}

JNI(jbyteArray, cursorBytes)(JNIEnv* env, jclass type, jlong cursor, jboolean value) {
  (void)type;
  size_t size = 0;
  const void* const data = value ? hawthorn_cursor_value(P(cursor, cursor), &size)
                                 : hawthorn_cursor_key(P(cursor, cursor), &size);
  return data == NULL ? NULL : array_of(env, data, size);
}

JNI(jboolean, cursorValid)(JNIEnv* env, jclass type, jlong cursor) {
  (void)env, (void)type;
  return hawthorn_cursor_valid(P(cursor, cursor)) != 0;
}

JNI(void, cursorStatus)(JNIEnv* env, jclass type, jlong cursor) {
  (void)type;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_cursor_status(P(cursor, cursor), &error), error);
}

// 0: values of the key; 1: when the entry ends; 2: whether it is a subtree.
JNI(jlong, cursorAsk)(JNIEnv* env, jclass type, jlong cursor, jint what) {
  (void)type;
  hawthorn_error* error = NULL;
  uint64_t values = 0;
  int subtree = 0;
  if (what == 1) return (jlong)hawthorn_cursor_expires_at(P(cursor, cursor));
  if (what == 0) {
    failed(env, hawthorn_cursor_count_values(P(cursor, cursor), &values, &error), error);
    return (jlong)values;
  }
  failed(env, hawthorn_cursor_is_subtree(P(cursor, cursor), &subtree, &error), error);
  return subtree;
}

// ---- Columns: `header` is the address of a hawthorn_columns in a direct buffer of Columns

JNI(jint, columnsHeaderBytes)(JNIEnv* env, jclass type) {
  (void)env, (void)type;
  return (jint)sizeof(hawthorn_columns);
}

JNI(jlong, addressOf)(JNIEnv* env, jclass type, jobject buffer) {
  (void)type;
  return (jlong)(intptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}

JNI(void, columnsInit)
(JNIEnv* env, jclass type, jlong header, jlong rows, jlong key_bytes, jlong key_capacity,
 jlong key_offsets, jlong value_bytes, jlong value_capacity, jlong value_offsets, jlong found) {
  (void)env, (void)type;
  hawthorn_columns columns = HAWTHORN_COLUMNS_INIT;
  columns.rows_capacity = (size_t)rows;
  columns.key_bytes = (void*)(intptr_t)key_bytes;
  columns.key_bytes_capacity = (size_t)key_capacity;
  columns.key_offsets = (int64_t*)(intptr_t)key_offsets;
  columns.value_bytes = (void*)(intptr_t)value_bytes;
  columns.value_bytes_capacity = (size_t)value_capacity;
  columns.value_offsets = (int64_t*)(intptr_t)value_offsets;
  columns.found = (uint8_t*)(intptr_t)found;
  *P(columns, header) = columns;
}

// 0: rows; 1, 2: what keys and values take.
JNI(jlong, columnsFigure)(JNIEnv* env, jclass type, jlong header, jint which) {
  (void)env, (void)type;
  const hawthorn_columns* const columns = P(columns, header);
  return (jlong)(which == 0   ? columns->rows
                 : which == 1 ? columns->key_bytes_needed
                              : columns->value_bytes_needed);
}

JNI(jint, cursorColumns)
(JNIEnv* env, jclass type, jlong cursor, jlong header, jboolean backwards) {
  (void)type;
  hawthorn_error* error = NULL;
  hawthorn_columns* const columns = P(columns, header);
  const hawthorn_code code =
      backwards ? hawthorn_cursor_prev_columns(P(cursor, cursor), columns, &error)
                : hawthorn_cursor_next_columns(P(cursor, cursor), columns, &error);
  if (code != HAWTHORN_OK) columns->rows = 0;
  failed(env, code, error);
  return (jint)columns->rows;
}

JNI(jlong, readBatchCreate)(JNIEnv* env, jclass type) {
  (void)type;
  hawthorn_read_batch* batch = hawthorn_read_batch_create();
  if (batch == NULL) throw_out_of_memory(env);
  return (jlong)(intptr_t)batch;
}

JNI(jint, multiGetColumns)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jlong keys,
 jint key_count, jlong batch, jlong header) {
  (void)type;
  hawthorn_error* error = NULL;
  const hawthorn_columns* const k = P(columns, keys);
  hawthorn_columns* const columns = P(columns, header);
  int64_t* const offsets =
      checked_offsets(env, k->key_offsets, (size_t)key_count, k->key_bytes_capacity);
  if (offsets == NULL) return 0;
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_multi_get_columns(P(txn, txn), P(tree, tree), k->key_bytes, offsets,
                                                (size_t)key_count, P(read_batch, batch), columns,
                                                &error)
               : hawthorn_db_multi_get_columns(P(db, db), P(tree, tree), k->key_bytes, offsets,
                                               (size_t)key_count, P(snapshot, snapshot),
                                               P(read_batch, batch), columns, &error);
  free(offsets);
  if (code != HAWTHORN_OK) columns->rows = 0;
  failed(env, code, error);
  return (jint)columns->rows;
}

JNI(void, multiGet)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jobjectArray keys,
 jlong batch) {
  (void)type;
  const size_t count = (size_t)(*env)->GetArrayLength(env, keys);
  hawthorn_bytes* const list = malloc((count + 1) * sizeof(*list));
  size_t bytes = 0, capacity = count * 32 + 64;
  char* data = malloc(capacity);
  if (list == NULL || data == NULL) throw_out_of_memory(env);
  for (size_t i = 0; i < count && !(*env)->ExceptionCheck(env); ++i) {
    jbyteArray key = (*env)->GetObjectArrayElement(env, keys, (jsize)i);
    const size_t size = (size_t)(*env)->GetArrayLength(env, key);  // Java has refused null
    if (bytes + size > capacity) {
      capacity = (bytes + size) * 2;
      char* const larger = realloc(data, capacity);
      if (larger == NULL) {
        throw_out_of_memory(env);
        break;
      }
      data = larger;
    }
    (*env)->GetByteArrayRegion(env, key, 0, (jsize)size, (jbyte*)data + bytes);
    (*env)->DeleteLocalRef(env, key);
    list[i].size = size;
    bytes += size;
  }
  if (!(*env)->ExceptionCheck(env)) {
    const char* at = data;
    for (size_t i = 0; i < count; at += list[i++].size) list[i].data = at;
    hawthorn_error* error = NULL;
    const hawthorn_code code =
        txn != 0 ? hawthorn_txn_multi_get(P(txn, txn), P(tree, tree), list, count,
                                          P(read_batch, batch), &error)
                 : hawthorn_db_multi_get(P(db, db), P(tree, tree), list, count,
                                         P(snapshot, snapshot), P(read_batch, batch), &error);
    failed(env, code, error);
  }
  free(list);
  free(data);
}

JNI(jint, readBatchCount)(JNIEnv* env, jclass type, jlong batch) {
  (void)env, (void)type;
  return (jint)hawthorn_read_batch_count(P(read_batch, batch));
}

JNI(jlong, readBatchBytes)(JNIEnv* env, jclass type, jlong batch) {
  (void)env, (void)type;
  return (jlong)hawthorn_read_batch_value_bytes(P(read_batch, batch));
}

JNI(jbyteArray, readBatchValue)(JNIEnv* env, jclass type, jlong batch, jint index) {
  (void)type;
  size_t size = 0;
  const void* const data =
      hawthorn_read_batch_value(P(read_batch, batch), (size_t)index, &size);
  return data == NULL ? NULL : array_of(env, data, size);
}

// All answers, into `values`.
JNI(void, readBatchValues)(JNIEnv* env, jclass type, jlong batch, jobjectArray values) {
  (void)type;
  const size_t count = hawthorn_read_batch_count(P(read_batch, batch));
  for (size_t i = 0; i < count; ++i) {
    size_t size = 0;
    const void* const data = hawthorn_read_batch_value(P(read_batch, batch), i, &size);
    if (data == NULL) continue;
    jbyteArray value = array_of(env, data, size);
    if (value == NULL) return;
    (*env)->SetObjectArrayElement(env, values, (jsize)i, value);
    (*env)->DeleteLocalRef(env, value);
  }
}

JNI(jint, readBatchColumns)(JNIEnv* env, jclass type, jlong batch, jint first, jlong header) {
  (void)type;
  hawthorn_error* error = NULL;
  hawthorn_columns* const columns = P(columns, header);
  const hawthorn_code code =
      hawthorn_read_batch_columns(P(read_batch, batch), (size_t)first, columns, &error);
  if (code != HAWTHORN_OK) columns->rows = 0;
  failed(env, code, error);
  return (jint)columns->rows;
}

JNI(void, readBatchRelease)(JNIEnv* env, jclass type, jlong batch) {
  (void)env, (void)type;
  hawthorn_read_batch_release(P(read_batch, batch));
}

// ---- Batches of writes

JNI(jlong, batchCreate)(JNIEnv* env, jclass type) {
  (void)type;
  hawthorn_batch* batch = hawthorn_batch_create();
  if (batch == NULL) throw_out_of_memory(env);
  return (jlong)(intptr_t)batch;
}

JNI(void, batchClear)(JNIEnv* env, jclass type, jlong batch) {
  (void)type;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_batch_clear(P(batch, batch), &error), error);
}

JNI(jlong, batchFigure)(JNIEnv* env, jclass type, jlong batch, jboolean bytes) {
  (void)env, (void)type;
  return (jlong)(bytes ? hawthorn_batch_bytes(P(batch, batch))
                       : hawthorn_batch_count(P(batch, batch)));
}

JNI(void, batchPutColumns)
(JNIEnv* env, jclass type, jlong batch, jlong tree, jlong header, jint rows) {
  (void)type;
  hawthorn_columns given = *P(columns, header), columns;
  hawthorn_error* error = NULL;
  given.rows = (size_t)rows;
  if (!input_columns(env, &given, &columns)) return;
  const hawthorn_code code =
      hawthorn_batch_put_columns(P(batch, batch), P(tree, tree), &columns, &error);
  drop_input_columns(&columns);
  failed(env, code, error);
}

JNI(void, writeBatch)(JNIEnv* env, jclass type, jlong db, jlong batch, jint durability) {
  (void)type;
  const hawthorn_write_options options = write_options(durability, 0, 0);
  hawthorn_error* error = NULL;
  failed(env, hawthorn_db_write(P(db, db), P(batch, batch), &options, &error), error);
}
