#include "tests/environment/calls.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace hawthorn::tests {
namespace {

constexpr int kOpen[] = {
#ifdef SYS_open
    SYS_open, SYS_creat,
#endif
    SYS_openat};
constexpr int kCreate[] = {SYS_openat};
constexpr int kRead[] = {SYS_pread64, SYS_preadv, SYS_preadv2};
constexpr int kWrite[] = {SYS_pwrite64, SYS_pwritev, SYS_pwritev2};
constexpr int kSync[] = {SYS_fsync, SYS_fdatasync, SYS_msync};
constexpr int kAllocate[] = {SYS_fallocate};
constexpr int kTruncate[] = {SYS_ftruncate};
constexpr int kStat[] = {
#ifdef SYS_stat
    SYS_stat, SYS_lstat,
#endif
    SYS_fstat, SYS_newfstatat, SYS_statx};
constexpr int kStatfs[] = {SYS_fstatfs, SYS_statfs};
constexpr int kRename[] = {
#ifdef SYS_rename
    SYS_rename, SYS_renameat,
#endif
    SYS_renameat2};
constexpr int kRemove[] = {
#ifdef SYS_unlink
    SYS_unlink,
#endif
    SYS_unlinkat};
constexpr int kMakeDirectory[] = {
#ifdef SYS_mkdir
    SYS_mkdir,
#endif
    SYS_mkdirat};
constexpr int kList[] = {SYS_getdents64};
constexpr int kLock[] = {SYS_fcntl, SYS_flock};
constexpr int kDescriptor[] = {SYS_fcntl};
constexpr int kMap[] = {SYS_mmap, SYS_mremap};
constexpr int kAdvise[] = {SYS_madvise};
constexpr int kClone[] = {SYS_clone};
constexpr int kMembarrier[] = {SYS_membarrier};
constexpr int kRingSetup[] = {SYS_io_uring_setup};
constexpr int kRingEnter[] = {SYS_io_uring_enter};
constexpr int kRandom[] = {SYS_getrandom};
constexpr int kControl[] = {SYS_ioctl};

constexpr Refusal kOpenErrors[] = {{EMFILE}, {ENFILE}, {ENOMEM},   {EACCES},
                                   {EPERM},  {EINTR},  {EIO, true}};
constexpr Refusal kCreateErrors[] = {{ENOSPC}, {EDQUOT}, {EROFS}};
constexpr Refusal kReadErrors[] = {{EINTR}, {ENOMEM}, {EIO, true}};
constexpr Refusal kWriteErrors[] = {{EINTR}, {ENOSPC}, {EDQUOT}, {EFBIG}, {EIO, true}};
constexpr Refusal kSyncErrors[] = {{EIO, true}, {ENOSPC, true}, {EDQUOT, true}};
constexpr Refusal kAllocateErrors[] = {{ENOSPC}, {EDQUOT},     {EFBIG},  {EPERM},
                                       {EINTR},  {EOPNOTSUPP}, {ENOSYS}, {EIO, true}};
constexpr Refusal kTruncateErrors[] = {{EINTR}, {EFBIG}, {EPERM}, {EIO, true}};
constexpr Refusal kStatErrors[] = {{EACCES}, {ENOMEM}, {EIO, true}};
constexpr Refusal kStatfsErrors[] = {{EACCES}, {EINTR}, {ENOMEM}, {ENOSYS}, {EIO, true}};
constexpr Refusal kNameErrors[] = {{ENOSPC}, {EDQUOT}, {EACCES}, {EPERM}, {ENOMEM}, {EIO, true}};
constexpr Refusal kListErrors[] = {{ENOMEM}, {EIO, true}};
constexpr Refusal kLockErrors[] = {{ENOLCK}, {EINTR}, {EACCES}};
constexpr Refusal kDescriptorErrors[] = {{EMFILE}};
constexpr Refusal kMapErrors[] = {{ENOMEM}};
constexpr Refusal kAdviseErrors[] = {{ENOMEM}, {EPERM}, {EINVAL}};
constexpr Refusal kThreadErrors[] = {{EAGAIN}, {EPERM}};
constexpr Refusal kForkErrors[] = {{EAGAIN}, {ENOMEM}};
constexpr Refusal kMissingErrors[] = {{ENOSYS}, {EPERM}};
constexpr Refusal kRingSetupErrors[] = {{ENOSYS}, {EPERM}, {ENOMEM}, {EMFILE}};
constexpr Refusal kRingEnterErrors[] = {{EINTR}, {EAGAIN}, {EBUSY}};
constexpr Refusal kControlErrors[] = {{ENOTTY}, {EPERM}};

constexpr CallKind kKinds[] = {
    {"open", kOpen, kOpenErrors, 180},
    {"create", kCreate, kCreateErrors, 60},
    {"read", kRead, kReadErrors, 190},
    {"write", kWrite, kWriteErrors, 210},
    {"sync", kSync, kSyncErrors, 180},
    {"allocate", kAllocate, kAllocateErrors, 30},
    {"truncate", kTruncate, kTruncateErrors, 15},
    {"stat", kStat, kStatErrors, 350},
    {"statfs", kStatfs, kStatfsErrors, 40},
    {"rename", kRename, kNameErrors, 20},
    {"remove", kRemove, kNameErrors, 40},
    {"mkdir", kMakeDirectory, kNameErrors, 3},
    {"list", kList, kListErrors, 75},
    {"lock", kLock, kLockErrors, 16},
    {"descriptor", kDescriptor, kDescriptorErrors, 5},
    {"map", kMap, kMapErrors, 100},
    {"advise", kAdvise, kAdviseErrors, 36},
    {"thread", kClone, kThreadErrors, 50},
    {"fork", kClone, kForkErrors, 2},
    {"membarrier", kMembarrier, kMissingErrors, 130},
    {"ring-setup", kRingSetup, kRingSetupErrors, 3},
    {"ring-enter", kRingEnter, kRingEnterErrors, 3},
    {"random", kRandom, kMissingErrors, 22},
    {"control", kControl, kControlErrors, 20},
};

struct Name {
  int error;
  std::string_view name;
};
constexpr Name kNames[] = {
    {EACCES, "EACCES"}, {EAGAIN, "EAGAIN"}, {EBUSY, "EBUSY"},           {EDQUOT, "EDQUOT"},
    {EFBIG, "EFBIG"},   {EINTR, "EINTR"},   {EINVAL, "EINVAL"},         {EIO, "EIO"},
    {EMFILE, "EMFILE"}, {ENFILE, "ENFILE"}, {ENOLCK, "ENOLCK"},         {ENOMEM, "ENOMEM"},
    {ENOSPC, "ENOSPC"}, {ENOSYS, "ENOSYS"}, {EOPNOTSUPP, "EOPNOTSUPP"}, {ENOTTY, "ENOTTY"},
    {EPERM, "EPERM"},   {EROFS, "EROFS"},
};

bool is_lock(uint64_t command) {
  return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
         command == F_OFD_SETLKW;
}

}  // namespace

std::span<const CallKind> call_kinds() { return kKinds; }

const CallKind* find_call_kind(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kKinds, [&](const CallKind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

std::string_view error_name(int error) {
  for (const Name& name : kNames) {
    if (name.error == error) return name.name;
  }
  return {};
}

int error_of_name(std::string_view text) {
  for (const Name& name : kNames) {
    if (name.name == text) return name.error;
  }
  return 0;
}

bool is_of_kind(const CallKind& kind, const seccomp_data& call) {
  if (kind.name == "create") return (call.args[2] & O_CREAT) != 0;
  if (kind.name == "lock") return call.nr == SYS_flock || is_lock(call.args[1]);
  if (kind.name == "descriptor") {
    return call.args[1] == F_DUPFD || call.args[1] == F_DUPFD_CLOEXEC;
  }
  if (kind.name == "thread") return (call.args[0] & CLONE_THREAD) != 0;
  if (kind.name == "fork") return (call.args[0] & CLONE_THREAD) == 0;
  return true;
}

int ask_before_calls(const CallKind& kind) {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  const auto answer = [&](int number, uint32_t action) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, action));
  };
  for (const int number : kind.numbers) answer(number, SECCOMP_RET_USER_NOTIF);
  // Its flags lie in memory, where they cannot be seen from here: the C library calls clone then.
  if (std::ranges::find(kind.numbers, SYS_clone) != kind.numbers.end()) {
    answer(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {.len = static_cast<unsigned short>(program.size()),
                             .filter = program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

}  // namespace hawthorn::tests
