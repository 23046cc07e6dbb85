// Transactions that stay open while others write: what the log is kept for (R8, attack 9). On the
// simulated disk with one thread, so that every step happens at the same place each time.
#include <map>

#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

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

  void reopen() {
    db_.reset();
    Options options;
    options.memory_budget_bytes = kBudget;
    options.durability = Durability::kNone;
    auto db = Db::open_on(machine_.machine(), "/db", options);
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

  Contents read(const Tree& tree) {
    Contents contents;
    EXPECT_OK(db_->scan(tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) contents.emplace(entry.key, entry.value);
      return true;
    }));
    return contents;
  }

  SimDisk disk_{1};
  SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
  Tree busy_;
  Tree quiet_;  // nobody but the transaction writes to it
  Tree mixed_;
  Contents busy_contents_;
  uint64_t written_ = 0;
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
    auto after = disk_.after_crash(written_, CrashKind::kPowerLoss);
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

// One that has logged chunks holds the log from the first of them on, for as long as it is open,
// and nothing before. No flush would change that, so none is made for it. When it ends the log
// goes.
TEST_F(IdleTransaction, of_chunks_holds_the_log_from_the_first_one) {
  write_log(2 * kLogLimit);
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  const uint64_t before = logged();
  for (uint64_t i = 0; i < 16; ++i) {
    ASSERT_OK(transaction->put(quiet_, big_endian(i), value_of(i, 20'000)));
  }
  const uint64_t most = write_log(6 * kLogLimit);
  EXPECT_GE(most, 6 * kLogLimit) << "the log that its commit needs is gone";
  EXPECT_LT(most, logged() - before + 2 * kLogLimit);

  ASSERT_OK(db_->flush());
  const uint64_t flushes = db_->stats().flushes;
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_OK(db_->put(mixed_, big_endian(i), "small"));
    ASSERT_OK(db_->drain());
  }
  EXPECT_EQ(db_->stats().flushes, flushes) << "flushes that give no log back";

  ASSERT_OK(transaction->commit());
  *transaction = Transaction();  // it must not outlive its database
  write_log(kLogLimit / 2);
  EXPECT_LT(db_->stats().log_bytes, 2 * kLogLimit);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read(quiet_).size(), 16u);
    EXPECT_TRUE(read(busy_) == busy_contents_);
    EXPECT_TRUE(clean(*db_));
    reopen();
  }
}

}  // namespace
}  // namespace hawthorn::tests
