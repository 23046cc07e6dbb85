#include "os/delays.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "os/machine.h"
#include "os/sync.h"
#include "os/test_point.h"
#include "testing/sim_scheduler.h"

namespace hawthorn::os {
namespace {

#if defined(HAWTHORN_TEST_POINTS)

// What a new thread takes at `points` points, one number for each: how many until then.
std::vector<uint64_t> taken_by_a_thread(Seam seam, int points) {
  std::vector<uint64_t> taken;
  const DelaysTaken before = delays_taken();
  std::thread thread([&] {
    for (int i = 0; i < points; ++i) {
      delay_point(seam);
      const DelaysTaken now = delays_taken();
      taken.push_back(now.yields + now.sleeps - before.yields - before.sleeps);
    }
  });
  thread.join();
  return taken;
}

class Delays : public ::testing::Test {
 protected:
  void SetUp() override {
    set_delays("");
    ASSERT_TRUE(mkdtemp(directory_.data()) != nullptr);
  }
  void TearDown() override {
    std::filesystem::remove_all(directory_);
    const char* const seed = std::getenv("HAWTHORN_DELAYS");
    set_delays(seed == nullptr ? "" : seed);
  }

  // Whether `pass`, called again and again, is delayed at some time: a seam that has no point is
  // never. The seed decides after how many calls.
  static bool is_delayed(const std::function<void()>& pass) {
    constexpr int kCallsMax = 100'000;
    set_delays("seams");
    const DelaysTaken before = delays_taken();
    bool delayed = false;
    for (int i = 0; i < kCallsMax && !delayed; ++i) {
      pass();
      const DelaysTaken now = delays_taken();
      delayed = now.yields + now.sleeps > before.yields + before.sleeps;
    }
    set_delays("");
    return delayed;
  }

  std::string directory_ = (std::filesystem::temp_directory_path() / "delays_XXXXXX").string();
};

TEST_F(Delays, are_off_without_a_seed) {
  EXPECT_EQ(taken_by_a_thread(Seam::kOperation, 10'000).back(), 0U);
}

TEST_F(Delays, follow_from_the_seed_and_the_number_of_the_thread) {
  set_delays("one");
  const std::vector<uint64_t> first = taken_by_a_thread(Seam::kOperation, 2000);
  const std::vector<uint64_t> second = taken_by_a_thread(Seam::kOperation, 2000);
  set_delays("one");
  EXPECT_EQ(taken_by_a_thread(Seam::kOperation, 2000), first);
  EXPECT_EQ(taken_by_a_thread(Seam::kOperation, 2000), second);
  EXPECT_NE(first, second);
  set_delays("two");
  EXPECT_NE(taken_by_a_thread(Seam::kOperation, 2000), first);
}

TEST_F(Delays, are_seldom_and_seldom_long) {
  set_delays("some");
  const DelaysTaken before = delays_taken();
  taken_by_a_thread(Seam::kOperation, 6400);
  const DelaysTaken operations = delays_taken();
  // 100 sleeps and 700 yields are expected.
  EXPECT_NEAR(static_cast<double>(operations.sleeps - before.sleeps), 100, 50);
  EXPECT_NEAR(static_cast<double>(operations.yields - before.yields), 700, 150);
  taken_by_a_thread(Seam::kLock, 204'800);
  const DelaysTaken locks = delays_taken();
  EXPECT_NEAR(static_cast<double>(locks.sleeps - operations.sleeps), 100, 50);
  EXPECT_NEAR(static_cast<double>(locks.yields - operations.yields), 1500, 300);
}

TEST_F(Delays, stand_at_locks_waits_wakes_threads_clocks_and_test_points) {
  Mutex mutex;
  CondVar changed;
  std::atomic<uint32_t> word{1};
  Clock& clock = *real_machine().clock;
  EXPECT_TRUE(is_delayed([&] { MutexLock lock(mutex); }));
  EXPECT_TRUE(is_delayed([&] { changed.notify_one(); }));
  EXPECT_TRUE(is_delayed([&] { futex_wait(&word, 0, 0); }));
  EXPECT_TRUE(is_delayed([&] { futex_wake(&word, 1); }));
  EXPECT_TRUE(is_delayed([] {
    Thread thread;
    ASSERT_TRUE(thread.start("delayed", [] {}).ok());
    thread.join();
  }));
  EXPECT_TRUE(is_delayed([&] { clock.monotonic_us(); }));
  EXPECT_TRUE(is_delayed([&] { clock.wall_us(); }));
  EXPECT_TRUE(is_delayed([] { HAWTHORN_TEST_POINT("test:delayed"); }));
}

TEST_F(Delays, stand_at_file_operations) {
  FileSystem& files = *real_machine().files;
  const std::string path = directory_ + "/file";
  std::unique_ptr<File> file = files.open_file(path, {.create = true, .locks = true}).value();
  std::string bytes(4096, 'x');
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(file->write_at(0, bytes).ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(file->read_at(0, bytes).ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(file->sync_data().ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(file->size().ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(file->truncate(4096).ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(file->lock_exclusive().ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(files.exists(path).ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(files.list(directory_).ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(files.rename(path, path).ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_FALSE(files.remove(path + "-not").ok()); }));
  EXPECT_TRUE(is_delayed([&] { ASSERT_TRUE(files.sync_directory(directory_).ok()); }));
}

TEST_F(Delays, keep_errno) {
  set_delays("errno");
  for (int i = 0; i < 1000; ++i) {
    errno = EXDEV;
    delay_point(Seam::kOperation);
    ASSERT_EQ(errno, EXDEV);
  }
}

TEST_F(Delays, are_none_on_the_simulated_machine) {
  set_delays("simulated");
  testing::SimTrace trace;
  testing::SimScheduler scheduler({.seed = 1}, &trace,
                                  [](const std::string& what) { FAIL() << what; });
  const DelaysTaken before = delays_taken();
  for (int i = 0; i < 10'000; ++i) delay_point(Seam::kOperation);
  const DelaysTaken after = delays_taken();
  EXPECT_EQ(after.yields + after.sleeps, before.yields + before.sleeps);
}

#else

TEST(Delays, cost_nothing_in_this_build) { delay_point(Seam::kOperation); }

#endif

}  // namespace
}  // namespace hawthorn::os
