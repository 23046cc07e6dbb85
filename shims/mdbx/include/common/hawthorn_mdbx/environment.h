#pragma once
// An environment: its options, how it is opened, copied, deleted, closed.

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// How an environment is opened. The last five say how durable commits are. [mapped]
typedef enum MDBX_env_flags {
  MDBX_ENV_DEFAULTS = 0,
  MDBX_VALIDATION = 0x2000,   // [accepted] all that is read is checked
  MDBX_NOSUBDIR = 0x4000,     // the path is not that of a directory that exists
  MDBX_RDONLY = 0x20000,      // only read
  MDBX_EXCLUSIVE = 0x400000,  // nobody else may have it open
  MDBX_ACCEDE = 0x40000000,   // take the flags of who has it open already
  MDBX_WRITEMAP = 0x80000,    // [accepted] nothing is written through a map
  // Transactions belong to no thread; their users see to it that one at a time uses them.
  MDBX_NOSTICKYTHREADS = 0x200000,
#if HAWTHORN_MDBX_API < 14
  MDBX_NOTLS MDBX_DEPRECATED_ENUM = MDBX_NOSTICKYTHREADS,  // its old name
#endif
  MDBX_NORDAHEAD = 0x800000,   // [accepted]
  MDBX_NOMEMINIT = 0x1000000,  // [accepted]
#if HAWTHORN_MDBX_API < 14
  MDBX_COALESCE MDBX_DEPRECATED_ENUM = 0x2000000,  // [accepted]
#endif
  MDBX_LIFORECLAIM = 0x4000000,  // [accepted]
  MDBX_PAGEPERTURB = 0x8000000,  // [accepted]

  // A commit is on the disk when it returns.
  MDBX_SYNC_DURABLE = 0,
  // The last commit may be lost with the machine's power, and what stays is consistent.
  MDBX_NOMETASYNC = 0x40000,
  // The same, of all commits since the last mdbx_env_sync.
  MDBX_SAFE_NOSYNC = 0x10000,
#if HAWTHORN_MDBX_API < 14
  MDBX_MAPASYNC = MDBX_SAFE_NOSYNC,  // its old name
#endif
  // The same; libmdbx does not promise that what stays is consistent, but the engine does.
  MDBX_UTTERLY_NOSYNC = MDBX_SAFE_NOSYNC | 0x100000
} MDBX_env_flags_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_env_flags)

// Makes a handle, which needs mdbx_env_close also if it is never opened. [mapped]
LIBMDBX_API int mdbx_env_create(MDBX_env** penv);

// Opens the database at a path, and creates it with the permissions `mode`, unless that is 0 or the
// flags say MDBX_RDONLY. After a failure, the handle is only good to be closed. [mapped]
LIBMDBX_API int mdbx_env_open(MDBX_env* env, const char* pathname, MDBX_env_flags_t flags,
                              mdbx_mode_t mode);
#define mdbx_env_openT(env, pathname, flags, mode) mdbx_env_open(env, pathname, flags, mode)

// Closes it; all transactions and cursors are to be gone. What was committed without a sync gets
// one now, unless `dont_sync`. MDBX_BUSY: another thread writes, and it stays open. [mapped]
LIBMDBX_API int mdbx_env_close_ex(MDBX_env* env, bool dont_sync);

// The same, with the sync. [mapped]
LIBMDBX_INLINE_API(int, mdbx_env_close, (MDBX_env * env)) { return mdbx_env_close_ex(env, false); }

// For the child of a fork, which inherited the handle: an error, as the engine's threads stay with
// the parent. [mapped]
LIBMDBX_API int mdbx_env_resurrect_after_fork(MDBX_env* env);

// What mdbx_env_delete does about those who have it open. [mapped]
typedef enum MDBX_env_delete_mode {
  MDBX_ENV_JUST_DELETE = 0,      // nothing
  MDBX_ENV_ENSURE_UNUSED = 1,    // MDBX_BUSY
  MDBX_ENV_WAIT_FOR_UNUSED = 2,  // wait for them
} MDBX_env_delete_mode_t;

// Deletes the files of a database. MDBX_RESULT_TRUE: there were none. [mapped]
LIBMDBX_API int mdbx_env_delete(const char* pathname, MDBX_env_delete_mode_t mode);
#define mdbx_env_deleteT(pathname, mode) mdbx_env_delete(pathname, mode)

// How a copy is made. [mapped]
typedef enum MDBX_copy_flags {
  MDBX_CP_DEFAULTS = 0,
  MDBX_CP_COMPACT = 1u,             // without free space
  MDBX_CP_FORCE_DYNAMIC_SIZE = 2u,  // [accepted] the engine's files always grow
  MDBX_CP_DONT_FLUSH = 4u,          // without a sync of the copy
  MDBX_CP_THROTTLE_MVCC = 8u,       // parks the transaction meanwhile
  MDBX_CP_DISPOSE_TXN = 16u,        // ends the transaction
#if HAWTHORN_MDBX_API >= 14
  MDBX_CP_OVERWRITE = 64u,  // replaces what is at the target
#endif
  MDBX_CP_RENEW_TXN = 32u  // renews the transaction if it loses its snapshot
} MDBX_copy_flags_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_copy_flags)

// Copies the last commit to a path, where nothing may be. [mapped]
LIBMDBX_API int mdbx_env_copy(MDBX_env* env, const char* dest, MDBX_copy_flags_t flags);
#define mdbx_env_copyT(env, dest, flags) mdbx_env_copy(env, dest, flags)

// The same, to a file that is open for writing. [mapped]
LIBMDBX_API int mdbx_env_copy2fd(MDBX_env* env, mdbx_filehandle_t fd, MDBX_copy_flags_t flags);

// Copies what a transaction sees to a path. [mapped]
LIBMDBX_API int mdbx_txn_copy2pathname(MDBX_txn* txn, const char* dest, MDBX_copy_flags_t flags);
#define mdbx_txn_copy2pathnameT(txn, dest, flags) mdbx_txn_copy2pathname(txn, dest, flags)

// The same, to a file that is open for writing. [mapped]
LIBMDBX_API int mdbx_txn_copy2fd(MDBX_txn* txn, mdbx_filehandle_t fd, MDBX_copy_flags_t flags);

// Sets or clears flags of an environment, of those that may change while it is open. [mapped]
LIBMDBX_API int mdbx_env_set_flags(MDBX_env* env, MDBX_env_flags_t flags, bool onoff);

// Its flags. [mapped]
LIBMDBX_API int mdbx_env_get_flags(const MDBX_env* env, unsigned* flags);

// The path that it was opened with; it lives with the handle. [mapped]
LIBMDBX_API int mdbx_env_get_path(const MDBX_env* env, const char** dest);
#define mdbx_env_get_pathT(env, dest) mdbx_env_get_path(env, dest)

// A file of it, for flags such as close-on-exec; not to be read, written or closed. [mapped]
LIBMDBX_API int mdbx_env_get_fd(const MDBX_env* env, mdbx_filehandle_t* fd);

// A pointer of the caller. [mapped]
LIBMDBX_API int mdbx_env_set_userctx(MDBX_env* env, void* ctx);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API void* mdbx_env_get_userctx(const MDBX_env* env);

// Options of mdbx_env_set_option. Those that are about pages have no meaning here, but keep what
// they are set to. [accepted]
typedef enum MDBX_option {
  MDBX_opt_max_db,       // [mapped] tables with names; before it is opened
  MDBX_opt_max_readers,  // [mapped] transactions that read at once; before it is opened
  MDBX_opt_sync_bytes,   // [mapped] bytes of commits without a sync that bring one
  MDBX_opt_sync_period,  // [mapped] time without a sync that brings one, in 1/65536 s
  MDBX_opt_rp_augment_limit,
  MDBX_opt_loose_limit,
  MDBX_opt_dp_reserve_limit,
  MDBX_opt_txn_dp_limit,
  MDBX_opt_txn_dp_initial,
  MDBX_opt_spill_max_denominator,
  MDBX_opt_spill_min_denominator,
  MDBX_opt_spill_parent4child_denominator,
#if HAWTHORN_MDBX_API >= 14
  MDBX_opt_merge_threshold,
#else
  MDBX_opt_merge_threshold_16dot16_percent,
#endif
  MDBX_opt_writethrough_threshold,
  // [mapped] Set to 1 before it is opened: the whole memory budget is resident from then on. Later:
  // kept, without a meaning.
  MDBX_opt_prefault_write_enable,
  MDBX_opt_gc_time_limit,
  MDBX_opt_prefer_waf_insteadof_balance,
  MDBX_opt_subpage_limit,
  MDBX_opt_subpage_room_threshold,
  MDBX_opt_subpage_reserve_prereq,
  MDBX_opt_subpage_reserve_limit,
#if HAWTHORN_MDBX_API >= 14
  MDBX_opt_split_reserve,
  MDBX_opt_presync_threshold,
#endif
  // [mapped] Not libmdbx's: the bytes of memory that the engine may use; before it is opened, or
  // later to change it.
  MDBX_opt_hawthorn_memory = 1000
} MDBX_option_t;

// Sets an option. MDBX_EINVAL: there is none such, or it does not take the value. [mapped]
LIBMDBX_API int mdbx_env_set_option(MDBX_env* env, const MDBX_option_t option, uint64_t value);

// What an option is set to. [mapped]
LIBMDBX_API int mdbx_env_get_option(const MDBX_env* env, const MDBX_option_t option,
                                    uint64_t* pvalue);

// MDBX_opt_max_readers. [mapped]
LIBMDBX_INLINE_API(int, mdbx_env_set_maxreaders, (MDBX_env * env, unsigned readers)) {
  return mdbx_env_set_option(env, MDBX_opt_max_readers, readers);
}
LIBMDBX_INLINE_API(int, mdbx_env_get_maxreaders, (const MDBX_env* env, unsigned* readers)) {
  uint64_t value = 0;
  int error = EINVAL;
  if (readers) {
    error = mdbx_env_get_option(env, MDBX_opt_max_readers, &value);
    *readers = (unsigned)value;
  }
  return error;
}

// MDBX_opt_max_db. [mapped]
LIBMDBX_INLINE_API(int, mdbx_env_set_maxdbs, (MDBX_env * env, MDBX_dbi dbs)) {
  return mdbx_env_set_option(env, MDBX_opt_max_db, dbs);
}
LIBMDBX_INLINE_API(int, mdbx_env_get_maxdbs, (const MDBX_env* env, MDBX_dbi* dbs)) {
  uint64_t value = 0;
  int error = EINVAL;
  if (dbs) {
    error = mdbx_env_get_option(env, MDBX_opt_max_db, &value);
    *dbs = (MDBX_dbi)value;
  }
  return error;
}

// MDBX_opt_sync_bytes. [mapped]
LIBMDBX_INLINE_API(int, mdbx_env_set_syncbytes, (MDBX_env * env, size_t threshold)) {
  return mdbx_env_set_option(env, MDBX_opt_sync_bytes, threshold);
}
LIBMDBX_INLINE_API(int, mdbx_env_get_syncbytes, (const MDBX_env* env, size_t* threshold)) {
  uint64_t value = 0;
  int error = EINVAL;
  if (threshold) {
    error = mdbx_env_get_option(env, MDBX_opt_sync_bytes, &value);
    *threshold = (size_t)value;
  }
  return error;
}

// MDBX_opt_sync_period. [mapped]
LIBMDBX_INLINE_API(int, mdbx_env_set_syncperiod, (MDBX_env * env, unsigned seconds_16dot16)) {
  return mdbx_env_set_option(env, MDBX_opt_sync_period, seconds_16dot16);
}
LIBMDBX_INLINE_API(int, mdbx_env_get_syncperiod,
                   (const MDBX_env* env, unsigned* period_seconds_16dot16)) {
  uint64_t value = 0;
  int error = EINVAL;
  if (period_seconds_16dot16) {
    error = mdbx_env_get_option(env, MDBX_opt_sync_period, &value);
    *period_seconds_16dot16 = (unsigned)value;
  }
  return error;
}

// Bytes that the database may have: at least, now, at most; -1 leaves one as it is. The upper one
// is a limit of the engine; steps and the size of pages are kept without a meaning. [mapped]
LIBMDBX_API int mdbx_env_set_geometry(MDBX_env* env, intptr_t size_lower, intptr_t size_now,
                                      intptr_t size_upper, intptr_t growth_step,
                                      intptr_t shrink_threshold, intptr_t pagesize);

// One size for all three. [mapped]
MDBX_DEPRECATED LIBMDBX_INLINE_API(int, mdbx_env_set_mapsize, (MDBX_env * env, size_t size)) {
  const intptr_t all = (intptr_t)size;
  return mdbx_env_set_geometry(env, all, all, all, -1, -1, -1);
}

// Writes to the disk what was committed without. `force` does it at once, else only where options
// ask for it; `nonblock` gives MDBX_BUSY where it had to wait. MDBX_RESULT_TRUE: there was nothing
// to write. [mapped]
LIBMDBX_API int mdbx_env_sync_ex(MDBX_env* env, bool force, bool nonblock);

// The same, at once. [mapped]
LIBMDBX_INLINE_API(int, mdbx_env_sync, (MDBX_env * env)) {
  return mdbx_env_sync_ex(env, true, false);
}

// The same, where options ask for it, without waiting. [mapped]
LIBMDBX_INLINE_API(int, mdbx_env_sync_poll, (MDBX_env * env)) {
  return mdbx_env_sync_ex(env, false, true);
}

// How mdbx_env_warmup reads ahead. [mapped]
typedef enum MDBX_warmup_flags {
  MDBX_warmup_default = 0,     // asks the system to
  MDBX_warmup_force = 1,       // reads all
  MDBX_warmup_oomsafe = 2,     // [accepted] it keeps to the memory budget
  MDBX_warmup_lock = 4,        // [accepted] memory is not locked
  MDBX_warmup_touchlimit = 8,  // [accepted] likewise
  MDBX_warmup_release = 16,    // [accepted] likewise
} MDBX_warmup_flags_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_warmup_flags)

// Reads the indexes into memory, as far as the budget goes; a bound of time is not looked at.
// [mapped]
LIBMDBX_API int mdbx_env_warmup(const MDBX_env* env, const MDBX_txn* txn, MDBX_warmup_flags_t flags,
                                unsigned timeout_seconds_16dot16);

#ifdef __cplusplus
}
#endif
