// Reads and writes of single keys, in a transaction (`txn`) or outside of one (`db`).

#include "binding.h"

typedef enum Way { kNewest, kForUpdate, kInMemory } Way;

// Reads into an object that holds the value in place. NULL: the key is not there, or an exception
// is pending.
static hawthorn_value* get_in_place(JNIEnv* env, jlong db, jlong txn, jlong tree, jlong snapshot,
                                    const Bytes* key, Way way) {
  hawthorn_value* value = hawthorn_value_create();
  hawthorn_error* error = NULL;
  hawthorn_code code = HAWTHORN_OK;
  if (value == NULL) return throw_out_of_memory(env), NULL;
  if (way == kForUpdate) {
    code = hawthorn_txn_get_for_update(P(txn, txn), P(tree, tree), key->data, key->size, value,
                                       &error);
  } else if (way == kInMemory) {
    code = hawthorn_db_get_in_memory(P(db, db), P(tree, tree), key->data, key->size,
                                     P(snapshot, snapshot), value, &error);
  } else if (txn != 0) {
    code = hawthorn_txn_get(P(txn, txn), P(tree, tree), key->data, key->size, value, &error);
  } else {
    code = hawthorn_db_get(P(db, db), P(tree, tree), key->data, key->size, P(snapshot, snapshot),
                           value, &error);
  }
  if (code == HAWTHORN_OK) return value;
  hawthorn_value_free(value);
  if (code == HAWTHORN_NOT_FOUND) {
    hawthorn_error_free(error);
  } else {
    failed(env, code, error);
  }
  return NULL;
}

JNI(jlong, getValue)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jbyteArray key) {
  (void)type;
  Bytes k;
  if (!take(env, key, &k)) return 0;
  hawthorn_value* const value = get_in_place(env, db, txn, tree, snapshot, &k, kNewest);
  drop(&k);
  return (jlong)(intptr_t)value;
}

// A buffer of the bytes where they are.
JNI(jobject, valueBytes)(JNIEnv* env, jclass type, jlong value) {
  (void)type;
  static char nothing;
  size_t size = 0;
  const void* const data = hawthorn_value_data(P(value, value), &size);
  return (*env)->NewDirectByteBuffer(env, size == 0 ? (void*)&nothing : (void*)data, (jlong)size);
}

// Reads for ways and sizes that copies do not fit.
static jbyteArray get_by_value(JNIEnv* env, jlong db, jlong txn, jlong tree, jlong snapshot,
                               const Bytes* key, Way way) {
  hawthorn_value* const value = get_in_place(env, db, txn, tree, snapshot, key, way);
  if (value == NULL) return NULL;
  size_t size = 0;
  const void* const data = hawthorn_value_data(value, &size);
  const jbyteArray result = array_of(env, data, size);
  hawthorn_value_free(value);
  return result;
}

JNI(jbyteArray, get)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jbyteArray key,
 jint way) {
  (void)type;
  Bytes k;
  if (!take(env, key, &k)) return NULL;
  char buffer[8192];
  size_t size = 0;
  hawthorn_code code = HAWTHORN_BUFFER_TOO_SMALL;
  hawthorn_error* error = NULL;
  if (way == kNewest) {
    code = txn != 0 ? hawthorn_txn_get_into(P(txn, txn), P(tree, tree), k.data, k.size, buffer,
                                            sizeof(buffer), &size, &error)
                    : hawthorn_db_get_into(P(db, db), P(tree, tree), k.data, k.size,
                                           P(snapshot, snapshot), buffer, sizeof(buffer), &size,
                                           &error);
  }
  jbyteArray result = NULL;
  if (code == HAWTHORN_OK) {
    result = array_of(env, buffer, size);
  } else if (code == HAWTHORN_BUFFER_TOO_SMALL) {
    hawthorn_error_free(error);
    result = get_by_value(env, db, txn, tree, snapshot, &k, (Way)way);
  } else if (code == HAWTHORN_NOT_FOUND) {
    hawthorn_error_free(error);
  } else {
    failed(env, code, error);
  }
  drop(&k);
  return result;
}

// Between direct buffers: the size of the value, of which as much as fits was copied; -1: none.
JNI(jlong, getDirect)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jobject key,
 jint key_from, jint key_size, jobject target, jint target_from, jint target_size) {
  (void)type;
  const char* const k = (*env)->GetDirectBufferAddress(env, key);
  char* const to = (*env)->GetDirectBufferAddress(env, target);
  size_t size = 0;
  hawthorn_error* error = NULL;
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_get_into(P(txn, txn), P(tree, tree), k + key_from, (size_t)key_size,
                                       to + target_from, (size_t)target_size, &size, &error)
               : hawthorn_db_get_into(P(db, db), P(tree, tree), k + key_from, (size_t)key_size,
                                      P(snapshot, snapshot), to + target_from, (size_t)target_size,
                                      &size, &error);
  if (code == HAWTHORN_BUFFER_TOO_SMALL || code == HAWTHORN_NOT_FOUND) {
    hawthorn_error_free(error);
    return code == HAWTHORN_NOT_FOUND ? -1 : (jlong)size;
  }
  failed(env, code, error);
  return (jlong)size;
}

JNI(void, putDirect)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jobject key, jint key_from,
 jint key_size, jobject value, jint value_from, jint value_size, jint durability, jint expiry,
 jlong expiry_ms) {
  (void)type;
  const char* const k = (*env)->GetDirectBufferAddress(env, key);
  const char* const v = (*env)->GetDirectBufferAddress(env, value);
  const hawthorn_write_options options = write_options(durability, expiry, expiry_ms);
  hawthorn_error* error = NULL;
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_put(P(txn, txn), P(tree, tree), k + key_from, (size_t)key_size,
                                  v + value_from, (size_t)value_size, &options, &error)
               : hawthorn_db_put(P(db, db), P(tree, tree), k + key_from, (size_t)key_size,
                                 v + value_from, (size_t)value_size, &options, &error);
  failed(env, code, error);
}

// 0: the size; 1: when it ends; 2: nothing; -1 where the key is not there.
JNI(jlong, ask)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jbyteArray key,
 jint what) {
  (void)type;
  Bytes k;
  uint64_t out = 0;
  hawthorn_error* error = NULL;
  hawthorn_code code = HAWTHORN_OK;
  if (!take(env, key, &k)) return 0;
  if (what == 2) {
    char nothing[1];
    size_t size = 0;
    code = txn != 0 ? hawthorn_txn_get_into(P(txn, txn), P(tree, tree), k.data, k.size, nothing, 0,
                                            &size, &error)
                    : hawthorn_db_get_into(P(db, db), P(tree, tree), k.data, k.size,
                                           P(snapshot, snapshot), nothing, 0, &size, &error);
    if (code == HAWTHORN_BUFFER_TOO_SMALL) {
      hawthorn_error_free(error);
      code = HAWTHORN_OK;
    }
  } else if (what == 1) {
    code = hawthorn_db_expires_at(P(db, db), P(tree, tree), k.data, k.size, P(snapshot, snapshot),
                                  &out, &error);
  } else if (txn != 0) {
    code = hawthorn_txn_size_of(P(txn, txn), P(tree, tree), k.data, k.size, &out, &error);
  } else {
    code = hawthorn_db_size_of(P(db, db), P(tree, tree), k.data, k.size, P(snapshot, snapshot),
                               &out, &error);
  }
  drop(&k);
  if (code == HAWTHORN_NOT_FOUND) {
    hawthorn_error_free(error);
    return -1;
  }
  failed(env, code, error);
  return (jlong)out;
}

JNI(jboolean, changedSince)
(JNIEnv* env, jclass type, jlong db, jlong tree, jlong since, jbyteArray key) {
  (void)type;
  Bytes k;
  int out = 0;
  hawthorn_error* error = NULL;
  if (!take(env, key, &k)) return JNI_FALSE;
  const hawthorn_code code = hawthorn_db_changed_since(P(db, db), P(tree, tree), k.data, k.size,
                                                       P(snapshot, since), &out, &error);
  drop(&k);
  failed(env, code, error);
  return out != 0;
}

JNI(jlong, count)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jbyteArray low,
 jbyteArray high) {
  (void)type;
  Bytes l, h;
  uint64_t out = 0;
  hawthorn_error* error = NULL;
  if (!take2(env, low, &l, high, &h)) return 0;
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_count(P(txn, txn), P(tree, tree), l.data, l.size, h.data, h.size,
                                    &out, &error)
               : hawthorn_db_count(P(db, db), P(tree, tree), l.data, l.size, h.data, h.size,
                                   P(snapshot, snapshot), &out, &error);
  drop(&l);
  drop(&h);
  failed(env, code, error);
  return (jlong)out;
}

JNI(void, estimate)
(JNIEnv* env, jclass type, jlong db, jlong tree, jbyteArray low, jbyteArray high,
 jlongArray entries_and_bytes) {
  (void)type;
  Bytes l, h;
  uint64_t out[2] = {0, 0};
  hawthorn_error* error = NULL;
  if (!take2(env, low, &l, high, &h)) return;
  const hawthorn_code code =
      hawthorn_db_estimate(P(db, db), P(tree, tree), l.data, l.size, h.data, h.size, &out[0],
                           &out[1], &error);
  drop(&l);
  drop(&h);
  if (failed(env, code, error)) return;
  const jlong figures[2] = {(jlong)out[0], (jlong)out[1]};
  (*env)->SetLongArrayRegion(env, entries_and_bytes, 0, 2, figures);
}

JNI(jbyteArray, explain)
(JNIEnv* env, jclass type, jlong db, jlong tree, jlong snapshot, jbyteArray key) {
  (void)type;
  Bytes k;
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, key, &k)) return NULL;
  const hawthorn_code code = hawthorn_db_explain(P(db, db), P(tree, tree), k.data, k.size,
                                                 P(snapshot, snapshot), &records, &error);
  drop(&k);
  return records_result(env, code, error, records);
}

// ---- Writes

typedef enum Change { kPut, kDel, kDelValue, kDeleteRange, kMerge } Change;

static hawthorn_code change_in_db(hawthorn_db* db, const hawthorn_tree* tree, Change change,
                                  const Bytes* a, const Bytes* b,
                                  const hawthorn_write_options* options, hawthorn_error** error) {
  switch (change) {
    case kPut:
      return hawthorn_db_put(db, tree, a->data, a->size, b->data, b->size, options, error);
    case kDel:
      return hawthorn_db_del(db, tree, a->data, a->size, options, error);
    case kDelValue:
      return hawthorn_db_del_value(db, tree, a->data, a->size, b->data, b->size, options, error);
    case kDeleteRange:
      return hawthorn_db_delete_range(db, tree, a->data, a->size, b->data, b->size, options, error);
    default:
      return hawthorn_db_merge(db, tree, a->data, a->size, b->data, b->size, options, error);
  }
}

static hawthorn_code change_in_txn(hawthorn_txn* txn, const hawthorn_tree* tree, Change change,
                                   const Bytes* a, const Bytes* b,
                                   const hawthorn_write_options* options, hawthorn_error** error) {
  switch (change) {
    case kPut:
      return hawthorn_txn_put(txn, tree, a->data, a->size, b->data, b->size, options, error);
    case kDel:
      return hawthorn_txn_del(txn, tree, a->data, a->size, error);
    case kDelValue:
      return hawthorn_txn_del_value(txn, tree, a->data, a->size, b->data, b->size, error);
    case kDeleteRange:
      return hawthorn_txn_delete_range(txn, tree, a->data, a->size, b->data, b->size, error);
    default:
      return hawthorn_txn_merge(txn, tree, a->data, a->size, b->data, b->size, error);
  }
}

static hawthorn_code change_in_batch(hawthorn_batch* batch, const hawthorn_tree* tree,
                                     Change change, const Bytes* a, const Bytes* b,
                                     const hawthorn_write_options* options,
                                     hawthorn_error** error) {
  switch (change) {
    case kPut:
      return hawthorn_batch_put(batch, tree, a->data, a->size, b->data, b->size, options, error);
    case kDel:
      return hawthorn_batch_del(batch, tree, a->data, a->size, error);
    case kDelValue:
      return hawthorn_batch_del_value(batch, tree, a->data, a->size, b->data, b->size, error);
    case kDeleteRange:
      return hawthorn_batch_delete_range(batch, tree, a->data, a->size, b->data, b->size, error);
    default:
      return hawthorn_batch_merge(batch, tree, a->data, a->size, b->data, b->size, error);
  }
}

// To a batch where there is one, else in the transaction, else at once.
JNI(void, change)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong batch, jlong tree, jint change, jbyteArray a,
 jbyteArray b, jint durability, jint expiry, jlong expiry_ms) {
  (void)type;
  Bytes first, second;
  hawthorn_error* error = NULL;
  const hawthorn_write_options options = write_options(durability, expiry, expiry_ms);
  if (!take2(env, a, &first, b, &second)) return;
  hawthorn_code code = HAWTHORN_OK;
  if (batch != 0) {
    code = change_in_batch(P(batch, batch), P(tree, tree), (Change)change, &first, &second,
                           &options, &error);
  } else if (txn != 0) {
    code = change_in_txn(P(txn, txn), P(tree, tree), (Change)change, &first, &second, &options,
                         &error);
  } else {
    code = change_in_db(P(db, db), P(tree, tree), (Change)change, &first, &second, &options,
                        &error);
  }
  drop(&first);
  drop(&second);
  failed(env, code, error);
}

typedef enum CompareAndSet { kInsert, kUpdate, kReplace, kRemoveIf } CompareAndSet;

JNI(jboolean, compareAndSet)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jint what, jbyteArray key,
 jbyteArray expected, jbyteArray value, jint durability, jint expiry, jlong expiry_ms) {
  (void)type;
  Bytes k, e, v;
  int done = 0;
  hawthorn_error* error = NULL;
  hawthorn_code code = HAWTHORN_OK;
  const hawthorn_write_options options = write_options(durability, expiry, expiry_ms);
  const hawthorn_tree* const t = P(tree, tree);
  if (!take3(env, key, &k, expected, &e, value, &v)) return JNI_FALSE;
  if (txn != 0) {
    hawthorn_txn* const x = P(txn, txn);
    code = what == kInsert ? hawthorn_txn_insert(x, t, k.data, k.size, v.data, v.size, &done,
                                                 &error)
           : what == kUpdate
               ? hawthorn_txn_update(x, t, k.data, k.size, v.data, v.size, &done, &error)
           : what == kReplace ? hawthorn_txn_replace(x, t, k.data, k.size, e.data, e.size, v.data,
                                                     v.size, &done, &error)
                              : hawthorn_txn_remove_if(x, t, k.data, k.size, e.data, e.size, &done,
                                                       &error);
  } else {
    hawthorn_db* const d = P(db, db);
    code = what == kInsert
               ? hawthorn_db_insert(d, t, k.data, k.size, v.data, v.size, &options, &done, &error)
           : what == kUpdate
               ? hawthorn_db_update(d, t, k.data, k.size, v.data, v.size, &options, &done, &error)
           : what == kReplace ? hawthorn_db_replace(d, t, k.data, k.size, e.data, e.size, v.data,
                                                    v.size, &options, &done, &error)
                              : hawthorn_db_remove_if(d, t, k.data, k.size, e.data, e.size,
                                                      &options, &done, &error);
  }
  drop(&k);
  drop(&e);
  drop(&v);
  failed(env, code, error);
  return done != 0;
}

// ---- Values by parts

// What was read, as an array of that size; NULL where the key is not there.
JNI(jbyteArray, readPart)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jlong snapshot, jbyteArray key,
 jlong offset, jint capacity) {
  (void)type;
  Bytes k;
  size_t size = 0;
  hawthorn_error* error = NULL;
  if (!take(env, key, &k)) return NULL;
  void* const buffer = malloc(capacity > 0 ? (size_t)capacity : 1);
  if (buffer == NULL) {
    drop(&k);
    return throw_out_of_memory(env), NULL;
  }
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_read_part(P(txn, txn), P(tree, tree), k.data, k.size,
                                        (uint64_t)offset, buffer, (size_t)capacity, &size, &error)
               : hawthorn_db_read_part(P(db, db), P(tree, tree), k.data, k.size, (uint64_t)offset,
                                       buffer, (size_t)capacity, P(snapshot, snapshot), &size,
                                       &error);
  drop(&k);
  jbyteArray result = NULL;
  if (code == HAWTHORN_NOT_FOUND) {
    hawthorn_error_free(error);
  } else if (!failed(env, code, error)) {
    result = array_of(env, buffer, size);
  }
  free(buffer);
  return result;
}

typedef enum Part { kWrite, kAppend, kResize } Part;

// Writes at the offset, appends, or resizes to `offset`; where an append began.
JNI(jlong, writePart)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong tree, jint what, jbyteArray key, jlong offset,
 jbyteArray data, jint durability) {
  (void)type;
  Bytes k, d;
  uint64_t at = (uint64_t)offset;
  hawthorn_error* error = NULL;
  hawthorn_code code = HAWTHORN_OK;
  const hawthorn_write_options options = write_options(durability, 0, 0);
  const hawthorn_tree* const t = P(tree, tree);
  if (!take2(env, key, &k, data, &d)) return 0;
  if (txn != 0) {
    hawthorn_txn* const x = P(txn, txn);
    code = what == kWrite
               ? hawthorn_txn_write_part(x, t, k.data, k.size, at, d.data, d.size, &error)
           : what == kAppend
               ? hawthorn_txn_append(x, t, k.data, k.size, d.data, d.size, &at, &error)
               : hawthorn_txn_resize(x, t, k.data, k.size, at, &error);
  } else {
    hawthorn_db* const b = P(db, db);
    code = what == kWrite
               ? hawthorn_db_write_part(b, t, k.data, k.size, at, d.data, d.size, &options, &error)
           : what == kAppend
               ? hawthorn_db_append(b, t, k.data, k.size, d.data, d.size, &options, &at, &error)
               : hawthorn_db_resize(b, t, k.data, k.size, at, &options, &error);
  }
  drop(&k);
  drop(&d);
  failed(env, code, error);
  return (jlong)at;
}

// A value of `size` bytes from a source: put (0), written at `offset` (1) or appended (2).
JNI(jlong, putStream)
(JNIEnv* env, jclass type, jlong txn, jlong tree, jint what, jbyteArray key, jlong offset,
 jlong size, jobject source) {
  (void)type;
  Bytes k;
  uint64_t at = (uint64_t)offset;
  CallContext context = {source};
  hawthorn_error* error = NULL;
  if (!take(env, key, &k)) return 0;
  const hawthorn_code code =
      what == 0   ? hawthorn_txn_put_stream(P(txn, txn), P(tree, tree), k.data, k.size,
                                            (uint64_t)size, source_callback, &context, &error)
      : what == 1 ? hawthorn_txn_write_part_stream(P(txn, txn), P(tree, tree), k.data, k.size, at,
                                                   (uint64_t)size, source_callback, &context,
                                                   &error)
                  : hawthorn_txn_append_stream(P(txn, txn), P(tree, tree), k.data, k.size,
                                               (uint64_t)size, source_callback, &context, &at,
                                               &error);
  drop(&k);
  failed(env, code, error);
  return (jlong)at;
}
