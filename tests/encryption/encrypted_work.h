#pragma once
// A database with something of everything that a program can store, each with a text that is found
// where it is not encrypted.
//
// Not here: tests. Used by the folder tests/encryption only. Threads: the test's.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testing/sim_machine.h"
#include "tests/support/encryption_test.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {

inline const std::vector<std::string>& marks() {
  static const std::vector<std::string> all = {
      "MARK-of-a-tree",     "MARK-of-a-key",     "MARK-of-a-value",  "MARK-of-large-values",
      "MARK-of-a-snapshot", "MARK-of-a-feed",    "MARK-of-prepared", "MARK-of-an-operator",
      "MARK-of-an-operand", "MARK-of-an-ingest", "MARK-of-sorting",  "MARK-of-a-spilled-one",
      "MARK-of-a-clone",    "MARK-of-a-deleted"};
  return all;
}

inline Options small_options() {
  Options options;
  options.memory_budget_bytes = size_t{16} << 20;
  options.durability = Durability::kNone;
  options.lock_timeout_ms = 0;
  options.merge_operators = {append_with("MARK-of-an-operator")};
  return options;
}

// Keys differ in what the heads of an index hold.
inline std::string marked_key(uint64_t number, const std::string& mark = "MARK-of-a-key") {
  return big_endian(mix64(number)) + mark + std::to_string(number);
}

// `number`: of the round, of which each writes other values. `step` is called between.
inline void work(Db& db, uint64_t number, const std::function<void()>& step) {
  const auto tree = db.tree("MARK-of-a-tree");
  ASSERT_OK(tree.status());
  const std::string salt = std::to_string(number);
  for (uint64_t i = 0; i < 300; ++i) {
    std::string value = "MARK-of-a-value" + salt;
    if (i % 3 == 0) value += std::string(i, 'v') + value;
    ASSERT_OK(db.put(*tree, marked_key(i), value));
  }
  step();
  std::string large;
  while (large.size() < 200'000)
    large += "MARK-of-large-values" + salt + std::to_string(large.size());
  ASSERT_OK(db.put(*tree, "large", large));
  ASSERT_OK(db.put(*tree, "small large", large.substr(0, 70'000)));
  ASSERT_OK(db.flush());
  step();
  ASSERT_OK(db.write_part(*tree, "large", 100'000, "MARK-of-large-values in the middle"));
  const auto merged = db.tree("merged");
  ASSERT_OK(merged.status());
  ASSERT_OK(db.set_merge_operator(*merged, "append:MARK-of-an-operator"));
  ASSERT_OK(db.merge(*merged, "key", "MARK-of-an-operand" + salt));
  step();
  {
    const auto filled = db.tree("filled" + salt);
    ASSERT_OK(filled.status());
    auto ingest = db.ingest(*filled);
    ASSERT_OK(ingest.status());
    for (uint64_t i = 0; i < 3000; ++i) {
      ASSERT_OK(ingest->add(big_endian(i) + "MARK-of-an-ingest", std::string(300, 'i')));
    }
    ASSERT_OK(ingest->finish());
    step();
    auto sorting = db.ingest(*tree, {.sorted = false, .sort_memory_bytes = size_t{512} << 10});
    ASSERT_OK(sorting.status());
    for (uint64_t i = 0; i < 3000; ++i) {
      ASSERT_OK(sorting->add(marked_key(10'000 + mix64(i) % 3000, "MARK-of-sorting"),
                             std::string(400, 's')));
    }
    step();
    ASSERT_OK(sorting->finish());
  }
  const Status named = db.create_snapshot("MARK-of-a-snapshot" + salt);
  ASSERT_OK(named);
  if (number == 0) ASSERT_OK(db.create_feed("MARK-of-a-feed"));
  step();
  {
    auto transaction = db.begin(TxnOptions());
    ASSERT_OK(transaction.status());
    ASSERT_OK(transaction->put(*tree, "prepared key", "value"));
    ASSERT_OK(transaction->prepare("MARK-of-prepared" + salt));
    step();
    ASSERT_OK(db.commit_prepared("MARK-of-prepared" + salt));
  }
  {
    auto transaction = db.begin(TxnOptions());
    ASSERT_OK(transaction.status());
    for (uint64_t i = 0; i < 6000; ++i) {
      ASSERT_OK(transaction->put(*tree, marked_key(20'000 + i, "MARK-of-a-spilled-one"),
                                 std::string(500, 't')));
    }
    step();
    ASSERT_OK(transaction->commit());
  }
  const auto clone = db.clone_tree("MARK-of-a-tree", "MARK-of-a-clone" + salt);
  ASSERT_OK(clone.status());
  ASSERT_OK(db.put(*clone, "of the clone", "value" + salt));
  for (uint64_t i = 0; i < 50; ++i) {
    ASSERT_OK(db.put(*tree, marked_key(i, "MARK-of-a-deleted"), "x"));
  }
  ASSERT_OK(db.flush());
  for (uint64_t i = 0; i < 50; ++i) {
    ASSERT_OK(db.del(*tree, marked_key(i, "MARK-of-a-deleted")));
  }
  ASSERT_OK(db.flush());
  step();
  ASSERT_OK(db.compact());
  step();
}

// All that a reader sees, as one text; or why it does not.
inline Result<std::string> read_everything(Db& db) {
  std::string all;
  const auto names = db.list_trees();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const auto tree = db.find_tree(name);
    if (!tree.ok()) return tree.status();
    all += "\n" + name + ":";
    Status status = db.scan(*tree, "", std::nullopt, [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) {
        all.append(entry.key).append("=").append(entry.value).append(";");
      }
      return true;
    });
    if (!status.ok()) return status;
  }
  const auto snapshots = db.list_snapshots();
  if (!snapshots.ok()) return snapshots.status();
  for (const auto& snapshot : *snapshots) all += "\nsnapshot " + snapshot.name;
  const auto feeds = db.list_feeds();
  if (!feeds.ok()) return feeds.status();
  for (const auto& feed : *feeds) all += "\nfeed " + feed.name;
  return all;
}

}  // namespace hawthorn::tests
