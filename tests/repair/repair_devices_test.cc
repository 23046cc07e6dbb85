// Repair of databases whose data lie on devices, for which files stand: whole, with a device that
// is lost or of another time, without a manifest; encrypted, too.

#include <algorithm>
#include <map>

#include "db/log_sizing.h"
#include "hawthorn/repair.h"
#include "testing/sim_machine.h"
#include "tests/support/encryption_test.h"
#include "tests/support/engine_test.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;
using Contents = std::map<std::string, std::string>;
constexpr uint64_t kMB = uint64_t{1} << 20;

std::string key_at(uint64_t number) { return big_endian(mix64(number)); }

class RepairDevices : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    db::log_segment_bytes = kMB;
    for (const char* path : {"/one", "/two"}) {
      auto file = disk_.open_file(path, {.create = true});
      ASSERT_OK(file.status());
      ASSERT_OK((*file)->truncate(24 * kMB));
    }
    SimMachine machine(disk_, 1);
    auto db = Db::open_on(machine.machine(), "/db", options({"/one", "/two"}));
    ASSERT_OK(db.status());
    const Tree tree = (*db)->tree("t").value();
    for (uint64_t i = 0; i < 20'000; ++i) {
      if (i == 15'000) ASSERT_OK((*db)->flush());
      const std::string key = key_at(i);
      sure_[key] = value_of(i, i % 400 == 3 ? 100'000 : 700);
      ASSERT_OK((*db)->put(tree, key, sure_[key]));
    }
    ASSERT_OK((*db)->sync());
    killed_ = disk_.after_crash(1, CrashKind::kProcessKill);
  }
  void TearDown() override { db::log_segment_bytes = 64 * kMB; }

  Options options(std::vector<std::string> devices = {}) const {
    Options options;
    options.memory_budget_bytes = 16 * kMB;
    options.durability = Durability::kNone;
    options.devices = std::move(devices);
    if (GetParam()) options.encryption = encryption_of();
    return options;
  }
  std::unique_ptr<SimDisk> copy() { return killed_->after_crash(1, CrashKind::kProcessKill); }
  Result<RepairReport> repair(SimDisk& disk, std::vector<std::string> devices = {}) {
    SimMachine machine(disk, 5);
    RepairOptions repair;
    repair.database = options(std::move(devices));
    const std::string before[] = {bytes_of(disk, "/one"), bytes_of(disk, "/two")};
    auto report = Db::repair_on(machine.machine(), "/db", "/fixed", repair);
    EXPECT_TRUE(before[0] == bytes_of(disk, "/one")) << "a device was written to";
    EXPECT_TRUE(before[1] == bytes_of(disk, "/two")) << "a device was written to";
    return report;
  }
  static std::string bytes_of(SimDisk& disk, const std::string& path) {
    auto file = disk.open_file(path, {.read_only = true});
    if (!file.ok()) return "";
    std::string bytes((*file)->size().value(), '\0');
    EXPECT_OK((*file)->read_at(0, bytes));
    return bytes;
  }
  // Where the target differs a loss names it; it can be written to.
  void compare(SimDisk& disk, const RepairReport& report, size_t* differ) {
    *differ = 0;
    EXPECT_TRUE(report.opened) << report.open_error;
    SimMachine machine(disk, 6);
    auto db = Db::open_on(machine.machine(), "/fixed", options());
    ASSERT_OK(db.status());
    const Tree tree = (*db)->find_tree("t").value();
    for (const auto& [key, expected] : sure_) {
      Value value;
      const Status status = (*db)->get(tree, key, value);
      if (status.ok() && value.view() == expected) continue;
      ASSERT_TRUE(status.is_not_found()) << status.to_string();
      ++*differ;
      const bool named =
          std::any_of(report.losses.begin(), report.losses.end(), [&](const RepairLoss& loss) {
            return loss.kind == RepairLoss::Kind::kKeyRange && loss.tree_id == tree.id() &&
                   key >= loss.low && (!loss.high.has_value() || key < *loss.high);
          });
      ASSERT_TRUE(named || report.scanned) << "a key is missing, and nothing names it";
    }
    ASSERT_OK((*db)->put(tree, "new", std::string(200'000, 'n')));
    ASSERT_OK((*db)->flush());
    ASSERT_TRUE(clean(**db));
    ASSERT_OK((*db)->close());
  }
  static bool lost(const RepairReport& report, const std::string& file, const std::string& part) {
    return std::any_of(report.losses.begin(), report.losses.end(), [&](const RepairLoss& loss) {
      return loss.kind == RepairLoss::Kind::kDataFile && loss.file == file &&
             loss.what.find(part) != std::string::npos;
    });
  }

  SimDisk disk_{1};
  std::unique_ptr<SimDisk> killed_;
  Contents sure_;
};

TEST_P(RepairDevices, OfNothing) {
  for (const auto& devices :
       {std::vector<std::string>{}, std::vector<std::string>{"/two", "/one"}}) {
    const auto disk = copy();
    const auto report = repair(*disk, devices);
    ASSERT_OK(report.status());
    EXPECT_TRUE(report->losses.empty()) << report->losses.front().what;
    EXPECT_TRUE(disk->exists("/fixed/device.2").value());
    size_t differ = 0;
    compare(*disk, *report, &differ);
    EXPECT_EQ(differ, 0u);
  }
}

TEST_P(RepairDevices, LostOnes) {
  for (const std::string path : {"/one", "/two"}) {
    SCOPED_TRACE(path);
    const auto disk = copy();
    ASSERT_OK(disk->remove(path));
    const auto report = repair(*disk);
    ASSERT_OK(report.status());
    EXPECT_FALSE(report->ok());
    EXPECT_TRUE(lost(*report, path, ""));
    size_t differ = 0;
    compare(*disk, *report, &differ);
    EXPECT_LT(differ, sure_.size());
  }
}

// Both slots of a label are gone: at its path it is known, and its blocks vouch for themselves.
TEST_P(RepairDevices, DamagedLabels) {
  const auto disk = copy();
  ASSERT_OK(disk->open_file("/one", {}).value()->write_at(0, std::string(8192, '\xee')));
  const auto report = repair(*disk);
  ASSERT_OK(report.status());
  EXPECT_TRUE(lost(*report, "/one", "label"));
  size_t differ = 0;
  compare(*disk, *report, &differ);
  EXPECT_EQ(differ, 0u);
}

TEST_P(RepairDevices, WithoutAManifest) {
  const auto disk = copy();
  const std::vector<std::string> names = disk->list("/db").value();
  for (const std::string& name : names) {
    if (name.starts_with("manifest.")) ASSERT_OK(disk->remove("/db/" + name));
  }
  const auto refused = repair(*disk);
  EXPECT_TRUE(refused.status().is(StatusCode::kInvalidArgument)) << refused.status().to_string();
  EXPECT_NE(refused.status().message().find("name them"), std::string_view::npos);
  const auto report = repair(*disk, {"/one", "/two"});
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->scanned);
  size_t differ = 0;
  compare(*disk, *report, &differ);
  EXPECT_EQ(differ, 0u);
}

TEST_P(RepairDevices, RefusedOnes) {
  const auto disk = copy();
  {
    SimMachine machine(*disk, 3);
    auto file = disk->open_file("/other", {.create = true});
    ASSERT_OK((*file)->truncate(24 * kMB));
    auto db = Db::open_on(machine.machine(), "/elsewhere", options({"/other"}));
    ASSERT_OK(db.status());
    ASSERT_OK((*db)->close());
  }
  auto report = repair(*disk, {"/one", "/other"});
  EXPECT_TRUE(report.status().is(StatusCode::kInvalidArgument)) << report.status().to_string();
  EXPECT_NE(report.status().message().find("another database"), std::string_view::npos);
  report = repair(*disk, {"/one", "/one"});
  EXPECT_TRUE(report.status().is(StatusCode::kInvalidArgument)) << report.status().to_string();
  EXPECT_FALSE(disk->exists("/fixed").value());
}

// Power is lost at any moment of the repair: the target is refused, or it is whole.
TEST_P(RepairDevices, ATargetThatLosesPowerIsWholeOrRefused) {
  size_t whole = 0;
  size_t refused = 0;
  bool done = false;
  for (uint64_t nth = 3; !done && nth < 1'000'000; nth += 3 + nth / 3) {
    SCOPED_TRACE(nth);
    const auto disk = copy();
    disk->stop_at(testing::SimOp::kAny, nth);
    {
      SimMachine machine(*disk, 5);
      RepairOptions repair;
      repair.database = options();
      done = Db::repair_on(machine.machine(), "/db", "/fixed", repair).ok();
    }
    const auto after = disk->crash(nth, CrashKind::kPowerLoss);
    SimMachine machine(*after, 6);
    Options with = options();
    with.create_if_missing = false;
    auto db = Db::open_on(machine.machine(), "/fixed", with);
    if (!db.ok()) {
      EXPECT_FALSE(done) << db.status().to_string();
      ++refused;
      continue;
    }
    ++whole;
    const Tree tree = (*db)->find_tree("t").value();
    for (const auto& [key, expected] : sure_) {
      Value value;
      ASSERT_OK((*db)->get(tree, key, value));
      ASSERT_TRUE(value.view() == expected);
    }
  }
  EXPECT_GT(refused, 0u);
  EXPECT_GT(whole, 0u);
}

INSTANTIATE_TEST_SUITE_P(PlainAndEncrypted, RepairDevices, ::testing::Bool());

}  // namespace
}  // namespace hawthorn::tests
