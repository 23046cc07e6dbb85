// Readers and writers of several threads.

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "shims/mdbx/src/mdbx_test_support.h"

namespace hawthorn::mdbx {
namespace {

// One less of those that others wait for: now, or where the thread ends, by an assertion too.
class Leaving {
 public:
  explicit Leaving(std::atomic<int>* left) : left_(left) {}
  ~Leaving() { now(); }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

  void now() {
    if (left_ != nullptr) --*std::exchange(left_, nullptr);
  }

 private:
  std::atomic<int>* left_;
};

class ThreadsTest : public Environments, public ::testing::WithParamInterface<unsigned> {};

// Each transaction moves something from one account to another: the sum stays. The writers go on
// until each reader has looked in between.
TEST_P(ThreadsTest, EachTransactionIsSeenAsAWhole) {
  open(MDBX_SAFE_NOSYNC | GetParam());
  constexpr int kAccounts = 10;
  constexpr int kTransfers = 2000;
  constexpr int kWriters = 2;
  constexpr int kReaders = 3;
  constexpr int kLooks = 5;
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "accounts");
  for (int i = 0; i < kAccounts; ++i) ASSERT_DONE(put(txn, dbi, std::to_string(i), "1000"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  std::atomic<int> writing{kWriters};
  std::atomic<int> to_look{kReaders};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      const Leaving leaves(&writing);
      for (int i = 0; i < kTransfers || to_look > 0; ++i) {
        MDBX_txn* mine = begin();
        const std::string from = std::to_string((i + writer) % kAccounts);
        const std::string to = std::to_string((i * 7 + 3) % kAccounts);
        const int has = std::stoi(get(mine, dbi, from));
        ASSERT_DONE(put(mine, dbi, from, std::to_string(has - 1)));
        const int there = std::stoi(get(mine, dbi, to));
        ASSERT_DONE(put(mine, dbi, to, std::to_string(there + 1)));
        if (i % 10 == 0) {
          ASSERT_DONE(mdbx_txn_abort(mine));
        } else {
          ASSERT_DONE(mdbx_txn_commit(mine));
        }
      }
    });
  }
  for (int reader = 0; reader < kReaders; ++reader) {
    threads.emplace_back([&] {
      Leaving leaves(&to_look);
      int looks = 0;
      MDBX_txn* mine = begin(MDBX_TXN_RDONLY);
      MDBX_cursor* cursor = nullptr;
      ASSERT_DONE(mdbx_cursor_open(mine, dbi, &cursor));
      while (writing > 0) {
        int sum = 0;
        MDBX_val key;
        MDBX_val value;
        int code = mdbx_cursor_get(cursor, &key, &value, MDBX_FIRST);
        for (; code == MDBX_SUCCESS; code = mdbx_cursor_get(cursor, &key, &value, MDBX_NEXT)) {
          sum += std::stoi(text(value));
        }
        ASSERT_EQ(sum, kAccounts * 1000);
        if (++looks == kLooks) leaves.now();
        ASSERT_DONE(mdbx_txn_reset(mine));
        ASSERT_DONE(mdbx_txn_renew(mine));
        ASSERT_DONE(mdbx_cursor_renew(mine, cursor));
      }
      mdbx_cursor_close(cursor);
      ASSERT_DONE(mdbx_txn_abort(mine));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Tables come and go beside readers.
TEST_P(ThreadsTest, TablesComeAndGo) {
  open(MDBX_SAFE_NOSYNC | GetParam());
  MDBX_txn* txn = begin();
  const MDBX_dbi stays = table(txn, "stays");
  ASSERT_DONE(put(txn, stays, "k", "v"));
  ASSERT_DONE(mdbx_txn_commit(txn));
  constexpr int kReaders = 2;
  constexpr int kLooks = 20;
  std::atomic<bool> writing{true};
  std::atomic<int> to_look{kReaders};
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      Leaving leaves(&to_look);
      for (int looks = 0; writing; ++looks) {
        if (looks == kLooks) leaves.now();
        MDBX_txn* mine = begin(MDBX_TXN_RDONLY);
        ASSERT_EQ(get(mine, stays, "k"), "v");
        MDBX_dbi comes = 0;
        const int code = mdbx_dbi_open(mine, "comes", MDBX_DB_DEFAULTS, &comes);
        if (code == MDBX_SUCCESS) {
          const std::string found = get(mine, comes, "k");
          EXPECT_TRUE(found == "here" || found == mdbx_strerror(MDBX_BAD_DBI)) << found;
        } else {
          EXPECT_TRUE(code == MDBX_NOTFOUND || code == MDBX_BAD_DBI) << code;
        }
        ASSERT_DONE(mdbx_txn_abort(mine));
      }
    });
  }
  for (int i = 0; i < 200 || to_look > 0; ++i) {
    MDBX_txn* mine = begin();
    const MDBX_dbi comes = table(mine, "comes");
    ASSERT_DONE(put(mine, comes, "k", "here"));
    ASSERT_DONE(mdbx_txn_commit(mine));
    mine = begin();
    ASSERT_DONE(mdbx_drop(mine, comes, true));
    ASSERT_DONE(mdbx_txn_commit(mine));
  }
  writing = false;
  for (std::thread& reader : readers) reader.join();
}

// What is not synced yet is counted right where several threads sync at once.
TEST_P(ThreadsTest, SyncsAtOnceCountOnce) {
  open(MDBX_SAFE_NOSYNC | GetParam());
  MDBX_txn* txn = begin();
  const MDBX_dbi dbi = table(txn, "t");
  ASSERT_DONE(mdbx_txn_commit(txn));
  constexpr int kThreads = 3;
  constexpr int kSyncs = 10;
  std::atomic<bool> writing{true};
  std::atomic<int> to_sync{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Leaving leaves(&to_sync);
      for (int syncs = 0; writing; ++syncs) {
        if (syncs == kSyncs) leaves.now();
        const int code = mdbx_env_sync_ex(env_, true, false);
        ASSERT_TRUE(code == MDBX_SUCCESS || code == MDBX_RESULT_TRUE) << code;
      }
    });
  }
  uint64_t written = 0;
  for (int i = 0; i < 300 || to_sync > 0; ++i) {
    txn = begin();
    ASSERT_DONE(put(txn, dbi, std::to_string(i), std::string(100, 'v')));
    ASSERT_DONE(mdbx_txn_commit(txn));
    written += 200;
    MDBX_envinfo info;
    ASSERT_DONE(mdbx_env_info_ex(env_, nullptr, &info, sizeof(info)));
    EXPECT_LE(info.mi_unsync_volume, written);
  }
  writing = false;
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Modes, ThreadsTest, ::testing::Values(0U, unsigned{MDBX_NOSTICKYTHREADS}),
                         [](const auto& instance) {
                           return instance.param == 0 ? "sticky" : "not_sticky";
                         });

}  // namespace
}  // namespace hawthorn::mdbx
