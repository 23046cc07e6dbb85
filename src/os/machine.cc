#include "os/machine.h"

#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <new>

#include "os/delays.h"
#include "os/fork.h"
#include "os/posix_file.h"
#include "os/schedule.h"

namespace hawthorn::os {
namespace {

constexpr uint64_t kUsPerSecond = 1000000;
// The background's writes that are at the device at once, most of them 0.5 to 1 MB. Four keep a
// disk busy; with 16 the log had to wait 0.2 s for its turn, and commits for the log.
constexpr uint32_t kIoThreads = 4;

uint64_t read_clock(clockid_t clock) {
  delay_point(Seam::kLock);
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * kUsPerSecond +
         static_cast<uint64_t>(now.tv_nsec) / 1000;
}

class RealClock : public Clock {
 public:
  uint64_t monotonic_us() override { return read_clock(CLOCK_MONOTONIC); }
  uint64_t wall_us() override { return read_clock(CLOCK_REALTIME); }
  void sleep_us(uint64_t us) override {
    timespec rest;
    rest.tv_sec = static_cast<time_t>(us / kUsPerSecond);
    rest.tv_nsec = static_cast<long>(us % kUsPerSecond) * 1000;
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR) {
    }
  }
};

class RealRandom : public Random {
 public:
  uint64_t next() override {
    uint64_t number = 0;
    // Up to 256 bytes arrive whole; only a signal before the kernel's pool is ready interrupts.
    while (getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
      if (errno == EINTR) continue;
      // No such call (a seccomp filter): the clocks and the process still make numbers that differ.
      return read_clock(CLOCK_REALTIME) * 0x9e3779b97f4a7c15 ^ read_clock(CLOCK_MONOTONIC) ^
             (static_cast<uint64_t>(getpid()) << 40);
    }
    return number;
  }
};

const Machine* make_real_machine() {
  Io* const io = make_pool_io(kIoThreads).release();
  return new Machine{
      .files = &posix_file_system(),
      .io = io,
      .queues = make_io_queues(io).release(),
      .clock = new RealClock,
      .random = new RealRandom,
      .background_threads = true,
  };
}

struct Made {
  Mutex mutex;
  const Machine* machine GUARDED_BY(mutex) = nullptr;
};
constinit Made the_machine;

[[maybe_unused]] const bool machine_begins_anew = [] {
  at_fork_in_child([] { new (&the_machine) Made; });
  return true;
}();

}  // namespace

uint32_t processors() {
  if (Schedule* const by = this_schedule(); by != nullptr) return by->processors();
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return static_cast<uint32_t>(std::max(1, CPU_COUNT(&allowed)));
}

// Never destroyed: databases in static variables may outlive anything that is. A child of fork,
// which has none of its parent's threads, gets another one.
const Machine& real_machine() {
  MutexLock lock(the_machine.mutex);
  if (the_machine.machine == nullptr) the_machine.machine = make_real_machine();
  return *the_machine.machine;
}

}  // namespace hawthorn::os
