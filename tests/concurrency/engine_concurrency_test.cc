// Many threads on one database with a small budget, so that flushes, splits and evictions happen
// all the time: a bank whose total never changes, batches that are seen whole, counters that lose
// no increment, reads that never go back in time (R1, R3, R11, R15 to R18; attacks 16 to 21, 24).
#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "base/sanitizers.h"
#include "db/log_sizing.h"
#include "os/test_point.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

#if defined(HAWTHORN_TSAN)
constexpr uint64_t kOperations = 2'000;
#else
constexpr uint64_t kOperations = 20'000;
#endif

uint64_t operations() { return environment_number("HAWTHORN_OPERATIONS", kOperations); }

int64_t number_in(std::string_view bytes) {
  int64_t number = 0;
  if (bytes.size() >= sizeof(number)) std::memcpy(&number, bytes.data(), sizeof(number));
  return number;
}

// A balance with bytes behind it that follow from it, so that a torn value is noticed.
std::string balance_value(int64_t balance) {
  const auto number = static_cast<uint64_t>(balance);
  return value_of(number, 8 + mix64(number) % 300);
}

bool is_balance(std::string_view bytes) {
  return bytes.size() >= 8 && bytes == balance_value(number_in(bytes));
}

class Concurrency : public ::testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }

  // So that the log is too long for some megabytes already.
  void open_with_short_log() {
    db_.reset();
    db::log_bytes_min = size_t{1} << 20;
    open();
  }
  void TearDown() override {
    db_.reset();
    db::log_bytes_min = log_bytes_min_;
  }

  // Runs the body in a thread of its own until join_all; `number` seeds it.
  void start(std::function<void(Prng&)> body) {
    const uint64_t seed = ++started_ * 1000 + environment_number("HAWTHORN_SEED", 1);
    threads_.emplace_back([body = std::move(body), seed] {
      Prng prng(seed);
      body(prng);
    });
  }
  // Threads that go on while others work.
  void start_until_done(std::function<void(Prng&)> step) {
    start([this, step = std::move(step)](Prng& prng) {
      while (!done_.load(std::memory_order_relaxed) && !::testing::Test::HasFailure()) step(prng);
    });
  }
  // The first `workers` threads end by themselves; the others are told to.
  void join(size_t workers) {
    for (size_t i = 0; i < threads_.size(); ++i) {
      if (i == workers) done_.store(true);
      threads_[i].join();
    }
    threads_.clear();
    done_.store(false);
  }

  // Flushes, compacts, drains, checks.
  void upkeep(Prng& prng) {
    switch (prng.below(6)) {
      case 0:
        EXPECT_OK(db_->compact());
        break;
      case 1:
        EXPECT_OK(db_->drain());
        break;
      case 2:
        EXPECT_TRUE(clean(*db_));
        break;
      case 3:
        static_cast<void>(db_->stats());
        break;
      default:
        EXPECT_OK(db_->flush());
        break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(prng.below(20)));
  }

  Tree tree(const std::string& name) {
    Result<Tree> made = db_->tree(name);
    EXPECT_OK(made.status());
    return made.ok() ? *made : Tree();
  }

  void reopen_and_check() {
    if (::testing::Test::HasFailure()) return;
    EXPECT_TRUE(clean(*db_));
    db_.reset();  // what was not flushed is replayed
    open();
    EXPECT_TRUE(clean(*db_));
  }

  const TempDirectory directory_;
  const size_t log_bytes_min_ = db::log_bytes_min;
  std::unique_ptr<Db> db_;
  std::vector<std::thread> threads_;
  std::atomic<bool> done_{false};
  uint64_t started_ = 0;
};

// Transfers between accounts of two trees; whoever looks at a snapshot sees the same total.
TEST_F(Concurrency, bank_total_is_constant_in_every_snapshot) {
  constexpr uint64_t kAccounts = 3000;
  constexpr int64_t kStart = 1000;
  const std::array<Tree, 2> banks{tree("bank.0"), tree("bank.1")};
  for (const Tree& bank : banks) {
    WriteBatch batch;
    for (uint64_t i = 0; i < kAccounts; ++i) batch.put(bank, big_endian(i), balance_value(kStart));
    ASSERT_OK(db_->write(batch));
  }
  const auto transfer = [&](Prng& prng, TxnMode mode) -> Status {
    Result<Transaction> txn = db_->begin(mode);
    if (!txn.ok()) return txn.status();
    const Tree& from = banks[prng.below(2)];
    const Tree& to = banks[prng.below(2)];
    // A few accounts take part in most transfers: conflicts happen.
    const std::string a = big_endian(prng.below(prng.one_in(2) ? 20 : kAccounts));
    const std::string b = big_endian(prng.below(kAccounts));
    if (&from == &to && a == b) return {};
    Value value;
    if (Status s = txn->get(from, a, value); !s.ok()) return s;
    EXPECT_TRUE(is_balance(value.view()));
    const int64_t left = number_in(value.view());
    if (Status s = txn->get(to, b, value); !s.ok()) return s;
    EXPECT_TRUE(is_balance(value.view()));
    const int64_t right = number_in(value.view());
    const auto amount = static_cast<int64_t>(prng.below(100));
    if (Status s = txn->put(from, a, balance_value(left - amount)); !s.ok()) return s;
    if (Status s = txn->put(to, b, balance_value(right + amount)); !s.ok()) return s;
    if (prng.one_in(10)) {
      txn->abort();
      return {};
    }
    return txn->commit(prng.one_in(100) ? Durability::kFull : Durability::kDefault);
  };
  std::atomic<uint64_t> committed{0};
  std::atomic<uint64_t> sums{0};
  // Until somebody has looked, too.
  const auto goes_on = [&](uint64_t n) {
    return (n < operations() || committed == 0 || sums == 0) && !HasFailure();
  };
  for (int i = 0; i < 3; ++i) {
    start([&, i](Prng& prng) {
      for (uint64_t n = 0; goes_on(n); ++n) {
        const bool exclusive = i == 0 && prng.one_in(20);
        const Status status =
            transfer(prng, exclusive ? TxnMode::kExclusive : TxnMode::kOptimistic);
        if (status.ok()) {
          committed.fetch_add(1);
        } else if (exclusive || !status.is_conflict()) {
          EXPECT_OK(status);
        }
      }
    });
  }
  const auto sum_by_scan = [&](const Snapshot& snapshot) {
    int64_t total = 0;
    for (const Tree& bank : banks) {
      EXPECT_OK(db_->scan(bank, "", std::nullopt,
                          [&](std::span<const Entry> entries) {
                            for (const Entry& entry : entries) {
                              EXPECT_TRUE(is_balance(entry.value));
                              total += number_in(entry.value);
                            }
                            return true;
                          },
                          {.snapshot = &snapshot}));
    }
    return total;
  };
  start_until_done([&](Prng& prng) {
    const Snapshot snapshot = db_->snapshot();
    if (prng.one_in(3)) std::this_thread::sleep_for(std::chrono::milliseconds(prng.below(30)));
    int64_t total = 0;
    if (prng.one_in(2)) {
      total = sum_by_scan(snapshot);
    } else {
      for (const Tree& bank : banks) {
        Cursor cursor = db_->cursor(bank, {.snapshot = &snapshot});
        for (bool more = cursor.last(); more; more = cursor.prev()) {
          EXPECT_TRUE(is_balance(cursor.value()));
          total += number_in(cursor.value());
        }
        EXPECT_OK(cursor.status());
      }
    }
    EXPECT_EQ(total, static_cast<int64_t>(2 * kAccounts) * kStart);
    sums.fetch_add(1);
  });
  start_until_done([&](Prng&) {
    const Snapshot snapshot = db_->snapshot();
    std::vector<std::string> keys(kAccounts);
    for (uint64_t i = 0; i < kAccounts; ++i) keys[i] = big_endian(i);
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    ReadBatch batch;
    int64_t total = 0;
    for (const Tree& bank : banks) {
      EXPECT_OK(db_->multi_get(bank, views, batch, {.snapshot = &snapshot}));
      for (const BatchItem& item : batch.items()) {
        EXPECT_TRUE(item.found() && is_balance(item.value));
        total += number_in(item.value);
      }
    }
    EXPECT_EQ(total, static_cast<int64_t>(2 * kAccounts) * kStart);
    sums.fetch_add(1);
  });
  start_until_done([&](Prng& prng) { upkeep(prng); });
  join(3);
  reopen_and_check();
}

// Every batch writes the same number under many keys of two trees; plain gets never see an older
// number after a newer one, snapshots never see two.
TEST_F(Concurrency, batches_are_seen_whole_and_in_order) {
  constexpr uint64_t kKeys = 40;
  const std::array<Tree, 2> trees{tree("left"), tree("right")};
  const auto key = [](uint64_t i) { return key_of(i * 7 + 1); };
  const auto commit = [&](uint64_t number) {
    WriteBatch batch;
    for (uint64_t i = 0; i < kKeys; ++i) {
      batch.put(trees[i % 2], key(i), balance_value(static_cast<int64_t>(number)));
    }
    return db_->write(batch);
  };
  ASSERT_OK(commit(1));
  start([&](Prng& prng) {
    for (uint64_t n = 2; n < operations() / 4 && !HasFailure(); ++n) {
      ASSERT_OK(commit(n));
      // Filler, so that the containers are flushed and split.
      ASSERT_OK(db_->put(trees[n % 2], "filler" + std::to_string(prng.below(20000)),
                         value_of(n, prng.below(2000))));
    }
  });
  for (int reader = 0; reader < 2; ++reader) {
    // Keys of one thread: each one's number only grows, and no later get shows an older commit.
    auto last = std::make_shared<int64_t>(0);
    start_until_done([&, last](Prng& prng) {
      const uint64_t i = prng.below(kKeys);
      Value value;
      const Status status = db_->get(trees[i % 2], key(i), value);
      EXPECT_OK(status);
      EXPECT_TRUE(is_balance(value.view()));
      EXPECT_GE(number_in(value.view()), *last) << "a read went back in time";
      *last = number_in(value.view());
    });
  }
  start_until_done([&](Prng& prng) {
    const Snapshot snapshot = db_->snapshot();
    int64_t seen = 0;
    for (uint64_t n = 0; n < kKeys; ++n) {
      const uint64_t i = (n * 11 + prng.below(3)) % kKeys;
      Value value;
      EXPECT_OK(db_->get(trees[i % 2], key(i), value, {.snapshot = &snapshot}));
      if (seen == 0) seen = number_in(value.view());
      EXPECT_EQ(number_in(value.view()), seen) << "half a batch";
    }
  });
  start_until_done([&](Prng& prng) { upkeep(prng); });
  join(1);
  reopen_and_check();
}

// Optimistic increments of hot counters: every one that was acknowledged counts (attack 24).
TEST_F(Concurrency, optimistic_increments_are_not_lost) {
  constexpr uint64_t kCounters = 8;
  const Tree counters = tree("counters");
  std::array<std::atomic<int64_t>, kCounters> expected{};
  for (uint64_t i = 0; i < kCounters; ++i) {
    ASSERT_OK(db_->put(counters, big_endian(i), balance_value(0)));
  }
  std::atomic<uint64_t> conflicts{0};
  for (int i = 0; i < 4; ++i) {
    start([&](Prng& prng) {
      for (uint64_t n = 0; n < operations() / 4 && !HasFailure();) {
        const uint64_t counter = prng.below(kCounters);
        Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
        ASSERT_OK(txn.status());
        Value value;
        ASSERT_OK(txn->get(counters, big_endian(counter), value));
        const int64_t number = number_in(value.view());
        value.reset();
        Status status = txn->put(counters, big_endian(counter), balance_value(number + 1));
        if (prng.one_in(50)) std::this_thread::yield();
        if (status.ok()) status = txn->commit();
        if (status.is_conflict()) {
          conflicts.fetch_add(1);
          continue;
        }
        ASSERT_OK(status);
        expected[counter].fetch_add(1);
        ++n;
      }
    });
  }
  start_until_done([&](Prng& prng) { upkeep(prng); });
  join(4);
  for (uint64_t i = 0; i < kCounters; ++i) {
    Value value;
    ASSERT_OK(db_->get(counters, big_endian(i), value));
    EXPECT_EQ(number_in(value.view()), expected[i].load()) << "of counter " << i;
  }
  EXPECT_GE(db_->stats().conflicts, conflicts.load() > 0 ? 1u : 0u);
  reopen_and_check();
}

// Each thread owns its keys: what it wrote is what it reads, whatever happens around it.
TEST_F(Concurrency, threads_read_their_own_writes) {
  constexpr uint64_t kKeys = 2000;
  const Tree shared = tree("shared");
  for (uint64_t t = 0; t < 3; ++t) {
    start([&, t](Prng& prng) {
      std::vector<uint64_t> numbers(kKeys, 0);
      std::vector<size_t> sizes(kKeys, 0);
      for (uint64_t n = 0; n < operations() && !HasFailure(); ++n) {
        const uint64_t i = prng.below(kKeys);
        const uint64_t number = 1 + i * 3 + t;
        const std::string key = key_of(number) + big_endian(number);  // nobody else's
        if (prng.one_in(2)) {
          numbers[i] = prng.one_in(4) ? 0 : prng.next() | 1;
          sizes[i] = random_size(prng, prng.one_in(20));
          ASSERT_OK(numbers[i] == 0 ? db_->del(shared, key)
                                    : db_->put(shared, key, value_of(numbers[i], sizes[i])));
        }
        Value value;
        const Status status = db_->get(shared, key, value);
        if (numbers[i] == 0) {
          ASSERT_TRUE(status.is_not_found()) << status.to_string();
        } else {
          ASSERT_OK(status);
          ASSERT_TRUE(value.view() == value_of(numbers[i], sizes[i])) << "another value";
        }
      }
    });
  }
  start_until_done([&](Prng& prng) {
    // Scans in both directions show ascending, and descending, keys.
    std::string last;
    bool first = true;
    EXPECT_OK(db_->scan(shared, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) {
        EXPECT_TRUE(first || entry.key > last);
        last = entry.key;
        first = false;
      }
      return !prng.one_in(50);
    }));
    Cursor cursor = db_->cursor(shared);
    bool more = cursor.seek_for_prev(last);
    for (int i = 0; more && i < 200; ++i) {
      const std::string at(cursor.key());
      more = cursor.prev();
      if (more) {
        EXPECT_LT(cursor.key(), at);
      }
    }
    EXPECT_OK(cursor.status());
  });
  start_until_done([&](Prng& prng) { upkeep(prng); });
  join(3);
  reopen_and_check();
}

// Transactions of many chunks stay open while others fill the log, which moves on all the same:
// each is seen as a whole or not at all (R8, attack 9).
TEST_F(Concurrency, large_transactions_stay_open_while_the_log_goes_on) {
  constexpr uint64_t kKeys = 600;
  constexpr uint64_t kRounds = 5;
  open_with_short_log();
#if defined(HAWTHORN_TEST_POINTS)
  std::atomic<bool> moved{false};  // something was logged again; there are more rounds until it is
  os::set_test_point("reappender.after_chunk", [&] { moved.store(true); });
#else
  constexpr bool moved = true;  // as far as anybody can tell
#endif
  const std::array<Tree, 2> trees{tree("left"), tree("right")};
  const Tree filler = tree("filler");
  const auto value = [](uint64_t number) {
    return balance_value(static_cast<int64_t>(number)) + std::string(1500, 'v');
  };
  const auto log_end = [&] { return db_->stats().visible_timestamp; };
  std::array<uint64_t, 2> committed{};
  for (uint64_t t = 0; t < 2; ++t) {
    start([&, t](Prng& prng) {
      for (uint64_t round = 1; (round <= kRounds || !moved) && !HasFailure(); ++round) {
        Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
        ASSERT_OK(txn.status());
        // In parts of any size, each followed by a wait.
        for (uint64_t i = 0; i < kKeys && !HasFailure();) {
          const uint64_t end = std::min(kKeys, i + prng.between(150, 400));
          for (; i < end; ++i) ASSERT_OK(txn->put(trees[t], big_endian(i), value(round)));
          const uint64_t enough = log_end() + prng.between(1, 20) * (size_t{1} << 20);
          while (log_end() < enough && !HasFailure()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }
        if (prng.one_in(3)) {
          txn->abort();
          continue;
        }
        ASSERT_OK(txn->commit());
        committed[t] = round;
      }
    });
  }
  for (uint64_t t = 0; t < 2; ++t) {
    start_until_done([&](Prng& prng) {
      const uint64_t number = prng.next();
      EXPECT_OK(db_->put(filler, key_of(prng.below(2000)), value_of(number, 10'000)));
    });
  }
  start_until_done([&](Prng& prng) {
    const Snapshot snapshot = db_->snapshot();
    for (const Tree& seen : trees) {
      std::string first;
      for (uint64_t n = 0; n < 20; ++n) {
        Value found;
        const Status status =
            db_->get(seen, big_endian(prng.below(kKeys)), found, {.snapshot = &snapshot});
        EXPECT_TRUE(status.ok() || status.is_not_found()) << status.to_string();
        const std::string text = status.ok() ? std::string(found.view()) : "none";
        if (n == 0) first = text;
        EXPECT_TRUE(text == first) << "half a transaction";
      }
    }
  });
  start_until_done([&](Prng& prng) { upkeep(prng); });
  join(2);
#if defined(HAWTHORN_TEST_POINTS)
  os::clear_test_points();
#endif
  reopen_and_check();
  for (uint64_t t = 0; t < 2; ++t) {
    const Tree reopened = tree(t == 0 ? "left" : "right");
    for (uint64_t i = 0; i < kKeys && committed[t] > 0; ++i) {
      Value found;
      ASSERT_OK(db_->get(reopened, big_endian(i), found));
      EXPECT_TRUE(found.view() == value(committed[t])) << i;
    }
  }
}

// One that waits in its commit for an exclusive transaction does not move, and nobody waits for it:
// what others log in chunks meanwhile, and then take back, only makes the log longer.
TEST_F(Concurrency, a_commit_that_waits_keeps_the_log) {
  open_with_short_log();
  const Tree kept = tree("kept");
  const Tree dropped = tree("dropped");
  const std::string value(2000, 'v');
  for (int round = 0; round < 3; ++round) {
    const std::string prefix = std::to_string(round);
    Result<Transaction> waiting = db_->begin(TxnMode::kOptimistic);
    ASSERT_OK(waiting.status());
    for (uint64_t i = 0; i < 300; ++i) ASSERT_OK(waiting->put(kept, prefix + big_endian(i), value));
    Result<Transaction> exclusive = db_->begin(TxnMode::kExclusive);
    ASSERT_OK(exclusive.status());
    std::atomic<bool> committed{false};
    std::thread owner([&] {
      EXPECT_OK(waiting->commit());
      committed.store(true);
    });
    for (uint64_t i = 0; i < 60; ++i) {
      Result<Transaction> taken_back = db_->begin(TxnMode::kOptimistic);
      ASSERT_OK(taken_back.status());
      for (uint64_t k = 0; k < 200; ++k) ASSERT_OK(taken_back->put(dropped, big_endian(k), value));
      taken_back->abort();
    }
    ASSERT_OK(db_->drain());
    EXPECT_FALSE(committed.load());
    exclusive->abort();
    owner.join();
    ASSERT_OK(db_->drain());
  }
  reopen_and_check();
  const Tree reopened = tree("kept");
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 300; ++i) {
      Value found;
      ASSERT_OK(db_->get(reopened, std::to_string(round) + big_endian(i), found));
      EXPECT_TRUE(found.view() == value);
    }
  }
}

// Trees come and go while others are used; budgets change.
TEST_F(Concurrency, trees_come_and_go) {
  const Tree steady = tree("steady");
  for (uint64_t t = 0; t < 2; ++t) {
    start([&, t](Prng& prng) {
      for (uint64_t round = 0; round < operations() / 200 && !HasFailure(); ++round) {
        const std::string name = "tree" + std::to_string(t) + "." + std::to_string(round % 3);
        const Tree made = tree(name);
        for (uint64_t i = 0; i < 60; ++i) {
          WriteBatch batch;
          batch.put(made, key_of(prng.below(500)), value_of(i, random_size(prng, false)));
          batch.put(steady, key_of(prng.below(5000)), value_of(i, random_size(prng, false)));
          ASSERT_OK(db_->write(batch));
        }
        const uint64_t count = [&] {
          uint64_t seen = 0;
          EXPECT_OK(db_->scan(made, "", std::nullopt, [&](std::span<const Entry> entries) {
            seen += entries.size();
            return true;
          }));
          return seen;
        }();
        EXPECT_GT(count, 0u);
        ASSERT_OK(db_->drop_tree(name));
        EXPECT_TRUE(db_->put(made, "k", "v").is(StatusCode::kInvalidArgument));
        Value value;
        EXPECT_TRUE(db_->get(made, "k", value).is(StatusCode::kInvalidArgument));
      }
    });
  }
  start_until_done([&](Prng& prng) {
    Value value;
    const Status status = db_->get(steady, key_of(prng.below(5000)), value);
    EXPECT_TRUE(status.ok() || status.is_not_found()) << status.to_string();
  });
  start_until_done([&](Prng& prng) {
    if (prng.one_in(5)) {
      const Status status = db_->set_memory_budget((size_t{16} + prng.below(3) * 8) << 20);
      EXPECT_TRUE(status.ok() || status.is(StatusCode::kOutOfMemory)) << status.to_string();
      EXPECT_OK(db_->warm_up());
    }
    upkeep(prng);
  });
  join(2);
  reopen_and_check();
}

#if defined(HAWTHORN_TEST_POINTS)
// A contended commit that needs a run which is not in memory (R4).
class ContendedCommit : public Concurrency {
 protected:
  void SetUp() override {
    Concurrency::SetUp();
    tree_ = tree("t");
    other_ = tree("other");
    ASSERT_OK(db_->put(tree_, "key", "0"));
    ASSERT_OK(db_->put(tree_, "beside", "0"));
    for (uint64_t written = 0; written < 1'000'000;) {
      WriteBatch batch;
      for (int n = 0; n < 5000; ++n, ++written) {
        // Of two sizes: of one, cursors would read a few blocks at a time.
        batch.put(other_, big_endian(written), written % 2 == 0 ? "" : "x");
      }
      ASSERT_OK(db_->write(batch));
    }
    ASSERT_OK(db_->flush());
  }
  void TearDown() override {
    os::clear_test_points();
    if (meanwhile_.joinable()) meanwhile_.join();
  }

  // The others' indexes alone are larger than the budget.
  void evict() {
    for (int round = 0; round < 2; ++round) {
      EXPECT_OK(db_->scan(other_, "", std::nullopt, [](std::span<const Entry>) { return true; }));
    }
  }
  // An open transaction that has written the key; `overwritten`: so has a later commit.
  Transaction contended(bool overwritten) {
    Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
    EXPECT_OK(txn.status());
    EXPECT_OK(txn->put(tree_, "key", "1"));
    Result<Transaction> second = db_->begin(TxnMode::kOptimistic);
    EXPECT_OK(second.status());
    EXPECT_OK(second->put(tree_, "key", "2"));
    if (overwritten) {
      EXPECT_OK(second->commit());
    } else {
      second->abort();
    }
    EXPECT_OK(db_->put(tree_, "beside", "1"));
    EXPECT_OK(db_->flush());
    evict();
    return std::move(*txn);
  }
  void expect_key(std::string_view expected) {
    Value value;
    ASSERT_OK(db_->get(tree_, "key", value));
    EXPECT_EQ(value.view(), expected);
  }
  // Runs `hook` each time that this thread is about to read a run.
  void when_it_reads(std::function<void()> hook) {
    os::set_test_point("residency.before_run_is_read",
                       [hook = std::move(hook), self = std::this_thread::get_id()] {
                         if (std::this_thread::get_id() == self) hook();
                       });
  }
  // Others commit while it does.
  void expect_commits_meanwhile() {
    when_it_reads([this] {
      if (++read_ > 1) return;
      meanwhile_ = std::thread([this] {
        EXPECT_OK(db_->put(other_, "meanwhile", "v"));
        committed_ = true;
      });
      EXPECT_TRUE(wait_until([this] { return committed_.load(); }))
          << "the log's mutex is held while a run is read";
    });
  }
  // Runs `other` in a thread of its own when this one, having read, comes back to the mutex.
  void when_it_has_read(std::function<void()> other) {
    when_it_reads([this, other = std::move(other), self = std::this_thread::get_id()] {
      if (++read_ > 1) return;
      os::set_test_point("sequencer.commit.before_lock", [other, self] {
        if (std::this_thread::get_id() != self) return;
        os::set_test_point("sequencer.commit.before_lock", {});
        std::thread(other).join();
      });
    });
  }

  Tree tree_;
  Tree other_;
  int read_ = 0;
  std::thread meanwhile_;
  std::atomic<bool> committed_{false};
};

TEST_F(ContendedCommit, reads_without_the_mutex_of_the_log) {
  Transaction txn = contended(false);
  expect_commits_meanwhile();
  EXPECT_OK(txn.commit());
  EXPECT_EQ(read_, 1);
  expect_key("1");
}

TEST_F(ContendedCommit, finds_the_newer_commit_in_the_run) {
  Transaction txn = contended(true);
  expect_commits_meanwhile();
  EXPECT_TRUE(txn.commit().is_conflict());
  EXPECT_EQ(read_, 1);
  expect_key("2");
}

// The run that was read is gone again when the commit comes back to the mutex: what it was found
// not to hold counts all the same.
TEST_F(ContendedCommit, does_not_read_the_same_run_twice) {
  Transaction txn = contended(false);
  when_it_has_read([this] { evict(); });
  EXPECT_OK(txn.commit());
  EXPECT_EQ(read_, 1);
  os::clear_test_points();
  EXPECT_TRUE(clean(*db_));
}

// The run that was read is another one by then, and not in memory: it tells of the newer commit.
TEST_F(ContendedCommit, reads_the_run_of_a_later_flush) {
  Transaction txn = contended(false);
  when_it_has_read([this] {
    EXPECT_OK(db_->put(tree_, "key", "3"));
    EXPECT_OK(db_->flush());
    evict();
  });
  EXPECT_TRUE(txn.commit().is_conflict());
  EXPECT_EQ(read_, 2);
  os::clear_test_points();
  expect_key("3");
}
#endif

}  // namespace
}  // namespace hawthorn::tests
