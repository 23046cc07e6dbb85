#pragma once
// A database with a tree in which others may hang, for tests of trees as values.
//
// Not here: tests. Used by the folder tests/api only. Threads: the test's.

#include <string>
#include <vector>

#include "tests/api/sim_api_test_fixture.h"
#include "tests/support/subtrees.h"

namespace hawthorn::tests {

using Keys = std::vector<std::string>;

// Of every mode and level that there is.
inline std::vector<TxnOptions> all_kinds() {
  std::vector<TxnOptions> kinds;
  for (const TxnMode mode : {TxnMode::kOptimistic, TxnMode::kPessimistic}) {
    for (const Isolation isolation :
         {Isolation::kReadCommitted, Isolation::kSnapshot, Isolation::kSerializable}) {
      kinds.push_back({.mode = mode, .isolation = isolation});
    }
  }
  kinds.push_back({.mode = TxnMode::kExclusive});
  return kinds;
}
inline std::string name_of(const TxnOptions& kind) {
  return "mode " + std::to_string(static_cast<int>(kind.mode)) + " isolation " +
         std::to_string(static_cast<int>(kind.isolation));
}

class Subtrees : public SimApi {
 protected:
  static TreeOptions holder() { return {.subtrees = true}; }
  void SetUp() override {
    SimApi::SetUp();
    parent_ = db_->tree("p", holder()).value();
  }
  void reopen() {
    open_small();
    parent_ = db_->find_tree("p").value();
  }
  Tree make(const Tree& parent, std::string_view key, const TreeOptions& options = {}) {
    const Result<Tree> made = db_->create_subtree(parent, key, options);
    EXPECT_OK(made.status());
    return made.ok() ? *made : Tree();
  }
  Keys list(const Tree& parent, const Snapshot* at = nullptr) {
    const Result<Keys> keys = db_->list_subtrees(parent, {.snapshot = at});
    EXPECT_OK(keys.status());
    return keys.ok() ? *keys : Keys{"?"};
  }
  std::string get_of(const Tree& tree, std::string_view key, const Snapshot* at = nullptr) {
    Value value;
    const Status status = db_->get(tree, key, value, {.snapshot = at});
    return status.ok() ? value.to_string() : std::string(status_code_name(status.code()));
  }
  // A subtree at `k` with a value at "in", and one below that with one.
  void make_two(std::string_view k) {
    const Tree one = make(parent_, k, holder());
    ASSERT_OK(db_->put(one, "in", "one"));
    const Tree two = make(one, "deep");
    ASSERT_OK(db_->put(two, "in", "two"));
  }
  uint64_t subtrees() { return db_->stats().subtrees; }

  Tree parent_;
};

}  // namespace hawthorn::tests
