#pragma once
// A database with something of every kind, and a model that knows of each key what it holds, what
// it ever held, and where in the log that was written. Made once; tests damage copies of its disk.
//
// Not here: damages and what must hold behind a repair (repair_sweep_test.cc).
// Used by the folder tests/repair only. Threads: the test's.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/encryption_test.h"
#include "tests/support/engine_test.h"
#include "tests/support/ingest_test.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {

class ShorterFirst : public KeyComparator {
 public:
  std::string_view name() const override { return "shorter_first"; }
  int compare(std::string_view a, std::string_view b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
};

struct ForestRow {
  std::optional<std::string> now;
  std::set<std::string> ever;
  std::vector<std::string> operands;  // of merges, and values that were put: in order
  std::vector<std::pair<uint64_t, uint64_t>> unflushed;  // lsns of its writes that the log has
};

enum class ForestKind : uint8_t { kPlain, kMerge, kMulti, kReverse, kExpiring, kCompared, kClone };

struct ForestTree {
  uint32_t id = 0;
  ForestKind kind = ForestKind::kPlain;
  std::string parent;  // of a subtree: the tree in which it hangs, by its name here
  std::string place;   // and the key there
  // By key; of a tree of several values to a key, by key, a zero byte and the value.
  std::map<std::string, ForestRow> rows;
};

// The segments and files of the database are small, so that there are several of each.
class ForestSizes {
 public:
  ForestSizes() {
    db::log_segment_bytes = size_t{512} << 10;
    db::log_ring_bytes_max = size_t{256} << 10;
    db::data_file_bytes_first = size_t{2} << 20;
    db::data_file_bytes_max = size_t{2} << 20;
    txn::memory_share_max = size_t{100} << 10;
  }
  ~ForestSizes() {
    db::log_segment_bytes = size_t{64} << 20;
    db::log_ring_bytes_max = size_t{64} << 20;
    db::data_file_bytes_first = size_t{64} << 20;
    db::data_file_bytes_max = size_t{1} << 30;
    txn::memory_share_max = ~size_t{0};
  }
};

inline Options forest_options(bool encrypted = false) {
  Options options;
  if (encrypted) options.encryption = encryption_of();
  options.memory_budget_bytes = size_t{32} << 20;
  options.durability = Durability::kNone;
  options.merge_operators = {append_with("")};
  options.key_comparators = {std::make_shared<ShorterFirst>()};
  options.lock_timeout_ms = 0;
  return options;
}

class Forest {
 public:
  static constexpr const char* kSnapshot = "before";
  static constexpr const char* kPrepared = "p1";

  // A database of trees that hang in trees has no feed, so there are two kinds.
  void make(bool with_feed, bool encrypted = false);
  // What a process finds that comes after one that was killed.
  std::unique_ptr<testing::SimDisk> copy() {
    return disk_.after_crash(1, testing::CrashKind::kProcessKill);
  }
  // The same of a database that was closed.
  void close() { EXPECT_OK(db_->close()); }

  std::map<std::string, ForestTree> trees;
  // What transaction kPrepared will have written when it is committed.
  std::map<std::string, std::map<std::string, std::string>> prepared;
  std::map<std::string, std::map<std::string, std::string>> at_snapshot;

 private:
  void make_trees(bool with_feed);
  void change(uint64_t seed, size_t percent);
  void change_large(uint64_t seed);
  void change_merges(uint64_t seed);
  void change_others(uint64_t seed);
  void flushed();
  void remember_snapshot();
  void clone();
  void ingest(const std::string& name, uint64_t from);
  void erase_range(const std::string& name, const std::string& low, const std::string& high);
  void write_layered();
  void write_prepared();
  void put(const std::string& name, const std::string& key, const std::string& value);
  void del(const std::string& name, const std::string& key);
  void note(const std::string& name, const std::string& key, std::optional<std::string> value,
            uint64_t first);
  uint64_t now() { return db_->snapshot().timestamp(); }
  std::string noise(size_t bytes);
  Tree add(const std::string& name, const TreeOptions& options = {},
           ForestKind kind = ForestKind::kPlain);

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
  std::map<std::string, Tree> handles_;
  Prng prng_{99};
};

inline std::string row_key(uint64_t number) {
  char text[16];
  std::snprintf(text, sizeof(text), "k%06llu", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace hawthorn::tests
