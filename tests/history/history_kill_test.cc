// Clients whose process is killed by SIGKILL at any instruction, again and again, on one directory
// and in one history: what was acknowledged is there, what was not is there as a whole or not at
// all, and no transaction sees anything but a snapshot (R1, R3, R6, R7, R15, R18).
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/sanitizers.h"
#include "db/file_sizing.h"
#include "tests/history/engine_history_test.h"
#include "tests/support/child_process.h"

namespace hawthorn::history {
namespace {

[[noreturn]] void fail(const std::string& what) {
  fprintf(stderr, "child: %s\n", what.c_str());
  _exit(1);
}

void upkeep_for_ever(Db& db, uint64_t seed) {
  Prng prng(seed);
  for (;;) {
    Status status;
    switch (prng.below(8)) {
      case 0:
        status = db.compact();
        break;
      case 1:
        status = db.drain();
        break;
      case 2:
        status = db.sync();
        break;
      default:
        status = db.flush();
        break;
    }
    if (!status.ok()) fail("upkeep: " + status.to_string());
    std::this_thread::sleep_for(std::chrono::milliseconds(prng.below(50)));
  }
}

[[noreturn]] void run_life(const std::string& path, const ClientOptions& options,
                           Recording& recording) {
  Result<std::unique_ptr<Db>> db = Db::open(path, small_options());
  if (!db.ok()) fail("open: " + db.status().to_string());
  std::thread([&] { upkeep_for_ever(**db, options.seed); }).detach();
  const Status status = run_client(**db, options, recording);
  if (!status.ok()) fail(status.to_string());
  _exit(0);
}

[[noreturn]] void run_last_life(const std::string& path, Recording& recording) {
  Result<std::unique_ptr<Db>> db = Db::open(path, small_options());
  if (!db.ok()) fail("open: " + db.status().to_string());
  if (const Status s = read_everything(**db, begin_optimistic, recording); !s.ok()) {
    fail("the last read: " + s.to_string());
  }
  if (const auto checked = tests::clean(**db); !checked) fail(checked.message());
  if (const Status s = (*db)->close(); !s.ok()) fail("close: " + s.to_string());
  _exit(0);
}

struct Promise {
  const char* name;
  Begin begin;
  bool for_update;
  double share;  // of the transactions
  Level holds;
  CheckOptions options;
  // What a higher level forbids, and must occur: else the checker, or the client, sees nothing.
  Level too_much;
  std::vector<AnomalyKind> occurs;
};

class HistoryKill : public ::testing::TestWithParam<Promise> {
 protected:
  // Kills have met commits, and transactions each other as the level allows.
  static bool is_exercised(const History& history, uint64_t kills) {
    if (kills <= 3 || count_of(history, Outcome::kUnknown) == 0) return false;
    const std::vector<AnomalyKind>& occurs = GetParam().occurs;
    if (occurs.empty()) return true;
    const std::vector<Anomaly> found = check(history, GetParam().too_much);
    return std::any_of(occurs.begin(), occurs.end(),
                       [&](AnomalyKind kind) { return has(found, kind); });
  }
};

// The parent itself never opens a database: its children start with no threads of ours.
TEST_P(HistoryKill, isolation_holds_across_kills) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  const Promise& promise = GetParam();
  const tests::TempDirectory directory;
  const std::string path = directory / "db";
  const uint64_t seed = tests::environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  ClientOptions options{.begin = promise.begin, .for_update = promise.for_update};
  options.transactions =
      static_cast<uint64_t>(promise.share * static_cast<double>(tests::environment_number(
                                                "HAWTHORN_TRANSACTIONS", tests::scaled(100'000))));
  const auto recording = make_recording(directory, options);
  ASSERT_NE(recording, nullptr);
  // So small that data files come and go.
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  const uint64_t part = options.transactions / 20;
  uint64_t kills = 0;
  while (true) {
    if (recording->ended() >= options.transactions) {
      // Where the kills came late, there is more to do; a full recording ends that.
      if (is_exercised(recording->history(), kills)) break;
      options.transactions = recording->ended() + 2 * part;
    }
    options.seed = prng.next();
    const uint64_t ended = recording->ended();
    const pid_t child = tests::start_child([&] { run_life(path, options, *recording); });
    ASSERT_GT(child, 0);
    // Some die while they open; the others after a part of the work that differs widely, which is
    // counted: a time that is long enough for an open is enough for all of the work.
    int result = 0;
    pid_t dead = 0;  // ended by itself: it failed, or has done all
    uint64_t time_us = 20000;
    if (!prng.one_in(4)) {
      time_us = 500;
      const uint64_t until = ended + 1 + prng.below(part);
      while (dead == 0 && recording->ended() < until) {
        usleep(200);
        dead = waitpid(child, &result, WNOHANG);
      }
    }
    if (dead == 0) {
      usleep(static_cast<useconds_t>(prng.below(time_us)));
      ASSERT_EQ(kill(child, SIGKILL), 0);
      dead = waitpid(child, &result, 0);
    }
    ASSERT_EQ(dead, child);
    const bool killed = WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL;
    ASSERT_TRUE(killed || (WIFEXITED(result) && WEXITSTATUS(result) == 0)) << "status " << result;
    kills += killed ? 1 : 0;
    recording->life_ended();
  }
  const pid_t last = tests::start_child([&] { run_last_life(path, *recording); });
  ASSERT_GT(last, 0);
  int result = 0;
  ASSERT_EQ(waitpid(last, &result, 0), last);
  ASSERT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << "status " << result;

  const History history = recording->history();
  EXPECT_TRUE(history.last_read.has_value());
  EXPECT_TRUE(allowed(history, promise.holds, promise.options));
  RecordProperty("kills", std::to_string(kills));
  printf("%zu transactions, %zu of unknown outcome, %zu aborted, %zu kills\n",
         history.transactions.size(), static_cast<size_t>(count_of(history, Outcome::kUnknown)),
         static_cast<size_t>(count_of(history, Outcome::kAborted)), static_cast<size_t>(kills));
}

INSTANTIATE_TEST_SUITE_P(Levels, HistoryKill,
                         ::testing::Values(Promise{"snapshot",
                                                   begin_optimistic,
                                                   false,
                                                   0.35,
                                                   Level::kSnapshot,
                                                   kStrong,
                                                   Level::kSerializable,
                                                   {AnomalyKind::kG2, AnomalyKind::kG2Item}},
                                           Promise{"serializable",
                                                   begin_any_serializable,
                                                   false,
                                                   0.35,
                                                   Level::kSerializable,
                                                   kStrong,
                                                   Level::kSerializable,
                                                   {}},
                                           Promise{"pessimistic_snapshot",
                                                   begin_pessimistic,
                                                   false,
                                                   0.15,
                                                   Level::kSnapshot,
                                                   kStrong,
                                                   Level::kSerializable,
                                                   {AnomalyKind::kG2, AnomalyKind::kG2Item}},
                                           Promise{"locking",
                                                   begin_locking,
                                                   true,
                                                   0.15,
                                                   Level::kReadCommitted,
                                                   {},
                                                   Level::kSnapshot,
                                                   {AnomalyKind::kGSingle}}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace hawthorn::history
