#pragma once
// LMDB's C API, that of its releases 0.9.x, over the engine of Hawthorn.
//
// What it is not: LMDB. An environment is a directory of the engine, opened by one process; files
// of LMDB are not read. Pages, their sizes and their counts are estimates for programs that print
// them.
//
// 1. Names, values of constants and layouts of structs are those of LMDB.
// 2. Functions that return int give 0, one of the errors below, or an errno.
// 3. Each declaration says how it is met: [mapped] does what LMDB documents, [accepted] is taken
//    without a meaning here, [refused] gives ENOSYS. Members have the mark of their type, unless
//    they have their own. supported.py makes SUPPORTED.md of them.
//
// Threads: an environment is for all threads; a transaction for the thread that began it, or where
// it reads with MDB_NOTLS for one thread at a time; a cursor goes with its transaction.
// Lifetime: values that are read stay where they are until the transaction ends, and in one that
// writes until its next change.

#ifndef _LMDB_H_
#define _LMDB_H_

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version whose API this is. [mapped]
#define MDB_VERSION_MAJOR 0
#define MDB_VERSION_MINOR 9
#define MDB_VERSION_PATCH 33
#define MDB_VERSION_DATE "May 21, 2024"

// The same as one number, and as a text. [mapped]
#define MDB_VERINT(a, b, c) (((a) << 24) | ((b) << 16) | (c))
#define MDB_VERSION_FULL MDB_VERINT(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH)
#define MDB_VERSTR(a, b, c, d) "LMDB " #a "." #b "." #c ": (" d ")"
#define MDB_VERFOO(a, b, c, d) MDB_VERSTR(a, b, c, d)
#define MDB_VERSION_STRING \
  MDB_VERFOO(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH, MDB_VERSION_DATE)

// Types of the operating system. [mapped]
typedef mode_t mdb_mode_t;
typedef int mdb_filehandle_t;

// A database: one directory, and everything that is open of it. [mapped]
typedef struct MDB_env MDB_env;

// A snapshot of all tables, for reading or for one commit. [mapped]
typedef struct MDB_txn MDB_txn;

// A position in a table. [mapped]
typedef struct MDB_cursor MDB_cursor;

// A table, as a small number within its environment. [mapped]
typedef unsigned int MDB_dbi;

// Bytes that are somebody else's. [mapped]
typedef struct MDB_val {
  size_t mv_size;
  void* mv_data;
} MDB_val;

// Compares two keys, or two values of a key: below, equal to or above 0. It has to say the same for
// as long as the table exists. [mapped]
typedef int(MDB_cmp_func)(const MDB_val* a, const MDB_val* b);

// Would be called where a value moved. [accepted]
typedef void(MDB_rel_func)(MDB_val* item, void* oldptr, void* newptr, void* relctx);

// Called by mdb_reader_list for each line; below 0 ends it. [mapped]
typedef int(MDB_msg_func)(const char* msg, void* ctx);

// Called for an assertion of the environment that failed, instead of the process's end. [mapped]
typedef void MDB_assert_func(MDB_env* env, const char* msg);

// Of mdb_env_open: how an environment is opened. [mapped]
#define MDB_NOSUBDIR 0x4000     // the path is not that of a directory that exists
#define MDB_RDONLY 0x20000      // only read
#define MDB_NOTLS 0x200000      // transactions that read belong to no thread
#define MDB_NOSYNC 0x10000      // commits since the last mdb_env_sync may be lost
#define MDB_NOMETASYNC 0x40000  // the last commit may be lost

// The same, about the map that LMDB has of its file, and about its lock file. [accepted]
#define MDB_FIXEDMAP 0x01
#define MDB_WRITEMAP 0x80000
#define MDB_MAPASYNC 0x100000  // with MDB_WRITEMAP, as MDB_NOSYNC
#define MDB_NORDAHEAD 0x800000
#define MDB_NOMEMINIT 0x1000000
#define MDB_NOLOCK 0x400000

// Of mdb_dbi_open: what a table is. [mapped]
#define MDB_REVERSEKEY 0x02  // keys are compared from their end
#define MDB_DUPSORT 0x04     // keys have several values, in order
#define MDB_INTEGERKEY 0x08  // keys are integers of the machine, of one size
#define MDB_DUPFIXED 0x10    // values of a key have one size
#define MDB_INTEGERDUP 0x20  // they are integers, as such keys
#define MDB_REVERSEDUP 0x40  // they are compared from their end
#define MDB_CREATE 0x40000   // make it if it is not there

// Of mdb_put and mdb_cursor_put: how a pair is put. [mapped]
#define MDB_NOOVERWRITE 0x10   // the key must not be there; `data` gets its value
#define MDB_NODUPDATA 0x20     // the pair must not be there; to delete: all values of the key
#define MDB_CURRENT 0x40       // replace the value that the cursor stands at
#define MDB_RESERVE 0x10000    // only make room, for the caller to fill
#define MDB_APPEND 0x20000     // the key is behind all others
#define MDB_APPENDDUP 0x40000  // the value is behind all others of the key
#define MDB_MULTIPLE 0x80000   // many values of one size: `data` is two of MDB_val

// Of mdb_env_copy2: a copy without free space. [mapped]
#define MDB_CP_COMPACT 0x01

// How a cursor moves. A table without MDB_DUPSORT has one value for each key. [mapped]
typedef enum MDB_cursor_op {
  MDB_FIRST,           // the first pair
  MDB_FIRST_DUP,       // the first value of the key
  MDB_GET_BOTH,        // this key with this value
  MDB_GET_BOTH_RANGE,  // this key with this value or the next
  MDB_GET_CURRENT,     // where it is
  MDB_GET_MULTIPLE,    // the values of the key around the present one, of one size: a page
  MDB_LAST,            // the last pair
  MDB_LAST_DUP,        // the last value of the key
  MDB_NEXT,            // the next pair
  MDB_NEXT_DUP,        // the next value of the key
  MDB_NEXT_MULTIPLE,   // the values behind those that MDB_GET_MULTIPLE gave
  MDB_NEXT_NODUP,      // the first value of the next key
  MDB_PREV,            // the pair before
  MDB_PREV_DUP,        // the value of the key before
  MDB_PREV_NODUP,      // the last value of the key before
  MDB_SET,             // this key
  MDB_SET_KEY,         // this key, and give it back
  MDB_SET_RANGE,       // this key or the next
  MDB_PREV_MULTIPLE    // the values before those that MDB_GET_MULTIPLE gave
} MDB_cursor_op;

// Results and errors; besides them, functions return an errno. [mapped]
#define MDB_SUCCESS 0
#define MDB_KEYEXIST (-30799)          // the key, or the pair, is there already
#define MDB_NOTFOUND (-30798)          // there is no such key, pair or table
#define MDB_CORRUPTED (-30796)         // what was read from disk is wrong
#define MDB_PANIC (-30795)             // after a failure, only a close is possible
#define MDB_VERSION_MISMATCH (-30794)  // the files are of an unknown version
#define MDB_INVALID (-30793)           // the files are of no database
#define MDB_MAP_FULL (-30792)          // mdb_env_set_mapsize is reached
#define MDB_DBS_FULL (-30791)          // mdb_env_set_maxdbs is reached
#define MDB_READERS_FULL (-30790)      // mdb_env_set_maxreaders is reached
#define MDB_TXN_FULL (-30788)          // it changed more than one commit takes
#define MDB_INCOMPATIBLE (-30784)      // the operation or the flags do not fit the table
#define MDB_BAD_RSLOT (-30783)         // without MDB_NOTLS: this thread reads already
#define MDB_BAD_TXN (-30782)           // the transaction is over, failed or the parent of another
#define MDB_BAD_VALSIZE (-30781)       // a size that the table does not take
#define MDB_BAD_DBI (-30780)           // the handle is of no table
#define MDB_LAST_ERRCODE MDB_BAD_DBI

// Errors that the engine never has: they have a text. [accepted]
#define MDB_PAGE_NOTFOUND (-30797)
#define MDB_TLS_FULL (-30789)
#define MDB_CURSOR_FULL (-30787)
#define MDB_PAGE_FULL (-30786)
#define MDB_MAP_RESIZED (-30785)

// Of a table, or of the main table. Pages are estimates. [mapped]
typedef struct MDB_stat {
  unsigned int ms_psize;
  unsigned int ms_depth;
  size_t ms_branch_pages;
  size_t ms_leaf_pages;
  size_t ms_overflow_pages;
  size_t ms_entries;  // pairs: a key with two values counts twice
} MDB_stat;

// Of an environment. [mapped]
typedef struct MDB_envinfo {
  void* me_mapaddr;   // [accepted] null
  size_t me_mapsize;  // mdb_env_set_mapsize
  size_t me_last_pgno;
  size_t me_last_txnid;  // the last commit
  unsigned int me_maxreaders;
  unsigned int me_numreaders;
} MDB_envinfo;

// The version as a text, and in numbers where the pointers are not null. [mapped]
char* mdb_version(int* major, int* minor, int* patch);

// The text of an error, of LMDB's or the system's. [mapped]
char* mdb_strerror(int err);

// Makes a handle, which needs mdb_env_close also if it is never opened. [mapped]
int mdb_env_create(MDB_env** env);

// Opens the database at a path, and creates it with the permissions `mode`. After a failure, the
// handle is only good to be closed. [mapped]
int mdb_env_open(MDB_env* env, const char* path, unsigned int flags, mdb_mode_t mode);

// Copies the last commit to a directory that is empty, or as a stream, which `hawthorn restore`
// takes, to a file that is open for writing. [mapped]
int mdb_env_copy(MDB_env* env, const char* path);
int mdb_env_copyfd(MDB_env* env, mdb_filehandle_t fd);

// The same, with MDB_CP_COMPACT. [mapped]
int mdb_env_copy2(MDB_env* env, const char* path, unsigned int flags);
int mdb_env_copyfd2(MDB_env* env, mdb_filehandle_t fd, unsigned int flags);

// What the main table holds, and what there is to say of the environment. [mapped]
int mdb_env_stat(MDB_env* env, MDB_stat* stat);
int mdb_env_info(MDB_env* env, MDB_envinfo* stat);

// Writes to the disk what was committed without; with `force` also where flags say not to. [mapped]
int mdb_env_sync(MDB_env* env, int force);

// Closes it; all transactions, tables and cursors are to be gone. [mapped]
void mdb_env_close(MDB_env* env);

// Sets or clears flags of an environment, of those that may change while it is open. [mapped]
int mdb_env_set_flags(MDB_env* env, unsigned int flags, int onoff);

// Its flags. [mapped]
int mdb_env_get_flags(MDB_env* env, unsigned int* flags);

// The path that it was opened with; it lives with the handle. [mapped]
int mdb_env_get_path(MDB_env* env, const char** path);

// Its directory, for flags such as close-on-exec; not to be read, written or closed. [mapped]
int mdb_env_get_fd(MDB_env* env, mdb_filehandle_t* fd);

// Bytes that the database may have; 0 takes what it has already. [mapped]
int mdb_env_set_mapsize(MDB_env* env, size_t size);

// Transactions that may read at once; before it is opened. [mapped]
int mdb_env_set_maxreaders(MDB_env* env, unsigned int readers);
int mdb_env_get_maxreaders(MDB_env* env, unsigned int* readers);

// Tables with names that may be open; before it is opened. [mapped]
int mdb_env_set_maxdbs(MDB_env* env, MDB_dbi dbs);

// Bytes that a key, or a value of a key with several, may have. The value of a key with one may
// have 64 MB. [mapped]
int mdb_env_get_maxkeysize(MDB_env* env);

// A pointer of the caller. [mapped]
int mdb_env_set_userctx(MDB_env* env, void* ctx);
void* mdb_env_get_userctx(MDB_env* env);

// Sets the callback for assertions, or with null none. [mapped]
int mdb_env_set_assert(MDB_env* env, MDB_assert_func* func);

// Begins a transaction; flags are MDB_RDONLY, MDB_NOSYNC and MDB_NOMETASYNC. One writes at a time,
// and others wait for it. With a `parent`, which must write, it is nested in it: the parent rests
// meanwhile, lends it its cursors, and gets or loses the changes. [mapped]
int mdb_txn_begin(MDB_env* env, MDB_txn* parent, unsigned int flags, MDB_txn** txn);

// Its environment, and the number of its snapshot or of the commit to be. [mapped]
MDB_env* mdb_txn_env(MDB_txn* txn);
size_t mdb_txn_id(MDB_txn* txn);

// Commits, and the handle is gone, whatever comes back. [mapped]
int mdb_txn_commit(MDB_txn* txn);

// Ends it without its changes, and the handle is gone. [mapped]
void mdb_txn_abort(MDB_txn* txn);

// Lets go of the snapshot of one that reads, and keeps the handle; then reads again with it, the
// last commit. [mapped]
void mdb_txn_reset(MDB_txn* txn);
int mdb_txn_renew(MDB_txn* txn);

// Opens a table; null is the main table, in which names of the others are keys. The handle is good
// for all transactions once the one that opened it is committed. MDB_NOTFOUND: there is none, and
// no MDB_CREATE. [mapped]
int mdb_dbi_open(MDB_txn* txn, const char* name, unsigned int flags, MDB_dbi* dbi);

// Closes a handle. It is not to be used any more, by no thread. [mapped]
void mdb_dbi_close(MDB_env* env, MDB_dbi dbi);

// Old names of both. [mapped]
#define mdb_open(txn, name, flags, dbi) mdb_dbi_open(txn, name, flags, dbi)
#define mdb_close(env, dbi) mdb_dbi_close(env, dbi)

// What a table holds, and its flags. [mapped]
int mdb_stat(MDB_txn* txn, MDB_dbi dbi, MDB_stat* stat);
int mdb_dbi_flags(MDB_txn* txn, MDB_dbi dbi, unsigned int* flags);

// Empties a table; with `del` also deletes it, and closes the handle. [mapped]
int mdb_drop(MDB_txn* txn, MDB_dbi dbi, int del);

// Sets the order of keys, or of values of a key, behind each mdb_dbi_open and before the table is
// used, which has to be empty the first time. MDB_INCOMPATIBLE, also from what uses a table that
// was made with an order which is not set. [mapped]
int mdb_set_compare(MDB_txn* txn, MDB_dbi dbi, MDB_cmp_func* cmp);
int mdb_set_dupsort(MDB_txn* txn, MDB_dbi dbi, MDB_cmp_func* cmp);

// For MDB_FIXEDMAP: what to do where a value moves. [accepted]
int mdb_set_relfunc(MDB_txn* txn, MDB_dbi dbi, MDB_rel_func* rel);
int mdb_set_relctx(MDB_txn* txn, MDB_dbi dbi, void* ctx);

// The value of a key; the first where there are several. [mapped]
int mdb_get(MDB_txn* txn, MDB_dbi dbi, MDB_val* key, MDB_val* data);

// Puts a pair. [mapped]
int mdb_put(MDB_txn* txn, MDB_dbi dbi, MDB_val* key, MDB_val* data, unsigned int flags);

// Deletes a pair, or where `data` is null all values of the key. [mapped]
int mdb_del(MDB_txn* txn, MDB_dbi dbi, MDB_val* key, MDB_val* data);

// Makes a cursor of a table. One of a transaction that writes has to be closed before it ends, or
// is gone with it. [mapped]
int mdb_cursor_open(MDB_txn* txn, MDB_dbi dbi, MDB_cursor** cursor);
void mdb_cursor_close(MDB_cursor* cursor);

// Puts one that reads at the same table as another transaction sees it. [mapped]
int mdb_cursor_renew(MDB_txn* txn, MDB_cursor* cursor);

// Its transaction and its table. [mapped]
MDB_txn* mdb_cursor_txn(MDB_cursor* cursor);
MDB_dbi mdb_cursor_dbi(MDB_cursor* cursor);

// Moves, and gives the pair where it is then. [mapped]
int mdb_cursor_get(MDB_cursor* cursor, MDB_val* key, MDB_val* data, MDB_cursor_op op);

// Puts a pair, and stands at it. [mapped]
int mdb_cursor_put(MDB_cursor* cursor, MDB_val* key, MDB_val* data, unsigned int flags);

// Deletes the pair where it is, or with MDB_NODUPDATA all values of the key; MDB_NEXT then gives
// the one behind. [mapped]
int mdb_cursor_del(MDB_cursor* cursor, unsigned int flags);

// How many values the key has. [mapped]
int mdb_cursor_count(MDB_cursor* cursor, size_t* countp);

// Compares keys, or values of one key, as the table does. [mapped]
int mdb_cmp(MDB_txn* txn, MDB_dbi dbi, const MDB_val* a, const MDB_val* b);
int mdb_dcmp(MDB_txn* txn, MDB_dbi dbi, const MDB_val* a, const MDB_val* b);

// Writes a line for each transaction that reads. [mapped]
int mdb_reader_list(MDB_env* env, MDB_msg_func* func, void* ctx);

// Frees what readers of processes that died hold; as one process has the environment, there are
// none. [mapped]
int mdb_reader_check(MDB_env* env, int* dead);

#ifdef __cplusplus
}
#endif

#endif
