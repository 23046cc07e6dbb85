// Power cuts and killed processes on the simulated disk: a database lives through several lives,
// each ended at a random moment or at the n-th operation of the disk, also while it recovers.
//
// What must hold after each (R1, R3, R5 to R8, R13, R22; attacks 1 to 8, 11, 15, 34 to 36, 40):
// what is there is a prefix of the commit order, batches whole; after a kill it holds everything
// that was acknowledged, after a power loss everything up to the last commit that was durable; the
// checker finds nothing; and what one recovery has shown, no later crash takes back.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/encryption_test.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using testing::SimOp;

using Contents = std::map<std::string, std::string>;
using Incarnation = uint64_t;  // a tree from its creation to its drop

struct Write {
  Incarnation tree = 0;
  std::string key;
  bool deleted = false;
  std::string value;                        // then, whole
  std::optional<std::string> operand = {};  // what was merged to make it that
};
using Commit = std::vector<Write>;

// A hash of contents that a write changes in constant time.
uint64_t hash_of(Incarnation tree, std::string_view key, std::string_view value) {
  return mix64(std::hash<std::string_view>()(key) * 31 + std::hash<std::string_view>()(value) +
               tree * 0x9e3779b97f4a7c15);
}

struct Shape {
  uint64_t keys = 200;
  uint64_t operations = 150;
  bool large = false;        // values over 64 KB
  bool big_batches = false;  // transactions of several chunks
  bool waves = false;        // all keys written, nearly all deleted, in one commit
  bool small_files = false;  // data files come and go
  bool ingests = false;      // bulk ingests, of which some attach containers
  bool counters = false;     // keys of 8 bytes, and most values
  bool merges = false;       // operands are appended
};

class Lives {
 public:
  Lives(uint64_t seed, Shape shape)
      : shape_(shape),
        encrypted_(seed % 3 == 0),
        prng_(seed),
        disk_(std::make_unique<SimDisk>(mix64(seed))) {}

  void live() {
    const uint64_t pick = prng_.below(5);
    CrashKind kind = CrashKind::kProcessKill;
    if (pick >= 2) kind = pick == 4 ? CrashKind::kPowerLossDrop : CrashKind::kPowerLoss;
    SimMachine machine(*disk_, prng_.next());
    if (prng_.one_in(2)) disk_->stop_at(SimOp::kAny, prng_.between(1, prng_.one_in(2) ? 60 : 600));
    std::unique_ptr<Db> db = open(machine.machine());
    if (::testing::Test::HasFatalFailure()) return;
    const uint64_t operations = prng_.below(shape_.operations);
    for (uint64_t i = 0; db != nullptr && i < operations && !disk_->stopped(); ++i) {
      step(db, machine.machine());
      if (::testing::Test::HasFatalFailure()) return;
    }
    auto after = disk_->crash(prng_.next(), kind);
    snapshots_.clear();
    db.reset();
    disk_ = std::move(after);
    if (kind != CrashKind::kProcessKill) power_lost_ = true;
  }

  // Looks at what is there now; everything is checked by opening.
  void finish() {
    SimMachine machine(*disk_, prng_.next());
    std::unique_ptr<Db> db = open(machine.machine());
    if (db == nullptr) return;
    ASSERT_TRUE(clean(*db));
    ASSERT_OK(db->close());
  }

  uint64_t recovered() const { return recovered_; }
  // Ingests that were finished and attached containers.
  uint64_t attached() const { return attached_; }

 private:
  static constexpr const char* kNames[] = {"one", "two"};

  std::unique_ptr<Db> open(const os::Machine& machine) {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kNone;
    options.compression = static_cast<Compression>(prng_.below(3));  // of new trees
    options.merge_operators = {append_with(",")};
    if (encrypted_) options.encryption = encryption_of();
    Result<std::unique_ptr<Db>> db = Db::open_on(machine, "/db", options);
    if (!db.ok()) {
      EXPECT_TRUE(disk_->stopped()) << db.status().to_string();
      if (!disk_->stopped()) fatal(db.status().to_string());
      return nullptr;
    }
    compare(**db);
    if (::testing::Test::HasFatalFailure() || disk_->stopped()) return nullptr;
    for (const char* name : kNames) {
      if (live_.contains(name)) continue;
      if (!create(**db, name)) return nullptr;
    }
    for (const char* name : kNames) {
      if (!give_operator(**db, name)) return nullptr;
    }
    return std::move(*db);
  }

  static void fatal(const std::string& text) { FAIL() << text; }

  bool give_operator(Db& db, const std::string& name) {
    if (!shape_.merges) return true;
    const Result<Tree> tree = db.find_tree(name);
    const Status status =
        tree.ok() ? db.set_merge_operator(*tree, "append:,") : Status(tree.status());
    EXPECT_TRUE(status.ok() || disk_->stopped()) << status.to_string();
    return status.ok();
  }

  bool create(Db& db, const std::string& name) {
    const Incarnation made = ++last_tree_;
    const Result<Tree> tree = db.tree(name);
    if (tree.ok()) {
      live_[name] = made;
      // A drop whose outcome was unknown is decided now.
      uncertain_.erase(name);
      return true;
    }
    EXPECT_TRUE(disk_->stopped()) << tree.status().to_string();
    uncertain_[name] = made;  // a crash may find it, or not
    return false;
  }

  // ---- What may be there

  // Finds the prefix of the commits that is there, and makes it the new base.
  void compare(Db& db) {
    if (disk_->stopped()) return;
    const Result<std::vector<std::string>> names = db.list_trees();
    if (disk_->stopped()) return;  // the names are on it, too
    ASSERT_OK(names.status());
    std::map<std::string, Incarnation> live;
    for (const std::string& name : *names) {
      if (uncertain_.contains(name) && !live_.contains(name)) {
        live[name] = uncertain_[name];  // the creation was on its way
      } else {
        ASSERT_TRUE(live_.contains(name)) << "tree " << name << " was dropped";
        live[name] = live_[name];
      }
    }
    for (const auto& [name, tree] : live_) {
      ASSERT_TRUE(live.contains(name) || dropping_ == name) << "tree " << name << " is lost";
    }

    std::map<Incarnation, Contents> found;
    uint64_t found_hash = 0;
    for (const auto& [name, tree] : live) {
      const Result<Tree> handle = db.find_tree(name);
      if (disk_->stopped()) return;
      ASSERT_OK(handle.status());
      Contents& contents = found[tree];
      const Status status = db.scan(*handle, "", std::nullopt, [&](std::span<const Entry> entries) {
        for (const Entry& entry : entries) contents.emplace(entry.key, entry.value);
        return true;
      });
      if (disk_->stopped()) return;  // nothing was learnt
      ASSERT_OK(status);
      for (const auto& [key, value] : contents) found_hash ^= hash_of(tree, key, value);
    }
    live_ = live;
    uncertain_.clear();
    dropping_.clear();
    std::set<Incarnation> kept;
    for (const auto& [name, tree] : live_) kept.insert(tree);
    std::erase_if(base_, [&](const auto& entry) { return !kept.contains(entry.first); });

    // Replays the commits over the base until the contents are those that were found.
    uint64_t hash = 0;
    for (const auto& [tree, contents] : base_) {
      for (const auto& [key, value] : contents) hash ^= hash_of(tree, key, value);
    }
    const uint64_t low = power_lost_ ? durable_ : acknowledged_;
    std::map<Incarnation, Contents> state = base_;
    size_t match = commits_.size() + 1;
    std::map<Incarnation, Contents> matched;
    uint64_t early = commits_.size() + 1;
    for (size_t n = 0;; ++n) {
      if (hash == found_hash) {
        if (n >= low) {
          match = n;
          matched = state;
        } else {
          early = n;
        }
      }
      if (n == commits_.size()) break;
      for (const Write& write : commits_[n]) {
        if (!kept.contains(write.tree)) continue;
        Contents& contents = state[write.tree];
        const auto at = contents.find(write.key);
        if (at != contents.end()) {
          hash ^= hash_of(write.tree, write.key, at->second);
          contents.erase(at);
        }
        if (write.deleted) continue;
        contents.emplace(write.key, write.value);
        hash ^= hash_of(write.tree, write.key, write.value);
      }
    }
    if (match > commits_.size()) {
      explain(found, state, early, low);
      FAIL() << "what is there is not what it may be";
    }
    std::erase_if(matched, [](const auto& entry) { return entry.second.empty(); });
    std::erase_if(found, [](const auto& entry) { return entry.second.empty(); });
    ASSERT_EQ(matched, found);
    recovered_ += match;
    base_ = std::move(found);
    commits_.clear();
    acknowledged_ = 0;
    durable_ = 0;
    power_lost_ = false;
    const ::testing::AssertionResult checked = clean(db);
    if (!disk_->stopped()) {
      ASSERT_TRUE(checked);
    }
  }

  void explain(std::map<Incarnation, Contents>& found, std::map<Incarnation, Contents>& all,
               uint64_t early, uint64_t low) {
    std::string text = "commits " + std::to_string(commits_.size()) + ", at least " +
                       std::to_string(low) + (power_lost_ ? ", power lost" : ", killed");
    if (early <= commits_.size()) text += "; it is the prefix of " + std::to_string(early);
    ADD_FAILURE() << text;
    int shown = 0;
    for (auto& [tree, contents] : all) {
      for (const auto& [key, value] : contents) {
        const auto at = found[tree].find(key);
        if (at != found[tree].end() && at->second == value) continue;
        if (++shown > 20) return;
        ADD_FAILURE() << "tree " << tree << " key " << ::testing::PrintToString(key.substr(0, 40))
                      << (at == found[tree].end() ? " is missing" : " has another value")
                      << ", last written by commit " << last_writer(tree, key);
      }
      for (const auto& [key, value] : found[tree]) {
        if (contents.contains(key)) continue;
        if (++shown > 20) return;
        ADD_FAILURE() << "tree " << tree << " key " << ::testing::PrintToString(key.substr(0, 40))
                      << " should be gone since commit " << last_writer(tree, key);
      }
    }
  }

  size_t last_writer(Incarnation tree, const std::string& key) const {
    for (size_t n = commits_.size(); n > 0; --n) {
      for (const Write& write : commits_[n - 1]) {
        if (write.tree == tree && write.key == key) return n;
      }
    }
    return 0;
  }

  // ---- Working

  void step(std::unique_ptr<Db>& db, const os::Machine& machine) {
    const uint64_t pick = prng_.below(100);
    if (shape_.waves && prng_.one_in(8)) {
      wave(*db);
      if (!shape_.small_files || disk_->stopped()) return;
      if (prng_.one_in(2)) settle(db->flush());
      static_cast<void>(db->drain().ok());
    } else if (shape_.ingests && prng_.one_in(8)) {
      ingest(*db);
    } else if (pick < 40) {
      write_batch(*db);
    } else if (pick < 60) {
      write_one(*db);
    } else if (pick < 74) {
      transaction(*db);
    } else if (pick < 82) {
      settle(db->flush());
    } else if (pick < 86) {
      settle(db->sync());
    } else if (pick < 89) {
      settle(db->compact());
    } else if (pick < 91) {
      static_cast<void>(db->drain().ok());
    } else if (pick < 95) {
      if (snapshots_.size() < 4) {
        snapshots_.push_back(db->snapshot());
      } else {
        snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(prng_.below(4)));
      }
    } else if (pick < 98) {
      snapshots_.clear();
      if (prng_.one_in(2)) {
        settle(db->close());
        if (disk_->stopped()) return;
      }
      db.reset();
      if (!disk_->stopped()) db = open(machine);
    } else {
      drop_and_create(*db);
    }
  }

  // Everything acknowledged so far is durable when the call says so.
  void settle(const Status& status) {
    if (status.ok() && !disk_->stopped()) durable_ = acknowledged_;
    if (!disk_->stopped()) {
      EXPECT_OK(status);
    }
  }

  void outcome(const Status& status, Commit commit, Durability durability) {
    // After its machine died, nobody hears what a process says.
    commits_.push_back(std::move(commit));
    if (disk_->stopped()) return;
    EXPECT_OK(status);
    acknowledged_ = commits_.size();
    if (durability == Durability::kFull) durable_ = acknowledged_;
  }

  Durability random_level() {
    const uint64_t pick = prng_.below(10);
    if (pick == 0) return Durability::kFull;
    return pick < 3 ? Durability::kAsync : Durability::kNone;
  }

  std::string key(uint64_t number) const {
    return shape_.counters ? counter_key_of(number) : key_of(number);
  }

  // What a key has after all commits and the one under way; nothing: it is absent.
  std::optional<std::string> present(const Write& of, const Commit& under_way) const {
    const auto find = [&](const Commit& commit) {
      return std::find_if(commit.rbegin(), commit.rend(), [&](const Write& write) {
        return write.tree == of.tree && write.key == of.key;
      });
    };
    auto found = find(under_way);
    bool is_found = found != under_way.rend();
    for (size_t n = commits_.size(); n > 0 && !is_found; --n) {
      found = find(commits_[n - 1]);
      is_found = found != commits_[n - 1].rend();
    }
    if (is_found) return found->deleted ? std::nullopt : std::optional(found->value);
    const auto tree = base_.find(of.tree);
    if (tree == base_.end()) return {};
    const auto at = tree->second.find(of.key);
    return at == tree->second.end() ? std::nullopt : std::optional(at->second);
  }

  // Half of the writes become operands, where the value has not grown long.
  void make_merge(Write& write, const Commit& under_way) {
    if (!shape_.merges || write.deleted || prng_.one_in(3)) return;
    const std::optional<std::string> before = present(write, under_way);
    if (before.has_value() && before->size() > 2000) return;
    write.operand = value_of(prng_.next(), prng_.below(40));
    write.value = before.has_value() ? *before + "," + *write.operand : *write.operand;
  }

  Write random_write(const Commit& under_way = {}) {
    const auto at = std::next(live_.begin(), static_cast<ptrdiff_t>(prng_.below(live_.size())));
    Write write;
    write.tree = at->second;
    write.key = key(prng_.below(shape_.keys));
    write.deleted = prng_.one_in(4);
    if (!write.deleted) {
      const size_t size = shape_.counters ? counter_size(prng_) : random_size(prng_, shape_.large);
      write.value = value_of(prng_.next(), size);
    }
    make_merge(write, under_way);
    return write;
  }

  Tree handle(Db& db, Incarnation tree) {
    for (const auto& [name, incarnation] : live_) {
      if (incarnation == tree) {
        Result<Tree> found = db.find_tree(name);
        if (found.ok()) return *found;
      }
    }
    return {};
  }

  uint64_t random_count() {
    if (shape_.big_batches && prng_.one_in(20)) return prng_.between(500, 2000);
    return prng_.between(1, prng_.one_in(5) ? 60 : 6);
  }

  void write_batch(Db& db) {
    WriteBatch batch;
    Commit commit;
    const uint64_t count = random_count();
    for (uint64_t i = 0; i < count; ++i) {
      commit.push_back(random_write(commit));
      const Write& write = commit.back();
      const Tree tree = handle(db, write.tree);
      if (write.deleted) {
        batch.del(tree, write.key);
      } else if (write.operand.has_value()) {
        batch.merge(tree, write.key, *write.operand);
      } else {
        batch.put(tree, write.key, write.value);
      }
    }
    const Durability level = random_level();
    outcome(db.write(batch, level), std::move(commit), level);
  }

  // Containers are divided, and what is left of them is joined.
  void wave(Db& db) {
    WriteBatch batch;
    Commit commit;
    const Incarnation incarnation = random_write().tree;
    const Tree tree = handle(db, incarnation);
    const bool deletes = prng_.one_in(2);
    for (uint64_t number = 0; number < shape_.keys; ++number) {
      if (deletes && number % 40 == 7) continue;
      Write write{incarnation, key(number), deletes, {}};
      if (deletes) {
        batch.del(tree, write.key);
      } else {
        const size_t size = shape_.counters ? counter_size(prng_) : prng_.below(1500);
        write.value = value_of(prng_.next(), size);
        batch.put(tree, write.key, write.value);
      }
      commit.push_back(std::move(write));
    }
    const Durability level = random_level();
    outcome(db.write(batch, level), std::move(commit), level);
  }

  // A range of keys, sorted or not. Most of them where nothing is and nobody can see anything: in a
  // new tree, or behind a deletion of the range.
  void ingest(Db& db) {
    snapshots_.clear();
    const uint64_t place = prng_.below(4);
    if (place == 0) drop_and_create(db);
    if (disk_->stopped()) return;
    const Incarnation incarnation = place == 0 ? last_tree_ : random_write().tree;
    const Tree tree = handle(db, incarnation);
    std::map<std::string, Write> sorted;
    const uint64_t from = prng_.below(shape_.keys);
    const uint64_t to = std::min(shape_.keys, from + prng_.between(10, shape_.keys));
    for (uint64_t number = from; number < to; ++number) {
      const size_t size = shape_.large && prng_.one_in(200) ? 100'000 : prng_.below(1500);
      Write write{incarnation, key(number), false, value_of(prng_.next(), size)};
      sorted.emplace(write.key, write);
    }
    if (place == 1 || place == 2) {
      WriteBatch batch;
      Commit commit;
      for (const auto& [key, write] : sorted) {
        batch.del(tree, key);
        commit.push_back({incarnation, key, true, {}});
      }
      outcome(db.write(batch, Durability::kNone), std::move(commit), Durability::kNone);
      if (disk_->stopped()) return;
    }
    IngestOptions options;
    options.sorted = prng_.one_in(2);
    options.sort_memory_bytes = 1;
    options.durability = random_level();
    Commit commit;
    for (auto& [key, write] : sorted) commit.push_back(std::move(write));
    if (!options.sorted) std::reverse(commit.begin(), commit.end());
    Result<Ingest> ingest = db.ingest(tree, options);
    Status status = ingest.status();
    for (size_t i = 0; status.ok() && i < commit.size(); ++i) {
      status = ingest->add(commit[i].key, commit[i].value);
    }
    if (!status.ok()) {
      EXPECT_TRUE(disk_->stopped()) << status.to_string();
      return;
    }
    if (prng_.one_in(8)) return;  // abandoned
    status = ingest->finish();
    if (status.ok() && ingest->stats().containers > 0) ++attached_;
    outcome(status, std::move(commit), options.durability);
  }

  void write_one(Db& db) {
    Write write = random_write();
    const Tree tree = handle(db, write.tree);
    const Durability level = random_level();
    Status status;
    if (write.deleted) {
      status = db.del(tree, write.key, level);
    } else if (write.operand.has_value()) {
      status = db.merge(tree, write.key, *write.operand, level);
    } else {
      status = db.put(tree, write.key, write.value, level);
    }
    outcome(status, {std::move(write)}, level);
  }

  void transaction(Db& db) {
    Result<Transaction> txn = db.begin(static_cast<TxnMode>(prng_.below(3)));
    if (!txn.ok()) {
      EXPECT_TRUE(disk_->stopped()) << txn.status().to_string();
      return;
    }
    Commit commit;
    std::optional<Savepoint> savepoint;
    size_t kept = 0;  // of the commit, at the savepoint
    const uint64_t count = random_count();
    for (uint64_t i = 0; i < count; ++i) {
      if (prng_.one_in(16)) {
        savepoint = txn->savepoint().value();
        kept = commit.size();
      } else if (savepoint.has_value() && prng_.one_in(32)) {
        if (const Status status = txn->rollback_to(*savepoint); !status.ok()) {
          EXPECT_TRUE(disk_->stopped()) << status.to_string();
          return;
        }
        commit.resize(kept);
      }
      commit.push_back(random_write(commit));
      const Write& write = commit.back();
      const Tree tree = handle(db, write.tree);
      Status status;
      if (write.deleted) {
        status = txn->del(tree, write.key);
      } else if (write.operand.has_value()) {
        status = txn->merge(tree, write.key, *write.operand);
      } else {
        status = txn->put(tree, write.key, write.value);
      }
      if (!status.ok()) {
        EXPECT_TRUE(disk_->stopped()) << status.to_string();
        return;
      }
    }
    if (prng_.one_in(4)) {
      txn->abort();
      return;
    }
    const Durability level = random_level();
    outcome(txn->commit(level), std::move(commit), level);
  }

  void drop_and_create(Db& db) {
    const auto at = std::next(live_.begin(), static_cast<ptrdiff_t>(prng_.below(live_.size())));
    const std::string name = at->first;
    dropping_ = name;
    const Status status = db.drop_tree(name);
    if (disk_->stopped()) return;
    ASSERT_OK(status);
    dropping_.clear();
    live_.erase(name);
    if (create(db, name)) give_operator(db, name);
  }

  const Shape shape_;
  const bool encrypted_;
  Prng prng_;
  std::unique_ptr<SimDisk> disk_;
  std::vector<Snapshot> snapshots_;

  std::map<std::string, Incarnation> live_;
  std::map<std::string, Incarnation> uncertain_;  // being created when the machine died
  std::string dropping_;                          // being dropped when the machine died
  Incarnation last_tree_ = 0;
  std::map<Incarnation, Contents> base_;  // what the last recovery has shown
  std::vector<Commit> commits_;           // since then
  uint64_t acknowledged_ = 0;             // of them
  uint64_t durable_ = 0;                  // of them
  bool power_lost_ = false;               // since then
  uint64_t recovered_ = 0;
  uint64_t attached_ = 0;
};

void run(const char* what, uint64_t seeds, uint64_t lives, Shape shape) {
  db::log_segment_bytes = size_t{4} << 20;
  db::data_file_bytes_first = (shape.small_files ? uint64_t{1} << 18 : uint64_t{1} << 26);
  db::data_file_bytes_max = (shape.small_files ? uint64_t{1} << 20 : uint64_t{1} << 30);
  const uint64_t only = environment_number("HAWTHORN_SEED", 0);
  const uint64_t count = only != 0 ? 1 : scaled(seeds);
  uint64_t recovered = 0;
  uint64_t attached = 0;
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t seed = only != 0 ? only : i;
    SCOPED_TRACE(std::string(what) + ": HAWTHORN_SEED=" + std::to_string(seed));
    Lives test(seed, shape);
    for (uint64_t life = 0; life < lives; ++life) {
      test.live();
      if (::testing::Test::HasFailure()) return;
    }
    test.finish();
    if (::testing::Test::HasFailure()) return;
    recovered += test.recovered();
    attached += test.attached();
  }
  // Tests that lose everything always would pass, too.
  if (count > 10) {
    EXPECT_GT(recovered, count * lives);
    if (shape.ingests) {
      EXPECT_GT(attached, count);
    }
  }
}

TEST(PowerCut, small_values) { run("small_values", 80, 5, {}); }

TEST(PowerCut, large_values) { run("large_values", 25, 4, {.keys = 60, .large = true}); }

TEST(PowerCut, transactions_of_many_chunks) {
  run("chunks", 20, 4, {.keys = 3000, .operations = 60, .big_batches = true});
}

TEST(PowerCut, waves) { run("waves", 30, 4, {.keys = 3000, .operations = 60, .waves = true}); }

TEST(PowerCut, files_come_and_go) {
  run("files", 25, 4,
      {.keys = 3000, .operations = 60, .large = true, .waves = true, .small_files = true});
}

TEST(PowerCut, ingests) {
  run("ingests", 30, 4, {.keys = 1200, .operations = 50, .large = true, .ingests = true});
}

TEST(PowerCut, ingests_into_files_that_come_and_go) {
  run("ingests_files", 20, 4,
      {.keys = 1200, .operations = 50, .waves = true, .small_files = true, .ingests = true});
}

TEST(PowerCut, counters) {
  run("counters", 30, 5, {.keys = 3000, .waves = true, .counters = true});
}

TEST(PowerCut, merges) {
  run("merges", 60, 5, {.keys = 40, .merges = true});
  run("merges_of_chunks", 10, 4,
      {.keys = 2000, .operations = 50, .big_batches = true, .waves = true, .merges = true});
}

TEST(PowerCut, many_short_lives) { run("short_lives", 40, 12, {.keys = 50, .operations = 25}); }

}  // namespace
}  // namespace hawthorn::tests
