// Appending, draining and replaying without crashes: sizes, pads, wrap-around, room, holds.
#include <gtest/gtest.h>

#include "testing/sim_machine.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using test::append;
using test::append_record;
using test::epoch_at;
using test::kSmall;
using test::Record;
using test::Replayed;
using test::start_log;

constexpr size_t kBlock = os::kBlockBytes;

class WalAppend : public ::testing::Test {
 protected:
  WalAppend() : machine_(disk_, 1) { EXPECT_OK(disk_.make_directory("/db")); }

  void start(const LogOptions& options = kSmall) {
    options_ = options;
    epoch_ = epoch_at(1, options.segment_bytes);
    log_ = start_log(machine_.machine(), "/db", options, epoch_);
    ASSERT_NE(log_, nullptr);
  }
  // As a killed process leaves it: nothing is drained that was not.
  Replayed recover_after_kill() {
    auto disk = disk_.after_crash(1, testing::CrashKind::kProcessKill);
    const testing::SimMachine machine(*disk, 1);
    return test::recover(machine.machine(), "/db", options_, {epoch_});
  }

  testing::SimDisk disk_;
  testing::SimMachine machine_;
  LogOptions options_;
  LogEpoch epoch_;
  std::unique_ptr<Log> log_;
};

TEST_F(WalAppend, an_empty_log_replays_nothing) {
  start();
  const Replayed found = recover_after_kill();
  EXPECT_OK(found.status);
  EXPECT_TRUE(found.records.empty());
  EXPECT_EQ(found.end, epoch_.start);
}

TEST_F(WalAppend, every_size_comes_back_through_wraps_and_segments) {
  start();
  std::vector<Record> written;
  uint64_t number = 0;
  const auto add = [&](size_t size) { written.push_back(append_record(*log_, ++number, size)); };
  for (size_t size = 0; size < 400; ++size) add(size);
  for (size_t size = 400; size < log_->payload_bytes_max(); size += 97) add(size);
  add(log_->payload_bytes_max());
  add(log_->payload_bytes_max());
  for (size_t i = 0; i < 300; ++i) add(i * 131 % 700);
  EXPECT_GT(log_->head() - epoch_.start, 2 * kSmall.segment_bytes);

  Replayed found = recover_after_kill();
  EXPECT_OK(found.status);
  EXPECT_EQ(found.records, written);
  EXPECT_EQ(found.end, log_->head());

  // The same from the segments alone.
  log_.reset();
  ASSERT_OK(disk_.remove("/db/wal.ring"));
  found = recover_after_kill();
  EXPECT_OK(found.status);
  EXPECT_EQ(found.records, written);
}

TEST_F(WalAppend, pieces_are_one_payload) {
  start();
  const std::string a(300, 'a');
  const std::string b(700, 'b');
  for (const std::vector<std::string_view>& pieces :
       {std::vector<std::string_view>{}, {"x"}, {"ab", "", "cde"}, {a, "-", b}}) {
    std::string whole;
    for (const std::string_view piece : pieces) whole += piece;
    const std::string_view one[] = {whole};
    EXPECT_EQ(Log::payload_checksum(pieces), Log::payload_checksum(one));
    os::MutexLock lock(log_->mutex());
    EXPECT_NE(log_->try_append(RecordType::kChunk, 7, pieces, Log::payload_checksum(pieces)), 0u);
  }
  const Replayed found = recover_after_kill();
  EXPECT_OK(found.status);
  ASSERT_EQ(found.records.size(), 4u);
  EXPECT_EQ(found.records[2].payload, "abcde");
  EXPECT_EQ(found.records[3].payload, a + "-" + b);
  EXPECT_EQ(found.records[3].type, RecordType::kChunk);
  EXPECT_EQ(found.records[3].operations, 7u);
}

// R9: a sync ends its block with a pad; when the rest is smaller than a header, the next block too.
TEST_F(WalAppend, pads_of_every_length) {
  start();
  std::vector<Record> written;
  for (size_t gap = 0; gap <= 128; gap += 8) {
    ASSERT_EQ(log_->head() % kBlock, 0u);
    const Lsn start = log_->head();
    const size_t header = sizeof(format::RecordHeader);
    written.push_back(append_record(*log_, gap + 1, kBlock - gap - header));
    ASSERT_EQ(log_->head(), start + kBlock - gap);
    ASSERT_OK(log_->wait_durable(start));
    const Lsn end = gap == 0 || gap >= header ? start + kBlock : start + 2 * kBlock;
    EXPECT_EQ(log_->head(), end) << gap;
    EXPECT_EQ(log_->durable(), end) << gap;
    EXPECT_EQ(log_->drained(), end) << gap;
  }
  const Replayed found = recover_after_kill();
  EXPECT_OK(found.status);
  EXPECT_EQ(found.records, written);
}

TEST_F(WalAppend, a_drain_for_room_leaves_the_incomplete_block_in_the_ring) {
  start();
  while (log_->drained() == epoch_.start) append_record(*log_, 1, 1000);
  EXPECT_EQ(log_->stats().bytes_drained % kBlock, 0u);
  EXPECT_LT(epoch_.start + log_->stats().bytes_drained, log_->head());
  EXPECT_LE(log_->drained(), epoch_.start + log_->stats().bytes_drained);
  EXPECT_NE(log_->drained() % kBlock, 0u);  // a record lies across: its ring space is kept
  EXPECT_EQ(log_->stats().syncs, 0u);
}

// Invariants 1 and 2 of log_state.h: with not a byte of room left in the ring, the record that is
// half in the segments is still whole in the ring, and the pad of a sync overwrites nothing.
TEST_F(WalAppend, a_ring_filled_to_the_last_byte_keeps_what_it_holds) {
  start();
  std::vector<Record> written;
  const auto expect_all_after_kill = [&] {
    const Replayed found = recover_after_kill();
    EXPECT_OK(found.status);
    EXPECT_TRUE(found.records == written);
  };
  for (uint64_t round = 0; round < 60; ++round) {
    size_t size = 3000 + round * 8;
    while (true) {
      const std::string payload = test::payload_of(written.size(), size);
      const std::string_view pieces[] = {payload};
      os::MutexLock lock(log_->mutex());
      const Lsn lsn =
          log_->try_append(RecordType::kCommit, 1, pieces, Log::payload_checksum(pieces));
      if (lsn != 0) {
        written.push_back({lsn, RecordType::kCommit, 1, payload});
      } else if (size == 0) {
        break;
      } else {
        size = size > 200 ? size - 200 : size - std::min<size_t>(size, 8);
      }
    }
    expect_all_after_kill();
    if (round % 3 == 0) {
      ASSERT_OK(log_->wait_durable(log_->head()));
      EXPECT_EQ(log_->head() % kBlock, 0u);
      expect_all_after_kill();
    }
    ASSERT_OK(log_->wait_room(3000));
  }
}

// Attack 13, R5.
TEST_F(WalAppend, a_record_over_an_eighth_of_the_ring_is_refused) {
  start();
  EXPECT_EQ(log_->payload_bytes_max(), kSmall.ring_bytes / 8 - sizeof(format::RecordHeader));
  Status status;
  const std::string payload(log_->payload_bytes_max() + 1, 'x');
  EXPECT_EQ(append(*log_, payload, &status), 0u);
  EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.to_string();
  EXPECT_NE(status.message().find(std::to_string(log_->payload_bytes_max())), std::string::npos);
  EXPECT_NE(append(*log_, "still fine"), 0u);
}

// R2.
TEST_F(WalAppend, no_lsn_is_issued_that_is_not_reserved) {
  options_ = kSmall;
  epoch_ = epoch_at(1, kSmall.segment_bytes);
  const Lsn bound = epoch_.start + 2 * kBlock;
  auto log = Log::start(machine_.machine(), "/db", kSmall, epoch_, bound, 0);
  ASSERT_TRUE(log.ok());
  Status status;
  while (append(**log, std::string(100, 'r'), &status) != 0) {
  }
  EXPECT_TRUE(status.is(StatusCode::kBusy)) << status.to_string();
  ASSERT_OK((*log)->wait_durable((*log)->head()));  // the pad, too
  EXPECT_LE((*log)->head(), bound);
  (*log)->set_reserved(bound + 2 * kBlock);
  EXPECT_EQ((*log)->reserved(), bound + 2 * kBlock);
  EXPECT_NE(append(**log, std::string(100, 'r'), &status), 0u);
}

TEST_F(WalAppend, wrong_options_are_refused) {
  const auto start_with = [&](LogOptions options, Lsn lsn) {
    return Log::start(machine_.machine(), "/db", options, epoch_at(1, lsn), format::kLsnMax, 0)
        .status();
  };
  EXPECT_TRUE(start_with({.ring_bytes = 4096}, 64 << 20).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(start_with({.segment_bytes = 1000}, 64 << 20).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(start_with({}, 0).is(StatusCode::kInvalidArgument));
  EXPECT_TRUE(start_with({}, 4096).is(StatusCode::kInvalidArgument));
}

// R22.
TEST_F(WalAppend, a_held_record_is_not_drained) {
  start();
  std::vector<Record> written;
  for (uint64_t i = 1; i <= 40; ++i) written.push_back(append_record(*log_, i, 500));
  const Lsn held = log_->head();
  log_->hold_drain(held);
  for (uint64_t i = 41; i <= 60; ++i) written.push_back(append_record(*log_, i, 500));
  ASSERT_OK(log_->drain_now());
  EXPECT_LE(log_->drained(), held);
  EXPECT_GT(log_->drained(), held - kBlock - 600);
  EXPECT_LE(epoch_.start + log_->stats().bytes_drained, held);
  EXPECT_TRUE(log_->wait_durable(held).is(StatusCode::kBusy));
  const auto starts_at_durable = [&](const Record& r) { return r.lsn == log_->durable(); };
  EXPECT_TRUE(std::any_of(written.begin(), written.end(), starts_at_durable));
  EXPECT_OK(log_->wait_durable(log_->durable() - 1));
  EXPECT_OK(log_->wait_durable(epoch_.start));

  // The ring fills up behind it, and says so.
  Status status;
  while (append(*log_, std::string(500, 'h'), &status) != 0) {
  }
  EXPECT_TRUE(status.is(StatusCode::kBusy)) << status.to_string();

  log_->hold_drain(format::kLsnMax);
  EXPECT_OK(log_->wait_durable(held));
  EXPECT_GT(log_->durable(), held);
  const Replayed found = recover_after_kill();
  EXPECT_OK(found.status);
  ASSERT_GE(found.records.size(), written.size());
  EXPECT_TRUE(std::equal(written.begin(), written.end(), found.records.begin()));
}

TEST_F(WalAppend, durable_is_what_it_says) {
  start();
  const Record first = append_record(*log_, 1, 10);
  EXPECT_EQ(log_->durable(), epoch_.start);
  ASSERT_OK(log_->wait_durable(first.lsn));
  EXPECT_GT(log_->durable(), first.lsn);
  EXPECT_EQ(log_->stats().syncs, 1u);
  const uint64_t sync_us = log_->stats().sync_us;
  EXPECT_GT(sync_us, 0u);
  EXPECT_LT(sync_us, machine_.clock().monotonic_us());
  ASSERT_OK(log_->wait_durable(first.lsn));
  ASSERT_OK(log_->wait_durable(format::kLsnMax));  // nothing more has been appended
  EXPECT_EQ(log_->stats().syncs, 1u);
  EXPECT_EQ(log_->stats().sync_us, sync_us);
}

TEST_F(WalAppend, a_request_is_served_when_its_time_has_come) {
  start();
  const Record first = append_record(*log_, 1, 10);
  log_->request_durable(first.lsn);
  EXPECT_EQ(log_->durable(), epoch_.start);
  machine_.clock().advance_us(kSmall.async_sync_ms * 1000);
  const Record second = append_record(*log_, 2, 10);
  log_->request_durable(second.lsn);
  EXPECT_GT(log_->durable(), second.lsn);
}

TEST_F(WalAppend, close_leaves_nothing_and_answers_closed) {
  start();
  append_record(*log_, 1, 10);
  ASSERT_OK(log_->close_and_remove());
  EXPECT_TRUE(log_->status().is(StatusCode::kClosed));
  EXPECT_TRUE(log_->wait_room(1).is(StatusCode::kClosed));
  EXPECT_TRUE(disk_.list("/db").value().empty());
  log_.reset();
  EXPECT_TRUE(disk_.list("/db").value().empty());
}

// A drain of much gives room as it goes on, and what it wrote before it failed counts.
TEST_F(WalAppend, a_large_drain_goes_in_steps) {
  start({.ring_bytes = size_t{16} << 20, .segment_bytes = size_t{32} << 20, .direct = true});
  std::vector<Record> written;
  while (log_->head() - epoch_.start < size_t{13} << 20) {
    written.push_back(append_record(*log_, written.size() + 1, 100'000));
  }
  disk_.fail(testing::SimOp::kWrite, 7, StatusCode::kIoError);
  EXPECT_FALSE(log_->drain_now().ok());
  EXPECT_LE(log_->drained(), epoch_.start + (size_t{4} << 20));
  EXPECT_GT(log_->drained(), epoch_.start + (size_t{4} << 20) - 110'000);
  EXPECT_TRUE(log_->status().is(StatusCode::kIoError));
  EXPECT_TRUE(log_->wait_room(1).is(StatusCode::kReadOnly));
  const Replayed found = recover_after_kill();
  EXPECT_OK(found.status);
  EXPECT_EQ(found.records, written);
}

// How long it takes to append while the disk stands still follows from the room that is left.
TEST(WalPacing, slows_down_as_the_ring_fills) {
  testing::SimDisk disk;
  ASSERT_OK(disk.make_directory("/db"));
  testing::SimMachine machine(disk, 1, true);
  constexpr size_t kRing = size_t{1} << 20;
  constexpr size_t kRecord = 4000;
  const auto log =
      start_log(machine.machine(), "/db",
                {.ring_bytes = kRing, .segment_bytes = size_t{2} << 20, .direct = true},
                epoch_at(1, size_t{2} << 20));
  ASSERT_NE(log, nullptr);
  const auto microseconds_of = [&](size_t bytes, int count) {
    const uint64_t before = machine.clock().monotonic_us();
    for (int i = 0; i < count; ++i) log->pace(bytes);
    return machine.clock().monotonic_us() - before;
  };
  const Lsn held = log->head();
  log->hold_drain(held);
  const auto fill = [&](size_t bytes) {
    while (log->head() - held < bytes) append(*log, std::string(kRecord, 'f'));
  };
  // Each look at the clock takes some of its time, also those of the log's thread.
  constexpr uint64_t kLooks = 1000;
  EXPECT_LT(microseconds_of(kRecord, 100), kLooks);
  fill(kRing / 2 - 2 * kRecord);
  EXPECT_LT(microseconds_of(kRecord, 100), kLooks);
  for (const size_t tenths : {6, 8, 9}) {
    fill(kRing / 10 * tenths);
    const uint64_t expected = 100 * kRecord / 400 * 10 / (10 - tenths);
    const uint64_t taken = microseconds_of(kRecord, 100);
    EXPECT_GT(taken, expected * 8 / 10) << tenths;
    EXPECT_LT(taken, expected * 12 / 10 + kLooks) << tenths;
  }
  // Small ones add up; large ones have a limit.
  EXPECT_GT(microseconds_of(40, 10'000), 10'000u * 40 / 400 * 8);
  EXPECT_LT(microseconds_of(log->payload_bytes_max() * 100, 1), 10'000 + kLooks);
  log->hold_drain(format::kLsnMax);
  EXPECT_OK(log->wait_durable(log->head() - 1));
  EXPECT_LT(microseconds_of(kRecord, 100), kLooks);
}

TEST(WalNames, only_the_logs_files_are_its_own) {
  EXPECT_EQ(segment_name(10), "wal.000000000000000a");
  EXPECT_EQ(segment_number("wal.000000000000000a"), 10u);
  EXPECT_TRUE(is_log_file("wal.ring"));
  EXPECT_TRUE(is_log_file("wal.new"));
  EXPECT_TRUE(is_log_file("wal.ffffffffffffffff"));
  for (const char* name : {"wal", "wal.", "wal.0", "wal.000000000000000A", "wal.00000000000000000",
                           "data.0", "xal.000000000000000a", ""}) {
    EXPECT_FALSE(is_log_file(name)) << name;
  }
}

}  // namespace
}  // namespace hawthorn::wal
