// Transactions that look for conflicts when they commit.

#include "shims/rocksdb/src/transactions_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::OptimisticTransactionOptions;
using rocksdb::ReadOptions;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::WriteOptions;

class Optimistic : public TransactionsTest {};

TEST_F(Optimistic, CommitAndRollback) {
  open_optimistic({"default", "other"});
  EXPECT_OK(put("gone", "1"));
  TransactionPtr t = begin_optimistic();
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(t->Put(handles_[1], "a", "2"));
  EXPECT_OK(t->Delete("gone"));
  EXPECT_OK(t->Merge("m", "x"));
  EXPECT_EQ(get_in(*t, "m"), "x");
  EXPECT_EQ(get_in(*t, "gone"), "(missing)");
  EXPECT_EQ(t->GetNumKeys(), 4U);
  EXPECT_EQ(all(), "gone=1 ");
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 m=x ");
  EXPECT_EQ(all(handles_[1]), "a=2 ");
  // It can be used again at once, and by name of the database.
  EXPECT_EQ(t->GetNumKeys(), 0U);
  EXPECT_OK(t->Put("a", "3"));
  EXPECT_OK(t->Rollback());
  EXPECT_EQ(get_in(*t, "a"), "1");
  EXPECT_OK(t->Commit());  // nothing
  EXPECT_EQ(optimistic_->BeginTransaction(WriteOptions(), {}, t.get()), t.get());
  EXPECT_OK(t->Put("a", "4"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(get("a"), "4");
  EXPECT_EQ(t->GetState(), Transaction::STARTED);
  EXPECT_EQ(t->GetID(), 0U);
}

TEST_F(Optimistic, WhoCommitsLaterConflicts) {
  open_optimistic();
  TransactionPtr first = begin_optimistic();
  TransactionPtr second = begin_optimistic();
  EXPECT_OK(first->Put("a", "1"));
  EXPECT_OK(second->Put("a", "2"));
  EXPECT_OK(first->Commit());
  EXPECT_TRUE(second->Commit().IsBusy());
  EXPECT_TRUE(second->Commit().IsBusy());  // until it is rolled back
  EXPECT_EQ(get("a"), "1");
  EXPECT_OK(second->Rollback());
  EXPECT_OK(second->Put("a", "3"));
  EXPECT_OK(second->Commit());
  EXPECT_EQ(get("a"), "3");
  // Writes outside of transactions count, a delete too, also when it was flushed.
  EXPECT_OK(first->Put("a", "4"));
  EXPECT_OK(db_->Delete(WriteOptions(), "a"));
  EXPECT_OK(db_->Flush(rocksdb::FlushOptions()));
  EXPECT_TRUE(first->Commit().IsBusy());
  EXPECT_EQ(get("a"), "(missing)");
}

TEST_F(Optimistic, EachKeyCountsSinceItWasTracked) {
  open_optimistic();
  TransactionPtr t = begin_optimistic();
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(put("b", "0"));
  EXPECT_OK(t->Put("b", "1"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 b=1 ");

  // With a snapshot since that.
  OptimisticTransactionOptions options;
  options.set_snapshot = true;
  options.cmp = rocksdb::BytewiseComparator();
  TransactionPtr with_snapshot = begin_optimistic(options);
  EXPECT_OK(put("b", "2"));
  EXPECT_OK(with_snapshot->Put("b", "3"));
  EXPECT_TRUE(with_snapshot->Commit().IsBusy());
  EXPECT_OK(with_snapshot->Rollback());
  with_snapshot->SetSnapshot();
  EXPECT_OK(with_snapshot->Put("b", "3"));
  EXPECT_OK(with_snapshot->Commit());
  EXPECT_EQ(get("b"), "3");

  // More moments than are kept.
  TransactionPtr many = begin_optimistic();
  constexpr int kKeys = 100;
  for (int i = 0; i < kKeys; ++i) {
    EXPECT_OK(many->Put("k" + std::to_string(i), "1"));
    EXPECT_OK(put("other", std::to_string(i)));
  }
  EXPECT_OK(many->Commit());
  EXPECT_EQ(get("k99"), "1");
  for (int i = 0; i < kKeys; ++i) {
    EXPECT_OK(many->Put("k" + std::to_string(i), "2"));
    EXPECT_OK(put("other", std::to_string(i)));
  }
  EXPECT_OK(put("k99", "3"));
  EXPECT_TRUE(many->Commit().IsBusy());
}

TEST_F(Optimistic, ReadsForUpdateMustNotChange) {
  open_optimistic();
  EXPECT_OK(put("a", "1"));
  TransactionPtr t = begin_optimistic();
  EXPECT_EQ(get_for_update(*t, "a"), "1");
  EXPECT_EQ(get_for_update(*t, "absent", false), "(missing)");
  EXPECT_OK(t->Put("b", "1"));
  EXPECT_OK(put("absent", "2"));
  EXPECT_TRUE(t->Commit().IsBusy());
  EXPECT_OK(t->Rollback());
  EXPECT_EQ(get_for_update(*t, "a"), "1");
  EXPECT_OK(put("a", "2"));
  EXPECT_TRUE(t->Commit().IsBusy());  // without a write
  EXPECT_OK(t->Rollback());
  EXPECT_EQ(get_for_update(*t, "a"), "2");
  t->UndoGetForUpdate("a");
  EXPECT_EQ(get_in(*t, "a"), "2");  // read, and not tracked
  EXPECT_OK(t->Put("b", "1"));
  EXPECT_OK(put("a", "3"));
  EXPECT_OK(t->Commit());
}

TEST_F(Optimistic, UntrackedWritesNeverConflict) {
  open_optimistic();
  TransactionPtr t = begin_optimistic();
  EXPECT_OK(t->PutUntracked("a", "1"));
  EXPECT_OK(t->DeleteUntracked("b"));
  EXPECT_EQ(t->GetNumKeys(), 0U);
  EXPECT_OK(put("a", "2"));
  EXPECT_OK(put("b", "2"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 ");
}

TEST_F(Optimistic, SavepointsForgetKeys) {
  open_optimistic();
  TransactionPtr t = begin_optimistic();
  EXPECT_OK(t->Put("a", "1"));
  t->SetSavePoint();
  EXPECT_OK(t->Put("b", "1"));
  t->SetSavePoint();
  EXPECT_OK(t->Put("c", "1"));
  EXPECT_OK(t->PopSavePoint());
  EXPECT_EQ(t->GetNumKeys(), 3U);
  EXPECT_OK(t->RollbackToSavePoint());
  EXPECT_EQ(t->GetNumKeys(), 1U);
  EXPECT_OK(put("b", "2"));
  EXPECT_OK(put("c", "2"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 b=2 c=2 ");
}

TEST_F(Optimistic, WhatItDoesNotHave) {
  open_optimistic();
  TransactionPtr t = begin_optimistic();
  EXPECT_TRUE(t->Prepare().IsInvalidArgument());
  EXPECT_TRUE(t->SetName("name").IsInvalidArgument());
  EXPECT_TRUE(t->CollapseKey(ReadOptions(), "a").IsNotSupported());
  EXPECT_TRUE(t->Put(nullptr, "a", "1", true).IsInvalidArgument());
  EXPECT_FALSE(t->IsDeadlockDetect());
  EXPECT_TRUE(t->GetWaitingTxns(nullptr, nullptr).empty());
  t->SetLockTimeout(1);
  EXPECT_TRUE(
      db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "a", "b").IsNotSupported());
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.DeleteRange("a", "b"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupported());
  rocksdb::WriteBatch puts;
  EXPECT_OK(puts.Put("a", "1"));
  EXPECT_OK(db_->Write(WriteOptions(), &puts));
  EXPECT_EQ(all(), "a=1 ");
}

TEST_F(Optimistic, EveryWayToOpen) {
  ASSERT_OK(rocksdb::OptimisticTransactionDB::Open(options_, path_, &optimistic_));
  db_.reset(optimistic_);
  EXPECT_OK(put("a", "1"));
  close();
  rocksdb::OptimisticTransactionDBOptions occ;
  occ.validate_policy = rocksdb::OccValidationPolicy::kValidateSerial;
  occ.occ_lock_buckets = 16;
  occ.shared_lock_buckets = rocksdb::MakeSharedOccLockBuckets(16);
  EXPECT_EQ(occ.shared_lock_buckets->ApproximateMemoryUsage(), 0U);
  ASSERT_OK(rocksdb::OptimisticTransactionDB::Open(
      options_, occ, path_, {{"default", rocksdb::ColumnFamilyOptions(options_)}}, &handles_,
      &optimistic_));
  db_.reset(optimistic_);
  TransactionPtr t = begin_optimistic();
  EXPECT_OK(t->Put("b", "1"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 b=1 ");
}

}  // namespace
}  // namespace hawthorn::rocks
