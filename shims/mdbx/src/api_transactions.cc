// The functions of transactions.

#include <cstring>
#include <list>
#include <new>

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/debug.h"
#include "shims/mdbx/src/transaction.h"

namespace mdbx_shim = hawthorn::mdbx;

namespace {

constexpr unsigned kReadFlags = MDBX_TXN_RDONLY | MDBX_TXN_RDONLY_PREPARE;
constexpr unsigned kWriteFlags = MDBX_TXN_NOMETASYNC | MDBX_TXN_NOSYNC | MDBX_TXN_TRY;

int check_open(const MDBX_env* env) {
  if (env == nullptr) return MDBX_EINVAL;
  if (env->signature != mdbx_shim::kEnvironmentSignature) return MDBX_EBADSIGN;
  if (env->died || env->pid != mdbx_shim::process_id())
    return env->is_open() ? MDBX_PANIC : MDBX_EPERM;
  return env->is_open() ? MDBX_SUCCESS : MDBX_EPERM;
}

// Also whether it is one of this process: in a child of fork what ends it may be locked for ever.
int check_to_end(const MDBX_txn* txn, unsigned bad) {
  const int code = MDBX_txn::check(txn, bad);
  return code != MDBX_EINVAL && code != MDBX_EBADSIGN && txn->env->inherited() ? int{MDBX_PANIC}
                                                                               : code;
}

int begin_writer(MDBX_env* env, unsigned flags, void* context, MDBX_txn** txn) {
  if (env->flags & MDBX_RDONLY) return MDBX_EACCESS;
  const bool own = env->writer.held_by_this_thread();
  // A thread that has locked the environment (mdbx_txn_lock) goes on to write.
  if (own && env->write_txn != nullptr) return MDBX_BUSY;
  if (!(env->flags & MDBX_NOSTICKYTHREADS) && !env->lmdb &&
      !(mdbx_shim::debug_flags() & MDBX_DBG_LEGACY_OVERLAP)) {
    const std::lock_guard<std::mutex> guard(env->mutex);
    for (const MDBX_txn* reader : env->readers) {
      if (reader->owner == std::this_thread::get_id()) return MDBX_TXN_OVERLAPPING;
    }
  }
  if (!own && !env->writer.lock(!(flags & MDBX_TXN_TRY))) return MDBX_BUSY;
  std::unique_ptr<MDBX_txn> made = std::move(env->spare);
  if (made == nullptr) made.reset(new (std::nothrow) MDBX_txn(env, 0U, nullptr));
  if (made == nullptr) {
    if (!own) env->writer.unlock();
    return MDBX_ENOMEM;
  }
  made->signature = mdbx_shim::kTransactionSignature;
  made->flags = flags & ~unsigned{MDBX_TXN_TRY};
  made->userctx = context;
  const int code = made->begin_write();
  if (code != MDBX_SUCCESS) {
    if (!own) env->writer.unlock();
    return code;
  }
  *txn = made.release();
  return MDBX_SUCCESS;
}

}  // namespace

int mdbx_txn_begin_ex(MDBX_env* env, MDBX_txn* parent, MDBX_txn_flags_t wanted, MDBX_txn** txn,
                      void* context) try {
  if (txn == nullptr) return MDBX_EINVAL;
  *txn = nullptr;
  const auto flags = static_cast<unsigned>(wanted);
  if ((flags & ~kWriteFlags) != 0 && (parent != nullptr || (flags & ~kReadFlags) != 0)) {
    return MDBX_EINVAL;
  }
  if (const int code = check_open(env); code != MDBX_SUCCESS) return code;
  if (parent != nullptr) {
    const int code = MDBX_txn::check(parent, MDBX_TXN_BLOCKED & ~MDBX_TXN_PARKED);
    if (code != MDBX_SUCCESS) return code;
    if (parent->read_only()) return MDBX_BAD_TXN;
    auto made = std::make_unique<MDBX_txn>(env, flags & ~unsigned{MDBX_TXN_TRY}, context);
    const int begun = made->begin_nested(parent);
    if (begun == MDBX_SUCCESS) *txn = made.release();
    return begun;
  }
  if (!(flags & MDBX_TXN_RDONLY)) return begin_writer(env, flags, context, txn);
  auto made = std::make_unique<MDBX_txn>(env, unsigned{MDBX_TXN_RDONLY}, context);
  if ((flags & MDBX_TXN_RDONLY_PREPARE) == unsigned{MDBX_TXN_RDONLY_PREPARE}) {
    made->flags |= MDBX_TXN_FINISHED;
    const std::lock_guard<std::mutex> guard(env->mutex);
    env->dormant.push_back(made.get());
  } else if (const int code = made->begin_read(false); code != MDBX_SUCCESS) {
    return code;
  }
  *txn = made.release();
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_commit_ex(MDBX_txn* txn, MDBX_commit_latency* latency) try {
  const int code = check_to_end(txn, MDBX_TXN_FINISHED);
  if (code == MDBX_BAD_TXN && txn != nullptr && txn->read_only()) return txn->commit(latency);
  if (code != MDBX_SUCCESS) {
    if (latency != nullptr) memset(latency, 0, sizeof(*latency));
    return code;
  }
  return txn->commit(latency);
} catch (...) {
  return mdbx_shim::exception_code();
}

#if HAWTHORN_MDBX_API >= 14
int mdbx_txn_abort_ex(MDBX_txn* txn, MDBX_commit_latency* latency) try {
  if (latency != nullptr) memset(latency, 0, sizeof(*latency));
  const int code = check_to_end(txn, 0);
  return code == MDBX_SUCCESS ? txn->abort() : code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_clone(const MDBX_txn* origin, MDBX_txn** in_out_clone, void* context) try {
  if (in_out_clone == nullptr || origin == nullptr) return MDBX_EINVAL;
  if (origin->signature != mdbx_shim::kTransactionSignature) return MDBX_EBADSIGN;
  if (origin->flags & (MDBX_TXN_FINISHED | MDBX_TXN_ERROR | MDBX_TXN_DIRTY)) return MDBX_BAD_TXN;
  MDBX_txn* const reused = *in_out_clone;
  if (reused != nullptr) {
    if (reused->signature != mdbx_shim::kTransactionSignature) return MDBX_EBADSIGN;
    if (!reused->read_only() || reused->env != origin->env) return MDBX_BAD_TXN;
    reused->reset();
    std::list<MDBX_txn*> place = reused->env->take_dormant(reused);
    reused->userctx = context;
    const int code = reused->begin_clone(*origin);
    if (code == MDBX_SUCCESS) return code;
    reused->flags |= MDBX_TXN_FINISHED;
    reused->owner = {};
    reused->env->give_dormant(&place);
    return code;
  }
  auto made = std::make_unique<MDBX_txn>(origin->env, unsigned{MDBX_TXN_RDONLY}, context);
  const int code = made->begin_clone(*origin);
  if (code == MDBX_SUCCESS) *in_out_clone = made.release();
  return code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_checkpoint(MDBX_txn* txn, MDBX_txn_flags_t weakening_durability,
                        MDBX_commit_latency* latency) try {
  if (latency != nullptr) memset(latency, 0, sizeof(*latency));
  if (const int code = MDBX_txn::check_write(txn); code != MDBX_SUCCESS) return code;
  const auto weaker = static_cast<unsigned>(weakening_durability);
  if (weaker & ~unsigned{MDBX_TXN_NOMETASYNC | MDBX_TXN_NOSYNC}) return MDBX_EINVAL;
  return txn->parent != nullptr ? int{MDBX_BAD_TXN} : txn->checkpoint(weaker, latency);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_commit_embark_read(MDBX_txn** ptxn, MDBX_commit_latency* latency) try {
  if (latency != nullptr) memset(latency, 0, sizeof(*latency));
  if (ptxn == nullptr) return MDBX_EINVAL;
  if (const int code = MDBX_txn::check_write(*ptxn); code != MDBX_SUCCESS) return code;
  return (*ptxn)->parent != nullptr ? int{MDBX_BAD_TXN} : (*ptxn)->commit_and_read(ptxn, latency);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_amend(MDBX_txn* read_txn, MDBX_txn** ptr_write_txn, MDBX_txn_flags_t wanted,
                   void* context) try {
  if (ptr_write_txn == nullptr) return MDBX_EINVAL;
  *ptr_write_txn = nullptr;
  const int checked = MDBX_txn::check(read_txn, MDBX_TXN_BLOCKED);
  if (checked != MDBX_SUCCESS) return checked;
  const auto flags = static_cast<unsigned>(wanted);
  const unsigned keeps = MDBX_TXN_RDONLY_PREPARE & ~unsigned{MDBX_TXN_RDONLY};
  if (!read_txn->read_only() || (flags & ~(kWriteFlags | MDBX_TXN_RDONLY_PREPARE)) != 0) {
    return MDBX_EINVAL;
  }
  MDBX_env* const env = read_txn->env;
  if (env->flags & MDBX_RDONLY) return MDBX_EACCESS;
  if (env->writer.held_by_this_thread()) return MDBX_TXN_OVERLAPPING;
  auto made =
      std::make_unique<MDBX_txn>(env, flags & (MDBX_TXN_NOMETASYNC | MDBX_TXN_NOSYNC), context);
  if (!env->writer.lock(!(flags & MDBX_TXN_TRY))) return MDBX_BUSY;
  const auto stays_as_it_is = [&](int code) {
    env->writer.unlock();
    return code;
  };
  if (!env->writes()) return stays_as_it_is(MDBX_BUSY);
  if (read_txn->id() != env->last_txnid.load()) return stays_as_it_is(MDBX_RESULT_TRUE);
  const int code = made->begin_write();
  if (code != MDBX_SUCCESS) return stays_as_it_is(code);
  *ptr_write_txn = made.release();
  if (flags & keeps) {
    read_txn->reset();
  } else {
    read_txn->abort();
  }
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_rollback(MDBX_txn* txn) try {
  const int code =
      MDBX_txn::check_write(txn, MDBX_TXN_FINISHED | MDBX_TXN_HAS_CHILD | MDBX_TXN_PARKED);
  if (code != MDBX_SUCCESS) return code;
  return txn->parent != nullptr ? int{MDBX_BAD_TXN} : txn->rollback();
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_refresh(MDBX_txn* txn) try {
  if (const int code = check_to_end(txn, MDBX_TXN_FINISHED); code != MDBX_SUCCESS) return code;
  if (!txn->read_only()) return MDBX_EINVAL;
  const uint64_t before = txn->id();
  txn->reset();
  if (const int code = mdbx_txn_renew(txn); code != MDBX_SUCCESS) return code;
  return txn->id() == before ? MDBX_RESULT_TRUE : MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}
#else
int mdbx_txn_abort(MDBX_txn* txn) try {
  const int code = check_to_end(txn, 0);
  return code == MDBX_SUCCESS ? txn->abort() : code;
} catch (...) {
  return mdbx_shim::exception_code();
}
#endif

int mdbx_txn_break(MDBX_txn* txn) {
  if (const int code = MDBX_txn::check(txn, 0); code != MDBX_SUCCESS) return code;
  for (; txn != nullptr; txn = txn->child) txn->flags |= MDBX_TXN_ERROR;
  return MDBX_SUCCESS;
}

int mdbx_txn_reset(MDBX_txn* txn) try {
  if (const int code = check_to_end(txn, 0); code != MDBX_SUCCESS) return code;
  if (!txn->read_only()) return MDBX_EINVAL;
  txn->reset();
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_renew(MDBX_txn* txn) try {
  if (txn == nullptr) return MDBX_EINVAL;
  if (txn->signature != mdbx_shim::kTransactionSignature) return MDBX_EBADSIGN;
  if (!txn->read_only()) return MDBX_EINVAL;
  if (txn->env->inherited()) return MDBX_PANIC;
  if (!(txn->flags & MDBX_TXN_FINISHED)) {
    if (const int code = mdbx_txn_reset(txn); code != MDBX_SUCCESS) return code;
  }
  return txn->renew();
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_park(MDBX_txn* txn, bool autounpark) try {
  const int code = check_to_end(txn, MDBX_TXN_BLOCKED & ~MDBX_TXN_ERROR);
  if (code != MDBX_SUCCESS) return code;
  if (!txn->read_only()) return MDBX_TXN_INVALID;
  if (txn->flags & MDBX_TXN_ERROR) {
    txn->reset();
    return MDBX_OUSTED;
  }
  return txn->park(autounpark);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_unpark(MDBX_txn* txn, bool restart_if_ousted) try {
  const int code =
      MDBX_txn::check(txn, MDBX_TXN_BLOCKED & ~unsigned{MDBX_TXN_PARKED | MDBX_TXN_ERROR});
  return code == MDBX_SUCCESS ? txn->unpark(restart_if_ousted) : code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_set_userctx(MDBX_txn* txn, void* ctx) {
  const int code = MDBX_txn::check(txn, MDBX_TXN_FINISHED);
  if (code == MDBX_SUCCESS) txn->userctx = ctx;
  return code;
}

void* mdbx_txn_get_userctx(const MDBX_txn* txn) HAWTHORN_MDBX_NOTHROW {
  return MDBX_txn::check(txn, MDBX_TXN_FINISHED) == MDBX_SUCCESS ? txn->userctx : nullptr;
}

MDBX_env* mdbx_txn_env(const MDBX_txn* txn) HAWTHORN_MDBX_NOTHROW {
  return txn != nullptr && txn->signature == mdbx_shim::kTransactionSignature ? txn->env : nullptr;
}

MDBX_txn_flags_t mdbx_txn_flags(const MDBX_txn* txn) HAWTHORN_MDBX_NOTHROW {
  if (txn == nullptr || txn->signature != mdbx_shim::kTransactionSignature) {
    return MDBX_TXN_INVALID;
  }
  return static_cast<MDBX_txn_flags_t>(txn->flags);
}

uint64_t mdbx_txn_id(const MDBX_txn* txn) HAWTHORN_MDBX_NOTHROW try {
  if (txn == nullptr || txn->signature != mdbx_shim::kTransactionSignature) return 0;
  if (txn->flags & MDBX_TXN_FINISHED) return 0;
  return const_cast<MDBX_txn*>(txn)->id();
} catch (...) {
  return 0;
}

int mdbx_txn_info(const MDBX_txn* txn, MDBX_txn_info* info, bool) try {
  if (const int code = MDBX_txn::check(txn, MDBX_TXN_FINISHED); code != MDBX_SUCCESS) return code;
  if (info == nullptr) return MDBX_EINVAL;
  MDBX_txn& mine = *const_cast<MDBX_txn*>(txn);
  MDBX_env& env = *mine.env;
  memset(info, 0, sizeof(*info));
  const hawthorn::Stats stats = mine.db->stats();
  const uint64_t newest = env.writes() ? env.last_txnid.load() : mine.id();
  const uint64_t used = stats.disk_bytes_reachable + stats.memory_delta_bytes;
  info->txn_id = mine.id();
  info->txn_space_used = used;
  info->txn_space_limit_soft = std::max(stats.disk_bytes_allocated, used);
  info->txn_space_limit_hard = env.geometry.upper != 0 ? env.geometry.upper : uint64_t{1} << 47;
  info->txn_space_leftover =
      info->txn_space_limit_hard - std::min(info->txn_space_limit_hard, used);
  if (mine.read_only()) {
    info->txn_reader_lag = newest - std::min(newest, info->txn_id);
    info->txn_space_retired = stats.bytes_old_versions;
    return MDBX_SUCCESS;
  }
  info->txn_space_dirty = mine.written_bytes;
  uint64_t oldest = info->txn_id;
  const std::lock_guard<std::mutex> guard(env.mutex);
  for (const MDBX_txn* reader : env.readers) {
    oldest = std::min(oldest, reader->begun_behind.load(std::memory_order_relaxed));
  }
  info->txn_reader_lag = info->txn_id - oldest;
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_straggler(const MDBX_txn* txn, int* percent) try {
  const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED & ~MDBX_TXN_PARKED);
  if (code != MDBX_SUCCESS) return code > 0 ? -code : code;
  MDBX_txn_info info;
  if (const int failed = mdbx_txn_info(txn, &info, false); failed != MDBX_SUCCESS) {
    return failed > 0 ? -failed : failed;
  }
  if (percent != nullptr) {
    *percent = static_cast<int>(info.txn_space_used * 100 /
                                std::max<uint64_t>(1, info.txn_space_limit_soft));
  }
  if (!txn->read_only()) return 0;
  return static_cast<int>(std::min<uint64_t>(info.txn_reader_lag, INT32_MAX));
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_canary_put(MDBX_txn* txn, const MDBX_canary* canary) try {
  const int code = MDBX_txn::check_write(txn);
  return code == MDBX_SUCCESS ? txn->set_canary(canary) : code;
} catch (...) {
  return mdbx_shim::fail_by_exception(txn);
}

int mdbx_canary_get(const MDBX_txn* txn, MDBX_canary* canary) try {
  if (const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) return code;
  return canary == nullptr ? int{MDBX_EINVAL} : const_cast<MDBX_txn*>(txn)->canary(canary);
} catch (...) {
  return mdbx_shim::exception_code();
}
