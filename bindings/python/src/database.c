// A database as a whole: opening, trees, trees as values, snapshots, maintenance, figures.

#include "binding.h"

static int is_db(const Handle* source) { return source->kind == kDatabase; }
static Handle* db_of(Handle* source) { return source->db != NULL ? source->db : source; }

// open(path, options): a handle. options may be None.
static FUNCTION(db_open) {
  hawthorn_db* db = NULL;
  BEGIN(2);
  const char* path = take_path(&call, args[0]);
  Handle* options = args[1] != Py_None ? take(&call, args[1], kOptions) : NULL;
  STOP_IF_FAILED;
  RUN(&call,
      hawthorn_db_open(path, options != NULL ? AS(options, options) : NULL, &db, &call.error));
  return call_handle(&call, kDatabase, db, NULL, NULL);
}

// destroy(path, options).
static FUNCTION(db_destroy) {
  BEGIN(2);
  const char* path = take_path(&call, args[0]);
  Handle* options = args[1] != Py_None ? take(&call, args[1], kOptions) : NULL;
  STOP_IF_FAILED;
  RUN(&call,
      hawthorn_destroy_database(path, options != NULL ? AS(options, options) : NULL, &call.error));
  return call_none(&call);
}

// database_id(db): 32 digits.
static FUNCTION(db_id) {
  char id[33] = "";
  BEGIN(1);
  Handle* db = take(&call, args[0], kDatabase);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_id(AS(db, db), id, &call.error));
  if (!call_end(&call)) return NULL;
  return PyUnicode_FromString(id);
}

// ---- Trees

// order, value_order, multi_value, expires, subtrees, ttl_ms; the first one None: none of them.
static const hawthorn_tree_options* take_tree_options(Call* call, PyObject* const* args,
                                                      hawthorn_tree_options* options) {
  const hawthorn_tree_options defaults = HAWTHORN_TREE_OPTIONS_INIT;
  *options = defaults;
  if (call->failed || args[0] == Py_None) return NULL;
  options->order = take_path(call, args[0]);
  options->value_order = take_path(call, args[1]);
  options->multi_value = take_flag(call, args[2]);
  options->expires = take_flag(call, args[3]);
  options->subtrees = take_flag(call, args[4]);
  options->ttl_ms = take_number(call, args[5]);
  return options;
}

// tree(source, name, *tree_options): a handle.
static FUNCTION(tree_open) {
  hawthorn_tree_options storage;
  hawthorn_tree* tree = NULL;
  BEGIN(8);
  Handle* source = take_source(&call, args[0]);
  Bytes name = take_bytes(&call, args[1]);
  const hawthorn_tree_options* options = take_tree_options(&call, args + 2, &storage);
  STOP_IF_FAILED;
  RUN(&call, is_db(source)
                 ? hawthorn_db_tree(AS(source, db), B(name), options, &tree, &call.error)
                 : hawthorn_txn_tree(AS(source, txn), B(name), options, &tree, &call.error));
  return call_handle(&call, kTree, tree, db_of(source), NULL);
}

// find_tree(source, name, snapshot): a handle.
static FUNCTION(tree_find) {
  hawthorn_tree* tree = NULL;
  BEGIN(3);
  Handle* source = take_source(&call, args[0]);
  Bytes name = take_bytes(&call, args[1]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[2], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source)
                 ? hawthorn_db_find_tree(AS(source, db), B(name), snapshot, &tree, &call.error)
                 : hawthorn_txn_find_tree(AS(source, txn), B(name), &tree, &call.error));
  return call_handle(&call, kTree, tree, db_of(source), NULL);
}

// tree_id(db, tree): number.
static FUNCTION(tree_id) {
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], db);
  STOP_IF_FAILED;
  return call_number(&call, hawthorn_tree_id(AS(tree, tree)));
}

// tree_options(db, tree): a list of one dict.
static FUNCTION(tree_options) {
  hawthorn_records* records = NULL;
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], db);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_tree_options(AS(db, db), AS(tree, tree), &records, &call.error));
  return call_records(&call, records);
}

// list_trees(source, snapshot): a list of dicts.
static FUNCTION(list_trees) {
  hawthorn_records* records = NULL;
  BEGIN(2);
  Handle* source = take_source(&call, args[0]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[1], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_list_trees(AS(source, db), snapshot, &records, &call.error)
                           : hawthorn_txn_list_trees(AS(source, txn), &records, &call.error));
  return call_records(&call, records);
}

// drop_tree(source, name).
static FUNCTION(drop_tree) {
  BEGIN(2);
  Handle* source = take_source(&call, args[0]);
  Bytes name = take_bytes(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_drop_tree(AS(source, db), B(name), &call.error)
                           : hawthorn_txn_drop_tree(AS(source, txn), B(name), &call.error));
  return call_none(&call);
}

// rename_tree(source, from, to).
static FUNCTION(rename_tree) {
  BEGIN(3);
  Handle* source = take_source(&call, args[0]);
  Bytes from = take_bytes(&call, args[1]);
  Bytes to = take_bytes(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, is_db(source)
                 ? hawthorn_db_rename_tree(AS(source, db), B(from), B(to), &call.error)
                 : hawthorn_txn_rename_tree(AS(source, txn), B(from), B(to), &call.error));
  return call_none(&call);
}

// clone_tree(source, from, to, durability): a handle.
static FUNCTION(clone_tree) {
  hawthorn_tree* tree = NULL;
  BEGIN(4);
  Handle* source = take_source(&call, args[0]);
  Bytes from = take_bytes(&call, args[1]);
  Bytes to = take_bytes(&call, args[2]);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[3]);
  STOP_IF_FAILED;
  RUN(&call,
      is_db(source)
          ? hawthorn_db_clone_tree(AS(source, db), B(from), B(to), durability, &tree, &call.error)
          : hawthorn_txn_clone_tree(AS(source, txn), B(from), B(to), &tree, &call.error));
  return call_handle(&call, kTree, tree, db_of(source), NULL);
}

// set_compression(db, tree, compression).
static FUNCTION(set_compression) {
  BEGIN(3);
  Handle* db = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], db);
  const hawthorn_compression kind = (hawthorn_compression)take_number(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_set_compression(AS(db, db), AS(tree, tree), kind, &call.error));
  return call_none(&call);
}

// set_merge_operator(db, tree, name).
static FUNCTION(set_merge_operator) {
  BEGIN(3);
  Handle* db = take(&call, args[0], kDatabase);
  Handle* tree = take_tree(&call, args[1], db);
  Bytes name = take_bytes(&call, args[2]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_set_merge_operator(AS(db, db), AS(tree, tree), B(name), &call.error));
  return call_none(&call);
}

// ---- Trees as values

// create_subtree(source, parent, key, durability, *tree_options): a handle.
static FUNCTION(create_subtree) {
  hawthorn_tree_options storage;
  hawthorn_tree* tree = NULL;
  BEGIN(10);
  Handle* source = take_source(&call, args[0]);
  Handle* parent = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[3]);
  const hawthorn_tree_options* options = take_tree_options(&call, args + 4, &storage);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_create_subtree(AS(source, db), AS(parent, tree), B(key),
                                                        options, durability, &tree, &call.error)
                           : hawthorn_txn_create_subtree(AS(source, txn), AS(parent, tree), B(key),
                                                         options, &tree, &call.error));
  return call_handle(&call, kTree, tree, db_of(source), NULL);
}

// subtree(source, parent, key, snapshot): a handle.
static FUNCTION(subtree) {
  hawthorn_tree* tree = NULL;
  BEGIN(4);
  Handle* source = take_source(&call, args[0]);
  Handle* parent = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[3], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_subtree(AS(source, db), AS(parent, tree), B(key), snapshot,
                                                 &tree, &call.error)
                           : hawthorn_txn_subtree(AS(source, txn), AS(parent, tree), B(key), &tree,
                                                  &call.error));
  return call_handle(&call, kTree, tree, db_of(source), NULL);
}

// list_subtrees(source, parent, snapshot): a list of dicts.
static FUNCTION(list_subtrees) {
  hawthorn_records* records = NULL;
  BEGIN(3);
  Handle* source = take_source(&call, args[0]);
  Handle* parent = take_tree(&call, args[1], source);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[2], source);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_list_subtrees(AS(source, db), AS(parent, tree), snapshot,
                                                       &records, &call.error)
                           : hawthorn_txn_list_subtrees(AS(source, txn), AS(parent, tree), &records,
                                                        &call.error));
  return call_records(&call, records);
}

// attach(source, parent, key, name, durability).
static FUNCTION(attach) {
  BEGIN(5);
  Handle* source = take_source(&call, args[0]);
  Handle* parent = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes name = take_bytes(&call, args[3]);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[4]);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_attach(AS(source, db), AS(parent, tree), B(key), B(name),
                                                durability, &call.error)
                           : hawthorn_txn_attach(AS(source, txn), AS(parent, tree), B(key), B(name),
                                                 &call.error));
  return call_none(&call);
}

// detach(source, parent, key, name, durability).
static FUNCTION(detach) {
  BEGIN(5);
  Handle* source = take_source(&call, args[0]);
  Handle* parent = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes name = take_bytes(&call, args[3]);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[4]);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_detach(AS(source, db), AS(parent, tree), B(key), B(name),
                                                durability, &call.error)
                           : hawthorn_txn_detach(AS(source, txn), AS(parent, tree), B(key), B(name),
                                                 &call.error));
  return call_none(&call);
}

// move_subtree(source, parent, key, to_parent, to_key, durability).
static FUNCTION(move_subtree) {
  BEGIN(6);
  Handle* source = take_source(&call, args[0]);
  Handle* parent = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Handle* to = take_tree(&call, args[3], source);
  Bytes to_key = take_bytes(&call, args[4]);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[5]);
  STOP_IF_FAILED;
  RUN(&call, is_db(source)
                 ? hawthorn_db_move_subtree(AS(source, db), AS(parent, tree), B(key), AS(to, tree),
                                            B(to_key), durability, &call.error)
                 : hawthorn_txn_move_subtree(AS(source, txn), AS(parent, tree), B(key),
                                             AS(to, tree), B(to_key), &call.error));
  return call_none(&call);
}

// clone_subtree(source, parent, key, to, durability): a handle.
static FUNCTION(clone_subtree) {
  hawthorn_tree* tree = NULL;
  BEGIN(5);
  Handle* source = take_source(&call, args[0]);
  Handle* parent = take_tree(&call, args[1], source);
  Bytes key = take_bytes(&call, args[2]);
  Bytes to = take_bytes(&call, args[3]);
  const hawthorn_durability durability = (hawthorn_durability)take_number(&call, args[4]);
  STOP_IF_FAILED;
  RUN(&call, is_db(source) ? hawthorn_db_clone_subtree(AS(source, db), AS(parent, tree), B(key),
                                                       B(to), durability, &tree, &call.error)
                           : hawthorn_txn_clone_subtree(AS(source, txn), AS(parent, tree), B(key),
                                                        B(to), &tree, &call.error));
  return call_handle(&call, kTree, tree, db_of(source), NULL);
}

// ---- Snapshots

// snapshot(db, name): a handle; a name of None: of this moment.
static FUNCTION(snapshot_open) {
  hawthorn_snapshot* snapshot = NULL;
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes name = take_optional_bytes(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, name.data == NULL
                 ? hawthorn_db_snapshot(AS(db, db), &snapshot, &call.error)
                 : hawthorn_db_open_snapshot(AS(db, db), B(name), &snapshot, &call.error));
  return call_handle(&call, kSnapshot, snapshot, db, NULL);
}

// snapshot_times(db, snapshot): its timestamp, and now in milliseconds.
static FUNCTION(snapshot_times) {
  unsigned long long timestamp, now;
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  const hawthorn_snapshot* snapshot = take_snapshot(&call, args[1], db);
  STOP_IF_FAILED;
  timestamp = hawthorn_snapshot_timestamp(snapshot);
  now = hawthorn_snapshot_now_ms(snapshot);
  if (!call_end(&call)) return NULL;
  return Py_BuildValue("(KK)", timestamp, now);
}

// create_snapshot(db, name).
static FUNCTION(create_snapshot) {
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes name = take_bytes(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_create_snapshot(AS(db, db), B(name), &call.error));
  return call_none(&call);
}

// drop_snapshot(db, name).
static FUNCTION(drop_snapshot) {
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes name = take_bytes(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_drop_snapshot(AS(db, db), B(name), &call.error));
  return call_none(&call);
}

// ---- The database as a whole

// maintain(db, which): see the table.
static FUNCTION(maintain) {
  static hawthorn_code (*const work[])(hawthorn_db*, hawthorn_error**) = {
      hawthorn_db_sync,  hawthorn_db_flush,   hawthorn_db_compact,
      hawthorn_db_drain, hawthorn_db_warm_up, hawthorn_db_rotate_data_key};
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  const uint64_t which = take_number(&call, args[1]);
  if (!call.failed && which >= sizeof(work) / sizeof(work[0])) {
    PyErr_SetString(PyExc_ValueError, "there is no such work");
    call.failed = 1;
  }
  STOP_IF_FAILED;
  RUN(&call, work[which](AS(db, db), &call.error));
  return call_none(&call);
}

// set_memory_budget(db, bytes).
static FUNCTION(set_memory_budget) {
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  const uint64_t bytes = take_number(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_set_memory_budget(AS(db, db), bytes, &call.error));
  return call_none(&call);
}

// set_background_io_limit(db, bytes_per_second).
static FUNCTION(set_background_io_limit) {
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  const uint64_t bytes = take_number(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_set_background_io_limit(AS(db, db), bytes, &call.error));
  return call_none(&call);
}

// rotate_key(db, key_id).
static FUNCTION(rotate_key) {
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  Bytes id = take_bytes(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_rotate_key(AS(db, db), B(id), &call.error));
  return call_none(&call);
}

// list_of(db, which): a list of dicts; see the table.
static FUNCTION(list_of) {
  static hawthorn_code (*const lists[])(hawthorn_db*, hawthorn_records**, hawthorn_error**) = {
      hawthorn_db_stats, hawthorn_db_encryption, hawthorn_db_list_snapshots, hawthorn_db_prepared,
      hawthorn_db_list_feeds};
  hawthorn_records* records = NULL;
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  const uint64_t which = take_number(&call, args[1]);
  if (!call.failed && which >= sizeof(lists) / sizeof(lists[0])) {
    PyErr_SetString(PyExc_ValueError, "there is no such list");
    call.failed = 1;
  }
  STOP_IF_FAILED;
  RUN(&call, lists[which](AS(db, db), &records, &call.error));
  return call_records(&call, records);
}

// stat(db, name): number.
static FUNCTION(stat_number) {
  uint64_t number = 0;
  BEGIN(2);
  Handle* db = take(&call, args[0], kDatabase);
  const char* name = take_path(&call, args[1]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_db_stat(AS(db, db), name, &number, &call.error));
  return call_number(&call, number);
}

// read_counters(directory): a list of one dict.
static FUNCTION(read_counters) {
  hawthorn_records* records = NULL;
  BEGIN(1);
  const char* directory = take_path(&call, args[0]);
  STOP_IF_FAILED;
  RUN(&call, hawthorn_read_counters(directory, &records, &call.error));
  return call_records(&call, records);
}

PyMethodDef database_methods[] = {
#define METHOD(name, function) {name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL}
    METHOD("open", db_open),
    METHOD("destroy", db_destroy),
    METHOD("database_id", db_id),
    METHOD("tree", tree_open),
    METHOD("find_tree", tree_find),
    METHOD("tree_id", tree_id),
    METHOD("tree_options", tree_options),
    METHOD("list_trees", list_trees),
    METHOD("drop_tree", drop_tree),
    METHOD("rename_tree", rename_tree),
    METHOD("clone_tree", clone_tree),
    METHOD("set_compression", set_compression),
    METHOD("set_merge_operator", set_merge_operator),
    METHOD("create_subtree", create_subtree),
    METHOD("subtree", subtree),
    METHOD("list_subtrees", list_subtrees),
    METHOD("attach", attach),
    METHOD("detach", detach),
    METHOD("move_subtree", move_subtree),
    METHOD("clone_subtree", clone_subtree),
    METHOD("snapshot", snapshot_open),
    METHOD("snapshot_times", snapshot_times),
    METHOD("create_snapshot", create_snapshot),
    METHOD("drop_snapshot", drop_snapshot),
    METHOD("maintain", maintain),
    METHOD("set_memory_budget", set_memory_budget),
    METHOD("set_background_io_limit", set_background_io_limit),
    METHOD("rotate_key", rotate_key),
    METHOD("list_of", list_of),
    METHOD("stat", stat_number),
    METHOD("read_counters", read_counters),
    {NULL, NULL, 0, NULL}};
