// Trees that hang in trees, on the simulated disk: each life of a database ends at a random
// operation of the disk, also while it recovers. And processes that are killed.
//
// What must hold after each: all trees and what they hold are together those after some prefix of
// the commits, at least after those that were acknowledged (after a kill) or durable (after a power
// loss); and no tree is there that neither a name nor a key leads to.

#include <sys/mman.h>

#include <algorithm>
#include <atomic>

#include "base/sanitizers.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/child_process.h"
#include "tests/support/forest.h"
#include "tests/support/subtrees.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

class Lives {
 public:
  explicit Lives(uint64_t seed)
      : prng_(seed),
        disk_(std::make_unique<SimDisk>(mix64(seed))),
        gardener_(prng_, [this] { return disk_->stopped(); }) {}

  void live() {
    const CrashKind kind = static_cast<CrashKind>(prng_.below(3));
    SimMachine machine(*disk_, prng_.next());
    if (prng_.one_in(2)) disk_->stop_at(SimOp::kAny, prng_.between(1, prng_.one_in(3) ? 60 : 800));
    std::unique_ptr<Db> db = open(machine.machine());
    if (db != nullptr) compare(*db);
    if (::testing::Test::HasFailure()) return;
    for (uint64_t left = prng_.below(60); db != nullptr && left > 0 && !disk_->stopped(); --left) {
      step(db, machine.machine());
      if (::testing::Test::HasFailure()) return;
    }
    if (kind != CrashKind::kProcessKill) power_lost_ = true;
    auto after = disk_->crash(prng_.next(), kind);
    db.reset();
    disk_ = std::move(after);
  }
  uint64_t commits() const { return commits_; }
  uint64_t moves() const {
    return gardener_.changes("attach") + gardener_.changes("detach") + gardener_.changes("move");
  }

 private:
  std::unique_ptr<Db> open(const os::Machine& machine) {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> db = Db::open_on(machine, "/db", options);
    if (db.ok()) return std::move(*db);
    EXPECT_TRUE(disk_->stopped()) << db.status().to_string();
    return nullptr;
  }

  // One of the states since the last life must be there, and is the base of the next.
  void compare(Db& db) {
    Forest found;
    Status status = read_forest(db, db.snapshot(), &found);
    if (disk_->stopped()) return;
    ASSERT_OK(status);
    const size_t low = power_lost_ ? durable_ : acknowledged_;
    const auto at = std::find(states_.begin() + static_cast<ptrdiff_t>(low), states_.end(), found);
    ASSERT_TRUE(at != states_.end())
        << states_.size() << " states, from " << low << (power_lost_ ? ", power lost" : "")
        << "; found" << text_of(found) << "; wanted" << text_of(states_[low]);
    const auto lost = nothing_lost(db);
    if (disk_->stopped()) return;
    ASSERT_TRUE(lost);
    states_ = {found};
    acknowledged_ = durable_ = 0;
    power_lost_ = false;
  }

  void step(std::unique_ptr<Db>& db, const os::Machine& machine) {
    const uint64_t pick = prng_.below(18);
    if (pick < 13) {
      transaction(*db);
    } else if (pick == 13) {
      settle(db->flush());
    } else if (pick == 14) {
      settle(db->sync());
    } else if (pick == 15) {
      static_cast<void>(db->drain().ok());
    } else {
      if (prng_.one_in(2)) settle(db->close());
      if (disk_->stopped()) return;
      db.reset();
      db = open(machine);
      if (db != nullptr) compare(*db);
    }
  }
  void settle(const Status& status) {
    if (disk_->stopped()) return;
    ASSERT_OK(status);
    durable_ = acknowledged_;
  }

  void transaction(Db& db) {
    TxnOptions options;
    options.mode = static_cast<TxnMode>(prng_.below(3));
    options.isolation = static_cast<Isolation>(prng_.below(3));
    Result<Transaction> begun = db.begin(options);
    if (disk_->stopped()) return;
    ASSERT_OK(begun.status());
    Transaction t = std::move(*begun);
    Forest forest = states_.back();
    Forest kept;
    std::optional<Savepoint> savepoint;
    for (uint64_t left = prng_.between(1, 8); left > 0; --left) {
      if (prng_.one_in(6)) {
        savepoint = t.savepoint().value();
        kept = forest;
      }
      const Status status = gardener_.change(t, forest);
      if (disk_->stopped()) return;
      ASSERT_OK(status);
    }
    if (savepoint.has_value() && prng_.one_in(2)) {
      const Status status = t.rollback_to(*savepoint);
      if (disk_->stopped()) return;
      ASSERT_OK(status);
      forest = kept;
    }
    if (prng_.one_in(8)) return t.abort();
    const Durability level = static_cast<Durability>(prng_.between(1, 3));
    const Status status = t.commit(level);
    const bool changed = forest != states_.back();
    states_.push_back(std::move(forest));
    ++commits_;
    if (disk_->stopped()) return;
    ASSERT_OK(status);
    acknowledged_ = states_.size() - 1;
    if (level == Durability::kFull && changed) durable_ = acknowledged_;
  }

  Prng prng_;
  std::unique_ptr<SimDisk> disk_;
  Gardener gardener_;
  std::vector<Forest> states_{Forest()};  // after each commit since the last life
  size_t acknowledged_ = 0;
  size_t durable_ = 0;
  bool power_lost_ = false;  // since the last comparison
  uint64_t commits_ = 0;
};

TEST(SubtreeCrash, trees_and_contents_are_of_one_moment) {
  db::log_segment_bytes = size_t{4} << 20;
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  uint64_t commits = 0;
  uint64_t moves = 0;
  const uint64_t count = only != 0 ? 1 : std::max<uint64_t>(8, scaled(16));
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    Lives test(seed);
    for (int life = 0; life < 6; ++life) {
      test.live();
      if (::testing::Test::HasFailure()) return;
    }
    commits += test.commits();
    moves += test.moves();
  }
  EXPECT_GT(commits, count * 30);
  EXPECT_GT(moves, count * 3);
}

// ---- Processes that are killed

struct Shared {
  std::atomic<uint64_t> acknowledged;  // rounds
  std::atomic<uint32_t> failed;
};

[[noreturn]] void fail(Shared& shared, const std::string& what) {
  fprintf(stderr, "child: %s\n", what.c_str());
  shared.failed.store(1);
  _exit(1);
}

std::unique_ptr<Db> open_in_child(const std::string& path, Shared& shared) {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  auto db = Db::open(path, options);
  if (!db.ok()) fail(shared, db.status().to_string());
  return std::move(*db);
}

// Round n: its tree with n, and below it one with n, hangs at one of the keys of "a" or "b", and
// nothing else hangs anywhere.
void move_for_ever(const std::string& path, Shared& shared) {
  const std::unique_ptr<Db> db = open_in_child(path, shared);
  const auto must = [&](const Status& status) {
    if (!status.ok()) fail(shared, status.to_string());
  };
  const Tree parents[2] = {db->tree("a", {.subtrees = true}).value(),
                           db->tree("b", {.subtrees = true}).value()};
  for (uint64_t i = shared.acknowledged.load() + 1;; ++i) {
    Transaction t = db->begin(TxnMode::kOptimistic).value();
    // What the round before has left goes, by the key or by the range.
    for (const Tree& parent : parents) {
      must(i % 3 == 0 ? t.delete_range(parent, "") : t.del(parent, "k"));
    }
    const Tree made = t.create_subtree(parents[i % 2], "made", {.subtrees = true}).value();
    must(t.put(made, "n", std::to_string(i)));
    must(t.put(t.create_subtree(made, "below").value(), "n", std::to_string(i)));
    must(t.detach(parents[i % 2], "made", "moving"));
    must(t.attach(parents[i / 2 % 2], "k", "moving"));
    must(t.commit());
    shared.acknowledged.store(i);
    if (i % 50 == 0) must(db->flush());
  }
}

void verify(const std::string& path, Shared& shared) {
  const std::unique_ptr<Db> db = open_in_child(path, shared);
  uint64_t round = 0;
  Forest found;
  if (Status s = read_forest(*db, db->snapshot(), &found); !s.ok()) fail(shared, s.to_string());
  uint64_t hanging = 0;
  for (const auto& [name, parent] : found) {
    for (const auto& [key, below] : parent.below) {
      ++hanging;
      if (key != "k" || below.below.size() != 1) fail(shared, "found" + text_of(found));
      const std::string n = below.values.at("n");
      if (below.below.at("below").values.at("n") != n) fail(shared, "found" + text_of(found));
      round = std::stoull(n);
    }
  }
  const uint64_t acknowledged = shared.acknowledged.load();
  if (round < acknowledged || round > acknowledged + 1 || hanging != (round > 0 ? 1 : 0)) {
    fail(shared, "round " + std::to_string(acknowledged) + ", found" + text_of(found));
  }
  if (const auto lost = nothing_lost(*db); !lost) fail(shared, lost.message());
  shared.acknowledged.store(round);
}

TEST(SubtreeKill, nothing_hangs_twice_or_nowhere) {
#if defined(HAWTHORN_TSAN)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in a forked child";
#endif
  const TempDirectory directory;
  const std::string path = directory / "db";
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared{};
  const uint64_t seed = environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  for (uint64_t round = 0; round < environment_number("HAWTHORN_KILL_ROUNDS", scaled(20));
       ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const pid_t writer = start_child([&] { move_for_ever(path, shared); });
    ASSERT_NO_FATAL_FAILURE(kill_at_random(
        writer, shared, prng, round,
        {.done = [&] { return shared.acknowledged.load(); }, .often = 150, .seldom = 600}));
    const pid_t verifier = start_child([&] { verify(path, shared); });
    ASSERT_GT(verifier, 0);
    int result = 0;
    ASSERT_EQ(waitpid(verifier, &result, 0), verifier);
    ASSERT_EQ(shared.failed.load(), 0u);
    ASSERT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << "status " << result;
  }
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace hawthorn::tests
