#include "tests/environment/taking.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {
std::atomic<int64_t> clock_is_off{0};  // seconds
}

// In the place of the C library's: reading a clock is no system call that could be answered
// otherwise.
extern "C" {
int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const bool is_time_of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && is_time_of_day) time->tv_sec += clock_is_off.load(std::memory_order_relaxed);
  return result;
}

int gettimeofday(timeval* __restrict time, void* __restrict) noexcept {
  timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* to) noexcept {
  timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}
}

namespace hawthorn::tests {
namespace {

constexpr rlim_t kKb = 1024;

// Below it `left` numbers are free.
rlim_t limit_with_free_descriptors(uint64_t left) {
  constexpr int kNumbersMax = 4096;
  for (int fd = 0; fd < kNumbersMax; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && left-- == 0) return static_cast<rlim_t>(fd);
  }
  return kNumbersMax;
}

rlim_t address_space() {
  char text[100] = {};
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t got = read(fd, text, sizeof(text) - 1);
  close(fd);
  return got <= 0 ? 0 : strtoull(text, nullptr, 10) * static_cast<rlim_t>(getpagesize());
}

}  // namespace

Taking::Taking(const Case& shortage, const std::string& directory, const std::string& store)
    : case_(shortage),
      directory_(directory),
      store_(store),
      moved_(store + ".moved"),
      filler_(directory + "/filler") {}

bool Taking::limit(int resource, rlim_t value) {
  if (getrlimit(static_cast<__rlimit_resource>(resource), &before_) != 0) return false;
  rlimit less = before_;
  less.rlim_cur = std::min(value, before_.rlim_max);
  limited_ = resource;
  return setrlimit(static_cast<__rlimit_resource>(resource), &less) == 0;
}

bool Taking::fill_disk() const {
  const int fd = open(filler_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  struct statvfs info;
  off_t end = 0;
  // What the file system says is free may be less than what it gives.
  for (uint64_t part = 1; part < 1000 && fstatvfs(fd, &info) == 0;) {
    const uint64_t left = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
    const uint64_t more = left > case_.amount * kKb ? (left - case_.amount * kKb) / part : 0;
    if (more < 4 * kKb) break;
    if (fallocate(fd, 0, end, static_cast<off_t>(more)) == 0) {
      end += static_cast<off_t>(more);
    } else {
      part *= 2;
    }
  }
  fsync(fd);
  return close(fd) == 0;
}

bool Taking::take() {
  switch (case_.shortage) {
    case Shortage::kDescriptors:
      return limit(RLIMIT_NOFILE, limit_with_free_descriptors(case_.amount));
    case Shortage::kFileSize:
      return limit(RLIMIT_FSIZE, case_.amount * kKb);
    case Shortage::kMemory:
      return limit(RLIMIT_AS, address_space() + case_.amount * kKb);
    case Shortage::kThreads:
      return limit(RLIMIT_NPROC, 0);
    case Shortage::kDisk:
      return fill_disk();
    case Shortage::kChdir:
      return chdir("/") == 0;
    case Shortage::kRename:
      return rename(store_.c_str(), moved_.c_str()) == 0 || errno == ENOENT;
    case Shortage::kClock:
      clock_is_off.store(static_cast<int64_t>(case_.amount));
      return true;
    case Shortage::kClockBack:
      clock_is_off.store(-static_cast<int64_t>(case_.amount));
      return true;
    default:
      return true;
  }
}

bool Taking::give_back() {
  if (limited_ >= 0) return setrlimit(static_cast<__rlimit_resource>(limited_), &before_) == 0;
  switch (case_.shortage) {
    case Shortage::kDisk:
      return unlink(filler_.c_str()) == 0 || errno == ENOENT;
    case Shortage::kChdir:
      return chdir(directory_.c_str()) == 0;
    case Shortage::kRename:
      return rename(moved_.c_str(), store_.c_str()) == 0 || errno == ENOENT;
    case Shortage::kClock:
    case Shortage::kClockBack:
      clock_is_off.store(0);
      return true;
    default:
      return true;
  }
}

const std::string& Taking::store() const {
  const bool moved = case_.shortage == Shortage::kRename && access(moved_.c_str(), F_OK) == 0;
  return moved ? moved_ : store_;
}

std::string prepare_process(const Case& shortage, const std::string& directory) {
  signal(SIGXFSZ, SIG_IGN);
  if (shortage.shortage == Shortage::kThreads) {
    // Root has no limit; and the limit counts all processes of a user.
    if (geteuid() != 0) return "another user: only root can be one";
    const auto user = static_cast<uid_t>(2'000'000'000 + getpid());
    if (chown(directory.c_str(), user, user) != 0 || setgroups(0, nullptr) != 0 ||
        setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) {
      return "another user";
    }
    // A directory above may keep others out.
    if (access(directory.c_str(), R_OK | W_OK | X_OK) != 0) return "another user's directory";
    // Both go with the user.
    prctl(PR_SET_DUMPABLE, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  if (shortage.shortage == Shortage::kDisk) {
    if (geteuid() != 0) return "a file system: only root can mount one";
    // It goes with the last process that sees it.
    if (unshare(CLONE_NEWNS) != 0) return "a file system: no mounts of its own";
    const std::string image = directory + ".image";
    const std::string options = shortage.file_system == "ext4" ? " -m 0" : "";
    const std::string command = "{ mount --make-rprivate / && truncate -s 160M " + image +
                                " && mkfs." + shortage.file_system + " -q" + options + " " + image +
                                " && mount -o loop " + image + " " + directory +
                                "; code=$?; rm -f " + image + "; exit $code; } >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) return "a file system: it cannot be made and mounted";
  }
  return {};
}

}  // namespace hawthorn::tests
