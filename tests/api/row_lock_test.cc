// Row locks of pessimistic transactions, beside writers of every other kind.
#include <atomic>
#include <deque>
#include <thread>

#include "os/test_point.h"
#include "testing/waiting_thread.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

using testing::WaitingThread;

constexpr uint64_t kLong = 60'000;  // ms: longer than any test waits
constexpr TxnOptions kRowLocking{.mode = TxnMode::kPessimistic,
                                 .isolation = Isolation::kReadCommitted,
                                 .lock_timeout_ms = kLong};

class RowLocking : public Api {
 protected:
  Transaction begin(TxnOptions options = kRowLocking, uint64_t timeout_ms = kLong) {
    options.lock_timeout_ms = timeout_ms;
    Result<Transaction> transaction = db_->begin(options);
    EXPECT_OK(transaction.status());
    return std::move(transaction).value();
  }
  static bool timed_out(const Status& status) {
    EXPECT_TRUE(status.is(StatusCode::kTimedOut)) << status.to_string();
    return status.is(StatusCode::kTimedOut);
  }
  void increment(Transaction& t, std::string_view key) {
    Value value;
    ASSERT_OK(t.get_for_update(tree_, key, value));
    ASSERT_OK(t.put(tree_, key, std::to_string(std::stoi(value.to_string()) + 1)));
  }
};

TEST_F(RowLocking, makes_writers_of_every_kind_wait) {
  ASSERT_OK(db_->put(tree_, "k", "0"));
  Transaction holder = begin();
  Value value;
  ASSERT_OK(holder.get_for_update(tree_, "k", value));
  // A try tells at once, and who it is.
  Transaction other = begin(kRowLocking, 0);
  const Status refused = other.put(tree_, "k", "x");
  ASSERT_TRUE(timed_out(refused));
  EXPECT_NE(refused.message().find("k"), std::string::npos) << refused.to_string();
  EXPECT_TRUE(timed_out(other.lock(tree_, "k", RowLock::kShared)));
  ASSERT_OK(other.put(tree_, "l", "free"));
  Transaction optimistic = begin({}, 0);
  EXPECT_TRUE(timed_out(optimistic.put(tree_, "k", "x")));
  ASSERT_OK(optimistic.put(tree_, "m", "free"));
  EXPECT_TRUE(timed_out(db_->begin({.mode = TxnMode::kExclusive, .lock_timeout_ms = 0}).status()));
  std::atomic<int> written{0};
  std::deque<WaitingThread> writers;
  writers.emplace_back([&] {
    for (Status s; !(s = db_->put(tree_, "k", "plain")).ok();) ASSERT_TRUE(timed_out(s));
    ++written;
  });
  writers.emplace_back([&] {
    WriteBatch batch;
    batch.put(tree_, "k", "batch");
    for (Status s; !(s = db_->write(batch)).ok();) ASSERT_TRUE(timed_out(s));
    ++written;
  });
  writers.emplace_back([&] {
    Transaction waits = begin();
    ASSERT_OK(waits.put(tree_, "k", "pessimistic"));
    ASSERT_OK(waits.commit());
    ++written;
  });
  for (const WaitingThread& writer : writers) EXPECT_TRUE(writer.wait_until_it_waits());
  EXPECT_EQ(written.load(), 0);
  EXPECT_EQ(get("k"), "0") << "readers do not wait";
  ASSERT_OK(holder.put(tree_, "k", "1"));
  ASSERT_OK(holder.commit());
  for (WaitingThread& writer : writers) writer.join();
  EXPECT_EQ(written.load(), 3);
  EXPECT_NE(get("k"), "1");
  ASSERT_OK(optimistic.commit());
  ASSERT_OK(other.commit());
  EXPECT_EQ(get("l"), "free");
}

TEST_F(RowLocking, an_ingest_waits_for_locks) {
  ASSERT_OK(db_->put(tree_, "other", "0"));
  Transaction holder = begin();
  Value value;
  EXPECT_TRUE(holder.get_for_update(tree_, key_of(7), value).is_not_found());
  uint64_t next = 0;
  const auto entries = [&](std::string& key, std::string& bytes) -> Result<bool> {
    if (next == 4000) return false;
    key = big_endian(next++);
    bytes = value_of(next, 600);
    return true;
  };
  const auto ingest = [&] {
    next = 0;
    Ingest made = db_->ingest(tree_).value();
    std::string key;
    std::string bytes;
    for (;;) {
      Result<bool> more = entries(key, bytes);
      if (!*more) break;
      EXPECT_OK(made.add(key, bytes));
    }
    return made.finish();
  };
  const Status refused = ingest();
  EXPECT_TRUE(timed_out(refused));
  EXPECT_EQ(get(big_endian(5)), "NotFound");
  ASSERT_OK(holder.put(tree_, "mine", "1"));
  ASSERT_OK(holder.commit());
  ASSERT_OK(ingest());
  EXPECT_EQ(get(big_endian(5)), value_of(6, 600));
  Transaction later = begin();
  ASSERT_OK(later.put(tree_, "mine", "2"));
  ASSERT_OK(later.commit());
}

TEST_F(RowLocking, an_exclusive_transaction_lets_nobody_lock) {
  Transaction exclusive = begin({.mode = TxnMode::kExclusive});
  Transaction tries = begin(kRowLocking, 0);
  EXPECT_TRUE(timed_out(tries.put(tree_, "k", "x")));
  std::atomic<bool> written{false};
  WaitingThread waiter([&] {
    Transaction t = begin();
    ASSERT_OK(t.put(tree_, "k", "locked"));
    written = true;
    ASSERT_OK(t.commit());
  });
  EXPECT_TRUE(waiter.wait_until_it_waits());
  EXPECT_FALSE(written.load());
  ASSERT_OK(exclusive.put(tree_, "k", "exclusive"));
  ASSERT_OK(exclusive.commit());
  waiter.join();
  EXPECT_EQ(get("k"), "locked");
}

TEST_F(RowLocking, an_exclusive_transaction_waits_for_its_turn_and_no_longer) {
  using Clock = std::chrono::steady_clock;
  Transaction first = begin({.mode = TxnMode::kExclusive});
  std::thread([&] {
    EXPECT_TRUE(
        timed_out(db_->begin({.mode = TxnMode::kExclusive, .lock_timeout_ms = 0}).status()));
    const auto began = Clock::now();
    const Status late = db_->begin({.mode = TxnMode::kExclusive, .lock_timeout_ms = 60}).status();
    EXPECT_TRUE(timed_out(late));
    EXPECT_NE(late.message().find("exclusive"), std::string::npos) << late.to_string();
    EXPECT_GE(Clock::now() - began, std::chrono::milliseconds(59));
    // Who has given up stands in nobody's way, and closes no rows.
    Transaction locks = begin(kRowLocking, 0);
    EXPECT_TRUE(timed_out(locks.put(tree_, "k", "x"))) << "the first one is still open";
  }).join();
#if defined(HAWTHORN_TEST_POINTS)
  // They get it in the order in which they have come, also before who asks again at once.
  std::vector<int> order;
  std::atomic<int> waiting{0};
  os::set_test_point("sequencer.begin_exclusive.waits", [&] { ++waiting; });
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&, i] {
      // The longest time that there is, which must not turn out to be none.
      Transaction t =
          db_->begin({.mode = TxnMode::kExclusive, .lock_timeout_ms = ~uint64_t{0}}).value();
      order.push_back(i);
      ASSERT_OK(t.put(tree_, "k", std::to_string(i)));
      ASSERT_OK(t.commit());
    });
    while (waiting <= i) std::this_thread::yield();
  }
  ASSERT_OK(first.put(tree_, "k", "first"));
  ASSERT_OK(first.commit());
  first = begin({.mode = TxnMode::kExclusive});
  order.push_back(3);
  ASSERT_OK(first.commit());
  for (std::thread& other : others) other.join();
  os::clear_test_points();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(get("k"), "2");
#else
  ASSERT_OK(first.commit());
#endif
  Transaction locks = begin(kRowLocking, 0);
  ASSERT_OK(locks.put(tree_, "k", "locked"));
  ASSERT_OK(locks.commit());
}

TEST_F(RowLocking, deadlocks_are_found_at_once) {
  Transaction one = begin();
  Transaction two = begin();
  ASSERT_OK(one.put(tree_, "a", "1"));
  ASSERT_OK(two.put(tree_, "b", "2"));
  const auto end = [&](Transaction& txn, const char* key, const char* value) {
    const Status status = txn.put(tree_, key, value);
    if (!status.ok()) {
      txn.abort();
    } else {
      EXPECT_OK(txn.commit());
    }
    return status;
  };
  Status first;
  std::thread waiter([&] { first = end(one, "b", "1"); });
  const Status second = end(two, "a", "2");
  waiter.join();
  // Who is the second to wait is told, and the other goes on.
  ASSERT_NE(first.ok(), second.ok()) << first.to_string() << " and " << second.to_string();
  const Status status = first.ok() ? second : first;
  EXPECT_TRUE(status.is(StatusCode::kDeadlock)) << status.to_string();
  EXPECT_NE(status.message().find("\"a\""), std::string::npos) << status.to_string();
  EXPECT_NE(status.message().find("\"b\""), std::string::npos) << status.to_string();
  EXPECT_EQ(get("a"), first.ok() ? "1" : "2");
  EXPECT_EQ(get("b"), first.ok() ? "1" : "2");
}

TEST_F(RowLocking, waits_for_intents_that_were_there_before) {
  ASSERT_OK(db_->put(tree_, "k", "0"));
  Transaction optimistic = begin({});
  ASSERT_OK(optimistic.put(tree_, "k", "optimistic"));
  Transaction tries = begin(kRowLocking, 0);
  Value value;
  EXPECT_TRUE(timed_out(tries.get_for_update(tree_, "k", value)));
  // What failed holds nothing.
  ASSERT_OK(optimistic.put(tree_, "k", "again"));
  std::atomic<bool> locked{false};
  WaitingThread waiter([&] {
    Transaction locking = begin();
    ASSERT_OK(locking.get_for_update(tree_, "k", value));
    locked = true;
    EXPECT_EQ(value.view(), "again");
    ASSERT_OK(locking.put(tree_, "k", "last"));
    ASSERT_OK(locking.commit());
  });
  EXPECT_TRUE(waiter.wait_until_it_waits());
  EXPECT_FALSE(locked.load());
  ASSERT_OK(optimistic.commit());
  waiter.join();
  EXPECT_EQ(get("k"), "last");
}

TEST_F(RowLocking, a_deadlock_of_a_lock_and_an_intent) {
  Transaction optimistic = begin({});
  ASSERT_OK(optimistic.put(tree_, "a", "optimistic"));
  Transaction locking = begin();
  ASSERT_OK(locking.put(tree_, "b", "locking"));
  Status first;
  std::thread waiter([&] {
    first = optimistic.put(tree_, "b", "optimistic");
    if (!first.ok()) optimistic.abort();
  });
  const Status second = locking.put(tree_, "a", "locking");
  if (!second.ok()) locking.abort();
  waiter.join();
  EXPECT_NE(first.is(StatusCode::kDeadlock), second.is(StatusCode::kDeadlock))
      << first.to_string() << " and " << second.to_string();
}

TEST_F(RowLocking, modes) {
  Transaction one = begin(kRowLocking, 0);
  Transaction two = begin(kRowLocking, 0);
  ASSERT_OK(one.lock(tree_, "k", RowLock::kShared));
  ASSERT_OK(two.lock(tree_, "k", RowLock::kUpgradable));
  EXPECT_TRUE(timed_out(two.put(tree_, "k", "x"))) << "another one reads it";
  EXPECT_TRUE(timed_out(one.lock(tree_, "k", RowLock::kUpgradable)));
  one.abort();
  ASSERT_OK(two.put(tree_, "k", "x"));
  ASSERT_OK(two.commit());
  EXPECT_EQ(get("k"), "x");
  Transaction optimistic = begin({});
  EXPECT_TRUE(optimistic.lock(tree_, "k", RowLock::kShared).is(StatusCode::kInvalidArgument));
  Transaction three = begin();
  EXPECT_TRUE(three.lock(tree_, "k", static_cast<RowLock>(7)).is(StatusCode::kInvalidArgument));
  ASSERT_OK(three.lock(tree_, "k", RowLock::kExclusive, 0));
}

TEST_F(RowLocking, a_rollback_lets_go) {
  Transaction t = begin();
  ASSERT_OK(t.put(tree_, "a", "1"));
  const Savepoint savepoint = t.savepoint().value();
  ASSERT_OK(t.put(tree_, "b", "1"));
  ASSERT_OK(t.lock(tree_, "c", RowLock::kShared));
  ASSERT_OK(t.rollback_to(savepoint));
  ASSERT_OK(db_->put(tree_, "b", "plain"));
  ASSERT_OK(db_->put(tree_, "c", "plain"));
  Transaction tries = begin(kRowLocking, 0);
  EXPECT_TRUE(timed_out(tries.put(tree_, "a", "x")));
  {
    Transaction nested = t.begin_nested().value();
    ASSERT_OK(nested.lock(tree_, "d", RowLock::kExclusive));
    EXPECT_TRUE(timed_out(tries.put(tree_, "d", "x")));
  }
  ASSERT_OK(tries.put(tree_, "d", "x"));
  ASSERT_OK(t.commit());
  ASSERT_OK(tries.put(tree_, "a", "x"));
  ASSERT_OK(tries.commit());
}

TEST_F(RowLocking, a_snapshot_is_not_written_over) {
  ASSERT_OK(db_->put(tree_, "k", "0"));
  for (const bool flushes : {false, true}) {
    Transaction t = begin({.mode = TxnMode::kPessimistic});
    ASSERT_OK(db_->put(tree_, "k", "1"));
    if (flushes) ASSERT_OK(db_->flush());
    Value value;
    ASSERT_OK(t.get(tree_, "k", value));
    EXPECT_EQ(value.view(), flushes ? "1" : "0");
    EXPECT_TRUE(t.get_for_update(tree_, "k", value).is_conflict());
    EXPECT_TRUE(t.lock(tree_, "k", RowLock::kShared).is_conflict());
    EXPECT_TRUE(t.put(tree_, "k", "2").is_conflict());
    t.abort();
  }
  // Under read committed the lock is what counts.
  Transaction t = begin();
  ASSERT_OK(db_->put(tree_, "k", "7"));
  increment(t, "k");
  ASSERT_OK(t.commit());
  EXPECT_EQ(get("k"), "8");
}

// Writers of all kinds count up the same few rows: nothing is lost.
TEST_F(RowLocking, increments_of_every_kind) {
  constexpr int kRows = 5;
  constexpr int kThreads = 8;
  constexpr int kEach = 300;
  const auto row = [](int number) { return "row" + std::to_string(number); };
  for (int i = 0; i < kRows; ++i) ASSERT_OK(db_->put(tree_, row(i), "0"));
  const auto two_rows = [&](Prng& prng, const TxnOptions& how) -> Status {
    Transaction t = begin(how);
    for (int i = 0; i < 2; ++i) {
      const std::string key = row(static_cast<int>(prng.below(kRows)));
      Value value;
      if (Status s = t.get_for_update(tree_, key, value); !s.ok()) return s;
      const std::string next = std::to_string(std::stoi(value.to_string()) + 1);
      if (Status s = t.put(tree_, key, next); !s.ok()) return s;
    }
    return t.commit();
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      Prng prng(static_cast<uint64_t>(number));
      for (int done = 0; done < kEach;) {
        Status status;
        switch (number % 4) {
          case 0:
            status = two_rows(prng, kRowLocking);
            break;
          case 1:
            status = two_rows(prng, {});
            break;
          case 2:
            status = two_rows(
                prng, {.mode = TxnMode::kPessimistic, .isolation = Isolation::kSerializable});
            break;
          default:
            for (int i = 0; i < 2;) {
              const std::string key = row(static_cast<int>(prng.below(kRows)));
              const std::string seen = get(key);
              const Result<bool> set =
                  db_->replace(tree_, key, seen, std::to_string(std::stoi(seen) + 1));
              ASSERT_TRUE(set.ok() || set.status().is(StatusCode::kTimedOut))
                  << set.status().to_string();
              if (set.ok() && *set) ++i;
            }
        }
        if (status.ok()) {
          ++done;
          continue;
        }
        ASSERT_TRUE(status.is_conflict() || status.is(StatusCode::kDeadlock)) << status.to_string();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (int i = 0; i < kRows; ++i) sum += std::stoi(get(row(i)));
  EXPECT_EQ(sum, kThreads * kEach * 2);
}

// Behind the lock the answer stays, whatever the version lies in.
TEST_F(RowLocking, whether_a_key_has_changed_since_a_moment) {
  put("changed", "old");
  put("deleted", "old");
  put("same", "old");
  const auto is_changed = [this](std::string_view key, const Snapshot& since) {
    const Result<bool> changed = db_->changed_since(tree_, key, since);
    EXPECT_OK(changed.status());
    return changed.ok() && *changed;
  };
  const Snapshot before = db_->snapshot();
  Transaction open = begin();
  ASSERT_OK(open.put(tree_, "same", "of an open transaction"));
  put("changed", "new");
  put("made", "new");
  ASSERT_OK(db_->del(tree_, "deleted"));
  const Snapshot behind = db_->snapshot();
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(is_changed("changed", before));
    EXPECT_TRUE(is_changed("made", before));
    EXPECT_TRUE(is_changed("deleted", before));
    EXPECT_FALSE(is_changed("same", before));
    EXPECT_FALSE(is_changed("absent", before));
    for (const char* key : {"changed", "made", "deleted", "same"}) {
      EXPECT_FALSE(is_changed(key, behind)) << key;
    }
    ASSERT_OK(db_->flush());
  }
  ASSERT_OK(open.commit());
  EXPECT_TRUE(is_changed("same", behind));
  EXPECT_TRUE(
      db_->changed_since(tree_, "same", Snapshot()).status().is(StatusCode::kInvalidArgument));
}

#if defined(HAWTHORN_TEST_POINTS)
// A commit has ended its intents, and is not visible yet: who locks the row then reads it all the
// same.
TEST_F(RowLocking, what_is_committed_just_before_a_lock_is_read_under_it) {
  put("k", "old");
  Transaction t = begin({.mode = TxnMode::kPessimistic, .isolation = Isolation::kReadCommitted});
  ASSERT_OK(t.lock(tree_, "other", RowLock::kExclusive));
  std::atomic<bool> met{false};
  std::atomic<bool> begun{false};
  std::string seen;
  std::thread reader;
  os::set_test_point("sequencer.await_visible.waits", [&] { met = true; });
  os::set_test_point("sequencer.commit.before_visible", [&] {
    if (begun.exchange(true)) return;
    reader = std::thread([&] {
      Value value;
      EXPECT_OK(t.get_for_update(tree_, "k", value));
      seen = value.to_string();
      met = true;  // too early, where it has not waited
    });
    while (!met) std::this_thread::yield();
  });
  put("k", "new");
  reader.join();
  os::clear_test_points();
  EXPECT_EQ(seen, "new");
  t.abort();
}
#endif

}  // namespace
}  // namespace hawthorn::tests
