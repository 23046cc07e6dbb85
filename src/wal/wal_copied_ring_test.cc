// A ring that is a copy of its file, as on file systems where stores into the pages of a file could
// end the process: what was appended is there after a kill, whenever the file had no space.
#include <gtest/gtest.h>

#include "testing/copied_mappings.h"
#include "testing/scaled.h"
#include "testing/sim_machine.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using test::append;
using test::epoch_at;
using test::kSmall;
using test::payload_of;
using test::Record;
using test::Replayed;

class WalCopiedRing : public ::testing::Test {
 protected:
  WalCopiedRing() : sim_(disk_, 1), files_(disk_), machine_(sim_.machine()) {
    machine_.files = &files_;
    EXPECT_OK(disk_.make_directory("/db"));
    EXPECT_OK(disk_.sync_directory("/"));
    log_ = test::start_log(machine_, "/db", kSmall, epoch_);
  }

  // Whether it found space.
  bool add(size_t size) {
    Record record{.operations = ++number_, .payload = payload_of(number_, size)};
    Status status;
    record.lsn = append(*log_, record.payload, &status, record.type, record.operations);
    if (record.lsn != 0) {
      written_.push_back(std::move(record));
      return true;
    }
    EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
    return false;
  }
  void space(bool there) {
    if (there) return disk_.clear_faults();
    disk_.fail_path("wal.ring", testing::SimOp::kWrite, 1, StatusCode::kNoSpace, true);
  }
  void expect_all_after(testing::CrashKind kind) {
    auto disk = disk_.after_crash(1, kind);
    disk->clear_faults();
    const testing::SimMachine machine(*disk, 1);
    const Replayed found = test::recover(machine.machine(), "/db", kSmall, {epoch_});
    ASSERT_OK(found.status);
    ASSERT_EQ(found.records, written_);
  }

  testing::SimDisk disk_;
  testing::SimMachine sim_;
  testing::CopiedMappings files_;
  os::Machine machine_;
  const LogEpoch epoch_ = epoch_at(1, kSmall.segment_bytes);
  std::unique_ptr<Log> log_;
  uint32_t number_ = 0;
  std::vector<Record> written_;
};

TEST_F(WalCopiedRing, an_append_without_space_is_refused_and_the_next_ones_go_on) {
  ASSERT_TRUE(add(100));
  space(false);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(add(100));
  expect_all_after(testing::CrashKind::kProcessKill);
  space(true);
  ASSERT_TRUE(add(100));
  expect_all_after(testing::CrashKind::kProcessKill);
}

// A pad is not refused: segments have it, and the ring's file with the next record.
TEST_F(WalCopiedRing, a_pad_without_space_comes_with_the_next_record) {
  ASSERT_TRUE(add(100));
  space(false);
  ASSERT_OK(log_->drain_now());
  expect_all_after(testing::CrashKind::kProcessKill);
  EXPECT_FALSE(add(100));
  space(true);
  ASSERT_TRUE(add(100));
  expect_all_after(testing::CrashKind::kProcessKill);
  ASSERT_OK(log_->wait_durable(written_.back().lsn));
  expect_all_after(testing::CrashKind::kPowerLossDrop);
}

TEST_F(WalCopiedRing, any_appends_drains_and_shortages) {
  const uint64_t seed = testing::environment_number("HAWTHORN_SEED", 1);
  SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
  Prng prng(seed);
  bool there = true;
  const uint64_t steps = testing::scaled(4000);
  for (uint64_t step = 0; step < steps; ++step) {
    if (prng.one_in(20)) space(there = !there);
    if (prng.one_in(15)) ASSERT_OK(log_->drain_now());
    const bool added = add(8 + prng.below(prng.one_in(10) ? 7000 : 300));
    ASSERT_TRUE(added || !there);
    if (prng.one_in(steps / 50)) {
      ASSERT_NO_FATAL_FAILURE(expect_all_after(testing::CrashKind::kProcessKill));
    }
  }
}

}  // namespace
}  // namespace hawthorn::wal
