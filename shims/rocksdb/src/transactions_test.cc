// Transactions that lock: reads of their own writes, locks and time-outs, snapshots, savepoints,
// deadlocks, expiry.

#include <atomic>
#include <chrono>
#include <thread>

#include "shims/rocksdb/src/transactions_test_fixture.h"
#include "testing/wait.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::SliceParts;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionOptions;
using rocksdb::WriteOptions;

bool is_conflict(const Status& status) {
  EXPECT_TRUE(status.IsBusy() && status.subcode() == Status::kNone) << status.ToString();
  return status.IsBusy();
}

class Transactions : public TransactionsTest {
 protected:
  Transactions() {
    db_options_.transaction_lock_timeout = 0;
    db_options_.default_lock_timeout = 0;
  }
  static TransactionOptions waiting(int64_t timeout_ms = testing::kHangLimitMs) {
    TransactionOptions options;
    options.lock_timeout = timeout_ms;
    return options;
  }
  // Until somebody waits for a lock.
  static void await_waiter(const Transaction& waiter) {
    uint32_t family = 0;
    std::string key;
    EXPECT_TRUE(testing::wait_until([&] { return !waiter.GetWaitingTxns(&family, &key).empty(); }));
  }
};

TEST_F(Transactions, CommitAndRollback) {
  open_transactions();
  EXPECT_OK(put("gone", "1"));
  TransactionPtr t = begin();
  EXPECT_EQ(t->GetState(), Transaction::STARTED);
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(t->Delete("gone"));
  EXPECT_OK(t->Merge("m", "x"));
  EXPECT_OK(t->SingleDelete("none"));
  t->PutLogData("blob");
  EXPECT_EQ(get_in(*t, "a"), "1");
  EXPECT_EQ(get_in(*t, "gone"), "(missing)");
  EXPECT_EQ(get_in(*t, "m"), "x");
  EXPECT_EQ(all(), "gone=1 ");
  EXPECT_EQ(t->GetNumPuts(), 1U);
  EXPECT_EQ(t->GetNumDeletes(), 2U);
  EXPECT_EQ(t->GetNumMerges(), 1U);
  EXPECT_EQ(t->GetNumKeys(), 4U);
  EXPECT_LT(t->GetElapsedTime(), 3'600'000U);
  EXPECT_EQ(t->GetWriteBatch()->GetWriteBatch()->Count(), 4U);
  EXPECT_OK(t->Commit());
  EXPECT_EQ(t->GetState(), Transaction::COMMITTED);
  EXPECT_EQ(all(), "a=1 m=x ");
  EXPECT_TRUE(t->Commit().IsInvalidArgument());
  EXPECT_TRUE(t->Rollback().IsInvalidArgument());
  EXPECT_TRUE(t->Put("b", "1").IsInvalidArgument());

  // The same object once more.
  EXPECT_EQ(transactions_->BeginTransaction(WriteOptions(), {}, t.get()), t.get());
  EXPECT_EQ(t->GetNumKeys(), 0U);
  EXPECT_OK(t->Put("a", "2"));
  EXPECT_OK(t->Rollback());
  EXPECT_EQ(t->GetState(), Transaction::STARTED);
  EXPECT_EQ(get_in(*t, "a"), "1");
  EXPECT_OK(t->Put("b", "2"));
  t.reset();  // gone, and its lock with it
  EXPECT_OK(put("b", "3"));
  EXPECT_EQ(all(), "a=1 b=3 m=x ");
}

TEST_F(Transactions, EveryWayToWriteAndRead) {
  open_transactions({"default", "other"});
  rocksdb::ColumnFamilyHandle* const other = handles_[1];
  TransactionPtr t = begin();
  const Slice key_parts[] = {"k", "1"};
  const Slice value_parts[] = {"v", "1"};
  const SliceParts key(key_parts, 2);
  const SliceParts value(value_parts, 2);
  EXPECT_OK(t->Put(key, value));
  EXPECT_OK(t->Put(other, key, value));
  EXPECT_OK(t->PutUntracked("k2", "v2"));
  EXPECT_OK(t->PutUntracked(other, "k2", "v2"));
  EXPECT_OK(t->PutUntracked(SliceParts(key_parts, 1), value));
  EXPECT_OK(t->PutUntracked(other, SliceParts(key_parts, 1), value));
  EXPECT_OK(t->Merge(other, "k2", "m"));
  EXPECT_OK(t->MergeUntracked("k2", "m"));
  EXPECT_OK(t->MergeUntracked(other, "k2", "n"));
  EXPECT_OK(t->Put("d1", ""));
  EXPECT_OK(t->Delete(other, "d1"));
  EXPECT_OK(t->Delete(SliceParts(key_parts, 1)));
  EXPECT_OK(t->Delete(other, SliceParts(key_parts, 1)));
  EXPECT_OK(t->SingleDelete(other, "d1"));
  EXPECT_OK(t->SingleDelete(SliceParts(key_parts, 1)));
  EXPECT_OK(t->SingleDelete(other, SliceParts(key_parts, 1)));
  EXPECT_OK(t->DeleteUntracked("d1"));
  EXPECT_OK(t->DeleteUntracked(other, "d1"));
  EXPECT_OK(t->DeleteUntracked(SliceParts(key_parts, 1)));
  EXPECT_OK(t->DeleteUntracked(other, SliceParts(key_parts, 1)));
  EXPECT_OK(t->SingleDeleteUntracked("d1"));
  EXPECT_OK(t->SingleDeleteUntracked(other, "d1"));

  EXPECT_EQ(get_in(*t, "k2"), "v2,m");
  EXPECT_EQ(get_in(*t, "k2", other), "v2,m,n");
  rocksdb::PinnableSlice pinned;
  EXPECT_OK(t->Get(ReadOptions(), "k2", &pinned));
  EXPECT_EQ(pinned, Slice("v2,m"));
  std::string text;
  EXPECT_OK(t->Get(ReadOptions(), "k2", &text));
  pinned.Reset();
  EXPECT_OK(t->GetForUpdate(ReadOptions(), "k1", &pinned));
  EXPECT_EQ(pinned, Slice("v1"));
  EXPECT_OK(t->GetForUpdate(ReadOptions(), other, "k1", static_cast<std::string*>(nullptr)));
  std::vector<std::string> values;
  std::vector<Status> statuses = t->MultiGet(ReadOptions(), {"k1", "none"}, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_EQ(values[0], "v1");
  EXPECT_TRUE(statuses[1].IsNotFound());
  statuses = t->MultiGet(ReadOptions(), {handles_[0], other}, {"k2", "k2"}, &values);
  EXPECT_EQ(values[0] + " " + values[1], "v2,m v2,m,n");
  statuses = t->MultiGetForUpdate(ReadOptions(), {"k1", "none"}, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsNotFound());
  statuses = t->MultiGetForUpdate(ReadOptions(), {other}, {"k1"}, &values);
  EXPECT_EQ(values[0], "v1");
  const Slice keys[] = {"k2", "none"};
  rocksdb::PinnableSlice several[2];
  Status several_statuses[2];
  t->MultiGet(ReadOptions(), other, 2, keys, several, several_statuses);
  EXPECT_EQ(several[0], Slice("v2,m,n"));
  EXPECT_TRUE(several_statuses[1].IsNotFound());

  // Not seen by its own reads, and written all the same.
  t->DisableIndexing();
  EXPECT_OK(t->Put("unseen", "1"));
  t->EnableIndexing();
  EXPECT_EQ(get_in(*t, "unseen"), "(missing)");
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "k1=v1 k2=v2,m unseen=1 ");
  EXPECT_EQ(all(other), "k1=v1 k2=v2,m,n ");
}

TEST_F(Transactions, OrdersAndOperandsOfEveryKind) {
  options_.comparator = rocksdb::ReverseBytewiseComparator();
  open_transactions({"default", "other"});
  EXPECT_OK(put("b", "db"));
  TransactionPtr t = begin();
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(t->Put("c", "1"));
  EXPECT_OK(t->Put(handles_[1], "a", "2"));
  EXPECT_OK(t->Put(handles_[1], "c", "2"));
  EXPECT_TRUE(is_lock_timeout(put("c", "2")));
  const std::unique_ptr<rocksdb::Iterator> at(t->GetIterator(ReadOptions()));
  EXPECT_EQ(walk(*at), "c=1 b=db a=1 ");
  const std::unique_ptr<rocksdb::Iterator> of_other(t->GetIterator(ReadOptions(), handles_[1]));
  EXPECT_EQ(walk(*of_other), "c=2 a=2 ");
  t->SetSnapshot();
  EXPECT_OK(put("b", "later"));
  EXPECT_TRUE(is_conflict(t->Put("b", "1")));
  // Operands that are longer than the engine's.
  const std::string operand(70'000, 'o');
  EXPECT_OK(t->Merge("a", operand));
  EXPECT_OK(t->Merge("a", operand));
  EXPECT_EQ(get_in(*t, "a"), "1," + operand + "," + operand);
  EXPECT_OK(t->Commit());
  EXPECT_EQ(get("a"), "1," + operand + "," + operand);
  EXPECT_EQ(all(handles_[1]), "c=2 a=2 ");
  // Outside of transactions, too, beside who holds another key.
  TransactionPtr holder = begin();
  EXPECT_OK(holder->Put("held", "1"));
  EXPECT_OK(db_->Merge(WriteOptions(), handles_[1], "m", operand));
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.Merge(handles_[1], "m", operand));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(get("m", handles_[1]), operand + "," + operand);
  EXPECT_TRUE(is_lock_timeout(db_->Merge(WriteOptions(), "held", operand)));
  // As long as the engine takes them, with the key that they carry here, and a little longer.
  for (size_t bytes = (64 << 10) - 8; bytes < (64 << 10) + 3; ++bytes) {
    const std::string key = "n" + std::to_string(bytes);
    const std::string longest(bytes - key.size(), 'o');
    EXPECT_OK(db_->Merge(WriteOptions(), handles_[1], key, longest));
    EXPECT_OK(db_->Merge(WriteOptions(), handles_[1], key, "x"));
    EXPECT_EQ(get(key, handles_[1]), longest + ",x") << bytes;
  }
}

TEST_F(Transactions, IteratorsSeeItsOwnWrites) {
  open_transactions({"default", "other"});
  EXPECT_OK(put("a", "db"));
  EXPECT_OK(put("c", "db"));
  TransactionPtr t = begin();
  EXPECT_OK(t->Put("b", "1"));
  EXPECT_OK(t->Delete("c"));
  EXPECT_OK(t->Put(handles_[1], "z", "2"));
  const std::unique_ptr<rocksdb::Iterator> at(t->GetIterator(ReadOptions()));
  EXPECT_EQ(walk(*at), "a=db b=1 ");
  EXPECT_EQ(walk(*at, false), "b=1 a=db ");
  const std::unique_ptr<rocksdb::Iterator> of_other(t->GetIterator(ReadOptions(), handles_[1]));
  EXPECT_EQ(walk(*of_other), "z=2 ");
  // Of a snapshot the database's part.
  rocksdb::ManagedSnapshot snapshot(db_.get());
  EXPECT_OK(put("a", "later"));
  ReadOptions options;
  options.snapshot = snapshot.snapshot();
  const std::unique_ptr<rocksdb::Iterator> earlier(t->GetIterator(options));
  EXPECT_EQ(walk(*earlier), "a=db b=1 ");
  EXPECT_EQ(get_in(*t, "a"), "later");
}

TEST_F(Transactions, WritersOfAKeyWaitForItsEnd) {
  open_transactions();
  TransactionPtr first = begin();
  TransactionPtr second = begin();
  EXPECT_OK(first->Put("a", "1"));
  EXPECT_TRUE(is_lock_timeout(second->Put("a", "2")));
  EXPECT_TRUE(is_lock_timeout(second->PutUntracked("a", "2")));
  EXPECT_TRUE(is_lock_timeout(put("a", "2")));
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.Put("b", "2"));
  EXPECT_OK(batch.Put("a", "2"));
  EXPECT_TRUE(is_lock_timeout(db_->Write(WriteOptions(), &batch)));
  EXPECT_TRUE(is_lock_timeout(db_->Delete(WriteOptions(), "a")));
  EXPECT_TRUE(is_lock_timeout(db_->SingleDelete(WriteOptions(), "a")));
  EXPECT_TRUE(is_lock_timeout(db_->Merge(WriteOptions(), "a", "2")));
  EXPECT_EQ(get_in(*second, "a"), "(missing)");  // reads wait for nobody
  EXPECT_EQ(get("b"), "(missing)");
  EXPECT_OK(second->Put("b", "2"));
  EXPECT_OK(first->Commit());
  EXPECT_OK(second->Put("a", "3"));  // without a snapshot nothing is a conflict
  EXPECT_OK(second->Commit());
  EXPECT_EQ(all(), "a=3 b=2 ");
}

TEST_F(Transactions, WaitsAndTimeOutsAreAsAsked) {
  open_transactions();
  TransactionPtr holder = begin();
  EXPECT_OK(holder->Put("a", "1"));
  TransactionPtr waiter = begin(waiting());
  std::thread thread([&] { EXPECT_OK(waiter->Put("a", "2")); });
  await_waiter(*waiter);
  uint32_t family = 99;
  std::string key;
  EXPECT_EQ(waiter->GetWaitingTxns(&family, &key),
            std::vector<rocksdb::TransactionID>{holder->GetID()});
  EXPECT_EQ(family, 0U);
  EXPECT_EQ(key, "a");
  EXPECT_OK(holder->Commit());
  thread.join();
  EXPECT_TRUE(waiter->GetWaitingTxns(&family, &key).empty());
  EXPECT_OK(waiter->Commit());
  EXPECT_EQ(get("a"), "2");

  EXPECT_OK(transactions_->BeginTransaction(WriteOptions(), {}, holder.get())->Put("a", "3"));
  TransactionPtr other = begin(waiting());
  other->SetLockTimeout(1);
  EXPECT_TRUE(is_lock_timeout(other->Put("a", "4")));
  other->SetLockTimeout(-1);
  std::thread no_limit([&] { EXPECT_OK(other->Put("a", "4")); });
  await_waiter(*other);
  EXPECT_OK(holder->Rollback());
  no_limit.join();
}

TEST_F(Transactions, TheTimeOutOfOtherWritesIsTheDatabases) {
  db_options_.default_lock_timeout = -1;
  open_transactions();
  TransactionPtr holder = begin();
  EXPECT_OK(holder->Put("a", "1"));
  std::atomic<bool> begun{false};
  std::thread writer([&] {
    begun = true;
    EXPECT_OK(put("a", "2"));
  });
  while (!begun) std::this_thread::yield();
  EXPECT_OK(holder->Commit());
  writer.join();
  EXPECT_EQ(get("a"), "2");
}

TEST_F(Transactions, SharedLocks) {
  open_transactions();
  EXPECT_OK(put("a", "1"));
  TransactionPtr first = begin();
  TransactionPtr second = begin();
  EXPECT_EQ(get_for_update(*first, "a", false), "1");
  EXPECT_EQ(get_for_update(*second, "a", false), "1");
  const auto locks = transactions_->GetLockStatusData();
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks.begin()->first, 0U);
  const rocksdb::KeyLockInfo& info = locks.begin()->second;
  EXPECT_EQ(info.key, "a");
  EXPECT_FALSE(info.exclusive);
  EXPECT_EQ(info.ids.size(), 2U);
  EXPECT_TRUE(is_lock_timeout(first->Put("a", "2")));
  EXPECT_TRUE(is_lock_timeout(put("a", "2")));
  EXPECT_OK(second->Rollback());
  EXPECT_OK(first->Put("a", "2"));
  EXPECT_TRUE(transactions_->GetLockStatusData().begin()->second.exclusive);
  EXPECT_TRUE(is_lock_timeout(
      second->GetForUpdate(ReadOptions(), "a", static_cast<std::string*>(nullptr), false)));
  EXPECT_OK(first->Commit());
  EXPECT_TRUE(transactions_->GetLockStatusData().empty());
}

TEST_F(Transactions, ReadsForUpdateKeepWritersOut) {
  open_transactions();
  TransactionPtr t = begin();
  EXPECT_EQ(get_for_update(*t, "absent"), "(missing)");
  EXPECT_TRUE(is_lock_timeout(put("absent", "1")));
  EXPECT_EQ(t->GetNumKeys(), 1U);
  t->UndoGetForUpdate("absent");
  EXPECT_EQ(t->GetNumKeys(), 0U);
  EXPECT_OK(put("absent", "1"));
  // As often as it was read.
  EXPECT_EQ(get_for_update(*t, "absent"), "1");
  EXPECT_EQ(get_for_update(*t, "absent"), "1");
  t->UndoGetForUpdate("absent");
  EXPECT_TRUE(is_lock_timeout(put("absent", "2")));
  t->UndoGetForUpdate("absent");
  EXPECT_OK(put("absent", "2"));
  // Not what is written, nor what was read before a savepoint.
  EXPECT_EQ(get_for_update(*t, "b"), "(missing)");
  EXPECT_OK(t->Put("b", "1"));
  t->UndoGetForUpdate(db_->DefaultColumnFamily(), "b");
  EXPECT_EQ(get_for_update(*t, "c"), "(missing)");
  t->SetSavePoint();
  t->UndoGetForUpdate("c");
  EXPECT_EQ(t->GetNumKeys(), 2U);
  EXPECT_TRUE(is_lock_timeout(put("b", "2")));
  EXPECT_TRUE(is_lock_timeout(put("c", "2")));
  ReadOptions of_snapshot;
  rocksdb::ManagedSnapshot snapshot(db_.get());
  of_snapshot.snapshot = snapshot.snapshot();
  std::string value;
  EXPECT_TRUE(t->GetForUpdate(of_snapshot, "d", &value, true, false).IsInvalidArgument());
}

TEST_F(Transactions, WhatChangedSinceTheSnapshotIsAConflict) {
  open_transactions();
  EXPECT_OK(put("a", "1"));
  TransactionPtr t = begin();
  t->SetSnapshot();
  ASSERT_NE(t->GetSnapshot(), nullptr);
  EXPECT_EQ(t->GetTimestampedSnapshot().get(), t->GetSnapshot());
  EXPECT_OK(put("a", "2"));
  EXPECT_OK(put("made", "2"));
  EXPECT_EQ(get_in(*t, "a"), "2");  // reads do not depend on it
  ReadOptions of_snapshot;
  of_snapshot.snapshot = t->GetSnapshot();
  std::string value;
  EXPECT_OK(t->Get(of_snapshot, "a", &value));
  EXPECT_EQ(value, "1");
  EXPECT_TRUE(is_conflict(t->Put("a", "3")));
  EXPECT_TRUE(is_conflict(t->GetForUpdate(ReadOptions(), "made", &value)));
  EXPECT_OK(put("a", "4"));  // the lock went with the conflict
  EXPECT_EQ(t->GetNumKeys(), 0U);
  EXPECT_OK(t->Put("b", "3"));
  // Untracked, and without validation.
  EXPECT_OK(t->PutUntracked("a", "5"));
  EXPECT_TRUE(is_conflict(t->Put("a", "6")));
  EXPECT_OK(
      t->GetForUpdate(ReadOptions(), "made", static_cast<std::string*>(nullptr), true, false));
  t->SetSnapshot();
  EXPECT_OK(t->Put("a", "6"));
  EXPECT_OK(t->Put(db_->DefaultColumnFamily(), "a", "7", true));
  EXPECT_TRUE(t->Put(db_->DefaultColumnFamily(), "q", "7", true).IsInvalidArgument());
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=7 b=3 made=2 ");

  TransactionOptions with_snapshot;
  with_snapshot.set_snapshot = true;
  TransactionPtr again = begin(with_snapshot);
  EXPECT_OK(put("a", "8"));
  EXPECT_TRUE(is_conflict(again->Delete("a")));
  again->ClearSnapshot();
  EXPECT_EQ(again->GetSnapshot(), nullptr);
  EXPECT_OK(again->Delete("a"));
}

class Notified final : public rocksdb::TransactionNotifier {
 public:
  void SnapshotCreated(const rocksdb::Snapshot* newSnapshot) override {
    ++times;
    number = newSnapshot->GetSequenceNumber();
  }
  int times = 0;
  rocksdb::SequenceNumber number = 0;
};

TEST_F(Transactions, SnapshotsOnTheNextOperation) {
  open_transactions();
  const auto notified = std::make_shared<Notified>();
  TransactionPtr t = begin();
  t->SetSnapshotOnNextOperation(notified);
  EXPECT_EQ(t->GetSnapshot(), nullptr);
  EXPECT_OK(put("a", "1"));
  EXPECT_EQ(get_in(*t, "a"), "1");
  EXPECT_EQ(notified->times, 0);
  EXPECT_OK(t->Put("a", "2"));
  EXPECT_EQ(notified->times, 1);
  ASSERT_NE(t->GetSnapshot(), nullptr);
  EXPECT_EQ(t->GetSnapshot()->GetSequenceNumber(), notified->number);
  EXPECT_OK(put("b", "1"));
  EXPECT_TRUE(is_conflict(t->Put("b", "2")));
  EXPECT_EQ(notified->times, 1);
  t->SetSnapshotOnNextOperation();
  EXPECT_OK(t->Put("b", "2"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=2 b=2 ");
}

TEST_F(Transactions, Savepoints) {
  open_transactions();
  TransactionPtr t = begin();
  EXPECT_TRUE(t->RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(t->PopSavePoint().IsNotFound());
  t->SetSavePoint();  // before the first lock
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(t->RollbackToSavePoint());
  EXPECT_OK(put("a", "0"));
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_EQ(get_for_update(*t, "shared", false), "(missing)");
  t->SetSavePoint();
  EXPECT_OK(t->Put("a", "2"));
  EXPECT_OK(t->Put("b", "2"));
  EXPECT_OK(t->Put("shared", "2"));
  t->SetSavePoint();
  EXPECT_OK(t->Delete("c"));
  EXPECT_OK(t->PopSavePoint());
  EXPECT_EQ(t->GetNumKeys(), 4U);
  EXPECT_TRUE(is_lock_timeout(put("c", "0")));
  EXPECT_OK(t->RollbackToSavePoint());
  EXPECT_EQ(t->GetNumKeys(), 2U);
  EXPECT_EQ(t->GetNumPuts(), 1U);
  EXPECT_EQ(t->GetNumDeletes(), 0U);
  EXPECT_EQ(get_in(*t, "a"), "1");
  EXPECT_OK(put("b", "0"));  // locked behind the savepoint alone
  EXPECT_OK(put("c", "0"));
  EXPECT_TRUE(is_lock_timeout(put("a", "0")));
  TransactionPtr other = begin();
  EXPECT_EQ(get_for_update(*other, "shared", false), "(missing)");  // no longer exclusive
  EXPECT_TRUE(is_lock_timeout(t->Put("shared", "3")));
  EXPECT_OK(other->Rollback());
  EXPECT_OK(t->Put("shared", "3"));
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 b=0 c=0 shared=3 ");
  EXPECT_TRUE(t->RollbackToSavePoint().IsInvalidArgument());
}

TEST_F(Transactions, DeadlocksAreFoundAndTold) {
  open_transactions();
  TransactionOptions options = waiting();
  options.deadlock_detect = true;
  options.deadlock_detect_depth = 10;
  TransactionPtr first = begin(options);
  TransactionPtr second = begin(options);
  EXPECT_TRUE(first->IsDeadlockDetect());
  EXPECT_NE(first->GetID(), second->GetID());
  EXPECT_OK(first->Put("a", "1"));
  EXPECT_OK(second->Put("b", "2"));
  std::thread thread([&] { EXPECT_OK(first->Put("b", "1")); });
  await_waiter(*first);
  EXPECT_TRUE(transactions_->GetDeadlockInfoBuffer().empty());
  const Status refused =
      second->GetForUpdate(ReadOptions(), "a", static_cast<std::string*>(nullptr), false);
  EXPECT_TRUE(refused.IsDeadlock()) << refused.ToString();
  EXPECT_TRUE(refused.IsBusy());
  std::vector<rocksdb::DeadlockPath> paths = transactions_->GetDeadlockInfoBuffer();
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_FALSE(paths[0].empty());
  EXPECT_FALSE(paths[0].limit_exceeded);
  EXPECT_GT(paths[0].deadlock_time, 0);
  ASSERT_EQ(paths[0].path.size(), 2U);
  const rocksdb::DeadlockInfo& victim = paths[0].path[0];
  EXPECT_EQ(victim.m_txn_id, second->GetID());
  EXPECT_EQ(victim.m_waiting_key, "a");
  EXPECT_EQ(victim.m_cf_id, 0U);
  EXPECT_FALSE(victim.m_exclusive);
  EXPECT_EQ(paths[0].path[1].m_txn_id, first->GetID());
  EXPECT_EQ(paths[0].path[1].m_waiting_key, "b");
  EXPECT_TRUE(paths[0].path[1].m_exclusive);
  EXPECT_OK(second->Rollback());
  thread.join();
  EXPECT_OK(first->Commit());
  EXPECT_EQ(all(), "a=1 b=1 ");
  transactions_->SetDeadlockInfoBufferSize(0);
  EXPECT_TRUE(transactions_->GetDeadlockInfoBuffer().empty());
}

TEST_F(Transactions, WhatHasExpiredGivesItsLocksAway) {
  open_transactions();
  TransactionOptions at_once;
  at_once.expiration = 0;
  TransactionPtr expired = begin(at_once);
  EXPECT_OK(expired->Put("a", "1"));
  EXPECT_OK(expired->Put("b", "1"));
  TransactionPtr t = begin();
  EXPECT_OK(t->Put("a", "2"));
  EXPECT_EQ(expired->GetState(), Transaction::LOCKS_STOLEN);
  EXPECT_OK(expired->Put("c", "1"));  // what it does has no consequences any more
  EXPECT_TRUE(expired->Commit().IsExpired());
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=2 ");
  EXPECT_TRUE(expired->Rollback().IsInvalidArgument());
  expired.reset();

  // Writes outside of transactions get them, too, and who waits gets them in time.
  TransactionPtr another = begin(at_once);
  EXPECT_OK(another->Put("a", "3"));
  EXPECT_OK(put("a", "4"));
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.Put("d", "4"));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_OK(db_->Delete(WriteOptions(), "d"));
  EXPECT_OK(db_->Merge(WriteOptions(), "a", "5"));
  EXPECT_TRUE(another->Commit().IsExpired());
  another.reset();
  TransactionOptions soon;
  soon.expiration = 20;
  TransactionPtr for_a_while = begin(soon);
  EXPECT_OK(for_a_while->Put("a", "6"));
  TransactionPtr waiter = begin(waiting());
  EXPECT_OK(waiter->Put("a", "7"));
  EXPECT_TRUE(for_a_while->Commit().IsExpired());
  EXPECT_OK(waiter->Commit());
  EXPECT_EQ(all(), "a=7 ");
  TransactionOptions late;
  late.expiration = 3'600'000;
  TransactionPtr in_time = begin(late);
  EXPECT_OK(in_time->Put("a", "8"));
  EXPECT_TRUE(is_lock_timeout(put("a", "9")));
  EXPECT_OK(in_time->Commit());
  EXPECT_EQ(all(), "a=8 ");
}

}  // namespace
}  // namespace hawthorn::rocks
