// Transactions that lock: their options, limits, and ways to open the database.

#include "shims/rocksdb/src/transactions_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionOptions;
using rocksdb::WriteOptions;

// Is given, and not asked.
class NoMutexes final : public rocksdb::TransactionDBMutexFactory {
 public:
  struct Mutex final : rocksdb::TransactionDBMutex {
    Status Lock() override { return never(); }
    Status TryLockFor(int64_t) override { return never(); }
    void UnLock() override { never().PermitUncheckedError(); }
  };
  struct CondVar final : rocksdb::TransactionDBCondVar {
    Status Wait(std::shared_ptr<rocksdb::TransactionDBMutex>) override { return never(); }
    Status WaitFor(std::shared_ptr<rocksdb::TransactionDBMutex>, int64_t) override {
      return never();
    }
    void Notify() override { never().PermitUncheckedError(); }
    void NotifyAll() override { never().PermitUncheckedError(); }
  };
  std::shared_ptr<rocksdb::TransactionDBMutex> AllocateMutex() override {
    never().PermitUncheckedError();
    return std::make_shared<Mutex>();
  }
  std::shared_ptr<rocksdb::TransactionDBCondVar> AllocateCondVar() override {
    never().PermitUncheckedError();
    return std::make_shared<CondVar>();
  }

 private:
  static Status never() {
    ADD_FAILURE() << "the mutexes are not used";
    return Status::NotSupported();
  }
};

class TransactionChoices : public TransactionsTest {
 protected:
  TransactionChoices() {
    db_options_.transaction_lock_timeout = 0;
    db_options_.default_lock_timeout = 0;
  }
};

TEST_F(TransactionChoices, LimitsOfLocksAndBytes) {
  db_options_.max_num_locks = 2;
  open_transactions({"default", "other"});
  TransactionOptions options;
  options.max_write_batch_size = 1000;
  TransactionPtr t = begin(options);
  TransactionPtr other = begin();
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_EQ(get_for_update(*other, "b", false), "(missing)");
  EXPECT_OK(other->Put("b", "1"));  // no other lock, but a stronger one
  EXPECT_OK(t->Put("a", "2"));
  EXPECT_TRUE(t->Put("c", "1").IsLockLimit());
  EXPECT_OK(t->Put(handles_[1], "c", "1"));
  EXPECT_OK(other->Rollback());
  EXPECT_OK(t->Put("c", "1"));
  EXPECT_TRUE(t->Put("c", std::string(1000, 'v')).IsMemoryLimit());
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=2 c=1 ");
}

TEST_F(TransactionChoices, WithoutConcurrencyControl) {
  open_transactions();
  TransactionOptions options;
  options.skip_concurrency_control = true;
  TransactionPtr t = begin(options);
  TransactionPtr other = begin();
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(other->Put("a", "2"));
  EXPECT_OK(other->Commit());
  EXPECT_OK(t->Commit());
  EXPECT_EQ(get("a"), "1");

  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.DeleteRange("a", "b"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_TRUE(
      db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "a", "b").IsNotSupported());
  EXPECT_EQ(get("a"), "1");
  rocksdb::TransactionDBWriteOptimizations optimizations;
  EXPECT_TRUE(transactions_->Write(WriteOptions(), optimizations, &batch).IsInvalidArgument());
  optimizations.skip_concurrency_control = true;
  optimizations.skip_duplicate_key_check = true;
  EXPECT_OK(transactions_->Write(WriteOptions(), optimizations, &batch));
  EXPECT_EQ(all(), "");
  EXPECT_TRUE(db_->Write(WriteOptions(), nullptr).IsInvalidArgument());
}

TEST_F(TransactionChoices, RebuildingAndCollapsing) {
  open_transactions({"default", "other"});
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.Merge("a", "2"));
  EXPECT_OK(batch.Put(handles_[1], "b", "3"));
  EXPECT_OK(batch.Delete("c"));
  EXPECT_OK(batch.SingleDelete("d"));
  TransactionPtr t = begin();
  EXPECT_OK(t->RebuildFromWriteBatch(&batch));
  EXPECT_EQ(t->GetNumKeys(), 4U);
  EXPECT_EQ(get_in(*t, "a"), "1,2");
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all() + all(handles_[1]), "a=1,2 b=3 ");
  EXPECT_OK(db_->Merge(WriteOptions(), "a", "4"));
  TransactionPtr collapsing = begin();
  EXPECT_OK(collapsing->CollapseKey(ReadOptions(), "a"));
  EXPECT_EQ(collapsing->GetNumPuts(), 1U);
  EXPECT_OK(collapsing->Commit());
  EXPECT_EQ(get("a"), "1,2,4");
}

TEST_F(TransactionChoices, WriteOptionsCount) {
  open_transactions();
  TransactionPtr t = begin();
  WriteOptions both;
  both.sync = true;
  both.disableWAL = true;
  t->SetWriteOptions(both);
  EXPECT_TRUE(t->GetWriteOptions()->sync);
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_TRUE(t->Commit().IsInvalidArgument());
  EXPECT_OK(put("a", "2"));  // the failed commit holds nothing
  WriteOptions sync;
  sync.sync = true;
  TransactionPtr synced(transactions_->BeginTransaction(sync));
  EXPECT_OK(synced->Put("a", "3"));
  EXPECT_OK(synced->Commit());
  TransactionPtr empty(transactions_->BeginTransaction(sync));
  EXPECT_OK(empty->Commit());
  EXPECT_EQ(get("a"), "3");
  t.reset();
  t = begin();
  EXPECT_OK(t->GetCommitTimeWriteBatch()->Put("x", "1"));
  EXPECT_TRUE(t->Commit().IsInvalidArgument());
}

TEST_F(TransactionChoices, WhatIsRefusedAndAccepted) {
  open_transactions();
  TransactionPtr t = begin();
  EXPECT_TRUE(t->GetRangeLock(nullptr, rocksdb::Endpoint("a"), rocksdb::Endpoint(Slice("b"), true))
                  .IsNotSupported());
  const rocksdb::Endpoint end("abc", 2, true);
  EXPECT_EQ(end.slice, Slice("ab"));
  EXPECT_TRUE(end.inf_suffix);
  EXPECT_TRUE(t->SetReadTimestampForValidation(1).IsNotSupported());
  EXPECT_TRUE(t->SetCommitTimestamp(1).IsNotSupported());
  EXPECT_EQ(t->GetCommitTimestamp(), rocksdb::kMaxTxnTimestamp);
  std::shared_ptr<const rocksdb::Snapshot> snapshot;
  EXPECT_TRUE(
      t->CommitAndTryCreateSnapshot(nullptr, rocksdb::TxnTimestamp(1), &snapshot).IsNotSupported());
  EXPECT_TRUE(transactions_->CreateTimestampedSnapshot(1).first.IsNotSupported());
  EXPECT_EQ(transactions_->GetTimestampedSnapshot(1), nullptr);
  EXPECT_EQ(transactions_->GetLatestTimestampedSnapshot(), nullptr);
  std::vector<std::shared_ptr<const rocksdb::Snapshot>> several;
  EXPECT_TRUE(transactions_->GetTimestampedSnapshots(0, 1, several).IsNotSupported());
  EXPECT_TRUE(transactions_->GetAllTimestampedSnapshots(several).IsNotSupported());
  transactions_->ReleaseTimestampedSnapshotsOlderThan(1);
  t->SetLogNumber(7);
  EXPECT_EQ(t->GetLogNumber(), 7U);
  EXPECT_EQ(t->GetId(), 0U);
  t->SetState(Transaction::STARTED);
  t.reset();
  close();

  struct NoManager final : rocksdb::LockManagerHandle {
    rocksdb::LockManager* getLockManager() override { return nullptr; }
  };
  db_options_.lock_mgr_handle = std::make_shared<NoManager>();
  EXPECT_TRUE(try_open_transactions().IsNotSupported());
  EXPECT_TRUE(handles_.empty());
  db_options_.lock_mgr_handle = nullptr;
  db_options_.secondary_indices.emplace_back();
  EXPECT_TRUE(try_open_transactions().IsNotSupported());
  db_options_.secondary_indices.clear();
  options_.unordered_write = true;
  EXPECT_TRUE(try_open_transactions().IsNotSupported());
  options_.unordered_write = false;

  db_options_.write_policy = rocksdb::WRITE_UNPREPARED;
  db_options_.num_stripes = 1;
  db_options_.custom_mutex_factory = std::make_shared<NoMutexes>();
  db_options_.rollback_merge_operands = true;
  db_options_.default_write_batch_flush_threshold = 1;
  db_options_.rollback_deletion_type_callback = [](TransactionDB*, rocksdb::ColumnFamilyHandle*,
                                                   const Slice&) { return true; };
  db_options_.enable_udt_validation = false;
  db_options_.txn_commit_bypass_memtable_threshold = 1;
  db_options_.max_num_deadlocks = rocksdb::kInitialMaxDeadlocks;
  db_options_.skip_concurrency_control = true;
  open_transactions();
  TransactionOptions options;
  options.use_only_the_last_commit_time_batch_for_recovery = true;
  options.write_batch_flush_threshold = 1;
  options.write_batch_track_timestamp_size = true;
  options.commit_bypass_memtable = true;
  options.large_txn_commit_optimize_threshold = 1;
  options.large_txn_commit_optimize_byte_threshold = 1;
  t = begin(options);
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(put("b", "1"));
  EXPECT_OK(t->Commit());
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.DeleteRange("b", "c"));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(all(), "a=1 ");
}

TEST_F(TransactionChoices, OverADatabaseThatIsOpen) {
  rocksdb::DBOptions db_options(options_);
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {"default", rocksdb::ColumnFamilyOptions(options_)}};
  std::vector<size_t> indices;
  TransactionDB::PrepareWrap(&db_options, &families, &indices);
  EXPECT_EQ(indices, std::vector<size_t>{0});
  EXPECT_TRUE(db_options.allow_2pc);
  open();
  rocksdb::DB* const below = db_.release();
  ASSERT_OK(TransactionDB::WrapDB(below, db_options_, {}, {}, &transactions_));
  db_.reset(transactions_);
  EXPECT_EQ(transactions_->GetBaseDB(), below);
  EXPECT_EQ(transactions_->GetRootDB(), below);
  TransactionPtr t = begin();
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_TRUE(is_lock_timeout(put("a", "2")));  // its own time-out, not the database's
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 ");
  t.reset();
  close();

  // Over one that is over another.
  open();
  auto* const between = new rocksdb::StackableDB(db_.release());
  ASSERT_OK(TransactionDB::WrapStackableDB(between, db_options_, {}, {}, &transactions_));
  db_.reset(transactions_);
  EXPECT_EQ(transactions_->GetBaseDB(), between);
  t = begin();
  EXPECT_OK(t->Put("a", "2"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=2 ");
  EXPECT_EQ(db_->GetName(), path_);
}

TEST_F(TransactionChoices, OpenedByTheShortForm) {
  ASSERT_OK(TransactionDB::Open(options_, db_options_, path_, &transactions_));
  db_.reset(transactions_);
  TransactionPtr t = begin();
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 ");
}

TEST_F(TransactionChoices, AFamilyThatIsDropped) {
  open_transactions({"default", "other"});
  TransactionPtr t = begin();
  EXPECT_OK(t->Put(handles_[1], "a", "1"));
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_TRUE(t->Commit().IsInvalidArgument());
  EXPECT_EQ(all(), "");
  EXPECT_OK(put("a", "2"));
}

}  // namespace
}  // namespace hawthorn::rocks
