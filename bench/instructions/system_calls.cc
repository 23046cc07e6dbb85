#include "bench/instructions/system_calls.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace hawthorn::bench {
namespace {

constexpr uint64_t kBlock = 4096;

std::atomic<uint64_t> bytes_written{0};
std::atomic<uint64_t> syncs{0};

void count_write(uint64_t offset, long written) {
  if (written <= 0) return;
  const uint64_t end = offset + static_cast<uint64_t>(written);
  const uint64_t blocks = (end + kBlock - 1) / kBlock - offset / kBlock;
  bytes_written.fetch_add(blocks * kBlock, std::memory_order_relaxed);
}

}  // namespace

WriteCalls write_calls() { return {bytes_written.load(), syncs.load()}; }

}  // namespace hawthorn::bench

using namespace hawthorn::bench;

extern "C" {

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  const long written = syscall(SYS_pwrite64, fd, data, size, offset);
  count_write(static_cast<uint64_t>(offset), written);
  return written;
}

int fdatasync(int fd) {
  syncs.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

int fsync(int fd) {
  syncs.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(syscall(SYS_fsync, fd));
}

int msync(void* data, size_t size, int flags) {
  syncs.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(syscall(SYS_msync, data, size, flags));
}

int sched_getaffinity(pid_t, size_t size, cpu_set_t* set) noexcept {
  std::memset(set, 0, size);
  CPU_SET_S(0, size, set);
  CPU_SET_S(1, size, set);
  return 0;
}
}
