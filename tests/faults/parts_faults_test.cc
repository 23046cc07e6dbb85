// Values by parts on full and failing disks: what fails changes nothing, and leaves nothing behind.

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

constexpr uint64_t kMB = uint64_t{1} << 20;

class PartsFaults : public ::testing::Test {
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
    tree_ = db_->tree("t").value();
  }
  uint64_t values_bytes() { return db_->stats().trees[0].bytes_values; }
  std::string get(std::string_view key) {
    Value value;
    EXPECT_OK(db_->get(tree_, key, value));
    return value.to_string();
  }

  SimDisk disk_{3};
  SimMachine machine_{disk_, 4};
  std::unique_ptr<Db> db_;
  Tree tree_;
};

// In the middle of what a part takes there is no space any more.
TEST_F(PartsFaults, a_full_disk) {
  const std::string expected = value_of(3, 3 * kMB);
  ASSERT_OK(db_->put(tree_, "a", expected));
  ASSERT_OK(db_->flush());
  const uint64_t bytes = values_bytes();
  disk_.set_capacity(disk_.used_bytes() + 20 * kMB);
  // The second extent of it finds none. What was taken comes back each time: else the smaller ones
  // would not fit for long.
  const StreamSource zeros = [](std::span<char> to) -> Result<size_t> {
    std::memset(to.data(), 1, to.size());
    return to.size();
  };
  for (int round = 0; round < 20; ++round) {
    Transaction txn = db_->begin(TxnMode::kOptimistic).value();
    const Status status = txn.write_part_stream(tree_, "a", 100'000, 400 * kMB, zeros);
    ASSERT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
    // The transaction goes on.
    std::string part(1000, '\0');
    ASSERT_EQ(txn.read_part(tree_, "a", 99'500, part).value(), 1000u);
    ASSERT_TRUE(part == expected.substr(99'500, 1000));
    ASSERT_OK(txn.write_part(tree_, "a", 5, std::string(2 * kMB, 'x')));
    txn.abort();
    ASSERT_OK(db_->flush());
    ASSERT_EQ(values_bytes(), bytes);
  }
  ASSERT_TRUE(get("a") == expected);
  ASSERT_TRUE(clean(*db_));
  // Until nothing fits: what was acknowledged is there.
  std::string appended = expected;
  Status status;
  while (status.ok()) {
    const std::string bytes_more = value_of(appended.size(), 500'000);
    status = db_->append(tree_, "a", bytes_more).status();
    if (status.ok()) appended += bytes_more;
    ASSERT_LT(appended.size(), 500 * kMB);
  }
  ASSERT_TRUE(status.is(StatusCode::kNoSpace)) << status.to_string();
  std::string read;
  ASSERT_OK(db_->read_stream(tree_, "a", [&](std::string_view piece) {
    read += piece;
    return true;
  }));
  EXPECT_TRUE(read == appended);
  ASSERT_TRUE(clean(*db_));
  ASSERT_OK(db_->del(tree_, "a"));
  ASSERT_OK(db_->flush());
  EXPECT_OK(db_->append(tree_, "a", expected).status());
}

// A write of the disk that fails, each in turn: the change is there, or it is not.
TEST_F(PartsFaults, a_failing_write) {
  std::string expected = value_of(3, 200'000);
  ASSERT_OK(db_->put(tree_, "a", expected));
  uint64_t failed = 0;
  for (uint64_t nth = 1; nth < 12; ++nth) {
    disk_.fail_path("data.", SimOp::kWrite, nth, StatusCode::kIoError);
    for (uint64_t i = 0; i < 4; ++i) {
      const std::string bytes = value_of(nth * 100 + i, 3000);
      const Status status = db_->write_part(tree_, "a", nth * 10'000 + i, bytes);
      if (status.ok()) expected.replace(nth * 10'000 + i, bytes.size(), bytes);
      failed += !status.ok();
    }
    disk_.clear_faults();
    ASSERT_TRUE(get("a") == expected);
    if (!db_->flush().ok()) {
      // It was in a flush: what follows is refused until it is opened again.
      db_.reset();
      ASSERT_NO_FATAL_FAILURE(open());
      ASSERT_TRUE(get("a") == expected);
    }
    ASSERT_TRUE(clean(*db_));
  }
  EXPECT_GT(failed, 3u);
}

// A sync that fails may have taken anything with it that was written before, of others, too.
TEST_F(PartsFaults, a_failing_sync_is_final) {
  const std::string expected = value_of(3, 200'000);
  const std::vector<std::function<Status()>> calls = {
      [&] { return db_->put(tree_, "b", expected, Durability::kFull); },
      [&] {
        Transaction txn = db_->begin(TxnMode::kExclusive).value();
        const Status status = txn.put(tree_, "b", expected);
        return status.ok() ? txn.commit(Durability::kFull) : status;
      },
      [&] { return db_->append(tree_, "a", expected, Durability::kFull).status(); },
      [&] { return db_->flush(); },
  };
  for (const auto& call : calls) {
    ASSERT_OK(db_->put(tree_, "a", expected));
    disk_.fail_path("data.", SimOp::kSync, 1, StatusCode::kIoError);
    const Status failed = call();
    ASSERT_FALSE(failed.ok());
    disk_.clear_faults();
    // Whatever comes next, large or not, and with the error that it had.
    const Status refused = db_->put(tree_, "c", "small");
    ASSERT_TRUE(refused.is(StatusCode::kReadOnly)) << refused.to_string();
    EXPECT_TRUE(refused.to_string().find("/db/data.") != std::string::npos) << refused.to_string();
    EXPECT_TRUE(db_->put(tree_, "c", expected).is(StatusCode::kReadOnly));
    EXPECT_TRUE(db_->append(tree_, "a", "x").status().is(StatusCode::kReadOnly));
    EXPECT_TRUE(db_->begin(TxnMode::kExclusive).status().is(StatusCode::kReadOnly));
    EXPECT_TRUE(get("a") == expected);
    db_.reset();
    ASSERT_NO_FATAL_FAILURE(open());
    ASSERT_OK(db_->del(tree_, "b"));
    ASSERT_OK(db_->put(tree_, "c", expected));
    ASSERT_TRUE(clean(*db_));
  }
}

// What cannot be read is not taken into a new version.
TEST_F(PartsFaults, a_failing_read) {
  std::string expected = value_of(3, 200'000);
  ASSERT_OK(db_->put(tree_, "a", expected));
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(db_->append(tree_, "a", "x").status());
    expected += "x";
  }
  ASSERT_OK(db_->flush());
  // The next one would make one piece of four.
  disk_.fail_path("data.", SimOp::kRead, 1, StatusCode::kIoError, true);
  EXPECT_TRUE(db_->append(tree_, "a", "y").status().is(StatusCode::kIoError));
  disk_.clear_faults();
  EXPECT_TRUE(get("a") == expected);
  ASSERT_OK(db_->append(tree_, "a", "y").status());
  EXPECT_TRUE(get("a") == expected + "y");
  EXPECT_TRUE(clean(*db_));
}

}  // namespace
}  // namespace hawthorn::tests
