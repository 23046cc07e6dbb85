#pragma once
// A database that is written, and followers of it in the same process: the locks and files are the
// same as between two.
//
// Not here: tests, and processes of their own (follower_kill_test.cc). Used by the folder
// tests/follower only. Threads: the test's.

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "hawthorn/follower.h"
#include "tests/support/downwards.h"
#include "tests/support/engine_test.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {

// "<key>=<value> " of each entry in order, or the error.
inline std::string all_of(Db& db, std::string_view tree_name, const Snapshot* snapshot = nullptr) {
  const Result<Tree> tree = db.find_tree(tree_name, {.snapshot = snapshot});
  if (!tree.ok()) return std::string(status_code_name(tree.status().code()));
  std::string all;
  const Status status =
      db.scan(*tree, "", std::nullopt,
              [&](std::span<const Entry> entries) {
                for (const Entry& entry : entries) {
                  all.append(entry.key).append("=").append(entry.value).append(" ");
                }
                return true;
              },
              {.snapshot = snapshot});
  return status.ok() ? all : status.to_string();
}

class FollowerTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  virtual void open() {
    db_.reset();
    auto db = Db::open(path_, options());
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    const Result<Tree> tree = db_->tree("t");
    ASSERT_OK(tree.status());
    tree_ = *tree;
  }
  virtual Options options() {
    Options options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.durability = Durability::kNone;
    options.merge_operators = {uint64_add()};
    options.key_comparators = {std::make_shared<Downwards>()};
    return options;
  }
  virtual FollowerOptions follower_options() {
    FollowerOptions options;
    options.memory_budget_bytes = size_t{32} << 20;
    options.merge_operators = {uint64_add()};
    options.key_comparators = {std::make_shared<Downwards>()};
    return options;
  }
  virtual Result<std::unique_ptr<Follower>> try_follow() {
    return Follower::open(path_, follower_options());
  }
  std::unique_ptr<Follower> follow() {
    auto follower = try_follow();
    EXPECT_OK(follower.status());
    return follower.ok() ? std::move(*follower) : nullptr;
  }
  void put(std::string_view key, std::string_view value) { ASSERT_OK(db_->put(tree_, key, value)); }
  // What the follower shows of a tree, after a refresh.
  static std::string seen(Follower& follower, std::string_view tree = "t") {
    const Status status = follower.refresh();
    if (!status.ok()) return status.to_string();
    return all_of(*follower.view(), tree);
  }

  const TempDirectory directory_;
  std::string path_ = directory_ / "db";
  std::unique_ptr<Db> db_;
  Tree tree_;
};

}  // namespace hawthorn::tests
