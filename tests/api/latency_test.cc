// Stats of how long things take: reads from disk, commits that wait, flushes.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "hawthorn/hawthorn.h"
#include "tests/api/api_test_fixture.h"

namespace hawthorn::tests {
namespace {

class LatencyTest : public Api {
 protected:
  static constexpr int kKeys = 4000;
  static std::string key_of(int i) { return "key" + std::to_string(100'000 + i); }

  void fill(size_t value_bytes) {
    for (int i = 0; i < kKeys; ++i) put(key_of(i), std::string(value_bytes, 'v'));
  }
  void reopen() {
    ASSERT_OK(db_->close());
    open();
  }
  uint64_t us_since(std::chrono::steady_clock::time_point begin) {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now() - begin)
                                     .count()) +
           1;
  }
};

TEST_F(LatencyTest, GetsInMemoryReadNothing) {
  fill(500);
  ASSERT_OK(db_->flush());
  const Stats before = db_->stats();
  for (int i = 0; i < kKeys; ++i) EXPECT_EQ(get(key_of(i)).size(), 500U);
  const Stats after = db_->stats();
  EXPECT_EQ(after.disk_reads, before.disk_reads);
  EXPECT_EQ(after.disk_read_us, before.disk_read_us);
  EXPECT_EQ(after.disk_read_batches, before.disk_read_batches);
}

// As many as explain says, each of them once.
TEST_F(LatencyTest, ReadsFromDiskAreCountedOneByOne) {
  fill(3000);
  reopen();
  uint64_t counted = 0;
  uint64_t us = 0;
  for (int i = 0; i < kKeys; i += 40) {
    const Result<KeyExplanation> told = db_->explain(tree_, key_of(i));
    ASSERT_OK(told.status());
    const Stats before = db_->stats();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(get(key_of(i)).size(), 3000U);
    const uint64_t took = us_since(begin);
    const Stats after = db_->stats();
    EXPECT_EQ(after.disk_reads - before.disk_reads, told->now.reads) << i;
    EXPECT_LE(after.disk_read_us - before.disk_read_us, took);
    counted += after.disk_reads - before.disk_reads;
    us += after.disk_read_us - before.disk_read_us;
  }
  EXPECT_GT(counted, 10U);
  EXPECT_GT(us, 0U);
}

// More than fits memory: else whole extents are read, one after the other.
TEST_F(LatencyTest, WhatIsReadTogetherIsABatch) {
  fill(10'000);
  reopen();
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; i += 40) keys.push_back(key_of(i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const Stats before = db_->stats();
  const auto begin = std::chrono::steady_clock::now();
  ReadBatch batch;
  ASSERT_OK(db_->multi_get(tree_, views, batch));
  const uint64_t took = us_since(begin);
  const Stats after = db_->stats();
  EXPECT_GT(after.disk_read_batches, before.disk_read_batches);
  EXPECT_GT(after.disk_read_batch_us, before.disk_read_batch_us);
  EXPECT_LE(after.disk_read_batch_us - before.disk_read_batch_us, took);
}

TEST_F(LatencyTest, CommitsThatWaitAreThoseWithFullDurability) {
  const Stats first = db_->stats();
  ASSERT_OK(db_->put(tree_, "a", "1", Durability::kNone));
  ASSERT_OK(db_->put(tree_, "a", "2", Durability::kAsync));
  ASSERT_OK(db_->sync());  // no commit
  const Stats before = db_->stats();
  EXPECT_EQ(before.commit_waits, first.commit_waits);
  EXPECT_EQ(before.commit_wait_us, first.commit_wait_us);
  constexpr int kThreads = 4;
  constexpr int kCommits = 25;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCommits; ++i) {
        EXPECT_OK(db_->put(tree_, key_of(t * kCommits + i), "v", Durability::kFull));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t took = us_since(begin);
  const Stats after = db_->stats();
  EXPECT_EQ(after.commit_waits - before.commit_waits, uint64_t{kThreads} * kCommits);
  EXPECT_GT(after.commit_wait_us, before.commit_wait_us);
  EXPECT_LE(after.commit_wait_us - before.commit_wait_us, took * kThreads);
  // A group's sync is waited for by all of it.
  EXPECT_LE(after.log_syncs - before.log_syncs, uint64_t{kThreads} * kCommits);
}

TEST_F(LatencyTest, FlushesTakeTheirTime) {
  const auto begin = std::chrono::steady_clock::now();  // of all that can flush
  fill(1000);
  const Stats before = db_->stats();
  ASSERT_OK(db_->flush());
  const uint64_t took = us_since(begin);
  const Stats after = db_->stats();
  EXPECT_GT(after.flushes, before.flushes);
  EXPECT_GT(after.flush_us, before.flush_us);
  EXPECT_GT(after.manifest_batches, before.manifest_batches);
  EXPECT_GT(after.manifest_batch_us, before.manifest_batch_us);
  // The background may flush beside this thread, and two help it.
  EXPECT_LE(after.flush_us - before.flush_us, took * 4);
}

TEST_F(LatencyTest, OthersFindThemInTheFileOfCounters) {
  ASSERT_OK(db_->put(tree_, "a", "1", Durability::kFull));
  const uint64_t waits = db_->stats().commit_waits;
  EXPECT_GT(waits, 0U);
  ASSERT_OK(db_->close());
  const Result<Counters> counters = read_counters(path_);
  ASSERT_OK(counters.status());
  for (const char* name : {"disk_reads", "disk_read_us", "disk_read_batches", "disk_read_batch_us"})
    EXPECT_TRUE(counters->value(name).has_value()) << name;
  EXPECT_EQ(counters->value("commit_waits"), waits);
  EXPECT_GT(counters->value("commit_wait_us").value_or(0), 0U);
  EXPECT_GT(counters->value("flush_us").value_or(0), 0U);
  EXPECT_GT(counters->value("manifest_batch_us").value_or(0), 0U);
}

}  // namespace
}  // namespace hawthorn::tests
