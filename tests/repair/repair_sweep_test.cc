// A database with something of every kind is damaged at one place, many times over, and repaired:
// every key that the report does not name has its exact value, nothing appears that was never
// written, the target passes its check, and the source is as it was.

#include <algorithm>
#include <functional>

#include "hawthorn/repair.h"
#include "tests/repair/repair_forest.h"

namespace hawthorn::tests {
namespace {

enum class Damage : uint8_t { kRemoved, kBit, kCutOff, kZeroBlock };

// What of the report names a key.
class Excuses {
 public:
  explicit Excuses(const RepairReport& report) : report_(report) {}

  bool has(const ForestTree& tree, const std::string& key) const {
    for (const RepairLoss& loss : report_.losses) {
      if (loss.kind == RepairLoss::Kind::kKeyRange && loss.tree_id == tree.id &&
          holds(tree, key, loss)) {
        return true;
      }
      if (loss.kind == RepairLoss::Kind::kTree && loss.tree_id == tree.id &&
          tree.kind == ForestKind::kClone) {
        return true;
      }
      if (loss.kind != RepairLoss::Kind::kLogGap) continue;
      const auto row = tree.rows.find(key);
      if (row == tree.rows.end()) continue;
      for (const auto& [first, last] : row->second.unflushed) {
        if (first < loss.offset + loss.bytes && loss.offset <= last) return true;
      }
    }
    return false;
  }
  bool prepared() const {
    for (const RepairLoss& loss : report_.losses) {
      if (loss.kind == RepairLoss::Kind::kLogGap) return true;
      if (loss.what.find(Forest::kPrepared) != std::string::npos) return true;
    }
    return false;
  }

 private:
  static std::string stored(const ForestTree& tree, const std::string& key) {
    std::string result;
    switch (tree.kind) {
      case ForestKind::kMulti: {
        const size_t end = key.find('\0');
        return key.substr(0, end) + std::string(2, '\0') + key.substr(end + 1);
      }
      case ForestKind::kReverse:
        for (const char c : key) result += static_cast<char>(255 - static_cast<unsigned char>(c));
        return result + "\xff\xff";
      case ForestKind::kExpiring:
        return "\x01" + key;
      default:
        return key;
    }
  }
  // Labels stand between a first byte and the key: numbers of which all but the last are odd.
  static std::string compared_key(std::string row) {
    if (!row.empty()) row.erase(0, 1);
    while (row.size() >= 8) {
      const bool more = (row[7] & 1) != 0;
      row.erase(0, 8);
      if (!more) break;
    }
    return row;
  }
  static bool holds(const ForestTree& tree, const std::string& key, const RepairLoss& loss) {
    if (tree.kind != ForestKind::kCompared) {
      const std::string at = stored(tree, key);
      return at >= loss.low && (!loss.high.has_value() || at < *loss.high);
    }
    const ShorterFirst order;
    const std::string low = compared_key(loss.low);
    const std::string high = loss.high.has_value() ? compared_key(*loss.high) : "";
    const bool from_low = low.empty() || order.compare(key, low) >= 0;
    const bool below_high = high.empty() || order.compare(key, high) <= 0;
    const bool same_rows =
        loss.high.has_value() && !loss.low.empty() && loss.low[0] == (*loss.high)[0];
    return same_rows ? from_low && below_high : from_low || below_high;
  }

  const RepairReport& report_;
};

class RepairSweep : public ::testing::Test {
 protected:
  // A database with its disk as a killed process leaves it, and as it is when it was closed.
  struct Life {
    Forest forest;
    std::unique_ptr<testing::SimDisk> killed;
    std::unique_ptr<testing::SimDisk> closed;
  };
  static void SetUpTestSuite() {
    sizes_ = new ForestSizes;
    lives_.resize(4);
  }
  static void TearDownTestSuite() {
    lives_.clear();
    delete sizes_;
  }
  // Made when it is needed.
  std::unique_ptr<testing::SimDisk> choose(bool with_feed, bool killed) {
    std::unique_ptr<Life>& made = lives_[(encrypted_ ? 2 : 0) + (with_feed ? 1 : 0)];
    if (made == nullptr) {
      made = std::make_unique<Life>();
      made->forest.make(with_feed, encrypted_);
      made->killed = made->forest.copy();
      made->forest.close();
      made->closed = made->forest.copy();
    }
    Life& life = *made;
    forest_ = &life.forest;
    return (killed ? life.killed : life.closed)->after_crash(1, testing::CrashKind::kProcessKill);
  }

  static std::map<std::string, std::string> files_of(testing::SimDisk& disk) {
    std::map<std::string, std::string> result;
    const std::vector<std::string> names = disk.list("/db").value();
    for (const std::string& name : names) {
      auto file = disk.open_file("/db/" + name, {.read_only = true});
      EXPECT_OK(file.status());
      std::string bytes((*file)->size().value(), '\0');
      if (!bytes.empty()) EXPECT_OK((*file)->read_at(0, {bytes.data(), bytes.size()}));
      result[name] = std::move(bytes);
    }
    return result;
  }

  // Where there is something in a file: what is zeros anyway tells nothing.
  static std::vector<uint64_t> used_blocks(const std::string& bytes) {
    std::vector<uint64_t> used;
    for (uint64_t at = 0; at < bytes.size(); at += 4096) {
      const size_t end = std::min<uint64_t>(at + 4096, bytes.size());
      if (bytes.find_first_not_of('\0', at) < end) used.push_back(at);
    }
    return used;
  }

  // Damages one file; tells what it has done.
  std::string damage(testing::SimDisk& disk, Damage kind, uint64_t seed) {
    Prng prng(seed);
    const std::map<std::string, std::string> files = files_of(disk);
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files) {
      if (!used_blocks(bytes).empty()) names.push_back(name);
    }
    const std::string name = names[prng.next() % names.size()];
    const std::string path = "/db/" + name;
    const std::string& bytes = files.at(name);
    const std::vector<uint64_t> used = used_blocks(bytes);
    const uint64_t block = used[prng.next() % used.size()];
    damaged_ = name;
    switch (kind) {
      case Damage::kRemoved:
        EXPECT_OK(disk.remove(path));
        return name + " removed";
      case Damage::kBit: {
        const uint64_t at = block + prng.next() % std::min<uint64_t>(4096, bytes.size() - block);
        EXPECT_TRUE(disk.flip_bit(path, at, static_cast<unsigned>(prng.next() % 8)));
        return name + ": a bit at " + std::to_string(at);
      }
      case Damage::kCutOff: {
        const uint64_t at = block + prng.next() % 4096;
        EXPECT_OK(disk.open_file(path, {}).value()->truncate(at));
        return name + " cut off at " + std::to_string(at);
      }
      case Damage::kZeroBlock: {
        const std::string zeros(std::min<uint64_t>(4096, bytes.size() - block), '\0');
        EXPECT_OK(disk.open_file(path, {}).value()->write_at(block, zeros));
        return name + ": zeros at " + std::to_string(block);
      }
    }
    return "";
  }

  void repair(testing::SimDisk& disk) {
    testing::SimMachine machine(disk, 5);
    RepairOptions options;
    options.database = forest_options(encrypted_);
    const auto before = files_of(disk);
    const bool keys_lost =
        encrypted_ && (!before.contains("keys") || before.at("keys").size() < 4096);
    const Result<RepairReport> made = Db::repair_on(machine.machine(), "/db", "/fixed", options);
    if (keys_lost) {
      // Then nothing can be read, and that is said.
      EXPECT_TRUE(made.status().is(StatusCode::kCorruption)) << made.status().to_string();
      EXPECT_NE(made.status().message().find("keys"), std::string::npos);
      EXPECT_FALSE(disk.exists("/fixed").value());
      return;
    }
    ASSERT_OK(made.status());
    EXPECT_TRUE(files_of(disk) == before) << "the source has changed";
    report_ = *made;
    EXPECT_TRUE(report_.opened) << report_.open_error;
    EXPECT_FALSE(disk.exists("/fixed/copy.incomplete").value());
    auto db = Db::open_on(machine.machine(), "/fixed", forest_options(encrypted_));
    ASSERT_OK(db.status());
    compare(**db);
    auto checked = (*db)->check();
    ASSERT_OK(checked.status());
    for (const std::string& error : checked->errors) ADD_FAILURE() << "the target: " << error;
    EXPECT_OK((*db)->close());
  }

  Result<Tree> find(Db& db, const std::string& name, const ForestTree& tree) {
    if (!tree.parent.empty()) {
      const Result<Tree> parent = find(db, tree.parent, forest_->trees.at(tree.parent));
      if (parent.ok()) {
        Result<Tree> found = db.subtree(*parent, tree.place);
        if (found.ok() && found->id() == tree.id) return found;
      }
    } else if (Result<Tree> found = db.find_tree(name); found.ok() && found->id() == tree.id) {
      return found;
    }
    for (const RepairedTree& one : report_.trees) {
      if (one.id == tree.id && !one.name.empty()) return db.find_tree(one.name);
    }
    return Status(StatusCode::kNotFound, "not among the report's trees");
  }

  // Of several values to a key, each is a row.
  std::map<std::string, std::string> read(Db& db, const Tree& tree, ForestKind kind,
                                          const Snapshot* snapshot = nullptr) {
    std::map<std::string, std::string> rows;
    Cursor cursor = db.cursor(tree, {.snapshot = snapshot});
    for (bool there = cursor.first(); there; there = cursor.next()) {
      std::string key(cursor.key());
      std::string value(cursor.value());
      if (kind == ForestKind::kMulti) key += '\0' + std::exchange(value, "");
      EXPECT_TRUE(rows.emplace(key, value).second) << "twice: " << key;
    }
    EXPECT_OK(cursor.status());
    return rows;
  }

  void compare(Db& db) {
    const Excuses excuses(report_);
    take_prepared(db, excuses);
    for (const auto& [name, tree] : forest_->trees) {
      SCOPED_TRACE(name);
      const Result<Tree> found = find(db, name, tree);
      if (!found.ok()) {
        // Nothing of it is left: then all of it has to be named.
        for (const auto& [key, row] : tree.rows) {
          if (row.now.has_value()) {
            EXPECT_TRUE(excuses.has(tree, key)) << key << ": its tree is gone";
          }
        }
        continue;
      }
      if (found.ok() && db.find_tree(name).ok() && db.find_tree(name)->id() != tree.id) {
        ADD_FAILURE() << "another tree has its name";
      }
      if (tree.kind == ForestKind::kMerge && report_.scanned) {
        // Which operator it has may have stood in the manifest.
        static_cast<void>(db.set_merge_operator(*found, "append").ok());
      }
      compare_rows(tree, read(db, *found, tree.kind), excuses);
    }
    if (!report_.scanned) compare_snapshot(db, excuses);
  }

  void compare_rows(const ForestTree& tree, const std::map<std::string, std::string>& got,
                    const Excuses& excuses) {
    for (const auto& [key, row] : tree.rows) {
      const auto at = got.find(key);
      const bool there = at != got.end();
      const bool same = there ? row.now == at->second : !row.now.has_value();
      if (same) continue;
      ++differ_;
      const bool back = there && !row.now.has_value() && report_.resurrected_possible;
      EXPECT_TRUE(back || excuses.has(tree, key))
          << key << (there ? (row.now.has_value() ? " is another" : " is back") : " is missing")
          << ", and nothing names it";
      if (there) {
        EXPECT_TRUE(was_written(tree, row, at->second)) << key << " was never that";
      }
    }
    for (const auto& [key, value] : got) {
      EXPECT_TRUE(tree.rows.contains(key) || is_prepared(tree, key)) << key << " was never there";
    }
  }

  // Of merges some may be missing, in the order in which they were made.
  static bool was_written(const ForestTree& tree, const ForestRow& row, const std::string& value) {
    if (row.ever.contains(value)) return true;
    if (tree.kind != ForestKind::kMerge) return false;
    size_t at = 0;
    for (const std::string& operand : row.operands) {
      if (value.compare(at, operand.size(), operand) == 0) at += operand.size();
    }
    return at == value.size();
  }
  bool is_prepared(const ForestTree& tree, const std::string& key) const {
    for (const auto& [name, rows] : forest_->prepared) {
      if (forest_->trees.at(name).id == tree.id && rows.contains(key)) return true;
    }
    return false;
  }

  void take_prepared(Db& db, const Excuses& excuses) {
    const auto found = db.prepared();
    ASSERT_OK(found.status());
    for (const PreparedTransaction& one : *found) {
      EXPECT_TRUE(one.id == Forest::kPrepared || excuses.prepared()) << one.id;
      if (one.id != Forest::kPrepared) EXPECT_OK(db.rollback_prepared(one.id));
    }
    const bool there = std::any_of(found->begin(), found->end(),
                                   [](const auto& one) { return one.id == Forest::kPrepared; });
    if (!there) {
      EXPECT_TRUE(excuses.prepared()) << "what was prepared is gone, and nothing names it";
      return;
    }
    ASSERT_OK(db.commit_prepared(Forest::kPrepared));
    for (const auto& [name, rows] : forest_->prepared) {
      const Result<Tree> tree = find(db, name, forest_->trees.at(name));
      if (!tree.ok()) continue;
      for (const auto& [key, value] : rows) {
        Value got;
        EXPECT_OK(db.get(*tree, key, got));
        EXPECT_TRUE(got.view() == value) << name << " " << key;
      }
    }
  }

  void compare_snapshot(Db& db, const Excuses& excuses) {
    const Result<Snapshot> snapshot = db.open_snapshot(Forest::kSnapshot);
    ASSERT_OK(snapshot.status());
    for (const auto& [name, rows] : forest_->at_snapshot) {
      SCOPED_TRACE(name + " as of the snapshot");
      const ForestTree& tree = forest_->trees.at(name);
      const Result<Tree> found = find(db, name, tree);
      if (!found.ok()) continue;
      const auto got = read(db, *found, tree.kind, &*snapshot);
      for (const auto& [key, value] : rows) {
        const auto at = got.find(key);
        if (at != got.end() && at->second == value) continue;
        EXPECT_TRUE(excuses.has(tree, key)) << key;
      }
      for (const auto& [key, value] : got) {
        if (!rows.contains(key)) {
          EXPECT_TRUE(excuses.has(tree, key)) << key << " was not there";
        }
      }
    }
  }

  void sweep(Damage kind, uint64_t first, uint64_t rounds) {
    rounds = scaled(rounds);
    first = environment_number("HAWTHORN_REPAIR_SEED", first);
    for (uint64_t seed = first; seed < first + rounds; ++seed) {
      const bool killed = seed % 3 != 0;
      const auto disk = choose(seed % 2 != 0, killed);
      const std::string what = damage(*disk, kind, seed);
      SCOPED_TRACE("HAWTHORN_REPAIR_SEED=" + std::to_string(seed) + ": " + what +
                   (killed ? ", killed" : ", closed"));
      differ_ = 0;
      repair(*disk);
      if (environment_number("HAWTHORN_REPAIR_TELL", 0) != 0 || HasFailure()) {
        std::printf("%llu %s: %zu keys differ\n", static_cast<unsigned long long>(seed),
                    what.c_str(), differ_);
        for (const RepairLoss& loss : report_.losses) {
          std::printf("  %s, tree %u, %s at %llu, %llu: %s\n",
                      std::string(repair_loss_name(loss.kind)).c_str(), loss.tree_id,
                      loss.file.c_str(), static_cast<unsigned long long>(loss.offset),
                      static_cast<unsigned long long>(loss.bytes), loss.what.c_str());
        }
      }
      if (HasFailure() && environment_number("HAWTHORN_REPAIR_ON", 0) == 0) return;
    }
  }

  static ForestSizes* sizes_;
  static std::vector<std::unique_ptr<Life>> lives_;
  Forest* forest_ = nullptr;
  bool encrypted_ = false;
  RepairReport report_;
  std::string damaged_;
  size_t differ_ = 0;
};
ForestSizes* RepairSweep::sizes_ = nullptr;
std::vector<std::unique_ptr<RepairSweep::Life>> RepairSweep::lives_;

TEST_F(RepairSweep, OfNothing) {
  for (const bool with_feed : {false, true}) {
    for (const bool killed : {false, true}) {
      SCOPED_TRACE(killed ? "killed" : "closed");
      const auto disk = choose(with_feed, killed);
      repair(*disk);
      EXPECT_EQ(differ_, 0U);
      for (const RepairLoss& loss : report_.losses) {
        EXPECT_TRUE(with_feed && loss.what.starts_with("feeds")) << loss.what;
      }
      differ_ = 0;
    }
  }
}

// The moment that a clone shows stands in the log until the manifest has it: without it the clone
// must not show what its source has become.
TEST_F(RepairSweep, OfEachSegmentOfTheLog) {
  for (const bool with_feed : {false, true}) {
    const std::vector<std::string> names = choose(with_feed, true)->list("/db").value();
    for (const std::string& name : names) {
      if (!name.starts_with("wal.0")) continue;
      SCOPED_TRACE(name);
      const auto disk = choose(with_feed, true);
      ASSERT_OK(disk->remove("/db/" + name));
      repair(*disk);
    }
  }
}

class EncryptedRepairSweep : public RepairSweep {
 protected:
  EncryptedRepairSweep() { encrypted_ = true; }
  bool told(std::string_view words) const {
    return std::any_of(report_.losses.begin(), report_.losses.end(), [&](const RepairLoss& loss) {
      return loss.what.find(words) != std::string::npos;
    });
  }
};

TEST_F(EncryptedRepairSweep, OfNothing) {
  for (const bool with_feed : {false, true}) {
    for (const bool killed : {false, true}) {
      const auto disk = choose(with_feed, killed);
      repair(*disk);
      EXPECT_EQ(differ_, 0U);
      for (const RepairLoss& loss : report_.losses) {
        EXPECT_TRUE(with_feed && loss.what.starts_with("feeds")) << loss.what;
      }
    }
  }
}

// What opens the log stands in its pads, too.
TEST_F(EncryptedRepairSweep, OfAllManifests) {
  for (const bool superblock : {false, true}) {
    const auto disk = choose(false, true);
    const std::vector<std::string> names = disk->list("/db").value();
    for (const std::string& name : names) {
      const bool lost = name.starts_with("manifest.") || (superblock && name == "superblock");
      if (lost) ASSERT_OK(disk->remove("/db/" + name));
    }
    repair(*disk);
    EXPECT_TRUE(report_.scanned);
    EXPECT_GT(report_.log_records, 0U);
    EXPECT_FALSE(told("what opens them")) << "the log was not opened";
  }
}

// In one test, since the lives that are damaged take longer than their repairs.
TEST_F(EncryptedRepairSweep, OfDamageOfEveryKind) {
  sweep(Damage::kRemoved, 500, 16);
  sweep(Damage::kBit, 600, 24);
  sweep(Damage::kCutOff, 700, 16);
  sweep(Damage::kZeroBlock, 800, 16);
}
TEST_F(RepairSweep, OfDamageOfEveryKind) {
  sweep(Damage::kRemoved, 100, 16);
  sweep(Damage::kBit, 200, 24);
  sweep(Damage::kCutOff, 300, 16);
  sweep(Damage::kZeroBlock, 400, 16);
}

}  // namespace
}  // namespace hawthorn::tests
