// Listeners: what they are told of, in which order, and with which values.

#include <rocksdb/listener.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"
#include "testing/wait.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::BackgroundErrorReason;
using rocksdb::CompactionJobInfo;
using rocksdb::DB;
using rocksdb::FlushJobInfo;
using rocksdb::Status;

// Writes down what it is told.
class Watch final : public rocksdb::EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    note("flush begins " + info.cf_name, db, info.job_id);
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override {
    std::string value;
    const Status read = db->Get({}, "a", &value);
    note("flush ends " + info.cf_name, db, info.job_id);
    const std::lock_guard lock(mutex_);
    flushed_ = info;
    if (read.ok()) read_ = value;
  }
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override {
    note("compaction begins " + info.cf_name, db, info.job_id);
  }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override {
    note("compaction ends " + info.cf_name, db, info.job_id);
    const std::lock_guard lock(mutex_);
    // One may find that there is nothing to do.
    if (info.stats.total_output_bytes > compacted_.stats.total_output_bytes) compacted_ = info;
  }
  void OnManualFlushScheduled(DB* db, const std::vector<rocksdb::ManualFlushInfo>& all) override {
    for (const rocksdb::ManualFlushInfo& info : all) {
      EXPECT_EQ(info.flush_reason, rocksdb::FlushReason::kManualFlush);
      note("flush of " + info.cf_name + " " + std::to_string(info.cf_id), db, 0);
    }
  }
  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    note("handle of " + handle->GetName(), nullptr, 0);
  }
  void OnExternalFileIngested(DB* db, const rocksdb::ExternalFileIngestionInfo& info) override {
    note("ingested " + info.external_file_path + " into " + info.cf_name, db, 0);
    EXPECT_EQ(info.table_properties.num_entries, 2U);
    EXPECT_EQ(info.table_properties.num_range_deletions, 1U);
    EXPECT_EQ(info.internal_file_path, "");
    EXPECT_EQ(info.global_seqno, 0U);
  }
  void OnBackgroundError(BackgroundErrorReason reason, Status* error) override {
    EXPECT_EQ(reason, BackgroundErrorReason::kFlush);
    EXPECT_FALSE(error->ok());
    note(error->severity() == Status::kFatalError ? "error for good" : "error", nullptr, 0);
    *error = Status::OK();
  }
  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& info) override {
    using rocksdb::WriteStallCondition;
    const bool stalls = info.condition.cur == WriteStallCondition::kDelayed;
    EXPECT_EQ(info.condition.prev,
              stalls ? WriteStallCondition::kNormal : WriteStallCondition::kDelayed);
    note((stalls ? "stall of " : "no stall of ") + info.cf_name, nullptr, 0);
  }

  void expect_from(const DB* db) {
    const std::lock_guard lock(mutex_);
    expected_ = db;
  }
  size_t count(const std::string& what) const {
    const std::lock_guard lock(mutex_);
    return static_cast<size_t>(std::count(notes_.begin(), notes_.end(), what));
  }
  void wait_for(const std::string& what) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(noted_.wait_for(lock, testing::kHangLimit, [&] {
      return std::count(notes_.begin(), notes_.end(), what) > 0;
    })) << what;
  }
  // Each end has the number of its beginning, which stands before it.
  void expect_pairs() {
    std::map<int, std::string> begun;
    for (size_t i = 0; i < notes_.size(); ++i) {
      const size_t at = notes_[i].find(" begins ");
      if (at != std::string::npos) {
        EXPECT_TRUE(begun.emplace(jobs_[i], notes_[i].replace(at, 8, " ends ")).second);
      } else if (notes_[i].find(" ends ") != std::string::npos) {
        EXPECT_EQ(begun[jobs_[i]], notes_[i]);
      }
    }
  }

  FlushJobInfo flushed_;
  CompactionJobInfo compacted_;
  std::string read_;

 private:
  void note(const std::string& what, const DB* from, int job) {
    const std::lock_guard lock(mutex_);
    if (from != nullptr && expected_ != nullptr) {
      EXPECT_EQ(from, expected_);
    }
    notes_.push_back(what);
    jobs_.push_back(job);
    noted_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable noted_;
  const DB* expected_ = nullptr;
  std::vector<std::string> notes_;
  std::vector<int> jobs_;
};

class Listeners : public RocksTest {
 protected:
  Listeners() { options_.listeners.push_back(watch_); }
  void open_two() {
    options_.create_missing_column_families = true;
    ASSERT_OK(try_open({"default", "one"}));
    watch_->expect_from(db_.get());
  }
  void fill(rocksdb::ColumnFamilyHandle* family, int step) {
    for (int i = 0; i < 3000; i += step) {
      ASSERT_OK(put("k" + std::to_string(10000 + i), std::string(1000, 'v'), family));
    }
  }

  const std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
};

TEST_F(Listeners, AreToldOfFlushes) {
  open_two();
  ASSERT_OK(put("a", "1"));
  fill(handles_[1], 1);
  ASSERT_OK(db_->Flush({}, handles_));
  watch_->wait_for("flush ends default");
  watch_->wait_for("flush ends one");
  close();
  EXPECT_EQ(watch_->count("flush of default 0"), 1U);
  EXPECT_EQ(watch_->count("flush of one 1"), 1U);
  EXPECT_GE(watch_->count("flush begins one"), 1U);
  EXPECT_EQ(watch_->read_, "1");
  watch_->expect_pairs();
  const FlushJobInfo& info = watch_->flushed_;
  EXPECT_EQ(info.cf_id, info.cf_name == "one" ? 1U : 0U);
  EXPECT_GT(info.table_properties.data_size, 0U);
  EXPECT_EQ(info.table_properties.column_family_id, info.cf_id);
  EXPECT_EQ(info.table_properties.column_family_name, info.cf_name);
  EXPECT_EQ(info.table_properties.comparator_name, "leveldb.BytewiseComparator");
  EXPECT_FALSE(info.triggered_writes_slowdown);
}

TEST_F(Listeners, AreToldOfTheFlushOfClosing) {
  open();
  ASSERT_OK(put("a", "1"));
  close();
  EXPECT_EQ(watch_->count("flush ends default"), 1U);
}

TEST_F(Listeners, AreToldOfCompactions) {
  options_.compression = rocksdb::kLZ4Compression;
  open_two();
  fill(handles_[1], 1);
  ASSERT_OK(db_->Flush({}));
  fill(handles_[1], 2);
  ASSERT_OK(db_->CompactRange({}, handles_[1], nullptr, nullptr));
  close();
  EXPECT_GE(watch_->count("compaction ends one"), 1U);
  EXPECT_EQ(watch_->count("compaction ends default"), 0U);
  watch_->expect_pairs();
  const CompactionJobInfo& info = watch_->compacted_;
  EXPECT_OK(info.status);
  EXPECT_EQ(info.cf_id, 1U);
  EXPECT_EQ(info.compression, rocksdb::kLZ4Compression);
  EXPECT_GE(info.stats.num_input_files, 1U);
  EXPECT_EQ(info.stats.num_input_files_at_output_level, info.stats.num_input_files);
  EXPECT_GE(info.stats.num_output_files, 1U);
  EXPECT_GT(info.stats.total_output_bytes, 0U);
  EXPECT_GT(info.stats.elapsed_micros, 0U);
}

TEST_F(Listeners, AreToldOfHandles) {
  open_two();
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  fill(handles_[0], 100);
  delete handles_[1];
  handles_.pop_back();
  EXPECT_EQ(watch_->count("handle of one"), 1U);
  EXPECT_EQ(watch_->count("handle of default"), 0U);
  rocksdb::ColumnFamilyHandle* made = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "two", &made));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(made));
  EXPECT_EQ(watch_->count("handle of two"), 1U);
  close();
  // The program's, and the database's own.
  EXPECT_EQ(watch_->count("handle of default"), 2U);
}

TEST_F(Listeners, AreToldOfIngests) {
  open_two();
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  ASSERT_OK(writer.Open(directory_ + "/file"));
  ASSERT_OK(writer.Put("b", "1"));
  ASSERT_OK(writer.DeleteRange("c", "d"));
  ASSERT_OK(writer.Finish());
  EXPECT_FALSE(db_->IngestExternalFile(handles_[1], {directory_ + "/other"}, {}).ok());
  ASSERT_OK(db_->IngestExternalFile(handles_[1], {directory_ + "/file"}, {}));
  EXPECT_EQ(watch_->count("ingested " + directory_ + "/file into one"), 1U);
  EXPECT_EQ(watch_->count("ingested " + directory_ + "/other into one"), 0U);
}

// Changing the status does not help the database, which takes no more writes.
TEST_F(Listeners, AreToldOfErrors) {
  open();
  ASSERT_OK(put("a", "1"));
  write_to_broken_log([&] { return watch_->count("error for good") > 0; });
  EXPECT_FALSE(put("b", "2").ok());
  EXPECT_EQ(get("a"), "1");
  reopen();
  EXPECT_EQ(get("a"), "1");
  EXPECT_OK(put("b", "2"));
}

TEST_F(Listeners, AreToldOfStalls) {
  open_two();
  const std::string value(20000, 'v');
  constexpr int kKeys = 20'000;  // more than memory holds
  int puts = 0;
  ASSERT_TRUE(testing::wait_until([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_OK(put(std::to_string(puts++ % kKeys), value));
    return watch_->count("stall of one") > 0 || HasFailure();
  }));
  close();
  EXPECT_GE(watch_->count("stall of one"), 1U);
  EXPECT_EQ(watch_->count("stall of one"), watch_->count("stall of default"));
  EXPECT_EQ(watch_->count("stall of one"), watch_->count("no stall of one"));
  watch_->expect_pairs();
}

TEST_F(Listeners, OfADatabaseThatIsNotOpened) {
  open_two();
  fill(handles_[1], 10);
  close();
  const size_t flushes = watch_->count("flush ends one");
  EXPECT_TRUE(try_open({"default"}).IsInvalidArgument());
  EXPECT_TRUE(try_open({"default", "one", "two"}).ok());
  close();
  options_.listeners.push_back(nullptr);
  EXPECT_TRUE(try_open({"default", "one", "two"}).IsInvalidArgument());
  EXPECT_EQ(watch_->count("flush ends one"), flushes);
}

TEST_F(Listeners, OfADatabaseThatIsRead) {
  open_two();
  close();
  std::unique_ptr<DB> read;
  ASSERT_OK(DB::OpenForReadOnly(options_, path_, &read));
  EXPECT_FALSE(read->Flush({}).ok());
  read.reset();
  EXPECT_EQ(watch_->count("flush of default 0"), 0U);
}

}  // namespace
}  // namespace hawthorn::rocks
