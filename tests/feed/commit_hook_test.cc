// Hooks of commits: which they see, what they refuse, what they are told.
#include <utility>

#include "db/log_sizing.h"
#include "tests/feed/feed_test_support.h"

namespace hawthorn::tests {
namespace {

class Recorder : public CommitHook {
 public:
  Status before(const CommitInfo& info) override {
    log.push_back("before " + std::to_string(info.operations));
    return refuse ? Status(StatusCode::kInvalidArgument, "the hook said so") : Status();
  }
  void after(const CommitInfo& info, uint64_t cts, const Status& outcome) override {
    log.push_back(
        "after " + std::to_string(info.operations) + (cts != 0 ? " +" : " -") +
        (outcome.ok() ? "" : std::string(" ") + std::string(status_code_name(outcome.code()))));
    if (cts != 0) last = cts;
  }
  std::vector<std::string> take() { return std::exchange(log, {}); }
  std::vector<std::string> log;
  bool refuse = false;
  uint64_t last = 0;
};

class CommitHooks : public FeedTest {
 protected:
  void SetUp() override {
    Options with = options();
    with.commit_hooks = {hook_};
    auto db = Db::open_on(machine_.machine(), "/db", with);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
    hook_->take();
  }
  std::shared_ptr<Recorder> hook_ = std::make_shared<Recorder>();
};

TEST_F(CommitHooks, see_every_commit_of_the_program) {
  put("a", "1");
  EXPECT_EQ(hook_->take(), (Texts{"before 1", "after 1 +"}));
  EXPECT_EQ(hook_->last, db_->stats().visible_timestamp);
  WriteBatch batch;
  for (int i = 0; i < 7; ++i) batch.put(tree_, std::to_string(i), "v");
  ASSERT_OK(db_->write(batch));
  EXPECT_EQ(hook_->take(), (Texts{"before 7", "after 7 +"}));
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kExclusive, TxnMode::kPessimistic}) {
    Transaction txn = db_->begin(mode).value();
    ASSERT_OK(txn.put(tree_, "a", "1"));
    ASSERT_OK(txn.put(tree_, "b", "1"));
    ASSERT_OK(txn.commit());
    EXPECT_EQ(hook_->take(), (Texts{"before 2", "after 2 +"}));
  }
  ASSERT_OK(db_->insert(tree_, "new", "1").status());
  EXPECT_EQ(hook_->take(), (Texts{"before 1", "after 1 +"}));
  ASSERT_OK(db_->put(tree_, "large", std::string(100'000, 'l')));
  EXPECT_EQ(hook_->take(), (Texts{"before 1", "after 1 +"}));
  ASSERT_OK(db_->tree("other").status());
  EXPECT_EQ(hook_->take(), (Texts{"before 1", "after 1 +"}));
  // None of what is no commit.
  Transaction empty = db_->begin(TxnMode::kOptimistic).value();
  ASSERT_OK(empty.commit());
  Transaction aborted = db_->begin(TxnMode::kOptimistic).value();
  ASSERT_OK(aborted.put(tree_, "a", "2"));
  aborted.abort();
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  EXPECT_EQ(hook_->take(), Texts{});
}

TEST_F(CommitHooks, refuse_a_commit_before_anything_is_written) {
  put("a", "1");
  const uint64_t before = db_->stats().visible_timestamp;
  hook_->take();
  hook_->refuse = true;
  const Status refused = db_->put(tree_, "a", "2");
  EXPECT_TRUE(refused.is(StatusCode::kInvalidArgument));
  EXPECT_EQ(refused.message(), "the hook said so");
  Transaction txn = db_->begin(TxnMode::kOptimistic).value();
  ASSERT_OK(txn.put(tree_, "a", "3"));
  ASSERT_OK(txn.put(tree_, "big", std::string(300'000, 'b')));
  EXPECT_TRUE(txn.commit().is(StatusCode::kInvalidArgument));
  EXPECT_FALSE(txn.open());
  EXPECT_EQ(hook_->take(), (Texts{"before 1", "before 2"}));
  EXPECT_TRUE(db_->tree("other").status().is(StatusCode::kInvalidArgument));
  hook_->refuse = false;
  Value value;
  ASSERT_OK(db_->get(tree_, "a", value));
  EXPECT_EQ(value.view(), "1");
  EXPECT_EQ(db_->stats().visible_timestamp, before);
  put("a", "4");
  ASSERT_TRUE(clean(*db_));
}

TEST_F(CommitHooks, are_told_of_conflicts) {
  Transaction txn = db_->begin(TxnMode::kOptimistic).value();
  ASSERT_OK(txn.put(tree_, "a", "1"));
  Transaction other = db_->begin({.isolation = Isolation::kSerializable}).value();
  Value value;
  static_cast<void>(other.get(tree_, "a", value).ok());
  ASSERT_OK(other.put(tree_, "b", "1"));
  ASSERT_OK(txn.commit());
  hook_->take();
  EXPECT_TRUE(other.commit().is_conflict());
  EXPECT_EQ(hook_->take(), (Texts{"before 1", "after 1 - Conflict"}));
}

TEST_F(CommitHooks, prepared_transactions_are_asked_once) {
  Transaction txn = db_->begin(TxnMode::kPessimistic).value();
  ASSERT_OK(txn.put(tree_, "a", "1"));
  hook_->refuse = true;
  EXPECT_TRUE(txn.prepare("p").is(StatusCode::kInvalidArgument));
  hook_->refuse = false;
  hook_->take();
  ASSERT_OK(txn.prepare("p"));
  EXPECT_EQ(hook_->take(), Texts{"before 1"});
  ASSERT_OK(txn.commit());
  EXPECT_EQ(hook_->take(), Texts{"after 1 +"});
}

// Whoever keeps books by the hooks must hear of all commits.
TEST_F(CommitHooks, are_told_of_what_an_earlier_process_prepared) {
  {
    Transaction txn = db_->begin(TxnMode::kPessimistic).value();
    ASSERT_OK(txn.put(tree_, "a", "1"));
    ASSERT_OK(txn.prepare("p"));
  }
  db_.reset();
  SetUp();
  ASSERT_OK(db_->commit_prepared("p"));
  EXPECT_EQ(hook_->take(), Texts{"after 1 +"});
  EXPECT_EQ(hook_->last, db_->stats().visible_timestamp);
}

// Who was told a timestamp may have kept it: one whose commit a power cut takes back is not given
// to another commit (attack 10).
TEST_F(CommitHooks, are_told_no_timestamp_twice) {
  db_.reset();
  const size_t segment_bytes = std::exchange(db::log_segment_bytes, size_t{1} << 20);
  Options with = options();
  with.commit_hooks = {hook_};
  const auto open = [&with](testing::SimMachine& machine, std::unique_ptr<Db>* db) {
    auto opened = Db::open_on(machine.machine(), "/small", with);
    ASSERT_OK(opened.status());
    *db = std::move(*opened);
  };
  ASSERT_NO_FATAL_FAILURE(open(machine_, &db_));
  tree_ = db_->tree("t").value();
  ASSERT_OK(db_->sync());
  const uint64_t durable = hook_->last;
  // More than a segment, as each process begins a new one.
  for (int i = 0; i < 75; ++i) ASSERT_OK(db_->put(tree_, std::to_string(i), value_of(1, 30'000)));
  const uint64_t told = hook_->last;
  ASSERT_GT(told, durable + 2 * db::log_segment_bytes);
  const auto left = disk_.crash(1, testing::CrashKind::kPowerLossDrop);
  db_.reset();
  testing::SimMachine again(*left, 2);
  std::unique_ptr<Db> db;
  ASSERT_NO_FATAL_FAILURE(open(again, &db));
  tree_ = db->find_tree("t").value();
  EXPECT_EQ(db->count(tree_, "", std::nullopt).value(), 0u) << "nothing was lost";
  ASSERT_OK(db->put(tree_, "a", "1"));
  EXPECT_GT(hook_->last, told);
  db.reset();
  db::log_segment_bytes = segment_bytes;
}

TEST_F(CommitHooks, are_not_null) {
  Options with = options();
  with.commit_hooks = {nullptr};
  EXPECT_TRUE(
      Db::open_on(machine_.machine(), "/other", with).status().is(StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace hawthorn::tests
