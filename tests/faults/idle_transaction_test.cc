// Transactions that stay open while others write: what the log is kept for (R8, attack 9). On the
// simulated disk with one thread, so that every step happens at the same place each time.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "db/log_sizing.h"
#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

using Contents = std::map<std::string, std::string>;

constexpr size_t kBudget = size_t{16} << 20;
constexpr size_t kLogLimit = kBudget / 5 * 2;  // two deltas' shares
constexpr size_t kSegment = size_t{1} << 20;

class IdleTransaction : public ::testing::Test {
 protected:
  void SetUp() override {
    db::log_segment_bytes = kSegment;
    db::log_bytes_min = size_t{1} << 20;
    reopen();
  }

  static Options options(size_t budget = kBudget) {
    Options options;
    options.memory_budget_bytes = budget;
    options.durability = Durability::kNone;
    return options;
  }

  void reopen(size_t budget = kBudget) {
    db_.reset();
    auto db = Db::open_on(machine_->machine(), "/db", options(budget));
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    for (Tree* tree : {&busy_, &quiet_, &mixed_}) {
      auto opened = db_->tree(tree == &busy_ ? "busy" : tree == &quiet_ ? "quiet" : "mixed");
      ASSERT_OK(opened.status());
      *tree = *opened;
    }
  }

  // Writes so many bytes of log, with what the background does. Returns how long it was at most.
  uint64_t write_log(uint64_t bytes) {
    uint64_t most = 0;
    for (const uint64_t end = logged() + bytes; logged() < end;) {
      for (int i = 0; i < 20; ++i, ++written_) {
        const std::string key = key_of(written_ % 150 * 32 + 6);
        const std::string value = value_of(written_, 20'000);
        EXPECT_OK(db_->put(busy_, key, value));
        busy_contents_[key] = value;
      }
      EXPECT_OK(db_->drain());
      most = std::max(most, db_->stats().log_bytes);
    }
    return most;
  }
  uint64_t logged() { return db_->stats().visible_timestamp; }

  // Writes to keys [from, from + count) of both trees: some twice, some deleted again, some values
  // with extents of their own. Returns about how much it logs.
  uint64_t write_large(Transaction& transaction, uint64_t from, uint64_t count) {
    uint64_t bytes = 0;
    for (uint64_t i = from; i < from + count; ++i) {
      const bool left = i % 3 != 0;
      const Tree& tree = left ? quiet_ : mixed_;
      const std::string key = big_endian(i);
      for (uint64_t again = 0; again < (i % 7 == 0 ? 2 : 1); ++again) {
        ++salt_;
        const std::string value = value_of(salt_, i % 151 == 150 ? 70'000 : 1000 + i % 5 * 1000);
        EXPECT_OK(transaction.put(tree, key, value));
        late_[left ? 0 : 1][key] = value;
        bytes += value.size() > 65536 ? 100 : value.size();
      }
      if (i % 11 != 0) continue;
      EXPECT_OK(transaction.del(tree, key));
      late_[left ? 0 : 1].erase(key);
    }
    return bytes;
  }

  void expect_all(Db& db, bool late) {
    EXPECT_TRUE(read(db, db.tree("quiet").value()) == (late ? late_[0] : Contents()));
    EXPECT_TRUE(read(db, db.tree("mixed").value()) == (late ? late_[1] : Contents()));
    EXPECT_TRUE(clean(db));
  }

  // What a killed process and a power loss leave, read with the same budget and with another one.
  // Power loss may take back what was not committed with kFull, as a whole.
  void expect_all_after_crashes(bool late, Durability level = Durability::kNone) {
    for (const size_t budget : {kBudget, 4 * kBudget}) {
      auto after = disk_->after_crash(salt_, CrashKind::kProcessKill);
      SimMachine machine(*after, 2);
      auto db = Db::open_on(machine.machine(), "/db", options(budget));
      ASSERT_OK(db.status());
      expect_all(**db, late);
      EXPECT_TRUE(read(**db, (*db)->tree("busy").value()) == busy_contents_);
    }
    for (const CrashKind kind : {CrashKind::kPowerLoss, CrashKind::kPowerLossDrop}) {
      auto after = disk_->after_crash(salt_, kind);
      SimMachine machine(*after, 2);
      auto db = Db::open_on(machine.machine(), "/db", options());
      ASSERT_OK(db.status());
      const bool there = !read(**db, (*db)->tree("quiet").value()).empty();
      EXPECT_TRUE(late || !there);
      EXPECT_TRUE(there || !late || level != Durability::kFull);
      expect_all(**db, there);
    }
  }

  Contents read(const Tree& tree) { return read(*db_, tree); }
  static Contents read(Db& db, const Tree& tree) {
    Contents contents;
    EXPECT_OK(db.scan(tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) contents.emplace(entry.key, entry.value);
      return true;
    }));
    return contents;
  }

  // On an empty disk.
  void start_anew() {
    db_.reset();
    disk_ = std::make_unique<SimDisk>(1);
    machine_ = std::make_unique<SimMachine>(*disk_, 1);
    busy_contents_.clear();
    for (Contents& contents : late_) contents.clear();
    reopen();
  }

  std::unique_ptr<SimDisk> disk_ = std::make_unique<SimDisk>(1);
  std::unique_ptr<SimMachine> machine_ = std::make_unique<SimMachine>(*disk_, 1);
  std::unique_ptr<Db> db_;
  Tree busy_;
  Tree quiet_;  // nobody but the transaction writes to it
  Tree mixed_;
  Contents busy_contents_;
  Contents late_[2];  // of write_large: in quiet_, in mixed_
  uint64_t written_ = 0;
  uint64_t salt_ = 0;
};

// One that has logged nothing holds nothing, wherever its intents are.
TEST_F(IdleTransaction, holds_no_log) {
  for (uint64_t i = 0; i < 10; ++i) ASSERT_OK(db_->put(mixed_, big_endian(i), "before"));
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  ASSERT_OK(transaction->put(quiet_, "alone", "late"));
  for (uint64_t i = 0; i < 25; ++i) ASSERT_OK(transaction->put(mixed_, big_endian(i), "late"));
  for (uint64_t i = 30; i < 40; ++i) ASSERT_OK(db_->put(mixed_, big_endian(i), "meanwhile"));

  EXPECT_LT(write_log(10 * kLogLimit), 2 * kLogLimit);

  EXPECT_TRUE(read(quiet_).empty());
  EXPECT_EQ(read(mixed_).size(), 20u);
  ASSERT_OK(transaction->commit());
  *transaction = Transaction();  // it must not outlive its database
  Contents mixed;
  for (uint64_t i = 0; i < 25; ++i) mixed[big_endian(i)] = "late";
  for (uint64_t i = 30; i < 40; ++i) mixed[big_endian(i)] = "meanwhile";
  EXPECT_LT(write_log(3 * kLogLimit), 2 * kLogLimit);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read(quiet_), (Contents{{"alone", "late"}}));
    EXPECT_EQ(read(mixed_), mixed);
    EXPECT_TRUE(read(busy_) == busy_contents_);
    EXPECT_TRUE(clean(*db_));
    reopen();
  }
}

// A power loss while it is idle, right after its commit, and later: it is there as a whole or not
// at all, though the log that it began with has gone.
TEST_F(IdleTransaction, survives_or_not_as_a_whole) {
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  Contents late;
  for (uint64_t i = 0; i < 30; ++i) {
    late[big_endian(i)] = value_of(i, 300);
    ASSERT_OK(transaction->put(i % 2 == 0 ? quiet_ : mixed_, big_endian(i), late[big_endian(i)]));
  }
  const auto crash = [&](bool committed) {
    auto after = disk_->after_crash(written_, CrashKind::kPowerLoss);
    SimMachine machine(*after, 2);
    Options options;
    options.memory_budget_bytes = kBudget;
    auto db = Db::open_on(machine.machine(), "/db", options);
    ASSERT_OK(db.status());
    Contents found;
    for (const char* name : {"quiet", "mixed"}) {
      ASSERT_OK((*db)->scan((*db)->tree(name).value(), "", std::nullopt,
                            [&](std::span<const Entry> entries) {
                              for (const Entry& entry : entries) {
                                found.emplace(entry.key, entry.value);
                              }
                              return true;
                            }));
    }
    EXPECT_TRUE(found == (committed ? late : Contents())) << found.size() << " of 30";
    EXPECT_TRUE(clean(**db));
  };
  write_log(3 * kLogLimit);
  crash(false);
  ASSERT_OK(transaction->commit(Durability::kFull));
  crash(true);
  write_log(kLogLimit / 2);
  crash(true);
  write_log(3 * kLogLimit);
  crash(true);
}

// Rolled back before, between and after moves, to savepoints of which some are logged and some are
// not: numbers of operations are used again, and stand in chunks of both kinds.
TEST_F(IdleTransaction, is_rolled_back_and_moved) {
  for (const bool commits : {true, false}) {
    start_anew();
    reopen(3 * kBudget);
    const size_t limit = 3 * kLogLimit;
    auto transaction = db_->begin(TxnMode::kOptimistic);
    ASSERT_OK(transaction.status());
    write_large(*transaction, 0, 300);
    const Savepoint first = transaction->savepoint().value();
    const Contents at_first[2] = {late_[0], late_[1]};
    write_large(*transaction, 200, 500);
    write_log(2 * limit);
    const Savepoint second = transaction->savepoint().value();
    const Contents at_second[2] = {late_[0], late_[1]};
    write_large(*transaction, 600, 300);
    ASSERT_OK(transaction->rollback_to(second));
    std::copy(at_second, at_second + 2, late_);
    write_large(*transaction, 650, 200);
    write_log(2 * limit);
    expect_all_after_crashes(false);
    ASSERT_OK(transaction->rollback_to(first));
    std::copy(at_first, at_first + 2, late_);
    write_large(*transaction, 250, 100);
    if (commits) write_log(2 * limit);
    ASSERT_OK(transaction->rollback_to(first));
    std::copy(at_first, at_first + 2, late_);
    write_large(*transaction, 280, 150);
    ASSERT_OK(transaction->commit(Durability::kFull));
    expect_all_after_crashes(true, Durability::kFull);
    *transaction = Transaction();
    reopen(3 * kBudget);
    expect_all(*db_, true);
  }
}

// One that has logged chunks is logged again at the head, as often as the log is too long for its
// sake. So others may write as much as they like.
TEST_F(IdleTransaction, of_chunks_is_logged_again) {
  reopen(3 * kBudget);
  const size_t limit = 3 * kLogLimit;
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  write_log(limit);
  const uint64_t bytes = write_large(*transaction, 0, 1200);
  EXPECT_GT(bytes, size_t{3} << 20);
  const uint64_t before = db_->stats().bytes_written_log;
  const uint64_t writes = written_;
  const size_t most = limit + limit / 2 + 5 * bytes + 4 * kSegment;
  EXPECT_LT(write_log(6 * limit), most);
  // Most of that is what others wrote.
  EXPECT_LT(db_->stats().bytes_written_log - before, (written_ - writes) * 20'200 * 5 / 4 + bytes);
  EXPECT_TRUE(read(quiet_).empty());

  // What it needs is among the last that was logged; where nobody writes nothing is logged again.
  ASSERT_OK(db_->flush());
  const uint64_t end = db_->stats().bytes_written_log;
  // Those that rewrite for the sake of space are not meant.
  const auto flushes_now = [this] {
    const Stats stats = db_->stats();
    return stats.flushes - stats.reclusters;
  };
  ASSERT_OK(db_->drain());
  const uint64_t flushes = flushes_now();
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_OK(db_->put(busy_, key_of(6), "small"));
    ASSERT_OK(db_->drain());
  }
  busy_contents_[key_of(6)] = "small";
  EXPECT_LT(db_->stats().bytes_written_log, end + bytes / 2);
  EXPECT_LE(flushes_now(), flushes + 1) << "flushes that give no log back";

  // It goes on, and moves again.
  write_large(*transaction, 900, 400);
  EXPECT_LT(write_log(3 * limit), most);
  ASSERT_OK(transaction->commit(Durability::kFull));
  *transaction = Transaction();  // it must not outlive its database
  expect_all_after_crashes(true, Durability::kFull);
  write_log(limit);
  EXPECT_LT(db_->stats().log_bytes, 2 * limit);
  for (int i = 0; i < 2; ++i) {
    expect_all(*db_, true);
    reopen(3 * kBudget);
  }
}

#if defined(HAWTHORN_TEST_POINTS)
// Once it was logged again the log is kept from there on: else nothing would end that.
TEST_F(IdleTransaction, of_chunks_is_not_logged_again_and_again) {
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  write_large(*transaction, 0, 300);
  int chunks = 0;
  os::set_test_point("reappender.after_chunk", [&] {
    if (++chunks == 500) transaction->abort();
  });
  write_log(4 * kLogLimit);
  os::clear_test_points();
  EXPECT_GT(chunks, 0);
  ASSERT_LT(chunks, 500);
  ASSERT_OK(transaction->commit(Durability::kFull));
  *transaction = Transaction();
  expect_all_after_crashes(true, Durability::kFull);
}
#endif

TEST_F(IdleTransaction, of_chunks_aborts_after_it_was_logged_again) {
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  write_large(*transaction, 0, 300);
  write_log(4 * kLogLimit);
  expect_all_after_crashes(false);
  transaction->abort();
  *transaction = Transaction();
  expect_all_after_crashes(false);
  write_log(kLogLimit);
  expect_all(*db_, false);
  EXPECT_LT(db_->stats().log_bytes, 2 * kLogLimit);
  reopen();
  expect_all(*db_, false);
}

// Several of them must not move for the sake of each other's moves.
TEST_F(IdleTransaction, of_chunks_are_logged_again_for_the_sake_of_others_only) {
  reopen(2 * kBudget);
  std::vector<Transaction> transactions;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < 8; ++i) {
    auto transaction = db_->begin(TxnMode::kOptimistic);
    ASSERT_OK(transaction.status());
    bytes += write_large(*transaction, i * 1000, 110);
    transactions.push_back(std::move(*transaction));
  }
  const uint64_t before = db_->stats().bytes_written_log;
  const uint64_t writes = written_;
  write_log(kLogLimit);  // where this epoch begins is not known before its first commit
  EXPECT_LT(write_log(12 * kLogLimit), 3 * kLogLimit + 5 * bytes + 4 * kSegment);
  EXPECT_LT(db_->stats().bytes_written_log - before, (written_ - writes) * 20'200 * 5 / 4 + bytes);
  const uint64_t end = db_->stats().bytes_written_log;
  for (int i = 0; i < 10; ++i) ASSERT_OK(db_->drain());
  EXPECT_LT(db_->stats().bytes_written_log, end + bytes);
  for (Transaction& transaction : transactions) ASSERT_OK(transaction.commit());
  transactions.clear();
  expect_all_after_crashes(true);
}

// A log that takes nothing more, before a move or amid it, leaves the transaction as it was.
TEST_F(IdleTransaction, of_chunks_stays_when_the_log_is_full) {
  int full = 0;
  [[maybe_unused]] int steps = 0;
  for (uint64_t part = 0; part < 10; ++part) {
    SCOPED_TRACE(part);
    start_anew();
    auto transaction = db_->begin(TxnMode::kOptimistic);
    ASSERT_OK(transaction.status());
    write_large(*transaction, 0, 300);
    write_log(kLogLimit / 4 * 3);
    const auto put = [&](uint64_t i) {
      const std::string key = key_of(i % 150 * 32 + 6);
      const std::string value = value_of(i, 20'000);
      Status status = db_->put(busy_, key, value);
      if (status.ok()) busy_contents_[key] = value;
      return status;
    };
    for (uint64_t i = 0; i < 80 + 8 * part; ++i) ASSERT_OK(put(i));
    disk_->fail_path("wal", SimOp::kAllocate, 1, StatusCode::kNoSpace, true);
#if defined(HAWTHORN_TEST_POINTS)
    os::set_test_point("reappender.after_chunk", [&] { ++steps; });
#endif
    for (uint64_t i = 0; i < 500; ++i) {
      if (const Status status = put(i); !status.ok()) {
        EXPECT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
        ++full;
        break;
      }
      EXPECT_OK(db_->drain());
    }
#if defined(HAWTHORN_TEST_POINTS)
    os::clear_test_points();
#endif
    expect_all_after_crashes(false);
    disk_->clear_faults();
    write_log(2 * kLogLimit);
    EXPECT_LT(db_->stats().log_bytes, 2 * kLogLimit);
    ASSERT_OK(transaction->commit());
    *transaction = Transaction();
    expect_all_after_crashes(true);
  }
  EXPECT_GT(full, 0);
#if defined(HAWTHORN_TEST_POINTS)
  EXPECT_GT(steps, 0) << "no move was tried";
#endif
}

// Its chunks lie below the cut of a flush without it, and its commit record above: they count as of
// that (attack 1), and the log is kept from them on (attack 8).
TEST_F(IdleTransaction, of_chunks_commits_after_a_flush) {
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  write_large(*transaction, 0, 400);
  const std::string beside = big_endian(1'000'000);
  for (size_t t = 0; t < 2; ++t) {
    ASSERT_OK(db_->put(t == 0 ? quiet_ : mixed_, beside, "committed"));
    late_[t][beside] = "committed";
  }
  ASSERT_OK(db_->flush());
  ASSERT_OK(transaction->commit(Durability::kFull));
  expect_all_after_crashes(true, Durability::kFull);
  ASSERT_OK(db_->drain());  // the log is trimmed
  expect_all_after_crashes(true, Durability::kFull);
}

// All of it was rolled back, so no delta needs its chunks. But its commit record counts from the
// first one on (attack 8).
TEST_F(IdleTransaction, of_chunks_without_writes_holds_the_log) {
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  const Savepoint before = transaction->savepoint().value();
  write_large(*transaction, 0, 400);
  ASSERT_OK(transaction->rollback_to(before));
  for (Contents& late : late_) late.clear();
  const uint64_t end = logged();
  write_log(2 * kSegment);
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  EXPECT_GT(db_->stats().log_bytes, logged() - end) << "nothing but the transaction needs that";
  write_large(*transaction, 100, 20);
  ASSERT_OK(transaction->commit(Durability::kFull));
  expect_all_after_crashes(true, Durability::kFull);
}

// A tree that it has written to is dropped: its chunks move on, and it cannot commit.
TEST_F(IdleTransaction, of_chunks_loses_a_tree) {
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  write_large(*transaction, 0, 300);
  ASSERT_OK(db_->drop_tree("mixed"));
  write_log(4 * kLogLimit);
  EXPECT_TRUE(transaction->commit().is_conflict());
  *transaction = Transaction();
  auto after = disk_->after_crash(1, CrashKind::kProcessKill);
  SimMachine machine(*after, 2);
  auto db = Db::open_on(machine.machine(), "/db", options());
  ASSERT_OK(db.status());
  EXPECT_TRUE(read(**db, (*db)->tree("quiet").value()).empty());
  EXPECT_TRUE(clean(**db));
}

#if defined(HAWTHORN_TEST_POINTS)
// Whatever happens between two chunks of a move: the owner goes on, ends it, or all ends.
TEST_F(IdleTransaction, ends_at_any_step_of_a_move) {
  enum class Event { kCrash, kWrite, kWriteAndCommit, kCommit, kAbort };
  for (const Event event :
       {Event::kCrash, Event::kWrite, Event::kWriteAndCommit, Event::kCommit, Event::kAbort}) {
    bool reached = true;
    for (int step = 1; reached; step += static_cast<int>(std::min<uint64_t>(3, scaled_step(1)))) {
      SCOPED_TRACE(std::to_string(static_cast<int>(event)) + " at step " + std::to_string(step));
      start_anew();
      auto transaction = db_->begin(TxnMode::kOptimistic);
      ASSERT_OK(transaction.status());
      write_large(*transaction, 0, 300);
      int steps = 0;
      os::set_test_point("reappender.after_chunk", [&] {
        if (++steps != step) return;
        switch (event) {
          case Event::kCrash:
            expect_all_after_crashes(false);
            break;
          case Event::kWrite:
            write_large(*transaction, 150, 300);
            break;
          case Event::kWriteAndCommit:
            write_large(*transaction, 150, 300);
            EXPECT_OK(transaction->commit());
            expect_all_after_crashes(true);
            break;
          case Event::kCommit:
            EXPECT_OK(transaction->commit(Durability::kFull));
            expect_all_after_crashes(true, Durability::kFull);
            break;
          case Event::kAbort:
            transaction->abort();
            expect_all_after_crashes(false);
            break;
        }
      });
      write_log(2 * kLogLimit);
      reached = steps >= step;
      os::clear_test_points();
      const bool commits = event != Event::kAbort;
      if (event != Event::kAbort && transaction->open()) EXPECT_OK(transaction->commit());
      *transaction = Transaction();
      expect_all_after_crashes(commits);
      write_log(kLogLimit);
      EXPECT_LT(db_->stats().log_bytes, 2 * kLogLimit);
      expect_all(*db_, commits);
      ASSERT_FALSE(HasFailure());
      if (step > 50) FAIL() << "a move without end";
    }
  }
}
#endif

}  // namespace
}  // namespace hawthorn::tests
