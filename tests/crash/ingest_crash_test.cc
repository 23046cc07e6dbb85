// Bulk ingests and crashes: power cut or process killed at every operation of the disk in turn, and
// SIGKILL on the real file system. What was finished is there whole, what was not is not there or
// whole; nothing of an ingest that failed takes space or lies about as a file.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "base/sanitizers.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/child_process.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

constexpr size_t kBudget = size_t{16} << 20;

Options options(Durability durability) {
  Options options;
  options.memory_budget_bytes = kBudget;
  options.durability = durability;
  return options;
}

// Before: every 2000th key, and a few that the ingest replaces. The ingest: gaps, overlaps, large
// values, in one commit.
Contents before() {
  Contents entries = numbered(0, 12, 100, 2000);
  for (uint64_t i = 100; i < 110; ++i) entries[big_endian(i)] = "older";
  return entries;
}

Contents added() {
  Contents entries = numbered(1, 9000, 60);
  for (uint64_t i = 0; i < 3; ++i) entries[big_endian(300 + 3000 * i)] = value_of(i, 70000);
  entries["small tail"] = "1";
  return entries;
}

Contents merged(const Contents& older, const Contents& newer) {
  Contents result = newer;
  result.insert(older.begin(), older.end());
  return result;
}

struct Outcome {
  bool opened = false;
  bool finished = false;
};

// One life on the disk; ends when it stops.
Outcome live(SimDisk& disk, uint64_t seed, bool sorted) {
  Outcome outcome;
  SimMachine machine(disk, seed);
  Result<std::unique_ptr<Db>> db =
      Db::open_on(machine.machine(), "/db", options(Durability::kFull));
  if (!db.ok()) return outcome;
  Result<Tree> tree = (*db)->tree("t");
  if (!tree.ok()) return outcome;
  for (const auto& [key, value] : before()) {
    if (!(*db)->put(*tree, key, value).ok()) return outcome;
  }
  if (seed % 2 == 0 && !(*db)->flush().ok()) return outcome;
  outcome.opened = true;
  IngestOptions ingest_options;
  ingest_options.sorted = sorted;
  ingest_options.sort_memory_bytes = 1;
  outcome.finished = ingest_all(**db, *tree, added(), nullptr, ingest_options).ok();
  if (!outcome.finished) return outcome;
  // A little more, above it.
  if (!(*db)->put(*tree, "later", "2", Durability::kNone).ok()) return outcome;
  static_cast<void>((*db)->flush().ok());
  return outcome;
}

// What is there after a crash, opened twice; then the same ingest works.
void verify(SimDisk& disk, const Outcome& outcome, const std::string& what) {
  const Contents whole = merged(before(), added());
  for (int open = 0; open < 2; ++open) {
    SimMachine machine(disk, 77);
    Result<std::unique_ptr<Db>> db =
        Db::open_on(machine.machine(), "/db", options(Durability::kFull));
    ASSERT_TRUE(db.ok()) << what << ": " << db.status().to_string();
    Result<std::vector<std::string>> names = disk.list("/db");
    ASSERT_OK(names.status());
    for (const std::string& name : *names) EXPECT_FALSE(name.starts_with("ingest.")) << name;
    Result<Tree> tree = (*db)->tree("t");
    ASSERT_OK(tree.status());
    Contents found = read_all(**db, *tree);
    found.erase("later");
    if (outcome.finished) {
      ASSERT_TRUE(same(found, whole)) << what;
    } else if (outcome.opened) {
      ASSERT_TRUE(found == before() || found == whole)
          << what << ": " << found.size() << " entries";
    }
    ASSERT_TRUE(clean(**db)) << what;
    if (open == 0) continue;
    ASSERT_OK(ingest_all(**db, *tree, added()));
    ASSERT_OK((*db)->close());
  }
}

class IngestCrashTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { db::log_segment_bytes = size_t{1} << 20; }
};

TEST_P(IngestCrashTest, AtEveryOperationOfTheDisk) {
  const bool sorted = GetParam();
  uint64_t operations = 0;
  {
    SimDisk disk(1);
    ASSERT_TRUE(live(disk, 1, sorted).finished);
    const testing::SimCounters c = disk.counters();
    operations = c.reads + c.writes + c.syncs + c.directory_syncs + c.opens + c.names + c.allocates;
  }
  // Some of them in a short run. Until a life comes to its end.
  const uint64_t lives = std::max<uint64_t>(15, scaled(160));
  const uint64_t step =
      environment_number("HAWTHORN_EVERY", std::max<uint64_t>(1, operations / lives));
  constexpr CrashKind kKinds[] = {CrashKind::kProcessKill, CrashKind::kPowerLoss,
                                  CrashKind::kPowerLossDrop};
  uint64_t broken_off = 0;
  bool ended = false;
  for (uint64_t life = 0; !ended; ++life) {
    const uint64_t at = 1 + life * step;
    const CrashKind kind = kKinds[life % 3];
    SimDisk disk(at);
    disk.stop_at(SimOp::kAny, at);
    const Outcome outcome = live(disk, at, sorted);
    ended = !disk.stopped();
    broken_off += outcome.opened && !outcome.finished ? 1 : 0;
    const std::unique_ptr<SimDisk> after = disk.crash(at * 3, kind);
    verify(*after, outcome,
           "operation " + std::to_string(at) + ", crash " + std::to_string(static_cast<int>(kind)));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(broken_off, 2u);
}

// At every sync: those decide what a power loss leaves.
TEST_P(IngestCrashTest, AtEverySync) {
  const bool sorted = GetParam();
  uint64_t syncs = 0;
  uint64_t syncs_before = 0;
  {
    SimDisk disk(1);
    ASSERT_TRUE(live(disk, 1, sorted).finished);
    syncs = disk.counters().syncs;
    SimDisk other(1);
    SimMachine machine(other, 1);
    Result<std::unique_ptr<Db>> db =
        Db::open_on(machine.machine(), "/db", options(Durability::kFull));
    ASSERT_OK(db.status());
    syncs_before = other.counters().syncs;
  }
  for (uint64_t at = syncs_before; at <= syncs; ++at) {
    SimDisk disk(at);
    disk.stop_at(SimOp::kSync, at);
    const Outcome outcome = live(disk, at, sorted);
    const std::unique_ptr<SimDisk> after =
        disk.crash(at * 7, at % 3 == 0 ? CrashKind::kPowerLossDrop : CrashKind::kPowerLoss);
    verify(*after, outcome, "sync " + std::to_string(at));
    if (HasFatalFailure()) return;
  }
}

// Memory gets short while the log is replayed, so that containers are flushed between its records.
TEST_P(IngestCrashTest, ReplayedAmongOthers) {
  const bool sorted = GetParam();
  SimDisk disk(5);
  Contents expected;
  {
    SimMachine machine(disk, 5);
    Result<std::unique_ptr<Db>> db =
        Db::open_on(machine.machine(), "/db", options(Durability::kNone));
    ASSERT_OK(db.status());
    Result<Tree> tree = (*db)->tree("t");
    ASSERT_OK(tree.status());
    Prng prng(5);
    IngestOptions ingest_options;
    ingest_options.sorted = sorted;
    for (uint64_t round = 0; round < 8; ++round) {
      for (int i = 0; i < 300; ++i) {
        const std::string key = big_endian(prng.below(100'000));
        ASSERT_OK((*db)->put(*tree, key, value_of(round, 200)));
        expected[key] = value_of(round, 200);
      }
      const Contents entries = numbered(100'000 + round * 10'000, 5000, 60);
      ASSERT_OK(ingest_all(**db, *tree, entries, nullptr, ingest_options));
      for (const auto& [key, value] : entries) expected[key] = value;
      for (int i = 0; i < 300; ++i) {
        const std::string key = big_endian(100'000 + prng.below(10'000 * (round + 1)));
        ASSERT_OK((*db)->put(*tree, key, "over it"));
        expected[key] = "over it";
      }
    }
  }
  for (const CrashKind kind : {CrashKind::kProcessKill, CrashKind::kPowerLoss}) {
    const std::unique_ptr<SimDisk> after = disk.after_crash(9, kind);
    for (int open = 0; open < 2; ++open) {
      SimMachine machine(*after, 6);
      Result<std::unique_ptr<Db>> db =
          Db::open_on(machine.machine(), "/db", options(Durability::kNone));
      ASSERT_OK(db.status());
      Result<Tree> tree = (*db)->tree("t");
      ASSERT_OK(tree.status());
      if (kind == CrashKind::kProcessKill) {
        ASSERT_TRUE(same(read_all(**db, *tree), expected));
      }
      ASSERT_TRUE(clean(**db));
      if (open == 1) {
        ASSERT_OK((*db)->close());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SortedAndNot, IngestCrashTest, ::testing::Bool());

constexpr uint64_t kGenerationKeys = 6000;

// Every generation is whole, and the newest is the one that says so.
void look(const std::string& path) {
  Result<std::unique_ptr<Db>> db = Db::open(path, options(Durability::kNone));
  ASSERT_OK(db.status());
  Result<Tree> tree = (*db)->tree("t");
  ASSERT_OK(tree.status());
  std::map<std::string, uint64_t> counts;
  ASSERT_OK((*db)->scan(*tree, "", std::string("newest"), [&](std::span<const Entry> entries) {
    for (const Entry& entry : entries) ++counts[std::string(entry.key.substr(0, 8))];
    return true;
  }));
  for (const auto& [generation, count] : counts) EXPECT_EQ(count, kGenerationKeys);
  Value newest;
  if (const Status s = (*db)->get(*tree, "newest", newest); s.ok()) {
    EXPECT_TRUE(counts.contains(newest.to_string()));
    EXPECT_EQ(counts.rbegin()->first, newest.view());
  }
  newest.reset();
  EXPECT_TRUE(clean(**db));
}

struct KillShared {
  std::atomic<uint64_t> added{0};  // entries of all lives
  std::atomic<uint32_t> failed{0};
  [[noreturn]] void fail() {
    failed.store(1);
    _exit(1);
  }
};

// Killed at any instruction: rounds of ingests, each a whole generation of keys.
TEST(IngestKillTest, WholeGenerations) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "forks";
#endif
  TempDirectory directory;
  const std::string path = directory / "db";
  const uint64_t lives = environment_number("HAWTHORN_LIVES", 12);
  Prng prng(environment_number("HAWTHORN_SEED", 11));
  void* const memory =
      mmap(nullptr, sizeof(KillShared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  KillShared& shared = *new (memory) KillShared;
  // Some lives end in their first generation, or before it.
  const KillAfter after{.done = [&] { return shared.added.load(); },
                        .often = kGenerationKeys * 4,
                        .seldom = kGenerationKeys,
                        .pause_us = 20'000};
  for (uint64_t life = 0; life < lives; ++life) {
    const pid_t child = start_child([&] {
      Result<std::unique_ptr<Db>> db = Db::open(path, options(Durability::kNone));
      if (!db.ok()) shared.fail();
      Result<Tree> tree = (*db)->tree("t");
      if (!tree.ok()) shared.fail();
      for (uint64_t generation = life * 100;; ++generation) {
        IngestOptions ingest_options;
        ingest_options.sorted = generation % 2 == 0;
        Result<Ingest> ingest = (*db)->ingest(*tree, ingest_options);
        if (!ingest.ok()) shared.fail();
        const std::string prefix = big_endian(generation);
        for (uint64_t i = 0; i < kGenerationKeys; ++i) {
          if (!ingest->add(prefix + big_endian(i), value_of(generation, 100)).ok()) shared.fail();
          shared.added.fetch_add(1);
        }
        if (!ingest->add("newest", prefix).ok() && ingest_options.sorted) shared.fail();
        if (!ingest->finish().ok()) shared.fail();
      }
    });
    ASSERT_NO_FATAL_FAILURE(kill_at_random(child, shared, prng, life, after));
    int status = 0;
    // Threads do not survive a fork: this process has none.
    const pid_t reader = fork();
    ASSERT_GE(reader, 0);
    if (reader == 0) {
      look(path);
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    ASSERT_EQ(waitpid(reader, &status, 0), reader);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "life " << life;
  }
  munmap(memory, sizeof(KillShared));
}

}  // namespace
}  // namespace hawthorn::tests
