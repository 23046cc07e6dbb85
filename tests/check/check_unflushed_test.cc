// Large values that only the log and the deltas name: the check reads them like those of runs.

#include <algorithm>
#include <iterator>

#include "os/test_point.h"
#include "tests/check/every_kind.h"
#include "tree/container.h"

namespace hawthorn::tests {
namespace {

using Kind = CheckItem::Kind;
using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using Extents = std::vector<format::ExtentAddress>;

// Whether the database is encrypted.
class CheckUnflushed : public ::testing::TestWithParam<bool> {
 protected:
#if defined(HAWTHORN_TEST_POINTS)
  ~CheckUnflushed() override { os::clear_test_points(); }
#endif

  static bool encrypted() { return GetParam(); }
  static CheckReport check(Db& db, const CheckOptions& options = {}) {
    Result<CheckReport> report = db.check(options);
    EXPECT_OK(report.status());
    return std::move(report).value();
  }
  // Where the large values of a tree lie, as the manifest says it once a copy has flushed them.
  static Extents extents_of(SimDisk& disk, const std::string& name) {
    const auto copy = disk.after_crash(1, CrashKind::kProcessKill);
    SimMachine machine(*copy, 3);
    auto db = open_every_kind(machine, false, encrypted());
    EXPECT_OK(db.status());
    EXPECT_OK((*db)->flush());
    EXPECT_OK((*db)->close());
    db->reset();
    Extents found;
    os::Machine reader = machine.machine();
    os::DataKeys keys;
    const std::string directory = "/db";
    const Encryption encryption = encryption_of();
    db::KeyStore store(reader, directory, encryption);
    if (encrypted()) {
      const auto superblock =
          format::choose_superblock(read_file(*copy, "/db/superblock", 0, 8192), nullptr);
      EXPECT_OK(superblock.status());
      EXPECT_OK(store.load(superblock->uuid_low, superblock->uuid_high, &keys));
      reader.keys = &keys;
    }
    const auto loaded = db::Manifest::load(reader, directory, nullptr);
    EXPECT_OK(loaded.status());
    for (const auto& [id, record] : loaded->state.containers) {
      if (loaded->state.trees.at(record.tree).name != name) continue;
      found.insert(found.end(), record.large.begin(), record.large.end());
    }
    return found;
  }
  // Exactly this is told, of this key.
  static void expect_told(const CheckReport& report, const format::ExtentAddress& extent,
                          uint64_t offset, const std::string& tree, const std::string& key) {
    ASSERT_EQ(report.items.size(), 1u)
        << (report.ok() ? "nothing" : report.errors.front() + "\n" + report.errors.back());
    const CheckItem& item = report.items.front();
    EXPECT_EQ(item.kind, Kind::kChecksum);
    EXPECT_EQ(item.file, "data." + std::to_string(extent.file));
    const uint64_t place = place_of(extent, offset);
    EXPECT_TRUE(place >= item.offset && place < item.offset + item.bytes) << item.to_string();
    EXPECT_EQ(item.tree_name, tree);
    EXPECT_NE(item.container, 0u);
    EXPECT_NE(item.what.find("large value"), std::string::npos) << item.what;
    EXPECT_NE(item.what.find("of key " + hawthorn::tree::quoted_key(key)), std::string::npos)
        << item.what;
  }
  static void flip(SimDisk& disk, const format::ExtentAddress& extent, uint64_t offset) {
    ASSERT_TRUE(disk.flip_bit(data_path(extent), place_of(extent, offset), offset % 8));
  }

  // A database with nothing in any run, open.
  void open_empty() {
    auto opened = open_every_kind(machine_, false, encrypted());
    ASSERT_OK(opened.status());
    db_ = std::move(opened).value();
    tree_ = every_kind::tree(*db_, "t");
  }

  SimDisk disk_{7};
  SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
  Tree tree_;
};

TEST_P(CheckUnflushed, of_a_database_that_was_killed) {
  static const EveryKind kKilled[] = {EveryKind(Left::kKilled, false),
                                      EveryKind(Left::kKilled, true)};
  const EveryKind& killed = kKilled[encrypted() ? 1 : 0];
  const Extents extents = extents_of(*killed.disk, "late");
  ASSERT_EQ(extents.size(), 1u);
  for (const bool read_only : {false, true}) {
    for (const uint64_t offset : {uint64_t{0}, uint64_t{50'000}, uint64_t{89'999}}) {
      SCOPED_TRACE((read_only ? "read-only, " : "read-write, ") + std::to_string(offset));
      const auto disk = killed.copy();
      flip(*disk, extents.front(), offset);
      SimMachine machine(*disk, 2);
      auto db = open_every_kind(machine, read_only, encrypted());
      ASSERT_OK(db.status());
      expect_told(check(**db), extents.front(), offset, "late", key_of(70));
      EXPECT_TRUE(check(**db, {.verify_values = false}).ok());
      const Tree late = (*db)->find_tree("late").value();
      Value value;
      const Status read = (*db)->get(late, key_of(70), value);
      EXPECT_TRUE(read.is(StatusCode::kCorruption)) << read.to_string();
    }
  }
}

TEST_P(CheckUnflushed, of_a_live_database) {
  open_empty();
  ASSERT_OK(db_->put(tree_, "a", value_of(1, 200'000)));
  ASSERT_OK(db_->put(tree_, "b", value_of(2, 300)));
  const Extents extents = extents_of(disk_, "t");
  ASSERT_EQ(extents.size(), 1u);
  const CheckReport whole = check(*db_);
  EXPECT_TRUE(whole.ok()) << whole.errors.front();
  EXPECT_GE(whole.large_values, 1u);
  EXPECT_GE(whole.blocks_verified, extents.front().blocks);
  flip(disk_, extents.front(), 150'000);
  expect_told(check(*db_), extents.front(), 150'000, "t", "a");
  EXPECT_EQ(check(*db_, {.threads = 3}).items.size(), 1u);
  // The same once it is flushed, as the run's.
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  const CheckReport flushed = check(*db_);
  ASSERT_EQ(flushed.items.size(), 1u);
  EXPECT_EQ(flushed.items.front().what.find("not flushed"), std::string::npos);
}

// Versions that share an extent: it is read, and told, once.
TEST_P(CheckUnflushed, of_versions_that_share_extents) {
  open_empty();
  ASSERT_OK(db_->put(tree_, "a", value_of(1, 2'000'000)));
  const Extents first = extents_of(disk_, "t");
  ASSERT_EQ(first.size(), 1u);
  ASSERT_OK(db_->write_part(tree_, "a", 50'000, value_of(2, 21'000)));
  const Extents both = extents_of(disk_, "t");
  ASSERT_EQ(both.size(), 2u);
  const CheckReport whole = check(*db_);
  EXPECT_TRUE(whole.ok()) << whole.errors.front();
  EXPECT_EQ(whole.large_values, 2u);
  flip(disk_, first.front(), 1'500'000);
  expect_told(check(*db_), first.front(), 1'500'000, "t", "a");
  flip(disk_, first.front(), 1'500'000);
  // The one of the change alone.
  const auto& added = both.front() == first.front() ? both.back() : both.front();
  flip(disk_, added, 1000);
  expect_told(check(*db_), added, 1000, "t", "a");
  flip(disk_, added, 1000);
  // What the run has and a version in the delta shares, once as well.
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->drain());
  ASSERT_OK(db_->write_part(tree_, "a", 1'800'000, value_of(3, 5000)));
  EXPECT_TRUE(check(*db_).ok());
  flip(disk_, first.front(), 1'500'000);
  EXPECT_EQ(check(*db_).items.size(), 1u);
}

TEST_P(CheckUnflushed, of_open_transactions_is_left_alone) {
  open_empty();
  auto transaction = db_->begin(TxnMode::kOptimistic);
  ASSERT_OK(transaction.status());
  ASSERT_OK(transaction->put(tree_, "a", value_of(1, 200'000)));
  EXPECT_EQ(check(*db_).large_values, 0u);
  ASSERT_OK(transaction->commit());
  EXPECT_EQ(check(*db_).large_values, 1u);
  ASSERT_OK(db_->drop_tree("t"));
  EXPECT_EQ(check(*db_).large_values, 0u);
}

#if defined(HAWTHORN_TEST_POINTS)
// A mismatch was seen, and before anything is said of it, the version goes to a run: it is told.
TEST_P(CheckUnflushed, that_are_flushed_meanwhile) {
  open_empty();
  ASSERT_OK(db_->put(tree_, "a", value_of(1, 200'000)));
  const Extents extents = extents_of(disk_, "t");
  ASSERT_EQ(extents.size(), 1u);
  flip(disk_, extents.front(), 1000);
  int met = 0;
  os::set_test_point("check.unflushed_mismatch", [&] {
    if (++met > 1) return;
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drain());
  });
  expect_told(check(*db_), extents.front(), 1000, "t", "a");
  EXPECT_EQ(met, 1);
}

// It is replaced, and its extents are used by others: that is no damage.
TEST_P(CheckUnflushed, that_are_replaced_meanwhile) {
  open_empty();
  ASSERT_OK(db_->put(tree_, "a", value_of(1, 200'000)));
  const Extents extents = extents_of(disk_, "t");
  ASSERT_EQ(extents.size(), 1u);
  flip(disk_, extents.front(), 1000);
  int met = 0;
  os::set_test_point("check.unflushed_mismatch", [&] {
    ++met;
    ASSERT_OK(db_->put(tree_, "a", value_of(2, 100'000)));
    ASSERT_OK(db_->flush());
    ASSERT_OK(db_->drain());
  });
  const CheckReport report = check(*db_);
  EXPECT_TRUE(report.ok()) << report.errors.front();
  EXPECT_EQ(met, 1);
}

// So is what goes with its tree.
TEST_P(CheckUnflushed, whose_tree_is_dropped_meanwhile) {
  open_empty();
  ASSERT_OK(db_->put(tree_, "a", value_of(1, 200'000)));
  const Extents extents = extents_of(disk_, "t");
  ASSERT_EQ(extents.size(), 1u);
  flip(disk_, extents.front(), 1000);
  os::set_test_point("check.unflushed_mismatch", [&] { ASSERT_OK(db_->drop_tree("t")); });
  const CheckReport report = check(*db_);
  EXPECT_TRUE(report.ok()) << report.errors.front();
}
#endif

INSTANTIATE_TEST_SUITE_P(Databases, CheckUnflushed, ::testing::Bool(), [](const auto& encrypted) {
  return encrypted.param ? "Encrypted" : "Plain";
});

}  // namespace
}  // namespace hawthorn::tests
