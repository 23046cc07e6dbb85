// A process that is killed by SIGKILL at any instruction loses no record that it had appended: over
// the real file system, a child appends and tells through shared memory how far it got.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "base/sanitizers.h"
#include "testing/scaled.h"
#include "testing/wait.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using test::append;
using test::kSmall;
using test::payload_of;
using test::Replayed;
using test::TempDirectory;

// What the child tells; it outlives the child.
struct Progress {
  std::atomic<uint64_t> appended{0};  // records 1..n were appended by the end of try_append
  std::atomic<uint64_t> durable{0};
  std::atomic<uint32_t> failed{0};
};

size_t size_of(uint64_t number) { return 8 + mix64(number) % (number % 16 == 0 ? 7000 : 200); }

// The child: only calls of the log, no test macros; ends by _exit or by being killed.
[[noreturn]] void run_child(const std::string& directory, const LogEpoch& epoch, Lsn keep,
                            uint64_t next, Progress& progress) {
  auto log = Log::start(os::real_machine(), directory, kSmall, epoch, format::kLsnMax, keep);
  if (!log.ok()) {
    progress.failed.store(1);
    _exit(1);
  }
  while (true) {
    Status status;
    const Lsn lsn = append(**log, payload_of(next, size_of(next)), &status);
    if (lsn == 0) break;
    progress.appended.store(next);
    if (next % 64 == 0) {
      if (!(*log)->wait_durable(lsn).ok()) break;
      progress.durable.store(next);
    }
    ++next;
  }
  progress.failed.store(2);
  _exit(2);
}

TEST(WalKill, nothing_appended_is_lost) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  const TempDirectory directory;
  void* const shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Progress& progress = *new (shared) Progress;

  const uint64_t rounds = testing::environment_number("HAWTHORN_KILL_ROUNDS", 150);
  Prng prng(testing::environment_number("HAWTHORN_SEED", 1));
  LogEpoch epoch = test::epoch_at(1, kSmall.segment_bytes);
  uint64_t first = 1;  // of this epoch
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    progress.appended.store(first - 1);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) run_child(directory.path(), epoch, epoch.start, first, progress);
    // Not before the first record; a child that ended by itself is noticed below.
    ASSERT_TRUE(testing::wait_until([&] {
      return progress.appended.load() >= first || progress.failed.load() != 0;
    })) << "the child appends nothing";
    usleep(static_cast<useconds_t>(prng.below(prng.one_in(4) ? 20000 : 2000)));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int result = 0;
    ASSERT_EQ(waitpid(child, &result, 0), child);
    ASSERT_EQ(progress.failed.load(), 0u);

    auto recovery =
        Recovery::open(os::real_machine(), directory.path(), kSmall, {epoch}, epoch.start, false);
    ASSERT_TRUE(recovery.ok()) << recovery.status().to_string();
    const Replayed found = test::replay(**recovery);
    ASSERT_OK(found.status);
    // One more than was told may be there: the child died between the append and the telling.
    const uint64_t count = found.records.size();
    ASSERT_GE(count, progress.appended.load() - first + 1);
    ASSERT_LE(count, progress.appended.load() - first + 2);
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(found.records[i].payload, payload_of(first + i, size_of(first + i)));
    }
    if (round % 16 == 0) {
      ASSERT_OK((*recovery)->make_durable());
    }
    first += count;
    epoch = test::epoch_at(epoch.number + 1,
                           (found.end / kSmall.segment_bytes + 1) * kSmall.segment_bytes);
  }
  munmap(shared, sizeof(Progress));
}

}  // namespace
}  // namespace hawthorn::wal
