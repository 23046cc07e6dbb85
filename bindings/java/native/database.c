// Opening and closing, trees, snapshots, maintenance and figures.

#include "binding.h"

typedef enum Kind {
  kDb,
  kTree,
  kSnapshot,
  kTxn,
  kCursor,
  kBatch,
  kReadBatch,
  kReadQueue,
  kRepository,
  kIngest,
  kFeed,
  kReplica,
  kFollower,
  kValue
} Kind;

// Numbers as in dev.hawthorn.Resource.
JNI(void, free)(JNIEnv* env, jclass type, jint kind, jlong handle) {
  (void)env, (void)type;
  switch ((Kind)kind) {
    case kDb:
      hawthorn_db_free(P(db, handle));
      break;
    case kTree:
      hawthorn_tree_free(P(tree, handle));
      break;
    case kSnapshot:
      hawthorn_snapshot_free(P(snapshot, handle));
      break;
    case kTxn:
      hawthorn_txn_free(P(txn, handle));
      break;
    case kCursor:
      hawthorn_cursor_free(P(cursor, handle));
      break;
    case kBatch:
      hawthorn_batch_free(P(batch, handle));
      break;
    case kReadBatch:
      hawthorn_read_batch_free(P(read_batch, handle));
      break;
    case kReadQueue:
      hawthorn_read_queue_free(P(read_queue, handle));
      break;
    case kRepository:
      hawthorn_repository_free(P(repository, handle));
      break;
    case kIngest:
      hawthorn_ingest_free(P(ingest, handle));
      break;
    case kFeed:
      hawthorn_feed_free(P(feed, handle));
      break;
    case kReplica:
      hawthorn_replica_free(P(replica, handle));
      break;
    case kFollower:
      hawthorn_follower_free(P(follower, handle));
      break;
    case kValue:
      hawthorn_value_free(P(value, handle));
      break;
  }
}

JNI(jbyteArray, version)(JNIEnv* env, jclass type) {
  (void)type;
  return array_of_string(env, hawthorn_version());
}

JNI(jlong, limit)(JNIEnv* env, jclass type, jint which) {
  (void)env, (void)type;
  switch (which) {
    case 0:
      return (jlong)hawthorn_limit_key_bytes();
    case 1:
      return (jlong)hawthorn_limit_value_bytes();
    case 2:
      return (jlong)hawthorn_limit_stream_value_bytes();
    case 3:
      return (jlong)hawthorn_limit_tree_name_bytes();
    case 4:
      return (jlong)hawthorn_limit_memory_budget_bytes_min();
    default:
      return (jlong)hawthorn_format_version();
  }
}

JNI(jbyteArray, codeName)(JNIEnv* env, jclass type, jint code) {
  (void)type;
  return array_of_string(env, hawthorn_code_name(code));
}

// ---- Opening. Paths end with a zero byte.

JNI(jlong, open)(JNIEnv* env, jclass type, jbyteArray path, jlong options) {
  (void)type;
  Bytes p;
  hawthorn_db* db = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, path, &p)) return 0;
  const hawthorn_code code = hawthorn_db_open(p.data, P(options, options), &db, &error);
  drop(&p);
  failed(env, code, error);
  return (jlong)(intptr_t)db;
}

JNI(void, closeDatabase)(JNIEnv* env, jclass type, jlong db) {
  (void)type;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_db_close(P(db, db), &error), error);
}

JNI(void, destroyDatabase)(JNIEnv* env, jclass type, jbyteArray path, jlong options) {
  (void)type;
  Bytes p;
  hawthorn_error* error = NULL;
  if (!take(env, path, &p)) return;
  const hawthorn_code code = hawthorn_destroy_database(p.data, P(options, options), &error);
  drop(&p);
  failed(env, code, error);
}

JNI(jbyteArray, databaseId)(JNIEnv* env, jclass type, jlong db) {
  (void)type;
  char id[33] = "";
  hawthorn_error* error = NULL;
  if (failed(env, hawthorn_db_id(P(db, db), id, &error), error)) return NULL;
  return array_of(env, id, 32);
}

// ---- Trees. Orders are strings with a zero byte, or missing; `shape` 0: no options are given.

enum { kHasShape = 1, kMultiValue = 2, kExpires = 4, kSubtrees = 8 };

static const hawthorn_tree_options* tree_options(hawthorn_tree_options* out, const Bytes* order,
                                                 const Bytes* value_order, jint shape,
                                                 jlong ttl_ms) {
  memset(out, 0, sizeof(*out));
  out->struct_size = sizeof(*out);
  out->order = order->data;
  out->value_order = value_order->data;
  out->multi_value = (shape & kMultiValue) != 0;
  out->expires = (shape & kExpires) != 0;
  out->subtrees = (shape & kSubtrees) != 0;
  out->ttl_ms = (uint64_t)ttl_ms;
  return (shape & kHasShape) != 0 ? out : NULL;
}

JNI(jlong, tree)
(JNIEnv* env, jclass type, jlong db, jlong txn, jbyteArray name, jint shape, jbyteArray order,
 jbyteArray value_order, jlong ttl_ms) {
  (void)type;
  Bytes n, o, v;
  hawthorn_tree_options storage;
  hawthorn_tree* tree = NULL;
  hawthorn_error* error = NULL;
  if (!take3(env, name, &n, order, &o, value_order, &v)) return 0;
  const hawthorn_tree_options* const options = tree_options(&storage, &o, &v, shape, ttl_ms);
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_tree(P(txn, txn), n.data, n.size, options, &tree, &error)
               : hawthorn_db_tree(P(db, db), n.data, n.size, options, &tree, &error);
  drop(&n);
  drop(&o);
  drop(&v);
  failed(env, code, error);
  return (jlong)(intptr_t)tree;
}

JNI(jlong, findTree)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong snapshot, jbyteArray name) {
  (void)type;
  Bytes n;
  hawthorn_tree* tree = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return 0;
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_find_tree(P(txn, txn), n.data, n.size, &tree, &error)
               : hawthorn_db_find_tree(P(db, db), n.data, n.size, P(snapshot, snapshot), &tree,
                                       &error);
  drop(&n);
  if (code == HAWTHORN_NOT_FOUND) {
    hawthorn_error_free(error);
    return 0;
  }
  failed(env, code, error);
  return (jlong)(intptr_t)tree;
}

JNI(jint, treeId)(JNIEnv* env, jclass type, jlong tree) {
  (void)env, (void)type;
  return (jint)hawthorn_tree_id(P(tree, tree));
}

JNI(jbyteArray, treeOptions)(JNIEnv* env, jclass type, jlong db, jlong tree) {
  (void)type;
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  const hawthorn_code code = hawthorn_db_tree_options(P(db, db), P(tree, tree), &records, &error);
  return records_result(env, code, error, records);
}

// All trees, or, where `parent` is given, the keys at which trees hang in it.
JNI(jbyteArray, listTrees)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong snapshot, jlong parent) {
  (void)type;
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  hawthorn_code code = HAWTHORN_OK;
  if (txn != 0 && parent != 0) {
    code = hawthorn_txn_list_subtrees(P(txn, txn), P(tree, parent), &records, &error);
  } else if (txn != 0) {
    code = hawthorn_txn_list_trees(P(txn, txn), &records, &error);
  } else if (parent != 0) {
    code = hawthorn_db_list_subtrees(P(db, db), P(tree, parent), P(snapshot, snapshot), &records,
                                     &error);
  } else {
    code = hawthorn_db_list_trees(P(db, db), P(snapshot, snapshot), &records, &error);
  }
  return records_result(env, code, error, records);
}

JNI(void, dropTree)(JNIEnv* env, jclass type, jlong db, jlong txn, jbyteArray name) {
  (void)type;
  Bytes n;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return;
  const hawthorn_code code = txn != 0
                                 ? hawthorn_txn_drop_tree(P(txn, txn), n.data, n.size, &error)
                                 : hawthorn_db_drop_tree(P(db, db), n.data, n.size, &error);
  drop(&n);
  failed(env, code, error);
}

JNI(void, renameTree)
(JNIEnv* env, jclass type, jlong db, jlong txn, jbyteArray from, jbyteArray to) {
  (void)type;
  Bytes f, t;
  hawthorn_error* error = NULL;
  if (!take2(env, from, &f, to, &t)) return;
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_rename_tree(P(txn, txn), f.data, f.size, t.data, t.size, &error)
               : hawthorn_db_rename_tree(P(db, db), f.data, f.size, t.data, t.size, &error);
  drop(&f);
  drop(&t);
  failed(env, code, error);
}

JNI(jlong, cloneTree)
(JNIEnv* env, jclass type, jlong db, jlong txn, jbyteArray from, jbyteArray to, jint durability) {
  (void)type;
  Bytes f, t;
  hawthorn_tree* tree = NULL;
  hawthorn_error* error = NULL;
  if (!take2(env, from, &f, to, &t)) return 0;
  const hawthorn_code code =
      txn != 0
          ? hawthorn_txn_clone_tree(P(txn, txn), f.data, f.size, t.data, t.size, &tree, &error)
          : hawthorn_db_clone_tree(P(db, db), f.data, f.size, t.data, t.size,
                                   (hawthorn_durability)durability, &tree, &error);
  drop(&f);
  drop(&t);
  failed(env, code, error);
  return (jlong)(intptr_t)tree;
}

JNI(void, setCompression)(JNIEnv* env, jclass type, jlong db, jlong tree, jint compression) {
  (void)type;
  hawthorn_error* error = NULL;
  const hawthorn_code code = hawthorn_db_set_compression(
      P(db, db), P(tree, tree), (hawthorn_compression)compression, &error);
  failed(env, code, error);
}

JNI(void, setMergeOperator)(JNIEnv* env, jclass type, jlong db, jlong tree, jbyteArray name) {
  (void)type;
  Bytes n;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return;
  const hawthorn_code code =
      hawthorn_db_set_merge_operator(P(db, db), P(tree, tree), n.data, n.size, &error);
  drop(&n);
  failed(env, code, error);
}

JNI(jlong, createSubtree)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong parent, jbyteArray key, jint shape,
 jbyteArray order, jbyteArray value_order, jlong ttl_ms, jint durability) {
  (void)type;
  Bytes k, o, v;
  hawthorn_tree_options storage;
  hawthorn_tree* tree = NULL;
  hawthorn_error* error = NULL;
  if (!take3(env, key, &k, order, &o, value_order, &v)) return 0;
  const hawthorn_tree_options* const options = tree_options(&storage, &o, &v, shape, ttl_ms);
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_create_subtree(P(txn, txn), P(tree, parent), k.data, k.size, options,
                                             &tree, &error)
               : hawthorn_db_create_subtree(P(db, db), P(tree, parent), k.data, k.size, options,
                                            (hawthorn_durability)durability, &tree, &error);
  drop(&k);
  drop(&o);
  drop(&v);
  failed(env, code, error);
  return (jlong)(intptr_t)tree;
}

JNI(jlong, subtree)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong snapshot, jlong parent, jbyteArray key) {
  (void)type;
  Bytes k;
  hawthorn_tree* tree = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, key, &k)) return 0;
  const hawthorn_code code =
      txn != 0
          ? hawthorn_txn_subtree(P(txn, txn), P(tree, parent), k.data, k.size, &tree, &error)
          : hawthorn_db_subtree(P(db, db), P(tree, parent), k.data, k.size, P(snapshot, snapshot),
                                &tree, &error);
  drop(&k);
  if (code == HAWTHORN_NOT_FOUND) {
    hawthorn_error_free(error);
    return 0;
  }
  failed(env, code, error);
  return (jlong)(intptr_t)tree;
}

JNI(void, attach)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong parent, jbyteArray key, jbyteArray name,
 jint durability, jboolean detach) {
  (void)type;
  Bytes k, n;
  hawthorn_error* error = NULL;
  const hawthorn_tree* const p = P(tree, parent);
  const hawthorn_durability d = (hawthorn_durability)durability;
  if (!take2(env, key, &k, name, &n)) return;
  hawthorn_code code = HAWTHORN_OK;
  if (txn != 0) {
    code = detach
               ? hawthorn_txn_detach(P(txn, txn), p, k.data, k.size, n.data, n.size, &error)
               : hawthorn_txn_attach(P(txn, txn), p, k.data, k.size, n.data, n.size, &error);
  } else {
    code = detach ? hawthorn_db_detach(P(db, db), p, k.data, k.size, n.data, n.size, d, &error)
                  : hawthorn_db_attach(P(db, db), p, k.data, k.size, n.data, n.size, d, &error);
  }
  drop(&k);
  drop(&n);
  failed(env, code, error);
}

JNI(void, moveSubtree)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong parent, jbyteArray key, jlong to_parent,
 jbyteArray to_key, jint durability) {
  (void)type;
  Bytes k, t;
  hawthorn_error* error = NULL;
  if (!take2(env, key, &k, to_key, &t)) return;
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_move_subtree(P(txn, txn), P(tree, parent), k.data, k.size,
                                           P(tree, to_parent), t.data, t.size, &error)
               : hawthorn_db_move_subtree(P(db, db), P(tree, parent), k.data, k.size,
                                          P(tree, to_parent), t.data, t.size,
                                          (hawthorn_durability)durability, &error);
  drop(&k);
  drop(&t);
  failed(env, code, error);
}

JNI(jlong, cloneSubtree)
(JNIEnv* env, jclass type, jlong db, jlong txn, jlong parent, jbyteArray key, jbyteArray to,
 jint durability) {
  (void)type;
  Bytes k, t;
  hawthorn_tree* tree = NULL;
  hawthorn_error* error = NULL;
  if (!take2(env, key, &k, to, &t)) return 0;
  const hawthorn_code code =
      txn != 0 ? hawthorn_txn_clone_subtree(P(txn, txn), P(tree, parent), k.data, k.size, t.data,
                                            t.size, &tree, &error)
               : hawthorn_db_clone_subtree(P(db, db), P(tree, parent), k.data, k.size, t.data,
                                           t.size, (hawthorn_durability)durability, &tree, &error);
  drop(&k);
  drop(&t);
  failed(env, code, error);
  return (jlong)(intptr_t)tree;
}

// ---- Snapshots

JNI(jlong, snapshot)(JNIEnv* env, jclass type, jlong db) {
  (void)type;
  hawthorn_snapshot* snapshot = NULL;
  hawthorn_error* error = NULL;
  failed(env, hawthorn_db_snapshot(P(db, db), &snapshot, &error), error);
  return (jlong)(intptr_t)snapshot;
}

JNI(jlong, snapshotFigure)(JNIEnv* env, jclass type, jlong snapshot, jboolean now_ms) {
  (void)env, (void)type;
  return (jlong)(now_ms ? hawthorn_snapshot_now_ms(P(snapshot, snapshot))
                        : hawthorn_snapshot_timestamp(P(snapshot, snapshot)));
}

// 0: creates, 1: drops, 2: opens one with a name.
JNI(jlong, namedSnapshot)(JNIEnv* env, jclass type, jlong db, jint what, jbyteArray name) {
  (void)type;
  Bytes n;
  hawthorn_snapshot* snapshot = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return 0;
  const hawthorn_code code =
      what == 0   ? hawthorn_db_create_snapshot(P(db, db), n.data, n.size, &error)
      : what == 1 ? hawthorn_db_drop_snapshot(P(db, db), n.data, n.size, &error)
                  : hawthorn_db_open_snapshot(P(db, db), n.data, n.size, &snapshot, &error);
  drop(&n);
  failed(env, code, error);
  return (jlong)(intptr_t)snapshot;
}

// ---- The database as a whole

JNI(void, maintain)(JNIEnv* env, jclass type, jlong db, jint what, jlong number) {
  (void)type;
  hawthorn_error* error = NULL;
  hawthorn_db* const d = P(db, db);
  hawthorn_code code = HAWTHORN_OK;
  switch (what) {
    case 0:
      code = hawthorn_db_sync(d, &error);
      break;
    case 1:
      code = hawthorn_db_flush(d, &error);
      break;
    case 2:
      code = hawthorn_db_compact(d, &error);
      break;
    case 3:
      code = hawthorn_db_drain(d, &error);
      break;
    case 4:
      code = hawthorn_db_warm_up(d, &error);
      break;
    case 5:
      code = hawthorn_db_set_memory_budget(d, (uint64_t)number, &error);
      break;
    case 6:
      code = hawthorn_db_set_background_io_limit(d, (uint64_t)number, &error);
      break;
    default:
      code = hawthorn_db_rotate_data_key(d, &error);
      break;
  }
  failed(env, code, error);
}

JNI(void, rotateKey)(JNIEnv* env, jclass type, jlong db, jbyteArray key_id) {
  (void)type;
  Bytes id;
  hawthorn_error* error = NULL;
  if (!take(env, key_id, &id)) return;
  const hawthorn_code code = hawthorn_db_rotate_key(P(db, db), id.data, id.size, &error);
  drop(&id);
  failed(env, code, error);
}

// 0: stats, 1: named snapshots, 2: prepared transactions, 3: feeds, 4: encryption.
JNI(jbyteArray, list)(JNIEnv* env, jclass type, jlong db, jint what) {
  (void)type;
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  hawthorn_db* const d = P(db, db);
  const hawthorn_code code = what == 0   ? hawthorn_db_stats(d, &records, &error)
                             : what == 1 ? hawthorn_db_list_snapshots(d, &records, &error)
                             : what == 2 ? hawthorn_db_prepared(d, &records, &error)
                             : what == 3 ? hawthorn_db_list_feeds(d, &records, &error)
                                         : hawthorn_db_encryption(d, &records, &error);
  return records_result(env, code, error, records);
}

JNI(jlong, stat)(JNIEnv* env, jclass type, jlong db, jbyteArray name) {
  (void)type;
  Bytes n;
  uint64_t out = 0;
  hawthorn_error* error = NULL;
  if (!take(env, name, &n)) return 0;
  const hawthorn_code code = hawthorn_db_stat(P(db, db), n.data, &out, &error);
  drop(&n);
  failed(env, code, error);
  return (jlong)out;
}

JNI(jbyteArray, readCounters)(JNIEnv* env, jclass type, jbyteArray directory) {
  (void)type;
  Bytes d;
  hawthorn_records* records = NULL;
  hawthorn_error* error = NULL;
  if (!take(env, directory, &d)) return NULL;
  const hawthorn_code code = hawthorn_read_counters(d.data, &records, &error);
  drop(&d);
  return records_result(env, code, error, records);
}
