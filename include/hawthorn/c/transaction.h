#pragma once
// Transactions: reads and writes that are committed together (transaction.h says what isolation
// and modes mean, and docs/transactions.md why).
//
// Functions with the name of one of c/access.h do the same, and see the transaction's own writes.
// Errors of all: HAWTHORN_INVALID_ARGUMENT when the transaction has ended, is prepared, or has an
// open nested one. Of writes also HAWTHORN_CONFLICT, HAWTHORN_TIMED_OUT, HAWTHORN_DEADLOCK,
// HAWTHORN_NO_SPACE, HAWTHORN_READ_ONLY; after one the transaction can go on with other keys, or
// abort. Threads: one transaction, its nested ones and its cursors, from one thread at a time.
// Durable: what commit is told; nothing of an unfinished one survives, unless it is prepared.

#include "access.h"
#include "cursor.h"
#include "db.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hawthorn_txn hawthorn_txn;

typedef uint32_t hawthorn_txn_mode;
enum {
  HAWTHORN_TXN_OPTIMISTIC = 0,  // the first committer wins
  // One at a time: begin waits for those before it, as long as the lock timeout says. It belongs to
  // the thread that began it, whose other writes to the database are refused until it ends.
  HAWTHORN_TXN_EXCLUSIVE = 1,
  HAWTHORN_TXN_PESSIMISTIC = 2  // a write locks its key
};

typedef uint32_t hawthorn_isolation;
enum {
  HAWTHORN_ISOLATION_SNAPSHOT = 0,  // the default
  HAWTHORN_ISOLATION_READ_COMMITTED = 1,
  HAWTHORN_ISOLATION_SERIALIZABLE = 2
};

typedef uint32_t hawthorn_row_lock;
enum {
  HAWTHORN_ROW_LOCK_SHARED = 0,
  HAWTHORN_ROW_LOCK_UPGRADABLE = 1,
  HAWTHORN_ROW_LOCK_EXCLUSIVE = 2
};

// In place of a time in milliseconds: as the database's or transaction's options say.
#define HAWTHORN_TIMEOUT_DEFAULT ((uint64_t)-1)

typedef struct hawthorn_txn_options {
  size_t struct_size;
  hawthorn_txn_mode mode;
  hawthorn_isolation isolation;
  int read_only;
  // How long a write or lock waits for a row, and the begin of an exclusive one for its turn, where
  // has_lock_timeout is not 0; 0: not at all.
  int has_lock_timeout;
  uint64_t lock_timeout_ms;
  const hawthorn_snapshot* snapshot;  // the moment that it reads; NULL: the present one
} hawthorn_txn_options;
#define HAWTHORN_TXN_OPTIONS_INIT {sizeof(hawthorn_txn_options), 0, 0, 0, 0, 0, NULL}

// What calls of this thread ask while they wait for other users of a database: for a row, for the
// turn of an exclusive transaction, for the end of one, for the next commit of a feed. Where it
// does not return 0 the call ends as if its time were over: HAWTHORN_TIMED_OUT, nothing written and
// no lock taken, and hawthorn_feed_next with nothing. A wait without a limit (of a commit, while a
// transaction is exclusive) ends so, too. Asked about every 20 ms, on this thread, which holds no
// lock of the library then; it may call the library, but nothing that the waiting call uses.
// Not asked: waits for the disk, for memory, and for threads of the database.
// NULL: nothing is asked, the default. Lifetime of the context: until it is set anew.
typedef int (*hawthorn_interrupt)(void* context);
HAWTHORN_C_API void hawthorn_set_interrupt(hawthorn_interrupt interrupted, void* context);

// Begins. `options` may be NULL. Errors: HAWTHORN_READ_ONLY; HAWTHORN_BUSY when four million are
// open; HAWTHORN_TIMED_OUT of exclusive ones.
HAWTHORN_C_API hawthorn_code hawthorn_txn_begin(hawthorn_db* db,
                                                const hawthorn_txn_options* options,
                                                hawthorn_txn** out, hawthorn_error** error);
// One inside of another, which can be used again when that has ended. Its commit leaves its writes
// to the outer one, its abort undoes them.
HAWTHORN_C_API hawthorn_code hawthorn_txn_begin_nested(hawthorn_txn* txn, hawthorn_txn** out,
                                                       hawthorn_error** error);
// Commits. The transaction has ended in every case, but a prepared one, which stays with
// HAWTHORN_NO_SPACE, HAWTHORN_READ_ONLY, HAWTHORN_IO_ERROR. Errors: HAWTHORN_CONFLICT: nothing was
// written; HAWTHORN_UNKNOWN_OUTCOME when the sync failed.
HAWTHORN_C_API hawthorn_code hawthorn_txn_commit(hawthorn_txn* txn, hawthorn_durability durability,
                                                 hawthorn_error** error);
// Ends it; nothing of it remains. One that has ended is left alone.
HAWTHORN_C_API hawthorn_code hawthorn_txn_abort(hawthorn_txn* txn, hawthorn_error** error);
// Whether neither commit nor abort has ended it; 0 for NULL.
HAWTHORN_C_API int hawthorn_txn_is_open(const hawthorn_txn* txn);
// Aborts one that is open, with those that are nested in it, unless it is prepared; frees it.
HAWTHORN_C_API void hawthorn_txn_free(hawthorn_txn* txn);

// ---- Savepoints

// A moment to roll back to. A value: copied freely, freed by nobody.
typedef struct hawthorn_savepoint {
  uint64_t words[2];
} hawthorn_savepoint;
HAWTHORN_C_API hawthorn_code hawthorn_txn_savepoint(hawthorn_txn* txn, hawthorn_savepoint* out,
                                                    hawthorn_error** error);
// Undoes all writes and locks since; it stays, later ones are gone. Errors:
// HAWTHORN_INVALID_ARGUMENT for one that is gone, or of another transaction.
HAWTHORN_C_API hawthorn_code hawthorn_txn_rollback_to(hawthorn_txn* txn,
                                                      const hawthorn_savepoint* savepoint,
                                                      hawthorn_error** error);
// Forgets it, and later ones; what was written stays.
HAWTHORN_C_API hawthorn_code hawthorn_txn_release(hawthorn_txn* txn,
                                                  const hawthorn_savepoint* savepoint,
                                                  hawthorn_error** error);

// ---- Two phases

// Makes what was written durable under this id (1 to 200 bytes); the transaction stays prepared,
// over restarts, until it is committed or aborted, here or by its id. Errors: HAWTHORN_CONFLICT,
// HAWTHORN_TIMED_OUT, HAWTHORN_DEADLOCK, HAWTHORN_NOT_SUPPORTED: it is open as before;
// HAWTHORN_NO_SPACE, HAWTHORN_READ_ONLY, HAWTHORN_IO_ERROR: only abort is left;
// HAWTHORN_UNKNOWN_OUTCOME.
HAWTHORN_C_API hawthorn_code hawthorn_txn_prepare(hawthorn_txn* txn, const char* id, size_t id_size,
                                                  hawthorn_error** error);
// Those that are prepared: rows of id, operations, timestamp, prepared_at_us.
HAWTHORN_C_API hawthorn_code hawthorn_db_prepared(hawthorn_db* db, hawthorn_records** out,
                                                  hawthorn_error** error);
// Ends one. Errors: HAWTHORN_NOT_FOUND; as hawthorn_txn_commit of a prepared one.
HAWTHORN_C_API hawthorn_code hawthorn_db_commit_prepared(hawthorn_db* db, const char* id,
                                                         size_t id_size,
                                                         hawthorn_durability durability,
                                                         hawthorn_error** error);
// Durable when it returns.
HAWTHORN_C_API hawthorn_code hawthorn_db_rollback_prepared(hawthorn_db* db, const char* id,
                                                           size_t id_size, hawthorn_error** error);

// ---- Reads

HAWTHORN_C_API hawthorn_code hawthorn_txn_get(hawthorn_txn* txn, const hawthorn_tree* tree,
                                              const void* key, size_t key_size,
                                              hawthorn_value* value, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_get_into(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                   const void* key, size_t key_size, void* buffer,
                                                   size_t capacity, size_t* size,
                                                   hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_multi_get(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                    const hawthorn_bytes* keys, size_t key_count,
                                                    hawthorn_read_batch* batch,
                                                    hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_multi_get_columns(
    hawthorn_txn* txn, const hawthorn_tree* tree, const void* key_bytes, const int64_t* key_offsets,
    size_t key_count, hawthorn_read_batch* batch, hawthorn_columns* columns,
    hawthorn_error** error);
// Reads a key that is to be written: nobody else writes it before this one ends, or its commit
// conflicts.
HAWTHORN_C_API hawthorn_code hawthorn_txn_get_for_update(hawthorn_txn* txn,
                                                         const hawthorn_tree* tree, const void* key,
                                                         size_t key_size, hawthorn_value* value,
                                                         hawthorn_error** error);
// A value that stays where it is until the outermost transaction ends, is prepared, or
// hawthorn_txn_release_pinned. Errors: also HAWTHORN_NO_SPACE, HAWTHORN_OUT_OF_MEMORY.
HAWTHORN_C_API hawthorn_code hawthorn_txn_get_pinned(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                     const void* key, size_t key_size,
                                                     const void** data, size_t* size,
                                                     hawthorn_error** error);
// The same of the entry on which a cursor of this transaction stands.
HAWTHORN_C_API hawthorn_code hawthorn_txn_pin(hawthorn_txn* txn, const hawthorn_cursor* cursor,
                                              hawthorn_entry* out, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_release_pinned(hawthorn_txn* txn, hawthorn_error** error);
// `options` may be NULL; their snapshot must be.
HAWTHORN_C_API hawthorn_code hawthorn_txn_cursor(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                 const hawthorn_cursor_options* options,
                                                 hawthorn_cursor** out, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_count(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                const void* low, size_t low_size, const void* high,
                                                size_t high_size, uint64_t* out,
                                                hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_read_part(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                    const void* key, size_t key_size,
                                                    uint64_t offset, void* buffer, size_t capacity,
                                                    size_t* size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_size_of(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                  const void* key, size_t key_size, uint64_t* out,
                                                  hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_read_stream(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                      const void* key, size_t key_size,
                                                      uint64_t offset, hawthorn_stream_sink sink,
                                                      void* context, hawthorn_error** error);

// ---- Writes

// Locks a row, there or not, until the transaction ends; pessimistic ones only. Errors: also
// HAWTHORN_TIMED_OUT, HAWTHORN_DEADLOCK, HAWTHORN_CONFLICT.
HAWTHORN_C_API hawthorn_code hawthorn_txn_lock(hawthorn_txn* txn, const hawthorn_tree* tree,
                                               const void* key, size_t key_size,
                                               hawthorn_row_lock lock, uint64_t timeout_ms,
                                               hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_put(hawthorn_txn* txn, const hawthorn_tree* tree,
                                              const void* key, size_t key_size, const void* value,
                                              size_t value_size,
                                              const hawthorn_write_options* options,
                                              hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_del(hawthorn_txn* txn, const hawthorn_tree* tree,
                                              const void* key, size_t key_size,
                                              hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_del_value(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                    const void* key, size_t key_size,
                                                    const void* value, size_t value_size,
                                                    hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_delete_range(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                       const void* low, size_t low_size,
                                                       const void* high, size_t high_size,
                                                       hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_merge(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                const void* key, size_t key_size,
                                                const void* operand, size_t operand_size,
                                                hawthorn_error** error);
// A put whose `size` bytes the caller fills in place, zeros at first. Lifetime of *data: the next
// call for this transaction, which writes what stands there then.
HAWTHORN_C_API hawthorn_code hawthorn_txn_put_reserve(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                      const void* key, size_t key_size, size_t size,
                                                      void** data, hawthorn_error** error);
// Writes it at once, where there is one.
HAWTHORN_C_API hawthorn_code hawthorn_txn_finish_reserve(hawthorn_txn* txn, hawthorn_error** error);
// Fills the buffer with the next bytes of a value: how many it wrote (at most `capacity`), 0 at the
// end; or -1 after setting *error, which the library frees.
typedef int64_t (*hawthorn_stream_source)(void* context, void* buffer, size_t capacity,
                                          hawthorn_error** error);
// A value of up to 4 GB from a source that is called until it has given `size` bytes. Errors: also
// the source's.
HAWTHORN_C_API hawthorn_code hawthorn_txn_put_stream(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                     const void* key, size_t key_size,
                                                     uint64_t size, hawthorn_stream_source source,
                                                     void* context, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_write_part(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                     const void* key, size_t key_size,
                                                     uint64_t offset, const void* data, size_t size,
                                                     hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_write_part_stream(
    hawthorn_txn* txn, const hawthorn_tree* tree, const void* key, size_t key_size, uint64_t offset,
    uint64_t size, hawthorn_stream_source source, void* context, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_append(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                 const void* key, size_t key_size, const void* data,
                                                 size_t size, uint64_t* offset,
                                                 hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_append_stream(
    hawthorn_txn* txn, const hawthorn_tree* tree, const void* key, size_t key_size, uint64_t size,
    hawthorn_stream_source source, void* context, uint64_t* offset, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_resize(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                 const void* key, size_t key_size, uint64_t size,
                                                 hawthorn_error** error);
// Compare and set: *done may be NULL.
HAWTHORN_C_API hawthorn_code hawthorn_txn_insert(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                 const void* key, size_t key_size,
                                                 const void* value, size_t value_size, int* done,
                                                 hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_update(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                 const void* key, size_t key_size,
                                                 const void* value, size_t value_size, int* done,
                                                 hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_replace(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                  const void* key, size_t key_size,
                                                  const void* expected, size_t expected_size,
                                                  const void* value, size_t value_size, int* done,
                                                  hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_remove_if(hawthorn_txn* txn, const hawthorn_tree* tree,
                                                    const void* key, size_t key_size,
                                                    const void* expected, size_t expected_size,
                                                    int* done, hawthorn_error** error);

// ---- Trees: as those of c/db.h; others see them when this one has committed

HAWTHORN_C_API hawthorn_code hawthorn_txn_tree(hawthorn_txn* txn, const char* name,
                                               size_t name_size,
                                               const hawthorn_tree_options* options,
                                               hawthorn_tree** out, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_find_tree(hawthorn_txn* txn, const char* name,
                                                    size_t name_size, hawthorn_tree** out,
                                                    hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_list_trees(hawthorn_txn* txn, hawthorn_records** out,
                                                     hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_drop_tree(hawthorn_txn* txn, const char* name,
                                                    size_t name_size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_rename_tree(hawthorn_txn* txn, const char* from,
                                                      size_t from_size, const char* to,
                                                      size_t to_size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_clone_tree(hawthorn_txn* txn, const char* from,
                                                     size_t from_size, const char* to,
                                                     size_t to_size, hawthorn_tree** out,
                                                     hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_create_subtree(
    hawthorn_txn* txn, const hawthorn_tree* parent, const void* key, size_t key_size,
    const hawthorn_tree_options* options, hawthorn_tree** out, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_subtree(hawthorn_txn* txn, const hawthorn_tree* parent,
                                                  const void* key, size_t key_size,
                                                  hawthorn_tree** out, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_list_subtrees(hawthorn_txn* txn,
                                                        const hawthorn_tree* parent,
                                                        hawthorn_records** out,
                                                        hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_attach(hawthorn_txn* txn, const hawthorn_tree* parent,
                                                 const void* key, size_t key_size, const char* name,
                                                 size_t name_size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_detach(hawthorn_txn* txn, const hawthorn_tree* parent,
                                                 const void* key, size_t key_size, const char* name,
                                                 size_t name_size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_move_subtree(
    hawthorn_txn* txn, const hawthorn_tree* parent, const void* key, size_t key_size,
    const hawthorn_tree* to_parent, const void* to_key, size_t to_key_size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_txn_clone_subtree(
    hawthorn_txn* txn, const hawthorn_tree* parent, const void* key, size_t key_size,
    const char* to, size_t to_size, hawthorn_tree** out, hawthorn_error** error);

#ifdef __cplusplus
}
#endif
