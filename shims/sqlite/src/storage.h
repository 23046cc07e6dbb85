#pragma once
// What the dispatcher (dispatch.c) asks of Hawthorn, in C: connections, transactions and cursors of
// a database, as SQLite's B-tree layer has them.
//
// Errors: every function that returns int returns a result code of SQLite's; what the engine said
// goes to sqlite3_log. Threads: a connection and its cursors by one thread at a time, as SQLite
// sees to; connections of one database by as many as there are.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HwConnection HwConnection;
typedef struct HwCursor HwCursor;

// ---- Connections

// Whether a path is ours: a file that names a database of Hawthorn's; or nothing or an empty file,
// where a new database shall be one. Negative: there is no memory to look.
int hw_is_ours(const char* path, int new_ones);

// Opens the database whose file is `path`. `create`: makes it where there is none, or an empty
// file. All connections of a process share one. memory_bytes: its budget, whatever they ask to be
// cached, by the one that opens it first; 0: none. SQLITE_BUSY: another process has it.
int hw_open(const char* path, int create, int read_only, long long memory_bytes,
            HwConnection** out);
// Another connection of the same database, wherever its file is now.
int hw_open_beside(const HwConnection*, HwConnection** out);
// Ends its transaction. Its cursors are closed. One that a child of fork has inherited stays as it
// is: it is the parent's.
void hw_close(HwConnection*);
int hw_read_only(const HwConnection*);
// How much of the database this connection wants cached. What all of them want is cached together.
int hw_set_cache(HwConnection*, long long bytes);

// ---- Transactions. A transaction that reads shows one moment, and waits for nobody. One at a time
// writes, beside those that are concurrent (BEGIN CONCURRENT).

// Codes of the shim's own, extended ones of SQLITE_ERROR.
#define HW_SCHEMA_IN_CONCURRENT (1 | (200 << 8))
#define HW_SECOND_IN_CONCURRENT (1 | (201 << 8))

int hw_begin_read(HwConnection*);
// Makes the transaction concurrent, unless it writes: from now on, or as of what it reads. What it
// writes waits up to wait_ms where another one deletes a whole table.
int hw_begin_concurrent(HwConnection*, long long wait_ms);
int hw_is_concurrent(const HwConnection*);
// SQLITE_BUSY or SQLITE_BUSY_SNAPSHOT: one that writes has failed since others have written, and
// can only be rolled back.
int hw_failed(const HwConnection*);
// Goes on as one that merely reads, where it has not written.
void hw_end_concurrent(HwConnection*);
// With or without one that reads. Waits up to wait_ms for the one that writes. SQLITE_BUSY: it
// still does; SQLITE_BUSY_SNAPSHOT: others have written since this one began to read.
int hw_begin_write(HwConnection*, long long wait_ms);
// Ends one that writes, and leaves one that reads what it has written (keep_reading). Of a
// concurrent one: waits up to wait_ms for the one that writes. SQLITE_BUSY: it still does, and all
// is as before; SQLITE_BUSY_SNAPSHOT: others have changed what it has read or written, see
// hw_failed.
int hw_commit(HwConnection*, int synchronous, int keep_reading, long long wait_ms);
int hw_roll_back(HwConnection*, int keep_reading);
// Whether there is anything to be committed.
int hw_is_dirty(const HwConnection*);
// Of one that writes and has not yet written: it may come to be committed together with others.
// All of those but one have to be told so.
void hw_may_be_together(HwConnection*);
// Commits several that are dirty, and none concurrent: all or none of them, whatever happens.
int hw_commit_together(HwConnection** all, int count, const int* synchronous, int keep_reading);
// Ends one that reads.
void hw_end_read(HwConnection*);

// Savepoints are numbered from 0. Opens what is missing up to `count` of them.
int hw_open_savepoints(HwConnection*, int count);
int hw_release_savepoint(HwConnection*, int number);
// -1: all that the transaction has written.
int hw_roll_back_to(HwConnection*, int number);

// ---- Numbers of the database, of the moment that is read; 16 of them as in SQLite's header.

// As SQLite numbers them, and one that its header does not use.
enum { HW_SCHEMA_VERSION = 1, HW_LARGEST_ROOT = 4, HW_INCR_VACUUM = 7, HW_PAGE_BYTES = 9 };

int hw_meta(HwConnection*, int index, unsigned* value);
int hw_set_meta(HwConnection*, int index, unsigned value);
// Whether nothing was ever written to it.
int hw_is_new(HwConnection*, int* is_new);
typedef struct HwSettings {
  unsigned schema_version;
  unsigned auto_vacuum;
  unsigned incremental_vacuum;
  unsigned page_bytes;
  int has_tables;  // whether one was ever made, but sqlite_schema
  int is_wal;      // whether the journal mode is said to be WAL
} HwSettings;
// What each statement asks for as it begins.
int hw_settings(HwConnection*, HwSettings*);
// Whether the journal mode is said to be WAL.
int hw_is_wal(HwConnection*);
int hw_set_wal(HwConnection*, int wal);
// Whether its transaction has written.
int hw_has_written(const HwConnection*);
// Counts the transactions that have found what other connections have committed.
unsigned hw_data_version(HwConnection*);
// The same and the connection's own commits.
unsigned hw_seen_version(const HwConnection*);
// Of this size, so many that no root is beyond; as many as there were within the last second, or
// are now.
unsigned hw_pages(HwConnection*, unsigned page_bytes, int now);

// No more of them, each of this size; UINT_MAX: as many as there may be. What is put beyond returns
// SQLITE_FULL.
void hw_limit_pages(HwConnection*, unsigned pages, unsigned page_bytes);

// ---- Tables and indexes, each a tree with the number of its root.

int hw_create_tree(HwConnection*, unsigned* root);
int hw_drop_tree(HwConnection*, unsigned root);
// entries: how many there were, where it is not null.
int hw_clear_tree(HwConnection*, unsigned root, long long* entries);
// Drops all of them but sqlite_schema's, which is empty behind it.
int hw_clear_all(HwConnection*);
int hw_count_tree(HwConnection*, unsigned root, long long* entries);
// Reads every entry; of a table or an index. What is wrong is told to `complain`.
struct HwEntries;
int hw_check_tree(HwConnection*, unsigned root, const struct HwEntries* of, long long* entries,
                  void (*complain)(void* context, const char* what), void* context);
// Checks every file of the database.
int hw_check_files(HwConnection*, void (*complain)(void* context, const char* what), void* context);
// Of a transaction that writes: drops every table, and all numbers but the schema's version, which
// is another one then. As a new database.
int hw_reset(HwConnection*);
// Writes what takes more space than it must.
int hw_compact(HwConnection*);
// What was committed is durable when it returns.
int hw_sync(HwConnection*);
// Keys and values that all connections have committed since the last hw_sync.
long long hw_log_bytes(const HwConnection*);

// ---- Cursors

enum { HW_NULL, HW_INTEGER, HW_REAL, HW_TEXT, HW_BLOB };
enum { HW_BINARY, HW_NOCASE, HW_RTRIM };

typedef struct HwField {
  unsigned char type;
  long long integer;
  double real;
  const char* bytes;  // of text, in UTF-8 where the collation is not HW_BINARY, and of blobs
  long long size;
} HwField;

typedef struct HwColumn {
  unsigned char collation;
  unsigned char descending;
} HwColumn;

// How entries of an index compare one of whose columns has a collation that is the program's own.
// order < 0: the record is smaller than what is sought; 0: it has all that is sought. Some bytes
// behind a record can be read (kSlackBytes).
typedef struct HwCollator {
  void* context;
  // What is sought is a record, until that is forgotten; the record stays for as long.
  int (*unpack)(void* context, const void* record, unsigned size, void** sought);
  void (*forget)(void* context, void* sought);
  int (*compare)(void* context, void* sought, const void* record, unsigned size, int* order);
} HwCollator;

// How the entries of an index are made, for a check. Neither orders nor a collator: nobody knows,
// or it is a table.
typedef struct HwEntries {
  int columns;  // of the key
  const HwColumn* orders;
  const HwCollator* collator;
  int fields_min;  // of each record
  int fields_max;
} HwEntries;

// Where a cursor stands: SQLite's numbers, kept in its own cursor.
enum { HW_VALID = 0, HW_INVALID = 1, HW_SKIP_NEXT = 2, HW_REQUIRE_SEEK = 3, HW_FAULT = 4 };

// columns < 0: a table, whose entries are rows by number; else an index of records by so many
// columns, by a collator where it is not null. state and skip_next belong to SQLite's cursor, and
// change with this one. SQLITE_ERROR: it is an index that was written with a collator, or without,
// and here it is the other way round.
int hw_cursor_open(HwConnection*, unsigned root, int columns, const HwColumn* orders,
                   const HwCollator* collator, unsigned char* state, int* skip_next,
                   HwCursor** out);
int hw_is_collated(const HwCursor*);
void hw_cursor_close(HwCursor*);
// Lets go of the position.
void hw_cursor_clear(HwCursor*);

int hw_first(HwCursor*, int* found);
int hw_last(HwCursor*, int* found);
int hw_is_empty(HwCursor*, int* empty);
// SQLITE_DONE: there is none.
int hw_next(HwCursor*);
int hw_previous(HwCursor*);
// Whether it stands on no entry.
int hw_at_end(HwCursor*);
// result < 0: on a smaller entry, or the table is empty; 0: on it; > 0: on a larger one.
int hw_seek_row(HwCursor*, long long row, int* result);
// The same by the first columns of an index. Entries that begin with these are what `equals` says:
// smaller (< 0), equal or larger than what is sought. met: whether there are any, where asked.
int hw_seek_record(HwCursor*, const HwField* fields, int count, int equals, int* met, int* result);
// The same with a collator, by what that has made, or what it compares like that.
int hw_seek_sought(HwCursor*, void* sought, int equals, int* met, int* result);
// Back to where it stood before the table changed.
int hw_restore(HwCursor*);
// The position of each cursor of the connection is kept, so that all may change. `error`: those
// that write, or all, fail with it from now on.
int hw_save_all(HwConnection*);
void hw_trip_all(HwConnection*, int error, int only_writers);
void hw_cursor_writes(HwCursor*);  // it is one of those
// While it is pinned nobody else may change its table: SQLITE_CONSTRAINT_PINNED.
void hw_cursor_pin(HwCursor*, int pinned);
// It reads or writes a part of a row, and stands nowhere once somebody else changes that.
void hw_cursor_is_blob(HwCursor*);

long long hw_row(HwCursor*);
// Another number whenever it stands somewhere else, or there is another entry.
long long hw_place(HwCursor*);
// The entry's record. Valid until the cursor moves or the table changes. Null: it could not be read
// (no memory, damage).
const void* hw_payload(HwCursor*, unsigned* size);
// Of one that is null: why.
int hw_payload_code(const HwCursor*);

int hw_insert_row(HwCursor*, long long row, const void* data, long long size, long long zeros);
int hw_insert_record(HwCursor*, const HwField* fields, int count, const void* record,
                     long long size);
// With a collator; `sought` compares with this record.
int hw_insert_sought(HwCursor*, void* sought, const void* record, long long size);
int hw_delete(HwCursor*);
// Overwrites a part of the row on which it stands.
int hw_overwrite(HwCursor*, unsigned offset, const void* bytes, unsigned size);

int hw_count(HwCursor*, long long* entries);
long long hw_estimate(HwCursor*);

#ifdef __cplusplus
}
#endif
