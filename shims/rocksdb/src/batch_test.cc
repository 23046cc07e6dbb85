// WriteBatch by itself: its bytes are RocksDB's.

#include <rocksdb/write_batch.h>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::Slice;
using rocksdb::SliceParts;
using rocksdb::Status;
using rocksdb::WriteBatch;

// A family that no database has.
class FakeFamily final : public rocksdb::ColumnFamilyHandle {
 public:
  explicit FakeFamily(uint32_t id) : id_(id) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(rocksdb::ColumnFamilyDescriptor*) override { return Status::NotSupported(); }
  const rocksdb::Comparator* GetComparator() const override { return nullptr; }

 private:
  const uint32_t id_;
  const std::string name_ = "fake";
};

// Writes down what it is shown.
class Told final : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return add("put", family, key.ToString() + "=" + value.ToString());
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    return add("del", family, key.ToString());
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return add("single", family, key.ToString());
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return add("range", family, begin.ToString() + ".." + end.ToString());
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    return add("merge", family, key.ToString() + "=" + value.ToString());
  }
  void LogData(const Slice& blob) override { text += "log " + blob.ToString() + "\n"; }
  Status MarkBeginPrepare(bool) override { return add("begin", 0, ""); }
  Status MarkEndPrepare(const Slice& xid) override { return add("end", 0, xid.ToString()); }
  Status MarkNoop(bool empty) override { return add(empty ? "noop of none" : "noop", 0, ""); }
  Status MarkRollback(const Slice& xid) override { return add("rollback", 0, xid.ToString()); }
  Status MarkCommit(const Slice& xid) override { return add("commit", 0, xid.ToString()); }
  bool Continue() override { return limit-- > 0; }

  std::string text;
  int limit = 1000;

 private:
  Status add(const char* what, uint32_t family, const std::string& rest) {
    text += std::string(what) + " " + std::to_string(family) + " " + rest + "\n";
    return Status::OK();
  }
};

// Knows the default family alone.
class OldTold final : public WriteBatch::Handler {
 public:
  void Put(const Slice& key, const Slice&) override { text += "put " + key.ToString() + " "; }
  void Delete(const Slice& key) override { text += "del " + key.ToString() + " "; }
  void SingleDelete(const Slice& key) override { text += "single " + key.ToString() + " "; }
  void Merge(const Slice& key, const Slice&) override { text += "merge " + key.ToString() + " "; }
  std::string text;
};

TEST(Batch, BytesAreThoseOfRocksdb) {
  WriteBatch batch;
  EXPECT_OK(batch.Put("k", "vv"));
  const FakeFamily family(300);
  EXPECT_OK(batch.Delete(const_cast<FakeFamily*>(&family), "x"));
  // Header: sequence 0, count 2. Then tags and lengths as its format has them.
  const std::string expected = std::string(8, '\0') + std::string("\2\0\0\0", 4) + "\1\1k\2vv" +
                               std::string("\4\xac\2\1x", 5);
  EXPECT_EQ(Slice(batch.Data()).ToString(true), Slice(expected).ToString(true));
  EXPECT_EQ(batch.GetDataSize(), expected.size());
  EXPECT_EQ(batch.Count(), 2U);
  EXPECT_EQ(batch.GetWriteBatch(), &batch);
}

TEST(Batch, HandlersSeeEverythingInOrder) {
  FakeFamily family(7);
  WriteBatch batch;
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.Put(&family, "b", "2"));
  EXPECT_OK(batch.Delete("c"));
  EXPECT_OK(batch.SingleDelete(&family, "d"));
  EXPECT_OK(batch.DeleteRange("e", "f"));
  EXPECT_OK(batch.Merge(&family, "g", "3"));
  EXPECT_OK(batch.PutLogData("blob"));
  const std::string expected =
      "put 0 a=1\nput 7 b=2\ndel 0 c\nsingle 7 d\nrange 0 e..f\nmerge 7 g=3\nlog blob\n";
  Told told;
  EXPECT_OK(batch.Iterate(&told));
  EXPECT_EQ(told.text, expected);
  EXPECT_EQ(batch.Count(), 6U);

  // From its bytes comes the same.
  const WriteBatch copy(batch.Data());
  Told again;
  EXPECT_OK(copy.Iterate(&again));
  EXPECT_EQ(again.text, expected);
  Told stopped;
  stopped.limit = 2;
  EXPECT_OK(batch.Iterate(&stopped));
  EXPECT_EQ(stopped.text, "put 0 a=1\nput 7 b=2\n");
  EXPECT_TRUE(batch.HasPut());
  EXPECT_TRUE(batch.HasDelete());
  EXPECT_TRUE(batch.HasSingleDelete());
  EXPECT_TRUE(batch.HasDeleteRange());
  EXPECT_TRUE(batch.HasMerge());
  EXPECT_FALSE(WriteBatch().HasPut());
}

TEST(Batch, HandlersOfTheDefaultFamilyAlone) {
  FakeFamily family(7);
  WriteBatch batch;
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.Delete("b"));
  EXPECT_OK(batch.SingleDelete("c"));
  EXPECT_OK(batch.Merge("d", "2"));
  OldTold told;
  EXPECT_OK(batch.Iterate(&told));
  EXPECT_EQ(told.text, "put a del b single c merge d ");
  EXPECT_OK(batch.Put(&family, "e", "1"));
  EXPECT_TRUE(batch.Iterate(&told).IsInvalidArgument());
  WriteBatch range;
  EXPECT_OK(range.DeleteRange("a", "b"));
  EXPECT_TRUE(range.Iterate(&told).IsInvalidArgument());
}

TEST(Batch, MarksOfPreparedTransactions) {
  const std::string header(12, '\0');
  const WriteBatch batch(header + "\x0d" + "\x09" + "\x0a\1x" + "\x0b\1y" + "\x0c\1z");
  Told told;
  EXPECT_OK(batch.Iterate(&told));
  EXPECT_EQ(told.text, "noop of none 0 \nbegin 0 \nend 0 x\ncommit 0 y\nrollback 0 z\n");
  EXPECT_TRUE(batch.HasBeginPrepare());
  EXPECT_TRUE(batch.HasEndPrepare());
  EXPECT_TRUE(batch.HasCommit());
  EXPECT_TRUE(batch.HasRollback());
  OldTold old;
  EXPECT_TRUE(batch.Iterate(&old).IsInvalidArgument());
}

TEST(Batch, DamagedBytesAreTold) {
  WriteBatch good;
  EXPECT_OK(good.Put("key", "value"));
  const std::string bytes = good.Data();
  for (size_t size = 0; size < bytes.size(); ++size) {
    Told told;
    EXPECT_TRUE(WriteBatch(bytes.substr(0, size)).Iterate(&told).IsCorruption()) << size;
  }
  for (int tag = 0x10; tag < 0x100; ++tag) {
    if (tag == 0x12 || tag == 0x13 || tag == 0x16) continue;  // marks, and an entity
    std::string changed = bytes;
    changed[12] = static_cast<char>(tag);
    Told told;
    EXPECT_TRUE(WriteBatch(changed).Iterate(&told).IsCorruption()) << tag;
  }
}

TEST(Batch, Savepoints) {
  WriteBatch batch;
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
  EXPECT_OK(batch.Put("a", "1"));
  batch.SetSavePoint();
  EXPECT_OK(batch.Put("b", "2"));
  batch.SetSavePoint();
  EXPECT_OK(batch.Delete("c"));
  EXPECT_OK(batch.PopSavePoint());
  EXPECT_EQ(batch.Count(), 3U);
  EXPECT_OK(batch.RollbackToSavePoint());
  EXPECT_EQ(batch.Count(), 1U);
  EXPECT_FALSE(batch.HasDelete());
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  batch.SetSavePoint();
  batch.Clear();
  EXPECT_EQ(batch.Count(), 0U);
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
}

TEST(Batch, LimitOfBytes) {
  WriteBatch batch(0, 30);
  EXPECT_OK(batch.Put("a", "1"));
  const std::string before = batch.Data();
  EXPECT_TRUE(batch.Put("b", std::string(30, 'v')).IsMemoryLimit());
  EXPECT_EQ(batch.Data(), before);
  batch.SetMaxBytes(0);
  EXPECT_OK(batch.Put("b", std::string(30, 'v')));
}

TEST(Batch, CopiesAndMoves) {
  WriteBatch batch(100);
  EXPECT_OK(batch.Put("a", "1"));
  batch.SetSavePoint();
  WriteBatch copy(batch);
  EXPECT_OK(copy.Put("b", "2"));
  EXPECT_OK(copy.RollbackToSavePoint());
  EXPECT_EQ(copy.Data(), batch.Data());
  WriteBatch moved(std::move(copy));
  EXPECT_EQ(moved.Data(), batch.Data());
  copy = moved;
  EXPECT_EQ(copy.Count(), 1U);
  moved = WriteBatch();
  EXPECT_EQ(moved.Count(), 0U);
  const std::string bytes = copy.Release();
  EXPECT_EQ(bytes, batch.Data());
  EXPECT_EQ(copy.Count(), 0U);
  EXPECT_OK(copy.Put("c", "3"));
  EXPECT_EQ(copy.Count(), 1U);
}

TEST(Batch, UserTimestampsAreRefused) {
  WriteBatch batch(0, 0, 0, 8);
  EXPECT_TRUE(batch.Put("a", "1").IsNotSupported());
}

TEST(Batch, PartsAreOneString) {
  FakeFamily family(7);
  const Slice key_parts[] = {"k", "e", "y"};
  const Slice value_parts[] = {"va", "lue"};
  const SliceParts key(key_parts, 3);
  const SliceParts value(value_parts, 2);
  WriteBatch batch;
  EXPECT_OK(batch.Put(key, value));
  EXPECT_OK(batch.Put(&family, key, value));
  EXPECT_OK(batch.Merge(key, value));
  EXPECT_OK(batch.Merge(&family, key, value));
  EXPECT_OK(batch.Delete(key));
  EXPECT_OK(batch.Delete(&family, key));
  EXPECT_OK(batch.SingleDelete(key));
  EXPECT_OK(batch.SingleDelete(&family, key));
  EXPECT_OK(batch.DeleteRange(key, value));
  EXPECT_OK(batch.DeleteRange(&family, key, SliceParts()));
  Told told;
  EXPECT_OK(batch.Iterate(&told));
  EXPECT_EQ(told.text,
            "put 0 key=value\nput 7 key=value\nmerge 0 key=value\nmerge 7 key=value\n"
            "del 0 key\ndel 7 key\nsingle 0 key\nsingle 7 key\nrange 0 key..value\n"
            "range 7 key..\n");
}

}  // namespace
}  // namespace hawthorn::rocks
