#pragma once
// Tables: how they are opened, renamed, emptied, dropped, and the order of their keys.

#include "environment.h"
#include "statistics.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a table is. [mapped]
typedef enum MDBX_db_flags {
  MDBX_DB_DEFAULTS = 0,
  MDBX_REVERSEKEY = 0x02,       // keys are compared from their end
  MDBX_DUPSORT = 0x04,          // keys have several values, in order
  MDBX_INTEGERKEY = 0x08,       // keys are integers of the machine, of 4 or 8 bytes
  MDBX_DUPFIXED = 0x10,         // values of a key have one size
  MDBX_INTEGERDUP = 0x20,       // they are integers, as such keys
  MDBX_REVERSEDUP = 0x40,       // they are compared from their end
  MDBX_CREATE = 0x40000,        // make it if it is not there
  MDBX_DB_ACCEDE = MDBX_ACCEDE  // take the flags that it has
} MDBX_db_flags_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_db_flags)

// Compares two keys, or two values of a key: below, equal to or above 0. It has to say the same for
// as long as the table exists. [mapped]
typedef int HAWTHORN_MDBX_CALLBACK(MDBX_cmp_func)(const MDBX_val* a,
                                                  const MDBX_val* b) MDBX_CXX17_NOEXCEPT;

// Opens a table, by a name that ends with a zero, or by one of any bytes; null is the main table,
// in which names of the others are keys. The handle is good for all transactions once the one that
// opened it is committed. MDBX_NOTFOUND: there is none, and no MDBX_CREATE. [mapped]
LIBMDBX_API int mdbx_dbi_open(MDBX_txn* txn, const char* name, MDBX_db_flags_t flags,
                              MDBX_dbi* dbi);
LIBMDBX_API int mdbx_dbi_open2(MDBX_txn* txn, const MDBX_val* name, MDBX_db_flags_t flags,
                               MDBX_dbi* dbi);

// The same, with an order of the caller's, for keys, for values, or null. [mapped]
MDBX_DEPRECATED LIBMDBX_API int mdbx_dbi_open_ex(MDBX_txn* txn, const char* name,
                                                 MDBX_db_flags_t flags, MDBX_dbi* dbi,
                                                 HAWTHORN_MDBX_POINTER(MDBX_cmp_func) keycmp,
                                                 HAWTHORN_MDBX_POINTER(MDBX_cmp_func) datacmp);
MDBX_DEPRECATED LIBMDBX_API int mdbx_dbi_open_ex2(MDBX_txn* txn, const MDBX_val* name,
                                                  MDBX_db_flags_t flags, MDBX_dbi* dbi,
                                                  HAWTHORN_MDBX_POINTER(MDBX_cmp_func) keycmp,
                                                  HAWTHORN_MDBX_POINTER(MDBX_cmp_func) datacmp);

// Gives a table another name, which no other has. [mapped]
LIBMDBX_API int mdbx_dbi_rename(MDBX_txn* txn, MDBX_dbi dbi, const char* name);
LIBMDBX_API int mdbx_dbi_rename2(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* name);

// Closes a handle. It is not to be used any more, by no thread. [mapped]
LIBMDBX_API int mdbx_dbi_close(MDBX_env* env, MDBX_dbi dbi);

// Empties a table; with `del` also deletes it, and closes the handle. [mapped]
LIBMDBX_API int mdbx_drop(MDBX_txn* txn, MDBX_dbi dbi, bool del);

// Called for each table; what is not 0 ends the walk, and is its result. `dbi` is 0 where the table
// is not open. [mapped]
typedef int HAWTHORN_MDBX_CALLBACK(MDBX_table_enum_func)(void* ctx, const MDBX_txn* txn,
                                                         const MDBX_val* name,
                                                         MDBX_db_flags_t flags,
                                                         const struct MDBX_stat* stat,
                                                         MDBX_dbi dbi) MDBX_CXX17_NOEXCEPT;

// Goes through the tables that have a name. [mapped]
LIBMDBX_API int mdbx_enumerate_tables(const MDBX_txn* txn,
                                      HAWTHORN_MDBX_POINTER(MDBX_table_enum_func) func, void* ctx);

// What a table holds. [mapped]
LIBMDBX_API int mdbx_dbi_stat(const MDBX_txn* txn, MDBX_dbi dbi, MDBX_stat* stat, size_t bytes);

// The heights of the trees of values that keys have, as bits. [mapped]
LIBMDBX_API int mdbx_dbi_dupsort_depthmask(const MDBX_txn* txn, MDBX_dbi dbi, uint32_t* mask);

// What a transaction did to a table. [mapped]
typedef enum MDBX_dbi_state {
  MDBX_DBI_DIRTY = 0x01,  // changed it
  MDBX_DBI_STALE = 0x02,  // did not look at it since it was opened
  MDBX_DBI_FRESH = 0x04,  // opened it
  MDBX_DBI_CREAT = 0x08,  // created it
} MDBX_dbi_state_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_dbi_state)

// The flags and the state of a table. [mapped]
LIBMDBX_API int mdbx_dbi_flags_ex(const MDBX_txn* txn, MDBX_dbi dbi, unsigned* flags,
                                  unsigned* state);

// Its flags alone. [mapped]
LIBMDBX_INLINE_API(int, mdbx_dbi_flags, (const MDBX_txn* txn, MDBX_dbi dbi, unsigned* flags)) {
  unsigned state;
  return mdbx_dbi_flags_ex(txn, dbi, flags, &state);
}

// A counter that a table has: gives what it is, and adds to it. MDBX_RESULT_TRUE: it would be too
// large. [mapped]
LIBMDBX_API int mdbx_dbi_sequence(MDBX_txn* txn, MDBX_dbi dbi, uint64_t* result,
                                  uint64_t increment);

// Compares keys, or values of one key, as the table does. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_cmp(const MDBX_txn* txn, MDBX_dbi dbi,
                                                    const MDBX_val* a, const MDBX_val* b);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_dcmp(const MDBX_txn* txn, MDBX_dbi dbi,
                                                     const MDBX_val* a, const MDBX_val* b);

// The order of keys, or of values of one key, that a table with such flags has. [mapped]
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API HAWTHORN_MDBX_POINTER(MDBX_cmp_func)
    mdbx_get_keycmp(MDBX_db_flags_t flags);
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API HAWTHORN_MDBX_POINTER(MDBX_cmp_func)
    mdbx_get_datacmp(MDBX_db_flags_t flags);

#ifdef __cplusplus
}
#endif
