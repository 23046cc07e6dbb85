// Group commit with threads, requests in the background, failing disks, full disks, and the life of
// segments.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "testing/sim_machine.h"
#include "testing/wait.h"
#include "testing/waiting_thread.h"
#include "wal/segments.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal::wal_durability_test {
namespace {

using test::append;
using test::append_record;
using test::epoch_at;
using test::kSmall;
using test::payload_of;
using test::Record;
using test::Replayed;
using test::start_log;
using test::TempDirectory;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

constexpr Lsn kStart = kSmall.segment_bytes;

// Writers that wait for every one of their records, over one log.
void commit_from_threads(Log& log, int thread_count, int commit_count, int first = 0) {
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) {
    threads.emplace_back([&log, t, commit_count, first] {
      for (int i = first; i < first + commit_count; ++i) {
        const uint64_t number = static_cast<uint64_t>(t) << 32 | static_cast<uint32_t>(i);
        const Lsn lsn = append(log, payload_of(number, 8 + number % 500));
        ASSERT_NE(lsn, 0u);
        ASSERT_OK(log.wait_durable(lsn));
        ASSERT_GT(log.durable(), lsn);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void expect_all_commits(const Replayed& found, int thread_count, int commit_count) {
  ASSERT_OK(found.status);
  std::vector<uint64_t> next(static_cast<size_t>(thread_count));
  for (const Record& record : found.records) {
    const auto number = load<uint64_t>(record.payload.data());
    EXPECT_EQ(record.payload, payload_of(number, 8 + number % 500));
    EXPECT_EQ(number & 0xffffffff, next.at(number >> 32)++);
  }
  for (const uint64_t count : next) EXPECT_EQ(count, static_cast<uint64_t>(commit_count));
}

TEST(WalDurability, threads_share_syncs) {
  const TempDirectory directory;
  const LogEpoch epoch = epoch_at(1, kStart);
  const os::Machine& machine = os::real_machine();
  constexpr int kThreads = 8;
  constexpr int kCommits = 100;
  int commits = 0;  // of each
  {
    const auto log = start_log(machine, directory.path(), kSmall, epoch);
    ASSERT_NE(log, nullptr);
    // More of them where no two have met.
    EXPECT_TRUE(testing::wait_until([&] {
      commit_from_threads(*log, kThreads, kCommits, commits);
      commits += kCommits;
      return log->stats().syncs < static_cast<uint64_t>(kThreads * commits);
    }));
  }
  expect_all_commits(test::recover(machine, directory.path(), kSmall, {epoch}), kThreads, commits);
}

// Writers that do not wait fill the ring many times over, while others do; and until segments were
// used again.
TEST(WalDurability, the_drainer_makes_room_beside_syncs_and_trims) {
  const TempDirectory directory;
  const LogEpoch epoch = epoch_at(1, kStart);
  const os::Machine& machine = os::real_machine();
  Lsn trimmed = 0;
  Lsn head = 0;
  {
    const auto log = start_log(machine, directory.path(), kSmall, epoch);
    ASSERT_NE(log, nullptr);
    std::atomic<bool> done{false};
    std::thread trimmer([&] {
      while (!done.load()) {
        log->trim(log->durable());
        std::this_thread::yield();
      }
    });
    std::thread filler([&] {
      for (uint64_t i = 0; i < 3000 || log->stats().segments_recycled == 0; ++i) {
        ASSERT_NE(append(*log, payload_of(i, 1 + i % 3000)), 0u);
        if (i % 10 == 0) log->request_durable(log->head());
      }
    });
    commit_from_threads(*log, 3, 100);
    filler.join();
    done.store(true);
    trimmer.join();
    EXPECT_OK(log->status());
    trimmed = log->trimmed();
    head = log->head();
  }
  const Replayed found = test::recover(machine, directory.path(), kSmall, {epoch}, trimmed);
  EXPECT_OK(found.status);
  EXPECT_GE(found.end, head);
}

TEST(WalDurability, a_request_is_served_in_the_background) {
  const TempDirectory directory;
  const auto log = start_log(os::real_machine(), directory.path(), kSmall, epoch_at(1, kStart));
  ASSERT_NE(log, nullptr);
  for (uint64_t i = 0; i < 5; ++i) {
    const Lsn lsn = append(*log, "please");
    log->request_durable(lsn);
    EXPECT_TRUE(testing::wait_until([&] { return log->durable() > lsn; }));
  }
}

TEST(WalDurability, waiting_threads_go_on_when_a_hold_is_lifted) {
  const TempDirectory directory;
  const auto log = start_log(os::real_machine(), directory.path(), kSmall, epoch_at(1, kStart));
  ASSERT_NE(log, nullptr);
  for (int round = 0; round < 20; ++round) {
    log->hold_drain(log->head());
    const Lsn lsn = append(*log, "held");
    std::atomic<int> waiting{3};
    testing::WaitingThread durable([&] {
      EXPECT_OK(log->wait_durable(lsn));
      --waiting;
    });
    testing::WaitingThread also_durable([&] {
      EXPECT_OK(log->wait_durable(lsn));
      --waiting;
    });
    testing::WaitingThread room([&] {
      for (int i = 0; i < 100; ++i) EXPECT_NE(append(*log, std::string(1000, 'r')), 0u);
      --waiting;
    });
    for (const testing::WaitingThread* thread : {&durable, &also_durable, &room}) {
      EXPECT_TRUE(thread->wait_until_it_waits());
    }
    EXPECT_EQ(waiting.load(), 3);
    EXPECT_LE(log->durable(), lsn);
    log->hold_drain(format::kLsnMax);
    durable.join();
    also_durable.join();
    room.join();
  }
}

TEST(WalDurability, waiting_for_reserved_lsns_ends_when_they_come) {
  const TempDirectory directory;
  auto log = Log::start(os::real_machine(), directory.path(), kSmall, epoch_at(1, kStart),
                        kStart + 8192, 0);
  ASSERT_TRUE(log.ok());
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) EXPECT_NE(append(**log, std::string(1000, 'r')), 0u);
  });
  for (Lsn bound = kStart; bound < kStart + 200 * 1024; bound += 4096) {
    (*log)->set_reserved(bound);
    EXPECT_LE((*log)->head(), (*log)->reserved());
    std::this_thread::yield();
  }
  writer.join();
}

class WalFailure : public ::testing::Test {
 protected:
  WalFailure() : machine_(disk_, 1) {
    EXPECT_OK(disk_.make_directory("/db"));
    log_ = start_log(machine_.machine(), "/db", kSmall, epoch_);
  }
  void expect_failed_for_good(StatusCode code) {
    EXPECT_TRUE(log_->status().is(code)) << log_->status().to_string();
    EXPECT_TRUE(log_->wait_durable(log_->head()).is(code));
    EXPECT_TRUE(log_->drain_now().is(code));
    Status status;
    EXPECT_EQ(append(*log_, "too late", &status), 0u);
    EXPECT_TRUE(status.is(StatusCode::kReadOnly)) << status.to_string();
    EXPECT_TRUE(log_->writable().is(StatusCode::kReadOnly));
    EXPECT_NE(status.message().find("/db/wal."), std::string::npos) << status.to_string();
  }

  SimDisk disk_;
  SimMachine machine_;
  const LogEpoch epoch_ = epoch_at(1, kStart);
  std::unique_ptr<Log> log_;
};

// Attack 15, R4: a failed sync is final, and says so to everybody.
TEST_F(WalFailure, a_failed_sync_ends_the_log) {
  const Lsn first = append(*log_, "first");
  ASSERT_OK(log_->wait_durable(first));
  const Lsn second = append(*log_, "second");
  disk_.fail(SimOp::kSync, 1, StatusCode::kIoError);
  EXPECT_TRUE(log_->wait_durable(second).is(StatusCode::kIoError));
  EXPECT_LE(log_->durable(), second);
  expect_failed_for_good(StatusCode::kIoError);
  EXPECT_OK(log_->wait_durable(first));  // that one is as durable as ever
}

TEST_F(WalFailure, a_failed_write_ends_the_log) {
  disk_.fail(SimOp::kWrite, 1, StatusCode::kIoError);
  const Lsn lsn = append(*log_, "first");
  EXPECT_TRUE(log_->wait_durable(lsn).is(StatusCode::kIoError));
  expect_failed_for_good(StatusCode::kIoError);
  // The record is in the ring, where recovery finds it.
  disk_.clear_faults();
  log_.reset();
  const Replayed found = test::recover(machine_.machine(), "/db", kSmall, {epoch_});
  EXPECT_OK(found.status);
  EXPECT_EQ(found.records.size(), 1u);
}

TEST_F(WalFailure, a_failed_drain_for_room_ends_the_log) {
  disk_.fail(SimOp::kWrite, 1, StatusCode::kIoError);
  Status status;
  while (append(*log_, std::string(1000, 'x'), &status) != 0) {
  }
  EXPECT_TRUE(status.is(StatusCode::kReadOnly)) << status.to_string();
  expect_failed_for_good(StatusCode::kIoError);
}

// Another has met an error: no append any more, but what is in the log becomes durable.
TEST_F(WalFailure, a_log_that_refuses_still_syncs) {
  ASSERT_OK(disk_.sync_directory("/"));
  const Lsn lsn = append(*log_, "first");
  const Status why(StatusCode::kIoError, "the sync of /db/wal.none");
  EXPECT_TRUE(log_->refuse(why).is(StatusCode::kReadOnly));
  Status status;
  EXPECT_EQ(append(*log_, "too late", &status), 0u);
  EXPECT_TRUE(status.is(StatusCode::kReadOnly)) << status.to_string();
  EXPECT_NE(status.message().find("/db/wal.none"), std::string_view::npos) << status.to_string();
  EXPECT_OK(log_->status());
  ASSERT_OK(log_->wait_durable(lsn));
  auto after = disk_.crash(1, testing::CrashKind::kPowerLossDrop);
  SimMachine again(*after, 1);
  const Replayed found = test::recover(again.machine(), "/db", kSmall, {epoch_});
  EXPECT_OK(found.status);
  EXPECT_EQ(found.records.size(), 1u);
}

TEST_F(WalFailure, all_waiting_threads_learn_of_a_failure) {
  log_.reset();
  SimMachine threaded(disk_, 1, true);
  log_ = start_log(threaded.machine(), "/db", kSmall, epoch_at(2, 8 * kStart));
  disk_.fail(SimOp::kSync, 5, StatusCode::kIoError);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      Status status;
      while (status.ok()) {
        const Lsn lsn = append(*log_, "commit", &status);
        if (lsn != 0) status = log_->wait_durable(lsn);
      }
      EXPECT_TRUE(status.is(StatusCode::kIoError) || status.is(StatusCode::kReadOnly))
          << status.to_string();
      ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 6);
  log_.reset();
}

// R28: a full disk is no failure; the log goes on when there is space again.
TEST_F(WalFailure, a_full_disk_refuses_room_until_there_is_some) {
  disk_.set_capacity(disk_.used_bytes() + kSmall.segment_bytes / 2);
  Status status;
  while (append(*log_, std::string(1000, 'x'), &status) != 0) {
  }
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_OK(log_->status());
  EXPECT_OK(log_->wait_durable(log_->head()));  // what was accepted has its space (invariant 7)
  EXPECT_FALSE(disk_.exists("/db/wal.new").value());
  disk_.set_capacity(0);
  EXPECT_NE(append(*log_, std::string(1000, 'x'), &status), 0u);
  EXPECT_OK(log_->wait_durable(log_->head()));
}

// What was reserved may be taken away all the same: by a limit of sizes, a quota, a copy of the
// file. The ring keeps what could not be written, and the log goes on when it can be.
TEST_F(WalFailure, a_write_without_space_is_made_again) {
  ASSERT_OK(disk_.sync_directory("/"));
  std::vector<Record> written;
  written.push_back(append_record(*log_, 0, 100));
  disk_.fail(SimOp::kWrite, 1, StatusCode::kNoSpace, true);
  EXPECT_TRUE(log_->wait_durable(log_->head()).is(StatusCode::kNoSpace));
  EXPECT_TRUE(log_->drain_now().is(StatusCode::kNoSpace));
  EXPECT_LE(log_->durable(), written[0].lsn);
  EXPECT_OK(log_->status());
  EXPECT_OK(log_->writable());
  // What could not become durable either is not taken.
  Status status;
  EXPECT_EQ(append(*log_, "refused", &status), 0u);
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  EXPECT_NE(status.message().find("/db/wal."), std::string::npos) << status.to_string();
  disk_.clear_faults();
  written.push_back(append_record(*log_, 1, 100));
  ASSERT_OK(log_->wait_durable(log_->head()));
  auto after = disk_.crash(1, testing::CrashKind::kPowerLossDrop);
  SimMachine again(*after, 1);
  const Replayed found = test::recover(again.machine(), "/db", kSmall, {epoch_});
  EXPECT_OK(found.status);
  EXPECT_EQ(found.records, written);
}

// Threads that wait for room, for a sync or for both hear of it, and go on afterwards.
TEST_F(WalFailure, no_thread_waits_for_space) {
  log_.reset();
  SimMachine threaded(disk_, 1, true);
  log_ = start_log(threaded.machine(), "/db", kSmall, epoch_at(2, 8 * kStart));
  disk_.fail(SimOp::kWrite, 3, StatusCode::kNoSpace, true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      Status status;
      while (status.ok()) {
        const Lsn lsn = append(*log_, std::string(1000, 'x'), &status);
        if (lsn != 0 && t % 2 == 0) status = log_->wait_durable(lsn);
      }
      EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
    });
  }
  for (std::thread& thread : threads) thread.join();
  disk_.clear_faults();
  EXPECT_NE(append(*log_, std::string(1000, 'x')), 0u);
  EXPECT_OK(log_->wait_durable(log_->head()));
  // Without anybody who asks, too.
  disk_.fail(SimOp::kWrite, 1, StatusCode::kNoSpace);
  const Lsn lsn = append(*log_, "asynchronous");
  log_->request_durable(lsn);
  while (log_->durable() <= lsn) log_->wait_beyond(lsn, 1000);
  log_.reset();
}

TEST_F(WalFailure, a_trim_gives_a_full_disk_room) {
  std::vector<Record> written;
  while (log_->head() < kStart + 3 * kSmall.segment_bytes - 60000) {
    written.push_back(append_record(*log_, written.size(), 3000));
  }
  disk_.set_capacity(disk_.used_bytes());
  Status status;
  while (append(*log_, std::string(1000, 'x'), &status) != 0) {
  }
  EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  log_->trim(written.back().lsn);
  EXPECT_NE(append(*log_, std::string(1000, 'x'), &status), 0u);
  EXPECT_OK(log_->wait_durable(log_->head()));
}

// R9, and at most two spares.
TEST_F(WalFailure, segments_are_recycled_and_few_are_kept) {
  while (log_->head() < kStart + 10 * kSmall.segment_bytes) append(*log_, std::string(3000, 'x'));
  ASSERT_OK(log_->wait_durable(log_->head()));
  EXPECT_GE(disk_.list("/db").value().size(), 11u);
  const uint64_t created = disk_.counters().allocates;
  const Lsn trimmed = log_->durable();
  log_->trim(trimmed);
  EXPECT_EQ(log_->trimmed(), trimmed);
  EXPECT_LE(disk_.list("/db").value().size(), 2 + kSparesMax);  // ring, the one written, spares
  EXPECT_EQ(log_->stats().segments_recycled, kSparesMax);
  for (int i = 0; i < 50; ++i) {
    while (log_->drained() < trimmed + static_cast<Lsn>(i) * kSmall.segment_bytes) {
      append(*log_, std::string(3000, 'y'));
    }
    log_->trim(log_->drained());
    EXPECT_LE(disk_.list("/db").value().size(), 2 + kSparesMax);
  }
  EXPECT_EQ(disk_.counters().allocates, created);  // no new one was needed
  EXPECT_OK(log_->status());
}

// A file that cannot have its new name is one spare less.
TEST_F(WalFailure, a_trim_goes_on_where_no_name_has_room) {
  while (log_->head() < kStart + 10 * kSmall.segment_bytes) append(*log_, std::string(3000, 'x'));
  ASSERT_OK(log_->wait_durable(log_->head()));
  disk_.fail(SimOp::kName, 1, StatusCode::kNoSpace);
  log_->trim(log_->durable());
  ASSERT_OK(log_->status());
  EXPECT_EQ(log_->stats().segments_recycled, kSparesMax);
  EXPECT_LE(disk_.list("/db").value().size(), 2 + kSparesMax);
  EXPECT_EQ(disk_.counters().faults, 1u);
  while (log_->head() < kStart + 20 * kSmall.segment_bytes) append(*log_, std::string(3000, 'y'));
  EXPECT_OK(log_->wait_durable(log_->head()));
}

TEST_F(WalFailure, an_epoch_starts_in_the_segments_that_the_last_one_left) {
  while (log_->head() < kStart + 5 * kSmall.segment_bytes) append(*log_, std::string(3000, 'x'));
  ASSERT_OK(log_->wait_durable(log_->head()));
  const Lsn end = log_->head();
  log_.reset();
  const uint64_t created = disk_.counters().allocates;
  const LogEpoch epoch = epoch_at(2, 20 * kSmall.segment_bytes);
  log_ = start_log(machine_.machine(), "/db", kSmall, epoch, end);
  ASSERT_NE(log_, nullptr);
  EXPECT_EQ(disk_.counters().allocates, created);
  EXPECT_TRUE(disk_.exists("/db/" + segment_name(20)).value());
  append(*log_, "new");
  ASSERT_OK(log_->wait_durable(log_->head()));
  const Replayed found = test::recover(machine_.machine(), "/db", kSmall, {epoch}, end);
  EXPECT_OK(found.status);
  EXPECT_EQ(found.records.size(), 1u);
}

}  // namespace
}  // namespace hawthorn::wal::wal_durability_test
