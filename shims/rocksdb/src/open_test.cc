// Opening, families, removal.

#include <hawthorn/db.h>

#include <fstream>
#include <thread>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::DBOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

class Opening : public RocksTest {
 protected:
  std::vector<std::string> listed() {
    std::vector<std::string> names;
    EXPECT_OK(DB::ListColumnFamilies(options_, path_, &names));
    return names;
  }
  static std::vector<std::string> trees_of(const std::string& path) {
    hawthorn::Options options;
    options.read_only = true;
    const auto engine = hawthorn::Db::open(path, options);
    EXPECT_TRUE(engine.ok()) << engine.status().to_string();
    return engine.ok() ? (*engine)->list_trees().value() : std::vector<std::string>();
  }
};

class WithTimestamps final : public rocksdb::Comparator {
 public:
  WithTimestamps() : Comparator(8) {}
  const char* Name() const override { return "test.WithTimestamps"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST_F(Opening, CreatesWhatIsMissingWhenAsked) {
  options_.create_if_missing = false;
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsInvalidArgument());
  options_.create_if_missing = true;
  open();
  ASSERT_OK(put("a", "1"));
  EXPECT_EQ(db_->GetName(), path_);
  close();
  options_.error_if_exists = true;
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsInvalidArgument());
  options_.error_if_exists = false;
  options_.create_if_missing = false;
  open();
  EXPECT_EQ(get("a"), "1");
  DB* raw = nullptr;
  EXPECT_TRUE(DB::Open(options_, path_, &raw).IsIOError());
  EXPECT_EQ(raw, nullptr);
  close();
  ASSERT_OK(DB::Open(options_, path_, &raw));
  delete raw;
}

TEST_F(Opening, AllFamiliesAreToBeNamed) {
  EXPECT_TRUE(try_open({"other"}).IsInvalidArgument());
  EXPECT_TRUE(try_open({"default", "other"}).IsInvalidArgument());
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"other", "default"}));
  ASSERT_EQ(handles_.size(), 2U);
  EXPECT_EQ(handles_[0]->GetName(), "other");
  EXPECT_EQ(handles_[1]->GetID(), 0U);
  ASSERT_OK(put("a", "of other", handles_[0]));
  ASSERT_OK(put("a", "of default"));
  close();
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsInvalidArgument());
  ASSERT_OK(try_open({"default", "other"}));
  EXPECT_EQ(get("a", handles_[1]), "of other");
  EXPECT_EQ(get("a", handles_[0]), "of default");
  EXPECT_EQ(listed(), (std::vector<std::string>{"default", "other"}));
  close();
  EXPECT_EQ(listed(), (std::vector<std::string>{"default", "other"}));
  std::vector<std::string> names;
  EXPECT_TRUE(DB::ListColumnFamilies(options_, directory_ + "/nothing", &names).IsIOError());
}

TEST_F(Opening, FamiliesComeAndGo) {
  open();
  ColumnFamilyHandle* one = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "one", &one));
  EXPECT_TRUE(
      db_->CreateColumnFamily(options_, "one", &handles_.emplace_back()).IsInvalidArgument());
  handles_.clear();
  const uint32_t id = one->GetID();
  ASSERT_OK(put("a", "1", one));
  ColumnFamilyDescriptor descriptor;
  EXPECT_EQ(descriptor.name, rocksdb::kDefaultColumnFamilyName);
  ASSERT_OK(one->GetDescriptor(&descriptor));
  EXPECT_EQ(descriptor.name, "one");
  EXPECT_EQ(descriptor.options.write_buffer_size, options_.write_buffer_size);
  EXPECT_EQ(one->GetComparator(), rocksdb::BytewiseComparator());
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(rocksdb::ReadOptions(), one));
  ASSERT_OK(db_->DropColumnFamily(one));
  EXPECT_TRUE(db_->DropColumnFamily(one).IsInvalidArgument());
  EXPECT_TRUE(db_->DropColumnFamily(db_->DefaultColumnFamily()).IsInvalidArgument());
  // Who has it still reads it, and another one has its name.
  EXPECT_EQ(get("a", one), "1");
  EXPECT_TRUE(put("b", "2", one).IsInvalidArgument());
  EXPECT_TRUE(db_->Delete(WriteOptions(), one, "a").IsInvalidArgument());
  ColumnFamilyHandle* again = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "one", &again));
  EXPECT_GT(again->GetID(), id);
  EXPECT_EQ(get("a", again), "(missing)");
  EXPECT_EQ(get("a", one), "1");
  ASSERT_OK(put("a", "2", again));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(one));
  EXPECT_EQ(walk(*iterator), "a=1 ");
  EXPECT_EQ(get("a", again), "2");
  ASSERT_OK(db_->DestroyColumnFamilyHandle(again));
  EXPECT_TRUE(db_->DestroyColumnFamilyHandle(db_->DefaultColumnFamily()).IsInvalidArgument());
  EXPECT_EQ(listed(), (std::vector<std::string>{"default", "one"}));
}

TEST_F(Opening, WhatIsDroppedGoesWithItsLastHandle) {
  open();
  std::vector<ColumnFamilyHandle*> made;
  ASSERT_OK(db_->CreateColumnFamilies(options_, {"one", "two"}, &made));
  std::vector<ColumnFamilyHandle*> more;
  ASSERT_OK(db_->CreateColumnFamilies({ColumnFamilyDescriptor("three", options_)}, &more));
  ASSERT_OK(put("a", "1", made[0]));
  ASSERT_OK(db_->DropColumnFamilies(made));
  EXPECT_EQ(listed(), (std::vector<std::string>{"default", "three"}));
  for (ColumnFamilyHandle* handle : made) delete handle;
  delete more[0];
  close();
  EXPECT_EQ(trees_of(path_),
            (std::vector<std::string>{"cf/default", "cf/three", "rocksdb", "rocksdb_erased"}));
}

TEST_F(Opening, WhatACrashHasLeftOfADropGoesWithTheNextOpen) {
  open();
  ColumnFamilyHandle* dropped = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "dropped", &dropped));
  ASSERT_OK(put("a", "1", dropped));
  const std::string copy = directory_ + "/copy";
  ASSERT_OK(db_->DropColumnFamily(dropped));
  ASSERT_OK(db_->SyncWAL());
  std::filesystem::copy(path_, copy, std::filesystem::copy_options::recursive);
  delete dropped;
  close();
  ASSERT_OK(DB::Open(options_, copy, &db_));
  close();
  EXPECT_EQ(trees_of(copy), (std::vector<std::string>{"cf/default", "rocksdb", "rocksdb_erased"}));
}

TEST_F(Opening, NamesOfFamilies) {
  open();
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(
      db_->CreateColumnFamily(options_, std::string(251, 'n'), &handle).IsInvalidArgument());
  EXPECT_EQ(handle, nullptr);
  const std::string odd("\0/ name", 7);
  ASSERT_OK(db_->CreateColumnFamily(options_, odd, &handle));
  delete handle;
  ASSERT_OK(db_->CreateColumnFamily(options_, "", &handle));
  delete handle;
  EXPECT_EQ(listed(), (std::vector<std::string>{"default", odd, ""}));
}

TEST_F(Opening, ReadOnly) {
  options_.avoid_flush_during_shutdown = true;
  options_.create_missing_column_families = true;
  EXPECT_TRUE(DB::OpenForReadOnly(options_, path_, &db_).IsNotFound());
  ASSERT_OK(try_open({"default", "other", "third"}));
  ASSERT_OK(put("a", "1", handles_[1]));
  ASSERT_OK(put("a", "0"));
  std::unique_ptr<DB> second;
  EXPECT_TRUE(DB::OpenForReadOnly(options_, path_, &second).IsIOError());
  close();
  // Only some of the families.
  ASSERT_OK(DB::OpenForReadOnly(
      options_, path_,
      {ColumnFamilyDescriptor(), ColumnFamilyDescriptor("other", ColumnFamilyOptions())}, &handles_,
      &db_));
  EXPECT_EQ(get("a", handles_[1]), "1");
  EXPECT_TRUE(put("b", "2").IsNotSupported());
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "new", &handle).IsNotSupported());
  EXPECT_TRUE(db_->DropColumnFamily(handles_[1]).IsNotSupported());
  EXPECT_TRUE(db_->Flush(rocksdb::FlushOptions()).IsNotSupported());
  close();
  DB* raw = nullptr;
  EXPECT_TRUE(DB::OpenForReadOnly(options_, path_, &raw, true).IsCorruption());
  EXPECT_EQ(raw, nullptr);
  ASSERT_OK(DB::OpenForReadOnly(options_, path_, &raw));
  delete raw;
  ASSERT_OK(try_open({"default", "other", "third"}));
  ASSERT_OK(db_->Flush(rocksdb::FlushOptions(), handles_));
  close();
  EXPECT_OK(
      DB::OpenForReadOnly(options_, path_, {ColumnFamilyDescriptor()}, &handles_, &raw, true));
  db_.reset(raw);
  EXPECT_EQ(get("a"), "0");
}

TEST_F(Opening, ClosingFlushes) {
  open();
  ASSERT_OK(put("a", "1"));
  close();
  ASSERT_OK(DB::OpenForReadOnly(options_, path_, &db_, true));
  EXPECT_EQ(get("a"), "1");
}

TEST_F(Opening, ComparatorsAreKept) {
  // They outlive the database, which closes behind the test.
  static const ByLength by_length;
  static const ByLength other("test.Other");
  options_.comparator = &by_length;
  open();
  for (const char* key : {"10", "9", "111", "8"}) ASSERT_OK(put(key, "1"));
  EXPECT_EQ(all(), "8=1 9=1 10=1 111=1 ");
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), "10", "9").IsInvalidArgument());
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "9", "111"));
  EXPECT_EQ(all(), "8=1 111=1 ");
  close();
  options_.comparator = &other;
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsInvalidArgument());
  options_.comparator = rocksdb::BytewiseComparator();
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsInvalidArgument());
  options_.comparator = &by_length;
  open();
  EXPECT_EQ(all(), "8=1 111=1 ");
  // Families may have others, also new ones while it is open.
  ColumnFamilyOptions family(options_);
  family.comparator = &other;
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(family, "other", &handle));
  for (const char* key : {"10", "9"}) ASSERT_OK(put(key, "2", handle));
  EXPECT_EQ(all(handle), "9=2 10=2 ");
  delete handle;
  family.comparator = rocksdb::ReverseBytewiseComparator();
  ASSERT_OK(db_->CreateColumnFamily(family, "reverse", &handle));
  for (const char* key : {"10", "9", ""}) ASSERT_OK(put(key, "3", handle));
  EXPECT_EQ(all(handle), "9=3 10=3 =3 ");
  const std::unique_ptr<rocksdb::Iterator> iterator(
      db_->NewIterator(rocksdb::ReadOptions(), handle));
  iterator->Seek("5");
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->key(), Slice("10"));
  iterator->SeekForPrev("5");
  EXPECT_EQ(iterator->key(), Slice("9"));
  iterator->Seek("");
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->key(), Slice(""));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), handle, "95", "0"));
  EXPECT_EQ(all(handle), "=3 ");
  delete handle;
}

TEST_F(Opening, UserTimestampsAreRefused) {
  const WithTimestamps comparator;
  options_.comparator = &comparator;
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsNotSupported());
  options_.comparator = nullptr;
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsInvalidArgument());
}

TEST_F(Opening, ForeignDirectoriesAreRefused) {
  std::filesystem::create_directory(path_);
  std::ofstream(path_ + "/CURRENT") << "MANIFEST-000001\n";
  EXPECT_TRUE(DB::Open(options_, path_, &db_).IsNotSupported());
  const std::string native = directory_ + "/native";
  {
    const auto engine = hawthorn::Db::open(native, {});
    ASSERT_TRUE(engine.ok());
    ASSERT_TRUE((*engine)->tree("mine").ok());
  }
  EXPECT_TRUE(DB::Open(options_, native, &db_).IsInvalidArgument());
}

TEST_F(Opening, ManyFamiliesWithOperators) {
  options_.merge_operator = std::make_shared<Append>();
  options_.write_buffer_size = size_t{64} << 10;
  open();
  std::vector<ColumnFamilyHandle*> made;
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(db_->CreateColumnFamily(options_, "f" + std::to_string(i), &made.emplace_back()));
    ASSERT_OK(db_->Merge(WriteOptions(), made.back(), "k", std::to_string(i)));
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(db_->Merge(WriteOptions(), made[static_cast<size_t>(i)], "k", "x"));
    EXPECT_EQ(get("k", made[static_cast<size_t>(i)]), std::to_string(i) + ",x");
  }
  // Their slots are free again.
  ASSERT_OK(db_->DropColumnFamilies(made));
  for (ColumnFamilyHandle* handle : made) delete handle;
  ColumnFamilyHandle* last = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "last", &last));
  ASSERT_OK(db_->Merge(WriteOptions(), last, "k", "y"));
  EXPECT_EQ(get("k", last), "y");
  delete last;
}

TEST_F(Opening, DatabasesAreDestroyed) {
  open();
  EXPECT_TRUE(rocksdb::DestroyDB(path_, options_).IsIOError());
  ASSERT_OK(put("a", "1"));
  close();
  ASSERT_OK(rocksdb::DestroyDB(path_, options_));
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_OK(rocksdb::DestroyDB(path_, options_));
  open();
  EXPECT_EQ(get("a"), "(missing)");
}

TEST_F(Opening, ThreadsWriteReadAndMakeFamilies) {
  options_.merge_operator = std::make_shared<Append>();
  open();
  constexpr int kRounds = 30;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kRounds; ++i) {
        ColumnFamilyHandle* handle = nullptr;
        const std::string name = std::to_string(t) + "." + std::to_string(i);
        ASSERT_OK(db_->CreateColumnFamily(options_, name, &handle));
        rocksdb::WriteBatch batch;
        ASSERT_OK(batch.Put(handle, "a", name));
        ASSERT_OK(batch.Put("of " + std::to_string(t), name));
        ASSERT_OK(db_->Write(WriteOptions(), &batch));
        EXPECT_EQ(get("a", handle), name);
        ASSERT_OK(db_->DropColumnFamily(handle));
        EXPECT_EQ(get("a", handle), name);
        delete handle;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(all(), "of 0=0.29 of 1=1.29 of 2=2.29 ");
  EXPECT_EQ(listed(), std::vector<std::string>{"default"});
}

}  // namespace
}  // namespace hawthorn::rocks
