#pragma once
// Transactions: a snapshot to read, or one commit to come.

#include "environment.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a transaction begins, and what mdbx_txn_flags says of it. [mapped]
typedef enum MDBX_txn_flags {
  // How it begins.
  MDBX_TXN_READWRITE = 0,
  MDBX_TXN_RDONLY = MDBX_RDONLY,
  MDBX_TXN_RDONLY_PREPARE = MDBX_RDONLY | MDBX_NOMEMINIT,  // a handle for mdbx_txn_renew
  MDBX_TXN_TRY = 0x10000000,                               // MDBX_BUSY instead of waiting
#if HAWTHORN_MDBX_API >= 14
  MDBX_TXN_NOWEAKING = 0,  // as durable as the environment
#endif
  MDBX_TXN_NOMETASYNC = MDBX_NOMETASYNC,
  MDBX_TXN_NOSYNC = MDBX_SAFE_NOSYNC,

  // What it is.
  MDBX_TXN_INVALID = INT32_MIN,
  MDBX_TXN_FINISHED = 0x01,
  MDBX_TXN_ERROR = 0x02,
  MDBX_TXN_DIRTY = 0x04,
  MDBX_TXN_SPILLS = 0x08,  // [accepted] never set
  MDBX_TXN_HAS_CHILD = 0x10,
  MDBX_TXN_PARKED = 0x20,
  MDBX_TXN_AUTOUNPARK = 0x40,
  MDBX_TXN_OUSTED = 0x80,
  MDBX_TXN_BLOCKED = MDBX_TXN_FINISHED | MDBX_TXN_ERROR | MDBX_TXN_HAS_CHILD | MDBX_TXN_PARKED
} MDBX_txn_flags_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_txn_flags)

// Begins a transaction. One writes at a time, and others wait for it. With a `parent`, which must
// write, it is nested in it: the parent rests meanwhile, lends it its cursors, and gets or loses
// the changes. [mapped]
LIBMDBX_API int mdbx_txn_begin_ex(MDBX_env* env, MDBX_txn* parent, MDBX_txn_flags_t flags,
                                  MDBX_txn** txn, void* context);

// The same, without a pointer of the caller. [mapped]
LIBMDBX_INLINE_API(int, mdbx_txn_begin,
                   (MDBX_env * env, MDBX_txn* parent, MDBX_txn_flags_t flags, MDBX_txn** txn)) {
  return mdbx_txn_begin_ex(env, parent, flags, txn, NULL);
}

#if HAWTHORN_MDBX_API >= 14
// Begins one that reads the snapshot of another: `*in_out_clone` is null, or a handle that was
// reset. Where the other one writes, it must not have changed anything. [mapped]
LIBMDBX_API int mdbx_txn_clone(const MDBX_txn* origin, MDBX_txn** in_out_clone, void* context);
#endif

// A pointer of the caller. [mapped]
LIBMDBX_API int mdbx_txn_set_userctx(MDBX_txn* txn, void* ctx);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API void* mdbx_txn_get_userctx(const MDBX_txn* txn);

// Its environment, its flags, and the number of its snapshot or of the commit to be; null,
// MDBX_TXN_INVALID and 0 where the handle is wrong. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API MDBX_env* mdbx_txn_env(const MDBX_txn* txn);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API MDBX_txn_flags_t mdbx_txn_flags(const MDBX_txn* txn);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API uint64_t mdbx_txn_id(const MDBX_txn* txn);

// Of a transaction, in bytes where it is about space. [mapped]
typedef struct MDBX_txn_info {
  uint64_t txn_id;
  uint64_t txn_reader_lag;  // commits since its snapshot; of one that writes, of the oldest reader
  uint64_t txn_space_used;
  uint64_t txn_space_limit_soft;
  uint64_t txn_space_limit_hard;
  uint64_t txn_space_retired;
  uint64_t txn_space_leftover;
  uint64_t txn_space_dirty;
#if HAWTHORN_MDBX_API >= 14
  uint64_t txn_pget;  // [accepted] 0
#endif
} MDBX_txn_info;

// Describes a transaction; with `scan_rlt`, also what needs a look at all readers. [mapped]
LIBMDBX_API int mdbx_txn_info(const MDBX_txn* txn, MDBX_txn_info* info, bool scan_rlt);

// Where the time of a commit went, in 1/65536 s. [mapped]
typedef struct MDBX_commit_latency {
  uint32_t preparation;
  uint32_t gc_wallclock;  // [accepted] 0
  uint32_t audit;         // [accepted] 0
  uint32_t write;
  uint32_t sync;
  uint32_t ending;
  uint32_t whole;
  uint32_t gc_cputime;  // [accepted] 0
  struct {
    uint32_t wloops;
    uint32_t coalescences;
    uint32_t wipes;
    uint32_t flushes;
    uint32_t kicks;
    uint32_t work_counter;
    uint32_t work_rtime_monotonic;
    uint32_t work_xtime_cpu;
    uint32_t work_rsteps;
    uint32_t work_xpages;
    uint32_t work_majflt;
    uint32_t self_counter;
    uint32_t self_rtime_monotonic;
    uint32_t self_xtime_cpu;
    uint32_t self_rsteps;
    uint32_t self_xpages;
    uint32_t self_majflt;
    struct {
      uint32_t time;
      uint64_t volume;
      uint32_t calls;
    } pnl_merge_work, pnl_merge_self;
#if HAWTHORN_MDBX_API >= 14
    uint32_t max_reader_lag;
    uint32_t max_retained_pages;
#endif
  } gc_prof;  // [accepted] the search for free pages: zeros
} MDBX_commit_latency;

// Commits, and the handle is gone, whatever comes back. MDBX_RESULT_TRUE: it had failed before, and
// was aborted. `latency` may be null. [mapped]
LIBMDBX_API int mdbx_txn_commit_ex(MDBX_txn* txn, MDBX_commit_latency* latency);

// The same. [mapped]
LIBMDBX_INLINE_API(int, mdbx_txn_commit, (MDBX_txn * txn)) { return mdbx_txn_commit_ex(txn, NULL); }

#if HAWTHORN_MDBX_API >= 14
// Ends it without its changes, and the handle is gone. [mapped]
LIBMDBX_API int mdbx_txn_abort_ex(MDBX_txn* txn, MDBX_commit_latency* latency);

// The same. [mapped]
LIBMDBX_INLINE_API(int, mdbx_txn_abort, (MDBX_txn * txn)) { return mdbx_txn_abort_ex(txn, NULL); }

// Commits, and goes on writing with the same handle; nobody else writes between. MDBX_RESULT_TRUE:
// there was nothing to commit. [mapped]
LIBMDBX_API int mdbx_txn_checkpoint(MDBX_txn* txn, MDBX_txn_flags_t weakening_durability,
                                    MDBX_commit_latency* latency);

// Commits, and goes on reading what was committed, with the handle that comes back.
// MDBX_RESULT_TRUE: there was nothing to commit. [mapped]
LIBMDBX_API int mdbx_txn_commit_embark_read(MDBX_txn** ptxn, MDBX_commit_latency* latency);

// Begins to write upon the snapshot of one that reads, which ends; with MDBX_TXN_RDONLY_PREPARE its
// handle stays, for mdbx_txn_renew. MDBX_RESULT_TRUE: there were commits since, and nothing
// happened. [mapped]
LIBMDBX_API int mdbx_txn_amend(MDBX_txn* read_txn, MDBX_txn** ptr_write_txn, MDBX_txn_flags_t flags,
                               void* context);

// Takes its changes back, and goes on writing. [mapped]
LIBMDBX_API int mdbx_txn_rollback(MDBX_txn* txn);

// Reads the last commit from now on. MDBX_RESULT_TRUE: it does already. [mapped]
LIBMDBX_API int mdbx_txn_refresh(MDBX_txn* txn);
#else
// Ends it without its changes, and the handle is gone. [mapped]
LIBMDBX_API int mdbx_txn_abort(MDBX_txn* txn);
#endif

// Marks it as failed: nothing but its end is possible. [mapped]
LIBMDBX_API int mdbx_txn_break(MDBX_txn* txn);

// Lets go of the snapshot of one that reads, and keeps the handle. [mapped]
LIBMDBX_API int mdbx_txn_reset(MDBX_txn* txn);

// Reads again with a handle that was reset, the last commit. [mapped]
LIBMDBX_API int mdbx_txn_renew(MDBX_txn* txn);

// Lets those who write take its snapshot away, if they need the space, until it is unparked; with
// `autounpark` the next use does that. [mapped]
LIBMDBX_API int mdbx_txn_park(MDBX_txn* txn, bool autounpark);

// Ends that. MDBX_OUSTED: the snapshot was taken; with `restart_if_ousted` it has the last commit
// then, and the result is MDBX_RESULT_TRUE. [mapped]
LIBMDBX_API int mdbx_txn_unpark(MDBX_txn* txn, bool restart_if_ousted);

// Four numbers of the caller that are committed with the data; `v` is the number of the commit that
// set them. [mapped]
typedef struct MDBX_canary {
  uint64_t x, y, z, v;
} MDBX_canary;

// Sets them; with null, only `v`. [mapped]
LIBMDBX_API int mdbx_canary_put(MDBX_txn* txn, const MDBX_canary* canary);

// Gets them. [mapped]
LIBMDBX_API int mdbx_canary_get(const MDBX_txn* txn, MDBX_canary* canary);

// Takes, and gives back, the lock of those who write, for the thread. MDBX_BUSY: it was to wait,
// and must not. [mapped]
LIBMDBX_API int mdbx_txn_lock(MDBX_env* env, bool dont_wait);
LIBMDBX_API int mdbx_txn_unlock(MDBX_env* env);

#ifdef __cplusplus
}
#endif
