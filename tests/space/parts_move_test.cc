// Data files are emptied while values in them are changed by parts: what an open or prepared
// transaction has made of a value stays good, and the file goes when that has ended.

#include <functional>

#include "db/file_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests::parts_move_test {
namespace {

constexpr uint64_t kMB = uint64_t{1} << 20;
constexpr uint64_t kValues = 120;

class PartsMove : public ::testing::Test {
 protected:
  void SetUp() override {
    db::data_file_bytes_first = kMB;
    db::data_file_bytes_max = kMB;
    open();
    for (uint64_t i = 0; i < kValues; ++i) {
      ASSERT_OK(db_->put(tree_, key(i), value_of(i, 300'000)));
    }
    ASSERT_OK(db_->flush());
  }
  void TearDown() override {
    db::data_file_bytes_first = 64 * kMB;
    db::data_file_bytes_max = 1024 * kMB;
  }
  void open() {
    db_.reset();
    Options options;
    options.memory_budget_bytes = 16 * kMB;
    options.durability = Durability::kNone;
    auto db = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  static std::string key(uint64_t number) { return "k" + std::to_string(1000 + number); }
  static bool stays(uint64_t number) { return number % 10 == 7; }
  // Nearly all values go, so that files may; those that stay have to be moved for that.
  void delete_most() {
    for (uint64_t i = 0; i < kValues; ++i) {
      if (!stays(i)) ASSERT_OK(db_->del(tree_, key(i)));
    }
    ASSERT_OK(db_->flush());
  }
  // Beside what is not flushed, which most of a container's delta is then no part of: else it would
  // not be merged while a transaction holds that open.
  void empty_files() {
    for (int round = 0; round < 3; ++round) {
      for (uint64_t i = 0; i < kValues; ++i) {
        if (!stays(i)) continue;
        for (int n = 0; n < 20; ++n) {
          ASSERT_OK(db_->put(tree_, key(i) + "/" + std::to_string(n), "beside it"));
        }
      }
      ASSERT_OK(db_->drain());
    }
  }
  // Over whatever is free.
  void overwrite_free_space() {
    for (uint64_t i = 0; i < 40; ++i) {
      ASSERT_OK(db_->put(tree_, "new" + std::to_string(i), value_of(5000 + i, 300'000)));
    }
    ASSERT_OK(db_->flush());
  }
  static std::string changed(uint64_t number) {
    std::string value = value_of(number, 300'000);
    value.replace(100'000, 4, "part");
    return value + "end";
  }
  template <typename To>
  void change(To& to, uint64_t number) {
    ASSERT_OK(to.write_part(tree_, key(number), 100'000, "part"));
    ASSERT_OK(to.append(tree_, key(number), "end").status());
  }
  void expect(const std::function<std::string(uint64_t)>& expected) {
    for (uint64_t i = 0; i < kValues; ++i) {
      if (!stays(i)) continue;
      Value value;
      ASSERT_OK(db_->get(tree_, key(i), value));
      ASSERT_TRUE(value.view() == expected(i)) << i;
    }
    ASSERT_TRUE(clean(*db_));
  }
  uint64_t removed() { return db_->stats().data_files_removed; }

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(PartsMove, nobody_is_at_it) {
  ASSERT_NO_FATAL_FAILURE(delete_most());
  for (uint64_t i = 0; i < kValues; ++i) {
    if (stays(i)) change(*db_, i);
  }
  ASSERT_NO_FATAL_FAILURE(empty_files());
  EXPECT_GT(removed(), 10u);
  ASSERT_NO_FATAL_FAILURE(overwrite_free_space());
  expect(changed);
  open();
  expect(changed);
}

TEST_F(PartsMove, an_open_transaction) {
  for (const bool commits : {true, false}) {
    ASSERT_NO_FATAL_FAILURE(delete_most());
    Transaction txn = db_->begin(TxnMode::kOptimistic).value();
    for (uint64_t i = 0; i < kValues; ++i) {
      if (stays(i)) change(txn, i);
    }
    ASSERT_NO_FATAL_FAILURE(empty_files());
    ASSERT_NO_FATAL_FAILURE(overwrite_free_space());
    for (uint64_t i = 0; i < kValues; ++i) {
      if (!stays(i)) continue;
      Value value;
      ASSERT_OK(txn.get(tree_, key(i), value));
      ASSERT_TRUE(value.view() == changed(i)) << i;
    }
    if (commits) {
      ASSERT_OK(txn.commit());
      expect(changed);
      ASSERT_OK(db_->flush());
      expect(changed);
      const uint64_t before = removed();
      for (uint64_t i = 0; i < 40; ++i) ASSERT_OK(db_->del(tree_, "new" + std::to_string(i)));
      for (int i = 0; i < 3; ++i) ASSERT_OK(db_->compact());
      EXPECT_GT(removed(), before) << "it stays for ever";
      expect(changed);
      for (uint64_t i = 0; i < kValues; ++i) {
        ASSERT_OK(db_->put(tree_, key(i), value_of(i, 300'000)));
      }
      ASSERT_OK(db_->flush());
    }
  }
  expect([](uint64_t i) { return value_of(i, 300'000); });
}

TEST_F(PartsMove, a_prepared_transaction_over_a_restart) {
  for (const bool commits : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(delete_most());
    {
      Transaction txn = db_->begin(TxnMode::kOptimistic).value();
      for (uint64_t i = 0; i < kValues; ++i) {
        if (stays(i)) change(txn, i);
      }
      ASSERT_OK(txn.prepare("p"));
    }
    ASSERT_NO_FATAL_FAILURE(empty_files());
    ASSERT_NO_FATAL_FAILURE(open());
    for (int i = 0; i < 3; ++i) ASSERT_OK(db_->compact());
    ASSERT_NO_FATAL_FAILURE(overwrite_free_space());
    expect([](uint64_t i) { return value_of(i, 300'000); });
    ASSERT_OK(commits ? db_->commit_prepared("p") : db_->rollback_prepared("p"));
    ASSERT_OK(db_->flush());
    ASSERT_NO_FATAL_FAILURE(open());
    expect([&](uint64_t i) { return commits ? changed(i) : value_of(i, 300'000); });
  }
}

}  // namespace
}  // namespace hawthorn::tests::parts_move_test
