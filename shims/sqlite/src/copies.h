#pragma once
// Copies a whole database, whoever's B-tree it lies in, and tells whether two hold the same.
//
// Used by the `hawthorn` command; programs have sqlite3_backup_init. Not here: whether what they
// hold is right (PRAGMA integrity_check). Threads: those of the connections.

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;

// sqlite3_backup_*, of `main` into `main`, in one step that is told how many entries were copied.
int hw_copy(struct sqlite3* to, struct sqlite3* from,
            void (*progress)(void* context, long long entries), void* context);

typedef struct HwCompared {
  long long tables;
  long long indexes;
  long long rows;
  long long index_entries;
  long long bytes;  // of records
} HwCompared;

// Compares the rows of sqlite_schema but for their roots, user_version, application_id and
// encoding, then all tables and indexes, rows by their numbers and records by their bytes. As of
// one moment of each; without a transaction, one is begun and ended.
//
// SQLITE_OK: the same. SQLITE_MISMATCH: they differ. Else what went wrong. But for SQLITE_OK `what`
// says where, where there was memory for it: sqlite3_free. progress, if any, is told how many
// entries were compared.
int hw_compare(struct sqlite3* one, const char* one_name, struct sqlite3* other,
               const char* other_name, HwCompared* out, char** what,
               void (*progress)(void* context, long long entries), void* context);

#ifdef __cplusplus
}
#endif
