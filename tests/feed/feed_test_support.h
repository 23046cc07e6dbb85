#pragma once
// What the tests of feeds share: a database on the simulated machine, changes as text, databases
// compared by what reads show.
//
// Not here: tests. Used by the folder tests/feed only. Threads: the test's.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hawthorn/hawthorn.h"
#include "testing/sim_machine.h"
#include "tests/support/downwards.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {

inline Result<std::string> whole_value(FeedCommit& commit, const FeedChange& change) {
  if (!change.streamed) return std::string(change.value);
  std::string value(change.value_bytes, '\0');
  for (size_t done = 0; done < value.size();) {
    const size_t want = std::min<size_t>(value.size() - done, 50'000);
    Result<size_t> got = commit.read_value(done, {value.data() + done, want});
    if (!got.ok()) return got.status();
    if (*got == 0) return Status(StatusCode::kCorruption, "the value is shorter than was said");
    done += *got;
  }
  return value;
}

// As "put t k=v", a large value by its size.
inline std::string text_of(FeedCommit& commit, const FeedChange& change) {
  const std::string tree = change.tree->name;
  const std::string key(change.key);
  switch (change.type) {
    case ChangeType::kPut: {
      Result<std::string> value = whole_value(commit, change);
      if (!value.ok()) return value.status().to_string();
      std::string text = "put " + tree + " " + key + "=";
      text += change.streamed ? "#" + std::to_string(value->size()) : *value;
      if (change.expires_at_ms != 0) text += " until " + std::to_string(change.expires_at_ms);
      return text;
    }
    case ChangeType::kDelete:
      return "del " + tree + " " + key;
    case ChangeType::kDeleteValue:
      return "del " + tree + " " + key + "=" + std::string(change.value);
    case ChangeType::kMerge:
      return "merge " + tree + " " + key + "+" + std::string(change.value) + " by " +
             change.tree->merge_operator;
    case ChangeType::kDeleteRange:
      return "range " + tree + " " + key + ".." + std::string(change.high.value_or("end"));
    case ChangeType::kCreateTree:
      return "create " + tree;
    case ChangeType::kDropTree:
      return "drop " + tree;
    case ChangeType::kRenameTree:
      return "rename " + tree + " " + std::string(change.other_name);
    case ChangeType::kCloneTree:
      return "clone " + tree + " of " + std::string(change.other_name);
  }
  return "?";
}

// All that a commit holds, with "; " between; the error where there is one.
inline std::string text_of(FeedCommit& commit) {
  std::string text;
  FeedChange change;
  while (true) {
    Result<bool> more = commit.next(&change);
    if (!more.ok()) return more.status().to_string();
    if (!*more) return text;
    text += (text.empty() ? "" : "; ") + text_of(commit, change);
  }
}

// "": both show the same in all trees, but for the one in which the replica stands.
inline std::string difference(Db& source, const Snapshot* at, Db& replica) {
  auto names = source.list_trees({.snapshot = at});
  auto others = replica.list_trees();
  if (!names.ok()) return names.status().to_string();
  if (!others.ok()) return others.status().to_string();
  std::erase(*others, std::string(kReplicaTree));
  if (*names != *others) {
    std::string text = "trees:";
    for (const std::string& name : *names) text += " " + name;
    text += " and:";
    for (const std::string& name : *others) text += " " + name;
    return text;
  }
  for (const std::string& name : *names) {
    const Tree a = source.find_tree(name, {.snapshot = at}).value();
    const Tree b = replica.find_tree(name).value();
    if (source.tree_options(a).value() != replica.tree_options(b).value()) {
      return name + " has other options";
    }
    CursorOptions walk;
    walk.snapshot = at;
    Cursor left = source.cursor(a, walk);
    Cursor right = replica.cursor(b);
    bool more = left.first();
    bool also = right.first();
    for (; more && also; more = left.next(), also = right.next()) {
      if (left.key() != right.key() || left.value() != right.value() ||
          left.expires_at() != right.expires_at()) {
        return name + " at key " + std::string(left.key()) + ", the replica at " +
               std::string(right.key());
      }
    }
    if (!left.status().ok()) return left.status().to_string();
    if (!right.status().ok()) return right.status().to_string();
    if (more) return name + ": the replica lacks " + std::string(left.key());
    if (also) return name + ": the replica has " + std::string(right.key());
  }
  return "";
}

class FeedTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void TearDown() override {
    db_.reset();
    target_.reset();
  }
  static Options options() {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.lock_timeout_ms = 0;
    options.merge_operators = {append_with(",")};
    options.key_comparators = {std::make_shared<Downwards>()};
    return options;
  }
  std::unique_ptr<Db> open_at(const std::string& path) {
    auto db = Db::open_on(machine_.machine(), path, options());
    EXPECT_OK(db.status());
    return db.ok() ? std::move(*db) : nullptr;
  }
  void open() {
    db_.reset();
    db_ = open_at("/db");
    ASSERT_NE(db_, nullptr);
    tree_ = db_->tree("t").value();
  }
  void put(std::string_view key, std::string_view value) { ASSERT_OK(db_->put(tree_, key, value)); }
  // All that a feed has now, acknowledged, one text for each commit.
  std::vector<std::string> take(Feed& feed, bool acknowledge = true) {
    std::vector<std::string> texts;
    while (true) {
      Result<FeedCommit*> commit = feed.next(1);
      if (!commit.ok()) {
        texts.push_back(commit.status().to_string());
        return texts;
      }
      if (*commit == nullptr) return texts;
      texts.push_back(text_of(**commit));
      if (acknowledge) EXPECT_OK(feed.acknowledge((*commit)->cts()));
    }
  }
  std::vector<std::string> take(const std::string& name) {
    Result<Feed> feed = db_->open_feed(name);
    if (!feed.ok()) return {feed.status().to_string()};
    return take(*feed);
  }
  using Texts = std::vector<std::string>;

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
  std::unique_ptr<Db> target_;
  Tree tree_;
};

}  // namespace hawthorn::tests
