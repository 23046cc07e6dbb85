#pragma once
// One open database with one tree, for tests of the public headers.
//
// Not here: tests. Used by the folder tests/api only. Threads: the test's.
//
// Callbacks of the database may use members of a derived fixture: the database closes in TearDown,
// before they go. What they use of the test itself goes earlier; see ClosesFirst.

#include <memory>
#include <string>
#include <vector>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {

class Api : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void TearDown() override { db_.reset(); }  // before what a derived fixture has

  static Options options() {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    return options;
  }
  void open() { open_with(options()); }
  void open_with(const Options& with) {
    db_.reset();  // a closed one keeps the lock until it is destroyed
    auto db = Db::open(path_, with);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    auto tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  std::string get(std::string_view key, const Snapshot* snapshot = nullptr) {
    Value value;
    const Status status = db_->get(tree_, key, value, {.snapshot = snapshot});
    return status.ok() ? value.to_string() : std::string(status_code_name(status.code()));
  }
  Transaction begin(const TxnOptions& options = {}) {
    Result<Transaction> transaction = db_->begin(options);
    EXPECT_OK(transaction.status());
    return std::move(transaction).value();
  }
  std::string get_in(Transaction& transaction, std::string_view key) {
    return get_in(transaction, tree_, key);
  }
  static std::string get_in(Transaction& transaction, const Tree& tree, std::string_view key) {
    Value value;
    const Status status = transaction.get(tree, key, value);
    return status.ok() ? value.to_string() : std::string(status_code_name(status.code()));
  }
  void put(std::string_view key, std::string_view value) { ASSERT_OK(db_->put(tree_, key, value)); }
  std::vector<std::string> keys(const Tree& tree) {
    std::vector<std::string> result;
    EXPECT_OK(db_->scan(tree, "", std::nullopt,
                        [&](std::span<const Entry> entries) {
                          for (const Entry& entry : entries) result.emplace_back(entry.key);
                          return true;
                        },
                        {.key_only = true}));
    return result;
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "db";
  std::unique_ptr<Db> db_;
  Tree tree_;
};

}  // namespace hawthorn::tests
