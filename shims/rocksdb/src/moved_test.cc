// Databases and backups that were opened by relative paths: they go on where they are, whatever
// becomes of the working directory and of their own names.

#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/options_util.h>

#include <filesystem>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

namespace fs = std::filesystem;
using rocksdb::BackupEngine;

class Moved : public RocksTest {
 protected:
  Moved() {
    path_ = "db";
    fs::create_directory(elsewhere_);
  }

  const std::string elsewhere_ = directory_ + "/elsewhere";
};

TEST_F(Moved, DatabasesTheirOptionsAndBackups) {
  const WorkingDirectory here(directory_);
  open();
  BackupEngine* made = nullptr;
  ASSERT_OK(
      BackupEngine::Open(rocksdb::BackupEngineOptions("backups"), rocksdb::Env::Default(), &made));
  std::unique_ptr<BackupEngine> backups(made);
  {
    const WorkingDirectory there(elsewhere_);
    ASSERT_OK(put("a", "1"));
    ASSERT_OK(db_->Flush({}));
    ASSERT_OK(db_->SetOptions({{"write_buffer_size", "5M"}}));
    ASSERT_OK(backups->CreateNewBackupWithMetadata({}, db_.get(), "first"));
    EXPECT_TRUE(fs::is_empty(elsewhere_));
    fs::rename(directory_ + "/db", directory_ + "/renamed");
    fs::rename(directory_ + "/backups", directory_ + "/kept");
    ASSERT_OK(put("b", "2"));
    ASSERT_OK(db_->Flush({}));
    ASSERT_OK(db_->SetOptions({{"write_buffer_size", "6M"}}));
    ASSERT_OK(backups->CreateNewBackupWithMetadata({}, db_.get(), "second"));
    EXPECT_TRUE(fs::is_empty(elsewhere_));
  }
  backups.reset();
  close();
  EXPECT_FALSE(fs::exists("db"));
  EXPECT_FALSE(fs::exists("backups"));
  path_ = "renamed";
  open();
  EXPECT_EQ(all(), "a=1 b=2 ");
  rocksdb::DBOptions database;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  close();
  ASSERT_OK(rocksdb::LoadLatestOptions({}, "renamed", &database, &families));
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].options.write_buffer_size, options_.write_buffer_size);
  ASSERT_OK(
      BackupEngine::Open(rocksdb::BackupEngineOptions("kept"), rocksdb::Env::Default(), &made));
  backups.reset(made);
  ASSERT_OK(backups->RestoreDBFromLatestBackup("restored", "restored"));
  ASSERT_OK(rocksdb::LoadLatestOptions({}, "restored", &database, &families));
  EXPECT_EQ(families[0].options.write_buffer_size, size_t{6} << 20);
  path_ = "restored";
  open();
  EXPECT_EQ(all(), "a=1 b=2 ");
}

TEST_F(Moved, SecondaryInstances) {
  const WorkingDirectory here(directory_);
  open();
  ASSERT_OK(put("a", "1"));
  std::unique_ptr<rocksdb::DB> secondary;
  ASSERT_OK(rocksdb::DB::OpenAsSecondary(options_, "db", "secondary", &secondary));
  const WorkingDirectory there(elsewhere_);
  fs::rename(directory_ + "/db", directory_ + "/renamed");
  // The follower's view cannot go on behind a transaction so large, and is made anew.
  ASSERT_OK(put("large", std::string(size_t{1} << 20, 'x')));
  ASSERT_OK(put("b", "2"));
  ASSERT_OK(secondary->TryCatchUpWithPrimary());
  std::string value;
  EXPECT_OK(secondary->Get({}, "b", &value));
  EXPECT_EQ(value, "2");
}

}  // namespace
}  // namespace hawthorn::rocks
