#pragma once
// What functions return, and texts for it.

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Results and errors; besides them, functions return an errno. [mapped]
typedef enum MDBX_error {
  MDBX_SUCCESS = 0,
  MDBX_RESULT_FALSE = MDBX_SUCCESS,
  // It went well, and the answer is yes, or there was nothing to do.
  MDBX_RESULT_TRUE = -1,

  // The key, or the pair, is there already.
  MDBX_KEYEXIST = -30799,
  MDBX_FIRST_LMDB_ERRCODE = MDBX_KEYEXIST,
  // There is no such key, pair or table, or the cursor came to the end.
  MDBX_NOTFOUND = -30798,
  // [accepted] A page is not where it should be: the engine gives MDBX_CORRUPTED.
  MDBX_PAGE_NOTFOUND = -30797,
  // What was read from disk is wrong.
  MDBX_CORRUPTED = -30796,
  // An earlier failure left the environment fit for nothing but to be closed.
  MDBX_PANIC = -30795,
  // The files are of a version that this library does not know.
  MDBX_VERSION_MISMATCH = -30794,
  // The files are of no database.
  MDBX_INVALID = -30793,
  // The upper limit of the geometry is reached.
  MDBX_MAP_FULL = -30792,
  // There are as many tables as the environment was opened for.
  MDBX_DBS_FULL = -30791,
  // There are as many readers as the environment was opened for.
  MDBX_READERS_FULL = -30790,
  // [accepted] The transaction changed more than one commit takes: the engine has no such bound.
  MDBX_TXN_FULL = -30788,
  // [accepted] The tree is too deep: the engine's are not.
  MDBX_CURSOR_FULL = -30787,
  // [accepted] A page has no room: the engine finds another.
  MDBX_PAGE_FULL = -30786,
  // [accepted] The map cannot grow: there is none.
  MDBX_UNABLE_EXTEND_MAPSIZE = -30785,
  // The operation or the flags do not fit the table.
  MDBX_INCOMPATIBLE = -30784,
  // [accepted] The slot of a reader was taken for another one.
  MDBX_BAD_RSLOT = -30783,
  // The transaction is over, failed, is the parent of one that runs, or is of the wrong kind.
  MDBX_BAD_TXN = -30782,
  // A key or a value has a size that the table does not take.
  MDBX_BAD_VALSIZE = -30781,
  // The handle is of no table, or of one that was changed or dropped meanwhile.
  MDBX_BAD_DBI = -30780,
  // [accepted] Something went wrong that should not.
  MDBX_PROBLEM = -30779,
  MDBX_LAST_LMDB_ERRCODE = MDBX_PROBLEM,

  // Somebody else holds what was to be had without waiting.
  MDBX_BUSY = -30778,
  MDBX_FIRST_ADDED_ERRCODE = MDBX_BUSY,
  // The key has several values, where one was to be changed.
  MDBX_EMULTIVAL = -30421,
  // The handle is not of that type, or not alive.
  MDBX_EBADSIGN = -30420,
  // [accepted] It needs a repair, which a read-only environment cannot do.
  MDBX_WANNA_RECOVERY = -30419,
  // The key is another one than that of the cursor.
  MDBX_EKEYMISMATCH = -30418,
  // [accepted] The environment is larger than the system takes.
  MDBX_TOO_LARGE = -30417,
  // The transaction belongs to another thread.
  MDBX_THREAD_MISMATCH = -30416,
  // The thread has a transaction already that forbids this one.
  MDBX_TXN_OVERLAPPING = -30415,
  // [accepted] There was a need for free pages.
  MDBX_BACKLOG_DEPLETED = -30414,
#if HAWTHORN_MDBX_API >= 14
  // [accepted] There is a second lock file.
  MDBX_DUPLICATED_LCK = -30413,
#else
  // [accepted] There is a second lock file.
  MDBX_DUPLICATED_CLK = -30413,
#endif
  // Cursors or transactions still use the table that is to be closed.
  MDBX_DANGLING_DBI = -30412,
  // The parked transaction lost its snapshot.
  MDBX_OUSTED = -30411,
  // The snapshot is gone.
  MDBX_MVCC_RETARDED = -30410,
#if HAWTHORN_MDBX_API >= 14
  // [accepted] A reader of an old snapshot stands in the way: none does.
  MDBX_LAGGARD_READER = -30409,
  MDBX_LAST_ADDED_ERRCODE = MDBX_LAGGARD_READER,
#else
  MDBX_LAST_ADDED_ERRCODE = MDBX_MVCC_RETARDED,
#endif

  // Errors of the system, by names that do not depend on it.
  MDBX_ENODATA = ENODATA,
  MDBX_EINVAL = EINVAL,
  MDBX_EACCESS = EACCES,
  MDBX_ENOMEM = ENOMEM,
  MDBX_EROFS = EROFS,
#if HAWTHORN_MDBX_API >= 14
  MDBX_ENOSYS = ENOTSUP,
  MDBX_EEXIST = EEXIST,
#else
  MDBX_ENOSYS = ENOSYS,
#endif
  MDBX_EIO = EIO,
  MDBX_EPERM = EPERM,
  MDBX_EINTR = EINTR,
  MDBX_ENOFILE = ENOENT,
  MDBX_EREMOTE = EREMOTEIO,
  MDBX_EDEADLK = EDEADLK
} MDBX_error_t;

#if HAWTHORN_MDBX_API < 14
// The old name of MDBX_UNABLE_EXTEND_MAPSIZE. [mapped]
MDBX_DEPRECATED static __inline int MDBX_MAP_RESIZED_is_deprecated(void) {
  return MDBX_UNABLE_EXTEND_MAPSIZE;
}
#define MDBX_MAP_RESIZED MDBX_MAP_RESIZED_is_deprecated()
#endif

// The text of an error, of libmdbx's or the system's; it may lie in memory of the thread. [mapped]
LIBMDBX_API const char* mdbx_strerror(int errnum);

// The same, with texts of the system in `buf`. [mapped]
LIBMDBX_API const char* mdbx_strerror_r(int errnum, char* buf, size_t buflen);

// The text of one of libmdbx's errors, or null. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API const char* mdbx_liberr2str(int errnum);

#ifdef __cplusplus
}
#endif
