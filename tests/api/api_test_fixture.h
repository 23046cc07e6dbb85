#pragma once
// One open database with one tree, for tests of the public headers.
//
// Not here: tests. Used by the folder tests/api only. Threads: the test's.

#include <memory>
#include <string>
#include <vector>

#include "tests/support/engine_test.h"

namespace hawthorn::tests {

class Api : public ::testing::Test {
 protected:
  void SetUp() override { open(); }

  static Options options() {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    return options;
  }
  void open() {
    db_.reset();  // a closed one keeps the lock until it is destroyed
    auto db = Db::open(path_, options());
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
