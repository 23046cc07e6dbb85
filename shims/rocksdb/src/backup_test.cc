// Backups: rocksdb::BackupEngine and BackupEngineReadOnly.

#include <rocksdb/rate_limiter.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/transaction_db.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

namespace fs = std::filesystem;
using rocksdb::BackupEngine;
using rocksdb::BackupEngineOptions;
using rocksdb::BackupEngineReadOnly;
using rocksdb::BackupID;
using rocksdb::Env;
using rocksdb::IOStatus;
using rocksdb::RestoreOptions;

class Backups : public RocksTest {
 protected:
  Backups() : backup_options_(directory_ + "/backups") {}
  ~Backups() override { engine_.reset(); }

  IOStatus try_open_engine() {
    engine_.reset();
    BackupEngine* engine = nullptr;
    IOStatus s = BackupEngine::Open(backup_options_, Env::Default(), &engine);
    engine_.reset(engine);
    return s;
  }
  rocksdb::Status try_open_reader() {
    reader_.reset();
    BackupEngineReadOnly* reader = nullptr;
    IOStatus s = BackupEngineReadOnly::Open(Env::Default(), backup_options_, &reader);
    reader_.reset(reader);
    return s;
  }
  // Writes a=VALUE and backs it up.
  BackupID make(const std::string& value, const std::string& metadata = "") {
    BackupID id = 0;
    EXPECT_OK(put("a", value));
    EXPECT_OK(engine_->CreateNewBackupWithMetadata({}, db_.get(), metadata, &id));
    return id;
  }
  std::vector<BackupID> ids(const rocksdb::BackupEngineReadOnlyBase& of) {
    std::vector<rocksdb::BackupInfo> infos;
    of.GetBackupInfo(&infos);
    std::vector<BackupID> all;
    for (const rocksdb::BackupInfo& info : infos) all.push_back(info.backup_id);
    return all;
  }
  std::string metadata_path(BackupID id) {
    return directory_ + "/backups/metadata/" + std::to_string(id);
  }

  BackupEngineOptions backup_options_;
  std::unique_ptr<BackupEngine> engine_;
  std::unique_ptr<BackupEngineReadOnly> reader_;
};

using Ids = std::vector<BackupID>;

TEST_F(Backups, AreMadeListedAndRestored) {
  open();
  ASSERT_OK(try_open_engine());
  rocksdb::BackupInfo info;
  EXPECT_TRUE(engine_->GetLatestBackupInfo(&info).IsNotFound());
  EXPECT_TRUE(engine_->RestoreDBFromLatestBackup(path_, path_).IsNotFound());
  EXPECT_EQ(make("1", std::string("of \0 mine", 9)), 1u);
  EXPECT_EQ(make("2"), 2u);
  ASSERT_OK(put("a", "3"));
  ASSERT_OK(engine_->CreateNewBackup(db_.get(), true));
  EXPECT_EQ(ids(*engine_), (Ids{1, 2, 3}));
  ASSERT_OK(engine_->GetBackupInfo(1, &info));
  EXPECT_EQ(info.app_metadata, std::string("of \0 mine", 9));
  EXPECT_GT(info.timestamp, 1700000000);
  EXPECT_GT(info.size, 0u);
  EXPECT_EQ(info.number_files, 1u);
  ASSERT_OK(engine_->GetLatestBackupInfo(&info));
  EXPECT_EQ(info.backup_id, 3u);
  EXPECT_EQ(info.app_metadata, "");
  EXPECT_TRUE(engine_->GetBackupInfo(4, &info).IsNotFound());
  for (const BackupID id : {1, 2, 3}) EXPECT_OK(engine_->VerifyBackup(id, true));
  EXPECT_TRUE(engine_->VerifyBackup(4).IsNotFound());

  // While it is open the database stays.
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, path_, path_).IsBusy());
  EXPECT_EQ(get("a"), "3");
  close();
  ASSERT_OK(engine_->RestoreDBFromBackup(1, path_, path_));
  open();
  EXPECT_EQ(get("a"), "1");
  close();
  // Into a new directory, by another engine.
  ASSERT_OK(try_open_engine());
  path_ = directory_ + "/other";
  ASSERT_OK(engine_->RestoreDBFromLatestBackup(RestoreOptions(), path_, ""));
  open();
  EXPECT_EQ(get("a"), "3");
}

TEST_F(Backups, HaveAllFamiliesAndWhatIsNotFlushed) {
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"default", "two"}));
  ASSERT_OK(try_open_engine());
  ASSERT_OK(put("b", "of two", handles_[1]));
  make("1");
  ASSERT_OK(put("b", "later", handles_[1]));
  close();
  ASSERT_OK(engine_->RestoreDBFromBackup(RestoreOptions(), 1, path_, path_));
  ASSERT_OK(try_open({"default", "two"}));
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("b", handles_[1]), "of two");
}

TEST_F(Backups, AreMadeOfWhatLiesUnderTransactions) {
  rocksdb::TransactionDB* transactions = nullptr;
  ASSERT_OK(rocksdb::TransactionDB::Open(options_, rocksdb::TransactionDBOptions(), path_,
                                         &transactions));
  db_.reset(transactions);
  ASSERT_OK(try_open_engine());
  EXPECT_EQ(make("1"), 1u);
  close();
  ASSERT_OK(engine_->RestoreDBFromLatestBackup(path_, path_));
  open();
  EXPECT_EQ(get("a"), "1");
}

TEST_F(Backups, AreDeletedAndPurged) {
  open();
  ASSERT_OK(try_open_engine());
  for (const char* value : {"1", "2", "3", "4"}) make(value);
  ASSERT_OK(engine_->DeleteBackup(3));
  EXPECT_TRUE(engine_->DeleteBackup(3).IsNotFound());
  EXPECT_EQ(ids(*engine_), (Ids{1, 2, 4}));
  ASSERT_OK(engine_->PurgeOldBackups(1));
  EXPECT_EQ(ids(*engine_), (Ids{4}));
  EXPECT_EQ(make("5"), 5u);
  ASSERT_OK(engine_->PurgeOldBackups(7));
  EXPECT_EQ(ids(*engine_), (Ids{4, 5}));
  close();
  ASSERT_OK(engine_->RestoreDBFromBackup(4, path_, path_));
  open();
  EXPECT_EQ(get("a"), "4");
  ASSERT_OK(engine_->PurgeOldBackups(0));
  EXPECT_EQ(ids(*engine_), Ids{});
  make("6");
  backup_options_.destroy_old_data = true;
  ASSERT_OK(try_open_engine());
  EXPECT_EQ(ids(*engine_), Ids{});
}

TEST_F(Backups, WithoutTheirMetadataWereInterrupted) {
  open();
  ASSERT_OK(try_open_engine());
  make("1");
  make("2");
  fs::remove(metadata_path(2));
  EXPECT_EQ(ids(*engine_), (Ids{1}));
  rocksdb::BackupInfo info;
  EXPECT_TRUE(engine_->GetBackupInfo(2, &info).IsNotFound());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(2, path_, path_).IsNotFound());
  ASSERT_OK(engine_->GarbageCollect());
  EXPECT_EQ(make("3"), 2u);  // its number is free again
  fs::remove(metadata_path(2));
  EXPECT_EQ(make("4"), 2u);  // and what creates removes it, too
  EXPECT_EQ(ids(*engine_), (Ids{1, 2}));
}

TEST_F(Backups, WithDamagedMetadataStayAndAreToldOf) {
  open();
  ASSERT_OK(try_open_engine());
  make("1", "words");
  make("2", "words");
  fs::copy_file(metadata_path(1), metadata_path(2), fs::copy_options::overwrite_existing);
  std::vector<BackupID> damaged;
  engine_->GetCorruptedBackups(&damaged);
  EXPECT_EQ(damaged, (Ids{2}));  // those are of another one
  std::fstream(metadata_path(1), std::ios::in | std::ios::out).seekp(-1, std::ios::end) << 'x';
  engine_->GetCorruptedBackups(&damaged);
  EXPECT_EQ(damaged, (Ids{1, 2}));
  EXPECT_EQ(ids(*engine_), Ids{});
  rocksdb::BackupInfo info;
  EXPECT_TRUE(engine_->GetBackupInfo(1, &info).IsCorruption());
  EXPECT_TRUE(engine_->VerifyBackup(1).IsCorruption());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, path_ + "2", path_ + "2").IsCorruption());
  ASSERT_OK(engine_->GarbageCollect());
  engine_->GetCorruptedBackups(&damaged);
  EXPECT_EQ(damaged, (Ids{1, 2}));
  ASSERT_OK(engine_->DeleteBackup(1));
  engine_->GetCorruptedBackups(&damaged);
  EXPECT_EQ(damaged, (Ids{2}));
}

TEST_F(Backups, ThatAreDamagedLeaveTheDatabase) {
  open();
  ASSERT_OK(try_open_engine());
  make(std::string(1 << 16, 'x'));
  ASSERT_OK(put("a", "now"));
  close();
  for (const fs::directory_entry& entry :
       fs::directory_iterator(directory_ + "/backups/repository")) {
    if (!entry.path().filename().string().starts_with("parts")) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2)) << "damage";
  }
  EXPECT_TRUE(engine_->VerifyBackup(1).IsCorruption());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, path_, path_).IsCorruption());
  open();
  EXPECT_EQ(get("a"), "now");
}

TEST_F(Backups, StopAndFailWithoutARest) {
  open();
  ASSERT_OK(try_open_engine());
  rocksdb::CreateBackupOptions options;
  int calls = 0;
  options.progress_callback = [&calls] { ++calls; };
  options.decrease_background_thread_cpu_priority = true;
  options.background_thread_cpu_priority = rocksdb::CpuPriority::kLow;
  ASSERT_OK(engine_->CreateNewBackup(options, db_.get()));
  EXPECT_EQ(calls, 1);
  options.progress_callback = [] { throw std::runtime_error("no more"); };
  EXPECT_TRUE(engine_->CreateNewBackup(options, db_.get()).IsAborted());
  EXPECT_EQ(ids(*engine_), (Ids{1}));
  options.progress_callback = [this] { engine_->StopBackup(); };
  EXPECT_TRUE(engine_->CreateNewBackup(options, db_.get()).IsIncomplete());
  EXPECT_EQ(ids(*engine_), (Ids{1}));
  EXPECT_TRUE(engine_->CreateNewBackup(db_.get()).IsIncomplete());
  ASSERT_OK(try_open_engine());
  EXPECT_EQ(make("1"), 2u);
  options = {};
  options.flush_before_backup = true;
  ASSERT_OK(engine_->CreateNewBackupWithMetadata(db_.get(), "words", true, [&calls] { ++calls; }));
  EXPECT_EQ(calls, 2);
}

TEST_F(Backups, EndInTheMiddleOfACopy) {
  open();
  backup_options_.callback_trigger_interval_size = size_t{2} << 20;
  ASSERT_OK(try_open_engine());
  for (int i = 0; i < 16; ++i) {
    ASSERT_OK(put(std::to_string(i), std::string(size_t{1} << 20, static_cast<char>('a' + i))));
  }
  rocksdb::CreateBackupOptions options;
  int calls = 0;
  options.progress_callback = [&] {
    if (++calls == 3) engine_->StopBackup();
  };
  EXPECT_TRUE(engine_->CreateNewBackup(options, db_.get()).IsIncomplete());
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(ids(*engine_), Ids{});
  ASSERT_OK(try_open_engine());
  options.progress_callback = [&calls]() -> void {
    ++calls;
    throw std::runtime_error("no more");
  };
  EXPECT_TRUE(engine_->CreateNewBackup(options, db_.get()).IsAborted());
  EXPECT_EQ(calls, 4);
  options.progress_callback = [&calls] { ++calls; };
  ASSERT_OK(engine_->CreateNewBackup(options, db_.get()));
  EXPECT_GE(calls, 4 + 16 / 3);
  EXPECT_EQ(ids(*engine_).size(), 1u);
  ASSERT_OK(engine_->VerifyBackup(ids(*engine_).front()));
}

TEST_F(Backups, AreReadBySeveralEngines) {
  EXPECT_TRUE(try_open_reader().IsNotFound());
  EXPECT_FALSE(fs::exists(backup_options_.backup_dir));
  open();
  ASSERT_OK(try_open_engine());
  for (const char* value : {"1", "2", "3"}) make(value);
  ASSERT_OK(try_open_reader());
  EXPECT_EQ(ids(*reader_), (Ids{1, 2, 3}));
  backup_options_.max_valid_backups_to_open = 2;
  ASSERT_OK(try_open_reader());
  EXPECT_EQ(ids(*reader_), (Ids{2, 3}));
  rocksdb::BackupInfo info;
  ASSERT_OK(reader_->GetLatestBackupInfo(&info));
  EXPECT_EQ(info.backup_id, 3u);
  ASSERT_OK(reader_->GetBackupInfo(2, &info, true));
  std::vector<BackupID> damaged;
  reader_->GetCorruptedBackups(&damaged);
  EXPECT_TRUE(damaged.empty());
  EXPECT_OK(reader_->VerifyBackup(2));
  close();
  engine_.reset();
  ASSERT_OK(reader_->RestoreDBFromBackup(RestoreOptions(), 2, path_, path_));
  open();
  EXPECT_EQ(get("a"), "2");
  close();
  ASSERT_OK(reader_->RestoreDBFromLatestBackup(RestoreOptions(), path_, path_));
  open();
  EXPECT_EQ(get("a"), "3");
  backup_options_.destroy_old_data = true;
  EXPECT_TRUE(try_open_reader().IsInvalidArgument());
}

TEST_F(Backups, RestoreOnlyOverDatabases) {
  open();
  ASSERT_OK(try_open_engine());
  make("1");
  const std::string other = directory_ + "/documents";
  fs::create_directory(other);
  std::ofstream(other + "/letter") << "dear";
  EXPECT_TRUE(engine_->RestoreDBFromLatestBackup(other, other).IsInvalidArgument());
  EXPECT_TRUE(fs::exists(other + "/letter"));
  EXPECT_TRUE(engine_->RestoreDBFromLatestBackup(path_ + "2", other).IsNotSupported());
  const RestoreOptions keep(true, RestoreOptions::Mode::kVerifyChecksum);
  EXPECT_EQ(keep.mode, RestoreOptions::kVerifyChecksum);
  EXPECT_TRUE(keep.keep_log_files);
  EXPECT_TRUE(engine_->RestoreDBFromLatestBackup(keep, path_ + "2", "").IsNotSupported());
  EXPECT_FALSE(fs::exists(path_ + "2"));
}

TEST_F(Backups, HaveOptions) {
  EXPECT_TRUE(backup_options_.share_table_files && backup_options_.sync);
  EXPECT_TRUE(backup_options_.backup_log_files && backup_options_.share_files_with_checksum);
  EXPECT_EQ(backup_options_.max_background_operations, 1);
  EXPECT_EQ(backup_options_.callback_trigger_interval_size, 4u << 20);
  EXPECT_EQ(backup_options_.max_valid_backups_to_open, INT_MAX);
  EXPECT_EQ(backup_options_.share_files_with_checksum_naming,
            BackupEngineOptions::kUseDbSessionId | BackupEngineOptions::kFlagIncludeFileSize);
  EXPECT_EQ(backup_options_.schema_version, 1);
  EXPECT_FALSE(backup_options_.current_temperatures_override_manifest);
  EXPECT_EQ(backup_options_.io_buffer_size, 0u);
  EXPECT_EQ(backup_options_.info_log, nullptr);

  open();
  // Full, and with limits that a small database does not notice.
  backup_options_.share_table_files = false;
  backup_options_.backup_rate_limit = 1 << 30;
  backup_options_.backup_rate_limiter.reset(rocksdb::NewGenericRateLimiter(1 << 30));
  backup_options_.restore_rate_limit = 1 << 30;
  backup_options_.restore_rate_limiter.reset(rocksdb::NewGenericRateLimiter(1 << 30));
  ASSERT_OK(try_open_engine());
  make("1");
  make("2");
  uint64_t parts = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(directory_ + "/backups/repository")) {
    if (entry.path().filename().string().starts_with("parts")) ++parts;
  }
  EXPECT_EQ(parts, 2u);
  close();
  ASSERT_OK(engine_->RestoreDBFromLatestBackup(path_, path_));

  backup_options_.backup_log_files = false;
  EXPECT_TRUE(try_open_engine().IsNotSupported());
  backup_options_.backup_log_files = true;
  Env other;
  backup_options_.backup_env = &other;
  EXPECT_TRUE(try_open_engine().IsNotSupported());
  backup_options_.backup_env = nullptr;
  BackupEngine* engine = nullptr;
  EXPECT_TRUE(BackupEngine::Open(&other, backup_options_, &engine).IsNotSupported());
  fs::create_directories(directory_ + "/of_rocksdb/meta");
  backup_options_.backup_dir = directory_ + "/of_rocksdb";
  EXPECT_TRUE(try_open_engine().IsNotSupported());
  backup_options_.backup_dir = directory_ + "/nowhere/backups";
  EXPECT_TRUE(try_open_engine().IsIOError());
  EXPECT_OK(rocksdb::status_to_io_status(rocksdb::Status::OK()));
  EXPECT_OK(IOStatus::OK());
}

}  // namespace
}  // namespace hawthorn::rocks
