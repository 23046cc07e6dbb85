// A database is damaged, one way at a time, and repaired: what the target holds is compared with a
// model, and what it does not hold has to be named in the report.

#include "hawthorn/repair.h"

#include <functional>
#include <map>
#include <set>

#include "base/prng.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kMB = size_t{1} << 20;
using Model = std::map<std::string, std::string>;
const std::vector<std::string> kTrees = {"large", "small", "wide"};

struct Kept {
  std::map<std::string, Model> now;
  std::map<std::string, std::map<std::string, std::set<std::string>>> ever;
  std::map<std::string, std::set<std::string>> logged;  // what the log alone has
};

Options small_options() {
  Options options;
  options.memory_budget_bytes = 32 * kMB;
  options.durability = Durability::kNone;
  return options;
}

std::string name_of(uint64_t number) {
  char text[16];
  std::snprintf(text, sizeof(text), "k%07llu", static_cast<unsigned long long>(number));
  return text;
}

class Repair : public ::testing::Test {
 protected:
  void SetUp() override {
    db::log_segment_bytes = kMB;
    db::data_file_bytes_first = 4 * kMB;
    make();
  }
  void TearDown() override {
    db::log_segment_bytes = 64 * kMB;
    db::data_file_bytes_first = 64 * kMB;
  }

  std::string value_of(const std::string& tree, Prng& prng) {
    size_t size = tree == "wide" ? 24 : 300;
    if (tree == "large") size = prng.next() % 4 == 0 ? 150'000 : 2000;
    std::string value(size, '\0');
    for (size_t i = 0; i < size; i += 8) {
      const uint64_t word = prng.next();
      std::memcpy(value.data() + i, &word, std::min<size_t>(8, size - i));
    }
    return value;
  }

  void change(Db& db, uint64_t seed, int count, bool logged) {
    Prng prng(seed);
    for (int i = 0; i < count; ++i) {
      const std::string& name = kTrees[i % 20 == 0 ? 0 : 1 + i % 2];
      const Result<Tree> tree = db.tree(name);
      ASSERT_OK(tree.status());
      const std::string key = name_of(prng.next() % (name == "large" ? 40 : 6000));
      if (logged) kept_.logged[name].insert(key);
      if (prng.next() % 5 == 0) {
        ASSERT_OK(db.del(*tree, key));
        kept_.now[name].erase(key);
        continue;
      }
      const std::string value = value_of(name, prng);
      ASSERT_OK(db.put(*tree, key, value));
      kept_.now[name][key] = value;
      kept_.ever[name][key].insert(value);
    }
  }

  // Some generations of containers, and a log that they do not have.
  void make() {
    auto db = Db::open_on(machine_.machine(), "/db", small_options());
    ASSERT_OK(db.status());
    for (uint64_t round = 1; round <= 3; ++round) {
      change(**db, round, 5000, false);
      ASSERT_OK((*db)->flush());
    }
    change(**db, 9, 3000, true);
    TxnOptions options;
    auto txn = (*db)->begin(options);
    ASSERT_OK(txn.status());
    Prng prng(77);
    const Tree tree = (*db)->tree("small").value();
    for (int i = 0; i < 2000; ++i) {
      const std::string key = name_of(10'000 + i);
      const std::string value = value_of("small", prng);
      ASSERT_OK(txn->put(tree, key, value));
      whole_[key] = value;
      kept_.now["small"][key] = value;
      kept_.ever["small"][key].insert(value);
      kept_.logged["small"].insert(key);
    }
    ASSERT_OK(txn->commit());
    change(**db, 10, 500, true);
    ASSERT_OK((*db)->sync());
  }

  struct Outcome {
    RepairReport report;
    std::map<std::string, Model> holds;
  };
  std::unique_ptr<testing::SimDisk> copy() {
    return disk_.after_crash(1, testing::CrashKind::kProcessKill);
  }

  void repair(testing::SimDisk& disk, Outcome* outcome, const RepairOptions& more = {}) {
    testing::SimMachine machine(disk, 5);
    RepairOptions options = more;
    options.database = small_options();
    const std::map<std::string, std::string> before = files_of(disk, "/db");
    auto report = Db::repair_on(machine.machine(), "/db", "/fixed", options);
    ASSERT_OK(report.status());
    EXPECT_TRUE(files_of(disk, "/db") == before) << "the source has changed";
    outcome->report = *report;
    EXPECT_TRUE(report->opened) << report->open_error;
    auto db = Db::open_on(machine.machine(), "/fixed", small_options());
    ASSERT_OK(db.status());
    auto checked = (*db)->check();
    ASSERT_OK(checked.status());
    EXPECT_TRUE(checked->ok()) << checked->errors.front();
    const std::vector<std::string> trees = (*db)->list_trees().value();
    for (const std::string& name : trees) {
      const Tree tree = (*db)->find_tree(name).value();
      ASSERT_OK((*db)->scan(tree, "", std::nullopt, [&](std::span<const Entry> entries) {
        for (const Entry& e : entries) outcome->holds[name][std::string(e.key)] = e.value;
        return true;
      }));
    }
  }

  static std::map<std::string, std::string> files_of(testing::SimDisk& disk,
                                                     const std::string& directory) {
    std::map<std::string, std::string> result;
    const std::vector<std::string> names = disk.list(directory).value();
    for (const std::string& name : names) {
      auto file = disk.open_file(directory + "/" + name, {.read_only = true});
      if (!file.ok()) continue;
      std::string bytes((*file)->size().value(), '\0');
      if (!bytes.empty()) EXPECT_OK((*file)->read_at(0, {bytes.data(), bytes.size()}));
      result[name] = std::move(bytes);
    }
    return result;
  }
  static uint64_t size_of(testing::SimDisk& disk, const std::string& path) {
    return disk.open_file(path, {.read_only = true}).value()->size().value();
  }
  static void cut(testing::SimDisk& disk, const std::string& path, uint64_t size) {
    auto file = disk.open_file(path, {});
    ASSERT_OK(file.status());
    ASSERT_OK((*file)->truncate(size));
  }
  static std::vector<std::string> named(testing::SimDisk& disk, const std::string& prefix) {
    std::vector<std::string> result;
    const std::vector<std::string> names = disk.list("/db").value();
    for (const std::string& name : names) {
      if (name.starts_with(prefix)) result.push_back(name);
    }
    return result;
  }
  static bool has(const RepairReport& report, RepairLoss::Kind kind) {
    for (const RepairLoss& loss : report.losses) {
      if (loss.kind == kind) return true;
    }
    return false;
  }
  static bool is_lost(const RepairReport& report, const std::string& tree, const std::string& key) {
    for (const RepairLoss& loss : report.losses) {
      if (loss.kind != RepairLoss::Kind::kKeyRange || loss.tree != tree) continue;
      if (key >= loss.low && (!loss.high.has_value() || key < *loss.high)) return true;
    }
    return false;
  }

  // What must hold after any damage, with what may have suffered beside the ranges that are named.
  void compare(const Outcome& outcome, bool log_suffered) {
    const RepairReport& report = outcome.report;
    for (const auto& [name, model] : outcome.holds) {
      for (const auto& [key, value] : model) {
        ASSERT_TRUE(kept_.ever[name][key].contains(value)) << name << " " << key << " is new";
        const auto now = kept_.now[name].find(key);
        const bool as_now = now != kept_.now[name].end() && now->second == value;
        const bool excused = (log_suffered && kept_.logged[name].contains(key)) ||
                             (report.resurrected_possible && now == kept_.now[name].end()) ||
                             (report.resurrected_possible && is_lost(report, name, key));
        EXPECT_TRUE(as_now || excused) << name << " " << key << " is old";
      }
    }
    for (const std::string& name : kTrees) {
      const auto holds = outcome.holds.find(name);
      ASSERT_NE(holds, outcome.holds.end()) << name;
      for (const auto& [key, value] : kept_.now[name]) {
        if (holds->second.contains(key)) continue;
        const bool excused =
            is_lost(report, name, key) || (log_suffered && kept_.logged[name].contains(key));
        EXPECT_TRUE(excused) << name << " " << key << " is missing, and no loss names it";
      }
    }
    size_t of_whole = 0;
    for (const auto& [key, value] : whole_) {
      of_whole += outcome.holds.at("small").contains(key) ? 1 : 0;
    }
    EXPECT_TRUE(of_whole == 0 || of_whole == whole_.size()) << "a part of a transaction";
  }

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
  Kept kept_;
  Model whole_;  // of one transaction
};

TEST_F(Repair, WhatIsNotDamagedIsCopied) {
  const auto disk = copy();
  Outcome outcome;
  repair(*disk, &outcome);
  for (const RepairLoss& loss : outcome.report.losses) ADD_FAILURE() << loss.what;
  EXPECT_TRUE(outcome.report.ok() && outcome.report.manifest_read && !outcome.report.scanned);
  for (const std::string& name : kTrees)
    EXPECT_TRUE(outcome.holds[name] == kept_.now[name]) << name;
}

TEST_F(Repair, TheTargetMustNotExistAndTheSourceMustNotBeOpen) {
  const auto disk = copy();
  testing::SimMachine machine(*disk, 5);
  const auto status = [&](const char* from, const char* to) {
    return Db::repair_on(machine.machine(), from, to, {}).status();
  };
  EXPECT_TRUE(status("/db", "/db").is(StatusCode::kInvalidArgument));
  EXPECT_FALSE(status("/nothing", "/fixed").ok());
  auto open = Db::open_on(machine.machine(), "/db", small_options());
  ASSERT_OK(open.status());
  EXPECT_TRUE(status("/db", "/fixed").is(StatusCode::kBusy));
}

TEST_F(Repair, ALostSuperblockCostsNothing) {
  for (const bool missing : {false, true}) {
    const auto disk = copy();
    if (missing) {
      ASSERT_OK(disk->remove("/db/superblock"));
    } else {
      ASSERT_TRUE(disk->flip_bit("/db/superblock", 33, 1));
      ASSERT_TRUE(disk->flip_bit("/db/superblock", 4096 + 90, 1));
    }
    Outcome outcome;
    repair(*disk, &outcome);
    EXPECT_TRUE(has(outcome.report, RepairLoss::Kind::kSuperblock));
    EXPECT_FALSE(outcome.report.superblock_read || outcome.report.scanned);
    for (const std::string& name : kTrees) EXPECT_TRUE(outcome.holds[name] == kept_.now[name]);
  }
}

TEST_F(Repair, WithoutAManifestContainersAreFound) {
  for (const bool missing : {false, true}) {
    const auto disk = copy();
    for (const std::string& name : named(*disk, "manifest.")) {
      if (missing) {
        ASSERT_OK(disk->remove("/db/" + name));
      } else if (name != "manifest.spare") {
        ASSERT_TRUE(disk->flip_bit("/db/" + name, 4096 + 10, 1));
      }
    }
    Outcome outcome;
    repair(*disk, &outcome);
    EXPECT_TRUE(has(outcome.report, RepairLoss::Kind::kManifest));
    EXPECT_TRUE(outcome.report.scanned && outcome.report.resurrected_possible);
    compare(outcome, false);
  }
}

TEST_F(Repair, AManifestThatIsNotToBeBelievedIsPassedOver) {
  const auto disk = copy();
  ASSERT_OK(disk->remove("/db/superblock"));
  RepairOptions options;
  options.ignore_manifest = true;
  Outcome outcome;
  repair(*disk, &outcome, options);
  EXPECT_TRUE(outcome.report.scanned);
  compare(outcome, false);
}

// The data files say what the manifest says: then nothing is in doubt. Killed, closed, and with a
// manifest of before, which they contradict.
TEST_F(Repair, AWholeDatabaseIsWholeAlsoWhenItsManifestIsToBeIgnored) {
  RepairOptions options;
  options.ignore_manifest = true;
  const auto killed = copy();
  Outcome outcome;
  repair(*killed, &outcome, options);
  EXPECT_TRUE(outcome.report.scanned);
  EXPECT_TRUE(outcome.report.ok());
  EXPECT_TRUE(outcome.holds == kept_.now);

  const auto closed = copy();
  {
    testing::SimMachine machine(*closed, 3);
    auto db = Db::open_on(machine.machine(), "/db", small_options());
    ASSERT_OK(db.status());
    ASSERT_OK((*db)->create_snapshot("then"));
    ASSERT_OK((*db)->close());
  }
  const auto before = closed->after_crash(1, testing::CrashKind::kProcessKill);
  const std::map<std::string, std::string> files = files_of(*before, "/db");
  outcome = {};
  repair(*closed, &outcome, options);
  EXPECT_TRUE(outcome.report.scanned);
  EXPECT_TRUE(outcome.report.ok());
  EXPECT_TRUE(outcome.holds == kept_.now);
  {
    testing::SimMachine machine(*closed, 3);
    auto db = Db::open_on(machine.machine(), "/fixed", small_options());
    ASSERT_OK(db.status());
    EXPECT_EQ((*db)->list_snapshots()->size(), 1u);
  }

  // What was written and flushed since is there, and the manifest does not know of it.
  {
    testing::SimMachine machine(*before, 3);
    auto db = Db::open_on(machine.machine(), "/db", small_options());
    ASSERT_OK(db.status());
    change(**db, 11, 3000, false);
    ASSERT_OK((*db)->close());
  }
  for (const auto& [name, bytes] : files) {
    if (!name.starts_with("manifest") && name != "superblock") continue;
    auto file = before->open_file("/db/" + name, {.create = true});
    ASSERT_OK(file.status());
    ASSERT_OK((*file)->truncate(bytes.size()));
    ASSERT_OK((*file)->write_at(0, bytes));
    ASSERT_OK((*file)->sync_data());
  }
  outcome = {};
  repair(*before, &outcome, options);
  EXPECT_TRUE(outcome.report.scanned && outcome.report.resurrected_possible);
  compare(outcome, false);
}

TEST_F(Repair, LostAndTruncatedDataFiles) {
  for (const std::string& name :
       named(*disk_.after_crash(1, testing::CrashKind::kProcessKill), "data.")) {
    for (const bool missing : {false, true}) {
      SCOPED_TRACE(name + (missing ? " is missing" : " is cut off"));
      const auto disk = copy();
      const std::string path = "/db/" + name;
      if (missing) {
        ASSERT_OK(disk->remove(path));
      } else {
        cut(*disk, path, size_of(*disk, path) / 7 + 100);
      }
      Outcome outcome;
      repair(*disk, &outcome);
      EXPECT_FALSE(outcome.report.scanned);
      compare(outcome, outcome.report.transactions_dropped > 0);
    }
  }
}

TEST_F(Repair, FlippedBitsInData) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto disk = copy();
    Prng prng(seed);
    const std::vector<std::string> files = named(*disk, "data.");
    for (uint64_t i = 0; i < 1 + seed * 4; ++i) {
      const std::string path = "/db/" + files[prng.next() % files.size()];
      const uint64_t size = std::min<uint64_t>(size_of(*disk, path), 4 * kMB);
      ASSERT_TRUE(disk->flip_bit(path, prng.next() % size, prng.next() % 8));
    }
    Outcome outcome;
    repair(*disk, &outcome);
    compare(outcome, outcome.report.transactions_dropped > 0);
  }
}

TEST_F(Repair, FlippedBitsInDataWithoutAManifest) {
  for (uint64_t seed = 21; seed <= 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto disk = copy();
    Prng prng(seed);
    for (const std::string& name : named(*disk, "manifest."))
      ASSERT_OK(disk->remove("/db/" + name));
    const std::vector<std::string> files = named(*disk, "data.");
    for (int i = 0; i < 20; ++i) {
      const std::string path = "/db/" + files[prng.next() % files.size()];
      const uint64_t size = std::min<uint64_t>(size_of(*disk, path), 4 * kMB);
      ASSERT_TRUE(disk->flip_bit(path, prng.next() % size, prng.next() % 8));
    }
    Outcome outcome;
    repair(*disk, &outcome);
    for (const auto& [name, model] : outcome.holds) {
      for (const auto& [key, value] : model) {
        ASSERT_TRUE(kept_.ever[name][key].contains(value)) << name << " " << key << " is new";
      }
    }
  }
}

TEST_F(Repair, MissingSegmentsOfTheLog) {
  const std::vector<std::string> segments =
      named(*disk_.after_crash(1, testing::CrashKind::kProcessKill), "wal.0");
  ASSERT_GE(segments.size(), 2U);
  for (const std::string& name : segments) {
    SCOPED_TRACE(name);
    const auto disk = copy();
    ASSERT_OK(disk->remove("/db/" + name));
    Outcome outcome;
    repair(*disk, &outcome);
    EXPECT_FALSE(outcome.report.scanned);
    if (!has(outcome.report, RepairLoss::Kind::kLogGap)) {
      for (const std::string& tree : kTrees) EXPECT_TRUE(outcome.holds[tree] == kept_.now[tree]);
    }
    compare(outcome, true);
  }
}

TEST_F(Repair, FlippedBitsInTheLog) {
  for (uint64_t seed = 31; seed <= 38; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto disk = copy();
    Prng prng(seed);
    // The ring may hold what a segment has, too.
    ASSERT_OK(disk->remove("/db/wal.ring"));
    const std::vector<std::string> segments = named(*disk, "wal.0");
    for (int i = 0; i < 4; ++i) {
      const std::string path = "/db/" + segments[prng.next() % segments.size()];
      ASSERT_TRUE(disk->flip_bit(path, prng.next() % kMB, prng.next() % 8));
    }
    if (seed % 2 == 0) cut(*disk, "/db/" + segments.back(), 300'001);
    Outcome outcome;
    repair(*disk, &outcome);
    compare(outcome, true);
  }
}

TEST_F(Repair, NothingButTheLogIsLeft) {
  const auto disk = copy();
  const std::vector<std::string> names = disk->list("/db").value();
  for (const std::string& name : names) {
    if (!name.starts_with("wal.")) ASSERT_OK(disk->remove("/db/" + name));
  }
  Outcome outcome;
  repair(*disk, &outcome);
  for (const auto& [name, model] : outcome.holds) EXPECT_TRUE(name.starts_with("tree-")) << name;
  size_t found = 0;
  for (const auto& [name, model] : outcome.holds) found += model.size();
  EXPECT_GE(found, whole_.size());
}

}  // namespace
}  // namespace hawthorn::tests
