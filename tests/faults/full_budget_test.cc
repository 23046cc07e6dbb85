// A memory budget that open transactions hold: whoever writes waits for them, whatever the size of
// its value, and says so when that does not help. What they hold beside deltas, and what cursors
// hold of what was flushed.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "os/epoch.h"
#include "testing/waiting_thread.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kBudgetBytes = size_t{16} << 20;

class FullBudget : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.memory_budget_bytes = kBudgetBytes;
    options.durability = Durability::kNone;
    options.merge_operators = {append_with("")};
    Result<std::unique_ptr<Db>> db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    Result<Tree> tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
    held_ = db_->tree("held").value();
    ASSERT_OK(db_->set_merge_operator(held_, "append"));
  }

  // Writes until there is no memory for more, where it cannot go to layers.
  Transaction hold_all() {
    Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
    EXPECT_OK(txn.status());
    Status status;
    uint64_t written = 0;
    for (const size_t size : {size_t{60'000}, size_t{1000}}) {
      for (status = {}; status.ok() && written < 100'000; ++written) {
        status = txn->put(held_, big_endian(mix64(written)), value_of(written, size));
      }
    }
    EXPECT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
    return std::move(*txn);
  }

  // While all is held, until it is let go of when the put waits. Writes wait for two seconds: where
  // the thread that lets go does not get a processor meanwhile, it is done again.
  Status put_meanwhile(const std::string& key, size_t size) {
    Status status;
    EXPECT_TRUE(wait_until([&] {
      Transaction holder = hold_all();
      testing::WaitingThread puts([&] { status = db_->put(tree_, key, value_of(size, size)); });
      EXPECT_TRUE(puts.wait_until_it_waits());
      holder.abort();
      puts.join();
      return !status.is(StatusCode::kOutOfMemory);
    }));
    return status;
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  Tree held_;  // with a merge operator
};

TEST_F(FullBudget, large_values_wait_for_memory) {
  EXPECT_OK(put_meanwhile("large", 300'000));
  Value value;
  ASSERT_OK(db_->get(tree_, "large", value));
  EXPECT_EQ(value.view(), value_of(300'000, 300'000));
  EXPECT_TRUE(clean(*db_));
}

TEST_F(FullBudget, a_large_value_that_waits_in_vain_says_why) {
  Transaction holder = hold_all();
  const Status status = db_->put(tree_, "large", value_of(1, 300'000));
  EXPECT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
  EXPECT_NE(status.message().find("transactions"), std::string_view::npos) << status.to_string();
  holder.abort();
  EXPECT_OK(db_->put(tree_, "large", value_of(1, 300'000)));
}

// Locks are flushed by nobody. Everything that can be is, before a write is refused, and the error
// says who has the budget.
TEST_F(FullBudget, what_is_unflushed_makes_room_before_a_write_is_refused) {
  Result<Transaction> locks = db_->begin(TxnMode::kPessimistic);
  ASSERT_OK(locks.status());
  Status status;
  uint64_t locked = 0;
  for (; status.ok() && locked < 2'000'000; ++locked) {
    ASSERT_OK(locks->lock(held_, big_endian(locked), RowLock::kExclusive));
    if (locked % 100 == 0) status = db_->put(tree_, big_endian(locked), value_of(locked, 1000));
  }
  ASSERT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
  EXPECT_NE(status.message().find("open transactions, cursors"), std::string_view::npos)
      << status.to_string();
  EXPECT_EQ(status.message().find("not flushed"), std::string_view::npos) << status.to_string();
  EXPECT_LT(db_->stats().memory_delta_bytes, size_t{128} << 10);
  locks->abort();
  ASSERT_OK(db_->put(tree_, "more", "value"));
  for (uint64_t i = 0; i + 100 < locked; i += 100) {
    Value value;
    ASSERT_OK(db_->get(tree_, big_endian(i), value));
    ASSERT_EQ(value.view(), value_of(i, 1000));
  }
  EXPECT_TRUE(clean(*db_));
}

// Small values make runs of more than a megabyte, which merges write as fast as they can when all
// is flushed: what is written need not stay until it is published.
TEST(LargeRuns, are_flushed_within_the_budget) {
  constexpr size_t kBudget = size_t{96} << 20;
  const TempDirectory directory;
  Options options;
  options.memory_budget_bytes = kBudget;
  options.durability = Durability::kNone;
  const std::unique_ptr<Db> db = std::move(Db::open(directory / "db", options)).value();
  const Tree tree = db->tree("t").value();
  std::atomic<bool> done{false};
  std::atomic<uint64_t> most{0};
  std::thread looks([&] {
    while (!done.load()) {
      most = std::max(most.load(), db->stats().memory_used_bytes);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (uint64_t i = 0; i < 2'000'000;) {
    WriteBatch batch;
    for (int n = 0; n < 500; ++n, ++i) batch.put(tree, big_endian(mix64(i)), value_of(i, 40));
    EXPECT_OK(db->write(batch));
  }
  EXPECT_OK(db->flush());
  done = true;
  looks.join();
  EXPECT_LE(most.load(), kBudget + kBudget / 20);
}

// What a transaction remembers of its writes is memory of the budget until it ends.
TEST_F(FullBudget, transactions_count) {
  // Threads count, too, and those of tests before may have ended since.
  const auto beside_data = [this] {
    const Stats s = db_->stats();
    return s.memory_used_bytes - s.memory_delta_bytes - s.memory_index_bytes -
           s.memory_value_bytes - s.memory_frame_bytes - os::epoch::threads() * kBudgetBytes / 256;
  };
  // What the process keeps is counted ten times a second, by the thread that writes the file of
  // counters each second. Between two of these it was counted, with the threads that are there now
  // where none has come or gone meanwhile.
  const auto counted = [&] {
    for (size_t threads = 0; threads != os::epoch::threads();) {
      threads = os::epoch::threads();
      for (int times = 0; times < 2; ++times) {
        const auto updated = [this] { return read_counters(directory_ / "db").value().updated_us; };
        const uint64_t last = updated();
        EXPECT_TRUE(wait_until([&] { return updated() != last; }));
      }
    }
    return beside_data();
  };
  ASSERT_OK(db_->put(tree_, "k", "v"));
  ASSERT_OK(db_->flush());  // no merge is under way
  const uint64_t before = counted();
  for (const bool commits : {true, false}) {
    Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
    ASSERT_OK(txn.status());
    for (uint64_t i = 0; i < 20'000; ++i) ASSERT_OK(txn->del(tree_, big_endian(mix64(i))));
    // Some 70 bytes for each, and its key.
    EXPECT_GE(counted(), before + 20'000 * 72);
    if (commits) {
      ASSERT_OK(txn->commit());
    } else {
      txn->abort();
    }
    // Merges may be under way, and end.
    EXPECT_TRUE(wait_until([&] { return beside_data() <= before + 400'000; }));
  }
}

// One that has no end ends with an error, not beyond the budget.
TEST_F(FullBudget, transactions_are_bounded) {
  Transaction holder = hold_all();
  EXPECT_LE(db_->stats().memory_resident_bytes, kBudgetBytes + kBudgetBytes / 20);
  holder.abort();
  EXPECT_OK(db_->put(tree_, "k", "v"));
  EXPECT_TRUE(clean(*db_));
}

// Others go on beside one that holds more than deltas are to take: nothing that they could wait for
// would make it less.
TEST_F(FullBudget, writes_do_not_wait_for_an_open_transaction) {
  Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(txn.status());
  for (uint64_t i = 0; db_->stats().memory_delta_bytes < kBudgetBytes / 3; ++i) {
    ASSERT_OK(txn->put(tree_, big_endian(mix64(i)), value_of(i, 1000)));
  }
  constexpr uint64_t kPuts = 1000;
  // Some wait before the background has found that nothing can be flushed, and while it flushes the
  // others: of some thousand most do not.
  EXPECT_TRUE(wait_until([&] {
    const uint64_t before = db_->stats().write_waits;
    for (uint64_t i = 0; i < kPuts; ++i) {
      EXPECT_OK(db_->put(tree_, "other " + std::to_string(i % 10), value_of(i, 100)));
    }
    return db_->stats().write_waits - before < kPuts / 2 || HasFailure();
  }));
  txn->abort();
  EXPECT_TRUE(clean(*db_));
}

// With the smallest ring a record holds a little less than what is logged at once otherwise.
TEST_F(FullBudget, batches_about_as_large_as_a_record) {
  for (size_t bytes = 261'900; bytes <= 262'400; bytes += 7) {
    WriteBatch batch;
    batch.put(tree_, "a", value_of(bytes, 60'000));
    for (int i = 0; batch.bytes() + 60'020 < bytes; ++i) {
      batch.put(tree_, "b" + std::to_string(i), value_of(bytes, 60'000));
    }
    batch.put(tree_, "c", value_of(bytes, bytes - batch.bytes() - 8));
    ASSERT_OK(db_->write(batch));
    Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
    ASSERT_OK(txn.status());
    for (int i = 0; i < 8; ++i) {
      ASSERT_OK(txn->put(tree_, "d" + std::to_string(i), value_of(bytes, 60'000 + bytes % 5'000)));
    }
    ASSERT_OK(txn->commit());
  }
  EXPECT_TRUE(clean(*db_));
}

// Open cursors on what was flushed long ago hold none of it, so writes go on.
TEST_F(FullBudget, cursors_that_nobody_moves_stop_no_writes) {
  std::vector<Cursor> cursors;
  std::vector<std::string> shown;
  for (uint64_t round = 0; round < 24; ++round) {
    for (uint64_t i = 0; i < 400; ++i) {
      ASSERT_OK(db_->put(tree_, big_endian(mix64(i)), value_of(round * 1000 + i, 4000)));
    }
    if (round % 2 != 0) continue;
    cursors.push_back(db_->cursor(tree_));
    ASSERT_TRUE(cursors.back().seek(big_endian(mix64(round))));
    shown.emplace_back(cursors.back().value());
  }
  // A merge that is under way may be beyond the budget for a moment.
  constexpr size_t kResident = kBudgetBytes + kBudgetBytes / 20;
  EXPECT_TRUE(wait_until([&] {
    const Stats stats = db_->stats();
    return stats.memory_delta_bytes <= kBudgetBytes / 3 && stats.memory_resident_bytes <= kResident;
  }));
  for (size_t i = 0; i < cursors.size(); ++i) {
    EXPECT_EQ(cursors[i].value(), shown[i]);
    const std::string first(cursors[i].key());
    ASSERT_TRUE(cursors[i].next() && cursors[i].prev()) << cursors[i].status().to_string();
    EXPECT_EQ(cursors[i].key(), first);
    EXPECT_EQ(cursors[i].value(), shown[i]);
  }
}

}  // namespace
}  // namespace hawthorn::tests
