// Values by parts on the simulated disk: a database lives through several lives, each ended by a
// killed process or a power loss at a random operation of the disk, also while it recovers.
//
// What must hold after each: what was acknowledged is there, byte for byte, whichever versions
// share extents (R22, R24); what was under way is there as a whole or not at all; a named snapshot
// shows what it did; what is prepared is there to be committed; the checker finds nothing, so that
// no two name one block.

#include <map>
#include <memory>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/crash_life.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::SimDisk;
using testing::SimMachine;
using Values = std::map<std::string, std::string>;

class PartsLives {
 public:
  explicit PartsLives(uint64_t seed) : prng_(seed), disk_(std::make_unique<SimDisk>(mix64(seed))) {}

  void live() {
    tests::live(
        {.steps = 25, .operations = 300}, prng_, &disk_,
        [this](const os::Machine& machine) { return open(machine); },
        [this](std::unique_ptr<Db>& db, const os::Machine& machine) { step(db, machine); });
  }

  void finish() {
    SimMachine machine(*disk_, prng_.next());
    std::unique_ptr<Db> db = open(machine.machine());
    ASSERT_NE(db, nullptr);
    if (prepared_) ASSERT_OK(db->commit_prepared("p"));
    if (prepared_) values_["p"] = of_prepared_;
    ASSERT_OK(db->compact());
    ASSERT_TRUE(clean(*db));
    ASSERT_TRUE(read(*db, nullptr) == values_);
    files_removed_ += db->stats().data_files_removed;
    ASSERT_OK(db->close());
  }
  uint64_t found_prepared() const { return found_prepared_; }
  uint64_t files_removed() const { return files_removed_; }

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
    Result<Tree> tree = (*db)->tree("t");
    if (!tree.ok()) return nullptr;
    tree_ = *tree;
    const Values found = read(**db, nullptr);
    const auto checked = clean(**db);
    const auto prepared = (*db)->prepared();
    Values kept;
    Result<Snapshot> snapshot = (*db)->open_snapshot("kept");
    if (snapshot.ok()) kept = read(**db, &*snapshot);
    if (disk_->stopped()) return nullptr;
    EXPECT_TRUE(checked);
    if (found == next_) values_ = next_;
    next_ = values_;
    EXPECT_TRUE(found == values_);
    if (snapshot.ok()) {
      EXPECT_TRUE(kept == kept_ || kept == next_kept_);
      kept_ = next_kept_ = kept;
    }
    const bool there = !prepared->empty();
    if (there) ++found_prepared_;
    // Its outcome, or its being prepared, may have been under way.
    if (there != prepared_) {
      EXPECT_TRUE(outcome_open_);
      prepared_ = there;
    }
    outcome_open_ = false;
    return ::testing::Test::HasFailure() ? nullptr : std::move(*db);
  }

  Values read(Db& db, const Snapshot* snapshot) {
    Values result;
    ScanOptions options;
    options.snapshot = snapshot;
    const Status status = db.scan(
        tree_, "", std::nullopt,
        [&](std::span<const Entry> entries) {
          for (const Entry& entry : entries) result.emplace(entry.key, entry.value);
          return true;
        },
        options);
    if (!disk_->stopped()) EXPECT_OK(status);
    return result;
  }

  void step(std::unique_ptr<Db>& db, const os::Machine& machine) {
    const uint64_t pick = prng_.below(24);
    if (pick < 12) return transaction(*db);
    if (pick == 12 || pick == 13) return prepare(*db);
    if (pick == 14) return keep(*db);
    Status status;
    if (pick < 19) status = db->flush();
    if (pick == 19 || pick == 20) status = db->compact();
    if (pick == 21) status = db->drain();
    if (pick > 21) {
      files_removed_ += db->stats().data_files_removed;
      status = db->close();
      db.reset();
      if (status.ok() && !disk_->stopped()) db = open(machine);
    }
    if (!disk_->stopped()) ASSERT_OK(status);
  }

  void keep(Db& db) {
    Status status = db.drop_snapshot("kept");
    if (status.ok() || status.is_not_found()) {
      next_kept_ = values_;
      status = db.create_snapshot("kept");
      if (status.ok()) kept_ = values_;
    }
    if (!disk_->stopped()) ASSERT_OK(status);
  }

  Status change(Transaction& txn, const std::string& key, Values* values) {
    const uint64_t pick = prng_.below(10);
    const std::string bytes =
        value_of(prng_.next(), 1 + prng_.below(prng_.one_in(3) ? 200'000 : 3000));
    std::string& value = (*values)[key];
    if (pick == 0) {
      values->erase(key);
      return txn.del(tree_, key);
    }
    if (pick == 1) {
      value = bytes;
      return txn.put(tree_, key, bytes);
    }
    if (pick == 2) {
      const uint64_t size = prng_.below(value.size() + 50'000);
      value.resize(size, '\0');
      return txn.resize(tree_, key, size);
    }
    if (pick < 7) {
      value += bytes;
      return txn.append(tree_, key, bytes).status();
    }
    const uint64_t offset = prng_.below(value.size() + 1);
    if (value.size() < offset + bytes.size()) value.resize(offset + bytes.size(), '\0');
    value.replace(offset, bytes.size(), bytes);
    return txn.write_part(tree_, key, offset, bytes);
  }
  // What is prepared holds its rows.
  std::string any_key() { return "k" + std::to_string(prng_.below(5)); }

  void transaction(Db& db) {
    Transaction txn =
        db.begin({.mode = prng_.one_in(2) ? TxnMode::kPessimistic : TxnMode::kOptimistic}).value();
    Values own = values_;
    std::optional<std::pair<Savepoint, Values>> mark;
    for (uint64_t left = 1 + prng_.below(4); left > 0; --left) {
      if (prng_.one_in(4)) mark = {txn.savepoint().value(), own};
      Status status = change(txn, any_key(), &own);
      if (status.ok() && mark && prng_.one_in(4)) {
        status = txn.rollback_to(mark->first);
        own = mark->second;
      }
      if (status.ok() && prng_.one_in(6)) status = db.flush();
      if (disk_->stopped()) return;
      ASSERT_OK(status);
    }
    if (prng_.one_in(6)) return txn.abort();
    next_ = own;
    const Status status = txn.commit();
    if (!status.ok() && disk_->stopped()) return;
    ASSERT_OK(status);
    values_ = next_;
  }

  // A key of its own, which it changes and another one does not.
  void prepare(Db& db) {
    outcome_open_ = true;
    Status status;
    if (prepared_) {
      const bool commits = prng_.one_in(2);
      next_ = values_;
      if (commits) next_["p"] = of_prepared_;
      status = commits ? db.commit_prepared("p") : db.rollback_prepared("p");
      if (status.ok()) {
        prepared_ = false;
        values_ = next_;
      }
    } else {
      Transaction txn = db.begin(TxnMode::kPessimistic).value();
      of_prepared_ = values_["p"];
      if (of_prepared_.empty()) values_.erase("p");
      for (uint64_t left = 1 + prng_.below(3); left > 0 && status.ok(); --left) {
        const std::string bytes = value_of(prng_.next(), 1 + prng_.below(100'000));
        of_prepared_ += bytes;
        status = txn.append(tree_, "p", bytes).status();
      }
      if (status.ok()) status = txn.prepare("p");
      prepared_ = status.ok();
    }
    if (disk_->stopped()) return;
    outcome_open_ = false;
    ASSERT_OK(status);
  }

  Prng prng_;
  std::unique_ptr<SimDisk> disk_;
  Tree tree_;
  Values values_;
  Values next_;  // where what was under way when the machine stopped came to its end
  Values kept_;
  Values next_kept_;
  std::string of_prepared_;  // what "p" has behind its commit
  bool prepared_ = false;
  bool outcome_open_ = false;
  uint64_t found_prepared_ = 0;
  uint64_t files_removed_ = 0;
};

TEST(PartsCrash, any_moment) {
  db::data_file_bytes_first = uint64_t{1} << 20;
  db::data_file_bytes_max = uint64_t{1} << 20;
  db::log_segment_bytes = size_t{1} << 20;
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : scaled(50);
  uint64_t prepared = 0;
  uint64_t removed = 0;
  for (uint64_t i = 1; i <= count && !::testing::Test::HasFailure(); ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    PartsLives test(seed);
    for (int life = 0; life < 6 && !::testing::Test::HasFailure(); ++life) test.live();
    if (!::testing::Test::HasFailure()) test.finish();
    prepared += test.found_prepared();
    removed += test.files_removed();
  }
  // One that never finds any would pass, too.
  if (only == 0) {
    EXPECT_GT(prepared, count / 4);
    EXPECT_GT(removed, 0u);
  }
}

}  // namespace
}  // namespace hawthorn::tests
