// Entries go when they are older than their family's ttl. Times are not waited for: what is to be
// old is written with a time of the past, to the database below.

#include <rocksdb/compaction_filter.h>
#include <rocksdb/utilities/db_ttl.h>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"
#include "shims/rocksdb/src/ttl_filters.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::DB;
using rocksdb::DBWithTTL;
using rocksdb::PinnableSlice;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

constexpr uint32_t kAge = 1000;  // of what is old

class Ttls : public RocksTest {
 protected:
  Ttls() {
    options_.create_missing_column_families = true;
    options_.merge_operator = std::make_shared<Append>();
  }
  void open_ttl(int32_t ttl, bool read_only = false) {
    DBWithTTL* opened = nullptr;
    ASSERT_OK(DBWithTTL::Open(options_, path_, &opened, ttl, read_only));
    take(opened);
  }
  void open_families(const std::vector<int32_t>& ttls) {
    DBWithTTL* opened = nullptr;
    ASSERT_OK(try_families({"default", "other"}, ttls, &opened));
    take(opened);
  }
  Status try_families(const std::vector<std::string>& names, const std::vector<int32_t>& ttls,
                      DBWithTTL** opened) {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) {
      families.emplace_back(name, rocksdb::ColumnFamilyOptions(options_));
    }
    return DBWithTTL::Open(options_, path_, families, &handles_, opened, ttls);
  }
  void take(DBWithTTL* opened) {
    ttl_ = opened;
    db_.reset(opened);
  }
  void put_old(const std::string& key, const std::string& value,
               rocksdb::ColumnFamilyHandle* family = nullptr) {
    std::string old = value;
    append_time(seconds_now() - kAge, &old);
    DB* const below = ttl_->GetBaseDB();
    EXPECT_OK(below->Put(WriteOptions(), family ? family : below->DefaultColumnFamily(), key, old));
  }
  void compact() { ASSERT_OK(db_->CompactRange({}, nullptr, nullptr)); }

  DBWithTTL* ttl_ = nullptr;
};

TEST_F(Ttls, WhatIsTooOldGoes) {
  open_ttl(kAge / 2);
  ASSERT_OK(put("new", "1"));
  put_old("old", "2");
  EXPECT_EQ(all(), "new=1 old=2 ");
  compact();
  EXPECT_EQ(all(), "new=1 ");
  EXPECT_EQ(get("old"), "(missing)");
}

TEST_F(Ttls, HaveNoWideColumns) {
  open_ttl(kAge);
  const rocksdb::WideColumns columns{{"x", "y"}};
  rocksdb::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  EXPECT_TRUE(db_->PutEntity(WriteOptions(), family, "a", columns).IsNotSupported());
  rocksdb::WriteBatch batch;
  ASSERT_OK(batch.Put("b", "1"));
  ASSERT_OK(batch.PutEntity(family, "a", columns));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupported());
  EXPECT_EQ(all(), "");
  ASSERT_OK(put("b", "1"));
  rocksdb::PinnableWideColumns read;
  EXPECT_TRUE(db_->GetEntity({}, family, "b", &read).IsNotSupported());
  const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator({}));
  at->SeekToFirst();
  ASSERT_TRUE(at->Valid());
  EXPECT_EQ(at->columns(), (rocksdb::WideColumns{{rocksdb::kDefaultWideColumnName, "1"}}));
}

TEST_F(Ttls, GoesWithFlushesToo) {
  open_ttl(kAge / 2);
  put_old("old", "2");
  ASSERT_OK(db_->Flush({}));
  ASSERT_OK(db_->WaitForCompact({}));
  EXPECT_EQ(all(), "");
}

TEST_F(Ttls, NoneIsForEver) {
  for (const int32_t none : {0, -1}) {
    open_ttl(none);
    put_old("old", "1");
    compact();
    EXPECT_EQ(all(), "old=1 ");
    close();
  }
}

TEST_F(Ttls, MayBeAnotherOneLater) {
  open_ttl(2 * kAge);
  put_old("a", "1");
  compact();
  EXPECT_EQ(all(), "a=1 ");
  close();
  open_ttl(kAge / 2);
  compact();
  EXPECT_EQ(all(), "");
  put_old("b", "1");
  ttl_->SetTtl(0);
  compact();
  EXPECT_EQ(all(), "b=1 ");
  ttl_->SetTtl(kAge / 2);
  compact();
  EXPECT_EQ(all(), "");
}

TEST_F(Ttls, EachFamilyHasItsOwn) {
  open_families({0, kAge / 2});
  for (rocksdb::ColumnFamilyHandle* family : handles_) put_old("old", "1", family);
  compact();
  EXPECT_EQ(all(handles_[0]), "old=1 ");
  EXPECT_EQ(all(handles_[1]), "");
  ttl_->SetTtl(handles_[0], kAge / 2);
  compact();
  EXPECT_EQ(all(handles_[0]), "");
  close();
  DBWithTTL* none = nullptr;
  EXPECT_TRUE(try_families({"default", "other"}, {0}, &none).IsInvalidArgument());
  EXPECT_EQ(none, nullptr);
}

TEST_F(Ttls, OfFamiliesThatAreMadeLater) {
  open_ttl(0);
  rocksdb::ColumnFamilyHandle* made = nullptr;
  ASSERT_OK(ttl_->CreateColumnFamilyWithTtl(options_, "other", &made, kAge / 2));
  handles_.push_back(made);
  ASSERT_OK(db_->CreateColumnFamily(options_, "for ever", &made));
  handles_.push_back(made);
  std::vector<rocksdb::ColumnFamilyHandle*> several;
  ASSERT_OK(db_->CreateColumnFamilies(options_, {"c"}, &several));
  handles_.push_back(several[0]);
  ASSERT_OK(db_->CreateColumnFamilies({{"d", options_}}, &several));
  handles_.push_back(several[0]);
  for (rocksdb::ColumnFamilyHandle* family : handles_) {
    put_old("old", "1", family);
    ASSERT_OK(put("new", "2", family));
    ASSERT_OK(db_->Merge(WriteOptions(), family, "new", "3"));
  }
  compact();
  EXPECT_EQ(all(handles_[0]), "new=2,3 ");
  for (size_t i = 1; i < handles_.size(); ++i) EXPECT_EQ(all(handles_[i]), "new=2,3 old=1 ");
  ttl_->SetTtl(handles_[1], kAge / 2);
  compact();
  EXPECT_EQ(all(handles_[1]), "new=2,3 ");
  put_old("old", "1", handles_[0]);
  close();
  DBWithTTL* opened = nullptr;
  ASSERT_OK(
      try_families({"default", "other", "for ever", "c", "d"}, {0, kAge / 2, 0, 0, 0}, &opened));
  take(opened);
  compact();
  EXPECT_EQ(all(handles_[1]), "new=2,3 ");
}

TEST_F(Ttls, ReadsAndWritesInAllWays) {
  open_families({0, 0});
  rocksdb::WriteBatch batch;
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.Put(handles_[1], "a", std::string(5000, 'x')));
  EXPECT_OK(batch.Merge("a", "2"));
  EXPECT_OK(batch.Put("gone", "1"));
  EXPECT_OK(batch.Delete("gone"));
  EXPECT_OK(batch.PutLogData("a remark"));
  EXPECT_OK(batch.Put("b", ""));
  EXPECT_OK(batch.Put("c", "1"));
  EXPECT_OK(batch.DeleteRange("c", "d"));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(batch.Count(), 8u);
  EXPECT_EQ(all(), "a=1,2 b= ");
  EXPECT_EQ(get("a", handles_[1]).size(), 5000u);
  EXPECT_OK(db_->Merge(WriteOptions(), "a", "3"));
  EXPECT_EQ(get("a"), "1,2,3");
  PinnableSlice value;
  EXPECT_OK(db_->Get(ReadOptions(), handles_[1], "a", &value));
  EXPECT_EQ(value.size(), 5000u);
  std::vector<std::string> values;
  db_->MultiGet(ReadOptions(), handles_, {"a", "a"}, &values);
  EXPECT_EQ(values[0], "1,2,3");
  EXPECT_EQ(values[1].size(), 5000u);
  const Slice keys[] = {"b", "z"};
  PinnableSlice read[2];
  Status statuses[2];
  db_->MultiGet(ReadOptions(), handles_[0], 2, keys, read, statuses);
  EXPECT_OK(statuses[0]);
  EXPECT_EQ(read[0], Slice(""));
  EXPECT_TRUE(statuses[1].IsNotFound());
  std::string found;
  bool is_found = false;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "a", &found, &is_found));
  EXPECT_TRUE(is_found);
  EXPECT_EQ(found, "1,2,3");
  std::vector<rocksdb::Iterator*> iterators;
  EXPECT_OK(db_->NewIterators(ReadOptions(), handles_, &iterators));
  EXPECT_EQ(walk(*iterators[0], false), "b= a=1,2,3 ");
  EXPECT_OK(put("z", "26"));
  EXPECT_OK(iterators[0]->Refresh());
  iterators[0]->SeekForPrev("zz");
  EXPECT_EQ(entry(*iterators[0]), "z=26 ");
  for (rocksdb::Iterator* iterator : iterators) delete iterator;
  EXPECT_FALSE(db_->Write(WriteOptions(), nullptr).ok());
}

TEST_F(Ttls, WhatIsMergedIsAsOldAsItsNewestOperand) {
  open_ttl(kAge / 2);
  put_old("merged", "1");
  put_old("old", "1");
  ASSERT_OK(db_->Merge(WriteOptions(), "merged", "2"));
  std::string operand = "2";
  append_time(seconds_now() - kAge, &operand);
  ASSERT_OK(ttl_->GetBaseDB()->Merge(WriteOptions(), "old", operand));
  compact();
  EXPECT_EQ(all(), "merged=1,2 ");
  close();
  open_ttl(kAge / 2);
  EXPECT_EQ(all(), "merged=1,2 ");
}

class Obeys final : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "test.Obeys"; }
  bool Filter(int, const Slice&, const Slice& value, std::string* new_value,
              bool* changed) const override {
    if (value == "change") *changed = true, *new_value = "changed";
    return value == "remove";
  }
};

class MakesObeys final : public rocksdb::CompactionFilterFactory {
 public:
  const char* Name() const override { return "test.MakesObeys"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<Obeys>();
  }
};

TEST_F(Ttls, TheProgramsOwnFilterIsCalled) {
  static const Obeys filter;  // outlives the database, which closes after the test
  for (const bool by_factory : {false, true}) {
    options_.compaction_filter = by_factory ? nullptr : &filter;
    if (by_factory) options_.compaction_filter_factory = std::make_shared<MakesObeys>();
    open_ttl(2 * kAge);
    ASSERT_OK(put("a", "remove"));
    ASSERT_OK(put("b", "change"));
    ASSERT_OK(put("c", "keep"));
    put_old("d", "change");
    compact();
    EXPECT_EQ(all(), "b=changed c=keep d=changed ");
    // A change leaves the time of the write.
    ttl_->SetTtl(kAge / 2);
    compact();
    EXPECT_EQ(all(), "b=changed c=keep ");
    close();
  }
}

TEST_F(Ttls, ReadOnlyRemovesNothing) {
  open_ttl(0);
  put_old("old", "1");
  close();
  open_ttl(kAge / 2, true);
  EXPECT_EQ(all(), "old=1 ");
  EXPECT_TRUE(put("a", "1").IsNotSupported());
}

TEST_F(Ttls, ValuesWithoutATimeAreDamage) {
  open();
  ASSERT_OK(put("a", "1"));
  ASSERT_OK(put("b", "a longer one"));
  reopen();
  EXPECT_EQ(get("a"), "1");
  close();
  open_ttl(kAge);
  EXPECT_EQ(get("a").substr(0, 10), "Corruption");
  EXPECT_OK(put("b", "1"));
  EXPECT_EQ(get("b"), "1");
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(ReadOptions()));
  iterator->SeekToFirst();
  EXPECT_TRUE(iterator->status().IsCorruption());
  EXPECT_EQ(iterator->value(), Slice(""));
  iterator->Next();
  EXPECT_OK(iterator->status());
  compact();
  EXPECT_EQ(get("a").substr(0, 10), "Corruption");
}

// What RocksDB writes: the value, and the seconds as four bytes.
TEST_F(Ttls, TimesStandBehindValues) {
  open_ttl(0);
  const uint32_t before = seconds_now();
  ASSERT_OK(put("a", "value"));
  const uint32_t after = seconds_now();
  close();
  open();
  const std::string stored = get("a");
  ASSERT_EQ(stored.size(), 9u);
  EXPECT_EQ(stored.substr(0, 5), "value");
  uint32_t time = 0;
  std::memcpy(&time, stored.data() + 5, sizeof(time));
  EXPECT_GE(time, before);
  EXPECT_LE(time, after);
}

}  // namespace
}  // namespace hawthorn::rocks
