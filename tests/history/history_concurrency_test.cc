// Clients in many threads of one process, with flushes beside them and a reopen in between: the
// isolation that the engine promises, and that a client which breaks it is caught.
#include <atomic>
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
  // Runs the client twice, with a reopen in between, and reads everything at the end.
  void run(ClientOptions options) {
    options.transactions = tests::environment_number("HAWTHORN_TRANSACTIONS", options.transactions);
    options.seed = tests::environment_number("HAWTHORN_SEED", options.seed);
    const tests::TempDirectory directory;
    const auto recording = make_recording(directory, options);
    ASSERT_NE(recording, nullptr);
    const uint64_t transactions = options.transactions;
    for (const uint64_t until : {transactions / 2, transactions}) {
      Result<std::unique_ptr<Db>> db = Db::open(directory / "db", small_options());
      ASSERT_OK(db.status());
      std::atomic<bool> done{false};
      std::thread upkeep([&] {
        while (!done.load()) {
          EXPECT_OK((*db)->flush());
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
      });
      options.transactions = until;
      ++options.seed;
      const Status status = run_client(**db, options, *recording);
      done.store(true);
      upkeep.join();
      ASSERT_OK(status);
      if (until == transactions) ASSERT_OK(read_everything(**db, options.begin, *recording));
      ASSERT_TRUE(tests::clean(**db));
    }
    history_ = recording->history();
    ASSERT_GE(history_.transactions.size(), transactions);
  }

  History history_;
};

TEST_F(EngineHistory, optimistic_transactions_have_snapshot_isolation) {
  ASSERT_NO_FATAL_FAILURE(run({.begin = begin_optimistic, .transactions = kTransactions}));
  EXPECT_TRUE(allowed(history_, Level::kSnapshot, kStrong));
  // Conflicts and commits, both in numbers.
  EXPECT_GT(count_of(history_, Outcome::kAborted), history_.transactions.size() / 20);
  EXPECT_GT(count_of(history_, Outcome::kCommitted), history_.transactions.size() / 4);
}

TEST_F(EngineHistory, exclusive_transactions_are_serializable) {
  ASSERT_NO_FATAL_FAILURE(run({.begin = begin_exclusive, .transactions = kTransactions / 2}));
  EXPECT_TRUE(allowed(history_, Level::kSerializable, kStrong));
}

TEST_F(EngineHistory, serializable_ones_of_all_modes_are_serializable_together) {
  ASSERT_NO_FATAL_FAILURE(run({.begin = begin_any_serializable, .transactions = kTransactions}));
  EXPECT_TRUE(allowed(history_, Level::kSerializable, kStrong));
  EXPECT_GT(count_of(history_, Outcome::kCommitted), history_.transactions.size() / 8);
}

TEST_F(EngineHistory, optimistic_serializable_ones) {
  ASSERT_NO_FATAL_FAILURE(run({.begin = begin_serializable, .transactions = kTransactions / 2}));
  EXPECT_TRUE(allowed(history_, Level::kSerializable, kStrong));
  EXPECT_GT(count_of(history_, Outcome::kCommitted), history_.transactions.size() / 8);
}

TEST_F(EngineHistory, locking_ones_are_read_committed_and_no_more) {
  ASSERT_NO_FATAL_FAILURE(
      run({.begin = begin_locking, .transactions = kTransactions / 2, .for_update = true}));
  EXPECT_TRUE(allowed(history_, Level::kReadCommitted, {}));
  const std::vector<Anomaly> found = check(history_, Level::kSnapshot, {});
  EXPECT_TRUE(has(found, AnomalyKind::kGSingle)) << to_text(found);
}

TEST_F(EngineHistory, puts_outside_of_the_transaction_are_caught) {
  ASSERT_NO_FATAL_FAILURE(
      run({.begin = begin_optimistic, .transactions = kTransactions / 2, .blind_puts = true}));
  const std::vector<Anomaly> found = check(history_, Level::kSnapshot, kStrong);
  EXPECT_TRUE(has(found, AnomalyKind::kLostUpdate)) << to_text(found);
  EXPECT_TRUE(has(found, AnomalyKind::kLostElement)) << to_text(found);
}

}  // namespace
}  // namespace hawthorn::history
