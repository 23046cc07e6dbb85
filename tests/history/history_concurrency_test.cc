// Clients in many threads of one process, with flushes beside them and a reopen in between: the
// isolation that the engine promises, and that a client which breaks it is caught.
#include <atomic>
#include <functional>
#include <thread>

#include "tests/history/engine_history_test.h"

namespace hawthorn::history {
namespace {

#if defined(HAWTHORN_TSAN)
constexpr uint64_t kTransactions = 2'000;
#else
constexpr uint64_t kTransactions = 10'000;
#endif

class EngineHistory : public ::testing::Test {
 protected:
  // Runs the client twice, with a reopen in between, and reads everything at the end. How often
  // transactions meet depends on who gets a processor: there are more until the history has what
  // it must have, or its recording is full.
  void run(ClientOptions options, const std::function<bool()>& is_enough = [] { return true; }) {
    options.transactions = tests::environment_number("HAWTHORN_TRANSACTIONS", options.transactions);
    options.seed = tests::environment_number("HAWTHORN_SEED", options.seed);
    const tests::TempDirectory directory;
    const auto recording = make_recording(directory, options);
    ASSERT_NE(recording, nullptr);
    transactions_ = options.transactions;
    options.transactions = 0;
    for (bool ends = false; !ends;) {
      Result<std::unique_ptr<Db>> db = Db::open(directory / "db", small_options());
      ASSERT_OK(db.status());
      std::atomic<bool> done{false};
      std::thread upkeep([&] {
        while (!done.load()) {
          EXPECT_OK((*db)->flush());
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
      });
      options.transactions += transactions_ / 2;
      ++options.seed;
      const Status status = run_client(**db, options, *recording);
      done.store(true);
      upkeep.join();
      ASSERT_OK(status);
      history_ = recording->history();
      ends = history_.transactions.size() >= transactions_ && is_enough();
      if (ends) ASSERT_OK(read_everything(**db, options.begin, *recording));
      ASSERT_TRUE(tests::clean(**db));
    }
    history_ = recording->history();
  }

  // Whether more than one in so many of the transactions that were asked for ended so.
  bool has_many(Outcome outcome, uint64_t one_in) const {
    return count_of(history_, outcome) > transactions_ / one_in;
  }

  uint64_t transactions_ = 0;
  History history_;
};

TEST_F(EngineHistory, optimistic_transactions_have_snapshot_isolation) {
  // Conflicts and commits, both in numbers.
  const auto both = [this] {
    return has_many(Outcome::kAborted, 20) && has_many(Outcome::kCommitted, 4);
  };
  ASSERT_NO_FATAL_FAILURE(run({.begin = begin_optimistic, .transactions = kTransactions}, both));
  EXPECT_TRUE(allowed(history_, Level::kSnapshot, kStrong));
}

TEST_F(EngineHistory, exclusive_transactions_are_serializable) {
  ASSERT_NO_FATAL_FAILURE(run({.begin = begin_exclusive, .transactions = kTransactions / 2}));
  EXPECT_TRUE(allowed(history_, Level::kSerializable, kStrong));
}

TEST_F(EngineHistory, serializable_ones_of_all_modes_are_serializable_together) {
  ASSERT_NO_FATAL_FAILURE(run({.begin = begin_any_serializable, .transactions = kTransactions},
                              [this] { return has_many(Outcome::kCommitted, 8); }));
  EXPECT_TRUE(allowed(history_, Level::kSerializable, kStrong));
}

TEST_F(EngineHistory, optimistic_serializable_ones) {
  ASSERT_NO_FATAL_FAILURE(run({.begin = begin_serializable, .transactions = kTransactions / 2},
                              [this] { return has_many(Outcome::kCommitted, 8); }));
  EXPECT_TRUE(allowed(history_, Level::kSerializable, kStrong));
}

TEST_F(EngineHistory, locking_ones_are_read_committed_and_no_more) {
  const auto no_more = [this] {
    return has(check(history_, Level::kSnapshot, {}), AnomalyKind::kGSingle);
  };
  ASSERT_NO_FATAL_FAILURE(run(
      {.begin = begin_locking, .transactions = kTransactions / 2, .for_update = true}, no_more));
  EXPECT_TRUE(allowed(history_, Level::kReadCommitted, {}));
}

TEST_F(EngineHistory, puts_outside_of_the_transaction_are_caught) {
  const auto lost = [this] {
    return has(check(history_, Level::kSnapshot, kStrong), AnomalyKind::kLostUpdate);
  };
  ASSERT_NO_FATAL_FAILURE(run(
      {.begin = begin_optimistic, .transactions = kTransactions / 2, .blind_puts = true}, lost));
  const std::vector<Anomaly> found = check(history_, Level::kSnapshot, kStrong);
  EXPECT_TRUE(has(found, AnomalyKind::kLostUpdate)) << to_text(found);
  EXPECT_TRUE(has(found, AnomalyKind::kLostElement)) << to_text(found);
}

}  // namespace
}  // namespace hawthorn::history
