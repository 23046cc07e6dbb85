// Errors, their texts, and the version.

#include <cerrno>
#include <cstring>

#include "shims/mdbx/src/lmdb/layer.h"

namespace hawthorn::lmdb {
namespace {

struct ErrorText {
  int code;
  const char* text;
};

constexpr ErrorText kErrorTexts[] = {
    {MDB_SUCCESS, "No error"},
    {MDB_KEYEXIST, "MDB_KEYEXIST: The key, or the pair of key and value, exists"},
    {MDB_NOTFOUND, "MDB_NOTFOUND: No such entry"},
    {MDB_PAGE_NOTFOUND, "MDB_PAGE_NOTFOUND: A page is missing"},
    {MDB_CORRUPTED, "MDB_CORRUPTED: The database is damaged"},
    {MDB_PANIC, "MDB_PANIC: An earlier failure does not let the environment go on"},
    {MDB_VERSION_MISMATCH, "MDB_VERSION_MISMATCH: The database is of another version"},
    {MDB_INVALID, "MDB_INVALID: This is not a database of this kind"},
    {MDB_MAP_FULL, "MDB_MAP_FULL: The size that was set for the database is reached"},
    {MDB_DBS_FULL, "MDB_DBS_FULL: Too many tables are open, see maxdbs"},
    {MDB_READERS_FULL, "MDB_READERS_FULL: Too many readers, see maxreaders"},
    {MDB_TLS_FULL, "MDB_TLS_FULL: No key for the memory of threads is left"},
    {MDB_TXN_FULL, "MDB_TXN_FULL: The transaction is too large"},
    {MDB_CURSOR_FULL, "MDB_CURSOR_FULL: The tree is too deep for a cursor"},
    {MDB_PAGE_FULL, "MDB_PAGE_FULL: A page is full"},
    {MDB_MAP_RESIZED, "MDB_MAP_RESIZED: Another process has made the database larger"},
    {MDB_INCOMPATIBLE, "MDB_INCOMPATIBLE: The table, or its flags, do not allow this"},
    {MDB_BAD_RSLOT, "MDB_BAD_RSLOT: This thread reads already"},
    {MDB_BAD_TXN, "MDB_BAD_TXN: The transaction has ended, failed, or has a nested one"},
    {MDB_BAD_VALSIZE, "MDB_BAD_VALSIZE: The size of the key or the value does not fit the table"},
    {MDB_BAD_DBI, "MDB_BAD_DBI: The handle stands for no table, or for another one by now"},
};

// Codes that only libmdbx has.
struct SameCode {
  int core;
  int code;
};

constexpr SameCode kSameCodes[] = {
    {MDBX_RESULT_TRUE, MDB_SUCCESS},
    {MDBX_ENODATA, EINVAL},
    {MDBX_EPERM, EINVAL},
    {MDBX_EBADSIGN, EINVAL},
    {MDBX_THREAD_MISMATCH, EINVAL},
    {MDBX_TXN_OVERLAPPING, EINVAL},
    {MDBX_DANGLING_DBI, EINVAL},
    {MDBX_EKEYMISMATCH, MDB_KEYEXIST},
    {MDBX_EMULTIVAL, MDB_KEYEXIST},
    {MDBX_BUSY, EBUSY},
    {MDBX_PROBLEM, MDB_PANIC},
    {MDBX_WANNA_RECOVERY, MDB_INVALID},
    {MDBX_TOO_LARGE, MDB_MAP_FULL},
    {MDBX_BACKLOG_DEPLETED, MDB_MAP_FULL},
    {MDBX_OUSTED, MDB_BAD_TXN},
    {MDBX_MVCC_RETARDED, MDB_BAD_TXN},
};

}  // namespace

int answer(int code) {
  if (code == MDBX_SUCCESS || code == MDBX_NOTFOUND) return code;
  for (const SameCode& same : kSameCodes) {
    if (same.core == code) return same.code;
  }
  return code;
}

}  // namespace hawthorn::lmdb

namespace lmdb_shim = hawthorn::lmdb;

static_assert(MDBX_KEYEXIST == MDB_KEYEXIST && MDBX_NOTFOUND == MDB_NOTFOUND);
static_assert(MDBX_CORRUPTED == MDB_CORRUPTED && MDBX_PANIC == MDB_PANIC);
static_assert(MDBX_VERSION_MISMATCH == MDB_VERSION_MISMATCH && MDBX_INVALID == MDB_INVALID);
static_assert(MDBX_MAP_FULL == MDB_MAP_FULL && MDBX_DBS_FULL == MDB_DBS_FULL);
static_assert(MDBX_READERS_FULL == MDB_READERS_FULL && MDBX_TXN_FULL == MDB_TXN_FULL);
static_assert(MDBX_INCOMPATIBLE == MDB_INCOMPATIBLE && MDBX_BAD_TXN == MDB_BAD_TXN);
static_assert(MDBX_BAD_VALSIZE == MDB_BAD_VALSIZE && MDBX_BAD_DBI == MDB_BAD_DBI);
static_assert(MDBX_BAD_RSLOT == MDB_BAD_RSLOT);

char* mdb_version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = MDB_VERSION_MAJOR;
  if (minor != nullptr) *minor = MDB_VERSION_MINOR;
  if (patch != nullptr) *patch = MDB_VERSION_PATCH;
  static char version[] = MDB_VERSION_STRING;
  return version;
}

char* mdb_strerror(int err) {
  for (const auto& error : lmdb_shim::kErrorTexts) {
    // The pointer is not const in LMDB's API; nobody writes to it.
    if (error.code == err) return const_cast<char*>(error.text);
  }
  return strerror(err);
}
