// Repairs that meet what they must not pass over: reads that fail the second time, targets in the
// source, headers that nothing vouches for, prepared transactions, limits.

#include <filesystem>
#include <map>

#include "base/prng.h"
#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "db/repair_run.h"
#include "db/repair_target.h"
#include "format/manifest_record.h"
#include "hawthorn/repair.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"
#include "tests/support/ingest_test.h"
#include "txn/spill_sizing.h"

namespace hawthorn::tests {
namespace {

constexpr size_t kMB = size_t{1} << 20;

Options fault_options() {
  Options options;
  options.memory_budget_bytes = 32 * kMB;
  options.durability = Durability::kNone;
  options.merge_operators = {append_with("")};
  return options;
}

class RepairFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    db::log_segment_bytes = kMB / 2;
    db::data_file_bytes_first = 2 * kMB;
    open();
  }
  void TearDown() override {
    db_.reset();
    db::log_segment_bytes = 64 * kMB;
    db::data_file_bytes_first = 64 * kMB;
    txn::memory_share_max = ~size_t{0};
  }
  void open() {
    db_.reset();
    auto db = Db::open_on(machine_.machine(), "/db", fault_options());
    ASSERT_OK(db.status());
    db_ = std::move(*db);
  }
  std::string noise(size_t bytes) {
    std::string value(bytes, '\0');
    for (char& c : value) c = static_cast<char>(prng_.next());
    return value;
  }
  static std::string key(uint64_t number) {
    return std::string("k").append(std::to_string(100'000 + number));
  }
  void put(const std::string& key, size_t bytes) {
    const std::string value = noise(bytes);
    ASSERT_OK(db_->put(db_->tree("t").value(), key, value));
    model_[key] = value;
  }
  // Some in containers, some in the log alone.
  void fill() {
    for (uint64_t i = 0; i < 300; ++i) put(key(i), 200);
    ASSERT_OK(db_->flush());
    for (uint64_t i = 200; i < 320; ++i) put(key(i), 200);
    ASSERT_OK(db_->sync());
  }
  std::unique_ptr<testing::SimDisk> copy() {
    return disk_.after_crash(1, testing::CrashKind::kProcessKill);
  }
  static Result<RepairReport> repair(testing::SimDisk& disk, const RepairOptions& more = {}) {
    testing::SimMachine machine(disk, 5);
    RepairOptions options = more;
    options.database = fault_options();
    return Db::repair_on(machine.machine(), "/db", "/fixed", options);
  }
  static bool told(const RepairReport& report, const std::string& part) {
    for (const RepairLoss& loss : report.losses) {
      if (loss.what.find(part) != std::string::npos || loss.file == part) return true;
    }
    return false;
  }
  Contents read(testing::SimDisk& disk) {
    testing::SimMachine machine(disk, 9);
    auto db = Db::open_on(machine.machine(), "/fixed", fault_options());
    EXPECT_OK(db.status());
    if (!db.ok()) return {};
    const Result<Tree> tree = (*db)->find_tree("t");
    return tree.ok() ? read_all(**db, *tree) : Contents();
  }
  static std::string bytes_of(testing::SimDisk& disk, const std::string& path) {
    auto file = disk.open_file(path, {.read_only = true});
    std::string bytes(file.ok() ? (*file)->size().value() : 0, '\0');
    if (!bytes.empty()) EXPECT_OK((*file)->read_at(0, {bytes.data(), bytes.size()}));
    return bytes;
  }

  testing::SimDisk disk_{1};
  testing::SimMachine machine_{disk_, 1};
  std::unique_ptr<Db> db_;
  Contents model_;
  Prng prng_{3};
};

// Whatever read it is from which on nothing can be read any more.
TEST_F(RepairFaults, WhatCannotBeReadAnyMoreIsAnErrorOrNamed) {
  fill();
  size_t errors = 0;
  size_t named = 0;
  for (const char* part : {"/db/wal.0", "/db/wal.ring", "/db/data."}) {
    for (uint64_t nth = 1; nth < 60; nth += nth < 12 ? 1 : 9) {
      SCOPED_TRACE(part + std::string(" from read ") + std::to_string(nth));
      const auto disk = copy();
      disk->fail_path(part, testing::SimOp::kRead, nth, StatusCode::kIoError, true);
      const Result<RepairReport> report = repair(*disk);
      disk->clear_faults();
      if (!report.ok()) {
        EXPECT_TRUE(report.status().is(StatusCode::kIoError)) << report.status().to_string();
        // What is half made is not taken for a database.
        testing::SimMachine machine(*disk, 6);
        EXPECT_FALSE(Db::open_on(machine.machine(), "/fixed", fault_options()).ok());
        ++errors;
        continue;
      }
      const bool whole = static_cast<bool>(same(read(*disk), model_));
      EXPECT_TRUE(whole || !report->losses.empty());
      named += report->losses.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(errors, 0U);
  EXPECT_GT(named, 0U);
}

// The last commits are in the ring alone.
TEST_F(RepairFaults, ABadBlockOfTheRingTakesNothingElse) {
  for (uint64_t i = 0; i < 50; ++i) put(key(i), 200);
  const auto disk = copy();
  disk->fail_path("/db/wal.ring", testing::SimOp::kRead, 1, StatusCode::kIoError, true);
  const Result<RepairReport> report = repair(*disk);
  disk->clear_faults();
  ASSERT_OK(report.status());
  EXPECT_TRUE(told(*report, "wal.ring"));
  EXPECT_FALSE(report->ok());
}

TEST_F(RepairFaults, ALastRecordThatIsDamagedIsNamed) {
  for (uint64_t i = 0; i < 50; ++i) put(key(i), 200);
  const std::string last = model_.rbegin()->second;
  const size_t value = bytes_of(disk_, "/db/wal.ring").find(last);
  ASSERT_NE(value, std::string::npos);
  size_t header = value / 8 * 8;  // of the last record: its lsn is its place, as the ring is new
  while (header > 0) {
    uint64_t lsn = 0;
    std::memcpy(&lsn, bytes_of(disk_, "/db/wal.ring").data() + header + 8, 8);
    if (lsn % bytes_of(disk_, "/db/wal.ring").size() == header && lsn != 0) break;
    header -= 8;
  }
  for (const size_t at : {value + 3, header + 9, header + 24, header + 1}) {
    SCOPED_TRACE(at);
    const auto disk = copy();
    ASSERT_TRUE(disk->flip_bit("/db/wal.ring", at, 2));
    const Result<RepairReport> report = repair(*disk);
    ASSERT_OK(report.status());
    EXPECT_EQ(read(*disk).size(), model_.size() - 1);
    EXPECT_TRUE(told(*report, "the last record is damaged"));
  }
}

TEST_F(RepairFaults, ARingThatWasCutOffIsReadByItsRecords) {
  while (db_->snapshot().timestamp() < 7 * kMB) put(key(prng_.next() % 400), 3000);
  const auto disk = copy();
  const uint64_t size = bytes_of(*disk, "/db/wal.ring").size();
  ASSERT_OK(disk->open_file("/db/wal.ring", {}).value()->truncate(size - 100));
  const Result<RepairReport> report = repair(*disk);
  ASSERT_OK(report.status());
  EXPECT_TRUE(same(read(*disk), model_));
}

TEST_F(RepairFaults, APreparedTransactionStaysOrIsNamed) {
  txn::memory_share_max = kMB / 8;
  fill();
  const std::string large = noise(100'000);
  {
    auto txn = db_->begin(TxnOptions());
    ASSERT_OK(txn.status());
    ASSERT_OK(txn->put(db_->tree("t").value(), "prepared", large));
    ASSERT_OK(txn->prepare("p1"));
  }
  ASSERT_OK(db_->close());
  open();
  // Of another process, and with the number that the other one had.
  {
    auto txn = db_->begin(TxnOptions());
    ASSERT_OK(txn.status());
    for (uint64_t i = 0; i < 900; ++i) {
      const std::string value = noise(200);
      ASSERT_OK(txn->put(db_->tree("t").value(), key(i), value));
      model_[key(i)] = value;
    }
    ASSERT_OK(txn->commit());
  }
  ASSERT_OK(db_->sync());
  for (const bool damaged : {false, true}) {
    SCOPED_TRACE(damaged);
    const auto disk = copy();
    if (damaged) {
      size_t flipped = 0;
      for (int file = 0; file < 4; ++file) {
        const std::string path = "/db/data." + std::to_string(file);
        const size_t at = bytes_of(*disk, path).find(large.substr(5000, 200));
        if (at != std::string::npos && disk->flip_bit(path, at, 1)) ++flipped;
      }
      ASSERT_GT(flipped, 0U);
    }
    const Result<RepairReport> report = repair(*disk);
    ASSERT_OK(report.status());
    EXPECT_EQ(report->ok(), !damaged);
    EXPECT_EQ(told(*report, "prepared as \"p1\""), damaged);
    testing::SimMachine machine(*disk, 8);
    auto db = Db::open_on(machine.machine(), "/fixed", fault_options());
    ASSERT_OK(db.status());
    EXPECT_EQ((*db)->prepared()->size(), damaged ? 0U : 1U);
    EXPECT_TRUE(same(read_all(**db, (*db)->find_tree("t").value()), model_));
    if (damaged) continue;
    ASSERT_OK((*db)->commit_prepared("p1"));
    Value value;
    ASSERT_OK((*db)->get((*db)->find_tree("t").value(), "prepared", value));
    EXPECT_TRUE(value.view() == large);
  }
}

TEST_F(RepairFaults, AHeaderThatTheManifestContradictsIsNotBelieved) {
  fill();
  ASSERT_OK(db_->close());
  const std::string bytes = bytes_of(disk_, "/db/data.0");
  RepairOptions options;
  options.ignore_manifest = true;
  size_t runs = 0;
  for (size_t at = 0; at < bytes.size(); at += 4096) {
    if (bytes.compare(at, 8, "HWTHNRUN") != 0) continue;
    ++runs;
    for (const size_t field : {size_t{16}, size_t{24}, size_t{33}}) {
      SCOPED_TRACE(std::to_string(at) + " " + std::to_string(field));
      const auto disk = copy();
      ASSERT_TRUE(disk->flip_bit("/db/data.0", at + field, 3));
      const Result<RepairReport> report = repair(*disk, options);
      ASSERT_OK(report.status());
      bool named = false;
      for (const RepairLoss& loss : report->losses) {
        named |= loss.file == "data.0" && loss.offset == at;
      }
      EXPECT_TRUE(named);
    }
  }
  EXPECT_GT(runs, 1U);
  // Without any manifest nothing vouches, which is told.
  const auto disk = copy();
  const std::vector<std::string> names = disk->list("/db").value();
  for (const std::string& name : names) {
    if (name.starts_with("manifest.")) ASSERT_OK(disk->remove("/db/" + name));
  }
  const Result<RepairReport> report = repair(*disk);
  ASSERT_OK(report.status());
  EXPECT_GT(report->containers_unvouched, 0U);
  EXPECT_TRUE(same(read(*disk), model_));
}

TEST_F(RepairFaults, AManifestWithoutABatchDoesNotHideTheOneBefore) {
  const Tree tree = db_->tree("t").value();
  ASSERT_OK(db_->set_merge_operator(tree, "append"));
  ASSERT_OK(db_->merge(tree, "k", "a"));
  ASSERT_OK(db_->flush());
  ASSERT_OK(db_->merge(tree, "k", "b"));
  ASSERT_OK(db_->sync());
  const auto disk = copy();
  ASSERT_OK(disk->remove("/db/superblock"));
  const std::string header = format::encode_manifest_header({1, 2, 99, 3});
  for (const size_t more : {size_t{0}, size_t{4096}}) {
    auto file = disk->open_file("/db/manifest.99", {.create = true});
    ASSERT_OK(file.status());
    ASSERT_OK((*file)->write_at(0, header + std::string(more, '\0')));
    const auto again = disk->after_crash(1, testing::CrashKind::kProcessKill);
    const Result<RepairReport> report = repair(*again);
    ASSERT_OK(report.status());
    // The operator stands in the manifest alone.
    EXPECT_TRUE(report->opened) << report->open_error;
    EXPECT_EQ(read(*again)["k"], "ab");
  }
}

TEST_F(RepairFaults, WhatWasNotOpenedIsNotOk) {
  const Tree tree = db_->tree("t").value();
  ASSERT_OK(db_->set_merge_operator(tree, "append"));
  ASSERT_OK(db_->merge(tree, "k", "a"));
  ASSERT_OK(db_->close());
  const auto disk = copy();
  testing::SimMachine machine(*disk, 5);
  const Result<RepairReport> report = Db::repair_on(machine.machine(), "/db", "/fixed", {});
  ASSERT_OK(report.status());
  EXPECT_TRUE(report->losses.empty());
  EXPECT_FALSE(report->opened || report->ok() || report->open_error.empty());
  EXPECT_EQ(read(*disk)["k"], "a");
}

TEST_F(RepairFaults, ATargetIsMarkedUntilItIsWhole) {
  fill();
  for (uint64_t nth = 1; nth < 12; ++nth) {
    SCOPED_TRACE(nth);
    const auto disk = copy();
    disk->fail_path("/fixed/", testing::SimOp::kWrite, nth, StatusCode::kNoSpace, true);
    const Result<RepairReport> report = repair(*disk);
    disk->clear_faults();
    ASSERT_FALSE(report.ok());
    testing::SimMachine machine(*disk, 6);
    const bool marked = disk->exists("/fixed/copy.incomplete").value();
    auto db = Db::open_on(machine.machine(), "/fixed", fault_options());
    if (marked) {
      EXPECT_TRUE(db.status().is(StatusCode::kCorruption)) << db.status().to_string();
    } else {
      // It was whole, and opening it has failed.
      ASSERT_OK(db.status());
      EXPECT_TRUE(same(read_all(**db, (*db)->find_tree("t").value()), model_));
    }
  }
}

// A power cut at any change that the target's making has made.
TEST_F(RepairFaults, ATargetThatLosesPowerIsWholeOrRefused) {
  fill();
  size_t whole = 0;
  size_t refused = 0;
  bool done = false;
  for (uint64_t nth = 20; !done && nth < 1'000'000; nth += 20 + nth / 5) {
    SCOPED_TRACE(nth);
    const auto disk = copy();
    disk->stop_at(testing::SimOp::kAny, nth);
    done = repair(*disk).ok();
    const auto after = disk->crash(nth, testing::CrashKind::kPowerLoss);
    testing::SimMachine machine(*after, 6);
    Options options = fault_options();
    options.create_if_missing = false;
    auto db = Db::open_on(machine.machine(), "/fixed", options);
    if (!db.ok()) {
      ++refused;
      continue;
    }
    ++whole;
    EXPECT_TRUE(same(read_all(**db, (*db)->find_tree("t").value()), model_));
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(whole, 0U);
}

TEST_F(RepairFaults, SizesAreBounded) {
  fill();
  ASSERT_OK(db_->close());
  const auto disk = copy();
  testing::SimMachine machine(*disk, 5);
  db::RepairSource source(machine.machine(), "/db");
  ASSERT_OK(source.list());
  const uint64_t blocks = source.size_of("data.0") / 4096;
  EXPECT_TRUE(source.holds({0, 0, static_cast<uint32_t>(blocks)}));
  EXPECT_FALSE(source.holds({0, 1, static_cast<uint32_t>(blocks)}));
  EXPECT_FALSE(source.holds({0, ~uint32_t{0}, ~uint32_t{0}}));
  EXPECT_FALSE(source.holds({7, 0, 1}));
  EXPECT_FALSE(source.holds({format::kDeviceFilesFirst, 0, 1}));
  format::ExtentAddress bad;
  format::LargeValue value;
  value.size = 1;
  value.extents = {{0, ~uint32_t{0} - 1, ~uint32_t{0}}};
  EXPECT_FALSE(db::verify_large_value(source, value, &bad));
  db::RepairTarget target(source, "/fixed", 9);
  ASSERT_OK(target.begin());
  EXPECT_TRUE(target.copy({0, ~uint32_t{0} - 1, 7}).is(StatusCode::kIoError));
  EXPECT_FALSE(disk->exists("/fixed/data.0").value());
  const db::RepairDictionaries none;
  const std::string bytes = bytes_of(*disk, "/db/data.0");
  size_t runs = 0;
  for (uint32_t block = 0; block < blocks; ++block) {
    if (bytes.compare(size_t{block} * 4096, 8, "HWTHNRUN") != 0) continue;
    format::ContainerRecord record;
    db::RepairRun enough(source, none, 64 * kMB);
    EXPECT_TRUE(enough.find(0, block, static_cast<uint32_t>(blocks), &record));
    format::ContainerRecord other;
    db::RepairRun little(source, none, 8191);
    EXPECT_FALSE(little.find(0, block, static_cast<uint32_t>(blocks), &other));
    EXPECT_NE(little.why().find("memory"), std::string::npos);
    ++runs;
  }
  EXPECT_GT(runs, 0U);
}

TEST_F(RepairFaults, NoTargetLiesInTheSource) {
  const TempDirectory directory;
  const std::string source = directory / "db";
  {
    auto db = Db::open(source, fault_options());
    ASSERT_OK(db.status());
    ASSERT_OK((*db)->put((*db)->tree("t").value(), "k", "v"));
    ASSERT_OK((*db)->close());
  }
  std::filesystem::create_directory(source + "/below");
  std::filesystem::create_symlink(source + "/below", directory / "link");
  const auto before = std::distance(std::filesystem::recursive_directory_iterator(source),
                                    std::filesystem::recursive_directory_iterator());
  RepairOptions options;
  options.database = fault_options();
  for (const std::string& target :
       {source + "/fixed", source + "//./fixed", source + "/below/fixed", directory / "link/fixed",
        directory / "link/new/fixed", directory / "other/../db/fixed"}) {
    SCOPED_TRACE(target);
    const Status status = Db::repair(source, target, options).status();
    EXPECT_TRUE(status.is(StatusCode::kInvalidArgument)) << status.to_string();
  }
  EXPECT_EQ(before, std::distance(std::filesystem::recursive_directory_iterator(source),
                                  std::filesystem::recursive_directory_iterator()));
  EXPECT_OK(Db::repair(source, directory / "fixed", options).status());
}

}  // namespace
}  // namespace hawthorn::tests
