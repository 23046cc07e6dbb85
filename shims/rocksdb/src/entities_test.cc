// Wide columns: entities are told apart from plain values wherever they are written and read.

#include "shims/rocksdb/src/entities.h"

#include <rocksdb/compaction_filter.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/stackable_db.h>

#include <sstream>

#include "shims/rocksdb/src/families.h"
#include "shims/rocksdb/src/transactions_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::AttributeGroup;
using rocksdb::AttributeGroups;
using rocksdb::PinnableAttributeGroup;
using rocksdb::PinnableAttributeGroups;
using rocksdb::PinnableSlice;
using rocksdb::PinnableWideColumns;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WideColumn;
using rocksdb::WideColumns;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

std::string text(const WideColumns& columns) {
  std::ostringstream out;
  for (const WideColumn& column : columns) out << column << " ";
  return out.str();
}

class Entities : public TransactionsTest {
 protected:
  void open_both() { ASSERT_OK(try_open({"default", "other"})); }
  rocksdb::ColumnFamilyHandle* family() { return db_->DefaultColumnFamily(); }

  Status put_entity(const std::string& key, const WideColumns& columns,
                    rocksdb::ColumnFamilyHandle* to = nullptr) {
    return db_->PutEntity(WriteOptions(), to ? to : family(), key, columns);
  }
  std::string entity(const std::string& key, rocksdb::ColumnFamilyHandle* of = nullptr,
                     const ReadOptions& options = {}) {
    PinnableWideColumns columns;
    const Status s = db_->GetEntity(options, of ? of : family(), key, &columns);
    if (s.IsNotFound()) return "(missing)";
    return s.ok() ? text(columns.columns()) : s.ToString();
  }
  static std::string all_columns(rocksdb::Iterator& at, bool forward = true) {
    std::string found;
    for (forward ? at.SeekToFirst() : at.SeekToLast(); at.Valid(); forward ? at.Next() : at.Prev())
      found += at.key().ToString() + "{" + text(at.columns()) + "} ";
    EXPECT_OK(at.status());
    return found;
  }
  std::string all_columns(rocksdb::ColumnFamilyHandle* of = nullptr, bool forward = true,
                          const ReadOptions& options = {}) {
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, of ? of : family()));
    return all_columns(*at, forward);
  }
};

TEST_F(Entities, AreReadAsColumnsAndAsPlainValues) {
  open_both();
  EXPECT_OK(put_entity("a", {{"y", "2"}, {"", "0"}, {"x", "1"}}));
  EXPECT_OK(put_entity("b", {{"x", "1"}}));
  EXPECT_OK(put_entity("c", {}));
  EXPECT_OK(put("d", "plain"));
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(entity("a"), ":0 x:1 y:2 ");
    EXPECT_EQ(get("a"), "0");
    EXPECT_EQ(entity("b"), "x:1 ");
    EXPECT_EQ(get("b"), "");
    EXPECT_EQ(entity("c"), "");
    EXPECT_EQ(get("c"), "");
    EXPECT_EQ(entity("d"), ":plain ");
    EXPECT_EQ(get("d"), "plain");
    EXPECT_EQ(entity("e"), "(missing)");
    EXPECT_EQ(all(), "a=0 b= c= d=plain ");
    EXPECT_EQ(all_columns(), "a{:0 x:1 y:2 } b{x:1 } c{} d{:plain } ");
    EXPECT_EQ(all_columns(nullptr, false), "d{:plain } c{} b{x:1 } a{:0 x:1 y:2 } ");
    ReadOptions pinned;
    pinned.pin_data = true;
    EXPECT_EQ(all_columns(nullptr, true, pinned), "a{:0 x:1 y:2 } b{x:1 } c{} d{:plain } ");
    close();
    open_both();
  }
  EXPECT_OK(put("a", "over"));
  EXPECT_OK(db_->Delete(WriteOptions(), "b"));
  EXPECT_EQ(entity("a"), ":over ");
  EXPECT_EQ(entity("b"), "(missing)");
}

TEST_F(Entities, ManyAreWalkedInBatches) {
  open_both();
  std::string expected;
  for (int i = 100; i < 400; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_OK(i % 3 == 0 ? put(number, number) : put_entity(number, {{"n", number}}));
    expected += number + (i % 3 == 0 ? "{:" : "{n:") + number + " } ";
  }
  EXPECT_EQ(all_columns(), expected);
}

TEST_F(Entities, OfLargeValuesArePinned) {
  open_both();
  const std::string large(100'000, 'l');
  EXPECT_OK(put_entity("a", {{"", large}, {"x", large}}));
  PinnableSlice value;
  EXPECT_OK(db_->Get(ReadOptions(), family(), "a", &value));
  EXPECT_TRUE(value == Slice(large) && value.IsPinned());
  PinnableWideColumns columns;
  EXPECT_OK(db_->GetEntity(ReadOptions(), family(), "a", &columns));
  EXPECT_GT(columns.serialized_size(), 2 * large.size());
  const PinnableWideColumns moved(std::move(columns));
  EXPECT_EQ(moved.columns(), (WideColumns{{"", large}, {"x", large}}));
  value.Reset();
}

TEST_F(Entities, RefuseWhatRocksDBRefuses) {
  open_both();
  EXPECT_TRUE(put_entity("a", {{"x", "1"}, {"x", "2"}}).IsCorruption());
  EXPECT_TRUE(db_->PutEntity(WriteOptions(), nullptr, "a", {}).IsInvalidArgument());
  EXPECT_TRUE(db_->PutEntity(WriteOptions(), "a", AttributeGroups()).IsInvalidArgument());
  PinnableWideColumns columns;
  EXPECT_TRUE(db_->GetEntity(ReadOptions(), nullptr, "a", &columns).IsInvalidArgument());
  PinnableWideColumns* const none = nullptr;
  EXPECT_TRUE(db_->GetEntity(ReadOptions(), family(), "a", none).IsInvalidArgument());
  // A batch of bytes that are none of columns, and one of a newer version.
  WriteBatch batch;
  EXPECT_OK(batch.Put("a", "1"));
  std::string bytes = batch.Data();
  bytes[12] = 0x16;
  WriteBatch wrong(bytes);
  EXPECT_TRUE(wrong.HasPutEntity());
  EXPECT_TRUE(db_->Write(WriteOptions(), &wrong).IsNotSupported());  // version 49
  bytes.back() = 1;
  WriteBatch cut(bytes);
  EXPECT_TRUE(db_->Write(WriteOptions(), &cut).IsCorruption());
  EXPECT_EQ(entity("a"), "(missing)");
}

TEST_F(Entities, StayApartFromPlainValuesThatBeginAsTheyDo) {
  open_both();
  EXPECT_OK(put_entity("a", {{"x", "1"}}));
  // What is stored is looked up past the API, by who knows the mark.
  close();
  std::string mark;
  {
    hawthorn::Options engine;
    const Slots slots;
    engine.merge_operators.assign(slots.merges.begin(), slots.merges.end());
    const auto below = hawthorn::Db::open(path_, engine);
    ASSERT_TRUE(below.ok()) << below.status().to_string();
    mark = FamilyRows::read(**below).value().families().at("default").mark;
    EXPECT_EQ(FamilyRows::read(**below).value().families().at("other").mark, "");
  }
  ASSERT_EQ(mark.size(), EntityMark::kBytes);
  open_both();
  const std::string tricky = mark + "e" + std::string("\1\0", 2);
  EXPECT_OK(put("b", tricky));
  EXPECT_OK(put("c", mark));
  WriteBatch batch;
  EXPECT_OK(batch.Put("d", tricky));
  EXPECT_OK(batch.Put(handles_[1], "d", tricky));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_OK(db_->Merge(WriteOptions(), "e", tricky));
  EXPECT_EQ(get("b"), tricky);
  EXPECT_EQ(get("c"), mark);
  EXPECT_EQ(get("d"), tricky);
  EXPECT_EQ(get("d", handles_[1]), tricky);
  EXPECT_EQ(get("e"), tricky);
  EXPECT_EQ(all(), "a= b=" + tricky + " c=" + mark + " d=" + tricky + " e=" + tricky + " ");
  PinnableWideColumns columns;
  EXPECT_OK(db_->GetEntity(ReadOptions(), family(), "b", &columns));
  EXPECT_EQ(columns.columns(), (WideColumns{{"", tricky}}));
  EXPECT_EQ(entity("a"), "x:1 ");
}

TEST_F(Entities, AreMergedAtTheirDefaultColumn) {
  options_.comparator = rocksdb::ReverseBytewiseComparator();
  open_both();
  for (int round = 0; round < 2; ++round) {
    EXPECT_OK(put_entity("a", {{"", "0"}, {"x", "1"}}));
    EXPECT_OK(put_entity("b", {{"x", "1"}}));
    const std::string longer(70'000, 'm');
    EXPECT_OK(put_entity("c", {{"", "0"}, {"x", "1"}}));
    EXPECT_OK(db_->Merge(WriteOptions(), "a", "m"));
    EXPECT_OK(db_->Merge(WriteOptions(), "a", "n"));
    EXPECT_OK(db_->Merge(WriteOptions(), "b", "m"));
    EXPECT_OK(db_->Merge(WriteOptions(), "c", longer));
    EXPECT_EQ(entity("a"), ":0,m,n x:1 ");
    EXPECT_EQ(get("a"), "0,m,n");
    EXPECT_EQ(entity("b"), ":,m x:1 ");
    EXPECT_EQ(entity("c"), ":0," + longer + " x:1 ");
    EXPECT_OK(db_->Flush(rocksdb::FlushOptions()));
    EXPECT_EQ(entity("a"), ":0,m,n x:1 ");
    close();
    options_.comparator = rocksdb::BytewiseComparator();
    path_ += "2";
    open_both();
  }
}

TEST_F(Entities, AreWrittenInGroups) {
  open_both();
  const AttributeGroups groups{AttributeGroup(handles_[0], {{"x", "1"}}),
                               AttributeGroup(handles_[1], {{"y", "2"}})};
  EXPECT_EQ(groups[0], groups[0]);
  EXPECT_NE(groups[0], groups[1]);
  EXPECT_TRUE(rocksdb::kNoAttributeGroups.empty() && rocksdb::kNoWideColumns.empty());
  EXPECT_OK(db_->PutEntity(WriteOptions(), "a", groups));
  PinnableAttributeGroups found;
  found.emplace_back(handles_[1]);
  found.emplace_back(handles_[0]);
  EXPECT_OK(db_->GetEntity(ReadOptions(), "a", &found));
  EXPECT_OK(found[0].status());
  EXPECT_EQ(found[0].columns(), groups[1].columns());
  EXPECT_EQ(found[1].columns(), groups[0].columns());
  EXPECT_OK(db_->GetEntity(ReadOptions(), "none", &found));
  EXPECT_TRUE(found[0].status().IsNotFound());

  PinnableAttributeGroups many[2];
  many[0].emplace_back(handles_[0]);
  many[1].emplace_back(handles_[0]);
  many[1].emplace_back(handles_[1]);
  const Slice keys[] = {"none", "a"};
  db_->MultiGetEntity(ReadOptions(), 2, keys, many);
  EXPECT_TRUE(many[0][0].status().IsNotFound());
  EXPECT_EQ(text(many[1][1].columns()), "y:2 ");

  PinnableAttributeGroup group(handles_[0]);
  PinnableWideColumns columns;
  columns.SetPlainValue(Slice("1"));
  group.SetColumns(std::move(columns));
  group.SetStatus(Status::Busy());
  EXPECT_TRUE(group.status().IsBusy());
  EXPECT_EQ(text(group.columns()), ":1 ");

  PinnableAttributeGroups wrong;
  wrong.emplace_back(handles_[0]);
  wrong.emplace_back(nullptr);
  EXPECT_TRUE(db_->GetEntity(ReadOptions(), "a", &wrong).IsInvalidArgument());
  EXPECT_TRUE(wrong[0].status().IsIncomplete());
  EXPECT_TRUE(wrong[1].status().IsInvalidArgument());
}

TEST_F(Entities, AreReadManyAtOnceAndAtSnapshots) {
  open_both();
  EXPECT_OK(put_entity("a", {{"x", "1"}}));
  EXPECT_OK(put("b", "2"));
  EXPECT_OK(put_entity("a", {{"x", "3"}}, handles_[1]));
  const Slice keys[] = {"a", "b", "none"};
  PinnableWideColumns results[3];
  Status statuses[3];
  db_->MultiGetEntity(ReadOptions(), family(), 3, keys, results, statuses);
  EXPECT_EQ(text(results[0].columns()) + text(results[1].columns()), "x:1 :2 ");
  EXPECT_TRUE(statuses[2].IsNotFound());
  rocksdb::ColumnFamilyHandle* of[] = {handles_[1], handles_[0], handles_[0]};
  db_->MultiGetEntity(ReadOptions(), 3, of, keys, results, statuses);
  EXPECT_EQ(text(results[0].columns()) + text(results[1].columns()), "x:3 :2 ");
  EXPECT_NE(results[0], results[1]);
  db_->MultiGetEntity(ReadOptions(), nullptr, 3, keys, results, statuses);
  EXPECT_TRUE(statuses[0].IsInvalidArgument());

  ReadOptions then;
  then.snapshot = db_->GetSnapshot();
  EXPECT_OK(put("a", "plain"));
  EXPECT_EQ(entity("a", nullptr, then), "x:1 ");
  EXPECT_EQ(entity("a"), ":plain ");
  db_->ReleaseSnapshot(then.snapshot);
}

struct Shower final : WriteBatch::Handler {
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& value) override {
    PinnableWideColumns columns;
    Status s = columns.SetWideColumnValue(value);
    shown += std::to_string(family) + key.ToString() + "{" + text(columns.columns()) + "} ";
    return s;
  }
  std::string shown;
};

TEST_F(Entities, OfBatchesHaveTheBytesOfRocksDB) {
  open_both();
  WriteBatch batch;
  EXPECT_OK(batch.PutEntity(handles_[0], "k", {{"y", "2"}, {"x", "11"}}));
  const std::string entity(
      "\x1\x2\x1x\x2\x1y\x1"
      "112",
      11);
  EXPECT_EQ(batch.Data(), std::string(8, '\0') + std::string("\1\0\0\0", 4) + "\x16\1k" +
                              std::string(1, '\x0b') + entity);
  EXPECT_OK(batch.PutEntity("k", {AttributeGroup(handles_[1], {{"x", "3"}})}));
  EXPECT_EQ(batch.Data().substr(12 + 15, 4), std::string("\x17\1\1k", 4));
  EXPECT_TRUE(batch.HasPutEntity() && !batch.HasPut());
  Shower shower;
  EXPECT_OK(WriteBatch(batch.Data()).Iterate(&shower));
  EXPECT_EQ(shower.shown, "0k{x:11 y:2 } 1k{x:3 } ");
  WriteBatch::Handler none;
  EXPECT_TRUE(batch.Iterate(&none).IsNotSupported());
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(Entities::entity("k"), "x:11 y:2 ");
}

TEST_F(Entities, OfIndexedBatchesAreFoundAndMerged) {
  open_both();
  EXPECT_OK(put_entity("b", {{"", "0"}, {"x", "db"}}));
  EXPECT_OK(put_entity("c", {{"x", "db"}}));
  rocksdb::WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
  EXPECT_OK(batch.PutEntity(family(), "a", {{"", "1"}, {"x", "batch"}}));
  EXPECT_OK(batch.Merge(family(), "a", "m"));
  EXPECT_OK(batch.Merge(family(), "b", "m"));
  EXPECT_OK(batch.PutEntity(family(), "d", {{"x", "batch"}}));
  EXPECT_OK(batch.Put(family(), "e", "plain"));
  EXPECT_OK(batch.Merge(family(), "f", "m"));
  EXPECT_OK(batch.Delete(family(), "g"));
  EXPECT_TRUE(batch.PutEntity("a", AttributeGroups()).IsInvalidArgument());
  EXPECT_TRUE(batch.PutEntity("a", {AttributeGroup(family(), {})}).IsNotSupported());

  std::string value;
  EXPECT_OK(batch.GetFromBatch(family(), options_, "a", &value));
  EXPECT_EQ(value, "1,m");
  EXPECT_OK(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), family(), "b", &value));
  EXPECT_EQ(value, "0,m");
  PinnableWideColumns columns;
  EXPECT_OK(batch.GetEntityFromBatch(family(), "a", &columns));
  EXPECT_EQ(text(columns.columns()), ":1,m x:batch ");
  EXPECT_OK(batch.GetEntityFromBatch(family(), "e", &columns));
  EXPECT_EQ(text(columns.columns()), ":plain ");
  EXPECT_TRUE(batch.GetEntityFromBatch(family(), "b", &columns).IsMergeInProgress());
  EXPECT_TRUE(batch.GetEntityFromBatch(family(), "g", &columns).IsNotFound());
  EXPECT_OK(batch.GetEntityFromBatchAndDB(db_.get(), ReadOptions(), family(), "b", &columns));
  EXPECT_EQ(text(columns.columns()), ":0,m x:db ");
  const Slice keys[] = {"a", "b", "c", "f", "g"};
  PinnableWideColumns results[5];
  Status statuses[5];
  batch.MultiGetEntityFromBatchAndDB(db_.get(), ReadOptions(), family(), 5, keys, results, statuses,
                                     false);
  std::string found;
  for (const PinnableWideColumns& result : results) found += text(result.columns()) + "| ";
  EXPECT_EQ(found, ":1,m x:batch | :0,m x:db | x:db | :m | | ");
  EXPECT_TRUE(statuses[4].IsNotFound());

  const std::unique_ptr<rocksdb::Iterator> over(
      batch.NewIteratorWithBase(family(), db_->NewIterator(ReadOptions(), family())));
  EXPECT_EQ(all_columns(*over),
            "a{:1,m x:batch } b{:0,m x:db } c{x:db } d{x:batch } e{:plain } f{:m } ");
  EXPECT_EQ(walk(*over, false), "f=m e=plain d= c= b=0,m a=1,m ");
  const std::unique_ptr<rocksdb::WBWIIterator> at(batch.NewIterator(family()));
  at->Seek("d");
  EXPECT_EQ(at->Entry().type, rocksdb::kPutEntityRecord);
  EXPECT_OK(columns.SetWideColumnValue(at->Entry().value));
  EXPECT_EQ(text(columns.columns()), "x:batch ");
}

TEST_F(Entities, OfTransactionsCommit) {
  for (const bool pessimistic : {true, false}) {
    pessimistic ? open_transactions({"default", "other"}) : open_optimistic({"default", "other"});
    EXPECT_OK(put_entity("a", {{"x", "old"}}));
    EXPECT_OK(db_->PutEntity(WriteOptions(), "g", {AttributeGroup(handles_[1], {{"x", "1"}})}));
    TransactionPtr t = pessimistic ? begin() : begin_optimistic();
    PinnableWideColumns columns;
    EXPECT_OK(t->GetEntityForUpdate(ReadOptions(), family(), "a", &columns));
    EXPECT_EQ(text(columns.columns()), "x:old ");
    EXPECT_OK(t->PutEntity(handles_[1], "a", {{"x", "new"}}));
    EXPECT_OK(t->Merge(handles_[1], "a", "m"));
    EXPECT_OK(t->PutEntityUntracked(family(), "b", {{"y", "1"}}));
    EXPECT_EQ(t->GetNumPuts(), 2U);
    EXPECT_OK(t->GetEntity(ReadOptions(), handles_[1], "a", &columns));
    EXPECT_EQ(text(columns.columns()), ":,m x:new ");
    const Slice keys[] = {"a", "b"};
    PinnableWideColumns results[2];
    Status statuses[2];
    t->MultiGetEntity(ReadOptions(), family(), 2, keys, results, statuses);
    EXPECT_EQ(text(results[0].columns()) + text(results[1].columns()), "x:old y:1 ");
    EXPECT_EQ(entity("b"), "(missing)");
    EXPECT_OK(t->Commit());
    EXPECT_EQ(entity("a", handles_[1]), ":,m x:new ");
    EXPECT_EQ(entity("b"), "y:1 ");
    EXPECT_EQ(entity("g", handles_[1]), "x:1 ");

    t = pessimistic ? begin() : begin_optimistic();
    WriteBatch batch;
    EXPECT_OK(batch.PutEntity(family(), "r", {{"z", "1"}}));
    EXPECT_OK(t->RebuildFromWriteBatch(&batch));
    EXPECT_OK(t->Commit());
    EXPECT_EQ(entity("r"), "z:1 ");
    t.reset();
    close();
    path_ += "2";
  }
}

TEST_F(Entities, WaitForTransactionsAsPutsDo) {
  db_options_.default_lock_timeout = 1;
  open_transactions();
  const TransactionPtr t = begin();
  EXPECT_OK(t->PutEntity(family(), "a", {{"x", "1"}}));
  EXPECT_TRUE(is_lock_timeout(put_entity("a", {{"x", "2"}})));
  EXPECT_OK(t->SetName("t"));
  EXPECT_OK(t->Prepare());
  EXPECT_OK(t->Commit());
  EXPECT_EQ(entity("a"), "x:1 ");
}

TEST_F(Entities, AreTakenInFromFiles) {
  open_both();
  const std::string puts = directory_ + "/puts";
  const std::string merges = directory_ + "/merges";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
  EXPECT_OK(writer.Open(puts));
  EXPECT_OK(writer.Put("a", "plain"));
  EXPECT_OK(writer.PutEntity("b", {{"x", "1"}}));
  EXPECT_TRUE(writer.PutEntity("c", {{"x", "1"}, {"x", "2"}}).IsCorruption());
  EXPECT_OK(writer.Finish());
  EXPECT_OK(writer.Open(merges));
  EXPECT_OK(writer.Merge("b", "m"));
  EXPECT_OK(writer.PutEntity("c", {{"y", "2"}}));
  EXPECT_OK(writer.Finish());
  EXPECT_OK(db_->IngestExternalFile({puts}, {}));
  EXPECT_EQ(all_columns(), "a{:plain } b{x:1 } ");
  EXPECT_OK(db_->IngestExternalFile({merges}, {}));
  EXPECT_EQ(all_columns(), "a{:plain } b{:,m x:1 } c{y:2 } ");
}

// Keeps an x, removes an r, and makes of c another entity.
class ByColumn final : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "test.ByColumn"; }
  Decision FilterV3(int, const Slice&, ValueType type, const Slice* value,
                    const WideColumns* columns, std::string* changed,
                    std::vector<std::pair<std::string, std::string>>* made,
                    std::string*) const override {
    if (type == kValue) {
      *changed = value->ToString() + "!";
      return Decision::kChangeValue;
    }
    const std::string first = columns->front().name().ToString();
    if (first == "r") return Decision::kRemove;
    if (first != "c") return Decision::kKeep;
    *made = {{"made", "1"}, {"", "0"}};
    return Decision::kChangeWideColumnEntity;
  }
};

TEST_F(Entities, AreShownToFilters) {
  static const ByColumn filter;  // outlives the database, which closes after the test
  options_.compaction_filter = &filter;
  open();
  EXPECT_OK(put_entity("a", {{"c", "1"}}));
  EXPECT_OK(put_entity("b", {{"r", "1"}}));
  EXPECT_OK(put_entity("d", {{"x", "1"}}));
  EXPECT_OK(put("e", "plain"));
  EXPECT_OK(db_->CompactRange({}, nullptr, nullptr));
  const std::string found = all_columns();
  EXPECT_TRUE(found.starts_with("a{:0 made:1 } d{x:1 } e{:plain!")) << found;
  close();
}

TEST_F(Entities, AreLeftAloneByFiltersThatDoNotKnowThem) {
  class All final : public rocksdb::CompactionFilter {
    const char* Name() const override { return "test.All"; }
    bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
      return true;
    }
  };
  static const All filter;
  options_.compaction_filter = &filter;
  open();
  EXPECT_OK(put_entity("a", {{"x", "1"}}));
  EXPECT_OK(put("b", "plain"));
  EXPECT_OK(db_->CompactRange({}, nullptr, nullptr));
  EXPECT_EQ(all_columns(), "a{x:1 } ");
  close();
}

TEST_F(Entities, GoThroughStackedDatabases) {
  open_both();
  rocksdb::StackableDB* const stacked = new rocksdb::StackableDB(db_.release());
  db_.reset(stacked);
  EXPECT_OK(put_entity("a", {{"x", "1"}}));
  EXPECT_OK(db_->PutEntity(WriteOptions(), "b", {AttributeGroup(handles_[1], {{"y", "2"}})}));
  EXPECT_EQ(entity("a") + entity("b", handles_[1]), "x:1 y:2 ");
}

TEST_F(Entities, OfColumnsAreComparedAndShown) {
  const WideColumn a(Slice("n"), Slice("v"));
  EXPECT_EQ(a, WideColumn(std::piecewise_construct, std::forward_as_tuple("nn", 1),
                          std::forward_as_tuple("vv", 1)));
  EXPECT_NE(a, WideColumn());
  std::ostringstream out;
  out << std::hex << a << WideColumn(rocksdb::kDefaultWideColumnName, "");
  EXPECT_EQ(out.str(), "0x6E:0x76:");
  PinnableWideColumns plain;
  plain.SetPlainValue(Slice("short"));
  PinnableWideColumns moved;
  moved = std::move(plain);
  EXPECT_EQ(text(moved.columns()), ":short ");
  moved.Reset();
  EXPECT_TRUE(moved.columns().empty());
  EXPECT_TRUE(moved.SetWideColumnValue(Slice("\1\1")).IsCorruption());
}

TEST(EntitiesFormat, RefusesBytesThatAreNone) {
  std::string bytes;
  ASSERT_OK(encode_columns({{"a", "1"}, {"b", "22"}}, &bytes));
  WideColumns columns;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(decode_columns(bytes.substr(0, size), &columns).IsCorruption()) << size;
  }
  EXPECT_OK(decode_columns(bytes, &columns));
  std::string disordered = bytes;
  disordered[3] = 'c';
  EXPECT_TRUE(decode_columns(disordered, &columns).IsCorruption());
  bytes[0] = 2;
  EXPECT_TRUE(decode_columns(bytes, &columns).IsNotSupported());
}

}  // namespace
}  // namespace hawthorn::rocks
