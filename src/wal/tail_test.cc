// Reading a log that is being appended to: from the ring and from segments, through epochs, behind
// a trim; damage told apart from an end.
#include "wal/tail.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "testing/sim_machine.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using test::append_record;
using test::epoch_at;
using test::kSmall;
using test::Record;
using test::start_log;

using Outcome = Tail::Outcome;

Record record_of(const Tail::Next& next) {
  return {next.record.lsn, next.record.type, next.record.operations,
          std::string(next.record.payload)};
}

class WalTail : public ::testing::Test {
 protected:
  WalTail() : machine_(disk_, 1) {
    EXPECT_OK(disk_.make_directory("/db"));
    epochs_.push_back(epoch_at(1, kSmall.segment_bytes));
    log_ = start_log(machine_.machine(), "/db", kSmall, epochs_.back());
  }
  std::unique_ptr<Tail> tail(Lsn from) {
    auto opened = Tail::open(machine_.machine(), "/db", kSmall, epochs_, from);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  void add(size_t count, size_t size) {
    for (size_t i = 0; i < count; ++i) {
      written_.push_back(append_record(*log_, written_.size() + 1, size + i * 31 % 200));
    }
  }
  // All records up to the end, compared with what was written from `first` on.
  void expect_rest(Tail& tail, size_t first, Lsn below = format::kLsnMax) {
    for (size_t i = first;; ++i) {
      Result<Tail::Next> next = tail.next(below);
      ASSERT_TRUE(next.ok()) << next.status().to_string();
      if (next->outcome != Outcome::kRecord) {
        EXPECT_EQ(next->outcome, Outcome::kEnd);
        EXPECT_EQ(i, written_.size());
        return;
      }
      ASSERT_LT(i, written_.size());
      ASSERT_EQ(record_of(*next), written_[i]);
    }
  }
  // Ends the epoch as an open after a kill does, and starts another.
  void next_epoch() {
    log_.reset();
    {
      auto recovery = Recovery::open(machine_.machine(), "/db", kSmall, epochs_, 0, false);
      ASSERT_TRUE(recovery.ok());
      ASSERT_OK((*recovery)->make_durable());
      epochs_.back().end = (*recovery)->end();
    }
    const Lsn start = (epochs_.back().end / kSmall.segment_bytes + 2) * kSmall.segment_bytes;
    epochs_.push_back(epoch_at(epochs_.size() + 1, start));
    log_ = start_log(machine_.machine(), "/db", kSmall, epochs_.back());
  }

  testing::SimDisk disk_;
  testing::SimMachine machine_;
  std::vector<LogEpoch> epochs_;
  std::unique_ptr<Log> log_;
  std::vector<Record> written_;
};

TEST_F(WalTail, follows_the_appends_of_a_ring) {
  auto reader = tail(0);
  ASSERT_NE(reader, nullptr);
  expect_rest(*reader, 0);
  for (int round = 0; round < 200; ++round) {
    const size_t seen = written_.size();
    add(5, 100);
    if (round % 7 == 0) EXPECT_OK(log_->drain_now());
    expect_rest(*reader, seen);
  }
  EXPECT_EQ(reader->position(), log_->head());
}

TEST_F(WalTail, who_is_far_behind_reads_segments) {
  auto reader = tail(0);
  ASSERT_NE(reader, nullptr);
  add(10, 100);
  expect_rest(*reader, 0);
  const size_t seen = written_.size();
  add(4000, 120);  // many times the ring
  ASSERT_GT(log_->head() - epochs_[0].start, 4 * kSmall.ring_bytes);
  expect_rest(*reader, seen);
  // And it follows from there, also when it stops a moment for each half ring.
  for (int round = 0; round < 30; ++round) {
    const size_t first = written_.size();
    add(150, 120);
    expect_rest(*reader, first);
  }
}

// Whoever stores a record stores its bytes in any order, and may be stopped, or killed, in the
// midst: then the place of the record that is looked for is overwritten, the one right before it is
// not.
TEST_F(WalTail, a_place_that_is_being_overwritten_is_no_end) {
  auto reader = tail(0);
  ASSERT_NE(reader, nullptr);
  add(300, 120);  // more than an eighth of the ring
  expect_rest(*reader, 0);
  const size_t seen = written_.size();
  auto ring = machine_.machine().files->map_shared("/db/wal.ring", kSmall.ring_bytes, false);
  ASSERT_TRUE(ring.ok());
  char* const before = (*ring)->data() + written_.back().lsn % kSmall.ring_bytes;
  const std::string header(before, sizeof(format::RecordHeader));
  add(4000, 120);  // many times the ring
  const std::string over(before, header.size());
  std::copy(header.begin(), header.end(), before);
  const Result<Tail::Next> next = reader->next();
  ASSERT_TRUE(next.ok());
  ASSERT_EQ(next->outcome, Outcome::kRecord);
  EXPECT_EQ(record_of(*next), written_[seen]);
  std::copy(over.begin(), over.end(), before);
  expect_rest(*reader, seen + 1);
}

TEST_F(WalTail, stops_below_what_the_caller_names) {
  add(3, 100);
  const Lsn durable = log_->head();
  ASSERT_OK(log_->wait_durable(written_.back().lsn));
  add(3, 100);
  auto reader = tail(0);
  ASSERT_NE(reader, nullptr);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(reader->next(durable)->outcome, Outcome::kRecord);
  EXPECT_EQ(reader->next(durable)->outcome, Outcome::kEnd);
  expect_rest(*reader, 3, log_->head());
}

TEST_F(WalTail, begins_at_any_lsn) {
  add(3000, 100);
  for (size_t i = 0; i < written_.size(); i += 97) {
    auto reader = tail(written_[i].lsn);
    ASSERT_EQ(reader->next()->record.lsn, written_[i].lsn);
    ASSERT_OK(reader->seek(written_[i].lsn + 1));
    const Lsn wanted = i + 1 < written_.size() ? written_[i + 1].lsn : log_->head();
    Result<Tail::Next> next = reader->next();
    ASSERT_TRUE(next.ok());
    if (i + 1 < written_.size()) {
      ASSERT_EQ(next->record.lsn, wanted);
    }
  }
}

TEST_F(WalTail, goes_through_epochs) {
  add(700, 120);
  next_epoch();
  ASSERT_NE(log_, nullptr);
  add(300, 120);
  next_epoch();
  ASSERT_NE(log_, nullptr);
  auto reader = tail(0);
  ASSERT_NE(reader, nullptr);
  expect_rest(*reader, 0);
  const size_t seen = written_.size();
  add(10, 120);
  expect_rest(*reader, seen);
  // A reader that stays is told of the new epoch.
  next_epoch();
  add(10, 120);
  ASSERT_OK(reader->set_epochs(epochs_));
  expect_rest(*reader, seen + 10);
}

TEST_F(WalTail, what_was_recycled_is_gone) {
  auto behind = tail(0);
  ASSERT_NE(behind, nullptr);
  add(5, 100);
  ASSERT_EQ(behind->next()->outcome, Outcome::kRecord);
  add(4000, 120);
  ASSERT_OK(log_->drain_now());
  const size_t kept = written_.size() - 1;
  log_->trim(written_[kept].lsn);
  EXPECT_EQ(behind->next()->outcome, Outcome::kGone);
  EXPECT_EQ(behind->next()->outcome, Outcome::kGone);
  add(4000, 120);  // over the recycled segments
  EXPECT_EQ(behind->next()->outcome, Outcome::kGone);
  EXPECT_EQ(behind->next(log_->head())->outcome, Outcome::kGone);
  auto reader = tail(written_[kept].lsn);
  expect_rest(*reader, kept);
  // An epoch that is in no manifest any more.
  const Lsn position = reader->position();
  ASSERT_OK(reader->set_epochs({epoch_at(
      2, position / kSmall.segment_bytes * kSmall.segment_bytes + 2 * kSmall.segment_bytes)}));
  EXPECT_EQ(reader->next()->outcome, Outcome::kGone);
}

TEST_F(WalTail, damage_is_no_end) {
  add(2000, 120);
  ASSERT_OK(log_->wait_durable(written_.back().lsn));
  const Lsn at = written_[500].lsn;
  const LogDirectory directory(machine_.machine(), "/db", kSmall);
  auto file = disk_.open_file("/db/" + segment_name(directory.segment_of(at)), {});
  ASSERT_TRUE(file.ok());
  alignas(os::kBlockBytes) static char block[os::kBlockBytes];
  const uint64_t offset = at % kSmall.segment_bytes / os::kBlockBytes * os::kBlockBytes;
  ASSERT_OK((*file)->read_at(offset, block));
  block[at % os::kBlockBytes + 9] ^= 1;
  ASSERT_OK((*file)->write_at(offset, block));
  auto reader = tail(0);
  ASSERT_NE(reader, nullptr);
  Result<Tail::Next> next = reader->next(log_->durable());
  while (next.ok() && next->outcome == Outcome::kRecord) next = reader->next(log_->durable());
  ASSERT_FALSE(next.ok());
  EXPECT_TRUE(next.status().is(StatusCode::kCorruption)) << next.status().to_string();
  EXPECT_EQ(reader->position(), at);
}

// On the machine itself: a thread appends and trims, another reads beside it.
TEST(WalTailThreads, reads_beside_an_appender) {
  const test::TempDirectory directory;
  const os::Machine machine = os::real_machine();
  const LogEpoch epoch = epoch_at(1, kSmall.segment_bytes);
  auto log = start_log(machine, directory.path(), kSmall, epoch);
  ASSERT_NE(log, nullptr);
  auto opened = Tail::open(machine, directory.path(), kSmall, {epoch}, 0);
  ASSERT_TRUE(opened.ok());
  Tail& reader = **opened;
  constexpr uint64_t kRecords = 20'000;
  std::atomic<Lsn> needed{0};
  std::thread writer([&] {
    for (uint64_t i = 1; i <= kRecords; ++i) {
      append_record(*log, i, 20 + i * 37 % 400);
      if (i % 500 == 0) log->trim(needed.load());
    }
  });
  uint64_t seen = 0;
  while (seen < kRecords) {
    Result<Tail::Next> next = reader.next();
    ASSERT_TRUE(next.ok()) << next.status().to_string();
    ASSERT_NE(next->outcome, Outcome::kGone);
    if (next->outcome == Outcome::kEnd) {
      std::this_thread::yield();
      continue;
    }
    ++seen;
    ASSERT_EQ(next->record.operations, static_cast<uint32_t>(seen));
    ASSERT_EQ(next->record.payload, test::payload_of(seen, 20 + seen * 37 % 400));
    needed.store(next->record.lsn);
  }
  writer.join();
}

}  // namespace
}  // namespace hawthorn::wal
