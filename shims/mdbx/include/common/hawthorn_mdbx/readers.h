#pragma once
// Who reads: transactions that hold an old snapshot, and what is done about them.

#include "transactions.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Called for each transaction that reads; what is not 0 ends the walk, and is its result. [mapped]
typedef int HAWTHORN_MDBX_CALLBACK(MDBX_reader_list_func)(
    void* ctx, int num, int slot, mdbx_pid_t pid, mdbx_tid_t thread, uint64_t txnid, uint64_t lag,
    size_t bytes_used, size_t bytes_retained) MDBX_CXX17_NOEXCEPT;

// Goes through those who read. MDBX_RESULT_TRUE: there are none. [mapped]
LIBMDBX_API int mdbx_reader_list(const MDBX_env* env,
                                 HAWTHORN_MDBX_POINTER(MDBX_reader_list_func) func, void* ctx);

// Frees what readers of processes that died hold; as one process has the environment, there are
// none. [mapped]
LIBMDBX_API int mdbx_reader_check(MDBX_env* env, int* dead);

// How many commits behind one that reads is; `percent`, if not null, gets how full the database
// is. [mapped]
MDBX_DEPRECATED LIBMDBX_API int mdbx_txn_straggler(const MDBX_txn* txn, int* percent);

// Makes a thread known as one that reads, and takes that back. MDBX_RESULT_TRUE: it was already, or
// was not. [mapped]
LIBMDBX_API int mdbx_thread_register(const MDBX_env* env);
LIBMDBX_API int mdbx_thread_unregister(const MDBX_env* env);

// Called where a snapshot that is read stands in the way of a commit, for each reader of the oldest
// one, and at last with a `retry` below 0. Below 0: nothing can be done; 0: try again; 1: the
// reader is done for; 2: its process is. [mapped]
typedef int HAWTHORN_MDBX_CALLBACK(MDBX_hsr_func)(const MDBX_env* env, const MDBX_txn* txn,
                                                  mdbx_pid_t pid, mdbx_tid_t tid, uint64_t laggard,
                                                  unsigned gap, size_t space,
                                                  int retry) MDBX_CXX17_NOEXCEPT;

// Sets it, and gets it. [accepted] Called only where the disk is full
LIBMDBX_API int mdbx_env_set_hsr(MDBX_env* env, HAWTHORN_MDBX_POINTER(MDBX_hsr_func) hsr_callback);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API HAWTHORN_MDBX_POINTER(MDBX_hsr_func)
    mdbx_env_get_hsr(const MDBX_env* env);

#ifdef __cplusplus
}
#endif
