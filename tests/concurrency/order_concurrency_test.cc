// Several values to a key from many threads: each pair is added and removed exactly once, readers
// see whole sets, trees with orders are made by many at once, and so are places in the order of a
// comparison.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "tests/support/downwards.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

class OrderConcurrency : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    options.key_comparators = {std::make_shared<Downwards>()};
    auto db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }
  static void on_threads(int count, const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
};

TEST_F(OrderConcurrency, each_pair_is_added_and_removed_once) {
  const Tree set = db_->tree("set", {.order = "reverse", .multi_value = true}).value();
  std::atomic<int64_t> pairs{0};
  std::atomic<bool> done{false};
  std::thread flusher([&] {
    while (!done) EXPECT_OK(db_->flush());
  });
  on_threads(4, [&](int thread) {
    Prng prng(static_cast<uint64_t>(thread) + 1);
    for (uint64_t i = 0; i < scaled(2000); ++i) {
      const std::string key(1, static_cast<char>(prng.below(3)));
      const std::string value(1, static_cast<char>(prng.below(20)));
      const bool add = prng.one_in(2);
      const Result<bool> changed =
          add ? db_->insert(set, key, value) : db_->remove_if(set, key, value);
      ASSERT_OK(changed.status());
      if (*changed) pairs += add ? 1 : -1;
    }
  });
  done = true;
  flusher.join();
  EXPECT_EQ(db_->count(set, "", std::nullopt).value(), static_cast<uint64_t>(pairs));
}

// A transaction takes all values of a key away and puts one that tells how many were there.
TEST_F(OrderConcurrency, all_values_of_a_key_go_together) {
  const Tree set = db_->tree("set", {.multi_value = true, .value_order = "uint32"}).value();
  const auto number = [](uint32_t n) { return std::string(reinterpret_cast<char*>(&n), 4); };
  std::atomic<uint32_t> next{1};
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      // Whoever looks finds what one moment had: never nothing, once something was there.
      Value value;
      const Snapshot now = db_->snapshot();
      const uint64_t count = db_->count(set, "k", "l", {.snapshot = &now}).value();
      const Status status = db_->get(set, "k", value, {.snapshot = &now});
      EXPECT_EQ(status.ok(), count > 0) << status.to_string();
    }
  });
  std::atomic<uint64_t> taken{0};
  on_threads(4, [&](int thread) {
    for (uint64_t i = 0; i < scaled(400); ++i) {
      if (thread > 0) {
        ASSERT_OK(db_->put(set, "k", number(next++)));
        continue;
      }
      Transaction txn = db_->begin({.isolation = Isolation::kSerializable}).value();
      const uint64_t there = txn.count(set, "k", "l").value();
      const Status status = txn.del(set, "k");
      if (status.ok() && txn.commit().ok()) {
        taken += there;
      } else {
        txn.abort();
      }
    }
  });
  done = true;
  reader.join();
  EXPECT_EQ(taken + db_->count(set, "", std::nullopt).value(), next - 1);
}

// The same keys from all threads, some by exclusive transactions: each has one place, in order.
TEST_F(OrderConcurrency, places_are_given_out_once) {
  const Tree tree = db_->tree("compared", {.order = "downwards"}).value();
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      std::string before = "~";
      Cursor cursor = db_->cursor(tree);
      for (bool more = cursor.first(); more; more = cursor.next()) {
        ASSERT_LT(cursor.key(), before);
        before = cursor.key();
      }
      ASSERT_OK(cursor.status());
      ASSERT_OK(db_->flush());
    }
  });
  const uint64_t keys = scaled(1500);
  on_threads(4, [&](int thread) {
    Prng prng(static_cast<uint64_t>(thread) + 1);
    for (uint64_t i = 0; i < keys; ++i) {
      const std::string key = std::to_string(prng.below(keys));
      if (!prng.one_in(20)) {
        ASSERT_OK(db_->put(tree, key, key));
        continue;
      }
      Transaction txn = db_->begin(TxnMode::kExclusive).value();
      ASSERT_OK(txn.put(tree, key, key));
      ASSERT_OK(txn.put(tree, key + "x", key));
      if (prng.one_in(2)) {
        ASSERT_OK(txn.commit());
      } else {
        txn.abort();
      }
    }
  });
  done = true;
  reader.join();
  uint64_t count = 0;
  std::string before = "~";
  Cursor cursor = db_->cursor(tree);
  for (bool more = cursor.first(); more; more = cursor.next(), ++count) {
    ASSERT_LT(cursor.key(), before);
    before = cursor.key();
    Value value;
    ASSERT_OK(db_->get(tree, cursor.key(), value));
  }
  EXPECT_EQ(count, db_->count(tree, "", std::nullopt).value());
  const auto report = db_->check();
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->ok());
}

TEST_F(OrderConcurrency, trees_with_orders_are_made_once) {
  const std::string orders[] = {"reverse", "from_end", "uint32", "bytewise"};
  for (uint64_t round = 0; round < scaled(30); ++round) {
    const std::string name = "t" + std::to_string(round);
    std::atomic<int> made{0};
    on_threads(4, [&](int thread) {
      const Result<Tree> tree = db_->tree(name, {.order = orders[thread]});
      if (tree.ok()) {
        ++made;
        EXPECT_EQ(db_->tree_options(*tree)->order, orders[thread]);
      } else {
        EXPECT_TRUE(tree.status().is(StatusCode::kInvalidArgument)) << tree.status().to_string();
      }
    });
    EXPECT_EQ(made, 1);
  }
}

}  // namespace
}  // namespace hawthorn::tests
