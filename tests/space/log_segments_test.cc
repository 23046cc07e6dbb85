// The size of the log's segments: less where the disk has little room when the log begins, and one
// for all of them as long as any is there.

#include <utility>

#include "db/log_sizing.h"
#include "hawthorn/repair.h"
#include "testing/sim_machine.h"
#include "tests/support/engine_test.h"
#include "wal/log_directory.h"

namespace hawthorn::tests {
namespace {

using testing::CrashKind;
using testing::SimDisk;
using testing::SimMachine;

constexpr uint64_t kMB = uint64_t{1} << 20;

// As databases have it outside of tests.
class SegmentSizes : public ::testing::Test {
 protected:
  SegmentSizes() : before_(std::exchange(db::log_segment_bytes, 64 * kMB)) {}
  ~SegmentSizes() override { db::log_segment_bytes = before_; }

 private:
  const size_t before_;
};

TEST_F(SegmentSizes, are_told_by_the_start_of_an_epoch) {
  for (uint64_t free_bytes = 0; free_bytes < (uint64_t{4} << 30); free_bytes += 37 * kMB) {
    const size_t bytes = db::segment_bytes_for(free_bytes);
    EXPECT_GE(bytes, 4 * kMB);
    EXPECT_LE(bytes, 64 * kMB);
    EXPECT_TRUE(bytes == 4 * kMB || bytes <= free_bytes / 32);
    for (uint64_t bound = 1; bound < 300 * kMB; bound += 13 * kMB) {
      const format::Lsn start = db::epoch_start_from(bound, bytes);
      EXPECT_GE(start, bound);
      EXPECT_EQ(start % bytes, 0u);
      EXPECT_EQ(db::segment_bytes_of(start), bytes);
    }
  }
  EXPECT_EQ(db::segment_bytes_of(192 * kMB), 64 * kMB);
  EXPECT_EQ(db::segment_bytes_of(kMB), 64 * kMB);  // no log begins there: it is found to be wrong
}

class LogSegments : public SegmentSizes {
 protected:
  void open(const std::string& path = "/db") {
    db_.reset();
    machine_ = std::make_unique<SimMachine>(*disk_, 3);
    Options options;
    options.memory_budget_bytes = 64 * kMB;
    options.durability = Durability::kFull;
    auto db = Db::open_on(machine_->machine(), path, options);
    ASSERT_OK(db.status());
    db_ = std::move(*db);
    tree_ = db_->tree("t").value();
  }
  void put_some() {
    for (int i = 0; i < 30; ++i, ++written_) {
      ASSERT_OK(db_->put(tree_, big_endian(written_), value_of(written_, 60'000)));
    }
  }
  void expect_all() {
    for (uint64_t i = 0; i < written_; ++i) {
      Value value;
      ASSERT_OK(db_->get(tree_, big_endian(i), value));
      ASSERT_EQ(value.view(), value_of(i, 60'000));
    }
    ASSERT_TRUE(clean(*db_));
  }
  void expect_segments_of(uint64_t bytes) {
    size_t found = 0;
    const std::vector<std::string> names = disk_->list("/db").value();
    for (const std::string& name : names) {
      if (!wal::segment_number(name)) continue;
      ++found;
      EXPECT_EQ(disk_->open_file("/db/" + name, {.read_only = true}).value()->size().value(), bytes)
          << name;
    }
    EXPECT_GT(found, 0u);
  }
  // As a kill leaves it.
  void crash() {
    auto after = disk_->crash(1, CrashKind::kProcessKill);
    db_.reset();
    machine_.reset();
    disk_ = std::move(after);
  }

  std::unique_ptr<SimDisk> disk_ = std::make_unique<SimDisk>(1);
  std::unique_ptr<SimMachine> machine_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  uint64_t written_ = 0;
};

TEST_F(LogSegments, follow_the_room_on_the_disk_behind_a_clean_close) {
  disk_->set_capacity(300 * kMB);
  open();
  expect_segments_of(8 * kMB);
  for (int life = 0; life < 3; ++life) {
    for (int i = 0; i < 8; ++i) put_some();
    crash();
    disk_->set_capacity(life == 0 ? 0 : 300 * kMB);
    open();
    expect_segments_of(8 * kMB);
    expect_all();
  }
  disk_->set_capacity(0);
  ASSERT_OK(db_->close());
  open();
  expect_segments_of(64 * kMB);
  put_some();
  crash();
  disk_->set_capacity(300 * kMB);
  open();
  expect_segments_of(64 * kMB);
  expect_all();
}

// With the manifest and without.
TEST_F(LogSegments, of_any_size_are_repaired) {
  for (const bool has_manifest : {true, false}) {
    disk_ = std::make_unique<SimDisk>(2);
    disk_->set_capacity(300 * kMB);
    written_ = 0;
    open();
    for (int i = 0; i < 8; ++i) put_some();
    crash();
    disk_->set_capacity(0);
    const std::vector<std::string> names = disk_->list("/db").value();
    for (const std::string& name : names) {
      if (!has_manifest && (name.starts_with("manifest.") || name == "superblock")) {
        ASSERT_OK(disk_->remove("/db/" + name));
      }
    }
    machine_ = std::make_unique<SimMachine>(*disk_, 3);
    RepairOptions options;
    options.database.memory_budget_bytes = 64 * kMB;
    const auto report = Db::repair_on(machine_->machine(), "/db", "/fixed", options);
    ASSERT_OK(report.status());
    EXPECT_TRUE(report->opened) << report->open_error;
    open("/fixed");
    if (has_manifest) {
      expect_all();
      continue;
    }
    // Whatever its tree is called.
    uint64_t entries = 0;
    const std::vector<std::string> trees = db_->list_trees().value();
    for (const std::string& name : trees) {
      ASSERT_OK(db_->scan(db_->find_tree(name).value(), "", std::nullopt, [&](auto batch) {
        entries += batch.size();
        return true;
      }));
    }
    EXPECT_EQ(entries, written_);
  }
}

}  // namespace
}  // namespace hawthorn::tests
