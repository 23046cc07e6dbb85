#pragma once
// Copies of a database in use: checkpoints, backups in a repository, backups by stream; and bulk
// loading. backup.h and ingest.h say what each is; docs/backup.md the bytes.

#include "access.h"
#include "db.h"
#include "transaction.h"

#ifdef __cplusplus
extern "C" {
#endif

// Told after each MB or so, on the thread that copies, with the bytes so far: NULL lets it go on,
// an error (which the library frees) ends the copy. It must not call what is in use.
typedef hawthorn_error* (*hawthorn_copy_progress)(void* context, uint64_t bytes);

typedef struct hawthorn_copy_options {
  size_t struct_size;
  uint64_t bytes_per_second;        // at most; 0: no limit
  hawthorn_copy_progress progress;  // NULL: nobody is told
  void* context;                    // of `progress`
  // Of checkpoints: not 0: blocks are copied also where the file system could share them.
  int copy_blocks;
  // Of backups into a repository: not 0: all is stored again.
  int full;
  // Of restores and verifications: options whose encryption tells whether it is what was written.
  const hawthorn_options* encryption;
} hawthorn_copy_options;
#define HAWTHORN_COPY_OPTIONS_INIT {sizeof(hawthorn_copy_options), 0, NULL, NULL, 0, 0, NULL}

// Rows about backups have: id, created_us, bytes, bytes_stored, bytes_read, incremental, encrypted.
// `options` and where rows are put may be NULL everywhere.
// Errors of all: HAWTHORN_READ_ONLY; HAWTHORN_INVALID_ARGUMENT for a directory with other contents;
// HAWTHORN_BUSY where somebody else writes into it; HAWTHORN_CORRUPTION; HAWTHORN_NO_SPACE;
// HAWTHORN_NOT_FOUND for an id; those of callbacks. Durable: when it returns, but what is given to
// a sink.

// Makes a database of its own in a directory that is missing or empty.
HAWTHORN_C_API hawthorn_code hawthorn_db_checkpoint(hawthorn_db* db, const char* directory,
                                                    const hawthorn_copy_options* options,
                                                    hawthorn_error** error);

typedef struct hawthorn_repository hawthorn_repository;
// Opens the repository in this directory, and makes it when missing.
HAWTHORN_C_API hawthorn_code hawthorn_repository_open(const char* directory,
                                                      hawthorn_repository** out,
                                                      hawthorn_error** error);
HAWTHORN_C_API void hawthorn_repository_free(hawthorn_repository* repository);
HAWTHORN_C_API hawthorn_code hawthorn_db_backup(hawthorn_db* db, hawthorn_repository* repository,
                                                const hawthorn_copy_options* options,
                                                hawthorn_records** out, hawthorn_error** error);
// All backups, the oldest first.
HAWTHORN_C_API hawthorn_code hawthorn_repository_list(hawthorn_repository* repository,
                                                      hawthorn_records** out,
                                                      hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_repository_verify(hawthorn_repository* repository,
                                                        uint64_t id,
                                                        const hawthorn_copy_options* options,
                                                        hawthorn_error** error);
// Makes a database of it in a directory that is missing or empty.
HAWTHORN_C_API hawthorn_code hawthorn_repository_restore(hawthorn_repository* repository,
                                                         uint64_t id, const char* target,
                                                         const hawthorn_copy_options* options,
                                                         hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_repository_remove(hawthorn_repository* repository,
                                                        uint64_t id, hawthorn_error** error);

// Takes about 1 MB of a backup at a time, in order: NULL to go on, an error (which the library
// frees) ends it.
typedef hawthorn_error* (*hawthorn_backup_sink)(void* context, const void* data, size_t size);
HAWTHORN_C_API hawthorn_code hawthorn_db_backup_to(hawthorn_db* db, hawthorn_backup_sink sink,
                                                   void* context,
                                                   const hawthorn_copy_options* options,
                                                   hawthorn_records** out, hawthorn_error** error);
// The bytes are given back by a hawthorn_stream_source, which returns 0 at the end alone.
HAWTHORN_C_API hawthorn_code hawthorn_verify_backup(hawthorn_stream_source source, void* context,
                                                    const hawthorn_copy_options* options,
                                                    hawthorn_records** out, hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_restore_backup(hawthorn_stream_source source, void* context,
                                                     const char* target,
                                                     const hawthorn_copy_options* options,
                                                     hawthorn_records** out,
                                                     hawthorn_error** error);

// ---- Bulk loading

typedef struct hawthorn_ingest hawthorn_ingest;

typedef struct hawthorn_ingest_options {
  size_t struct_size;
  int unsorted;  // not 0: keys come in any order, and are sorted
  hawthorn_durability durability;
  uint64_t sort_memory_bytes;  // out of the budget; 0: an eighth of it
} hawthorn_ingest_options;
#define HAWTHORN_INGEST_OPTIONS_INIT {sizeof(hawthorn_ingest_options), 0, 0, 0}

// Many entries straight into the data files, in one commit (ingest.h). `options` may be NULL.
HAWTHORN_C_API hawthorn_code hawthorn_db_ingest(hawthorn_db* db, const hawthorn_tree* tree,
                                                const hawthorn_ingest_options* options,
                                                hawthorn_ingest** out, hawthorn_error** error);
// The first error is final: all later calls repeat it. Errors: HAWTHORN_INVALID_ARGUMENT for a key
// out of order, for sizes, after finish; HAWTHORN_NO_SPACE; HAWTHORN_OUT_OF_MEMORY.
HAWTHORN_C_API hawthorn_code hawthorn_ingest_add(hawthorn_ingest* ingest, const void* key,
                                                 size_t key_size, const void* value,
                                                 size_t value_size, hawthorn_error** error);
// The entries of the columns' first `rows` rows, which the caller sets.
HAWTHORN_C_API hawthorn_code hawthorn_ingest_add_columns(hawthorn_ingest* ingest,
                                                         const hawthorn_columns* columns,
                                                         hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_ingest_add_stream(hawthorn_ingest* ingest, const void* key,
                                                        size_t key_size, uint64_t size,
                                                        hawthorn_stream_source source,
                                                        void* context, hawthorn_error** error);
// Commits. Durable as the options say. Errors: as add; HAWTHORN_TIMED_OUT;
// HAWTHORN_UNKNOWN_OUTCOME.
HAWTHORN_C_API hawthorn_code hawthorn_ingest_finish(hawthorn_ingest* ingest,
                                                    hawthorn_error** error);
// Told now and then by a finish that sorts, on its thread: the entries that lie in their order, and
// how many were added. NULL lets it go on, an error (which the library frees) ends the ingest.
typedef hawthorn_error* (*hawthorn_ingest_progress)(void* context, uint64_t entries_done,
                                                    uint64_t entries);
// The same; `progress` may be NULL. Errors: also its own.
HAWTHORN_C_API hawthorn_code hawthorn_ingest_finish_with(hawthorn_ingest* ingest,
                                                         hawthorn_ingest_progress progress,
                                                         void* context, hawthorn_error** error);
// One row: entries, entries_attached, entries_logged, containers, bytes_written.
HAWTHORN_C_API hawthorn_code hawthorn_ingest_stats(const hawthorn_ingest* ingest,
                                                   hawthorn_records** out, hawthorn_error** error);
// Whether it is neither finished nor abandoned; 0 for NULL.
HAWTHORN_C_API int hawthorn_ingest_is_open(const hawthorn_ingest* ingest);
// Gives it up, where it is not finished; frees it.
HAWTHORN_C_API void hawthorn_ingest_free(hawthorn_ingest* ingest);

#ifdef __cplusplus
}
#endif
