// Checks of an open log: what they find wrong, and that they end.
#include "wal/log_check.h"

#include <gtest/gtest.h>

#include "testing/sim_machine.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using test::append_record;
using test::epoch_at;
using test::kSmall;
using test::Record;
using test::start_log;
using testing::SimDisk;
using testing::SimMachine;

class WalLogCheck : public ::testing::Test {
 protected:
  WalLogCheck() : epoch_(epoch_at(1, kSmall.segment_bytes)) {
    EXPECT_OK(disk_.make_directory("/db"));
    log_ = start_log(machine_.machine(), "/db", kSmall, epoch_);
    for (uint64_t i = 0; i < 20; ++i) written_.push_back(append_record(*log_, i, 3000));
    EXPECT_OK(log_->drain_now());
  }

  std::vector<LogGap> check() {
    std::vector<LogGap> gaps;
    LogCheck check(machine_.machine(), "/db", kSmall);
    // A check that goes round for ever is ended here.
    check.before_read = [pieces = 0](uint64_t) mutable { return ++pieces < 1000; };
    EXPECT_OK(check.run(*log_, {epoch_}, [&](const LogGap& gap) { gaps.push_back(gap); }));
    return gaps;
  }
  void flip(Lsn lsn) {
    ASSERT_TRUE(disk_.flip_bit("/db/" + segment_name(lsn / kSmall.segment_bytes),
                               lsn % kSmall.segment_bytes, 3));
  }

  SimDisk disk_{1};
  SimMachine machine_{disk_, 1};
  const LogEpoch epoch_;
  std::unique_ptr<Log> log_;
  std::vector<Record> written_;
};

TEST_F(WalLogCheck, names_each_record_that_is_not_whole) {
  EXPECT_EQ(check().size(), 0);
  flip(written_[4].lsn + 1000);
  flip(written_[9].lsn + 8);
  const std::vector<LogGap> gaps = check();
  ASSERT_EQ(gaps.size(), 2);
  EXPECT_EQ(gaps[0].lsn, written_[4].lsn);
  EXPECT_EQ(gaps[0].bytes, written_[5].lsn - written_[4].lsn);
  EXPECT_EQ(gaps[0].offset, written_[4].lsn % kSmall.segment_bytes);
  EXPECT_EQ(gaps[1].lsn, written_[9].lsn);
}

// What is trimmed need not end with a record. Where the one across that place is damaged, its
// begin lies below what the check is to look at: it went back there again and again.
TEST_F(WalLogCheck, ends_where_the_record_across_the_trim_is_damaged) {
  flip(written_[6].lsn + 8);
  log_->trim(written_[6].lsn + 800);
  const std::vector<LogGap> gaps = check();
  ASSERT_EQ(gaps.size(), 1);
  EXPECT_EQ(gaps[0].lsn, written_[6].lsn + 800);
  EXPECT_EQ(gaps[0].lsn + gaps[0].bytes, written_[7].lsn);
}

}  // namespace
}  // namespace hawthorn::wal
