// A StackableDB does what the database below it does.

#include <rocksdb/utilities/stackable_db.h>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::DB;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::StackableDB;
using rocksdb::Status;
using rocksdb::WriteOptions;

class Stackable : public RocksTest {
 protected:
  Stackable() {
    options_.create_missing_column_families = true;
    options_.merge_operator = std::make_shared<Append>();
  }
  void open_stacked() {
    ASSERT_OK(try_open({"default", "other"}));
    below_ = db_.release();
    db_ = std::make_unique<StackableDB>(below_);
  }

  DB* below_ = nullptr;
};

TEST_F(Stackable, WritesAndReads) {
  open_stacked();
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  EXPECT_EQ(family, below_->DefaultColumnFamily());
  EXPECT_OK(db_->Put(WriteOptions(), family, "a", "1"));
  EXPECT_OK(db_->Merge(WriteOptions(), family, "a", "2"));
  EXPECT_OK(db_->Put(WriteOptions(), "b", "1"));
  EXPECT_OK(db_->Put(WriteOptions(), "c", "1"));
  EXPECT_OK(db_->Put(WriteOptions(), "d", "1"));
  EXPECT_OK(db_->Put(WriteOptions(), handles_[1], "z", "1"));
  EXPECT_OK(db_->Delete(WriteOptions(), family, "b"));
  EXPECT_OK(db_->SingleDelete(WriteOptions(), family, "c"));
  EXPECT_OK(db_->DeleteRange(WriteOptions(), family, "d", "e"));
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.Put("e", "1"));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(all(), "a=1,2 e=1 ");
  EXPECT_EQ(all(handles_[1]), "z=1 ");

  PinnableSlice value;
  EXPECT_OK(db_->Get(ReadOptions(), family, "a", &value));
  EXPECT_EQ(value, Slice("1,2"));
  const Slice keys[] = {"e", "none"};
  PinnableSlice values[2];
  Status statuses[2];
  db_->MultiGet(ReadOptions(), family, 2, keys, values, statuses);
  EXPECT_EQ(values[0], Slice("1"));
  EXPECT_TRUE(statuses[1].IsNotFound());
  const Slice two[] = {"e", "z"};
  PinnableSlice of_two[2];
  rocksdb::ColumnFamilyHandle* families[] = {family, handles_[1]};
  db_->MultiGet(ReadOptions(), 2, families, two, of_two, statuses);
  EXPECT_EQ(of_two[1], Slice("1"));
  std::string text;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), family, "a", &text));
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), family, "none", &text));
  std::vector<rocksdb::Iterator*> iterators;
  EXPECT_OK(db_->NewIterators(ReadOptions(), {family, handles_[1]}, &iterators));
  ASSERT_EQ(iterators.size(), 2U);
  EXPECT_EQ(walk(*iterators[1]), "z=1 ");
  for (const rocksdb::Iterator* each : iterators) delete each;
  const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
  EXPECT_OK(put("a", "later"));
  EXPECT_EQ(get("a", nullptr, snapshot), "1,2");
  db_->ReleaseSnapshot(snapshot);
  EXPECT_EQ(db_->GetLatestSequenceNumber(), below_->GetLatestSequenceNumber());
}

TEST_F(Stackable, FamiliesAndTheRest) {
  open_stacked();
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  rocksdb::ColumnFamilyHandle* made = nullptr;
  EXPECT_OK(db_->CreateColumnFamily(options_, "third", &made));
  EXPECT_OK(db_->DropColumnFamily(made));
  EXPECT_OK(db_->DestroyColumnFamilyHandle(made));
  std::vector<rocksdb::ColumnFamilyHandle*> several;
  EXPECT_OK(db_->CreateColumnFamilies(options_, {"fourth"}, &several));
  EXPECT_OK(db_->DropColumnFamilies(several));
  for (rocksdb::ColumnFamilyHandle* each : several) delete each;
  EXPECT_OK(db_->CreateColumnFamilies({{"fifth", options_}}, &several));
  EXPECT_EQ(several[0]->GetName(), "fifth");
  for (rocksdb::ColumnFamilyHandle* each : several) delete each;

  EXPECT_OK(put("a", "1"));
  std::string text;
  EXPECT_TRUE(db_->GetProperty(family, DB::Properties::kStats, &text));
  uint64_t number = 0;
  EXPECT_TRUE(db_->GetIntProperty(family, DB::Properties::kEstimateNumKeys, &number));
  EXPECT_EQ(number, 1U);
  EXPECT_TRUE(db_->GetAggregatedIntProperty(DB::Properties::kEstimateNumKeys, &number));
  EXPECT_FALSE(db_->GetProperty(family, "rocksdb.none", &text));
  std::map<std::string, std::string> figures;
  EXPECT_TRUE(db_->GetMapProperty(family, DB::Properties::kDBStats, &figures));
  EXPECT_TRUE(figures.contains("db.wal_syncs"));
  EXPECT_OK(db_->ResetStats());
  const rocksdb::Range range("a", "z");
  uint64_t size = 1;
  EXPECT_OK(
      db_->GetApproximateSizes(rocksdb::SizeApproximationOptions(), family, &range, 1, &size));
  EXPECT_OK(db_->Flush(rocksdb::FlushOptions(), family));
  EXPECT_OK(db_->Flush(rocksdb::FlushOptions(), {family, handles_[1]}));
  EXPECT_OK(db_->FlushWAL(true));
  EXPECT_OK(db_->SyncWAL());
  db_->DisableManualCompaction();
  EXPECT_TRUE(db_->CompactRange({}, family, nullptr, nullptr).IsIncomplete());
  db_->EnableManualCompaction();
  EXPECT_OK(db_->CompactRange({}, family, nullptr, nullptr));
  EXPECT_OK(db_->WaitForCompact({}));
  EXPECT_OK(db_->EnableAutoCompaction({family}));
  EXPECT_OK(db_->VerifyChecksum(ReadOptions()));
  EXPECT_EQ(db_->NumberLevels(family), below_->NumberLevels(family));
  EXPECT_EQ(db_->MaxMemCompactionLevel(family), below_->MaxMemCompactionLevel(family));
  EXPECT_EQ(db_->Level0StopWriteTrigger(family), below_->Level0StopWriteTrigger(family));
  EXPECT_EQ(db_->GetName(), path_);
  EXPECT_EQ(db_->GetEnv(), below_->GetEnv());
  EXPECT_EQ(db_->GetOptions(family).merge_operator, options_.merge_operator);
  EXPECT_TRUE(db_->GetDBOptions().create_missing_column_families);
  std::string identity;
  EXPECT_OK(db_->GetDbIdentity(identity));
  EXPECT_OK(below_->GetDbIdentity(text));
  EXPECT_EQ(identity, text);
  EXPECT_OK(db_->GetDbSessionId(identity));
  EXPECT_OK(below_->GetDbSessionId(text));
  EXPECT_EQ(identity, text);
  EXPECT_EQ(db_->GetRootDB(), below_);
  EXPECT_OK(db_->SetOptions(db_->DefaultColumnFamily(), {{"ttl", "17"}}));
  EXPECT_EQ(below_->GetOptions().ttl, 17U);
  EXPECT_OK(db_->SetDBOptions({{"max_open_files", "17"}}));
  EXPECT_EQ(below_->GetDBOptions().max_open_files, 17);
}

TEST_F(Stackable, RefusesWhatIsRefusedBelow) {
  open_stacked();
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  EXPECT_TRUE(db_->Resume().IsNotSupported());
  EXPECT_TRUE(db_->PauseBackgroundWork().IsNotSupported());
  EXPECT_TRUE(db_->ContinueBackgroundWork().IsNotSupported());
  EXPECT_TRUE(db_->LockWAL().IsNotSupported());
  EXPECT_TRUE(db_->UnlockWAL().IsNotSupported());
  EXPECT_TRUE(db_->DisableFileDeletions().IsNotSupported());
  EXPECT_TRUE(db_->EnableFileDeletions().IsNotSupported());
  EXPECT_TRUE(db_->PromoteL0(family, 1).IsNotSupported());
  EXPECT_TRUE(db_->TryCatchUpWithPrimary().IsNotSupported());
  std::unique_ptr<rocksdb::TransactionLogIterator> iterator;
  EXPECT_OK(db_->GetUpdatesSince(db_->GetLatestSequenceNumber(), &iterator));
}

TEST_F(Stackable, AcceptsWhatIsAcceptedBelow) {
  open_stacked();
  EXPECT_OK(db_->SuggestCompactRange(db_->DefaultColumnFamily(), nullptr, nullptr));
}

TEST_F(Stackable, OwnsOrShares) {
  open();
  const std::shared_ptr<DB> shared(db_.release());
  {
    StackableDB first(shared);
    StackableDB second(shared);
    EXPECT_EQ(first.GetBaseDB(), shared.get());
    EXPECT_OK(first.Put(WriteOptions(), "a", "1"));
  }
  std::string value;
  EXPECT_OK(shared->Get(ReadOptions(), "a", &value));
  EXPECT_OK(shared->Close());

  std::unique_ptr<DB> owned;
  ASSERT_OK(DB::Open(options_, directory_ + "/another", &owned));
  StackableDB over(std::move(owned));
  EXPECT_OK(over.Put(WriteOptions(), "a", "2"));
  EXPECT_OK(over.Close());
}

}  // namespace
}  // namespace hawthorn::rocks
