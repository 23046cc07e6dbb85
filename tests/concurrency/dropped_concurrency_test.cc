// Trees that are made and dropped beside threads that use whatever handles there are, old ones too:
// each use gives what the tree held, or the error of a dropped tree; nobody reaches another tree.

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "testing/scaled.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

class DroppedConcurrency : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    auto db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }
  // Handles that were given out; each tree has its own id as the value of "key".
  Tree any(Prng& prng) {
    const std::lock_guard lock(mutex_);
    return trees_.empty() ? Tree() : trees_[prng.below(trees_.size())];
  }
  void add(const Tree& tree) {
    const std::lock_guard lock(mutex_);
    if (trees_.size() < 64) {
      trees_.push_back(tree);
    } else {
      trees_[next_++ % trees_.size()] = tree;
    }
  }
  void make_and_drop(const std::string& name, Prng& prng) {
    Transaction transaction = db_->begin(TxnOptions()).value();
    const Result<Tree> tree = transaction.tree(name);
    ASSERT_OK(tree.status());
    ASSERT_OK(transaction.put(*tree, "key", std::to_string(tree->id())));
    if (prng.one_in(4)) {
      transaction.abort();
      return add(*tree);
    }
    ASSERT_OK(transaction.commit());
    add(*tree);
    if (prng.one_in(8)) ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drop_tree(name));
  }
  static void expect_own(const Tree& tree, const Status& status, std::string_view value) {
    if (status.ok()) {
      EXPECT_EQ(value, std::to_string(tree.id()));
    } else {
      EXPECT_TRUE(status.is(StatusCode::kInvalidArgument) || status.is_conflict())
          << status.to_string();
    }
  }
  void use(const Tree& tree, Prng& prng) {
    Value value;
    switch (prng.below(5)) {
      case 0: {
        const Status got = db_->get(tree, "key", value);
        return expect_own(tree, got, value.view());
      }
      case 1: {
        Cursor cursor = db_->cursor(tree);
        if (!cursor.first()) return expect_own(tree, cursor.status(), std::to_string(tree.id()));
        return expect_own(tree, {}, cursor.value());
      }
      case 2:
        return expect_own(tree, db_->put(tree, "other", "value"), std::to_string(tree.id()));
      case 3: {
        Transaction transaction = db_->begin(TxnOptions()).value();
        const Status got = transaction.get(tree, "key", value);
        expect_own(tree, got, value.view());
        if (!got.ok()) return;
        const Status put = transaction.put(tree, "other", "value");
        return expect_own(tree, put.ok() ? transaction.commit() : put, std::to_string(tree.id()));
      }
      default: {
        WriteBatch batch;
        batch.put(tree, "other", "value");
        return expect_own(tree, db_->write(batch), std::to_string(tree.id()));
      }
    }
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  std::mutex mutex_;
  std::vector<Tree> trees_;
  size_t next_ = 0;
};

TEST_F(DroppedConcurrency, handles_lead_to_their_tree_or_to_none) {
  constexpr uint64_t kSeed = 20;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      Prng prng(kSeed + i);
      while (!done.load()) {
        if (const Tree tree = any(prng); tree.valid()) use(tree, prng);
      }
    });
  }
  Prng prng(kSeed + 100);
  for (uint64_t i = 0; i < testing::scaled(2000); ++i) make_and_drop("staging", prng);
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(db_->drain());
  EXPECT_EQ(db_->stats().trees_unreachable, 0u);
}

}  // namespace
}  // namespace hawthorn::tests
