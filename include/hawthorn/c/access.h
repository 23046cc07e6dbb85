#pragma once
// Reads, writes and batches outside of transactions: each write is one commit.
//
// Not here: the same within a transaction (c/transaction.h), walks (c/cursor.h).
// `snapshot` may be NULL everywhere: then the newest committed state is read. A read may see what
// is not yet durable. Write options may be NULL: the defaults.
// Errors of reads: HAWTHORN_NOT_FOUND, HAWTHORN_CORRUPTION, HAWTHORN_IO_ERROR. Errors of writes:
// HAWTHORN_INVALID_ARGUMENT for sizes; HAWTHORN_NO_SPACE (nothing was written; deletes go on);
// HAWTHORN_READ_ONLY; HAWTHORN_UNKNOWN_OUTCOME (full durability only); HAWTHORN_TIMED_OUT while a
// transaction holds the row; HAWTHORN_CONFLICT. Of both: HAWTHORN_CLOSED, HAWTHORN_FORKED,
// HAWTHORN_NOT_SUPPORTED for what trees of that shape have not (key_order.h).
// Durable: a write is, as its options say, when it returns.

#include "db.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t hawthorn_expiry;
enum {
  HAWTHORN_EXPIRY_DEFAULT = 0,  // as the tree was made
  HAWTHORN_EXPIRY_NEVER = 1,
  HAWTHORN_EXPIRY_AT = 2,    // at expiry_ms since 1970
  HAWTHORN_EXPIRY_AFTER = 3  // expiry_ms from now on
};

typedef struct hawthorn_write_options {
  size_t struct_size;
  hawthorn_durability durability;  // in transactions and batches: default, since their commit says
  hawthorn_expiry expiry;          // of puts alone
  uint64_t expiry_ms;
} hawthorn_write_options;
#define HAWTHORN_WRITE_OPTIONS_INIT {sizeof(hawthorn_write_options), 0, 0, 0}

// ---- Reads

// Reads a key into `value`, without a copy where the bytes are in memory. Behind an error it is
// empty.
HAWTHORN_C_API hawthorn_code hawthorn_db_get(hawthorn_db* db, const hawthorn_tree* tree,
                                             const void* key, size_t key_size,
                                             const hawthorn_snapshot* snapshot,
                                             hawthorn_value* value, hawthorn_error** error);
// The same into a buffer of the caller: *size becomes the size of the value. Errors: also
// HAWTHORN_BUFFER_TOO_SMALL, where the buffer has the value's beginning.
HAWTHORN_C_API hawthorn_code hawthorn_db_get_into(hawthorn_db* db, const hawthorn_tree* tree,
                                                  const void* key, size_t key_size,
                                                  const hawthorn_snapshot* snapshot, void* buffer,
                                                  size_t capacity, size_t* size,
                                                  hawthorn_error** error);
// The same as memory of its own, a zero byte behind it: *out is to be freed by hawthorn_free.
HAWTHORN_C_API hawthorn_code hawthorn_db_get_copy(hawthorn_db* db, const hawthorn_tree* tree,
                                                  const void* key, size_t key_size,
                                                  const hawthorn_snapshot* snapshot, void** out,
                                                  size_t* size, hawthorn_error** error);
// From memory alone. Errors: also HAWTHORN_NOT_IN_MEMORY.
HAWTHORN_C_API hawthorn_code hawthorn_db_get_in_memory(hawthorn_db* db, const hawthorn_tree* tree,
                                                       const void* key, size_t key_size,
                                                       const hawthorn_snapshot* snapshot,
                                                       hawthorn_value* value,
                                                       hawthorn_error** error);
// Whether anybody has committed to the key since the snapshot.
HAWTHORN_C_API hawthorn_code hawthorn_db_changed_since(hawthorn_db* db, const hawthorn_tree* tree,
                                                       const void* key, size_t key_size,
                                                       const hawthorn_snapshot* since, int* out,
                                                       hawthorn_error** error);
// When an entry ends, in milliseconds since 1970; 0: never.
HAWTHORN_C_API hawthorn_code hawthorn_db_expires_at(hawthorn_db* db, const hawthorn_tree* tree,
                                                    const void* key, size_t key_size,
                                                    const hawthorn_snapshot* snapshot,
                                                    uint64_t* out, hawthorn_error** error);
// How many entries [low, high) has, exactly. NULL for high: to the end of the tree.
HAWTHORN_C_API hawthorn_code hawthorn_db_count(hawthorn_db* db, const hawthorn_tree* tree,
                                               const void* low, size_t low_size, const void* high,
                                               size_t high_size, const hawthorn_snapshot* snapshot,
                                               uint64_t* out, hawthorn_error** error);
// About the same, and the bytes on disk, without a look at the disk. `bytes` may be NULL.
HAWTHORN_C_API hawthorn_code hawthorn_db_estimate(hawthorn_db* db, const hawthorn_tree* tree,
                                                  const void* low, size_t low_size,
                                                  const void* high, size_t high_size,
                                                  uint64_t* entries, uint64_t* bytes,
                                                  hawthorn_error** error);
// Where a key is, and what a get of it reads from disk (explain.h): one row of found, the fields of
// hawthorn::KeyExplanation by their names, those of index, extent, now and cold with these names
// before theirs (index_file, now_reads), and words for place, kind and resident. A key that is not
// there is no error.
HAWTHORN_C_API hawthorn_code hawthorn_db_explain(hawthorn_db* db, const hawthorn_tree* tree,
                                                 const void* key, size_t key_size,
                                                 const hawthorn_snapshot* snapshot,
                                                 hawthorn_records** out, hawthorn_error** error);
// The same of a key as the tree stores it: as low_key and high_key are.
HAWTHORN_C_API hawthorn_code hawthorn_db_explain_stored(hawthorn_db* db, const hawthorn_tree* tree,
                                                        const void* key, size_t key_size,
                                                        const hawthorn_snapshot* snapshot,
                                                        hawthorn_records** out,
                                                        hawthorn_error** error);

// ---- Many keys at once

// The answers to many keys. Used again it keeps its memory.
typedef struct hawthorn_read_batch hawthorn_read_batch;
// NULL where there is no memory.
HAWTHORN_C_API hawthorn_read_batch* hawthorn_read_batch_create(void);
// How many answers it has; 0 for NULL.
HAWTHORN_C_API size_t hawthorn_read_batch_count(const hawthorn_read_batch* batch);
// The answer to key `index`: its value, or NULL where the key was not found (a value that is empty
// has an address). Lifetime: until the batch is read into again, released or freed.
HAWTHORN_C_API const void* hawthorn_read_batch_value(const hawthorn_read_batch* batch, size_t index,
                                                     size_t* size);
// The bytes of all values together.
HAWTHORN_C_API uint64_t hawthorn_read_batch_value_bytes(const hawthorn_read_batch* batch);
// Copies the answers from `first` on to the columns: values, and `found`, as many as fit; keys are
// left out. Errors: HAWTHORN_BUFFER_TOO_SMALL where not one fits, HAWTHORN_NOT_FOUND for `first`
// behind the last.
HAWTHORN_C_API hawthorn_code hawthorn_read_batch_columns(const hawthorn_read_batch* batch,
                                                         size_t first, hawthorn_columns* columns,
                                                         hawthorn_error** error);
// Lets go of the answers, and of the database.
HAWTHORN_C_API void hawthorn_read_batch_release(hawthorn_read_batch* batch);
HAWTHORN_C_API void hawthorn_read_batch_free(hawthorn_read_batch* batch);

// Reads many keys of one moment into the batch, in the order that they have here. Much faster than
// one by one. A key that is not there is no error.
HAWTHORN_C_API hawthorn_code hawthorn_db_multi_get(hawthorn_db* db, const hawthorn_tree* tree,
                                                   const hawthorn_bytes* keys, size_t key_count,
                                                   const hawthorn_snapshot* snapshot,
                                                   hawthorn_read_batch* batch,
                                                   hawthorn_error** error);
// The same of keys in a column (key i is [key_offsets[i], key_offsets[i + 1]) of key_bytes), and
// into columns: as hawthorn_read_batch_columns from 0 on. Where columns->rows is less than
// key_count, the other answers are in the batch.
HAWTHORN_C_API hawthorn_code hawthorn_db_multi_get_columns(
    hawthorn_db* db, const hawthorn_tree* tree, const void* key_bytes, const int64_t* key_offsets,
    size_t key_count, const hawthorn_snapshot* snapshot, hawthorn_read_batch* batch,
    hawthorn_columns* columns, hawthorn_error** error);

// Entries in key order, in runs of up to several hundred; returns 1 to go on, 0 to end. Lifetime:
// the call. It must not free the database's last handle.
typedef int (*hawthorn_scan_callback)(void* context, const hawthorn_entry* entries, size_t count);
// Hands out the entries of [low, high); NULL for high: to the end. keys_only: values come empty.
HAWTHORN_C_API hawthorn_code hawthorn_db_scan(hawthorn_db* db, const hawthorn_tree* tree,
                                              const void* low, size_t low_size, const void* high,
                                              size_t high_size, const hawthorn_snapshot* snapshot,
                                              int keys_only, hawthorn_scan_callback callback,
                                              void* context, hawthorn_error** error);

// ---- Writes

HAWTHORN_C_API hawthorn_code hawthorn_db_put(hawthorn_db* db, const hawthorn_tree* tree,
                                             const void* key, size_t key_size, const void* value,
                                             size_t value_size,
                                             const hawthorn_write_options* options,
                                             hawthorn_error** error);
// Deleting a key that is not there is no error. All values of a key that has several go.
HAWTHORN_C_API hawthorn_code hawthorn_db_del(hawthorn_db* db, const hawthorn_tree* tree,
                                             const void* key, size_t key_size,
                                             const hawthorn_write_options* options,
                                             hawthorn_error** error);
// One value of a key that may have several.
HAWTHORN_C_API hawthorn_code hawthorn_db_del_value(hawthorn_db* db, const hawthorn_tree* tree,
                                                   const void* key, size_t key_size,
                                                   const void* value, size_t value_size,
                                                   const hawthorn_write_options* options,
                                                   hawthorn_error** error);
// All keys of [low, high), in a time that does not depend on how many there are. NULL for high: to
// the end of the tree.
HAWTHORN_C_API hawthorn_code hawthorn_db_delete_range(hawthorn_db* db, const hawthorn_tree* tree,
                                                      const void* low, size_t low_size,
                                                      const void* high, size_t high_size,
                                                      const hawthorn_write_options* options,
                                                      hawthorn_error** error);
// Changes a value as the tree's merge operator says, without reading it.
HAWTHORN_C_API hawthorn_code hawthorn_db_merge(hawthorn_db* db, const hawthorn_tree* tree,
                                               const void* key, size_t key_size,
                                               const void* operand, size_t operand_size,
                                               const hawthorn_write_options* options,
                                               hawthorn_error** error);

// Compare and set: *done (may be NULL) becomes 1 where it was written, 0 where the condition did
// not hold. insert: the key is absent; update: it is there; replace: it has the expected value
// (NULL: it is absent); remove_if: the same, and it goes.
HAWTHORN_C_API hawthorn_code hawthorn_db_insert(hawthorn_db* db, const hawthorn_tree* tree,
                                                const void* key, size_t key_size, const void* value,
                                                size_t value_size,
                                                const hawthorn_write_options* options, int* done,
                                                hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_db_update(hawthorn_db* db, const hawthorn_tree* tree,
                                                const void* key, size_t key_size, const void* value,
                                                size_t value_size,
                                                const hawthorn_write_options* options, int* done,
                                                hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_db_replace(hawthorn_db* db, const hawthorn_tree* tree,
                                                 const void* key, size_t key_size,
                                                 const void* expected, size_t expected_size,
                                                 const void* value, size_t value_size,
                                                 const hawthorn_write_options* options, int* done,
                                                 hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_db_remove_if(hawthorn_db* db, const hawthorn_tree* tree,
                                                   const void* key, size_t key_size,
                                                   const void* expected, size_t expected_size,
                                                   const hawthorn_write_options* options, int* done,
                                                   hawthorn_error** error);

// ---- Values by parts, up to 4 GB

// Reads [offset, offset + capacity) of a value; *size becomes what was read, less at its end.
HAWTHORN_C_API hawthorn_code hawthorn_db_read_part(hawthorn_db* db, const hawthorn_tree* tree,
                                                   const void* key, size_t key_size,
                                                   uint64_t offset, void* buffer, size_t capacity,
                                                   const hawthorn_snapshot* snapshot, size_t* size,
                                                   hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_db_size_of(hawthorn_db* db, const hawthorn_tree* tree,
                                                 const void* key, size_t key_size,
                                                 const hawthorn_snapshot* snapshot, uint64_t* out,
                                                 hawthorn_error** error);
// Is shown a value's bytes piece by piece; returns 1 to go on, 0 to end. Lifetime: the call.
typedef int (*hawthorn_stream_sink)(void* context, const void* data, size_t size);
// The bytes from `offset` on, to the end, in pieces of up to 256 KB.
HAWTHORN_C_API hawthorn_code hawthorn_db_read_stream(hawthorn_db* db, const hawthorn_tree* tree,
                                                     const void* key, size_t key_size,
                                                     uint64_t offset,
                                                     const hawthorn_snapshot* snapshot,
                                                     hawthorn_stream_sink sink, void* context,
                                                     hawthorn_error** error);
// Overwrites a part, and lets the value grow where it ends.
HAWTHORN_C_API hawthorn_code hawthorn_db_write_part(hawthorn_db* db, const hawthorn_tree* tree,
                                                    const void* key, size_t key_size,
                                                    uint64_t offset, const void* data, size_t size,
                                                    const hawthorn_write_options* options,
                                                    hawthorn_error** error);
// At the value's end; *offset (may be NULL) becomes where that was.
HAWTHORN_C_API hawthorn_code hawthorn_db_append(hawthorn_db* db, const hawthorn_tree* tree,
                                                const void* key, size_t key_size, const void* data,
                                                size_t size, const hawthorn_write_options* options,
                                                uint64_t* offset, hawthorn_error** error);
// Cuts it off, or lets it grow by zeros.
HAWTHORN_C_API hawthorn_code hawthorn_db_resize(hawthorn_db* db, const hawthorn_tree* tree,
                                                const void* key, size_t key_size, uint64_t size,
                                                const hawthorn_write_options* options,
                                                hawthorn_error** error);

// ---- Batches

// A list of writes that are committed as one (batch.h). It keeps the databases of its trees open;
// all must be of one. What cannot be added, hawthorn_db_write tells, and writes nothing.
typedef struct hawthorn_batch hawthorn_batch;
// NULL where there is no memory.
HAWTHORN_C_API hawthorn_batch* hawthorn_batch_create(void);
HAWTHORN_C_API void hawthorn_batch_free(hawthorn_batch* batch);
// Forgets all operations; keeps the memory.
HAWTHORN_C_API hawthorn_code hawthorn_batch_clear(hawthorn_batch* batch, hawthorn_error** error);
// The number of operations, and the bytes that they take in the log; 0 for NULL.
HAWTHORN_C_API size_t hawthorn_batch_count(const hawthorn_batch* batch);
HAWTHORN_C_API size_t hawthorn_batch_bytes(const hawthorn_batch* batch);
// What they do, the functions of these names above say. Errors: HAWTHORN_INVALID_ARGUMENT for a
// tree of another database than those before.
HAWTHORN_C_API hawthorn_code hawthorn_batch_put(hawthorn_batch* batch, const hawthorn_tree* tree,
                                                const void* key, size_t key_size, const void* value,
                                                size_t value_size,
                                                const hawthorn_write_options* options,
                                                hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_batch_del(hawthorn_batch* batch, const hawthorn_tree* tree,
                                                const void* key, size_t key_size,
                                                hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_batch_del_value(hawthorn_batch* batch,
                                                      const hawthorn_tree* tree, const void* key,
                                                      size_t key_size, const void* value,
                                                      size_t value_size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_batch_delete_range(hawthorn_batch* batch,
                                                         const hawthorn_tree* tree, const void* low,
                                                         size_t low_size, const void* high,
                                                         size_t high_size, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_batch_merge(hawthorn_batch* batch, const hawthorn_tree* tree,
                                                  const void* key, size_t key_size,
                                                  const void* operand, size_t operand_size,
                                                  hawthorn_error** error);
// Puts of many entries in columns: their first `rows` rows, which the caller sets.
HAWTHORN_C_API hawthorn_code hawthorn_batch_put_columns(hawthorn_batch* batch,
                                                        const hawthorn_tree* tree,
                                                        const hawthorn_columns* columns,
                                                        hawthorn_error** error);
// Commits all operations at one moment; the batch stays as it is. `options`: durability alone.
HAWTHORN_C_API hawthorn_code hawthorn_db_write(hawthorn_db* db, const hawthorn_batch* batch,
                                               const hawthorn_write_options* options,
                                               hawthorn_error** error);

#ifdef __cplusplus
}
#endif
