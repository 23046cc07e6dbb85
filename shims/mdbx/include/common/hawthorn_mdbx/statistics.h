#pragma once
// What an environment and a table hold.
//
// `bytes` is the size of the caller's struct; older ones than this are taken too.

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of a table, or of all tables. Pages are estimates. [mapped]
typedef struct MDBX_stat {
  uint32_t ms_psize;
  uint32_t ms_depth;
  uint64_t ms_branch_pages;
  uint64_t ms_leaf_pages;
  uint64_t ms_overflow_pages;
  uint64_t ms_entries;    // pairs: a key with two values counts twice
  uint64_t ms_mod_txnid;  // the last commit that changed it
} MDBX_stat;

// Of all tables, as `txn` sees them, or if that is null as the last commit left them. [mapped]
LIBMDBX_API int mdbx_env_stat_ex(const MDBX_env* env, const MDBX_txn* txn, MDBX_stat* stat,
                                 size_t bytes);

// The same, of the last commit. [mapped]
MDBX_DEPRECATED LIBMDBX_INLINE_API(int, mdbx_env_stat,
                                   (const MDBX_env* env, MDBX_stat* stat, size_t bytes)) {
  return mdbx_env_stat_ex(env, NULL, stat, bytes);
}

// Of an environment. [mapped]
typedef struct MDBX_envinfo {
  struct {
    uint64_t lower;
    uint64_t upper;
    uint64_t current;
    uint64_t shrink;
    uint64_t grow;
  } mi_geo;             // mdbx_env_set_geometry
  uint64_t mi_mapsize;  // bytes
#if HAWTHORN_MDBX_API >= 14
  uint64_t mi_dxb_fsize;       // bytes of the files
  uint64_t mi_dxb_fallocated;  // bytes that they take of the disk
#endif
  uint64_t mi_last_pgno;
  uint64_t mi_recent_txnid;              // the last commit
  uint64_t mi_latter_reader_txnid;       // the oldest snapshot that is read
  uint64_t mi_self_latter_reader_txnid;  // the same, by this process
  // [accepted] The engine has no meta pages: zeros, but the first is the last commit.
  uint64_t mi_meta_txnid[3], mi_meta_sign[3];
  uint32_t mi_maxreaders;
  uint32_t mi_numreaders;
  uint32_t mi_dxb_pagesize;
  uint32_t mi_sys_pagesize;
#if HAWTHORN_MDBX_API >= 14
  uint32_t mi_sys_upcblk;  // bytes of a block of the system's cache
  uint32_t mi_sys_ioblk;   // bytes of a block of the file system
#endif
  struct {
    struct {
      uint64_t x, y;
    } current, meta[3];
  } mi_bootid;                     // [accepted] zeros
  uint64_t mi_unsync_volume;       // bytes that were committed without a sync
  uint64_t mi_autosync_threshold;  // MDBX_opt_sync_bytes
  uint32_t mi_since_sync_seconds16dot16;
  uint32_t mi_autosync_period_seconds16dot16;     // MDBX_opt_sync_period
  uint32_t mi_since_reader_check_seconds16dot16;  // [accepted] 0
  uint32_t mi_mode;                               // its flags
  struct {
    uint64_t newly;
    uint64_t cow;
    uint64_t clone;
    uint64_t split;
    uint64_t merge;
    uint64_t spill;
    uint64_t unspill;
    uint64_t wops;
    uint64_t prefault;
    uint64_t mincore;
    uint64_t msync;
    uint64_t fsync;
  } mi_pgop_stat;  // [accepted] counts of what happens to pages: zeros
  struct {
    uint64_t x, y;
  } mi_dxbid;  // the database's own number
} MDBX_envinfo;

// Of an environment, as `txn` sees it, or if that is null as the last commit left it. [mapped]
LIBMDBX_API int mdbx_env_info_ex(const MDBX_env* env, const MDBX_txn* txn, MDBX_envinfo* info,
                                 size_t bytes);

// The same, of the last commit. [mapped]
MDBX_DEPRECATED LIBMDBX_INLINE_API(int, mdbx_env_info,
                                   (const MDBX_env* env, MDBX_envinfo* info, size_t bytes)) {
  return mdbx_env_info_ex(env, NULL, info, bytes);
}

// The same, of a database that is not open. [refused]
LIBMDBX_API int mdbx_preopen_snapinfo(const char* pathname, MDBX_envinfo* info, size_t bytes);
#define mdbx_preopen_snapinfoT(pathname, info, bytes) mdbx_preopen_snapinfo(pathname, info, bytes)

#ifdef __cplusplus
}
#endif
