// Reads of a database: keys, many keys, iterators, snapshots.

#include <rocksdb/cache.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::Iterator;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

class Reads : public RocksTest {
 protected:
  std::unique_ptr<Iterator> iterate(const ReadOptions& options = {}) {
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }
};

TEST_F(Reads, ValuesSmallAndLarge) {
  open();
  for (const size_t size : {size_t{0}, size_t{1}, size_t{1024}, size_t{1025}, size_t{300000}}) {
    const std::string value(size, 'v');
    ASSERT_OK(put("k", value));
    EXPECT_EQ(get("k"), value);
    PinnableSlice read;
    ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "k", &read));
    EXPECT_EQ(read.IsPinned(), size > 1024);
    // It stays what it was while the key changes.
    ASSERT_OK(put("k", "other"));
    ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
    EXPECT_EQ(read, Slice(value));
    ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "k", &read));
    EXPECT_EQ(read, Slice("other"));
  }
  std::string untouched = "as it was";
  EXPECT_TRUE(db_->Get(ReadOptions(), "nothing", &untouched).IsNotFound());
  EXPECT_EQ(untouched, "as it was");
}

TEST_F(Reads, ManyKeys) {
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"default", "other"}));
  ASSERT_OK(put("a", "1"));
  ASSERT_OK(put("c", "3"));
  ASSERT_OK(put("a", "of the other", handles_[1]));
  std::vector<std::string> values;
  std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {"a", "b", "c"}, &values);
  ASSERT_EQ(statuses.size(), 3U);
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsNotFound());
  EXPECT_EQ(values, (std::vector<std::string>{"1", "", "3"}));
  statuses = db_->MultiGet(ReadOptions(), {handles_[1], handles_[0], handles_[1]}, {"a", "a", "c"},
                           &values);
  EXPECT_EQ(values, (std::vector<std::string>{"of the other", "1", ""}));
  EXPECT_TRUE(statuses[2].IsNotFound());

  const Slice keys[] = {"c", "a", "c"};
  PinnableSlice read[3];
  Status of_keys[3];
  db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), 3, keys, read, of_keys);
  EXPECT_EQ(read[0], Slice("3"));
  EXPECT_EQ(read[1], Slice("1"));
  EXPECT_EQ(read[2], Slice("3"));
  ReadOptions limited;
  limited.value_size_soft_limit = 1;
  for (PinnableSlice& value : read) value.Reset();
  db_->MultiGet(limited, db_->DefaultColumnFamily(), 3, keys, read, of_keys);
  EXPECT_OK(of_keys[1]);
  EXPECT_TRUE(of_keys[2].IsAborted());
  rocksdb::ColumnFamilyHandle* families[] = {handles_[0], handles_[1], handles_[0]};
  db_->MultiGet(ReadOptions(), 3, families, keys, read, of_keys);
  EXPECT_EQ(read[1], Slice("of the other"));
  std::string timestamps[3];
  db_->MultiGet(ReadOptions(), 3, families, keys, read, timestamps, of_keys);
  EXPECT_TRUE(of_keys[0].IsNotSupported());
}

TEST_F(Reads, WhetherAKeyMayExist) {
  open();
  ASSERT_OK(put("a", "1"));
  std::string value;
  bool found = false;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "a", &value, &found));
  EXPECT_TRUE(found);
  EXPECT_EQ(value, "1");
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), db_->DefaultColumnFamily(), "a", nullptr));
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "b", &value, &found));
  EXPECT_FALSE(found);
}

TEST_F(Reads, IteratorsGoBothWays) {
  open();
  for (const char* key : {"a", "c", "e"}) ASSERT_OK(put(key, key));
  const auto iterator = iterate();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
  EXPECT_EQ(walk(*iterator), "a=a c=c e=e ");
  EXPECT_EQ(walk(*iterator, false), "e=e c=c a=a ");
  iterator->Seek("b");
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->key(), Slice("c"));
  iterator->Prev();
  EXPECT_EQ(iterator->key(), Slice("a"));
  iterator->Prev();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
  iterator->SeekForPrev("d");
  EXPECT_EQ(iterator->key(), Slice("c"));
  iterator->SeekForPrev("c");
  EXPECT_EQ(iterator->key(), Slice("c"));
  iterator->Next();
  EXPECT_EQ(iterator->key(), Slice("e"));
  iterator->Seek("f");
  EXPECT_FALSE(iterator->Valid());
  iterator->SeekForPrev("");
  EXPECT_FALSE(iterator->Valid());
  iterator->Seek("");
  EXPECT_EQ(iterator->key(), Slice("a"));
  EXPECT_TRUE(iterator->PrepareValue());
}

// Long walks are served from batches, and turn in the middle of them.
TEST_F(Reads, IteratorsTurnAnywhere) {
  open();
  std::vector<std::pair<std::string, std::string>> all;
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(100000 + 3 * i);
    all.emplace_back(number, std::string(static_cast<size_t>(i % 90), 'v') + number);
    ASSERT_OK(put(all.back().first, all.back().second));
    if (i == 2000) {
      ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
    }
  }
  for (const bool pinned : {false, true}) {
    ReadOptions options;
    options.pin_data = pinned;
    const auto iterator = iterate(options);
    ASSERT_OK(put("100001", "later"));
    std::minstd_rand random(7);
    auto at = static_cast<size_t>(random() % all.size());
    iterator->Seek(all[at].first);
    for (int turn = 0; turn < 300; ++turn) {
      const bool forwards = random() % 3 != 0;
      for (auto steps = random() % 700; steps > 0; --steps) {
        ASSERT_TRUE(iterator->Valid());
        ASSERT_EQ(iterator->key().ToString(), all[at].first);
        ASSERT_EQ(iterator->value().ToString(), all[at].second);
        if (at == (forwards ? all.size() - 1 : 0)) break;
        forwards ? iterator->Next() : iterator->Prev();
        forwards ? ++at : --at;
      }
      if (random() % 5 == 0) {
        at = static_cast<size_t>(random() % all.size());
        iterator->Seek(all[at].first);
      }
    }
    iterator->Seek(all[2990].first);
    for (int n = 0; n < 10; ++n) iterator->Next();
    EXPECT_FALSE(iterator->Valid());
    EXPECT_OK(iterator->status());
    ASSERT_OK(db_->Delete(WriteOptions(), "100001"));
  }
}

TEST_F(Reads, AnIteratorShowsItsMoment) {
  open();
  ASSERT_OK(put("a", "1"));
  const auto iterator = iterate();
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  ASSERT_OK(put("a", "2"));
  ASSERT_OK(put("b", "3"));
  EXPECT_EQ(walk(*iterator), "a=1 ");
  ASSERT_OK(iterator->Refresh());
  EXPECT_FALSE(iterator->Valid());
  EXPECT_EQ(walk(*iterator), "a=2 b=3 ");
  ASSERT_OK(iterator->Refresh(snapshot));
  EXPECT_EQ(walk(*iterator), "a=1 ");
  // The iterator keeps what it needs of it.
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
  EXPECT_EQ(walk(*iterator), "a=1 ");
}

TEST_F(Reads, Bounds) {
  open();
  for (const char* key : {"a", "b", "c", "d"}) ASSERT_OK(put(key, "1"));
  Slice lower("b");
  Slice upper("d");
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const auto iterator = iterate(options);
  EXPECT_EQ(walk(*iterator), "b=1 c=1 ");
  EXPECT_EQ(walk(*iterator, false), "c=1 b=1 ");
  iterator->Seek("a");
  EXPECT_EQ(iterator->key(), Slice("b"));
  iterator->SeekForPrev("z");
  EXPECT_EQ(iterator->key(), Slice("c"));
  iterator->Seek("d");
  EXPECT_FALSE(iterator->Valid());
  iterator->SeekForPrev("a");
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
  // They may change between seeks, and the moment stays.
  ASSERT_OK(put("bb", "2"));
  upper = Slice("e");
  EXPECT_EQ(walk(*iterator), "b=1 c=1 d=1 ");
  lower = Slice("c");
  EXPECT_EQ(walk(*iterator), "c=1 d=1 ");
  ASSERT_OK(iterator->Refresh());
  lower = Slice("b");
  EXPECT_EQ(walk(*iterator), "b=1 bb=2 c=1 d=1 ");
}

TEST_F(Reads, Prefixes) {
  options_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(2));
  open();
  for (const char* key : {"aa1", "aa2", "ab1", "b", "ba1"}) ASSERT_OK(put(key, "1"));
  ReadOptions options;
  options.prefix_same_as_start = true;
  const auto iterator = iterate(options);
  iterator->Seek("aa");
  EXPECT_EQ(iterator->key(), Slice("aa1"));
  iterator->Next();
  EXPECT_EQ(iterator->key(), Slice("aa2"));
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
  iterator->Seek("aa3");
  EXPECT_FALSE(iterator->Valid());
  iterator->SeekForPrev("ab9");
  EXPECT_EQ(iterator->key(), Slice("ab1"));
  iterator->Prev();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_EQ(walk(*iterator), "aa1=1 aa2=1 ");
  options.prefix_same_as_start = false;
  options.total_order_seek = true;
  EXPECT_EQ(all(nullptr, options), "aa1=1 aa2=1 ab1=1 b=1 ba1=1 ");
}

TEST_F(Reads, PinnedDataStay) {
  open();
  for (int i = 0; i < 2000; ++i) {
    ASSERT_OK(put(std::to_string(10000 + i), std::string(static_cast<size_t>(i % 50), 'v')));
  }
  ASSERT_OK(put("99999", std::string(100000, 'l')));
  ReadOptions options;
  options.pin_data = true;
  const auto iterator = iterate(options);
  std::vector<std::pair<Slice, Slice>> pinned;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    pinned.emplace_back(iterator->key(), iterator->value());
  }
  ASSERT_EQ(pinned.size(), 2001U);
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(pinned[static_cast<size_t>(i)].first.ToString(), std::to_string(10000 + i));
    EXPECT_EQ(pinned[static_cast<size_t>(i)].second.size(), static_cast<size_t>(i % 50));
  }
  EXPECT_EQ(pinned.back().second, Slice(std::string(100000, 'l')));
  iterator->SeekToFirst();
  std::string property;
  ASSERT_OK(iterator->GetProperty("rocksdb.iterator.is-key-pinned", &property));
  EXPECT_EQ(property, "1");
  const auto other = iterate();
  EXPECT_TRUE(
      other->GetProperty("rocksdb.iterator.is-value-pinned", &property).IsInvalidArgument());
  other->SeekToFirst();
  ASSERT_OK(other->GetProperty("rocksdb.iterator.is-value-pinned", &property));
  EXPECT_EQ(property, "0");
  ASSERT_OK(other->GetProperty("rocksdb.iterator.internal-key", &property));
  EXPECT_EQ(property, "10000");
  ASSERT_OK(other->GetProperty("rocksdb.iterator.super-version-number", &property));
  EXPECT_TRUE(other->GetProperty("nothing", &property).IsInvalidArgument());
}

TEST_F(Reads, TailingIteratorsSeeWhatIsNew) {
  open();
  ASSERT_OK(put("a", "1"));
  ReadOptions options;
  options.tailing = true;
  const auto iterator = iterate(options);
  EXPECT_EQ(walk(*iterator), "a=1 ");
  ASSERT_OK(put("b", "2"));
  iterator->Seek("b");
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(entry(*iterator), "b=2 ");
}

TEST_F(Reads, IteratorsOfOneMoment) {
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"default", "other"}));
  ASSERT_OK(put("a", "1", handles_[1]));
  std::vector<Iterator*> iterators;
  ASSERT_OK(db_->NewIterators(ReadOptions(), handles_, &iterators));
  ASSERT_EQ(iterators.size(), 2U);
  ASSERT_OK(put("a", "2", handles_[1]));
  ASSERT_OK(put("b", "2"));
  EXPECT_EQ(walk(*iterators[0]), "");
  EXPECT_EQ(walk(*iterators[1]), "a=1 ");
  for (const Iterator* iterator : iterators) delete iterator;
}

TEST_F(Reads, IteratorsOfNothing) {
  const std::unique_ptr<Iterator> empty(rocksdb::NewEmptyIterator());
  EXPECT_EQ(walk(*empty), "");
  const std::unique_ptr<Iterator> failed(rocksdb::NewErrorIterator(Status::Busy()));
  failed->Seek("a");
  failed->SeekForPrev("a");
  EXPECT_FALSE(failed->Valid());
  EXPECT_TRUE(failed->status().IsBusy());
  EXPECT_TRUE(failed->Refresh().IsNotSupported());
}

TEST_F(Reads, Snapshots) {
  open();
  ASSERT_OK(put("a", "1"));
  const rocksdb::Snapshot* first = db_->GetSnapshot();
  ASSERT_OK(put("a", "2"));
  EXPECT_GT(first->GetUnixTime(), 0);
  EXPECT_EQ(first->GetTimestamp(), UINT64_MAX);
  {
    rocksdb::ManagedSnapshot second(db_.get());
    EXPECT_GT(second.snapshot()->GetSequenceNumber(), first->GetSequenceNumber());
    EXPECT_EQ(second.snapshot()->GetSequenceNumber(), db_->GetLatestSequenceNumber());
    ASSERT_OK(db_->Delete(WriteOptions(), "a"));
    EXPECT_EQ(get("a", nullptr, first), "1");
    EXPECT_EQ(get("a", nullptr, second.snapshot()), "2");
    ReadOptions options;
    options.snapshot = first;
    EXPECT_EQ(all(nullptr, options), "a=1 ");
    std::vector<std::string> values;
    EXPECT_OK(db_->MultiGet(options, {"a"}, &values)[0]);
    EXPECT_EQ(values[0], "1");
    uint64_t number = 0;
    EXPECT_TRUE(db_->GetIntProperty("rocksdb.num-snapshots", &number));
    EXPECT_EQ(number, 2U);
    EXPECT_TRUE(db_->GetIntProperty("rocksdb.oldest-snapshot-sequence", &number));
    EXPECT_EQ(number, first->GetSequenceNumber());
    EXPECT_TRUE(db_->Close().IsAborted());
  }
  db_->ReleaseSnapshot(first);
  db_->ReleaseSnapshot(nullptr);
  {
    const std::unique_ptr<Iterator> held(db_->NewIterator(ReadOptions()));
    EXPECT_TRUE(db_->Close().IsBusy());
    EXPECT_EQ(walk(*held), "");
  }
  EXPECT_EQ(get("a"), "(missing)");
  EXPECT_OK(db_->Close());
  EXPECT_OK(db_->Close());
}

TEST_F(Reads, SequenceNumbersGrow) {
  open();
  const rocksdb::SequenceNumber none = db_->GetLatestSequenceNumber();
  EXPECT_GE(none, rocksdb::kMinUnCommittedSeq);
  ASSERT_OK(put("a", "1"));
  const rocksdb::SequenceNumber one = db_->GetLatestSequenceNumber();
  EXPECT_GT(one, none);
  reopen();
  EXPECT_GE(db_->GetLatestSequenceNumber(), one);
}

TEST_F(Reads, FromMemoryAlone) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(size_t{16} << 20);
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options_.write_buffer_size = size_t{4} << 20;
  open();
  constexpr int kKeys = 200'000;
  const auto key = [](int i) { return "key " + std::to_string(1'000'000 + i); };
  const std::string filler(400, 'x');
  for (int i = 0; i < kKeys; i += 100) {
    rocksdb::WriteBatch batch;
    for (int k = i; k < i + 100; ++k) ASSERT_OK(batch.Put(key(k), key(k) + filler));
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
  }
  ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
  reopen();
  ASSERT_OK(put("new", "value"));
  ReadOptions memory;
  memory.read_tier = rocksdb::kBlockCacheTier;
  std::string value;
  ASSERT_OK(db_->Get(memory, "new", &value));
  EXPECT_EQ(value, "value");
  int incomplete = 0;
  int undecided = 0;
  std::string first_missing;
  for (int i = 0; i < kKeys; i += 500) {
    const Status s = db_->Get(memory, key(i), &value);
    if (s.ok()) {
      ASSERT_EQ(value, key(i) + filler);
      continue;
    }
    ASSERT_TRUE(s.IsIncomplete()) << s.ToString();
    if (++incomplete == 1) first_missing = key(i);
    bool found = true;
    ASSERT_TRUE(db_->KeyMayExist(ReadOptions(), key(i), &value, &found));
    undecided += found ? 0 : 1;
  }
  EXPECT_GT(incomplete, kKeys / 500 / 2);
  EXPECT_GT(undecided, 0);

  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(memory, {"new", first_missing}, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_EQ(values[0], "value");
  EXPECT_TRUE(statuses[1].IsIncomplete());
  rocksdb::PinnableWideColumns columns;
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  ASSERT_OK(db_->GetEntity(memory, family, "new", &columns));
  EXPECT_EQ(columns.columns().front().value(), "value");
  EXPECT_TRUE(db_->GetEntity(memory, family, first_missing, &columns).IsIncomplete());
  EXPECT_TRUE(db_->Get(ReadOptions(), first_missing, &value).ok());
  const std::unique_ptr<Iterator> iterator(db_->NewIterator(memory));
  EXPECT_TRUE(iterator->status().IsNotSupported());
}

TEST_F(Reads, WhatIsRefused) {
  open();
  ASSERT_OK(put("a", "1"));
  std::string value;
  const auto refused = [&](const ReadOptions& options) {
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(options));
    EXPECT_TRUE(iterator->status().IsNotSupported());
    std::vector<std::string> values;
    EXPECT_TRUE(db_->MultiGet(options, {"a"}, &values)[0].IsNotSupported());
    std::vector<Iterator*> iterators;
    EXPECT_TRUE(
        db_->NewIterators(options, {db_->DefaultColumnFamily()}, &iterators).IsNotSupported());
    return db_->Get(options, "a", &value).IsNotSupported();
  };
  const Slice timestamp("12345678");
  ReadOptions options;
  options.timestamp = &timestamp;
  EXPECT_TRUE(refused(options));
  options = {};
  options.iter_start_ts = &timestamp;
  EXPECT_TRUE(refused(options));
  options = {};
  options.read_tier = rocksdb::kMemtableTier;
  EXPECT_TRUE(refused(options));
  options.read_tier = rocksdb::kPersistedTier;
  EXPECT_OK(db_->Get(options, "a", &value));
  options = {};
  options.managed = true;
  EXPECT_TRUE(refused(options));
  options = {};
  options.merge_operand_count_threshold = 3;
  EXPECT_TRUE(refused(options));
  options = {};
  options.table_filter = [](const rocksdb::TableProperties&) { return true; };
  EXPECT_TRUE(refused(options));
  PinnableSlice read;
  std::string of_user;
  EXPECT_TRUE(
      db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "a", &read, &of_user).IsNotSupported());
}

TEST_F(Reads, Deadlines) {
  open();
  ASSERT_OK(put("a", "1"));
  std::string value;
  ReadOptions options;
  options.deadline = std::chrono::microseconds(1);
  EXPECT_TRUE(db_->Get(options, "a", &value).IsTimedOut());
  options.deadline = std::chrono::duration_cast<std::chrono::microseconds>(
                         std::chrono::system_clock::now().time_since_epoch()) +
                     std::chrono::hours(1);
  EXPECT_OK(db_->Get(options, "a", &value));
}

}  // namespace
}  // namespace hawthorn::rocks
