#include "shims/sqlite/src/writer_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "testing/wait.h"

namespace hawthorn::sqlite::writer_lock_test {
namespace {

constexpr int64_t kLong = testing::kHangLimitMs;

TEST(WriterLockTest, OneWritesOrManyCommit) {
  WriterLock lock;
  ASSERT_TRUE(lock.lock(0));
  EXPECT_FALSE(lock.lock(0));
  EXPECT_FALSE(lock.lock(1));
  EXPECT_FALSE(lock.lock_shared(0));
  EXPECT_FALSE(lock.lock_shared(1));
  lock.unlock();
  ASSERT_TRUE(lock.lock_shared(0));
  ASSERT_TRUE(lock.lock_shared(0));
  EXPECT_FALSE(lock.lock(1));
  lock.unlock_shared();
  EXPECT_FALSE(lock.lock(1)) << "one of two has gone";
  lock.unlock_shared();
  ASSERT_TRUE(lock.lock(0));
  lock.unlock();
}

// One thread unlocks when another one has waited, and comes back before the one that it wakes; that
// one is the next all the same, each time.
TEST(WriterLockTest, WhoHasWaitedIsNext) {
  WriterLock lock;
  std::atomic<bool> ends{false};
  std::atomic<int> turns{0};  // of the busy one
  std::thread busy([&] {
    while (!ends) {
      EXPECT_TRUE(lock.lock(kLong));
      ++turns;
      EXPECT_TRUE(testing::wait_until([&] { return lock.waiting() > 0 || ends; }));
      std::this_thread::sleep_for(2 * WriterLock::kPatience);
      lock.unlock();
    }
  });
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_TRUE(testing::wait_until([&] { return turns == turn + 1; }));
    ASSERT_TRUE(lock.lock(kLong));
    EXPECT_EQ(turns, turn + 1);
    lock.unlock();
  }
  ends = true;
  busy.join();
}

TEST(WriterLockTest, CommitsAndWritersTakeTurns) {
  WriterLock lock;
  ASSERT_TRUE(lock.lock(0));
  std::atomic<int> order{0};
  std::atomic<int> committed{0};
  std::atomic<int> written{0};
  // They wait in turn: a commit, a writer.
  std::thread commit([&] {
    ASSERT_TRUE(lock.lock_shared(kLong));
    committed = ++order;
    lock.unlock_shared();
  });
  EXPECT_TRUE(testing::wait_until([&] { return lock.waiting() == 1; }));
  std::thread writer([&] {
    ASSERT_TRUE(lock.lock(kLong));
    written = ++order;
    lock.unlock();
  });
  EXPECT_TRUE(testing::wait_until([&] { return lock.waiting() == 2; }));
  lock.unlock();
  commit.join();
  writer.join();
  EXPECT_EQ(committed, 1);
  EXPECT_EQ(written, 2);
}

TEST(WriterLockTest, WhoGivesUpLetsOthersGoOn) {
  WriterLock lock;
  ASSERT_TRUE(lock.lock_shared(0));
  std::thread writer([&] { EXPECT_FALSE(lock.lock(100)); });
  std::thread commit([&] {
    ASSERT_TRUE(lock.lock_shared(kLong)) << "it waits behind the writer, which gives up";
    lock.unlock_shared();
  });
  writer.join();
  commit.join();
  lock.unlock_shared();
}

TEST(WriterLockTest, OfManyThreadsOneAtATime) {
  WriterLock lock;
  int64_t writes = 0;  // under the lock
  std::atomic<int> writing{0};
  std::atomic<int64_t> done{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      for (int i = 0; i < 2000; ++i) {
        if (number % 4 == 3) {
          if (!lock.lock_shared(i % 3 == 0 ? 0 : kLong)) continue;
          EXPECT_EQ(writing.load(), 0);
          lock.unlock_shared();
          continue;
        }
        if (!lock.lock(i % 5 == 0 ? 0 : kLong)) continue;
        EXPECT_EQ(++writing, 1);
        ++writes;
        ++done;
        --writing;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(writes, done.load());
  ASSERT_TRUE(lock.lock(0)) << "nobody has it";
}

}  // namespace
}  // namespace hawthorn::sqlite::writer_lock_test
