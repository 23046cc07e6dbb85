// Commits in two phases: what is prepared stays, also when the database is opened again.

#include "shims/rocksdb/src/transactions_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::TransactionOptions;
using rocksdb::WriteOptions;

class Prepared : public TransactionsTest, public ::testing::WithParamInterface<int> {
 protected:
  Prepared() {
    db_options_.transaction_lock_timeout = 0;
    db_options_.default_lock_timeout = 0;
    db_options_.write_policy = static_cast<rocksdb::TxnDBWritePolicy>(GetParam());
  }
  TransactionPtr prepare(const std::string& name, const std::string& key) {
    TransactionPtr t = begin();
    EXPECT_OK(t->SetName(name));
    EXPECT_OK(t->Put(key, name));
    EXPECT_OK(t->Prepare());
    return t;
  }
  std::string prepared_names() {
    std::vector<Transaction*> found;
    transactions_->GetAllPreparedTransactions(&found);
    std::string names;
    for (const Transaction* t : found) names += t->GetName() + " ";
    return names;
  }
};

TEST_P(Prepared, PrepareThenCommitOrRollback) {
  open_transactions();
  TransactionPtr t = begin();
  EXPECT_TRUE(t->Prepare().IsInvalidArgument());  // without a name
  EXPECT_TRUE(t->SetName("").IsInvalidArgument());
  EXPECT_TRUE(t->SetName(std::string(201, 'n')).IsInvalidArgument());
  EXPECT_OK(t->SetName("first"));
  EXPECT_TRUE(t->SetName("again").IsInvalidArgument());
  EXPECT_EQ(t->GetName(), rocksdb::TransactionName("first"));
  EXPECT_EQ(transactions_->GetTransactionByName("first"), t.get());
  EXPECT_EQ(transactions_->GetTransactionByName("none"), nullptr);
  TransactionPtr other = begin();
  EXPECT_TRUE(other->SetName("first").IsInvalidArgument());
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(t->Merge("a", "2"));
  EXPECT_EQ(prepared_names(), "");
  EXPECT_OK(t->Prepare());
  EXPECT_EQ(t->GetState(), Transaction::PREPARED);
  EXPECT_EQ(prepared_names(), "first ");
  EXPECT_TRUE(t->Prepare().IsInvalidArgument());
  EXPECT_TRUE(t->SetName("late").IsInvalidArgument());
  EXPECT_TRUE(t->Put("b", "1").IsInvalidArgument());
  EXPECT_TRUE(t->RollbackToSavePoint().IsInvalidArgument());
  EXPECT_EQ(get_in(*t, "a"), "1,2");
  EXPECT_EQ(get("a"), "(missing)");
  EXPECT_TRUE(other->Put("a", "3").IsTimedOut());
  EXPECT_TRUE(put("a", "3").IsTimedOut());
  EXPECT_OK(t->Commit());
  EXPECT_EQ(t->GetState(), Transaction::COMMITTED);
  EXPECT_EQ(get("a"), "1,2");
  EXPECT_EQ(transactions_->GetTransactionByName("first"), nullptr);
  EXPECT_TRUE(t->Prepare().IsInvalidArgument());

  t = prepare("first", "b");  // the name is free again
  EXPECT_OK(t->Rollback());
  EXPECT_EQ(t->GetState(), Transaction::ROLLEDBACK);
  EXPECT_TRUE(t->Commit().IsInvalidArgument());
  EXPECT_TRUE(t->Prepare().IsInvalidArgument());
  EXPECT_TRUE(t->Rollback().IsInvalidArgument());
  EXPECT_OK(put("b", "free"));
  EXPECT_OK(transactions_->BeginTransaction(WriteOptions(), {}, t.get())->SetName("first"));
  EXPECT_OK(t->Put("b", "3"));
  EXPECT_OK(t->Commit());  // a name does not make it two phases
  EXPECT_EQ(all(), "a=1,2 b=3 ");
  EXPECT_EQ(transactions_->GetTransactionByName("first"), nullptr);
}

TEST_P(Prepared, TwoPhasesMayBeWanted) {
  open_transactions();
  TransactionOptions options;
  options.skip_prepare = false;
  TransactionPtr t = begin(options);
  EXPECT_OK(t->SetName("t"));
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_TRUE(t->Commit().IsTxnNotPrepared());
  EXPECT_OK(t->Prepare());
  EXPECT_OK(t->GetCommitTimeWriteBatch()->Put("x", "1"));
  EXPECT_TRUE(t->Commit().IsNotSupported());
  t->GetCommitTimeWriteBatch()->Clear();
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "a=1 ");
  // What is prepared does not expire.
  options.expiration = 3'600'000;
  TransactionPtr late = begin(options);
  EXPECT_OK(late->SetName("late"));
  EXPECT_OK(late->Put("a", "2"));
  EXPECT_OK(late->Prepare());
  EXPECT_TRUE(put("a", "3").IsTimedOut());
  EXPECT_OK(late->Commit());
  options.expiration = 0;
  TransactionPtr expired = begin(options);
  EXPECT_OK(expired->SetName("expired"));
  EXPECT_OK(expired->Put("a", "4"));
  EXPECT_TRUE(expired->Prepare().IsExpired());
  EXPECT_EQ(get("a"), "2");
}

TEST_P(Prepared, StaysOverAnOpen) {
  open_transactions({"default", "other"});
  EXPECT_OK(put("read", "1"));
  TransactionPtr t = begin();
  EXPECT_OK(t->SetName("kept"));
  EXPECT_OK(t->Put("a", "1"));
  EXPECT_OK(t->Put(handles_[1], "a", "2"));
  EXPECT_EQ(get_for_update(*t, "read"), "1");
  EXPECT_OK(t->Prepare());
  TransactionPtr undone = prepare("undone", "b");
  TransactionPtr committed = prepare("committed", "c");
  EXPECT_OK(committed->Commit());
  TransactionPtr left = begin();
  EXPECT_OK(left->SetName("left"));
  EXPECT_OK(left->Put("d", "1"));
  for (TransactionPtr* each : {&t, &undone, &committed, &left}) each->reset();
  close();

  for (int round = 0; round < 2; ++round) {
    open_transactions({"default", "other"});
    EXPECT_EQ(prepared_names(), "kept undone ");
    Transaction* const found = transactions_->GetTransactionByName("kept");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->GetState(), Transaction::PREPARED);
    EXPECT_EQ(found->GetWriteBatch()->GetWriteBatch()->Count(), 0U);
    EXPECT_TRUE(found->Put("x", "1").IsInvalidArgument());
    EXPECT_EQ(all(), "c=committed read=1 ");
    EXPECT_TRUE(put("a", "3").IsTimedOut());
    EXPECT_TRUE(put("read", "3").IsTimedOut());
    if (round == 0) close();
  }
  // Taken over by who asked, or left to the database.
  const TransactionPtr kept(transactions_->GetTransactionByName("kept"));
  EXPECT_OK(kept->Commit());
  EXPECT_EQ(kept->GetState(), Transaction::COMMITTED);
  EXPECT_OK(transactions_->GetTransactionByName("undone")->Rollback());
  EXPECT_EQ(prepared_names(), "");
  EXPECT_EQ(all(), "a=1 c=committed read=1 ");
  EXPECT_EQ(all(handles_[1]), "a=2 ");
  EXPECT_OK(put("b", "free"));
}

TEST_P(Prepared, OfADestroyedObjectTheNextOpenFindsIt) {
  open_transactions();
  prepare("t", "a").reset();
  EXPECT_EQ(transactions_->GetTransactionByName("t"), nullptr);
  EXPECT_TRUE(put("a", "2").IsTimedOut());
  close();
  open_transactions();
  TransactionPtr found(transactions_->GetTransactionByName("t"));
  EXPECT_OK(found->Commit());
  EXPECT_EQ(all(), "a=t ");
  found.reset();
  close();
  open_transactions();
  EXPECT_EQ(prepared_names(), "");
  EXPECT_EQ(all(), "a=t ");
}

TEST_P(Prepared, WhatCannotBePreparedIsAsBefore) {
  open_transactions({"default", "other"});
  TransactionPtr t = begin();
  EXPECT_OK(t->SetName("t"));
  EXPECT_OK(t->Merge("b", "1"));
  t->SetSavePoint();
  EXPECT_OK(t->Put(handles_[1], "a", "1"));
  EXPECT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_TRUE(t->Prepare().IsInvalidArgument());
  EXPECT_EQ(t->GetState(), Transaction::STARTED);
  EXPECT_TRUE(put("b", "2").IsTimedOut());
  EXPECT_OK(t->RollbackToSavePoint());
  EXPECT_OK(t->Prepare());
  EXPECT_OK(t->Commit());
  EXPECT_EQ(all(), "b=1 ");  // merged once
  // Nothing can be prepared, too.
  TransactionPtr empty = begin();
  EXPECT_OK(empty->SetName("empty"));
  EXPECT_OK(empty->Prepare());
  EXPECT_EQ(prepared_names(), "empty ");
  EXPECT_OK(empty->Commit());
}

// Its tree stays until the outcome, and the database opens all the same.
TEST_P(Prepared, OverAFamilyThatIsDropped) {
  open_transactions({"default", "other"});
  TransactionPtr t = begin();
  EXPECT_OK(t->SetName("t"));
  EXPECT_OK(t->Put(handles_[1], "a", "1"));
  EXPECT_OK(t->Put("b", "1"));
  EXPECT_OK(t->Prepare());
  EXPECT_OK(db_->DropColumnFamily(handles_[1]));
  t.reset();
  close();
  open_transactions();
  TransactionPtr found(transactions_->GetTransactionByName("t"));
  ASSERT_NE(found, nullptr);
  EXPECT_OK(found->Commit());
  EXPECT_EQ(all(), "b=1 ");
  found.reset();
  close();
  open_transactions({"default", "other"});  // another one of the name
  EXPECT_EQ(all(handles_[1]), "");
  EXPECT_EQ(all(), "b=1 ");
}

std::string policy_name(const ::testing::TestParamInfo<int>& instance) {
  static const char* const kNames[] = {"committed", "prepared", "unprepared"};
  return kNames[instance.param];
}

INSTANTIATE_TEST_SUITE_P(WritePolicies, Prepared,
                         ::testing::Values(int{rocksdb::WRITE_COMMITTED},
                                           int{rocksdb::WRITE_PREPARED},
                                           int{rocksdb::WRITE_UNPREPARED}),
                         policy_name);

}  // namespace
}  // namespace hawthorn::rocks
