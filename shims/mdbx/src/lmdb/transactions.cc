// The functions of transactions.

#include <cerrno>

#include "shims/mdbx/src/lmdb/layer.h"

using hawthorn::lmdb::answer;
using hawthorn::lmdb::core;
using hawthorn::lmdb::Env;
namespace lmdb_shim = hawthorn::lmdb;

static_assert(MDB_RDONLY == MDBX_TXN_RDONLY && MDB_NOSYNC == MDBX_TXN_NOSYNC &&
              MDB_NOMETASYNC == MDBX_TXN_NOMETASYNC);

int mdb_txn_begin(MDB_env* env, MDB_txn* parent, unsigned int flags, MDB_txn** txn) try {
  if (txn == nullptr) return EINVAL;
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  Env& mine = *core(env);
  const unsigned same = flags & (MDB_RDONLY | MDB_NOSYNC | MDB_NOMETASYNC);
  if (parent != nullptr) {
    if (core(parent)->read_only()) return EINVAL;
    // Documented: with the writable map there are no nested ones.
    if ((same & MDB_RDONLY) || (mine.asked & MDB_WRITEMAP)) return MDB_BAD_TXN;
  } else if (!(same & MDB_RDONLY)) {
    if (mine.asked & MDB_RDONLY) return EACCES;
    // It would wait for itself.
    if (mine.writer.held_by_this_thread()) return EBUSY;
  }
  MDBX_txn* begun = nullptr;
  const unsigned wanted = same & MDB_RDONLY ? MDB_RDONLY : same;
  const int code = mdbx_txn_begin_ex(&mine, core(parent), static_cast<MDBX_txn_flags_t>(wanted),
                                     &begun, nullptr);
  if (code == MDBX_SUCCESS) *txn = reinterpret_cast<MDB_txn*>(begun);
  return answer(code);
} catch (...) {
  return lmdb_shim::exception_code();
}

MDB_env* mdb_txn_env(MDB_txn* txn) {
  return txn != nullptr ? reinterpret_cast<MDB_env*>(core(txn)->env) : nullptr;
}

size_t mdb_txn_id(MDB_txn* txn) {
  return txn != nullptr ? static_cast<size_t>(mdbx_txn_id(core(txn))) : 0;
}

int mdb_txn_commit(MDB_txn* txn) try {
  if (txn == nullptr) return EINVAL;
  MDBX_txn& mine = *core(txn);
  if (Env::check(mdb_txn_env(txn), true) != MDB_SUCCESS) return MDB_PANIC;
  MDBX_txn* const parent = mine.parent;
  const bool reads = mine.read_only();
  const int code = mine.commit(nullptr);
  if (reads) return MDB_SUCCESS;
  if (code != MDBX_RESULT_TRUE) return answer(code);
  // It had failed, and with it does what it is nested in.
  if (parent != nullptr) parent->flags |= MDBX_TXN_ERROR;
  return MDB_BAD_TXN;
} catch (...) {
  return lmdb_shim::exception_code();
}

void mdb_txn_abort(MDB_txn* txn) try {
  if (txn == nullptr || Env::check(mdb_txn_env(txn), true) != MDB_SUCCESS) return;
  core(txn)->abort();
} catch (...) {
  return;
}

void mdb_txn_reset(MDB_txn* txn) try {
  if (txn == nullptr || Env::check(mdb_txn_env(txn), true) != MDB_SUCCESS) return;
  if (core(txn)->read_only()) core(txn)->reset();
} catch (...) {
  return;
}

int mdb_txn_renew(MDB_txn* txn) try {
  if (txn == nullptr) return EINVAL;
  if (const int code = Env::check(mdb_txn_env(txn), true); code != MDB_SUCCESS) return code;
  MDBX_txn& mine = *core(txn);
  if (!mine.read_only() || !(mine.flags & MDBX_TXN_FINISHED)) return EINVAL;
  return answer(mine.renew());
} catch (...) {
  return lmdb_shim::exception_code();
}
