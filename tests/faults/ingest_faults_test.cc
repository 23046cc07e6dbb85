// Bulk ingests on full and failing disks: nothing of one that fails is visible, its space is free
// again, and reads and deletes go on.
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {
namespace {

using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

class IngestFaultsTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    db::log_segment_bytes = size_t{1} << 20;
    open();
  }

  void open() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> db = Db::open_on(machine_.machine(), "/db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    Result<Tree> tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }

  IngestOptions options() const {
    IngestOptions options;
    options.sorted = GetParam();
    options.sort_memory_bytes = 1;
    return options;
  }

  SimDisk disk_{3};
  SimMachine machine_{disk_, 4};
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_P(IngestFaultsTest, AFullDiskLeavesWhatWasThere) {
  const Contents older = numbered(0, 2000, 100, 10);
  for (const auto& [key, value] : older) ASSERT_OK(db_->put(tree_, key, value));
  ASSERT_OK(db_->flush());
  disk_.set_capacity(disk_.used_bytes() + (uint64_t{4} << 20));
  const Contents much = numbered(100'000, 90'000, 1000);
  for (int round = 0; round < 3; ++round) {
    const Status status = ingest_all(*db_, tree_, much, nullptr, options());
    ASSERT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
    EXPECT_TRUE(same(read_all(*db_, tree_), older));
    EXPECT_TRUE(clean(*db_));
  }
  Result<std::vector<std::string>> names = disk_.list("/db");
  ASSERT_OK(names.status());
  for (const std::string& name : *names) EXPECT_FALSE(name.starts_with("ingest.")) << name;
  // What fits, goes.
  const Contents some = numbered(100'000, 2000, 1000);
  ASSERT_OK(ingest_all(*db_, tree_, some, nullptr, options()));
  Contents all = older;
  all.insert(some.begin(), some.end());
  EXPECT_TRUE(same(read_all(*db_, tree_), all));
  for (const auto& [key, value] : older) ASSERT_OK(db_->del(tree_, key));
  EXPECT_TRUE(same(read_all(*db_, tree_), some));
  disk_.set_capacity(0);
  ASSERT_OK(ingest_all(*db_, tree_, much, nullptr, options()));
  EXPECT_TRUE(same(read_all(*db_, tree_), much));
  ASSERT_OK(db_->close());
}

// A write that fails, each in turn: nothing is there, or all.
TEST_P(IngestFaultsTest, AFailingWrite) {
  const Contents entries = numbered(0, 8000, 100);
  uint64_t failed = 0;
  for (uint64_t nth = 1; nth < 60; nth += 3) {
    disk_.fail(SimOp::kWrite, nth, StatusCode::kIoError);
    const Status status = ingest_all(*db_, tree_, entries, nullptr, options());
    disk_.clear_faults();
    const Contents found = read_all(*db_, tree_);
    if (status.ok()) {
      EXPECT_TRUE(same(found, entries));
      break;
    }
    ++failed;
    EXPECT_TRUE(found.empty() || found == entries) << nth << ": " << status.to_string();
    db_.reset();
    open();
    if (HasFatalFailure()) return;
    const Contents again = read_all(*db_, tree_);
    EXPECT_TRUE(again.empty() || again == entries) << nth;
    EXPECT_TRUE(clean(*db_));
    if (!again.empty()) break;
  }
  EXPECT_GT(failed, 0u);
}

// A sync that fails may have taken anything with it that was written before.
TEST_P(IngestFaultsTest, AFailingSyncIsFinal) {
  const Contents entries = numbered(0, 8000, 100);
  disk_.fail_path("data.", SimOp::kSync, 1, StatusCode::kIoError);
  EXPECT_FALSE(ingest_all(*db_, tree_, entries, nullptr, options()).ok());
  disk_.clear_faults();
  EXPECT_TRUE(db_->put(tree_, "small", "value").is(StatusCode::kReadOnly));
  db_.reset();
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_OK(ingest_all(*db_, tree_, entries, nullptr, options()));
  EXPECT_TRUE(same(read_all(*db_, tree_), entries));
  EXPECT_TRUE(clean(*db_));
}

INSTANTIATE_TEST_SUITE_P(SortedAndNot, IngestFaultsTest, ::testing::Bool());

}  // namespace
}  // namespace hawthorn::tests
