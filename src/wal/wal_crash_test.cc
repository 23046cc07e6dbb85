// Crashes on the simulated disk, by the hundred: a log lives through several lives, each ended by a
// kill or a power loss at a random moment or at the n-th operation of the disk.
//
// What must hold after each: all that wait_durable promised is there, what is there is a prefix of
// what was appended, nothing else is, and what one recovery handed out and made durable no later
// crash takes back (R6, R7, R9; attacks 3, 4, 5, 11).
#include <gtest/gtest.h>

#include "testing/scaled.h"
#include "testing/sim_machine.h"
#include "wal/wal_test_support.h"

namespace hawthorn::wal {
namespace {

using test::append;
using test::kSmall;
using test::payload_of;
using test::Record;
using test::Replayed;
using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

// The database around the log: what its manifest would hold, and what was promised.
class Life {
 public:
  explicit Life(uint64_t seed) : prng_(seed), disk_(std::make_unique<SimDisk>(seed)) {
    EXPECT_OK(disk_->make_directory("/db"));
    EXPECT_OK(disk_->sync_directory("/"));
  }

  // Opens, works until the disk dies or `steps` are done, crashes. `stop_nth`: the disk operation
  // at which it dies; 0: never.
  void live(uint64_t steps, uint64_t stop_nth, CrashKind kind) {
    SimMachine machine(*disk_, prng_.next());
    if (stop_nth != 0) disk_->stop_at(SimOp::kAny, stop_nth);
    std::unique_ptr<Log> log = open(machine.machine());
    if (log != nullptr) {
      for (uint64_t i = 0; i < steps && !disk_->stopped(); ++i) step(*log);
    }
    auto after = disk_->crash(prng_.next(), kind);
    log.reset();
    disk_ = std::move(after);
  }

  // Looks at what a restart would find, without making it durable.
  void check() {
    const SimMachine machine(*disk_, 1);
    auto recovery = Recovery::open(machine.machine(), "/db", kSmall, epochs_, trimmed_, true);
    ASSERT_TRUE(recovery.ok()) << recovery.status().to_string();
    compare(test::replay(**recovery));
  }

 private:
  std::unique_ptr<Log> open(const os::Machine& machine) {
    if (!epochs_.empty()) {
      auto recovery = Recovery::open(machine, "/db", kSmall, epochs_, trimmed_, false);
      if (!recovery.ok()) return refused(recovery.status());
      const Replayed found = test::replay(**recovery);
      if (!found.status.ok()) return refused(found.status);
      compare(found);
      if (Status s = (*recovery)->make_durable(); !s.ok()) return refused(s);
      // The manifest records the end; what lies behind it is no part of the history any more.
      epochs_.back().end = found.end;
      std::erase_if(history_, [&](const Record& r) { return r.lsn >= found.end; });
      promised_ = found.end;
    }
    const uint64_t first = std::max(promised_, issued_) / kSmall.segment_bytes + 1;
    const Lsn start = first * kSmall.segment_bytes;
    epochs_.push_back({epochs_.size() + 1, start, format::kLsnMax, prng_.next()});
    promised_ = start;
    auto log = Log::start(machine, "/db", kSmall, epochs_.back(), format::kLsnMax, trimmed_);
    if (!log.ok()) return refused(log.status());
    return std::move(*log);
  }

  std::unique_ptr<Log> refused(const Status& status) {
    EXPECT_TRUE(disk_->stopped()) << status.to_string();
    return nullptr;
  }

  void step(Log& log) {
    switch (prng_.below(20)) {
      case 0: {
        if (log.wait_durable(log.head()).ok()) promised_ = std::max(promised_, log.durable());
        break;
      }
      case 1: {
        if (history_.empty()) break;
        const Record& record = history_[prng_.below(history_.size())];
        if (record.lsn < epochs_.back().start) break;
        if (log.wait_durable(record.lsn).ok()) promised_ = std::max(promised_, record.lsn + 1);
        break;
      }
      case 2:
        static_cast<void>(log.drain_now());
        break;
      case 3:
        log.request_durable(log.head());
        break;
      case 4: {
        // Some of what is durable was flushed, and the manifest says so.
        if (!prng_.one_in(3)) break;
        const Lsn durable = std::max(log.durable(), epochs_.back().start);
        trimmed_ = std::max(trimmed_, prng_.between(std::min(trimmed_, durable), durable));
        log.trim(trimmed_);
        break;
      }
      default: {
        const size_t size =
            prng_.one_in(4) ? prng_.below(log.payload_bytes_max() + 1) : prng_.below(300);
        const uint64_t number = ++number_;
        const Record record{.operations = static_cast<uint32_t>(number),
                            .payload = payload_of(number, size)};
        // The store happens in memory: it is part of the history even when the disk is dead by now.
        Status status;
        const Lsn lsn =
            append(log, record.payload, &status, RecordType::kCommit, record.operations);
        if (lsn == 0) break;
        history_.push_back(record);
        history_.back().lsn = lsn;
      }
    }
    issued_ = std::max(issued_, log.head());
  }

  void compare(const Replayed& found) {
    ASSERT_TRUE(found.status.ok()) << found.status.to_string();
    size_t at = 0;
    while (at < history_.size() && history_[at].lsn < trimmed_) ++at;
    for (const Record& record : found.records) {
      ASSERT_LT(at, history_.size()) << "a record that was never appended";
      ASSERT_EQ(record, history_[at]);
      ++at;
    }
    if (at < history_.size()) {
      ASSERT_GE(history_[at].lsn, promised_) << "a promised record is lost";
    }
  }

  Prng prng_;
  std::unique_ptr<SimDisk> disk_;
  std::vector<LogEpoch> epochs_;
  Lsn trimmed_ = 0;
  Lsn issued_ = 0;
  Lsn promised_ = 0;  // all below must be there
  std::vector<Record> history_;
  uint64_t number_ = 0;
};

CrashKind kind_of(uint64_t number) {
  constexpr CrashKind kinds[] = {CrashKind::kPowerLoss, CrashKind::kProcessKill,
                                 CrashKind::kPowerLossDrop};
  return kinds[number % 3];
}

TEST(WalCrash, lives_that_end_at_random_moments) {
  for (uint64_t seed = 1; seed <= testing::scaled(150); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Prng prng(seed);
    Life life(seed);
    for (int i = 0; i < 6; ++i) {
      life.live(prng.below(300), prng.one_in(3) ? 1 + prng.below(200) : 0, kind_of(prng.next()));
      life.check();
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

// Every operation of a whole life, recovery included, is once the last one: by one kind of crash,
// or by each of them with HAWTHORN_SCALE=4 (8 under a sanitizer).
TEST(WalCrash, lives_that_end_at_every_disk_operation) {
  for (uint64_t nth = 1; nth <= 120; ++nth) {
    for (uint64_t kind = 0; kind < 3; ++kind) {
      if (kind != nth % 3 && !testing::is_whole()) continue;
      SCOPED_TRACE("operation " + std::to_string(nth) + ", kind " + std::to_string(kind));
      Life life(7);
      life.live(150, 0, kind_of(kind + 1));
      life.live(150, nth, kind_of(kind));
      life.check();
      life.live(20, 0, CrashKind::kPowerLossDrop);
      life.check();
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace hawthorn::wal
