// Repairs of what other trees have: versions and merges, packed blocks, layers' neighbours, names.

#include <map>

#include "base/prng.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "hawthorn/repair.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests::repair_kinds_test {
namespace {

constexpr size_t kMB = size_t{1} << 20;

Options kinds_options() {
  Options options;
  options.memory_budget_bytes = 32 * kMB;
  options.durability = Durability::kNone;
  options.merge_operators = {append_with("")};
  return options;
}

class RepairKinds : public ::testing::Test {
 protected:
  void SetUp() override {
    db::log_segment_bytes = kMB;
    db::data_file_bytes_first = 4 * kMB;
    auto db = Db::open_on(machine_.machine(), "/db", kinds_options());
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }
  void TearDown() override {
    db_.reset();
    db::log_segment_bytes = 64 * kMB;
    db::data_file_bytes_first = 64 * kMB;
  }
  // The databases of before are closed without flushing.
  void repair(testing::SimDisk& disk, RepairReport* report, std::unique_ptr<Db>* fixed) {
    machines_.push_back(std::make_unique<testing::SimMachine>(disk, 7));
    RepairOptions options;
    options.database = kinds_options();
    auto made = Db::repair_on(machines_.back()->machine(), "/db", "/fixed", options);
    ASSERT_OK(made.status());
    *report = *made;
    auto db = Db::open_on(machines_.back()->machine(), "/fixed", kinds_options());
    ASSERT_OK(db.status());
    *fixed = std::move(*db);
    auto checked = (*fixed)->check();
    ASSERT_OK(checked.status());
    EXPECT_TRUE(checked->ok()) << checked->errors.front();
  }
  std::unique_ptr<testing::SimDisk> copy() {
    return disk_.after_crash(1, testing::CrashKind::kProcessKill);
  }
  static std::string get(Db& db, const std::string& tree, std::string_view key,
                         const Snapshot* snapshot = nullptr) {
    Value value;
    const Result<Tree> of = db.find_tree(tree);
    if (!of.ok()) return "no tree";
    const Status s = db.get(*of, key, value, {.snapshot = snapshot});
    return s.ok() ? value.to_string() : std::string(status_code_name(s.code()));
  }

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
  std::vector<std::unique_ptr<testing::SimMachine>> machines_;
  std::unique_ptr<Db> db_;
};

TEST_F(RepairKinds, MergesAndNamedSnapshotsStay) {
  const Tree tree = db_->tree("m").value();
  ASSERT_OK(db_->set_merge_operator(tree, "append"));
  ASSERT_OK(db_->put(tree, "k", "a"));
  ASSERT_OK(db_->create_snapshot("before"));
  ASSERT_OK(db_->merge(tree, "k", "b"));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->merge(tree, "k", "c"));
  ASSERT_OK(db_->sync());
  for (const bool manifest : {true, false}) {
    const auto disk = copy();
    if (!manifest) {
      const std::vector<std::string> names = disk->list("/db").value();
      for (const std::string& name : names) {
        if (name.starts_with("manifest.")) ASSERT_OK(disk->remove("/db/" + name));
      }
    }
    RepairReport report;
    std::unique_ptr<Db> fixed;
    repair(*disk, &report, &fixed);
    if (manifest) {
      EXPECT_TRUE(report.ok());
      const Result<Snapshot> snapshot = fixed->open_snapshot("before");
      ASSERT_OK(snapshot.status());
      EXPECT_EQ(get(*fixed, "m", "k", &*snapshot), "a");
    } else {
      ASSERT_OK(fixed->set_merge_operator(fixed->find_tree("m").value(), "append"));
    }
    EXPECT_EQ(get(*fixed, "m", "k").substr(0, 2), "ab");
    if (manifest) {
      EXPECT_EQ(get(*fixed, "m", "k"), "abc");
    }
    fixed.reset();
  }
}

TEST_F(RepairKinds, PackedBlocksOfDamagedContainers) {
  const Tree tree = db_->tree("z").value();
  ASSERT_OK(db_->set_compression(tree, Compression::kLz4));
  std::map<std::string, std::string> model;
  for (int i = 0; i < 4000; ++i) {
    const std::string key = "key" + std::to_string(100'000 + i);
    model[key] = std::string(300, static_cast<char>('a' + i % 20)) + std::to_string(i);
    ASSERT_OK(db_->put(tree, key, model[key]));
  }
  ASSERT_OK(db_->flush());
  size_t damaged = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const auto disk = copy();
    Prng prng(seed);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(disk->flip_bit("/db/data.0", prng.next() % (kMB / 4), prng.next() % 8));
    }
    RepairReport report;
    std::unique_ptr<Db> fixed;
    repair(*disk, &report, &fixed);
    size_t lost = 0;
    for (const auto& [key, value] : model) {
      const std::string got = get(*fixed, "z", key);
      if (got == value) continue;
      ++lost;
      EXPECT_EQ(got, "NotFound");
      bool named = false;
      for (const RepairLoss& loss : report.losses) {
        named |= loss.kind == RepairLoss::Kind::kKeyRange && loss.tree == "z" && key >= loss.low &&
                 (!loss.high.has_value() || key < *loss.high);
      }
      EXPECT_TRUE(named) << key;
    }
    // What was hit may also be the container of the catalog, or a block that no entry needs.
    EXPECT_TRUE(lost == 0 || report.containers_damaged > 0);
    damaged += lost;
    fixed.reset();
  }
  EXPECT_GT(damaged, 0U);
  EXPECT_LT(damaged, 8 * model.size());
}

TEST_F(RepairKinds, TreesWhoseNamesAreLost) {
  ASSERT_OK(db_->put(db_->tree("named").value(), "k", "v"));
  ASSERT_OK(db_->close());
  db_.reset();
  const auto disk = copy();
  // Whatever lies in the first blocks: the catalog is among it, and all of its runs are damaged.
  const uint64_t size = disk->open_file("/db/data.0", {}).value()->size().value();
  size_t runs = 0;
  for (uint64_t at = 0; at < size; at += 4096) {
    char head[32];
    ASSERT_OK(disk->open_file("/db/data.0", {}).value()->read_at(at, head));
    uint32_t tree = 1;
    std::memcpy(&tree, head + 24, sizeof(tree));
    if (std::string_view(head, 8) != "HWTHNRUN" || tree != 0) continue;
    ASSERT_TRUE(disk->flip_bit("/db/data.0", at + 800, 1));
    ++runs;
  }
  ASSERT_GT(runs, 0U);
  RepairReport report;
  std::unique_ptr<Db> fixed;
  repair(*disk, &report, &fixed);
  // The manifest has the name, too.
  EXPECT_EQ(get(*fixed, "named", "k") == "v" || get(*fixed, "tree-1", "k") == "v", true);
  bool told = false;
  for (const RepairLoss& loss : report.losses) told |= loss.kind == RepairLoss::Kind::kTree;
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace hawthorn::tests::repair_kinds_test
