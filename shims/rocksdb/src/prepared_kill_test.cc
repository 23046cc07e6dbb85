// A process that prepares and ends transactions is killed in the middle: each one that was said to
// be prepared is, or has the outcome that was asked for, and all of it or nothing is there.

#include <atomic>
#include <random>
#include <set>

#include "shims/kill_test_support.h"
#include "shims/rocksdb/src/transactions_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::Transaction;

class PreparedKills : public TransactionsTest, public ::testing::WithParamInterface<bool> {
 protected:
  // What the child was about to do, and has done: numbers of transactions.
  struct Progress {
    std::atomic<int> begun{0};
    std::atomic<int> prepared{0};
    std::atomic<int> ending{0};
    std::atomic<int> ended{0};
  };

  static std::string name_of(int number) { return "t" + std::to_string(number); }
  static std::string key_of(int number) { return std::to_string(1'000'000 + number); }
  static bool commits(int number) { return number % 3 != 0; }

  // In the child. Each one writes a key of its own in both families.
  void work_for_ever() {
    if (!try_open_transactions({"default", "other"}).ok()) _exit(1);
    for (int i = progress_->begun + 1;; ++i) {
      progress_->begun = i;
      rocksdb::WriteOptions options;
      options.sync = GetParam();
      const TransactionPtr t(transactions_->BeginTransaction(options));
      const bool good = t->SetName(name_of(i)).ok() && t->Put(key_of(i), name_of(i)).ok() &&
                        t->Put(handles_[1], key_of(i), name_of(i)).ok() && t->Prepare().ok();
      if (!good) _exit(1);
      progress_->prepared = i;
      progress_->ending = i;
      if (!(commits(i) ? t->Commit() : t->Rollback()).ok()) _exit(1);
      progress_->ended = i;
    }
  }

  void check() {
    ASSERT_OK(try_open_transactions({"default", "other"}));
    const int last = progress_->begun;
    std::vector<Transaction*> left;
    transactions_->GetAllPreparedTransactions(&left);
    ASSERT_LE(left.size(), 1U);
    if (!left.empty()) {
      const TransactionPtr found(left[0]);  // who ends it deletes it
      ASSERT_EQ(found->GetName(), name_of(last));
      ASSERT_EQ(get(key_of(last)), "(missing)");
      ASSERT_LT(progress_->ended, last) << "it has its outcome";
      ASSERT_OK(commits(last) ? found->Commit() : found->Rollback());
    } else if (last == settled_) {
      // It was killed before it began another one.
    } else if (progress_->prepared == last) {
      ASSERT_EQ(progress_->ending, last) << "what was prepared is gone";
    } else {
      never_.insert(last);
    }
    for (int i = 1; i <= last; ++i) {
      const std::string found = get(key_of(i));
      ASSERT_EQ(found, get(key_of(i), handles_[1])) << i;
      ASSERT_EQ(found, commits(i) && !never_.contains(i) ? name_of(i) : "(missing)") << i;
    }
    // Nothing holds its key any more.
    const TransactionPtr t = begin();
    ASSERT_OK(t->Put(key_of(last), "free"));
    ASSERT_OK(t->Rollback());
    settled_ = last;
  }

  SharedWithChildren<Progress> progress_;
  std::set<int> never_;  // were not prepared when it was killed
  int settled_ = 0;
};

TEST_P(PreparedKills, KeepWhatWasPrepared) {
  std::mt19937 random(GetParam() ? 1 : 2);
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds && !HasFatalFailure(); ++round) {
    ASSERT_NO_FATAL_FAILURE(
        kill_in_the_middle(random, round, progress_->ended, [this] { work_for_ever(); }));
    check();
    close();
  }
  EXPECT_GT(settled_, 0);
}

INSTANTIATE_TEST_SUITE_P(Durability, PreparedKills, ::testing::Bool(),
                         [](const auto& instance) { return instance.param ? "sync" : "no_sync"; });

}  // namespace
}  // namespace hawthorn::rocks
