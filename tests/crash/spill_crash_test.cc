// Transactions that outgrow their share of memory, and ranges that are deleted, on the simulated
// disk: a database lives through
// several lives, each ended by a killed process or a power loss at a random operation of the disk,
// also while it recovers, and while what such a transaction has left is brought into its trees.
//
// What must hold after each (R20): a transaction is there as a whole or not at all, in all trees;
// one whose commit returned is there; what was written and deleted since stays so, whatever came
// of the layers. So does what a range has deleted (R25), of layers, too, and what was written
// since.
#include <array>
#include <map>
#include <memory>
#include <optional>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/crash_life.h"
#include "tests/support/engine_test.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

using testing::SimDisk;
using testing::SimMachine;

constexpr std::array<const char*, 3> kTrees = {"large", "also", "small"};
using Rows = std::map<std::string, std::string>;
using Contents = std::array<Rows, kTrees.size()>;

Status read_rows(Db& db, const Tree& tree, Rows* rows) {
  return db.scan(tree, "", std::nullopt, [&](std::span<const Entry> entries) {
    for (const Entry& entry : entries) rows->emplace(entry.key, entry.value);
    return true;
  });
}

constexpr uint64_t kKeys = 1500;

class SpillLives {
 public:
  explicit SpillLives(uint64_t seed) : prng_(seed), disk_(std::make_unique<SimDisk>(mix64(seed))) {}

  void live() {
    tests::live(
        {.steps = 12, .operations = 250}, prng_, &disk_,
        [this](const os::Machine& machine) { return open(machine); },
        [this](std::unique_ptr<Db>& db, const os::Machine& machine) { step(db, machine); });
  }

  void finish() {
    SimMachine machine(*disk_, prng_.next());
    std::unique_ptr<Db> db = open(machine.machine());
    ASSERT_NE(db, nullptr);
    ASSERT_OK(db->drain());
    ASSERT_TRUE(read(*db) == contents_);
    ASSERT_EQ(db->stats().layers, 0u);
    ASSERT_EQ(db->stats().deleted_ranges, 0u);
    ASSERT_OK(db->close());
  }
  uint64_t layers() const { return layers_; }
  uint64_t ranges() const { return ranges_; }
  uint64_t found() const { return found_; }

 private:
  std::unique_ptr<Db> open(const os::Machine& machine) {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kFull;
    options.lock_timeout_ms = 0;
    Result<std::unique_ptr<Db>> db = Db::open_on(machine, "/db", options);
    if (!db.ok()) {
      EXPECT_TRUE(disk_->stopped()) << db.status().to_string();
      return nullptr;
    }
    for (size_t i = 0; i < kTrees.size(); ++i) {
      Result<Tree> tree = (*db)->tree(kTrees[i]);
      if (!tree.ok()) return nullptr;
      trees_[i] = *tree;
    }
    if (!end_found(**db)) return nullptr;
    const Contents found = read(**db);
    const auto checked = clean(**db);
    if (disk_->stopped()) return nullptr;
    EXPECT_TRUE(checked);
    layers_ += (*db)->stats().layers;
    ranges_ += (*db)->stats().deleted_ranges;
    if (found == next_) contents_ = next_;
    next_ = contents_;
    for (size_t i = 0; i < kTrees.size(); ++i) {
      EXPECT_TRUE(found[i] == contents_[i])
          << "tree " << kTrees[i] << ": " << found[i].size() << " of " << contents_[i].size();
    }
    return ::testing::Test::HasFailure() ? nullptr : std::move(*db);
  }

  // What is prepared: all of it is there, to be committed as a whole, or not at all. False: the
  // disk has stopped, or it failed.
  bool end_found(Db& db) {
    Result<std::vector<PreparedTransaction>> there = db.prepared();
    if (!there.ok()) return false;
    EXPECT_LE(there->size(), prepared_.has_value() ? 1u : 0u);
    EXPECT_TRUE(!must_be_prepared_ || there->size() == 1);
    if (::testing::Test::HasFailure()) return false;
    if (there->empty()) return true;
    must_be_prepared_ = false;
    ++found_;
    return end_prepared(db);
  }

  bool end_prepared(Db& db) {
    const bool commits = !prng_.one_in(3);
    if (commits) next_ = *prepared_;
    const Status status = commits ? db.commit_prepared("p") : db.rollback_prepared("p");
    if (!status.ok()) {
      EXPECT_TRUE(disk_->stopped()) << status.to_string();
      return false;
    }
    prepared_.reset();
    contents_ = next_;
    return true;
  }

  Contents read(Db& db) {
    Contents result;
    for (size_t i = 0; i < kTrees.size(); ++i) {
      const Status status = read_rows(db, trees_[i], &result[i]);
      if (!disk_->stopped()) EXPECT_OK(status);
    }
    return result;
  }

  void step(std::unique_ptr<Db>& db, const os::Machine& machine) {
    const uint64_t pick = prng_.below(20);
    if (must_be_prepared_ && pick < 8) {
      must_be_prepared_ = false;  // it may be on its way out
      end_prepared(*db);
      return;
    }
    if (must_be_prepared_ && pick < 13) return;
    if (pick < 8) return transaction(*db);
    if (pick < 13) return writes(*db);
    Status status;
    if (pick < 16) status = db->flush();
    if (pick >= 16 && pick < 18) status = db->drain();
    if (pick == 18) status = db->compact();
    if (pick == 19) {
      status = db->close();
      db.reset();
      if (status.ok() && !disk_->stopped()) db = open(machine);
    }
    if (!disk_->stopped()) ASSERT_OK(status);
  }

  // Mostly in the first tree; some at once in the others, where what came last may not spill.
  size_t any_tree() { return prng_.one_in(8) ? prng_.below(kTrees.size()) : 0; }

  // In a batch or transaction, or alone: a tenth of the keys, or all from one on.
  template <typename In>
  auto delete_range(In& in, size_t tree, Contents* contents) {
    const uint64_t from = prng_.below(kKeys);
    std::string low = key_of(from);
    std::optional<std::string> high = key_of(from + prng_.below(kKeys / 10));
    if (*high < low) std::swap(*high, low);
    if (prng_.one_in(6)) high.reset();
    Rows& rows = (*contents)[tree];
    rows.erase(rows.lower_bound(low), high ? rows.lower_bound(*high) : rows.end());
    return in.delete_range(trees_[tree], low, high);
  }

  Status write(Transaction& txn, size_t tree, Contents* contents) {
    if (prng_.one_in(300)) return delete_range(txn, tree, contents);
    const std::string key = key_of(prng_.below(kKeys));
    if (prng_.one_in(4)) {
      (*contents)[tree].erase(key);
      return txn.del(trees_[tree], key);
    }
    // Large values stay where they are, and what is written above them.
    const std::string value = value_of(prng_.next(), prng_.one_in(400) ? 70'000 : prng_.below(80));
    (*contents)[tree][key] = value;
    return txn.put(trees_[tree], key, value);
  }

  void transaction(Db& db) {
    Transaction txn =
        db.begin({.mode = prng_.one_in(2) ? TxnMode::kPessimistic : TxnMode::kOptimistic}).value();
    Contents own = contents_;
    std::optional<std::pair<Savepoint, Contents>> mark;
    for (uint64_t left = 50 + prng_.below(1500); left > 0 && !disk_->stopped(); --left) {
      if (prng_.one_in(400)) {
        if (mark.has_value()) {
          const Status status = txn.rollback_to(mark->first);
          if (disk_->stopped()) return;
          ASSERT_OK(status);
          own = mark->second;
        } else {
          mark = {txn.savepoint().value(), own};
        }
      }
      const Status status = write(txn, any_tree(), &own);
      if (disk_->stopped()) return;
      ASSERT_OK(status);
    }
    if (prng_.one_in(5)) return txn.abort();
    if (prng_.one_in(3)) {
      prepared_ = own;
      const Status status = txn.prepare("p");  // what went to layers comes back
      if (disk_->stopped()) return;
      if (status.ok()) {
        must_be_prepared_ = true;
        return;
      }
      // It has deleted a range.
      ASSERT_TRUE(status.is(StatusCode::kNotSupported)) << status.to_string();
      prepared_.reset();
    }
    next_ = own;
    const Status status = txn.commit();
    if (!status.ok() && disk_->stopped()) return;
    ASSERT_OK(status);
    contents_ = next_;
  }

  // Of others, above what layers hold: deletes of what only a layer has must not come undone.
  void writes(Db& db) {
    for (uint64_t left = prng_.below(30); left > 0; --left) {
      const size_t tree = any_tree();
      const std::string key = key_of(prng_.below(kKeys));
      const std::string value = prng_.one_in(2) ? "" : value_of(prng_.next(), prng_.below(80));
      next_ = contents_;
      Status status;
      if (prng_.one_in(20)) {
        status = delete_range(db, tree, &next_);
      } else if (prng_.one_in(20)) {
        WriteBatch batch;
        batch.put(trees_[tree], key, "in a batch");
        next_[tree][key] = "in a batch";
        delete_range(batch, tree, &next_);
        batch.put(trees_[tree], key, value);
        next_[tree][key] = value;
        status = db.write(batch);
      } else if (value.empty()) {
        next_[tree].erase(key);
        status = db.del(trees_[tree], key);
      } else {
        next_[tree][key] = value;
        status = db.put(trees_[tree], key, value);
      }
      if (!status.ok() && disk_->stopped()) return;
      ASSERT_OK(status);
      contents_ = next_;
    }
  }

  Prng prng_;
  std::unique_ptr<SimDisk> disk_;
  std::array<Tree, kTrees.size()> trees_;
  Contents contents_;
  Contents next_;  // where what was under way when the machine stopped came to its end
  std::optional<Contents> prepared_;  // with what may be prepared, under "p"
  bool must_be_prepared_ = false;
  uint64_t found_ = 0;
  uint64_t layers_ = 0;
  uint64_t ranges_ = 0;
};

TEST(SpillCrash, any_moment) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{4} << 20;
  db::log_segment_bytes = size_t{1} << 20;
  db::log_bytes_min = size_t{1} << 20;
  txn::memory_share_max = size_t{16} << 10;
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : scaled(60);
  uint64_t layers = 0;
  uint64_t ranges = 0;
  uint64_t found = 0;
  for (uint64_t i = 1; i <= count && !::testing::Test::HasFailure(); ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    SpillLives test(seed);
    for (int life = 0; life < 6 && !::testing::Test::HasFailure(); ++life) test.live();
    if (!::testing::Test::HasFailure()) test.finish();
    layers += test.layers();
    ranges += test.ranges();
    found += test.found();
  }
  txn::memory_share_max = ~size_t{0};
  // One that never finds any would pass, too.
  if (only == 0) {
    EXPECT_GT(layers, count / 2);
    EXPECT_GT(ranges, count / 2);
    EXPECT_GT(found, count / 20);
  }
}

// Neither a deleted range nor a large transaction is in any container when a flush returns.
TEST(FlushCrash, what_only_the_log_has_is_durable) {
  for (const bool range : {true, false}) {
    SCOPED_TRACE(range);
    SimDisk disk(1);
    SimMachine machine(disk, 1);
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    auto db = Db::open_on(machine.machine(), "/db", options);
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("large").value();
    for (uint64_t i = 0; i < 10; ++i) ASSERT_OK((*db)->put(tree, key_of(i), "small"));
    ASSERT_OK((*db)->flush());
    Rows rows;
    if (range) {
      ASSERT_OK((*db)->delete_range(tree, ""));
    } else {
      txn::memory_share_max = size_t{32} << 10;
      Transaction txn = (*db)->begin(TxnMode::kOptimistic).value();
      for (uint64_t i = 0; i < kKeys; ++i) {
        rows[key_of(i)] = value_of(i, 100);
        ASSERT_OK(txn.put(tree, key_of(i), rows[key_of(i)]));
      }
      ASSERT_OK(txn.commit());
      txn::memory_share_max = ~size_t{0};
      ASSERT_GT((*db)->stats().layers, 0u);
    }
    ASSERT_OK((*db)->flush());
    const auto after = disk.crash(1, testing::CrashKind::kPowerLossDrop);
    db->reset();
    SimMachine again(*after, 2);
    db = Db::open_on(again.machine(), "/db", options);
    ASSERT_OK(db.status());
    Rows found;
    ASSERT_OK(read_rows(**db, (*db)->find_tree("large").value(), &found));
    EXPECT_TRUE(found == rows) << found.size() << ", not " << rows.size();
    db->reset();
  }
}

}  // namespace
}  // namespace hawthorn::tests
