#pragma once
// How large keys, values, pages and databases may be.
//
// The engine has no pages: `pagesize` is what libmdbx would have, -1 being its default. Limits are
// the lower ones of libmdbx's and the engine's.

#include "environment.h"
#include "tables.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of a page, at least and at most. [mapped]
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_INLINE_API(intptr_t, mdbx_limits_pgsize_min, (void)) {
  return MDBX_MIN_PAGESIZE;
}
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_INLINE_API(intptr_t, mdbx_limits_pgsize_max, (void)) {
  return MDBX_MAX_PAGESIZE;
}

// Bytes of a database, at least and at most; -1 where the page size is wrong. [mapped]
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t mdbx_limits_dbsize_min(intptr_t pagesize);
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t mdbx_limits_dbsize_max(intptr_t pagesize);

// Bytes of a key in a table with such flags, at least and at most. [mapped]
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t mdbx_limits_keysize_min(MDBX_db_flags_t flags);
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t mdbx_limits_keysize_max(intptr_t pagesize,
                                                                         MDBX_db_flags_t flags);

// Bytes of a value in a table with such flags, at least and at most. [mapped]
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t mdbx_limits_valsize_min(MDBX_db_flags_t flags);
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t mdbx_limits_valsize_max(intptr_t pagesize,
                                                                         MDBX_db_flags_t flags);

// Bytes of a pair, and of a value, that libmdbx would keep in a page with others. [mapped]
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t
mdbx_limits_pairsize4page_max(intptr_t pagesize, MDBX_db_flags_t flags);
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t
mdbx_limits_valsize4page_max(intptr_t pagesize, MDBX_db_flags_t flags);

// Bytes that one transaction may change. [mapped]
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API intptr_t mdbx_limits_txnsize_max(intptr_t pagesize);

// The same of an open environment: bytes of a key, of a value, of a pair in a page, of a value in a
// page; -1 where the handle is wrong. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_env_get_maxkeysize_ex(const MDBX_env* env,
                                                                      MDBX_db_flags_t flags);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_env_get_maxvalsize_ex(const MDBX_env* env,
                                                                      MDBX_db_flags_t flags);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_env_get_pairsize4page_max(const MDBX_env* env,
                                                                          MDBX_db_flags_t flags);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_env_get_valsize4page_max(const MDBX_env* env,
                                                                         MDBX_db_flags_t flags);

// Bytes of a key where it may have several values. [mapped]
MDBX_NOTHROW_PURE_FUNCTION MDBX_DEPRECATED LIBMDBX_API int mdbx_env_get_maxkeysize(
    const MDBX_env* env);

// The size of pages that libmdbx would choose on this machine. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API size_t mdbx_default_pagesize(void);

// The machine's memory: the size of its pages, how many there are and how many are free. Each
// pointer may be null. [mapped]
LIBMDBX_API int mdbx_get_sysraminfo(intptr_t* page_size, intptr_t* total_pages,
                                    intptr_t* avail_pages);

// Whether a database of `volume` bytes would fit into the free memory, with `redundancy` bytes
// left: MDBX_RESULT_TRUE or MDBX_RESULT_FALSE. [mapped]
LIBMDBX_API int mdbx_is_readahead_reasonable(size_t volume, intptr_t redundancy);

#ifdef __cplusplus
}
#endif
