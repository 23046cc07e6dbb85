// The functions of environments.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "hawthorn/backup.h"
#include "shims/mdbx/src/copy.h"
#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/debug.h"
#include "shims/mdbx/src/environment.h"
#include "shims/mdbx/src/transaction.h"

using hawthorn::mdbx::Geometry;
using hawthorn::mdbx::TxnTable;
namespace mdbx_shim = hawthorn::mdbx;

namespace {

constexpr unsigned kFlagsOfOpen = MDBX_VALIDATION | MDBX_NOSUBDIR | MDBX_RDONLY | MDBX_EXCLUSIVE |
                                  MDBX_ACCEDE | MDBX_WRITEMAP | MDBX_NOSTICKYTHREADS |
                                  MDBX_NORDAHEAD | MDBX_NOMEMINIT | 0x2000000U | MDBX_LIFORECLAIM |
                                  MDBX_PAGEPERTURB | MDBX_NOMETASYNC | MDBX_UTTERLY_NOSYNC;
constexpr unsigned kChangeableFlags = MDBX_SAFE_NOSYNC | MDBX_NOMETASYNC | MDBX_UTTERLY_NOSYNC |
                                      MDBX_NOMEMINIT | 0x2000000U | MDBX_PAGEPERTURB | MDBX_ACCEDE |
                                      MDBX_VALIDATION;
constexpr uint64_t kMemoryMin = uint64_t{16} << 20;

int check_env(const MDBX_env* env, bool open) {
  if (env == nullptr) return MDBX_EINVAL;
  if (env->signature != mdbx_shim::kEnvironmentSignature) return MDBX_EBADSIGN;
  if (env->died) return MDBX_PANIC;
  if (env->inherited()) return MDBX_PANIC;
  return open && !env->is_open() ? MDBX_EPERM : MDBX_SUCCESS;
}

}  // namespace

int mdbx_env_create(MDBX_env** penv) try {
  if (penv == nullptr) return MDBX_EINVAL;
  *penv = new MDBX_env();
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_open(MDBX_env* env, const char* pathname, MDBX_env_flags_t flags,
                  mdbx_mode_t mode) try {
  if (const int code = check_env(env, false); code != MDBX_SUCCESS) return code;
  if (pathname == nullptr || (unsigned{flags} & ~kFlagsOfOpen) != 0) return MDBX_EINVAL;
  return env->open(pathname, flags, mode);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_open_for_recovery(MDBX_env* env, const char*, unsigned, bool) {
  const int code = check_env(env, false);
  return code != MDBX_SUCCESS ? code : int{MDBX_ENOSYS};
}

int mdbx_env_turn_for_recovery(MDBX_env* env, unsigned) {
  const int code = check_env(env, true);
  return code != MDBX_SUCCESS ? code : int{MDBX_ENOSYS};
}

int mdbx_preopen_snapinfo(const char* pathname, MDBX_envinfo* info, size_t) {
  return pathname == nullptr || info == nullptr ? int{MDBX_EINVAL} : int{MDBX_ENOSYS};
}

int mdbx_env_close_ex(MDBX_env* env, bool dont_sync) try {
  if (env == nullptr) return MDBX_EINVAL;
  if (env->signature != mdbx_shim::kEnvironmentSignature) return MDBX_EBADSIGN;
  const int code = env->close(dont_sync);
  if (code == MDBX_BUSY) return code;
  env->signature = 0;
  // What the parent's threads wait for cannot be destroyed.
  if (!env->inherited()) delete env;
  return code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_resurrect_after_fork(MDBX_env* env) {
  if (env == nullptr) return MDBX_EINVAL;
  if (env->signature != mdbx_shim::kEnvironmentSignature) return MDBX_EBADSIGN;
  // Everything of the parent's database is the parent's; a child opens an environment of its own.
  return env->inherited() ? MDBX_PANIC : MDBX_SUCCESS;
}

int mdbx_env_delete(const char* pathname, MDBX_env_delete_mode_t mode) try {
  if (pathname == nullptr) return MDBX_EINVAL;
  if (mode != MDBX_ENV_JUST_DELETE && mode != MDBX_ENV_ENSURE_UNUSED &&
      mode != MDBX_ENV_WAIT_FOR_UNUSED) {
    return MDBX_EINVAL;
  }
  for (;;) {
    const hawthorn::Status s = hawthorn::Db::destroy(pathname);
    // What is there belongs to a database, or nothing is done.
    if (s.is_not_found()) return MDBX_RESULT_TRUE;
    if (!s.is(hawthorn::StatusCode::kBusy) || mode != MDBX_ENV_WAIT_FOR_UNUSED) {
      return mdbx_shim::to_code(s);
    }
    usleep(10'000);
  }
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_copy(MDBX_env* env, const char* dest, MDBX_copy_flags_t flags) try {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  return dest == nullptr ? int{MDBX_EINVAL} : mdbx_shim::copy_environment(*env, dest, flags);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_copy2fd(MDBX_env* env, mdbx_filehandle_t fd, MDBX_copy_flags_t flags) try {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  return mdbx_shim::copy_environment(*env, fd, flags);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_copy2pathname(MDBX_txn* txn, const char* dest, MDBX_copy_flags_t flags) try {
  if (const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) return code;
  return dest == nullptr ? int{MDBX_EINVAL} : mdbx_shim::copy_transaction(txn, dest, flags);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_copy2fd(MDBX_txn* txn, mdbx_filehandle_t fd, MDBX_copy_flags_t flags) try {
  if (const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) return code;
  return mdbx_shim::copy_transaction(txn, fd, flags);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_stat_ex(const MDBX_env* env, const MDBX_txn* txn, MDBX_stat* stat, size_t bytes) try {
  if (env == nullptr && txn != nullptr) env = txn->env;
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  if (stat == nullptr || (bytes != sizeof(MDBX_stat) && bytes != offsetof(MDBX_stat, ms_mod_txnid)))
    return MDBX_EINVAL;
  MDBX_txn* const reading = const_cast<MDBX_txn*>(txn);
  if (reading != nullptr) {
    if (const int code = MDBX_txn::check(reading, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) {
      return code;
    }
    TxnTable* main = nullptr;
    if (const int code = reading->table(mdbx_shim::kMainDbi, &main); code != MDBX_SUCCESS) {
      return code;
    }
    return reading->stat(main, stat, bytes);
  }
  // A moment of its own, that is no reader's.
  MDBX_txn moment(const_cast<MDBX_env*>(env), MDBX_TXN_RDONLY, nullptr);
  const int begun = moment.begin_look();
  if (begun != MDBX_SUCCESS) return begun;
  TxnTable* main = nullptr;
  const int code = moment.table(mdbx_shim::kMainDbi, &main);
  return code == MDBX_SUCCESS ? moment.stat(main, stat, bytes) : code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_info_ex(const MDBX_env* env, const MDBX_txn* txn, MDBX_envinfo* info,
                     size_t bytes) try {
  if (env == nullptr && txn != nullptr) env = txn->env;
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  if (txn != nullptr) {
    const int code = MDBX_txn::check(txn, MDBX_TXN_BLOCKED & ~MDBX_TXN_ERROR);
    if (code != MDBX_SUCCESS) return code;
  }
  // Older programs know no more than what is before these.
  const bool whole = bytes == sizeof(MDBX_envinfo);
  if (info == nullptr || (!whole && bytes != offsetof(MDBX_envinfo, mi_dxbid) &&
                          bytes != offsetof(MDBX_envinfo, mi_pgop_stat) &&
                          bytes != offsetof(MDBX_envinfo, mi_bootid))) {
    return MDBX_EINVAL;
  }
  MDBX_env& mine = *const_cast<MDBX_env*>(env);
  MDBX_envinfo all;
  memset(&all, 0, sizeof(all));
  hawthorn::Db* db = nullptr;
  std::shared_ptr<hawthorn::Db> keep;
  if (const int code = mine.view(&db, &keep); code != MDBX_SUCCESS) return code;
  const hawthorn::Stats stats = db->stats();
  const uint64_t used = stats.disk_bytes_reachable + stats.memory_delta_bytes;
  const Geometry& geometry = mine.geometry;
  all.mi_geo.lower = geometry.lower;
  all.mi_geo.upper = geometry.upper != 0 ? geometry.upper : uint64_t{1} << 47;
  all.mi_geo.current = std::max({stats.disk_bytes_allocated, geometry.now, geometry.lower});
  all.mi_geo.shrink = geometry.shrink;
  all.mi_geo.grow = geometry.growth;
  all.mi_mapsize = all.mi_geo.current;
#if HAWTHORN_MDBX_API >= 14
  all.mi_dxb_fsize = all.mi_dxb_fallocated = stats.disk_bytes_allocated;
  all.mi_sys_upcblk = all.mi_sys_ioblk = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
#endif
  all.mi_last_pgno = used / mine.page_bytes;
  if (!mine.writes()) {
    if (const int code = mdbx_shim::newest_txnid(*db, &all.mi_recent_txnid); code != MDBX_SUCCESS) {
      return code;
    }
  } else {
    all.mi_recent_txnid = mine.last_txnid.load(std::memory_order_acquire);
  }
  all.mi_meta_txnid[0] = all.mi_recent_txnid;
  all.mi_latter_reader_txnid = all.mi_self_latter_reader_txnid = all.mi_recent_txnid;
  {
    const std::lock_guard<std::mutex> guard(mine.mutex);
    for (MDBX_txn* const reader : mine.readers) {
      all.mi_self_latter_reader_txnid = std::min(
          all.mi_self_latter_reader_txnid, reader->begun_behind.load(std::memory_order_relaxed));
    }
    all.mi_latter_reader_txnid = all.mi_self_latter_reader_txnid;
    all.mi_maxreaders = mine.reader_limit();
    all.mi_numreaders =
        static_cast<uint32_t>(mine.readers.size() + mine.dormant.size() + stats.followers.size());
  }
  all.mi_dxb_pagesize = static_cast<uint32_t>(mine.page_bytes);
  all.mi_sys_pagesize = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  all.mi_unsync_volume = mine.unsynced_bytes.load();
  all.mi_autosync_threshold = mine.sync_bytes;
  all.mi_autosync_period_seconds16dot16 = static_cast<uint32_t>(mine.sync_period);
  all.mi_since_sync_seconds16dot16 =
      mdbx_shim::seconds_16dot16(std::chrono::steady_clock::now() - mine.synced_at.load());
  all.mi_mode = mine.flags;
  const std::string id = db->id();
  for (size_t i = 0; i < id.size() && i < 32; ++i) {
    uint64_t& half = i < 16 ? all.mi_dxbid.x : all.mi_dxbid.y;
    half = half << 4 | static_cast<uint64_t>(id[i] <= '9' ? id[i] - '0' : (id[i] | 32) - 'a' + 10);
  }
  memcpy(static_cast<void*>(info), &all, bytes);
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_sync_ex(MDBX_env* env, bool force, bool nonblock) try {
  const int code = check_env(env, true);
  return code != MDBX_SUCCESS ? code : env->sync(force, nonblock);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_set_flags(MDBX_env* env, MDBX_env_flags_t flags, bool onoff) try {
  if (const int code = check_env(env, false); code != MDBX_SUCCESS) return code;
  if (unsigned{flags} & ~(env->is_open() ? kChangeableFlags : kFlagsOfOpen)) return MDBX_EPERM;
  if (env->flags & MDBX_RDONLY) return MDBX_EACCESS;
  const bool own = env->writer.held_by_this_thread();
  if (env->is_open() && !own) env->writer.lock(true);
  env->flags = onoff ? env->flags | flags : env->flags & ~unsigned{flags};
  if (env->is_open() && !own) env->writer.unlock();
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_get_flags(const MDBX_env* env, unsigned* flags) {
  if (const int code = check_env(env, false); code != MDBX_SUCCESS) return code;
  if (flags == nullptr) return MDBX_EINVAL;
  *flags = env->flags & kFlagsOfOpen;
  return MDBX_SUCCESS;
}

int mdbx_env_get_path(const MDBX_env* env, const char** dest) {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  if (dest == nullptr) return MDBX_EINVAL;
  *dest = env->path.c_str();
  return MDBX_SUCCESS;
}

int mdbx_env_get_fd(const MDBX_env* env, mdbx_filehandle_t* fd) {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  if (fd == nullptr) return MDBX_EINVAL;
  // There are several files, which are the engine's.
  *fd = -1;
  return MDBX_ENOSYS;
}

int mdbx_env_set_userctx(MDBX_env* env, void* ctx) {
  if (const int code = check_env(env, false); code != MDBX_SUCCESS) return code;
  env->userctx = ctx;
  return MDBX_SUCCESS;
}

void* mdbx_env_get_userctx(const MDBX_env* env) HAWTHORN_MDBX_NOTHROW {
  return env != nullptr ? env->userctx : nullptr;
}

int mdbx_env_set_option(MDBX_env* env, const MDBX_option_t option, uint64_t value) try {
  if (const int code = check_env(env, false); code != MDBX_SUCCESS) return code;
  const bool standard = value == UINT64_MAX;
  switch (option) {
    case MDBX_opt_max_db:
      if (env->is_open()) return MDBX_EPERM;
      if (standard) value = 42;
      if (value > MDBX_MAX_DBI) return MDBX_EINVAL;
      env->max_dbi = static_cast<MDBX_dbi>(value) + mdbx_shim::kCoreDbis;
      return MDBX_SUCCESS;
    case MDBX_opt_max_readers:
      if (env->is_open()) return MDBX_EPERM;
      if (!standard && (value < 1 || value > 32767)) return MDBX_EINVAL;
      env->max_readers = standard ? 0 : static_cast<unsigned>(value);
      return MDBX_SUCCESS;
    case MDBX_opt_sync_bytes:
      if (env->flags & MDBX_RDONLY) return MDBX_EACCESS;
      env->sync_bytes = standard ? 0 : value;
      return MDBX_SUCCESS;
    case MDBX_opt_sync_period:
      if (env->flags & MDBX_RDONLY) return MDBX_EACCESS;
      if (!standard && value > UINT32_MAX) return MDBX_EINVAL;
      env->sync_period = standard ? 0 : value;
      return MDBX_SUCCESS;
    case MDBX_opt_hawthorn_memory:
      if (!standard && value < kMemoryMin) return MDBX_EINVAL;
      env->memory_bytes = standard ? 0 : value;
      if (env->db == nullptr || standard) return MDBX_SUCCESS;
      return mdbx_shim::to_code(env->db->set_memory_budget(value));
    default:
      break;
  }
  const auto number = static_cast<unsigned>(option);
  if (number >= std::size(env->page_options) || number > mdbx_shim::kLastOption) {
    return MDBX_EINVAL;
  }
  env->page_options[number] = standard ? 0 : value;
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_get_option(const MDBX_env* env, const MDBX_option_t option, uint64_t* pvalue) try {
  if (const int code = check_env(env, false); code != MDBX_SUCCESS) return code;
  if (pvalue == nullptr) return MDBX_EINVAL;
  switch (option) {
    case MDBX_opt_max_db:
      *pvalue = env->max_dbi - mdbx_shim::kCoreDbis;
      return MDBX_SUCCESS;
    case MDBX_opt_max_readers:
      *pvalue = env->reader_limit();
      return MDBX_SUCCESS;
    case MDBX_opt_sync_bytes:
      *pvalue = env->sync_bytes;
      return MDBX_SUCCESS;
    case MDBX_opt_sync_period:
      *pvalue = env->sync_period;
      return MDBX_SUCCESS;
    case MDBX_opt_hawthorn_memory:
      *pvalue = env->memory_budget();
      return MDBX_SUCCESS;
    default:
      break;
  }
  const auto number = static_cast<unsigned>(option);
  if (number > mdbx_shim::kLastOption) return MDBX_EINVAL;
  *pvalue = env->page_options[number];
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_set_geometry(MDBX_env* env, intptr_t size_lower, intptr_t size_now,
                          intptr_t size_upper, intptr_t growth_step, intptr_t shrink_threshold,
                          intptr_t pagesize) try {
  if (const int code = check_env(env, false); code != MDBX_SUCCESS) return code;
  if (env->flags & MDBX_RDONLY) return env->is_open() ? int{MDBX_EACCESS} : int{MDBX_SUCCESS};
  if (pagesize > 0) {
    const auto page = static_cast<uint64_t>(pagesize);
    if (page < MDBX_MIN_PAGESIZE || page > MDBX_MAX_PAGESIZE || (page & (page - 1)) != 0) {
      return MDBX_EINVAL;
    }
    if (env->is_open() && page != env->page_bytes) return MDBX_EINVAL;
    env->page_bytes = page;
  }
  Geometry wanted = env->geometry;
  const auto set = [](uint64_t* field, intptr_t value) {
    if (value >= 0) *field = static_cast<uint64_t>(value);
  };
  set(&wanted.lower, size_lower);
  set(&wanted.now, size_now);
  // The largest that there is, or anything near it, is no bound.
  if (size_upper >= 0) {
    wanted.upper = size_upper >= intptr_t{1} << 46 ? 0 : static_cast<uint64_t>(size_upper);
  }
  set(&wanted.growth, growth_step);
  set(&wanted.shrink, shrink_threshold);
  if (wanted.upper != 0 && wanted.lower > wanted.upper) return MDBX_EINVAL;
  if (!env->is_open()) {
    env->geometry = wanted;
    env->geometry_set = true;
    return MDBX_SUCCESS;
  }
  if (wanted.upper != 0 && env->used_bytes() > wanted.upper) return MDBX_MAP_FULL;
  return env->change_geometry(wanted);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_env_set_hsr(MDBX_env* env, mdbx_shim::PointerTo<MDBX_hsr_func> hsr_callback) {
  if (const int code = check_env(env, false); code != MDBX_SUCCESS) return code;
  env->hsr = hsr_callback;
  return MDBX_SUCCESS;
}

mdbx_shim::PointerTo<MDBX_hsr_func> mdbx_env_get_hsr(const MDBX_env* env) HAWTHORN_MDBX_NOTHROW {
  return check_env(env, false) == MDBX_SUCCESS ? env->hsr : nullptr;
}

int mdbx_env_warmup(const MDBX_env* env, const MDBX_txn* txn, MDBX_warmup_flags_t flags,
                    unsigned) try {
  if (env == nullptr && txn != nullptr) env = txn->env;
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  constexpr unsigned kKnown = MDBX_warmup_force | MDBX_warmup_oomsafe | MDBX_warmup_lock |
                              MDBX_warmup_touchlimit | MDBX_warmup_release;
  if (unsigned{flags} & ~kKnown) return MDBX_EINVAL;
  if (flags & MDBX_warmup_release) return MDBX_SUCCESS;
  hawthorn::Db* db = nullptr;
  std::shared_ptr<hawthorn::Db> keep;
  if (const int code = const_cast<MDBX_env*>(env)->view(&db, &keep); code != MDBX_SUCCESS) {
    return code;
  }
  return mdbx_shim::to_code(db->warm_up());
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_lock(MDBX_env* env, bool dont_wait) try {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  if (env->flags & MDBX_RDONLY) return MDBX_EACCESS;
  if (env->writer.held_by_this_thread()) return MDBX_BUSY;
  return env->writer.lock(!dont_wait) ? MDBX_SUCCESS : MDBX_BUSY;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_txn_unlock(MDBX_env* env) try {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  if (!env->writer.held_by_this_thread() || env->write_txn != nullptr) return MDBX_THREAD_MISMATCH;
  env->writer.unlock();
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_reader_list(const MDBX_env* env, mdbx_shim::PointerTo<MDBX_reader_list_func> func,
                     void* ctx) try {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  if (func == nullptr) return MDBX_EINVAL;
  struct Row {
    mdbx_pid_t pid;
    mdbx_tid_t thread;
    uint64_t txnid;
  };
  std::vector<Row> rows;
  MDBX_env& mine = *const_cast<MDBX_env*>(env);
  const uint64_t newest = mine.last_txnid.load(std::memory_order_acquire);
  {
    const std::lock_guard<std::mutex> guard(mine.mutex);
    for (MDBX_txn* const reader : mine.readers) {
      rows.push_back(
          {mine.pid, reader->owner_thread, reader->begun_behind.load(std::memory_order_relaxed)});
    }
    for (const MDBX_txn* reader : mine.dormant) rows.push_back({mine.pid, reader->owner_thread, 0});
  }
  if (mine.writes()) {
    for (const hawthorn::FollowerStats& other : mine.db->stats().followers) {
      rows.push_back({static_cast<mdbx_pid_t>(other.pid), {}, newest});
    }
  }
  if (rows.empty()) return MDBX_RESULT_TRUE;
  int number = 0;
  for (const Row& row : rows) {
    ++number;
    const uint64_t lag = row.txnid != 0 ? newest - std::min(newest, row.txnid) : 0;
    const int code = func(ctx, number, number - 1, row.pid, row.thread, row.txnid, lag, 0, 0);
    if (code != MDBX_SUCCESS) return code;
  }
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_reader_check(MDBX_env* env, int* dead) {
  if (dead != nullptr) *dead = 0;
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  // A process that dies leaves none: the kernel has its lock.
  return MDBX_SUCCESS;
}

int mdbx_thread_register(const MDBX_env* env) {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  return env->flags & MDBX_NOSTICKYTHREADS ? int{MDBX_RESULT_TRUE} : int{MDBX_SUCCESS};
}

int mdbx_thread_unregister(const MDBX_env* env) {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  return env->flags & MDBX_NOSTICKYTHREADS ? int{MDBX_RESULT_TRUE} : int{MDBX_SUCCESS};
}

#if HAWTHORN_MDBX_API >= 14
int mdbx_env_defrag(MDBX_env* env, size_t, size_t, size_t, size_t, intptr_t, intptr_t,
                    MDBX_defrag_notify_func progress_callback, void* ctx,
                    MDBX_defrag_result_t* result) try {
  if (const int code = check_env(env, true); code != MDBX_SUCCESS) return code;
  if (!env->writes()) return MDBX_EACCESS;
  MDBX_defrag_result_t done;
  memset(&done, 0, sizeof(done));
  const auto began = std::chrono::steady_clock::now();
  const uint64_t before = env->used_bytes();
  const hawthorn::Status s = env->db->compact();
  const uint64_t after = env->used_bytes();
  done.pages_whole = after / env->page_bytes;
  done.pages_shrinked = static_cast<intptr_t>((before - std::min(before, after)) / env->page_bytes);
  done.rough_estimation_cycle_progress_permille = 1000;
  done.cycles = 1;
  done.spent_time_dot16 = mdbx_shim::seconds_16dot16(std::chrono::steady_clock::now() - began);
  if (progress_callback != nullptr) progress_callback(ctx, &done);
  if (result != nullptr) *result = done;
  return mdbx_shim::to_code(s);
} catch (...) {
  return mdbx_shim::exception_code();
}
#endif
