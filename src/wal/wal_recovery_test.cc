// What recovery makes of torn tails, damage, old epochs and odd files. Segments and ring are edited
// behind the log's back, on the simulated disk.
#include <gtest/gtest.h>

#include "testing/sim_machine.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using test::append_record;
using test::epoch_at;
using test::kSmall;
using test::payload_of;
using test::Record;
using test::Replayed;
using test::start_log;
using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

constexpr size_t kHeader = sizeof(format::RecordHeader);

class WalRecovery : public ::testing::Test {
 protected:
  WalRecovery() : disk_(std::make_unique<SimDisk>(1)) {
    EXPECT_OK(disk_->make_directory("/db"));
    EXPECT_OK(disk_->sync_directory("/"));
    machine_ = std::make_unique<SimMachine>(*disk_, 1);
    start(1, kSmall.segment_bytes);
  }

  void start(uint64_t number, Lsn lsn) {
    epochs_.push_back(epoch_at(number, lsn));
    log_ = start_log(machine_->machine(), "/db", kSmall, epochs_.back());
  }
  void add(size_t size) { written_.push_back(append_record(*log_, ++number_, size)); }
  // The process dies; what it had appended is in the ring.
  void crash(CrashKind kind = CrashKind::kProcessKill) {
    auto after = disk_->crash(++number_, kind);
    log_.reset();
    machine_ = std::make_unique<SimMachine>(*after, number_);
    disk_ = std::move(after);
  }
  Replayed recover(Lsn trimmed = 0) {
    return test::recover(machine_->machine(), "/db", kSmall, epochs_, trimmed);
  }
  std::unique_ptr<Recovery> open_recovery(bool read_only = false) {
    auto recovery = Recovery::open(machine_->machine(), "/db", kSmall, epochs_, 0, read_only);
    EXPECT_TRUE(recovery.ok()) << recovery.status().to_string();
    return std::move(*recovery);
  }
  std::string segment_path(Lsn lsn) const {
    return "/db/" + segment_name(lsn / kSmall.segment_bytes);
  }
  void overwrite(const std::string& path, uint64_t offset, std::string_view bytes) {
    auto file = disk_->open_file(path, {});
    ASSERT_TRUE(file.ok());
    ASSERT_OK((*file)->write_at(offset, {bytes.data(), bytes.size()}));
    ASSERT_OK((*file)->sync_data());
  }
  // Changes the byte of an lsn in its segment, in the ring, or in both.
  void flip(Lsn lsn, bool segment = true, bool ring = true) {
    if (segment) {
      ASSERT_TRUE(disk_->flip_bit(segment_path(lsn), lsn % kSmall.segment_bytes, 3));
    }
    if (ring) {
      ASSERT_TRUE(disk_->flip_bit("/db/wal.ring", lsn % kSmall.ring_bytes, 3));
    }
  }
  void expect_first(const Replayed& found, size_t count) const {
    EXPECT_OK(found.status);
    ASSERT_EQ(found.records.size(), count);
    EXPECT_TRUE(std::equal(found.records.begin(), found.records.end(), written_.begin()));
  }

  std::unique_ptr<SimDisk> disk_;
  std::unique_ptr<SimMachine> machine_;
  std::vector<LogEpoch> epochs_;
  std::unique_ptr<Log> log_;
  std::vector<Record> written_;
  uint64_t number_ = 0;
};

TEST_F(WalRecovery, a_tail_torn_at_every_byte_ends_before_its_record) {
  for (size_t size : {20, 200, 0, 77}) add(size);
  crash();
  const Record last = written_.back();
  for (size_t cut = 0; cut < kHeader + 77; ++cut) {
    for (const char filler : {'\0', 'g'}) {
      auto copy = disk_->after_crash(1, CrashKind::kProcessKill);
      auto ring = copy->open_file("/db/wal.ring", {});
      ASSERT_TRUE(ring.ok());
      std::string tail(kHeader + 77 - cut, '\0');
      const uint64_t at = (last.lsn + cut) % kSmall.ring_bytes;
      ASSERT_OK((*ring)->read_at(at, {tail.data(), tail.size()}));
      const std::string torn(tail.size(), filler);
      ASSERT_OK((*ring)->write_at(at, {torn.data(), torn.size()}));
      const SimMachine machine(*copy, 1);
      const Replayed found = test::recover(machine.machine(), "/db", kSmall, epochs_);
      expect_first(found, tail == torn ? 4 : 3);
      EXPECT_EQ(found.end, tail == torn ? last.lsn + format::record_bytes(77) : last.lsn) << cut;
    }
  }
}

TEST_F(WalRecovery, tells_how_far_it_is_and_can_be_ended) {
  for (size_t i = 0; i < 300; ++i) add(8000);
  crash();
  auto recovery = open_recovery(true);
  struct Told {
    uint64_t done;
    uint64_t total;
  };
  std::vector<Told> told;
  recovery->on_progress([&](uint64_t done, uint64_t total) {
    told.push_back({done, total});
    return Status();
  });
  size_t records = 0;
  const auto count = [&](const RecordView&) {
    ++records;
    return Status();
  };
  ASSERT_OK(recovery->replay(0, count));
  ASSERT_EQ(records, 300U);
  const uint64_t once = recovery->bytes();
  ASSERT_GE(told.size(), 3U);  // 2.3 MB, and the end
  for (size_t i = 1; i < told.size(); ++i) EXPECT_GT(told[i].done, told[i - 1].done);
  for (const Told& at : told) EXPECT_LE(at.done, at.total);
  EXPECT_GE(told.front().total, once);
  EXPECT_EQ(told.back().done, once);
  EXPECT_EQ(told.back().total, once);

  // Again, from the middle on.
  told.clear();
  const Lsn middle = written_[150].lsn;
  ASSERT_OK(recovery->replay(middle, count));
  EXPECT_EQ(records, 450U);
  const uint64_t twice = once + (recovery->end() - middle);
  EXPECT_EQ(told.front().total, twice);
  EXPECT_EQ(told.back().done, twice);

  recovery->on_progress([](uint64_t, uint64_t) { return Status(StatusCode::kBusy, "enough"); });
  records = 0;
  EXPECT_TRUE(recovery->replay(0, count).is(StatusCode::kBusy));
  EXPECT_LT(records, 150U);
}

// Attack 6: a bit that flips below what was durable is damage, and said to be.
TEST_F(WalRecovery, a_flipped_bit_below_a_durable_lsn_is_named) {
  for (size_t i = 0; i < 50; ++i) add(100 + i);
  ASSERT_OK(log_->wait_durable(written_.back().lsn));
  add(10);  // carries the durable_lsn
  ASSERT_OK(log_->drain_now());
  crash();
  for (const size_t victim : {0, 20, 49}) {
    for (const size_t offset : {size_t{8}, size_t{30}, kHeader + 5}) {
      auto kept = disk_->after_crash(1, CrashKind::kProcessKill);
      const Lsn at = written_[victim].lsn + offset;
      flip(at);
      const Replayed found = recover();
      EXPECT_TRUE(found.status.is(StatusCode::kCorruption)) << found.status.to_string();
      const std::string place =
          segment_path(at) + " at " + std::to_string(written_[victim].lsn % kSmall.segment_bytes);
      EXPECT_NE(found.status.message().find(place), std::string::npos) << found.status.to_string();
      disk_ = std::move(kept);
      machine_ = std::make_unique<SimMachine>(*disk_, 1);
    }
  }
}

TEST_F(WalRecovery, the_proof_of_damage_may_be_in_the_segments_alone) {
  for (size_t i = 0; i < 50; ++i) add(100 + i);
  ASSERT_OK(log_->wait_durable(written_.back().lsn));
  // Far enough behind that the ring has forgotten the damaged part.
  while (log_->head() < written_[0].lsn + 3 * kSmall.segment_bytes) add(5000);
  ASSERT_OK(log_->drain_now());
  crash();
  ASSERT_OK(disk_->remove("/db/wal.ring"));
  flip(written_[7].lsn + 10, true, false);
  const Replayed found = recover();
  EXPECT_TRUE(found.status.is(StatusCode::kCorruption)) << found.status.to_string();
}

TEST_F(WalRecovery, a_missing_segment_below_a_durable_lsn_is_damage) {
  while (log_->head() < 4 * kSmall.segment_bytes) add(5000);
  ASSERT_OK(log_->wait_durable(log_->head()));
  add(10);
  ASSERT_OK(log_->drain_now());
  crash();
  ASSERT_OK(disk_->remove(segment_path(2 * kSmall.segment_bytes)));
  EXPECT_TRUE(recover().status.is(StatusCode::kCorruption));
}

// What was not durable may be lost; what lies behind it goes with it.
TEST_F(WalRecovery, a_flipped_bit_in_an_unsynced_tail_ends_the_log) {
  for (size_t i = 0; i < 10; ++i) add(100);
  ASSERT_OK(log_->wait_durable(written_.back().lsn));
  for (size_t i = 0; i < 10; ++i) add(100);
  crash();
  flip(written_[14].lsn + 60, false, true);
  expect_first(recover(), 14);
}

// R7: segment or ring, whichever validates.
TEST_F(WalRecovery, the_ring_heals_the_segment_and_the_segment_the_ring) {
  for (size_t i = 0; i < 50; ++i) add(100 + i);
  ASSERT_OK(log_->wait_durable(written_.back().lsn));
  add(10);
  ASSERT_OK(log_->drain_now());
  crash();
  flip(written_[5].lsn + 50, true, false);
  flip(written_[9].lsn + 50, false, true);
  expect_first(recover(), 51);

  // make_durable puts it back where it belongs.
  ASSERT_OK(open_recovery()->make_durable());
  ASSERT_OK(disk_->remove("/db/wal.ring"));
  expect_first(recover(), 51);
}

// Attacks 3 and 4: a hole, then a new epoch; what lay behind the hole never comes back.
TEST_F(WalRecovery, ghosts_of_an_older_epoch_stay_dead) {
  for (size_t i = 0; i < 6; ++i) add(100);
  crash();
  flip(written_[3].lsn + 20, false, true);  // as if never completely copied
  const Lsn hole = written_[3].lsn;
  {
    auto recovery = open_recovery();
    const Replayed found = test::replay(*recovery);
    EXPECT_OK(found.status);
    EXPECT_EQ(found.end, hole);
    ASSERT_OK(recovery->make_durable());
  }
  written_.resize(3);
  epochs_.back().end = hole;
  start(2, 2 * kSmall.segment_bytes);
  add(100);  // the same ring position and length as the one before
  crash();
  flip(hole + 20, false, true);  // the hole is whole again
  const Replayed found = recover();
  expect_first(found, 4);
  EXPECT_EQ(found.records.back().lsn, 2 * kSmall.segment_bytes);
}

TEST_F(WalRecovery, a_closed_epoch_must_be_complete) {
  for (size_t i = 0; i < 6; ++i) add(100);
  const Lsn end = log_->head();
  crash();
  ASSERT_OK(open_recovery()->make_durable());
  epochs_.back().end = end;
  start(2, 2 * kSmall.segment_bytes);
  crash();
  expect_first(recover(), 6);
  flip(written_[5].lsn + 60);  // no later record says that it was durable: the epoch's end does
  const Replayed found = recover();
  EXPECT_TRUE(found.status.is(StatusCode::kCorruption)) << found.status.to_string();
  EXPECT_NE(found.status.message().find(segment_path(written_[5].lsn)), std::string::npos);
}

// Attack 5: what recovery hands out survives a power loss that comes after make_durable.
TEST_F(WalRecovery, make_durable_outlives_power) {
  for (size_t i = 0; i < 200; ++i) add(i * 37 % 3000);
  crash();  // partly drained, nothing synced
  expect_first(recover(), 200);
  ASSERT_OK(open_recovery()->make_durable());
  crash(CrashKind::kPowerLossDrop);
  expect_first(recover(), 200);
}

// The same after a sync that failed: the kernel thinks the blocks clean, the disk never got them.
TEST_F(WalRecovery, make_durable_outlives_power_after_a_failed_sync) {
  for (size_t i = 0; i < 100; ++i) add(1000);
  disk_->fail(testing::SimOp::kSync, 1, StatusCode::kIoError);
  EXPECT_TRUE(log_->wait_durable(written_.back().lsn).is(StatusCode::kIoError));
  log_.reset();
  expect_first(recover(), 100);
  ASSERT_OK(open_recovery()->make_durable());
  crash(CrashKind::kPowerLossDrop);
  expect_first(recover(), 100);
}

// The tail is read again to be written again: what has gone bad in between must not become a hole
// below a new epoch, with which no later open could do anything.
TEST_F(WalRecovery, a_tail_that_goes_bad_before_it_is_durable_is_named) {
  for (size_t i = 0; i < 20; ++i) add(3000);
  ASSERT_OK(log_->drain_now());
  crash();
  for (const size_t victim : {0, 7, 19}) {
    auto kept = disk_->after_crash(1, CrashKind::kProcessKill);
    auto recovery = open_recovery();
    expect_first(test::replay(*recovery), 20);
    const Lsn at = written_[victim].lsn;
    flip(at + 1000, true, false);
    const Status status = recovery->make_durable();
    EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
    const std::string place = segment_path(at) + " at " + std::to_string(at % kSmall.segment_bytes);
    EXPECT_NE(status.message().find(place), std::string::npos) << status.to_string();
    recovery.reset();
    // The next open takes it from the ring.
    recovery = open_recovery();
    expect_first(test::replay(*recovery), 20);
    EXPECT_OK(recovery->make_durable());
    recovery.reset();
    disk_ = std::move(kept);
    machine_ = std::make_unique<SimMachine>(*disk_, 1);
  }
}

TEST_F(WalRecovery, make_durable_removes_segments_that_were_only_prepared) {
  for (size_t i = 0; i < 30; ++i) add(5000);
  crash();
  const Lsn end = recover().end;
  auto extra = disk_->open_file(segment_path(end + kSmall.segment_bytes), {.create = true});
  ASSERT_TRUE(extra.ok());
  ASSERT_OK((*extra)->truncate(kSmall.segment_bytes));
  auto recovery = open_recovery();
  ASSERT_OK(recovery->make_durable());
  EXPECT_FALSE(disk_->exists(segment_path(end + kSmall.segment_bytes)).value());
  expect_first(test::replay(*recovery), 30);  // does not look for it either
  expect_first(recover(), 30);
}

TEST_F(WalRecovery, read_only_writes_nothing) {
  for (size_t i = 0; i < 100; ++i) add(1000);
  crash();
  const auto before = disk_->counters();
  auto recovery = open_recovery(true);
  expect_first(test::replay(*recovery), 100);
  EXPECT_TRUE(recovery->make_durable().is(StatusCode::kReadOnly));
  const auto after = disk_->counters();
  EXPECT_EQ(before.bytes_written, after.bytes_written);
  EXPECT_EQ(before.syncs + before.names + before.allocates + before.directory_syncs,
            after.syncs + after.names + after.allocates + after.directory_syncs);
}

TEST_F(WalRecovery, a_directory_without_log_is_an_empty_log) {
  ASSERT_OK(log_->close_and_remove());
  const Replayed found = recover();
  EXPECT_OK(found.status);
  EXPECT_TRUE(found.records.empty());
  EXPECT_EQ(found.end, epochs_[0].start);
}

TEST_F(WalRecovery, files_of_unexpected_size_are_named) {
  add(100);
  crash();
  for (const std::string& path : {std::string("/db/wal.ring"), segment_path(written_[0].lsn)}) {
    for (const int64_t change : {-4096, 4096}) {
      auto file = disk_->open_file(path, {});
      ASSERT_TRUE(file.ok());
      const uint64_t size = (*file)->size().value();
      ASSERT_OK((*file)->truncate(size + static_cast<uint64_t>(change)));
      const Status status = recover().status;
      EXPECT_TRUE(status.is(StatusCode::kCorruption)) << status.to_string();
      EXPECT_NE(status.message().find(path), std::string::npos) << status.to_string();
      ASSERT_OK((*file)->truncate(size));
    }
  }
}

TEST_F(WalRecovery, replay_starts_at_the_record_asked_for_or_behind_it) {
  while (log_->head() < 4 * kSmall.segment_bytes) add(1 + number_ * 331 % 6000);
  crash();
  auto recovery = open_recovery(true);
  expect_first(test::replay(*recovery), written_.size());
  for (size_t i = 0; i < written_.size(); i += 7) {
    const std::vector<Record> rest(written_.begin() + static_cast<ptrdiff_t>(i), written_.end());
    EXPECT_EQ(test::replay(*recovery, written_[i].lsn).records, rest);
    const std::vector<Record> behind(rest.begin() + 1, rest.end());
    for (const Lsn in : {written_[i].lsn + 1, written_[i].lsn + 8, written_[i].lsn + kHeader}) {
      EXPECT_EQ(test::replay(*recovery, in).records, behind);
    }
  }
  EXPECT_EQ(recovery->bytes(), recovery->end() - epochs_[0].start);
}

// A trim names any lsn, and the start of the record across it may be gone with its segment.
TEST_F(WalRecovery, a_trimmed_log_starts_at_the_next_record) {
  while (log_->head() < 5 * kSmall.segment_bytes) add(1 + number_ * 331 % 6000);
  ASSERT_OK(log_->wait_durable(log_->head()));
  const Lsn trimmed = 3 * kSmall.segment_bytes;
  log_->trim(trimmed);
  EXPECT_FALSE(disk_->exists(segment_path(trimmed - 1)).value());
  add(10);
  crash();
  for (Lsn from = trimmed; from < trimmed + 20000; from += 1 + from % 1700) {
    std::vector<Record> wanted;
    for (const Record& record : written_) {
      if (record.lsn >= from) wanted.push_back(record);
    }
    const Replayed found = recover(from);
    EXPECT_OK(found.status);
    EXPECT_EQ(found.records, wanted) << from;
  }
  // Damage at the start is not taken for a record across it.
  const auto first = std::find_if(written_.begin(), written_.end(),
                                  [&](const Record& r) { return r.lsn >= trimmed + 50000; });
  flip(first->lsn + 20);
  EXPECT_TRUE(recover(first->lsn).status.is(StatusCode::kCorruption));
}

TEST_F(WalRecovery, a_record_type_of_the_future_is_not_the_end_of_the_log) {
  add(10);
  const std::string payload = payload_of(77, 30);
  test::append(*log_, payload, nullptr, static_cast<RecordType>(99));
  crash();
  const Replayed found = recover();
  EXPECT_TRUE(found.status.is(StatusCode::kNotSupported)) << found.status.to_string();
}

TEST_F(WalRecovery, an_error_of_the_callback_comes_back) {
  add(10);
  crash();
  auto recovery = open_recovery(true);
  const Status stop(StatusCode::kOutOfMemory, "enough");
  EXPECT_TRUE(
      recovery->replay(0, [&](const RecordView&) { return stop; }).is(StatusCode::kOutOfMemory));
  expect_first(test::replay(*recovery), 1);
}

TEST_F(WalRecovery, an_unreadable_segment_is_an_error_not_an_end) {
  for (size_t i = 0; i < 100; ++i) add(1000);
  crash();
  auto recovery = open_recovery(true);
  disk_->fail(testing::SimOp::kRead, 1, StatusCode::kIoError);
  EXPECT_TRUE(test::replay(*recovery).status.is(StatusCode::kIoError));
}

TEST_F(WalRecovery, epochs_out_of_order_are_refused) {
  epochs_.push_back(epochs_[0]);
  EXPECT_TRUE(recover().status.is(StatusCode::kCorruption));
}

}  // namespace
}  // namespace hawthorn::wal
