#pragma once
// A database: opening it, its trees and snapshots, and what is done to it as a whole.
//
// Not here: reads and writes (c/access.h), transactions, cursors, copies: parts of their own.
// Errors, where a function names none of its own: HAWTHORN_CORRUPTION, HAWTHORN_IO_ERROR,
// HAWTHORN_CLOSED, HAWTHORN_FORKED, and HAWTHORN_INVALID_ARGUMENT for what base.h says. What a
// function does in full, db.h says of the one of that name.

#include "base.h"
#include "options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hawthorn_db hawthorn_db;
typedef struct hawthorn_tree hawthorn_tree;
typedef struct hawthorn_snapshot hawthorn_snapshot;

// ---- Opening

// Opens the database in the directory, and creates or recovers it as needed. `options` may be NULL:
// the defaults; they may be freed afterwards. Errors: HAWTHORN_NOT_FOUND; HAWTHORN_BUSY when
// another process has it open; HAWTHORN_NOT_SUPPORTED for a newer format; HAWTHORN_CORRUPTION;
// HAWTHORN_PERMISSION_DENIED (the file or directory named); HAWTHORN_READ_ONLY for a read-only
// medium; HAWTHORN_INVALID_ARGUMENT for options out of range.
HAWTHORN_C_API hawthorn_code hawthorn_db_open(const char* path, const hawthorn_options* options,
                                              hawthorn_db** out, hawthorn_error** error);
// Flushes everything and closes; the handle is still to be freed, and all that it is asked answers
// HAWTHORN_CLOSED. No other call may run. Errors: HAWTHORN_BUSY when snapshots, cursors,
// transactions, queues or values are still held: then the database stays open.
HAWTHORN_C_API hawthorn_code hawthorn_db_close(hawthorn_db* db, hawthorn_error** error);
// Frees the handle. A database that was not closed is, without flushing, when the last handle that
// belongs to it is freed (values and read batches that have read from it among them, until they are
// released): nothing committed is lost, the next open replays the log. To know that it is closed,
// call hawthorn_db_close.
HAWTHORN_C_API void hawthorn_db_free(hawthorn_db* db);
// Removes the files of a database. `options` (may be NULL) are looked at for encryption alone.
// Errors: HAWTHORN_NOT_FOUND; HAWTHORN_BUSY; HAWTHORN_CORRUPTION while a copy is being made there.
HAWTHORN_C_API hawthorn_code hawthorn_destroy_database(const char* path,
                                                       const hawthorn_options* options,
                                                       hawthorn_error** error);
// The directory, as it was given; NULL for NULL. Lifetime: the handle's.
HAWTHORN_C_API const char* hawthorn_db_path(const hawthorn_db* db);
// The id that the database has had since it was made: 32 hexadecimal digits and a zero byte.
HAWTHORN_C_API hawthorn_code hawthorn_db_id(hawthorn_db* db, char id[33], hawthorn_error** error);

// ---- Trees

// What a tree is made with (TreeOptions in key_order.h).
typedef struct hawthorn_tree_options {
  size_t struct_size;
  const char* order;        // NULL or empty: "bytewise"
  const char* value_order;  // of a key's values; NULL or empty: "bytewise"
  int multi_value;          // a key may have several values
  int expires;              // entries may end
  int subtrees;             // values may be trees
  uint64_t ttl_ms;          // when entries end, unless their put says otherwise; 0: never
} hawthorn_tree_options;
#define HAWTHORN_TREE_OPTIONS_INIT {sizeof(hawthorn_tree_options), NULL, NULL, 0, 0, 0, 0}

// Opens a tree, making it when missing, which is durable when this returns. `options` may be NULL:
// as it is, or an ordinary one. Names have 1 to 255 bytes. Errors: HAWTHORN_INVALID_ARGUMENT where
// there is one with other options, or for an order that nobody knows; HAWTHORN_READ_ONLY;
// HAWTHORN_NO_SPACE.
HAWTHORN_C_API hawthorn_code hawthorn_db_tree(hawthorn_db* db, const char* name, size_t name_size,
                                              const hawthorn_tree_options* options,
                                              hawthorn_tree** out, hawthorn_error** error);
// Opens a tree that is there, now or in a snapshot (NULL: now). Errors: HAWTHORN_NOT_FOUND.
HAWTHORN_C_API hawthorn_code hawthorn_db_find_tree(hawthorn_db* db, const char* name,
                                                   size_t name_size,
                                                   const hawthorn_snapshot* snapshot,
                                                   hawthorn_tree** out, hawthorn_error** error);
// The same handle again, to be freed by itself. Handles belong to the database: one works with
// every transaction, cursor and queue of it, and frees nothing of the tree.
HAWTHORN_C_API hawthorn_code hawthorn_tree_copy(const hawthorn_tree* tree, hawthorn_tree** out,
                                                hawthorn_error** error);
// Never used again for another tree; 0 for NULL.
HAWTHORN_C_API uint32_t hawthorn_tree_id(const hawthorn_tree* tree);
HAWTHORN_C_API void hawthorn_tree_free(hawthorn_tree* tree);
// What a tree was made with: one row of order, value_order, multi_value, expires, ttl_ms, subtrees.
HAWTHORN_C_API hawthorn_code hawthorn_db_tree_options(hawthorn_db* db, const hawthorn_tree* tree,
                                                      hawthorn_records** out,
                                                      hawthorn_error** error);
// The names of all trees: a row for each, with `name`. `snapshot` may be NULL.
HAWTHORN_C_API hawthorn_code hawthorn_db_list_trees(hawthorn_db* db,
                                                    const hawthorn_snapshot* snapshot,
                                                    hawthorn_records** out, hawthorn_error** error);
// Removes a tree and all below it. Durable when it returns. Errors: HAWTHORN_NOT_FOUND;
// HAWTHORN_BUSY while a prepared transaction uses it.
HAWTHORN_C_API hawthorn_code hawthorn_db_drop_tree(hawthorn_db* db, const char* name,
                                                   size_t name_size, hawthorn_error** error);
// Durable when it returns. Errors: HAWTHORN_NOT_FOUND; HAWTHORN_INVALID_ARGUMENT for a name that is
// taken.
HAWTHORN_C_API hawthorn_code hawthorn_db_rename_tree(hawthorn_db* db, const char* from,
                                                     size_t from_size, const char* to,
                                                     size_t to_size, hawthorn_error** error);
// A tree that begins with all that another one holds. `out` may be NULL. Errors:
// HAWTHORN_NOT_FOUND; HAWTHORN_INVALID_ARGUMENT for a name that is taken; HAWTHORN_NOT_SUPPORTED.
HAWTHORN_C_API hawthorn_code hawthorn_db_clone_tree(hawthorn_db* db, const char* from,
                                                    size_t from_size, const char* to,
                                                    size_t to_size, hawthorn_durability durability,
                                                    hawthorn_tree** out, hawthorn_error** error);
// Of what is written from now on. Durable when it returns.
HAWTHORN_C_API hawthorn_code hawthorn_db_set_compression(hawthorn_db* db, const hawthorn_tree* tree,
                                                         hawthorn_compression compression,
                                                         hawthorn_error** error);
// Gives a tree the merge operator of the options with this name, for good. Durable when it returns.
// Errors: HAWTHORN_INVALID_ARGUMENT for the name, or where it has another one; HAWTHORN_BUSY;
// HAWTHORN_NOT_SUPPORTED of clones.
HAWTHORN_C_API hawthorn_code hawthorn_db_set_merge_operator(hawthorn_db* db,
                                                            const hawthorn_tree* tree,
                                                            const char* name, size_t name_size,
                                                            hawthorn_error** error);

// ---- Trees as values. Errors of all: HAWTHORN_NOT_FOUND where nothing is at the key, or no tree
// has the name; HAWTHORN_INVALID_ARGUMENT where `parent` was not made for it, a key or name is
// taken, or a tree would hang below itself.

// Hangs an empty tree at a key that has nothing yet. `options` and `out` may be NULL.
HAWTHORN_C_API hawthorn_code hawthorn_db_create_subtree(
    hawthorn_db* db, const hawthorn_tree* parent, const void* key, size_t key_size,
    const hawthorn_tree_options* options, hawthorn_durability durability, hawthorn_tree** out,
    hawthorn_error** error);
// The tree at a key. `snapshot` may be NULL.
HAWTHORN_C_API hawthorn_code hawthorn_db_subtree(hawthorn_db* db, const hawthorn_tree* parent,
                                                 const void* key, size_t key_size,
                                                 const hawthorn_snapshot* snapshot,
                                                 hawthorn_tree** out, hawthorn_error** error);
// The keys at which trees hang: a row for each, with `key`. `snapshot` may be NULL.
HAWTHORN_C_API hawthorn_code hawthorn_db_list_subtrees(hawthorn_db* db, const hawthorn_tree* parent,
                                                       const hawthorn_snapshot* snapshot,
                                                       hawthorn_records** out,
                                                       hawthorn_error** error);
// Hangs a tree that has a name at a key.
HAWTHORN_C_API hawthorn_code hawthorn_db_attach(hawthorn_db* db, const hawthorn_tree* parent,
                                                const void* key, size_t key_size, const char* name,
                                                size_t name_size, hawthorn_durability durability,
                                                hawthorn_error** error);
// Takes it off its key, and gives it a name.
HAWTHORN_C_API hawthorn_code hawthorn_db_detach(hawthorn_db* db, const hawthorn_tree* parent,
                                                const void* key, size_t key_size, const char* name,
                                                size_t name_size, hawthorn_durability durability,
                                                hawthorn_error** error);
// Hangs it at another key, of the same tree or of another one.
HAWTHORN_C_API hawthorn_code hawthorn_db_move_subtree(hawthorn_db* db, const hawthorn_tree* parent,
                                                      const void* key, size_t key_size,
                                                      const hawthorn_tree* to_parent,
                                                      const void* to_key, size_t to_key_size,
                                                      hawthorn_durability durability,
                                                      hawthorn_error** error);
// A tree with a name that begins with all that a subtree holds. `out` may be NULL.
HAWTHORN_C_API hawthorn_code hawthorn_db_clone_subtree(hawthorn_db* db, const hawthorn_tree* parent,
                                                       const void* key, size_t key_size,
                                                       const char* to, size_t to_size,
                                                       hawthorn_durability durability,
                                                       hawthorn_tree** out, hawthorn_error** error);

// ---- Snapshots

// A fixed view of all trees at the newest commit. Blocks nobody; keeps old versions while it is
// held.
HAWTHORN_C_API hawthorn_code hawthorn_db_snapshot(hawthorn_db* db, hawthorn_snapshot** out,
                                                  hawthorn_error** error);
// The timestamp of the commit that it shows; 0 for NULL.
HAWTHORN_C_API uint64_t hawthorn_snapshot_timestamp(const hawthorn_snapshot* snapshot);
// Entries that end up to here have ended for it, in milliseconds since 1970. 0 where no tree had
// entries that end when it was taken, since then nothing has; and for NULL. One with a name always
// has the time at which it was made.
HAWTHORN_C_API uint64_t hawthorn_snapshot_now_ms(const hawthorn_snapshot* snapshot);
// It goes when cursors that read it have gone, too.
HAWTHORN_C_API void hawthorn_snapshot_free(hawthorn_snapshot* snapshot);

// Snapshots with names stay over restarts until they are dropped. Each is durable when it returns.
// Errors: HAWTHORN_INVALID_ARGUMENT for a name that is taken or not of 1 to 255 bytes;
// HAWTHORN_NOT_FOUND; HAWTHORN_NO_SPACE; HAWTHORN_READ_ONLY.
HAWTHORN_C_API hawthorn_code hawthorn_db_create_snapshot(hawthorn_db* db, const char* name,
                                                         size_t name_size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_db_open_snapshot(hawthorn_db* db, const char* name,
                                                       size_t name_size, hawthorn_snapshot** out,
                                                       hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_db_drop_snapshot(hawthorn_db* db, const char* name,
                                                       size_t name_size, hawthorn_error** error);
// Rows of name, timestamp, created_us.
HAWTHORN_C_API hawthorn_code hawthorn_db_list_snapshots(hawthorn_db* db, hawthorn_records** out,
                                                        hawthorn_error** error);

// ---- The database as a whole

// Makes every commit so far durable as HAWTHORN_DURABILITY_FULL would. Errors: HAWTHORN_READ_ONLY.
HAWTHORN_C_API hawthorn_code hawthorn_db_sync(hawthorn_db* db, hawthorn_error** error);
// Writes all unflushed data to its containers. Durable. Errors: the same.
HAWTHORN_C_API hawthorn_code hawthorn_db_flush(hawthorn_db* db, hawthorn_error** error);
// Flushes, shows all entries to the flush filters, and rewrites what carries garbage.
HAWTHORN_C_API hawthorn_code hawthorn_db_compact(hawthorn_db* db, hawthorn_error** error);
// Told behind the flush, on the calling thread: the containers that were rewritten, and how many
// there are to be, which become more where data files are emptied in the end. NULL lets it go on,
// an error (which the library frees) ends it.
typedef hawthorn_error* (*hawthorn_compact_progress)(void* context, uint64_t containers_done,
                                                     uint64_t containers);
typedef struct hawthorn_compact_options {
  size_t struct_size;
  hawthorn_compact_progress progress;  // NULL: nobody is told
  void* context;                       // of `progress`
} hawthorn_compact_options;
#define HAWTHORN_COMPACT_OPTIONS_INIT {sizeof(hawthorn_compact_options), NULL, NULL}

// The same; `options` may be NULL. Errors: also that of `progress`.
HAWTHORN_C_API hawthorn_code hawthorn_db_compact_with(hawthorn_db* db,
                                                      const hawthorn_compact_options* options,
                                                      hawthorn_error** error);
// Waits until background work has nothing left to do, that of flush filters among it.
HAWTHORN_C_API hawthorn_code hawthorn_db_drain(hawthorn_db* db, hawthorn_error** error);
// Reads the indexes of all trees into memory.
HAWTHORN_C_API hawthorn_code hawthorn_db_warm_up(hawthorn_db* db, hawthorn_error** error);
// Errors: HAWTHORN_INVALID_ARGUMENT below the minimum; HAWTHORN_OUT_OF_MEMORY.
HAWTHORN_C_API hawthorn_code hawthorn_db_set_memory_budget(hawthorn_db* db, uint64_t bytes,
                                                           hawthorn_error** error);
// 0: no limit.
HAWTHORN_C_API hawthorn_code hawthorn_db_set_background_io_limit(hawthorn_db* db,
                                                                 uint64_t bytes_per_second,
                                                                 hawthorn_error** error);
// One row: encrypted, key_id, generation, data_keys, data_key.
HAWTHORN_C_API hawthorn_code hawthorn_db_encryption(hawthorn_db* db, hawthorn_records** out,
                                                    hawthorn_error** error);
// The key with this id opens the database from now on. Durable when it returns. Errors:
// HAWTHORN_INVALID_ARGUMENT where it is not encrypted, for the id, and for a wrong key;
// HAWTHORN_READ_ONLY.
HAWTHORN_C_API hawthorn_code hawthorn_db_rotate_key(hawthorn_db* db, const char* key_id,
                                                    size_t key_id_size, hawthorn_error** error);
// A new data key for what is written from now on. Errors: also HAWTHORN_NOT_SUPPORTED beyond 64.
HAWTHORN_C_API hawthorn_code hawthorn_db_rotate_data_key(hawthorn_db* db, hawthorn_error** error);

// All figures of this moment (stats.h): one row, with a field for each of hawthorn::Stats, by its
// name and with its unit; trees, feeds, named_snapshots and followers are lists of their own.
HAWTHORN_C_API hawthorn_code hawthorn_db_stats(hawthorn_db* db, hawthorn_records** out,
                                               hawthorn_error** error);
// One figure of them by its name, such as "commits". Errors: also HAWTHORN_NOT_FOUND.
HAWTHORN_C_API hawthorn_code hawthorn_db_stat(hawthorn_db* db, const char* name, uint64_t* out,
                                              hawthorn_error** error);
// Figures of a database that any process has open, or had, by the file that it writes each second:
// one row of uuid_low, uuid_high, pid, process_start, opened_us, updated_us, closed, alive, and
// `entries`, a list with a row for each figure: name, value (with its unit), grows. Errors:
// HAWTHORN_NOT_FOUND; HAWTHORN_CORRUPTION; HAWTHORN_NOT_SUPPORTED.
HAWTHORN_C_API hawthorn_code hawthorn_read_counters(const char* directory, hawthorn_records** out,
                                                    hawthorn_error** error);

#ifdef __cplusplus
}
#endif
