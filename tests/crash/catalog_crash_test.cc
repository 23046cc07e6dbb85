// Trees that come and go with transactions, and their clones, on the simulated disk: each life of a
// database ends at a random operation of the disk, also while it recovers.
//
// What must hold after each: names and contents are together those after some prefix of the
// commits, at least after those that were acknowledged (after a kill) or durable (after a power
// loss); nothing is left of other trees but what the checker accepts. Named snapshots that were
// acknowledged are there, and show what they did, dropped trees included.
#include <algorithm>
#include <map>
#include <vector>

#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/downwards.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

using Contents = std::map<std::string, std::string>;
using Trees = std::map<std::string, Contents>;

// Its value is the order that the tree was made with.
constexpr const char* kOrderKey = "order";

class Lives {
 public:
  explicit Lives(uint64_t seed) : prng_(seed), disk_(std::make_unique<SimDisk>(mix64(seed))) {}

  void live() {
    const CrashKind kind = static_cast<CrashKind>(prng_.below(3));
    SimMachine machine(*disk_, prng_.next());
    if (prng_.one_in(2)) disk_->stop_at(SimOp::kAny, prng_.between(1, prng_.one_in(3) ? 60 : 800));
    std::unique_ptr<Db> db = open(machine.machine());
    if (db != nullptr) compare(*db);
    if (::testing::Test::HasFailure()) return;
    for (uint64_t left = prng_.below(60); db != nullptr && left > 0 && !disk_->stopped(); --left) {
      step(db, machine.machine());
      if (::testing::Test::HasFailure()) return;
    }
    if (kind != CrashKind::kProcessKill) power_lost_ = true;
    auto after = disk_->crash(prng_.next(), kind);
    snapshots_.clear();
    db.reset();
    disk_ = std::move(after);
  }
  uint64_t commits() const { return commits_; }
  uint64_t clones() const { return clones_; }

 private:
  std::unique_ptr<Db> open(const os::Machine& machine) {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.key_comparators = {std::make_shared<Downwards>()};
    options.durability = Durability::kNone;
    Result<std::unique_ptr<Db>> db = Db::open_on(machine, "/db", options);
    if (db.ok()) return std::move(*db);
    EXPECT_TRUE(disk_->stopped()) << db.status().to_string();
    return nullptr;
  }

  static std::string text_of(const Trees& trees) {
    std::string text;
    for (const auto& [name, contents] : trees) {
      uint64_t hash = 0;
      for (const auto& [key, value] : contents) {
        hash = hash * 31 + std::hash<std::string>()(key + value);
      }
      text +=
          " " + name + ":" + std::to_string(contents.size()) + "/" + std::to_string(hash % 10'000);
    }
    return text;
  }

  static Status read(Db& db, const Snapshot* at, Trees* found) {
    const Result<std::vector<std::string>> names = db.list_trees({.snapshot = at});
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      const Result<Tree> tree = db.find_tree(name, {.snapshot = at});
      if (!tree.ok()) return tree.status();
      Contents& contents = (*found)[name];
      std::vector<std::string> keys;
      const auto each = [&](std::span<const Entry> entries) {
        for (const Entry& entry : entries) {
          keys.emplace_back(entry.key);
          contents.emplace(entry.key, entry.value);
        }
        return true;
      };
      if (Status s = db.scan(*tree, "", std::nullopt, each, {.snapshot = at}); !s.ok()) return s;
      const Result<TreeOptions> options = db.tree_options(*tree);
      if (!options.ok()) return options.status();
      EXPECT_EQ(contents[kOrderKey], options->order);
      if (options->order != "bytewise") std::reverse(keys.begin(), keys.end());
      EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end())) << options->order;
    }
    return {};
  }

  // One of the states since the last life must be there, and is the base of the next.
  void compare(Db& db) {
    Trees found;
    const Status status = read(db, nullptr, &found);
    if (disk_->stopped()) return;
    ASSERT_OK(status);
    const size_t low = power_lost_ ? durable_ : acknowledged_;
    const auto at = std::find(states_.begin() + static_cast<ptrdiff_t>(low), states_.end(), found);
    if (at == states_.end()) {
      FAIL() << states_.size() << " states, from " << low << (power_lost_ ? ", power lost" : "")
             << "; found" << text_of(found) << "; wanted" << text_of(states_[low]);
    }
    compare_snapshots(db);
    if (::testing::Test::HasFailure() || disk_->stopped()) return;
    const Result<CheckReport> checked = db.check();
    if (disk_->stopped()) return;
    ASSERT_OK(checked.status());
    ASSERT_TRUE(checked->ok()) << checked->errors.front();
    states_ = {found};
    acknowledged_ = durable_ = 0;
    power_lost_ = false;
  }

  void compare_snapshots(Db& db) {
    std::map<std::string, Trees> there;
    const std::vector<NamedSnapshot> list = db.list_snapshots().value();
    for (const NamedSnapshot& named : list) {
      Result<Snapshot> snapshot = db.open_snapshot(named.name);
      ASSERT_OK(snapshot.status());
      Trees found;
      const Status status = read(db, &*snapshot, &found);
      if (disk_->stopped()) return;
      ASSERT_OK(status);
      const auto known = named_.find(named.name);
      ASSERT_TRUE(known != named_.end()) << named.name << " was dropped";
      ASSERT_TRUE(known->second == found)
          << named.name << ": found" << text_of(found) << "; wanted" << text_of(known->second);
      there[named.name] = std::move(found);
    }
    for (const auto& [name, trees] : named_) {
      ASSERT_TRUE(there.contains(name) || name == uncertain_) << name << " is lost";
    }
    named_ = std::move(there);
    uncertain_.clear();
  }

  void name_snapshot(Db& db) {
    if (named_.size() > 3) {
      uncertain_ = named_.begin()->first;
      const Status status = db.drop_snapshot(uncertain_);
      if (disk_->stopped()) return;
      ASSERT_OK(status);
      named_.erase(uncertain_);
    }
    uncertain_ = std::to_string(++last_snapshot_);
    named_[uncertain_] = states_.back();
    const Status status = db.create_snapshot(uncertain_);
    if (disk_->stopped()) return;
    ASSERT_OK(status);
    uncertain_.clear();
    durable_ = acknowledged_;
  }

  void step(std::unique_ptr<Db>& db, const os::Machine& machine) {
    const uint64_t pick = prng_.below(20);
    if (pick < 14) {
      transaction(*db);
    } else if (pick == 14) {
      settle(db->flush());
    } else if (pick == 15) {
      settle(db->sync());
    } else if (pick == 16) {
      static_cast<void>(db->drain().ok());
    } else if (pick == 17 && prng_.one_in(2)) {
      name_snapshot(*db);
    } else if (pick == 17) {
      snapshots_.push_back(db->snapshot());
    } else if (pick == 18) {
      snapshots_.clear();
    } else {
      snapshots_.clear();
      if (prng_.one_in(2)) settle(db->close());
      if (disk_->stopped()) return;
      db.reset();
      db = open(machine);
      if (db != nullptr) compare(*db);
    }
  }

  void settle(const Status& status) {
    if (disk_->stopped()) return;
    ASSERT_OK(status);
    durable_ = acknowledged_;
  }

  std::string name() { return std::string(1, static_cast<char>('a' + prng_.below(5))); }

  // Some changes of trees and keys, and perhaps a rollback of the last ones.
  void transaction(Db& db) {
    Result<Transaction> begun = db.begin(static_cast<TxnMode>(prng_.below(3)));
    if (disk_->stopped()) return;
    ASSERT_OK(begun.status());
    Transaction t = std::move(*begun);
    Trees trees = states_.back();
    Trees kept;
    std::optional<Savepoint> savepoint;
    const bool big = prng_.one_in(12);
    cloned_.clear();
    for (uint64_t left = prng_.between(1, 6); left > 0; --left) {
      if (prng_.one_in(6)) {
        savepoint = t.savepoint().value();
        kept = trees;
      }
      const Status status = change(t, trees, big);
      if (disk_->stopped()) return;
      ASSERT_OK(status);
    }
    if (savepoint.has_value() && prng_.one_in(2)) {
      const Status status = t.rollback_to(*savepoint);
      if (disk_->stopped()) return;
      ASSERT_OK(status);
      trees = kept;
    }
    if (prng_.one_in(6)) return t.abort();
    const auto level = static_cast<Durability>(prng_.between(1, 3));
    const Status status = t.commit(level);
    // One that wrote nothing makes nothing durable.
    const bool changed = trees != states_.back();
    states_.push_back(std::move(trees));
    ++commits_;
    if (disk_->stopped()) return;
    ASSERT_OK(status);
    acknowledged_ = states_.size() - 1;
    if (level == Durability::kFull && changed) durable_ = acknowledged_;
  }

  Status change(Transaction& t, Trees& trees, bool big) {
    // What a clone was made of stays as it is until the commit.
    const bool free = cloned_.empty();
    const std::string one = free ? name() : cloned_;
    const bool there = free && trees.contains(one);
    const uint64_t pick = prng_.below(10);
    if (there && pick == 0) {
      trees.erase(one);
      return t.drop_tree(one);
    }
    if (there && pick == 1) {
      const std::string other = name();
      if (other == one || trees.contains(other)) return {};
      trees[other] = std::move(trees[one]);
      trees.erase(one);
      return t.rename_tree(one, other);
    }
    if (there && (pick == 2 || pick == 3)) {
      const std::string other = name();
      if (trees.contains(other)) return {};
      trees[other] = trees[one];
      cloned_ = other;
      ++clones_;
      return t.clone_tree(one, other).status();
    }
    const bool is_new = free && !there;
    const char* const orders[] = {"reverse", "bytewise", "downwards"};
    const std::string order = orders[prng_.below(3)];
    const Result<Tree> tree = is_new ? t.tree(one, {.order = order}) : t.tree(one);
    if (!tree.ok()) return tree.status();
    Contents& contents = trees[one];
    if (is_new) {
      contents[kOrderKey] = order;
      if (Status s = t.put(*tree, kOrderKey, order); !s.ok()) return s;
    }
    if (prng_.one_in(3)) {
      const std::string key = big_endian(prng_.below(40));
      contents.erase(key);
      if (Status s = t.del(*tree, key); !s.ok()) return s;
    }
    for (uint64_t left = big ? 300 : prng_.below(6); left > 0; --left) {
      const std::string key = big_endian(prng_.below(40));
      const size_t size = prng_.one_in(30) ? 70'000 : prng_.below(big ? 2000 : 300);
      std::string value = value_of(prng_.next(), size);
      if (Status s = t.put(*tree, key, value); !s.ok()) return s;
      contents[key] = std::move(value);
    }
    return {};
  }

  Prng prng_;
  std::unique_ptr<SimDisk> disk_;
  std::vector<Snapshot> snapshots_;
  std::vector<Trees> states_{Trees()};  // after each commit since the last life
  size_t acknowledged_ = 0;
  size_t durable_ = 0;
  std::map<std::string, Trees> named_;
  std::string uncertain_;  // the one that was being made or dropped when the machine died
  uint64_t last_snapshot_ = 0;
  bool power_lost_ = false;  // since the last comparison
  uint64_t commits_ = 0;
  std::string cloned_;  // in this transaction
  uint64_t clones_ = 0;
};

TEST(CatalogCrash, names_and_contents_are_of_one_moment) {
  db::log_segment_bytes = size_t{4} << 20;
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  uint64_t commits = 0;
  uint64_t clones = 0;
  const uint64_t count = only != 0 ? 1 : scaled(30);
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE("HAWTHORN_SEED=" + std::to_string(seed));
    Lives test(seed);
    for (int life = 0; life < 6; ++life) {
      test.live();
      if (::testing::Test::HasFailure()) return;
    }
    commits += test.commits();
    clones += test.clones();
  }
  EXPECT_GT(commits, count * 20);
  EXPECT_GT(clones, count);
}

}  // namespace
}  // namespace hawthorn::tests
