#pragma once
// What the tests of copies on the simulated machine share: a database in /db, small files, and a
// look at what a copy holds.
//
// Not here: tests. Used by the folder tests/backup only.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "db/file_sizing.h"
#include "db/log_sizing.h"
#include "os/test_point.h"
#include "testing/sim_machine.h"
#include "tests/support/ingest_test.h"

namespace hawthorn::tests {

class SimBackup : public ::testing::Test {
 protected:
  void SetUp() override {
    db::log_segment_bytes = size_t{4} << 20;
    db::data_file_bytes_first = uint64_t{4} << 20;
    db_ = Db::open_on(machine_.machine(), "/db", options()).value();
    tree_ = db_->tree("t").value();
  }
#if defined(HAWTHORN_TEST_POINTS)
  void TearDown() override { os::clear_test_points(); }
  // Runs it once, when the point is reached the first time.
  static void once_at(const std::string& point, std::function<void()> action) {
    os::set_test_point(point, [point, action = std::move(action)] {
      os::set_test_point(point, {});
      action();
    });
  }
#endif

  static Options options(bool create = true) {
    Options options;
    options.memory_budget_bytes = size_t{16} << 20;
    options.durability = Durability::kFull;
    options.create_if_missing = create;
    return options;
  }
  Status open(const std::string& path, bool create = false) {
    return Db::open_on(machine_.machine(), path, options(create)).status();
  }
  std::unique_ptr<BackupRepository> repository() {
    auto opened = BackupRepository::open_on(machine_.machine(), "/repo");
    EXPECT_OK(opened.status());
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  void put_all(const Contents& entries) {
    for (const auto& [key, value] : entries) {
      ASSERT_OK(db_->put(tree_, key, value, Durability::kNone));
    }
    ASSERT_OK(db_->sync());
  }
  Contents contents_of(const std::string& path) {
    auto db = Db::open_on(machine_.machine(), path, options(false));
    EXPECT_OK(db.status());
    if (!db.ok()) return {};
    const Result<CheckReport> report = (*db)->check();
    EXPECT_OK(report.status());
    EXPECT_TRUE(report->ok()) << report->errors.front();
    return read_all(**db, (*db)->find_tree("t").value());
  }

  testing::SimDisk disk_{7};
  const testing::SimMachine machine_{disk_, 8};
  std::unique_ptr<Db> db_;
  Tree tree_;
};

}  // namespace hawthorn::tests
