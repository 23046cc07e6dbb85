// The functions of environments.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "shims/mdbx/src/copy.h"
#include "shims/mdbx/src/lmdb/layer.h"

namespace hawthorn::lmdb {
namespace {

constexpr unsigned kChangeable = MDB_NOSYNC | MDB_NOMETASYNC | MDB_MAPASYNC | MDB_NOMEMINIT;
constexpr unsigned kOfOpen = kChangeable | MDB_FIXEDMAP | MDB_NOSUBDIR | MDB_RDONLY | MDB_WRITEMAP |
                             MDB_NOTLS | MDB_NOLOCK | MDB_NORDAHEAD;
constexpr unsigned kReadersMax = 1U << 20;

// ENOENT, ENOTDIR, MDB_INVALID: there cannot be a database.
int check_path(const char* path, unsigned flags) {
  struct stat there{};
  if (stat(path, &there) != 0) {
    const int code = errno;
    if (code != ENOENT || !(flags & MDB_NOSUBDIR) || (flags & MDB_RDONLY)) return code;
    // It is made, and what it lies in is not.
    const std::string above = std::filesystem::path(path).parent_path().string();
    return above.empty() || stat(above.c_str(), &there) == 0 ? MDB_SUCCESS : errno;
  }
  if (S_ISDIR(there.st_mode)) return MDB_SUCCESS;
  return flags & MDB_NOSUBDIR ? MDB_INVALID : ENOTDIR;
}

int copy_to_path(MDB_env* env, const char* path, unsigned flags) {
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  if (path == nullptr || (flags & ~unsigned{MDB_CP_COMPACT})) return EINVAL;
  // The directory is there, as in LMDB, unless the environment has none of its own.
  struct stat there{};
  if (!(core(env)->asked & MDB_NOSUBDIR)) {
    if (stat(path, &there) != 0) return errno;
    if (!S_ISDIR(there.st_mode)) return ENOTDIR;
  } else if (stat(path, &there) == 0 && !S_ISDIR(there.st_mode)) {
    return EEXIST;
  }
  return answer(mdbx::copy_environment(*core(env), path, 0));
}

int copy_to_file(MDB_env* env, int fd, unsigned flags) {
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  if (flags & ~unsigned{MDB_CP_COMPACT}) return EINVAL;
  return answer(mdbx::copy_environment(*core(env), fd, 0));
}

// The size that was set, or the one that the database was last opened with, or the default.
int settle_map_size(Env& env) {
  if (!env.writes()) return MDB_SUCCESS;
  auto wanted = env.geometry;
  if (wanted.upper == 0) wanted.upper = kDefaultMapSize;
  wanted.upper = std::max(wanted.upper, env.used_bytes());
  if (wanted.upper == env.geometry.upper) return MDB_SUCCESS;
  return answer(env.change_geometry(wanted));
}

}  // namespace

Env::~Env() {
  if (directory >= 0) ::close(directory);
}

int Env::check(const MDB_env* env, bool open) {
  if (env == nullptr) return EINVAL;
  const Env& mine = *core(env);
  if (mine.signature != mdbx::kEnvironmentSignature) return EINVAL;
  if (mine.died || mine.inherited()) return MDB_PANIC;
  return open && !mine.is_open() ? EINVAL : MDB_SUCCESS;
}

void Env::take_flags(unsigned lmdb_flags) {
  asked = lmdb_flags;
  unsigned same = lmdb_flags & (MDB_NOSUBDIR | MDB_RDONLY | MDB_NOTLS | MDB_NOMETASYNC);
  const bool lazy = (lmdb_flags & MDB_MAPASYNC) && (lmdb_flags & MDB_WRITEMAP);
  if ((lmdb_flags & MDB_NOSYNC) || lazy) same |= MDBX_SAFE_NOSYNC;
  flags = same;
}

}  // namespace hawthorn::lmdb

using hawthorn::lmdb::answer;
using hawthorn::lmdb::core;
using hawthorn::lmdb::Env;
namespace lmdb_shim = hawthorn::lmdb;

static_assert(MDB_NOSUBDIR == MDBX_NOSUBDIR && MDB_RDONLY == MDBX_RDONLY);
static_assert(MDB_NOTLS == MDBX_NOSTICKYTHREADS && MDB_NOMETASYNC == MDBX_NOMETASYNC);

int mdb_env_create(MDB_env** env) try {
  if (env == nullptr) return EINVAL;
  *env = reinterpret_cast<MDB_env*>(new Env());
  return MDB_SUCCESS;
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_open(MDB_env* env, const char* path, unsigned int flags, mdb_mode_t mode) try {
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  Env& mine = *core(env);
  if (path == nullptr || mine.is_open() || (flags & ~lmdb_shim::kOfOpen)) return EINVAL;
  flags |= mine.asked;
  if (const int code = lmdb_shim::check_path(path, flags); code != MDB_SUCCESS) return code;
  if (flags & MDB_RDONLY) flags &= ~unsigned{MDB_WRITEMAP};
  mine.take_flags(flags);
  const int code = mine.open(path, mine.flags, mode);
  return code == MDBX_SUCCESS ? lmdb_shim::settle_map_size(mine) : answer(code);
} catch (...) {
  return lmdb_shim::exception_code();
}

void mdb_env_close(MDB_env* env) try {
  if (env == nullptr || core(env)->signature != hawthorn::mdbx::kEnvironmentSignature) return;
  Env* const mine = core(env);
  // Whoever closes it: transactions are to be gone.
  mine->flags |= MDBX_NOSTICKYTHREADS;
  static_cast<void>(mine->close(false));
  mine->signature = 0;
  // What the parent's threads wait for cannot be destroyed.
  if (!mine->inherited()) delete mine;
} catch (...) {
  return;
}

int mdb_env_copy(MDB_env* env, const char* path) try {
  return lmdb_shim::copy_to_path(env, path, 0);
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_copy2(MDB_env* env, const char* path, unsigned int flags) try {
  return lmdb_shim::copy_to_path(env, path, flags);
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_copyfd(MDB_env* env, mdb_filehandle_t fd) try {
  return lmdb_shim::copy_to_file(env, fd, 0);
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_copyfd2(MDB_env* env, mdb_filehandle_t fd, unsigned int flags) try {
  return lmdb_shim::copy_to_file(env, fd, flags);
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_stat(MDB_env* env, MDB_stat* stat) try {
  if (stat == nullptr) return EINVAL;
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  // A moment of its own, that is no reader's.
  MDBX_txn moment(core(env), MDBX_TXN_RDONLY, nullptr);
  if (const int code = moment.begin_look(); code != MDBX_SUCCESS) return answer(code);
  return mdb_stat(reinterpret_cast<MDB_txn*>(&moment), hawthorn::mdbx::kMainDbi, stat);
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_info(MDB_env* env, MDB_envinfo* stat) try {
  if (stat == nullptr) return EINVAL;
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  Env& mine = *core(env);
  MDBX_envinfo info;
  const int code = mdbx_env_info_ex(&mine, nullptr, &info, sizeof(info));
  if (code != MDBX_SUCCESS) return answer(code);
  stat->me_mapaddr = nullptr;
  stat->me_mapsize = static_cast<size_t>(info.mi_geo.upper);
  stat->me_last_pgno = static_cast<size_t>(info.mi_last_pgno);
  stat->me_last_txnid = static_cast<size_t>(info.mi_recent_txnid);
  stat->me_maxreaders = info.mi_maxreaders;
  stat->me_numreaders = info.mi_numreaders;
  return MDB_SUCCESS;
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_sync(MDB_env* env, int force) try {
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  Env& mine = *core(env);
  if (mine.asked & MDB_RDONLY) return EACCES;
  if (!force && (mine.asked & MDB_NOSYNC)) return MDB_SUCCESS;
  return answer(mine.sync(true, false));
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_set_flags(MDB_env* env, unsigned int flags, int onoff) try {
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  if (flags & ~lmdb_shim::kChangeable) return EINVAL;
  Env& mine = *core(env);
  const bool own = mine.writer.held_by_this_thread();
  if (mine.is_open() && !own) mine.writer.lock(true);
  mine.take_flags(onoff ? mine.asked | flags : mine.asked & ~flags);
  if (mine.is_open() && !own) mine.writer.unlock();
  return MDB_SUCCESS;
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_get_flags(MDB_env* env, unsigned int* flags) {
  if (flags == nullptr) return EINVAL;
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  *flags = core(env)->asked;
  return MDB_SUCCESS;
}

int mdb_env_get_path(MDB_env* env, const char** path) {
  if (path == nullptr) return EINVAL;
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  *path = core(env)->path.c_str();
  return MDB_SUCCESS;
}

int mdb_env_get_fd(MDB_env* env, mdb_filehandle_t* fd) try {
  if (fd == nullptr) return EINVAL;
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  Env& mine = *core(env);
  const std::lock_guard<std::mutex> guard(mine.mutex);
  // The engine's files come and go; their directory stays.
  if (mine.directory < 0) {
    mine.directory = open(mine.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mine.directory < 0) return errno;
  }
  *fd = mine.directory;
  return MDB_SUCCESS;
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_set_mapsize(MDB_env* env, size_t size) try {
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  Env& mine = *core(env);
  auto wanted = mine.geometry;
  // What nobody fills is no bound.
  wanted.upper = std::min<uint64_t>(size, uint64_t{1} << 47);
  if (!mine.is_open()) {
    mine.geometry = wanted;
    mine.geometry_set = size != 0;
    return MDB_SUCCESS;
  }
  if (mine.write_txn != nullptr) return EINVAL;
  if (!mine.writes()) return MDB_SUCCESS;
  if (size == 0) wanted.upper = mine.geometry.upper;
  wanted.upper = std::max(wanted.upper, mine.used_bytes());
  return answer(mine.change_geometry(wanted));
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_env_set_maxreaders(MDB_env* env, unsigned int readers) {
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  if (core(env)->is_open() || readers < 1) return EINVAL;
  core(env)->max_readers = std::min(readers, lmdb_shim::kReadersMax);
  return MDB_SUCCESS;
}

int mdb_env_get_maxreaders(MDB_env* env, unsigned int* readers) {
  if (readers == nullptr) return EINVAL;
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  *readers = core(env)->reader_limit();
  return MDB_SUCCESS;
}

int mdb_env_set_maxdbs(MDB_env* env, MDB_dbi dbs) {
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  if (core(env)->is_open()) return EINVAL;
  const MDBX_dbi most = hawthorn::mdbx::kMaxDbis - hawthorn::mdbx::kCoreDbis;
  core(env)->max_dbi = std::min(dbs, most) + hawthorn::mdbx::kCoreDbis;
  return MDB_SUCCESS;
}

int mdb_env_get_maxkeysize(MDB_env*) { return static_cast<int>(lmdb_shim::kKeyMax); }

int mdb_env_set_userctx(MDB_env* env, void* ctx) {
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  core(env)->userctx = ctx;
  return MDB_SUCCESS;
}

void* mdb_env_get_userctx(MDB_env* env) { return env != nullptr ? core(env)->userctx : nullptr; }

int mdb_env_set_assert(MDB_env* env, MDB_assert_func* func) {
  if (const int code = Env::check(env, false); code != MDB_SUCCESS) return code;
  core(env)->on_assert = func;
  return MDB_SUCCESS;
}

int mdb_reader_list(MDB_env* env, MDB_msg_func* func, void* ctx) try {
  if (func == nullptr) return EINVAL;
  if (const int code = Env::check(env, true); code != MDB_SUCCESS) return code;
  using Lines = std::vector<std::string>;
  Lines lines;
  const int code = mdbx_reader_list(
      core(env),
      [](void* all, int, int, mdbx_pid_t pid, mdbx_tid_t thread, uint64_t txnid, uint64_t, size_t,
         size_t) noexcept {
        char line[96];
        const int head = snprintf(line, sizeof(line), "%10d %zx ", static_cast<int>(pid),
                                  static_cast<size_t>(thread));
        try {
          const std::string id = txnid != 0 ? std::to_string(txnid) : "-";
          static_cast<Lines*>(all)->push_back(std::string(line, static_cast<size_t>(head)) + id +
                                              "\n");
        } catch (...) {
          return lmdb_shim::exception_code();
        }
        return int{MDBX_SUCCESS};
      },
      &lines);
  if (code != MDBX_SUCCESS && code != MDBX_RESULT_TRUE) return answer(code);
  if (lines.empty()) return func("(no active readers)\n", ctx);
  int told = func("    pid     thread     txnid\n", ctx);
  for (size_t i = 0; told >= 0 && i < lines.size(); ++i) told = func(lines[i].c_str(), ctx);
  return told;
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_reader_check(MDB_env* env, int* dead) {
  if (dead != nullptr) *dead = 0;
  return Env::check(env, true);
}
