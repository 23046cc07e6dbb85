// Trees as values from many threads: whatever hangs, moves, is written over and dropped at the same
// keys at the same time, no tree is lost, and none hangs twice.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "tests/support/subtrees.h"

namespace hawthorn::tests {
namespace {

class SubtreeConcurrency : public ::testing::Test {
 protected:
  void SetUp() override { open(testing::kHangLimitMs); }
  void open(uint64_t lock_timeout_ms) {
    db_.reset();
    Options options;
    options.memory_budget_bytes = size_t{64} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = lock_timeout_ms;
    auto db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }
  static void on_threads(int count, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
  }
  // What two that want the same may lose to, and what they may find when they come late.
  static bool may_be(const Status& status) {
    return status.ok() || status.is_conflict() || status.is_not_found() ||
           status.is(StatusCode::kInvalidArgument) || status.is(StatusCode::kTimedOut) ||
           status.is(StatusCode::kDeadlock);
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
};

constexpr int kNames = 3;
std::string name(uint64_t i) { return "n" + std::to_string(i % kNames); }
std::string key(uint64_t i) { return "k" + std::to_string(i % 4); }

// A named tree, or one somewhere below.
template <typename On>
Result<Tree> any_tree(On& on, Prng& prng) {
  Result<Tree> tree = on.find_tree(name(prng.next()));
  while (tree.ok() && prng.one_in(2)) {
    const Result<Tree> below = on.subtree(*tree, key(prng.next()));
    if (!below.ok()) break;
    tree = *below;
  }
  return tree;
}

Status change(Transaction& t, Prng& prng) {
  const Result<Tree> tree = any_tree(t, prng);
  if (!tree.ok()) return t.tree(name(prng.next()), {.subtrees = true}).status();
  const std::string at = key(prng.next());
  switch (prng.below(12)) {
    case 0:
    case 1:
    case 2:
      return t.create_subtree(*tree, at, {.subtrees = true}).status();
    case 3:
      return t.attach(*tree, at, name(prng.next()));
    case 4:
      return t.detach(*tree, at, name(prng.next()));
    case 5: {
      const Result<Tree> to = any_tree(t, prng);
      return to.ok() ? t.move_subtree(*tree, at, *to, key(prng.next())) : to.status();
    }
    case 6:
      return t.del(*tree, at);
    case 7:
      return t.delete_range(*tree, at, key(prng.next()));
    case 8:
      return t.drop_tree(name(prng.next()));
    case 9:
      return t.rename_tree(name(prng.next()), name(prng.next()));
    default:
      return t.put(*tree, at, "v");
  }
}

// As the plain functions of a database do it.
Status change_plainly(Db& db, Prng& prng) {
  const Result<Tree> tree = any_tree(db, prng);
  if (!tree.ok()) return db.tree(name(prng.next()), {.subtrees = true}).status();
  const std::string at = key(prng.next());
  switch (prng.below(6)) {
    case 0:
      return db.del(*tree, at);
    case 1:
      return db.delete_range(*tree, at);
    case 2:
      return db.insert(*tree, at, "v").status();
    case 3: {
      WriteBatch batch;
      batch.put(*tree, at, "v");
      batch.del(*tree, key(prng.next()));
      batch.delete_range(*tree, at, key(prng.next()));
      return db.write(batch);
    }
    default:
      return db.put(*tree, at, "v");
  }
}

TEST_F(SubtreeConcurrency, nothing_is_lost_and_nothing_hangs_twice) {
  constexpr uint64_t kTimeoutMs = 2;  // some are met
  open(kTimeoutMs);
  std::atomic<uint64_t> commits{0};
  std::atomic<uint64_t> conflicts{0};
  const auto is_enough = [&] { return commits > 100 && conflicts > 10; };
  for (uint64_t round = 0; round < scaled(20) || !is_enough(); ++round) {
    std::atomic<int> working{4};
    on_threads(6, [&](int thread) {
      Prng prng(round * 10 + static_cast<uint64_t>(thread) + 1);
      if (thread == 4) {
        // Walks, where the checker may look at any moment.
        while (working > 0) EXPECT_TRUE(clean(*db_));
        return;
      }
      if (thread == 5) {
        while (working > 0) EXPECT_OK(db_->flush());
        return;
      }
      for (int i = 0; i < 300; ++i) {
        if (thread == 3) {
          const Status status = change_plainly(*db_, prng);
          EXPECT_TRUE(may_be(status)) << status.to_string();
          continue;
        }
        TxnOptions options;
        options.mode = prng.one_in(10)  ? TxnMode::kExclusive
                       : prng.one_in(3) ? TxnMode::kPessimistic
                                        : TxnMode::kOptimistic;
        options.isolation = static_cast<Isolation>(prng.below(3));
        Result<Transaction> begun = db_->begin(options);
        if (!begun.ok()) {
          EXPECT_TRUE(may_be(begun.status())) << begun.status().to_string();
          continue;
        }
        Status status;
        for (uint64_t left = prng.between(1, 4); left > 0 && !status.is_conflict(); --left) {
          status = change(*begun, prng);
          EXPECT_TRUE(may_be(status)) << status.to_string();
        }
        if (!status.is_conflict()) status = begun->commit();
        EXPECT_TRUE(may_be(status)) << status.to_string();
        ++(status.ok() ? commits : conflicts);
      }
      --working;
    });
    ASSERT_TRUE(nothing_lost(*db_)) << "round " << round;
    ASSERT_NO_FATAL_FAILURE(open(kTimeoutMs));  // by the log
    ASSERT_TRUE(nothing_lost(*db_)) << "round " << round;
  }
  EXPECT_OK(db_->close());
}

// One tree wanders between keys of many trees; whoever looks finds it in one place.
TEST_F(SubtreeConcurrency, a_tree_that_moves_is_in_one_place) {
  const Tree parent = db_->tree("p", {.subtrees = true}).value();
  const Tree moved = db_->create_subtree(parent, key(0)).value();
  std::atomic<int> working{2};
  std::atomic<uint64_t> moves{0};
  on_threads(4, [&](int thread) {
    Prng prng(static_cast<uint64_t>(thread) + 1);
    if (thread >= 2) {
      uint64_t last = 0;
      while (working > 0) {
        const Snapshot now = db_->snapshot();
        const auto keys = db_->list_subtrees(parent, {.snapshot = &now});
        ASSERT_OK(keys.status());
        ASSERT_EQ(keys->size(), 1u);
        ASSERT_EQ(db_->count(parent, "", std::nullopt, {.snapshot = &now}).value(), 1u);
        const Result<Tree> found = db_->subtree(parent, keys->front(), {.snapshot = &now});
        ASSERT_OK(found.status());
        ASSERT_EQ(found->id(), moved.id());
        Value value;
        if (!db_->get(*found, "n", value, {.snapshot = &now}).ok()) continue;
        const uint64_t n = std::stoull(value.to_string());
        ASSERT_GE(n, last);
        last = n;
      }
      return;
    }
    for (uint64_t i = 0; (i < scaled(2000) || moves <= 50) && !HasFailure(); ++i) {
      const std::string from = key(prng.next());
      const std::string to = key(prng.next());
      const Status status = db_->move_subtree(parent, from, parent, to);
      EXPECT_TRUE(status.ok() || status.is_not_found()) << status.to_string();
      if (status.ok()) ++moves;
      if (thread == 0) ASSERT_OK(db_->put(moved, "n", std::to_string(i)));
    }
    --working;
  });
  EXPECT_TRUE(nothing_lost(*db_));
}

}  // namespace
}  // namespace hawthorn::tests
