// A secondary reads beside the primary, here within one process: what it has caught up to.

#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include <atomic>
#include <thread>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::DB;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

// The primary is primary_; db_ and handles_ are those of the secondary.
class Secondary : public RocksTest {
 protected:
  Secondary() {
    options_.create_missing_column_families = true;
    options_.merge_operator = std::make_shared<Append>();
  }
  void TearDown() override {
    close();
    close_primary();
  }

  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors(const std::vector<std::string>& names) {
    std::vector<rocksdb::ColumnFamilyDescriptor> all;
    for (const std::string& name : names) {
      all.emplace_back(name, rocksdb::ColumnFamilyOptions(options_));
    }
    return all;
  }
  void open_primary(const std::vector<std::string>& names = {"default", "other"}) {
    ASSERT_OK(DB::Open(options_, path_, descriptors(names), &families_, &primary_));
  }
  void close_primary() {
    for (rocksdb::ColumnFamilyHandle* family : families_) delete family;
    families_.clear();
    primary_.reset();
  }
  void open_secondary(const std::vector<std::string>& names = {"default", "other"}) {
    ASSERT_OK(DB::OpenAsSecondary(options_, path_, directory_ + "/secondary", descriptors(names),
                                  &handles_, &db_));
  }
  void write(const std::string& key, const std::string& value, size_t family = 0) {
    EXPECT_OK(primary_->Put(WriteOptions(), families_[family], key, value));
  }
  void catch_up() { EXPECT_OK(db_->TryCatchUpWithPrimary()); }
  // The follower's view cannot go on behind a transaction so large, and is made anew.
  void write_much() { write("large", std::string(size_t{1} << 20, 'x'), 1); }

  std::unique_ptr<DB> primary_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

TEST_F(Secondary, SeesWhatItHasCaughtUpTo) {
  open_primary();
  write("a", "1");
  open_secondary();
  EXPECT_EQ(all(), "a=1 ");
  const uint64_t before = db_->GetLatestSequenceNumber();
  write("a", "2");
  write("b", "3");
  write("a", "4", 1);
  EXPECT_OK(primary_->Merge(WriteOptions(), families_[1], "a", "5"));
  EXPECT_EQ(all(), "a=1 ");
  EXPECT_EQ(all(handles_[1]), "");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before);
  catch_up();
  EXPECT_EQ(all(), "a=2 b=3 ");
  EXPECT_EQ(all(handles_[1]), "a=4,5 ");
  EXPECT_GT(db_->GetLatestSequenceNumber(), before);
  EXPECT_OK(primary_->Flush({}));
  EXPECT_OK(primary_->Delete(WriteOptions(), "b"));
  catch_up();
  EXPECT_EQ(get("b"), "(missing)");
  EXPECT_EQ(get("a"), "2");
}

// The family's mark comes while the secondary is open, and its operator stays bound.
TEST_F(Secondary, ReadsEntities) {
  using rocksdb::PinnableWideColumns;
  using rocksdb::WideColumns;
  open_primary();
  write("a", "1");
  open_secondary();
  const WideColumns columns{{rocksdb::kDefaultWideColumnName, "d"}, {"x", "y"}};
  const WideColumns plain{{rocksdb::kDefaultWideColumnName, "1"}};
  ASSERT_OK(primary_->PutEntity(WriteOptions(), families_[0], "b", columns));
  EXPECT_OK(primary_->Merge(WriteOptions(), families_[0], "b", "e"));
  catch_up();
  EXPECT_EQ(all(), "a=1 b=d,e ");
  const WideColumns merged{{rocksdb::kDefaultWideColumnName, "d,e"}, {"x", "y"}};
  PinnableWideColumns read;
  EXPECT_OK(db_->GetEntity(ReadOptions(), handles_[0], "b", &read));
  EXPECT_EQ(read.columns(), merged);
  EXPECT_TRUE(db_->GetEntity(ReadOptions(), handles_[1], "b", &read).IsNotFound());
  EXPECT_TRUE(db_->GetEntity(ReadOptions(), nullptr, "b", &read).IsInvalidArgument());
  const Slice keys[] = {"a", "b"};
  PinnableWideColumns several[2];
  Status statuses[2];
  db_->MultiGetEntity(ReadOptions(), handles_[0], 2, keys, several, statuses);
  EXPECT_EQ(several[0].columns(), plain);
  EXPECT_EQ(several[1].columns(), merged);
  rocksdb::PinnableAttributeGroups groups;
  for (rocksdb::ColumnFamilyHandle* handle : handles_) groups.emplace_back(handle);
  EXPECT_OK(db_->GetEntity(ReadOptions(), "b", &groups));
  EXPECT_EQ(groups[0].columns(), merged);
  EXPECT_TRUE(groups[1].status().IsNotFound());
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(ReadOptions()));
  at->Seek("b");
  ASSERT_TRUE(at->Valid());
  EXPECT_EQ(at->columns(), merged);
  EXPECT_TRUE(db_->PutEntity(WriteOptions(), handles_[0], "c", columns).IsNotSupported());
}

TEST_F(Secondary, ReadsInAllWays) {
  open_primary();
  write("a", "1");
  write("b", std::string(5000, 'b'));
  write("c", "3", 1);
  open_secondary();
  PinnableSlice value;
  EXPECT_OK(db_->Get(ReadOptions(), handles_[0], "b", &value));
  EXPECT_EQ(value.size(), 5000u);
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(
      ReadOptions(), {handles_[1], handles_[0], handles_[1]}, {"c", "a", "a"}, &values);
  EXPECT_EQ(values[0] + values[1], "31");
  EXPECT_TRUE(statuses[2].IsNotFound());
  const Slice keys[] = {"a", "z"};
  PinnableSlice read[2];
  Status read_statuses[2];
  db_->MultiGet(ReadOptions(), handles_[0], 2, keys, read, read_statuses);
  EXPECT_EQ(read[0], Slice("1"));
  EXPECT_TRUE(read_statuses[1].IsNotFound());
  std::string found;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "a", &found));
  EXPECT_EQ(found, "1");
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "z", &found));
  std::vector<rocksdb::Iterator*> iterators;
  EXPECT_OK(db_->NewIterators(ReadOptions(), handles_, &iterators));
  EXPECT_EQ(walk(*iterators[1]), "c=3 ");
  for (rocksdb::Iterator* iterator : iterators) delete iterator;
  EXPECT_EQ(get(std::string(70'000, 'k')), "(missing)");
}

TEST_F(Secondary, IteratorsStayWhereTheyAreUntilTheyAreRefreshed) {
  open_primary();
  write("a", "1");
  open_secondary();
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(ReadOptions()));
  write("b", "2");
  catch_up();
  EXPECT_EQ(walk(*iterator), "a=1 ");
  EXPECT_OK(iterator->Refresh());
  EXPECT_EQ(walk(*iterator, false), "b=2 a=1 ");
  write_much();
  write("c", "3");
  catch_up();
  EXPECT_EQ(walk(*iterator), "a=1 b=2 ");
  EXPECT_OK(iterator->Refresh());
  EXPECT_EQ(walk(*iterator), "a=1 b=2 c=3 ");
  iterator->SeekForPrev("bb");
  EXPECT_EQ(iterator->key(), Slice("b"));
  std::string pinned;
  EXPECT_OK(iterator->GetProperty("rocksdb.iterator.is-key-pinned", &pinned));
}

TEST_F(Secondary, SnapshotsStay) {
  open_primary();
  write("a", "1");
  open_secondary();
  const rocksdb::Snapshot* const first = db_->GetSnapshot();
  write("a", "2");
  catch_up();
  const rocksdb::Snapshot* const second = db_->GetSnapshot();
  write_much();
  write("a", "3");
  catch_up();
  EXPECT_EQ(get("a", nullptr, first), "1");
  EXPECT_EQ(get("a", nullptr, second), "2");
  EXPECT_EQ(get("a"), "3");
  EXPECT_LT(first->GetSequenceNumber(), second->GetSequenceNumber());
  ReadOptions options;
  options.snapshot = first;
  EXPECT_EQ(all(nullptr, options), "a=1 ");
  uint64_t count = 0;
  EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kNumSnapshots, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_TRUE(db_->GetAggregatedIntProperty(DB::Properties::kNumSnapshots, &count));
  EXPECT_EQ(count, 4u);
  EXPECT_TRUE(db_->Close().IsAborted());
  db_->ReleaseSnapshot(first);
  db_->ReleaseSnapshot(second);
  EXPECT_OK(db_->Close());
}

TEST_F(Secondary, GoesOnWhateverThePrimaryDoes) {
  open_primary();
  open_secondary();
  for (int i = 0; i < 3; ++i) {
    const std::string value = std::to_string(i);
    write("a", value);
    if (i == 1) write_much();
    close_primary();
    catch_up();
    EXPECT_EQ(get("a"), value);
    open_primary();
    catch_up();
    EXPECT_EQ(get("a"), value);
  }
  close_primary();
  close();
  open_secondary({"default"});
  EXPECT_EQ(all(), "a=2 ");
}

TEST_F(Secondary, DroppedFamiliesAreReadAsTheyWere) {
  open_primary();
  write("a", "1", 1);
  open_secondary();
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(ReadOptions(), handles_[1]));
  write("b", "2", 1);
  catch_up();
  EXPECT_OK(primary_->DropColumnFamily(families_[1]));
  write("a", "of default");
  catch_up();
  EXPECT_EQ(all(handles_[1]), "a=1 b=2 ");
  delete families_[1];
  families_.pop_back();
  // Another one of the same name is not the one that was opened.
  rocksdb::ColumnFamilyHandle* again = nullptr;
  EXPECT_OK(primary_->CreateColumnFamily(options_, "other", &again));
  families_.push_back(again);
  write("a", "3", 1);
  catch_up();
  EXPECT_EQ(all(handles_[1]), "a=1 b=2 ");
  EXPECT_EQ(get("a", handles_[1]), "1");
  EXPECT_EQ(walk(*iterator), "a=1 ");
  EXPECT_OK(iterator->Refresh());
  EXPECT_EQ(walk(*iterator), "a=1 b=2 ");
  EXPECT_EQ(get("a"), "of default");
  std::vector<std::string> values;
  db_->MultiGet(ReadOptions(), handles_, {"a", "a"}, &values);
  EXPECT_EQ(values[0] + values[1], "of default1");
  const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
  EXPECT_EQ(get("b", handles_[1], snapshot), "2");
  db_->ReleaseSnapshot(snapshot);
  close_primary();
  open_primary();
  catch_up();
  EXPECT_EQ(all(handles_[1]), "a=1 b=2 ");
  close();
  open_secondary();
  EXPECT_EQ(all(handles_[1]), "a=3 ");
}

// Without a handle in the primary the tree goes in the log that the view goes on by.
TEST_F(Secondary, FamiliesThatAreDroppedAndGoneAreReadAsTheyWere) {
  open_primary();
  write("a", "1", 1);
  open_secondary();
  EXPECT_OK(primary_->DropColumnFamily(families_[1]));
  delete families_[1];
  families_.pop_back();
  catch_up();
  EXPECT_EQ(all(handles_[1]), "a=1 ");
  EXPECT_EQ(get("a", handles_[1]), "1");
}

TEST_F(Secondary, CatchesUpBesideReaders) {
  open_primary();
  write("a", "1", 1);
  open_secondary();
  constexpr int kReads = 20;
  std::atomic<bool> ends{false};
  std::atomic<int> reads{0};
  const auto read = [&] {
    uint64_t newest = 0;
    for (; !ends; ++reads) {
      EXPECT_EQ(get("a", handles_[1]), "1");
      std::vector<std::string> values;
      db_->MultiGet(ReadOptions(), {"a", "b"}, &values);
      EXPECT_EQ(values[0], values[1]);
      const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(ReadOptions()));
      at->Seek("a");
      const uint64_t number = at->Valid() ? std::stoull(at->value().ToString()) : 0;
      EXPECT_GE(number, newest);
      newest = number;
      EXPECT_EQ(all(handles_[1]), "a=1 ");
    }
  };
  std::thread first(read);
  std::thread second(read);
  constexpr int kRounds = 200;
  std::string number;
  for (int i = 1; i <= kRounds || reads < kReads; ++i) {
    rocksdb::WriteBatch batch;
    number = std::to_string(i);
    EXPECT_OK(batch.Put("a", number));
    EXPECT_OK(batch.Put("b", number));
    EXPECT_OK(primary_->Write(WriteOptions(), &batch));
    if (i % 50 == 0) write("large", std::string(size_t{1} << 20, 'x'));
    if (i == kRounds / 4) {
      EXPECT_OK(primary_->DropColumnFamily(families_[1]));
      delete families_[1];
      families_.pop_back();
    }
    catch_up();
  }
  ends = true;
  first.join();
  second.join();
  EXPECT_EQ(get("a"), number);
}

TEST_F(Secondary, FamiliesThatAreNotNamedAreNotSeen) {
  open_primary();
  open_secondary({"default"});
  EXPECT_EQ(handles_.size(), 1u);
  rocksdb::ColumnFamilyHandle* later = nullptr;
  EXPECT_OK(primary_->CreateColumnFamily(options_, "later", &later));
  families_.push_back(later);
  write("a", "1", 2);
  write("b", "2");
  catch_up();
  EXPECT_EQ(all(), "b=2 ");
  close();
  EXPECT_TRUE(
      DB::OpenAsSecondary(options_, path_, "", descriptors({"default", "none"}), &handles_, &db_)
          .IsInvalidArgument());
  EXPECT_TRUE(handles_.empty());
  open_secondary({"later", "default"});
  EXPECT_EQ(all(handles_[0]), "a=1 ");
  EXPECT_EQ(db_->DefaultColumnFamily()->GetName(), "default");
}

TEST_F(Secondary, AFamilyMayGetItsOperatorLater) {
  options_.merge_operator.reset();
  open_primary();
  write("a", "1");
  options_.merge_operator = std::make_shared<Append>();
  open_secondary();
  close_primary();
  open_primary();
  EXPECT_OK(primary_->Merge(WriteOptions(), "a", "2"));
  catch_up();
  EXPECT_EQ(get("a"), "1,2");
  EXPECT_OK(primary_->Merge(WriteOptions(), "a", "3"));
  catch_up();
  EXPECT_EQ(get("a"), "1,2,3");
}

// As lengths, and bytewise where these are the same.
TEST_F(Secondary, KeepsTheOrderOfAComparator) {
  static const ByLength by_length;  // outlives the databases, which close after the test
  options_.comparator = &by_length;
  open_primary();
  write("aa", "1");
  open_secondary();
  write("b", "2");
  EXPECT_OK(primary_->Merge(WriteOptions(), "b", "3"));
  catch_up();
  EXPECT_EQ(all(), "b=2,3 aa=1 ");
  write_much();
  write("c", "4");
  catch_up();
  EXPECT_EQ(all(), "b=2,3 c=4 aa=1 ");
  close();
  close_primary();
}

TEST_F(Secondary, DoesNotWrite) {
  open_primary();
  open_secondary();
  rocksdb::ColumnFamilyHandle* const family = handles_[1];
  rocksdb::ColumnFamilyHandle* made = nullptr;
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_TRUE(db_->Put(WriteOptions(), "a", "1").IsNotSupported());
  EXPECT_TRUE(db_->Delete(WriteOptions(), "a").IsNotSupported());
  EXPECT_TRUE(db_->SingleDelete(WriteOptions(), "a").IsNotSupported());
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), "a", "b").IsNotSupported());
  EXPECT_TRUE(db_->Merge(WriteOptions(), "a", "1").IsNotSupported());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupported());
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "new", &made).IsNotSupported());
  EXPECT_TRUE(db_->DropColumnFamily(family).IsNotSupported());
  EXPECT_TRUE(db_->CompactRange({}, nullptr, nullptr).IsNotSupported());
  EXPECT_TRUE(db_->Flush({}).IsNotSupported());
  EXPECT_TRUE(db_->SyncWAL().IsNotSupported());
  EXPECT_TRUE(db_->IngestExternalFile({"file"}, {}).IsNotSupported());
  rocksdb::Checkpoint* checkpoint = nullptr;
  EXPECT_TRUE(rocksdb::Checkpoint::Create(db_.get(), &checkpoint).IsNotSupported());
  ReadOptions tailing;
  tailing.tailing = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(tailing));
  EXPECT_TRUE(iterator->status().IsNotSupported());
  EXPECT_TRUE(primary_->TryCatchUpWithPrimary().IsNotSupported());
}

TEST_F(Secondary, TellsOfItself) {
  open_primary();
  for (int i = 0; i < 5000; ++i) write("key" + std::to_string(i), std::string(200, 'v'));
  close_primary();
  open_primary();
  open_secondary();
  EXPECT_EQ(db_->GetName(), path_);
  std::string identity, of_primary, session, later;
  EXPECT_OK(db_->GetDbIdentity(identity));
  EXPECT_OK(primary_->GetDbIdentity(of_primary));
  EXPECT_EQ(identity, of_primary);
  EXPECT_OK(db_->GetDbSessionId(session));
  std::string keys;
  EXPECT_TRUE(db_->GetProperty(DB::Properties::kEstimateNumKeys, &keys));
  EXPECT_EQ(keys, "5000");
  uint64_t count = 0;
  EXPECT_TRUE(db_->GetAggregatedIntProperty(DB::Properties::kEstimateNumKeys, &count));
  EXPECT_EQ(count, 5000u);
  const rocksdb::Range range("", "\xff");
  uint64_t bytes = 0;
  EXPECT_OK(db_->GetApproximateSizes({}, handles_[0], &range, 1, &bytes));
  uint64_t of_primary_bytes = 0;
  EXPECT_OK(primary_->GetApproximateSizes({}, families_[0], &range, 1, &of_primary_bytes));
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(bytes, of_primary_bytes);
  EXPECT_OK(db_->VerifyChecksum());
  EXPECT_EQ(db_->GetOptions().write_buffer_size, options_.write_buffer_size);
  write_much();
  catch_up();
  EXPECT_OK(db_->GetDbSessionId(later));
  EXPECT_EQ(session, later);
  EXPECT_FALSE(db_->DestroyColumnFamilyHandle(db_->DefaultColumnFamily()).ok());
  EXPECT_OK(db_->DestroyColumnFamilyHandle(handles_.back()));
  handles_.pop_back();
}

TEST_F(Secondary, OpensInAllForms) {
  EXPECT_TRUE(DB::OpenAsSecondary(options_, path_, "", &db_).IsIOError());
  open_primary({"default"});
  write("a", "1");
  EXPECT_OK(DB::OpenAsSecondary(options_, path_, "", &db_));
  EXPECT_EQ(get("a"), "1");
  DB* raw = nullptr;
  EXPECT_OK(DB::OpenAsSecondary(options_, path_, "", &raw));
  const std::unique_ptr<DB> second(raw);
  EXPECT_OK(second->TryCatchUpWithPrimary());
  EXPECT_OK(DB::OpenAsSecondary(options_, path_, "", descriptors({"default"}), &handles_, &raw));
  db_.reset(raw);
  EXPECT_EQ(get("a", handles_[0]), "1");
  std::vector<rocksdb::ColumnFamilyHandle*> none;
  EXPECT_TRUE(DB::OpenAsSecondary(options_, path_, "", descriptors({"other"}), &none, &raw)
                  .IsInvalidArgument());
  EXPECT_EQ(raw, nullptr);
}

// What the primary has not flushed is more than the secondary's options speak of.
TEST_F(Secondary, TakesTheMemoryThatItNeeds) {
  options_.write_buffer_size = size_t{64} << 20;
  options_.avoid_flush_during_shutdown = true;
  open_primary({"default"});
  const std::string value(1000, 'v');
  constexpr int kEntries = 40'000;
  for (int i = 0; i < kEntries; ++i) write(std::to_string(100'000 + i), value);
  options_.write_buffer_size = size_t{64} << 10;
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  open_secondary({"default"});
  EXPECT_EQ(get(std::to_string(100'000 + kEntries - 1)), value);
  for (int i = 0; i < kEntries; ++i) write(std::to_string(200'000 + i), value);
  catch_up();
  EXPECT_EQ(get(std::to_string(200'000 + kEntries - 1)), value);
}

}  // namespace
}  // namespace hawthorn::rocks
