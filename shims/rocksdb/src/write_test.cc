// Writes of a database: single ones, batches, ranges, merges.

#include <rocksdb/write_batch.h>

#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::WriteBatch;
using rocksdb::WriteOptions;

class Writes : public RocksTest {};

// Sums of decimal numbers; refuses what is none.
class Sum final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "test.Sum"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    long sum = 0;
    out->op_failure_scope = OpFailureScope::kTryMerge;
    if (in.existing_value != nullptr && !add(*in.existing_value, &sum)) return false;
    for (const Slice& operand : in.operand_list) {
      if (!add(operand, &sum)) return false;
    }
    out->new_value = std::to_string(sum);
    return true;
  }

 private:
  static bool add(const Slice& text, long* sum) {
    char* end = nullptr;
    const std::string digits = text.ToString();
    *sum += std::strtol(digits.c_str(), &end, 10);
    return !digits.empty() && *end == '\0';
  }
};

// The old form, which puts the key in front, and takes the last operand alone.
class LastOfKey final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "test.LastOfKey"; }
  bool FullMerge(const Slice& key, const Slice*, const std::deque<std::string>& operands,
                 std::string* value, rocksdb::Logger*) const override {
    *value = key.ToString() + ":" + operands.back();
    return true;
  }
};

// Chooses the longest, by existing_operand.
class Longest final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "test.Longest"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    Slice longest = in.existing_value == nullptr ? Slice() : *in.existing_value;
    for (const Slice& operand : in.operand_list) {
      if (operand.size() > longest.size()) longest = operand;
    }
    out->existing_operand = longest;
    return true;
  }
  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* value,
                    rocksdb::Logger*) const override {
    *value = (right.size() > left.size() ? right : left).ToString();
    return true;
  }
};

TEST_F(Writes, PutAndDelete) {
  open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Put(WriteOptions(), db_->DefaultColumnFamily(), "b", "2"));
  EXPECT_EQ(get("a"), "1");
  ASSERT_OK(put("a", "3"));
  EXPECT_EQ(get("a"), "3");
  ASSERT_OK(db_->Delete(WriteOptions(), "a"));
  ASSERT_OK(db_->Delete(WriteOptions(), "never there"));
  EXPECT_EQ(get("a"), "(missing)");
  ASSERT_OK(db_->SingleDelete(WriteOptions(), "b"));
  EXPECT_EQ(get("b"), "(missing)");
  ASSERT_OK(put("", "of the empty key"));
  ASSERT_OK(put("empty", ""));
  EXPECT_EQ(get(""), "of the empty key");
  EXPECT_EQ(get("empty"), "");
  reopen();
  EXPECT_EQ(all(), "=of the empty key empty= ");
}

TEST_F(Writes, SizesOverTheLimitsAreRefused) {
  open();
  EXPECT_TRUE(put(std::string(65536, 'k'), "v").IsInvalidArgument());
  EXPECT_OK(put(std::string(65535, 'k'), "v"));
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put(std::string(65536, 'k'), "v"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ(get("a"), "(missing)");
}

TEST_F(Writes, SyncWithoutALogContradictsItself) {
  open();
  WriteOptions options;
  options.sync = true;
  EXPECT_OK(db_->Put(options, "a", "1"));
  options.disableWAL = true;
  EXPECT_TRUE(db_->Put(options, "a", "2").IsInvalidArgument());
  EXPECT_TRUE(db_->Delete(options, "a").IsInvalidArgument());
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "2"));
  EXPECT_TRUE(db_->Write(options, &batch).IsInvalidArgument());
  options.sync = false;
  EXPECT_OK(db_->Put(options, "a", "3"));
  reopen();
  EXPECT_EQ(get("a"), "3");
}

TEST_F(Writes, ABatchIsOneCommitOverFamilies) {
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"default", "other"}));
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put(handles_[1], "a", "2"));
  ASSERT_OK(batch.Put("b", "3"));
  ASSERT_OK(batch.Delete("a"));
  ASSERT_OK(batch.SingleDelete(handles_[1], "nothing"));
  ASSERT_OK(batch.PutLogData("not stored"));
  WriteOptions sync;
  sync.sync = true;
  const rocksdb::SequenceNumber before = db_->GetLatestSequenceNumber();
  ASSERT_OK(db_->Write(sync, &batch));
  EXPECT_GE(db_->GetLatestSequenceNumber(), before + batch.Count());
  EXPECT_EQ(all(), "b=3 ");
  EXPECT_EQ(all(handles_[1]), "a=2 ");
  // It may be written again.
  ASSERT_OK(put("b", "4"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(all(), "b=3 ");
}

TEST_F(Writes, BatchesThatAreWrongWriteNothing) {
  open();
  EXPECT_TRUE(db_->Write(WriteOptions(), nullptr).IsInvalidArgument());
  WriteBatch short_one(std::string(5, '\0'));
  EXPECT_TRUE(db_->Write(WriteOptions(), &short_one).IsCorruption());
  WriteBatch good;
  ASSERT_OK(good.Put("a", "1"));
  std::string bytes = good.Data();
  WriteBatch cut(bytes.substr(0, bytes.size() - 1));
  EXPECT_TRUE(db_->Write(WriteOptions(), &cut).IsCorruption());
  bytes[8] = 2;
  WriteBatch miscounted(bytes);
  EXPECT_TRUE(db_->Write(WriteOptions(), &miscounted).IsCorruption());
  bytes[8] = 1;
  bytes[12] = 0x9;  // the mark of a prepared transaction
  WriteBatch marked(bytes.substr(0, 13));
  EXPECT_TRUE(db_->Write(WriteOptions(), &marked).IsNotSupported());
  EXPECT_EQ(all(), "");
  WriteBatch empty;
  EXPECT_OK(db_->Write(WriteOptions(), &empty));
  WriteOptions sync;
  sync.sync = true;
  EXPECT_OK(db_->Write(sync, &empty));
}

TEST_F(Writes, ABatchThatNamesNoFamily) {
  options_.create_missing_column_families = true;
  ASSERT_OK(try_open({"default", "gone"}));
  WriteBatch batch;
  ASSERT_OK(batch.Put(handles_[1], "a", "1"));
  ASSERT_OK(batch.Put("b", "2"));
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ(all(), "");
  WriteOptions ignoring;
  ignoring.ignore_missing_column_families = true;
  EXPECT_OK(db_->Write(ignoring, &batch));
  EXPECT_EQ(all(), "b=2 ");
}

TEST_F(Writes, RangesAreDeleted) {
  open();
  for (const char* key : {"a", "b", "c", "d"}) ASSERT_OK(put(key, "1"));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "b", "d"));
  EXPECT_EQ(all(), "a=1 d=1 ");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "d", "d"));
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), "d", "a").IsInvalidArgument());
  EXPECT_EQ(all(), "a=1 d=1 ");
  // What the batch puts before the range goes, what it puts behind stays.
  WriteBatch batch;
  ASSERT_OK(batch.Put("b", "2"));
  ASSERT_OK(batch.DeleteRange("", "z"));
  ASSERT_OK(batch.Put("c", "3"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(all(), "c=3 ");
  reopen();
  EXPECT_EQ(all(), "c=3 ");
}

TEST_F(Writes, ManyRangesInARow) {
  open();
  for (int i = 0; i < 200; ++i) {
    ASSERT_OK(put("k" + std::to_string(1000 + i), "1"));
    ASSERT_OK(db_->DeleteRange(WriteOptions(), "k" + std::to_string(1000 + i),
                               "k" + std::to_string(1001 + i)));
  }
  EXPECT_EQ(all(), "");
}

TEST_F(Writes, MergesNeedAnOperator) {
  open();
  EXPECT_TRUE(db_->Merge(WriteOptions(), "a", "1").IsNotSupported());
  WriteBatch batch;
  ASSERT_OK(batch.Merge("a", "1"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupported());
}

TEST_F(Writes, AssociativeMerges) {
  options_.merge_operator = std::make_shared<Append>();
  open();
  const rocksdb::Snapshot* before = db_->GetSnapshot();
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Merge(WriteOptions(), db_->DefaultColumnFamily(), "a", "2"));
  EXPECT_EQ(get("a"), "1,2");
  EXPECT_EQ(get("a", nullptr, before), "(missing)");
  db_->ReleaseSnapshot(before);
  ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
  WriteBatch batch;
  ASSERT_OK(batch.Merge("a", "3"));
  ASSERT_OK(batch.Put("b", "x"));
  ASSERT_OK(batch.Merge("b", "y"));
  ASSERT_OK(batch.Delete("c"));
  ASSERT_OK(batch.Merge("c", "z"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(all(), "a=1,2,3 b=x,y c=z ");
  reopen();
  ASSERT_OK(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(all(), "a=1,2,3 b=x,y c=z ");
}

TEST_F(Writes, OperatorsOfEveryForm) {
  options_.merge_operator = std::make_shared<Sum>();
  open();
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "20"));
  EXPECT_EQ(get("a"), "21");
  // Refused operands make the key unreadable until something is put there.
  ASSERT_OK(db_->Merge(WriteOptions(), "b", "no number"));
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), "b", &value).IsCorruption());
  ASSERT_OK(put("b", "5"));
  EXPECT_EQ(get("b"), "5");
  // A family may get another operator with each open.
  close();
  options_.merge_operator = std::make_shared<LastOfKey>();
  open();
  ASSERT_OK(db_->Merge(WriteOptions(), "c", "x"));
  ASSERT_OK(db_->Merge(WriteOptions(), "c", "y"));
  EXPECT_EQ(get("c"), "c:y");
  close();
  options_.merge_operator = std::make_shared<Longest>();
  open();
  ASSERT_OK(db_->Merge(WriteOptions(), "d", "xx"));
  ASSERT_OK(db_->Merge(WriteOptions(), "d", "yyyy"));
  ASSERT_OK(db_->Merge(WriteOptions(), "d", "z"));
  EXPECT_EQ(get("d"), "yyyy");
  close();
  options_.merge_operator = nullptr;
  open();
  EXPECT_TRUE(db_->Merge(WriteOptions(), "d", "z").IsNotSupported());
  EXPECT_EQ(get("b"), "5");
}

TEST_F(Writes, MergesInAReversedFamilyKnowTheirKey) {
  options_.comparator = rocksdb::ReverseBytewiseComparator();
  options_.merge_operator = std::make_shared<LastOfKey>();
  open();
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Merge(WriteOptions(), "b", "2"));
  EXPECT_EQ(all(), "b=b:2 a=a:1 ");
  close();
  options_.merge_operator = std::make_shared<Append>();
  open();
  WriteBatch batch;
  for (int i = 0; i < 20; ++i) ASSERT_OK(batch.Merge("c", std::to_string(i)));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  ASSERT_OK(db_->Flush(rocksdb::FlushOptions()));
  EXPECT_EQ(get("c"), "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19");
}

TEST_F(Writes, WhatABatchOfTheEngineCannotDo) {
  options_.merge_operator = std::make_shared<Append>();
  open();
  const std::string large(70000, 'x');
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Merge(WriteOptions(), "a", large));
  EXPECT_EQ(get("a"), "1," + large);
  WriteBatch batch;
  ASSERT_OK(batch.Put("b", "2"));
  ASSERT_OK(batch.DeleteRange("a", "c"));
  ASSERT_OK(batch.Merge("b", "3"));
  ASSERT_OK(batch.SingleDelete("d"));
  ASSERT_OK(batch.Put("e", "4"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(all(), "b=3 e=4 ");
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), "c", "b").IsInvalidArgument());
}

TEST_F(Writes, PartialMergesOfMany) {
  const Append append;
  const rocksdb::MergeOperator& base = append;
  std::string merged;
  EXPECT_TRUE(base.PartialMergeMulti("k", {"1", "2", "3"}, &merged, nullptr));
  EXPECT_EQ(merged, "1,2,3");
  EXPECT_FALSE(base.PartialMergeMulti("k", {"1"}, &merged, nullptr));
  const Sum sum;
  EXPECT_FALSE(sum.PartialMerge("k", "1", "2", &merged, nullptr));
  EXPECT_FALSE(sum.AllowSingleOperand());
  EXPECT_FALSE(sum.ShouldMerge({}));
  std::deque<std::string> operands;
  EXPECT_FALSE(sum.FullMerge("k", nullptr, operands, &merged, nullptr));
}

}  // namespace
}  // namespace hawthorn::rocks
