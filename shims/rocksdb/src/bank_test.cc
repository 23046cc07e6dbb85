// Transfers between accounts by several threads: the sum holds, in every view, and at the end.

#include <atomic>
#include <random>
#include <thread>

#include "shims/rocksdb/src/transactions_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::WriteOptions;

constexpr int kAccounts = 12;
constexpr int kThreads = 4;
constexpr int kEach = 300;
constexpr int kFirst = 1000;

std::string account(size_t number) { return "account" + std::to_string(100 + number); }

class Bank : public TransactionsTest {
 protected:
  void fill() {
    for (int i = 0; i < kAccounts; ++i) {
      ASSERT_OK(put(account(static_cast<size_t>(i)), std::to_string(kFirst)));
    }
  }
  // Moves something; what it returns but OK asks to try it again.
  static Status transfer(Transaction& in, size_t from, size_t to, int amount) {
    std::string a;
    std::string b;
    Status s = in.GetForUpdate(ReadOptions(), account(from), &a);
    if (s.ok()) s = in.GetForUpdate(ReadOptions(), account(to), &b);
    if (s.ok()) s = in.Put(account(from), std::to_string(std::stoi(a) - amount));
    if (s.ok()) s = in.Put(account(to), std::to_string(std::stoi(b) + amount));
    return s.ok() ? in.Commit() : s;
  }
  static bool may_be_tried_again(const Status& s) {
    return s.IsBusy() || s.IsTimedOut() || s.IsTryAgain();
  }
  int sum() {
    int total = 0;
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(ReadOptions()));
    for (at->SeekToFirst(); at->Valid(); at->Next()) total += std::stoi(at->value().ToString());
    EXPECT_OK(at->status());
    return total;
  }

  // `begin(old)` gives a transaction, the old one again or a new one. The threads go on until each
  // has made its transfers, and the sum was taken between some of them.
  template <typename Begin>
  void run(const Begin& begin) {
    constexpr int kLooks = 3;
    std::atomic<int> looks{0};
    std::atomic<int> running{kThreads};
    std::atomic<bool> failed{false};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        std::mt19937 random(static_cast<unsigned>(thread));
        TransactionPtr t;
        for (int i = 0; (i < kEach || looks < kLooks) && !failed; ++i) {
          const size_t from = random() % kAccounts;
          const size_t to = (from + 1 + random() % (kAccounts - 1)) % kAccounts;
          for (;;) {
            Transaction* const begun = begin(t.get());
            if (begun != t.get()) t.reset(begun);
            const Status s = transfer(*t, from, to, static_cast<int>(random() % 100));
            if (s.ok()) break;
            if (!may_be_tried_again(s)) {
              ADD_FAILURE() << s.ToString();
              failed = true;
              break;
            }
            EXPECT_OK(t->Rollback());
          }
        }
        --running;
      });
    }
    while (running > 0) {
      EXPECT_EQ(sum(), kAccounts * kFirst);
      ++looks;
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(sum(), kAccounts * kFirst);
  }
};

TEST_F(Bank, TransactionsThatLock) {
  open_transactions();
  fill();
  run([this](Transaction* old) {
    return transactions_->BeginTransaction(WriteOptions(), {}, old);
  });
  EXPECT_TRUE(transactions_->GetLockStatusData().empty());
}

// Some expire in the middle, and lose their locks to others.
TEST_F(Bank, TransactionsThatExpire) {
  open_transactions();
  fill();
  std::atomic<int> number{0};
  std::atomic<int> expired{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(static_cast<unsigned>(thread));
      for (int i = 0; i < kEach || expired == 0; ++i) {
        const size_t from = random() % kAccounts;
        const size_t to = (from + 1 + random() % (kAccounts - 1)) % kAccounts;
        for (;;) {
          rocksdb::TransactionOptions options;
          // Each third one at once or soon, and is tried again without.
          const int n = number++;
          if (n % 3 == 0) options.expiration = n % 2;
          const TransactionPtr t = begin(options);
          const Status s = transfer(*t, from, to, static_cast<int>(random() % 100));
          if (s.ok()) break;
          if (s.IsExpired()) ++expired;
          ASSERT_TRUE(s.IsExpired() || may_be_tried_again(s)) << s.ToString();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum(), kAccounts * kFirst);
  EXPECT_TRUE(transactions_->GetLockStatusData().empty());
}

TEST_F(Bank, OptimisticTransactions) {
  open_optimistic();
  fill();
  run([this](Transaction* old) { return optimistic_->BeginTransaction(WriteOptions(), {}, old); });
}

TEST_F(Bank, TransactionsInTwoPhases) {
  open_transactions();
  fill();
  std::atomic<int> number{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(static_cast<unsigned>(thread));
      for (int i = 0; i < kEach / 10; ++i) {
        const TransactionPtr t = begin();
        ASSERT_OK(t->SetName("t" + std::to_string(number++)));
        // In the order of accounts, so that nobody waits for ever.
        const size_t from = random() % (kAccounts - 1);
        const size_t to = from + 1 + random() % (kAccounts - 1 - from);
        std::string a;
        std::string b;
        t->SetLockTimeout(-1);
        ASSERT_OK(t->GetForUpdate(ReadOptions(), account(from), &a));
        ASSERT_OK(t->GetForUpdate(ReadOptions(), account(to), &b));
        ASSERT_OK(t->Put(account(from), std::to_string(std::stoi(a) - 1)));
        ASSERT_OK(t->Put(account(to), std::to_string(std::stoi(b) + 1)));
        ASSERT_OK(t->Prepare());
        ASSERT_OK(random() % 3 == 0 ? t->Rollback() : t->Commit());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum(), kAccounts * kFirst);
}

}  // namespace
}  // namespace hawthorn::rocks
