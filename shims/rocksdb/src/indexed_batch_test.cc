// WriteBatchWithIndex: reads and walks of a batch, alone and over a database, and a model.

#include <rocksdb/utilities/write_batch_with_index.h>

#include <algorithm>
#include <random>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::Comparator;
using rocksdb::DBOptions;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WBWIIterator;
using rocksdb::WriteBatchWithIndex;
using rocksdb::WriteEntry;

// "put a=1 del b " of all updates.
std::string updates(WBWIIterator& at, bool forward = true) {
  static const std::map<rocksdb::WriteType, const char*> kNames = {
      {rocksdb::kPutRecord, "put"},
      {rocksdb::kMergeRecord, "merge"},
      {rocksdb::kDeleteRecord, "del"},
      {rocksdb::kSingleDeleteRecord, "single"}};
  std::string text;
  forward ? at.SeekToFirst() : at.SeekToLast();
  for (; at.Valid(); forward ? at.Next() : at.Prev()) {
    const WriteEntry entry = at.Entry();
    text += std::string(kNames.at(entry.type)) + " " + entry.key.ToString();
    if (!entry.value.empty()) text += "=" + entry.value.ToString();
    text += " ";
  }
  EXPECT_OK(at.status());
  return text;
}

std::string updates(WriteBatchWithIndex& batch, rocksdb::ColumnFamilyHandle* family = nullptr) {
  const std::unique_ptr<WBWIIterator> at(batch.NewIterator(family));
  return updates(*at);
}

class IndexedBatch : public RocksTest {
 protected:
  IndexedBatch() {
    options_.create_missing_column_families = true;
    options_.merge_operator = std::make_shared<Append>();
  }
  void open_two() { ASSERT_OK(try_open({"default", "other"})); }
  std::string read(WriteBatchWithIndex& batch, const std::string& key,
                   rocksdb::ColumnFamilyHandle* family = nullptr) {
    std::string value;
    const Status status =
        family == nullptr ? batch.GetFromBatchAndDB(db_.get(), ReadOptions(), key, &value)
                          : batch.GetFromBatchAndDB(db_.get(), ReadOptions(), family, key, &value);
    if (status.IsNotFound()) return "(missing)";
    return status.ok() ? value : status.ToString();
  }
  std::string walk_over(WriteBatchWithIndex& batch, bool forward = true,
                        const ReadOptions& options = {}) {
    const std::unique_ptr<rocksdb::Iterator> at(
        batch.NewIteratorWithBase(db_->DefaultColumnFamily(), db_->NewIterator(options), &options));
    return walk(*at, forward);
  }
};

TEST_F(IndexedBatch, EachUpdateIsShownTheNewestFirst) {
  WriteBatchWithIndex batch;
  EXPECT_OK(batch.Put("b", "1"));
  EXPECT_OK(batch.Put("a", "2"));
  EXPECT_OK(batch.Delete("b"));
  EXPECT_OK(batch.SingleDelete("c"));
  EXPECT_OK(batch.Merge("b", "3"));
  EXPECT_EQ(updates(batch), "put a=2 merge b=3 del b put b=1 single c ");
  const std::unique_ptr<WBWIIterator> at(batch.NewIterator());
  EXPECT_EQ(updates(*at, false), "single c put b=1 del b merge b=3 put a=2 ");
  at->Seek("b");
  EXPECT_EQ(at->Entry().type, rocksdb::kMergeRecord);
  EXPECT_EQ(at->GetUpdateCount(), 0U);  // not without overwrite_key
  at->SeekForPrev("bb");
  EXPECT_EQ(at->Entry().value, Slice("1"));
  at->SeekForPrev("0");
  EXPECT_FALSE(at->Valid());
  EXPECT_FALSE(batch.GetOverwriteKey());
  EXPECT_EQ(batch.GetCFStats().at(0).entry_count, 5U);
  EXPECT_EQ(batch.GetDataSize(), batch.GetWriteBatch()->GetDataSize());
  EXPECT_EQ(batch.GetWriteBatch()->Count(), 5U);
}

TEST_F(IndexedBatch, OverwritingKeepsTheNewestAndMerges) {
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 100, true);
  EXPECT_TRUE(batch.GetOverwriteKey());
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.Put("a", "2"));
  EXPECT_OK(batch.SingleDelete("b"));
  EXPECT_OK(batch.Put("b", "3"));
  EXPECT_OK(batch.Put("c", "4"));
  EXPECT_OK(batch.Merge("c", "5"));
  EXPECT_EQ(updates(batch), "put a=2 put b=3 merge c=5 put c=4 ");
  const std::unique_ptr<WBWIIterator> at(batch.NewIterator());
  at->Seek("b");
  EXPECT_TRUE(at->HasOverWrittenSingleDel());
  EXPECT_EQ(at->GetUpdateCount(), 2U);
  at->Next();
  EXPECT_FALSE(at->HasOverWrittenSingleDel());
  EXPECT_EQ(at->GetUpdateCount(), 2U);
  EXPECT_EQ(batch.GetCFStats().at(0).entry_count, 4U);
  EXPECT_EQ(batch.GetCFStats().at(0).overwritten_sd_count, 1U);
  EXPECT_EQ(batch.GetWriteBatch()->Count(), 6U);
}

TEST_F(IndexedBatch, ReadsOfTheBatchAlone) {
  open_two();
  WriteBatchWithIndex batch;
  const DBOptions options;
  std::string value;
  EXPECT_TRUE(batch.GetFromBatch(options, "a", &value).IsNotFound());
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.GetFromBatch(options, "a", &value));
  EXPECT_EQ(value, "1");
  EXPECT_OK(batch.Delete("a"));
  EXPECT_TRUE(batch.GetFromBatch(options, "a", &value).IsNotFound());
  EXPECT_OK(batch.Merge("a", "2"));
  EXPECT_TRUE(batch.GetFromBatch(options, "a", &value).IsInvalidArgument());  // whose operator?
  EXPECT_OK(batch.GetFromBatch(handles_[0], options, "a", &value));
  EXPECT_EQ(value, "2");
  EXPECT_OK(batch.Merge("b", "1"));
  EXPECT_TRUE(batch.GetFromBatch(handles_[0], options, "b", &value).IsMergeInProgress());
}

TEST_F(IndexedBatch, ReadsOverTheDatabase) {
  open_two();
  EXPECT_OK(put("a", "db"));
  EXPECT_OK(put("b", "db"));
  EXPECT_OK(put("m", "db"));
  EXPECT_OK(put("a", "other", handles_[1]));
  WriteBatchWithIndex batch;
  EXPECT_OK(batch.Put("a", "batch"));
  EXPECT_OK(batch.Delete("b"));
  EXPECT_OK(batch.Merge(handles_[0], "m", "x"));
  EXPECT_OK(batch.Merge(handles_[0], "m", "y"));
  EXPECT_OK(batch.Merge(handles_[0], "n", "z"));
  EXPECT_EQ(read(batch, "a"), "batch");
  EXPECT_EQ(read(batch, "a", handles_[1]), "other");
  EXPECT_EQ(read(batch, "b"), "(missing)");
  EXPECT_EQ(read(batch, "m"), "db,x,y");
  EXPECT_EQ(read(batch, "n"), "z");
  PinnableSlice pinned;
  EXPECT_OK(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), "m", &pinned));
  EXPECT_EQ(pinned, Slice("db,x,y"));

  // Of a snapshot the database's part; the batch has none.
  rocksdb::ManagedSnapshot snapshot(db_.get());
  EXPECT_OK(put("m", "later"));
  ReadOptions of_snapshot;
  of_snapshot.snapshot = snapshot.snapshot();
  std::string value;
  EXPECT_OK(batch.GetFromBatchAndDB(db_.get(), of_snapshot, "m", &value));
  EXPECT_EQ(value, "db,x,y");
  EXPECT_EQ(read(batch, "m"), "later,x,y");

  const Slice keys[] = {"a", "b", "m", "n", "none", "a"};
  PinnableSlice values[6];
  Status statuses[6];
  batch.MultiGetFromBatchAndDB(db_.get(), ReadOptions(), handles_[0], 6, keys, values, statuses,
                               false);
  std::string text;
  for (int i = 0; i < 6; ++i) {
    text += (statuses[i].ok() ? values[i].ToString() : statuses[i].ToString()) + " ";
  }
  EXPECT_EQ(text, "batch NotFound:  later,x,y z NotFound:  batch ");
  EXPECT_OK(db_->Write(rocksdb::WriteOptions(), batch.GetWriteBatch()));
  EXPECT_EQ(all(), "a=batch m=later,x,y n=z ");
}

TEST_F(IndexedBatch, MergesNeedAnOperator) {
  options_.merge_operator = nullptr;
  open();
  EXPECT_OK(put("a", "1"));
  WriteBatchWithIndex batch;
  EXPECT_OK(batch.Merge(db_->DefaultColumnFamily(), "a", "x"));
  std::string value;
  EXPECT_TRUE(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), "a", &value).IsInvalidArgument());
  const std::unique_ptr<rocksdb::Iterator> at(
      batch.NewIteratorWithBase(db_->DefaultColumnFamily(), db_->NewIterator(ReadOptions())));
  at->SeekToFirst();
  EXPECT_FALSE(at->Valid());
  EXPECT_TRUE(at->status().IsInvalidArgument());
}

TEST_F(IndexedBatch, WalksOverTheDatabase) {
  open_two();
  for (const char* key : {"b", "d", "f", "h"}) EXPECT_OK(put(key, "db"));
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  EXPECT_OK(batch.Put(family, "a", "1"));
  EXPECT_OK(batch.Delete(family, "b"));
  EXPECT_OK(batch.Put(family, "d", "2"));
  EXPECT_OK(batch.Merge(family, "f", "3"));
  EXPECT_OK(batch.Delete(family, "g"));
  EXPECT_OK(batch.Put(family, "z", "4"));
  EXPECT_EQ(walk_over(batch), "a=1 d=2 f=db,3 h=db z=4 ");
  EXPECT_EQ(walk_over(batch, false), "z=4 h=db f=db,3 d=2 a=1 ");
  const std::unique_ptr<rocksdb::Iterator> at(
      batch.NewIteratorWithBase(family, db_->NewIterator(ReadOptions())));
  std::string text;
  const auto note = [&] { text += at->Valid() ? entry(*at) : "end "; };
  at->Seek("b");
  note();
  at->Next();
  note();
  at->Prev();
  note();
  at->Prev();
  note();
  at->Next();
  note();
  at->SeekForPrev("g");
  note();
  at->Next();
  note();
  at->Next();
  note();
  at->Next();
  note();
  EXPECT_EQ(text, "d=2 f=db,3 d=2 a=1 d=2 f=db,3 h=db z=4 end ");
  EXPECT_OK(at->status());
  // What is added while it walks is seen behind where the batch's side stands, which is at "z", and
  // the key on which it stands may go.
  at->Seek("h");
  EXPECT_OK(batch.Delete(family, "h"));
  EXPECT_OK(batch.Put(family, "i", "5"));
  EXPECT_OK(batch.Put(family, "zz", "6"));
  EXPECT_OK(batch.Merge(family, "z", "7"));
  at->Next();
  EXPECT_EQ(entry(*at), "z=4,7 ");
  at->Next();
  EXPECT_EQ(entry(*at), "zz=6 ");
  at->Prev();
  EXPECT_OK(batch.Merge(family, "z", "8"));
  at->Prev();
  EXPECT_EQ(entry(*at), "i=5 ");
  at->Prev();
  EXPECT_EQ(entry(*at), "f=db,3 ");
  // The default family, without a handle.
  const std::unique_ptr<rocksdb::Iterator> of_default(
      batch.NewIteratorWithBase(db_->NewIterator(ReadOptions())));
  of_default->SeekToLast();
  EXPECT_EQ(entry(*of_default), "zz=6 ");
}

// Who adds a key behind each that is shown comes to an end, whichever way.
TEST_F(IndexedBatch, WhoAddsWhileItWalksComesToAnEnd) {
  open_two();
  for (const char* key : {"b", "d", "f"}) EXPECT_OK(put(key, "db"));
  for (const bool forward : {true, false}) {
    for (const bool has_one : {true, false}) {
      WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
      if (has_one) EXPECT_OK(batch.Put(db_->DefaultColumnFamily(), forward ? "g" : "a", "1"));
      const std::unique_ptr<rocksdb::Iterator> at(
          batch.NewIteratorWithBase(db_->DefaultColumnFamily(), db_->NewIterator(ReadOptions())));
      std::string text;
      for (forward ? at->SeekToFirst() : at->SeekToLast(); at->Valid() && text.size() < 100;
           forward ? at->Next() : at->Prev()) {
        text += entry(*at);
        if (at->value() != Slice("db")) continue;
        const std::string key = at->key().ToString();
        const std::string behind =
            forward ? key + "x" : std::string(1, static_cast<char>(key[0] - 1)) + "x";
        EXPECT_OK(batch.Put(db_->DefaultColumnFamily(), behind, "added"));
      }
      std::string expected = forward ? "b=db d=db f=db " : "f=db d=db b=db ";
      if (has_one) expected += forward ? "g=1 " : "a=1 ";
      EXPECT_EQ(text, expected);
      EXPECT_EQ(batch.GetWriteBatch()->Count(), has_one ? 4U : 3U);
    }
  }
}

TEST_F(IndexedBatch, WalksWithinBounds) {
  open_two();
  for (const char* key : {"b", "d", "f"}) EXPECT_OK(put(key, "db"));
  WriteBatchWithIndex batch;
  for (const char* key : {"a", "c", "e", "g"}) {
    EXPECT_OK(batch.Put(db_->DefaultColumnFamily(), key, "1"));
  }
  const Slice lower("c");
  const Slice upper("f");
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  EXPECT_EQ(walk_over(batch, true, options), "c=1 d=db e=1 ");
  EXPECT_EQ(walk_over(batch, false, options), "e=1 d=db c=1 ");
  const std::unique_ptr<rocksdb::Iterator> at(
      batch.NewIteratorWithBase(db_->DefaultColumnFamily(), db_->NewIterator(options), &options));
  at->Seek("a");
  EXPECT_EQ(entry(*at), "c=1 ");
  at->SeekForPrev("z");
  EXPECT_EQ(entry(*at), "e=1 ");
}

TEST_F(IndexedBatch, FamiliesHaveTheirOrder) {
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.emplace_back("default", rocksdb::ColumnFamilyOptions(options_));
  rocksdb::ColumnFamilyOptions reversed(options_);
  reversed.comparator = rocksdb::ReverseBytewiseComparator();
  families.emplace_back("reversed", reversed);
  ASSERT_OK(rocksdb::DB::Open(options_, path_, families, &handles_, &db_));
  EXPECT_OK(put("b", "db", handles_[1]));
  WriteBatchWithIndex batch;
  EXPECT_OK(batch.Put(handles_[1], "a", "1"));
  EXPECT_OK(batch.Put(handles_[1], "c", "2"));
  EXPECT_OK(batch.Put("a", "3"));
  EXPECT_OK(batch.Put("c", "4"));
  EXPECT_EQ(updates(batch), "put a=3 put c=4 ");
  EXPECT_EQ(updates(batch, handles_[1]), "put c=2 put a=1 ");
  const std::unique_ptr<rocksdb::Iterator> at(
      batch.NewIteratorWithBase(handles_[1], db_->NewIterator(ReadOptions(), handles_[1])));
  EXPECT_EQ(walk(*at), "c=2 b=db a=1 ");
  // Without a handle by what the batch was made with.
  WriteBatchWithIndex backwards(rocksdb::ReverseBytewiseComparator());
  EXPECT_OK(backwards.Put("a", "1"));
  EXPECT_OK(backwards.Put("b", "2"));
  EXPECT_EQ(updates(backwards), "put b=2 put a=1 ");
}

TEST_F(IndexedBatch, SavepointsLimitsAndMoves) {
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.PutLogData("blob"));
  batch.SetSavePoint();
  EXPECT_OK(batch.Put("a", "2"));
  EXPECT_OK(batch.Put("b", "3"));
  batch.SetSavePoint();
  EXPECT_OK(batch.Delete("a"));
  EXPECT_OK(batch.PopSavePoint());
  EXPECT_EQ(updates(batch), "del a put b=3 ");
  EXPECT_OK(batch.RollbackToSavePoint());
  EXPECT_EQ(updates(batch), "put a=1 ");
  EXPECT_EQ(batch.GetCFStats().at(0).entry_count, 1U);

  batch.SetMaxBytes(batch.GetDataSize() + 10);
  EXPECT_TRUE(batch.Put("c", std::string(100, 'v')).IsMemoryLimit());
  EXPECT_EQ(updates(batch), "put a=1 ");
  WriteBatchWithIndex moved(std::move(batch));
  EXPECT_EQ(updates(moved), "put a=1 ");
  WriteBatchWithIndex again;
  again = std::move(moved);
  EXPECT_EQ(updates(again), "put a=1 ");
  EXPECT_TRUE(again.DeleteRange("a", "b").IsNotSupported());
  again.Clear();
  EXPECT_EQ(updates(again), "");
  EXPECT_EQ(again.GetWriteBatch()->Count(), 0U);
}

// Against a map for each family: what the batch is over, and what comes of it.
class IndexedBatchModel : public IndexedBatch, public ::testing::WithParamInterface<bool> {
 protected:
  using Map = std::map<std::string, std::string>;

  size_t below(size_t limit) { return random_() % limit; }
  std::string key() { return "k" + std::to_string(below(40)); }

  void update(WriteBatchWithIndex& batch) {
    const size_t family = below(2);
    const std::string at = key();
    const std::string value = std::to_string(below(1000));
    Map& map = maps_[family];
    switch (below(4)) {
      case 0:
        ASSERT_OK(batch.Delete(handles_[family], at));
        map.erase(at);
        break;
      case 1: {
        ASSERT_OK(batch.Merge(handles_[family], at, value));
        const auto [place, is_new] = map.try_emplace(at, value);
        if (!is_new) place->second += "," + value;
        break;
      }
      default:
        ASSERT_OK(batch.Put(handles_[family], at, value));
        map[at] = value;
    }
  }

  void compare(WriteBatchWithIndex& batch) {
    const size_t family = below(2);
    const Map& map = maps_[family];
    const std::string sought = key();
    const auto found = map.find(sought);
    ASSERT_EQ(read(batch, sought, handles_[family]),
              found == map.end() ? "(missing)" : found->second);
    const std::unique_ptr<rocksdb::Iterator> at(batch.NewIteratorWithBase(
        handles_[family], db_->NewIterator(ReadOptions(), handles_[family])));
    std::vector<std::pair<std::string, std::string>> entries(map.begin(), map.end());
    auto place = std::lower_bound(entries.begin(), entries.end(), std::pair(sought, std::string()));
    if (below(2) == 0) {
      at->Seek(sought);
    } else {
      at->SeekForPrev(sought);
      const bool exact = place != entries.end() && place->first == sought;
      if (!exact && place == entries.begin()) {
        ASSERT_FALSE(at->Valid());
        return;
      }
      if (!exact) --place;
    }
    for (int steps = 0; steps < 12; ++steps) {
      ASSERT_EQ(at->Valid(), place != entries.end()) << at->status().ToString();
      if (!at->Valid()) return;
      ASSERT_EQ(entry(*at), place->first + "=" + place->second + " ");
      if (below(3) == 0 && place != entries.begin()) {
        --place;
        at->Prev();
      } else {
        ++place;
        at->Next();
      }
    }
  }

  std::mt19937_64 random_;
  Map maps_[2];
};

TEST_P(IndexedBatchModel, AgainstMaps) {
  const char* const given = std::getenv("ROCKS_MODEL_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  SCOPED_TRACE("ROCKS_MODEL_SEED=" + std::to_string(seed));
  random_.seed(seed);
  open_two();
  constexpr int kBatches = 40;
  for (int round = 0; round < kBatches && !HasFatalFailure(); ++round) {
    WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, GetParam());
    for (size_t i = below(60); i > 0 && !HasFatalFailure(); --i) {
      update(batch);
      if (below(4) == 0) compare(batch);
      if (below(8) != 0) continue;
      const Map before[2] = {maps_[0], maps_[1]};
      batch.SetSavePoint();
      for (size_t j = below(8); j > 0; --j) update(batch);
      compare(batch);
      if (below(2) == 0) {
        ASSERT_OK(batch.PopSavePoint());
        continue;
      }
      ASSERT_OK(batch.RollbackToSavePoint());
      maps_[0] = before[0];
      maps_[1] = before[1];
    }
    compare(batch);
    ASSERT_OK(db_->Write(rocksdb::WriteOptions(), batch.GetWriteBatch()));
    for (size_t family = 0; family < 2; ++family) {
      std::string expected;
      for (const auto& [at, value] : maps_[family]) expected += at + "=" + value + " ";
      ASSERT_EQ(all(handles_[family]), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Keys, IndexedBatchModel, ::testing::Bool(), [](const auto& instance) {
  return instance.param ? "overwritten" : "kept";
});

}  // namespace
}  // namespace hawthorn::rocks
