// Read queues, checkpoints, backups, bulk loading, change feeds, replicas, followers, checks.

#include "binding.h"

JNI(jlong, queueOpen)(JNIEnv* env, jclass type, jlong db, jint depth) {
  (void)type;
  hawthorn_read_queue* queue = NULL;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_read_queue_open(P(db, db), (uint32_t)depth, &queue, &error), error);
  return (jlong)(intptr_t)queue;
}

JNI(void, queueGet)
(JNIEnv* env, jclass type, jlong queue, jlong tree, jlong snapshot, jbyteArray key, jlong tag) {
  (void)type;
  Bytes k;
  hawthorn_error* error = NULL;
  if (!take(env, key, &k)) return;
  const hawthorn_code code =
      hawthorn_read_queue_get(P(read_queue, queue), P(tree, tree), k.data, k.size,
                              P(snapshot, snapshot), (uint64_t)tag, NULL, NULL, &error);
  drop(&k);
  failed(env, code, error);
}

JNI(void, queueRun)(JNIEnv* env, jclass type, jlong queue, jboolean wait) {
  (void)type;
  hawthorn_error* error = NULL;
  const hawthorn_code code = wait ? hawthorn_read_queue_wait(P(read_queue, queue), NULL, &error)
                                  : hawthorn_read_queue_poll(P(read_queue, queue), NULL, &error);
  failed(env, code, error);
}

// Whether there was a completion: its tag, and an array, an exception, or nothing.
JNI(jboolean, queueTake)
(JNIEnv* env, jclass type, jlong queue, jlongArray tag, jobjectArray result) {
  (void)type;
  hawthorn_value* value = hawthorn_value_create();
  hawthorn_error* error = NULL;
  uint64_t number = 0;
  int found = 0;
  if (value == NULL) return throw_out_of_memory(env), JNI_FALSE;
  const hawthorn_code code =
      hawthorn_read_queue_take(P(read_queue, queue), &found, &number, value, &error);
  if (found) {
    jobject out = NULL;
    const jlong tag_value = (jlong)number;
    if (code == HAWTHORN_OK) {
      size_t size = 0;
      const void* const data = hawthorn_value_data(value, &size);
      out = array_of(env, data, size);
    } else if (code != HAWTHORN_NOT_FOUND) {
      out = exception_of(env, code, error);
    }
    if (!(*env)->ExceptionCheck(env)) {
      (*env)->SetLongArrayRegion(env, tag, 0, 1, &tag_value);
      (*env)->SetObjectArrayElement(env, result, 0, out);
    }
    hawthorn_error_free(error);
  } else {
    failed(env, code, error);
  }
  hawthorn_value_free(value);
  return found != 0;
}

JNI(jlong, queuePending)(JNIEnv* env, jclass type, jlong queue) {
  (void)env, (void)type;
  return (jlong)hawthorn_read_queue_pending(P(read_queue, queue));
}

// ---- Copies. `progress` is a Callbacks or missing; paths end with a zero byte.

static hawthorn_copy_options copy_options(CallContext* context, jlong bytes_per_second,
                                          jboolean copy_blocks, jboolean full, jlong encryption) {
  hawthorn_copy_options options = HAWTHORN_COPY_OPTIONS_INIT;
  options.bytes_per_second = (uint64_t)bytes_per_second;
  options.progress = context->object != NULL ? progress_callback : NULL;
  options.context = context;
  options.copy_blocks = copy_blocks;
  options.full = full;
  options.encryption = P(options, encryption);
  return options;
}

JNI(void, checkpoint)
(JNIEnv* env, jclass type, jlong db, jbyteArray directory, jlong bytes_per_second,
 jboolean copy_blocks, jobject progress) {
  (void)type;
  Bytes d;
  CallContext context = {progress};
  hawthorn_error* error = NULL;
  const hawthorn_copy_options options =
      copy_options(&context, bytes_per_second, copy_blocks, JNI_FALSE, 0);
  if (!take(env, directory, &d)) return;
  const hawthorn_code code = hawthorn_db_checkpoint(P(db, db), d.data, &options, &error);
  drop(&d);
  failed(env, code, error);
}

JNI(jlong, repositoryOpen)(JNIEnv* env, jclass type, jbyteArray directory) {
  (void)type;
  Bytes d;
  hawthorn_repository* repository = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, directory, &d)) return 0;
  const hawthorn_code code = hawthorn_repository_open(d.data, &repository, &error);
  drop(&d);
  failed(env, code, error);
  return (jlong)(intptr_t)repository;
}

JNI(jbyteArray, backup)
(JNIEnv* env, jclass type, jlong db, jlong repository, jlong bytes_per_second, jboolean full,
 jobject progress) {
  (void)type;
  CallContext context = {progress};
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  const hawthorn_copy_options options =
      copy_options(&context, bytes_per_second, JNI_FALSE, full, 0);
  const hawthorn_code code =
      hawthorn_db_backup(P(db, db), P(repository, repository), &options, &records, &error);
  return records_result(env, code, error, records);
}

JNI(jbyteArray, repositoryList)(JNIEnv* env, jclass type, jlong repository) {
  (void)type;
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  const hawthorn_code code =
      hawthorn_repository_list(P(repository, repository), &records, &error);
  return records_result(env, code, error, records);
}

// 0: verifies; 1: restores to `target`; 2: removes.
JNI(void, repositoryDo)
(JNIEnv* env, jclass type, jlong repository, jint what, jlong id, jbyteArray target,
 jlong bytes_per_second, jlong encryption, jobject progress) {
  (void)type;
  Bytes t;
  CallContext context = {progress};
  hawthorn_error* error = NULL;
  hawthorn_repository* const r = P(repository, repository);
  const hawthorn_copy_options options =
      copy_options(&context, bytes_per_second, JNI_FALSE, JNI_FALSE, encryption);
  if (!take(env, target, &t)) return;
  const hawthorn_code code =
      what == 0   ? hawthorn_repository_verify(r, (uint64_t)id, &options, &error)
      : what == 1 ? hawthorn_repository_restore(r, (uint64_t)id, t.data, &options, &error)
                  : hawthorn_repository_remove(r, (uint64_t)id, &error);
  drop(&t);
  failed(env, code, error);
}

static hawthorn_error* sink_callback(void* context, const void* data, size_t size) {
  JNIEnv* env = attached();
  const jobject object = ((CallContext*)context)->object;
  jbyteArray bytes = env == NULL ? NULL : array_of(env, data, size);
  if (bytes == NULL) {
    if (env != NULL) (*env)->ExceptionClear(env);
    return hawthorn_error_create(HAWTHORN_OUT_OF_MEMORY, "no memory for a backup", 22);
  }
  hawthorn_error* error = callback_error(
      env, (*env)->CallStaticObjectMethod(env, callbacks.type, callbacks.sink, object, bytes));
  (*env)->DeleteLocalRef(env, bytes);
  return error;
}

// The object is called for bytes and for progress.
JNI(jbyteArray, backupTo)
(JNIEnv* env, jclass type, jlong db, jobject sink, jlong bytes_per_second) {
  (void)type;
  CallContext context = {sink};
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  const hawthorn_copy_options options =
      copy_options(&context, bytes_per_second, JNI_FALSE, JNI_FALSE, 0);
  const hawthorn_code code =
      hawthorn_db_backup_to(P(db, db), sink_callback, &context, &options, &records, &error);
  return records_result(env, code, error, records);
}

// Restores to `target`, or, where that is missing, verifies.
JNI(jbyteArray, fromBackup)
(JNIEnv* env, jclass type, jobject source, jbyteArray target, jlong bytes_per_second,
 jlong encryption) {
  (void)type;
  Bytes t;
  CallContext context = {source};
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  const hawthorn_copy_options options =
      copy_options(&context, bytes_per_second, JNI_FALSE, JNI_FALSE, encryption);
  if (!take(env, target, &t)) return NULL;
  const hawthorn_code code =
      t.data != NULL ? hawthorn_restore_backup(source_callback, &context, t.data, &options,
                                               &records, &error)
                     : hawthorn_verify_backup(source_callback, &context, &options, &records,
                                              &error);
  drop(&t);
  return records_result(env, code, error, records);
}

// ---- Bulk loading

JNI(jlong, ingestOpen)
(JNIEnv* env, jclass type, jlong db, jlong tree, jboolean unsorted, jint durability,
 jlong sort_memory_bytes) {
  (void)type;
  hawthorn_ingest* ingest = NULL;
  hawthorn_error* error = NULL;
  hawthorn_ingest_options options = HAWTHORN_INGEST_OPTIONS_INIT;
  options.unsorted = unsorted;
  options.durability = (hawthorn_durability)durability;
  options.sort_memory_bytes = (uint64_t)sort_memory_bytes;
  const hawthorn_code code =
      hawthorn_db_ingest(P(db, db), P(tree, tree), &options, &ingest, &error);
  failed(env, code, error);
  return (jlong)(intptr_t)ingest;
}

JNI(void, ingestAdd)
(JNIEnv* env, jclass type, jlong ingest, jbyteArray key, jbyteArray value) {
  (void)type;
  Bytes k, v;
  hawthorn_error* error = NULL;
  if (!take2(env, key, &k, value, &v)) return;
  const hawthorn_code code =
      hawthorn_ingest_add(P(ingest, ingest), k.data, k.size, v.data, v.size, &error);
  drop(&k);
  drop(&v);
  failed(env, code, error);
}

JNI(void, ingestAddColumns)(JNIEnv* env, jclass type, jlong ingest, jlong header, jint rows) {
  (void)type;
  hawthorn_columns given = *P(columns, header), columns;
  hawthorn_error* error = NULL;
  given.rows = (size_t)rows;
  if (!input_columns(env, &given, &columns)) return;
  const hawthorn_code code = hawthorn_ingest_add_columns(P(ingest, ingest), &columns, &error);
  drop_input_columns(&columns);
  failed(env, code, error);
}

JNI(void, ingestAddStream)
(JNIEnv* env, jclass type, jlong ingest, jbyteArray key, jlong size, jobject source) {
  (void)type;
  Bytes k;
  CallContext context = {source};
  hawthorn_error* error = NULL;
  if (!take(env, key, &k)) return;
  const hawthorn_code code = hawthorn_ingest_add_stream(
      P(ingest, ingest), k.data, k.size, (uint64_t)size, source_callback, &context, &error);
  drop(&k);
  failed(env, code, error);
}

JNI(void, ingestFinish)(JNIEnv* env, jclass type, jlong ingest) {
  (void)type;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_ingest_finish(P(ingest, ingest), &error), error);
}

JNI(jbyteArray, ingestStats)(JNIEnv* env, jclass type, jlong ingest) {
  (void)type;
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  const hawthorn_code code = hawthorn_ingest_stats(P(ingest, ingest), &records, &error);
  return records_result(env, code, error, records);
}

// ---- Change feeds

JNI(void, createFeed)
(JNIEnv* env, jclass type, jlong db, jbyteArray name, jlong log_bytes_max) {
  (void)type;
  Bytes n;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return;
  const hawthorn_code code =
      hawthorn_db_create_feed(P(db, db), n.data, n.size, (uint64_t)log_bytes_max, &error);
  drop(&n);
  failed(env, code, error);
}

JNI(void, dropFeed)(JNIEnv* env, jclass type, jlong db, jbyteArray name) {
  (void)type;
  Bytes n;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return;
  const hawthorn_code code = hawthorn_db_drop_feed(P(db, db), n.data, n.size, &error);
  drop(&n);
  failed(env, code, error);
}

// By its name, or, where that is missing, behind a timestamp.
JNI(jlong, feedOpen)(JNIEnv* env, jclass type, jlong db, jbyteArray name, jlong position) {
  (void)type;
  Bytes n;
  hawthorn_feed* feed = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return 0;
  const hawthorn_code code =
      n.data != NULL ? hawthorn_feed_open(P(db, db), n.data, n.size, &feed, &error)
                     : hawthorn_feed_open_at(P(db, db), (uint64_t)position, &feed, &error);
  drop(&n);
  failed(env, code, error);
  return (jlong)(intptr_t)feed;
}

// 0: position; 1: timestamp of the commit; 2: of the one before.
JNI(jlong, feedFigure)(JNIEnv* env, jclass type, jlong feed, jint which) {
  (void)env, (void)type;
  const hawthorn_feed* const f = P(feed, feed);
  return (jlong)(which == 0   ? hawthorn_feed_position(f)
                 : which == 1 ? hawthorn_feed_commit_timestamp(f)
                              : hawthorn_feed_commit_previous(f));
}

JNI(jbyteArray, feedSourceId)(JNIEnv* env, jclass type, jlong feed) {
  (void)type;
  return array_of_string(env, hawthorn_feed_source_id(P(feed, feed)));
}

JNI(jboolean, feedNext)(JNIEnv* env, jclass type, jlong feed, jlong timeout_ms) {
  (void)type;
  int found = 0;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_feed_next(P(feed, feed), (uint64_t)timeout_ms, &found, &error), error);
  return found != 0;
}

// Numbers: type, tree id, streamed, expires at, value bytes; bytes: tree, key, value, high, other.
JNI(jboolean, feedNextChange)
(JNIEnv* env, jclass type, jlong feed, jlongArray numbers, jobjectArray bytes) {
  (void)type;
  hawthorn_change change = HAWTHORN_CHANGE_INIT;
  int found = 0;
  hawthorn_error* error = NULL;
  if (failed(env, hawthorn_feed_next_change(P(feed, feed), &change, &found, &error), error)) {
    return JNI_FALSE;
  }
  if (!found) return JNI_FALSE;
  const jlong out[5] = {change.type, change.tree_id, change.streamed, (jlong)change.expires_at_ms,
                        (jlong)change.value_bytes};
  const struct {
    const void* data;
    size_t size;
  } parts[5] = {{change.tree_name, change.tree_name_size},
                {change.key, change.key_size},
                {change.value, change.value_size},
                {change.high, change.high_size},
                {change.other_name, change.other_name_size}};
  (*env)->SetLongArrayRegion(env, numbers, 0, 5, out);
  for (int i = 0; i < 5; ++i) {
    jbyteArray part = NULL;
    if (parts[i].data != NULL) {
      part = array_of(env, parts[i].data, parts[i].size);
      if (part == NULL) return JNI_FALSE;
    }
    (*env)->SetObjectArrayElement(env, bytes, i, part);
    (*env)->DeleteLocalRef(env, part);
  }
  return JNI_TRUE;
}

JNI(jbyteArray, feedChangeTree)(JNIEnv* env, jclass type, jlong feed) {
  (void)type;
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  const hawthorn_code code = hawthorn_feed_change_tree(P(feed, feed), &records, &error);
  return records_result(env, code, error, records);
}

JNI(jbyteArray, feedReadValue)
(JNIEnv* env, jclass type, jlong feed, jlong offset, jint capacity) {
  (void)type;
  size_t size = 0;
  hawthorn_error* error = NULL;
  void* const buffer = malloc(capacity > 0 ? (size_t)capacity : 1);
  if (buffer == NULL) return throw_out_of_memory(env), NULL;
  const hawthorn_code code = hawthorn_feed_read_value(P(feed, feed), (uint64_t)offset, buffer,
                                                      (size_t)capacity, &size, &error);
  jbyteArray result = failed(env, code, error) ? NULL : array_of(env, buffer, size);
  free(buffer);
  return result;
}

// The next piece of a commit; NULL behind the last.
JNI(jbyteArray, feedEncode)(JNIEnv* env, jclass type, jlong feed) {
  (void)type;
  const void* data = NULL;
  size_t size = 0;
  int found = 0;
  hawthorn_error* error = NULL;
  if (failed(env, hawthorn_feed_encode(P(feed, feed), &data, &size, &found, &error), error)) {
    return NULL;
  }
  return found ? array_of(env, data, size) : NULL;
}

JNI(void, feedAcknowledge)(JNIEnv* env, jclass type, jlong feed, jlong timestamp) {
  (void)type;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_feed_acknowledge(P(feed, feed), (uint64_t)timestamp, &error), error);
}

// ---- Replicas

JNI(jlong, replicaOpen)(JNIEnv* env, jclass type, jlong db) {
  (void)type;
  hawthorn_replica* replica = NULL;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_replica_open(P(db, db), &replica, &error), error);
  return (jlong)(intptr_t)replica;
}

JNI(void, replicaCopy)(JNIEnv* env, jclass type, jlong replica, jlong source) {
  (void)type;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_replica_copy(P(replica, replica), P(db, source), &error), error);
}

JNI(void, replicaBeginAt)
(JNIEnv* env, jclass type, jlong replica, jbyteArray source_id, jlong timestamp) {
  (void)type;
  Bytes s;
  hawthorn_error* error = NULL;
  if (!take(env, source_id, &s)) return;
  const hawthorn_code code = hawthorn_replica_begin_at(P(replica, replica), s.data, s.size,
                                                       (uint64_t)timestamp, &error);
  drop(&s);
  failed(env, code, error);
}

JNI(jlong, replicaPosition)(JNIEnv* env, jclass type, jlong replica) {
  (void)env, (void)type;
  return (jlong)hawthorn_replica_position(P(replica, replica));
}

JNI(jbyteArray, replicaSourceId)(JNIEnv* env, jclass type, jlong replica) {
  (void)type;
  return array_of_string(env, hawthorn_replica_source_id(P(replica, replica)));
}

JNI(void, replicaApply)
(JNIEnv* env, jclass type, jlong replica, jlong feed, jint durability) {
  (void)type;
  hawthorn_error* error = NULL;
  const hawthorn_code code = hawthorn_replica_apply(P(replica, replica), P(feed, feed),
                                                    (hawthorn_durability)durability, &error);
  failed(env, code, error);
}

// Pieces in an array, which Java has copied and looked through.
typedef struct Pieces {
  JNIEnv* env;
  jobjectArray list;
  jsize next, count;
  void* held;
} Pieces;

static hawthorn_error* next_piece(void* context, const void** data, size_t* size) {
  Pieces* const pieces = context;
  JNIEnv* const env = pieces->env;
  free(pieces->held);
  pieces->held = NULL;
  if (pieces->next == pieces->count) {
    return hawthorn_error_create(HAWTHORN_INVALID_ARGUMENT, "pieces of the commit are missing", 32);
  }
  jbyteArray piece = (*env)->GetObjectArrayElement(env, pieces->list, pieces->next++);
  *size = (size_t)(*env)->GetArrayLength(env, piece);
  pieces->held = malloc(*size + 1);
  if (pieces->held == NULL) {
    return hawthorn_error_create(HAWTHORN_OUT_OF_MEMORY, "no memory for a piece", 21);
  }
  (*env)->GetByteArrayRegion(env, piece, 0, (jsize)*size, pieces->held);
  (*env)->DeleteLocalRef(env, piece);
  *data = pieces->held;
  return NULL;
}

JNI(void, replicaApplyPieces)
(JNIEnv* env, jclass type, jlong replica, jobjectArray list, jint durability) {
  (void)type;
  Pieces pieces = {env, list, 0, (*env)->GetArrayLength(env, list), NULL};
  hawthorn_error* error = NULL;
  const hawthorn_code code = hawthorn_replica_apply_pieces(
      P(replica, replica), next_piece, &pieces, (hawthorn_durability)durability, &error);
  free(pieces.held);
  failed(env, code, error);
}

// ---- Followers

JNI(jlong, followerOpen)(JNIEnv* env, jclass type, jbyteArray path, jlong options) {
  (void)type;
  Bytes p;
  hawthorn_follower* follower = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, path, &p)) return 0;
  const hawthorn_code code =
      hawthorn_follower_open(p.data, P(options, options), &follower, &error);
  drop(&p);
  failed(env, code, error);
  return (jlong)(intptr_t)follower;
}

// 0: refresh; 1: rebuild; 2: the newest view; 3: a refresh, and the view then.
JNI(jlong, followerDo)(JNIEnv* env, jclass type, jlong follower, jint what) {
  (void)type;
  hawthorn_db* view = NULL;
  hawthorn_error* error = NULL;
  hawthorn_follower* const f = P(follower, follower);
  const hawthorn_code code = what == 0   ? hawthorn_follower_refresh(f, &error)
                             : what == 1 ? hawthorn_follower_rebuild(f, &error)
                             : what == 2 ? hawthorn_follower_view(f, &view, &error)
                                         : hawthorn_follower_latest(f, &view, &error);
  failed(env, code, error);
  return (jlong)(intptr_t)view;
}

// ---- Verifying and repairing

static void check_progress(void* context, uint64_t done, uint64_t all) {
  JNIEnv* env = attached();
  const jobject object = ((CallContext*)context)->object;
  if (env == NULL) return;
  (*env)->CallStaticVoidMethod(env, callbacks.type, callbacks.check_progress, object, (jlong)done,
                               (jlong)all);
  if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
}

JNI(jbyteArray, check)
(JNIEnv* env, jclass type, jlong db, jboolean skip_values, jboolean skip_files, jint threads,
 jlong bytes_per_second, jlong errors_max, jobject progress) {
  (void)type;
  CallContext context = {progress == NULL ? NULL : (*env)->NewGlobalRef(env, progress)};
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  hawthorn_check_options options = HAWTHORN_CHECK_OPTIONS_INIT;
  options.skip_values = skip_values;
  options.skip_files = skip_files;
  options.threads = (uint32_t)threads;
  options.bytes_per_second = (uint64_t)bytes_per_second;
  options.errors_max = (uint64_t)errors_max;
  options.progress = context.object != NULL ? check_progress : NULL;
  options.context = &context;  // its threads have others than this call's locals
  const hawthorn_code code = hawthorn_db_check(P(db, db), &options, &records, &error);
  if (context.object != NULL) (*env)->DeleteGlobalRef(env, context.object);
  return records_result(env, code, error, records);
}

JNI(jbyteArray, repair)
(JNIEnv* env, jclass type, jbyteArray source, jbyteArray target, jlong database,
 jboolean ignore_manifest, jobject progress) {
  (void)type;
  Bytes s, t;
  CallContext context = {progress == NULL ? NULL : (*env)->NewGlobalRef(env, progress)};
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  hawthorn_repair_options options = HAWTHORN_REPAIR_OPTIONS_INIT;
  options.database = P(options, database);
  options.ignore_manifest = ignore_manifest;
  options.progress = context.object != NULL ? check_progress : NULL;
  options.context = &context;
  if (!take2(env, source, &s, target, &t)) return NULL;
  const hawthorn_code code = hawthorn_repair(s.data, t.data, &options, &records, &error);
  drop(&s);
  drop(&t);
  if (context.object != NULL) (*env)->DeleteGlobalRef(env, context.object);
  return records_result(env, code, error, records);
}
