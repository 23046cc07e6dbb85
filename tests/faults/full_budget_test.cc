// A memory budget that open transactions hold: whoever writes waits for them, whatever the size of
// its value, and says so when that does not help.
#include <chrono>
#include <thread>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kBudgetBytes = size_t{16} << 20;

class FullBudget : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.memory_budget_bytes = kBudgetBytes;
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> db = Db::open(directory_ / "db", options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    Result<Tree> tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }

  // Writes until there is no memory for more.
  Transaction hold_all() {
    Result<Transaction> txn = db_->begin(TxnMode::kOptimistic);
    EXPECT_OK(txn.status());
    Status status;
    uint64_t written = 0;
    for (const size_t size : {size_t{60'000}, size_t{1000}}) {
      for (status = {}; status.ok() && written < 100'000; ++written) {
        status = txn->put(tree_, big_endian(mix64(written)), value_of(written, size));
      }
    }
    EXPECT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
    return std::move(*txn);
  }

  // While all is held, until it is let go of after a moment.
  Status put_meanwhile(const std::string& key, size_t size) {
    Transaction holder = hold_all();
    std::thread ends([&holder] {
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
      holder.abort();
    });
    const Status status = db_->put(tree_, key, value_of(size, size));
    ends.join();
    return status;
  }

  const TempDirectory directory_;
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_F(FullBudget, large_values_wait_for_memory) {
  EXPECT_OK(put_meanwhile("large", 300'000));
  Value value;
  ASSERT_OK(db_->get(tree_, "large", value));
  EXPECT_EQ(value.view(), value_of(300'000, 300'000));
  EXPECT_TRUE(clean(*db_));
}

TEST_F(FullBudget, a_large_value_that_waits_in_vain_says_why) {
  Transaction holder = hold_all();
  const Status status = db_->put(tree_, "large", value_of(1, 300'000));
  EXPECT_TRUE(status.is(StatusCode::kOutOfMemory)) << status.to_string();
  EXPECT_NE(status.message().find("transactions"), std::string_view::npos) << status.to_string();
  holder.abort();
  EXPECT_OK(db_->put(tree_, "large", value_of(1, 300'000)));
}

}  // namespace
}  // namespace hawthorn::tests
