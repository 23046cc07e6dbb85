// The phases that make backups, against the in-memory double and one whose backups lack entries.

#include "bench/backup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "bench/bank.h"
#include "bench/engine_memory.h"
#include "testing/temp_directory.h"

namespace hawthorn::bench {
namespace {

class BackupTest : public ::testing::Test {
 protected:
  BackupTest() {
    context_.engine_name = "double";
    context_.config.path = directory_.path();
    context_.report = &report_;
  }

  const hawthorn::testing::TempDirectory directory_;
  RunContext context_;
  Report report_;
};

TEST_F(BackupTest, PassesOnARightEngine) {
  MemoryEngine engine;
  run_backup(context_, {.records = 5000, .value_bytes = 100, .rounds = 2}, engine);
  EXPECT_TRUE(report_.ok()) << (report_.ok() ? "" : report_.failures()[0]);
  for (const char* phase : {"disk_write", "disk_read", "backup", "restore"}) {
    EXPECT_GT(report_.value(phase, "bytes_per_s"), 0) << phase;
  }
  EXPECT_GT(report_.value("backup", "part_of_disk"), 0);
  EXPECT_EQ(report_.value("verify", "bytes_raw"), 5000.0 * 108);
}

TEST_F(BackupTest, CatchesABackupWithoutAnEntry) {
  MemoryEngine engine(Fault::kSkipsInBackup);
  run_backup(context_, {.records = 5000, .value_bytes = 100, .rounds = 1}, engine);
  EXPECT_FALSE(report_.ok());
}

TEST_F(BackupTest, OfTheBankLeavesItRight) {
  const AccountNames names(2000, 12345, "/nonexistent");
  MemoryEngine engine;
  run_bank(context_,
           {.accounts = names.count(),
            .transactions = 20'000,
            .batch_size = 10,
            .with_reader = false,
            .backup_rate = 1'000'000'000},
           names, engine);
  EXPECT_TRUE(report_.ok()) << (report_.ok() ? "" : report_.failures()[0]);
  EXPECT_GT(report_.value("write_backup", "tx_per_s"), 0);
  EXPECT_GT(report_.value("write_backup", "bytes_per_s"), 0);
}

}  // namespace
}  // namespace hawthorn::bench
