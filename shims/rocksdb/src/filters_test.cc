// Compaction filters, checkpoints, and loggers of the C API.

#include "shims/rocksdb/src/filters.h"

#include <rocksdb/compaction_filter.h>
#include <rocksdb/utilities/checkpoint.h>

#include "shims/rocksdb/src/c_types.h"
#include "shims/rocksdb/src/rocksdb_test_fixture.h"

namespace hawthorn::rocks {
namespace {

using rocksdb::CompactionFilter;
using rocksdb::Slice;

// What a value asks for.
class Obeys final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.Obeys"; }
  Decision FilterV2(int level, const Slice& key, ValueType value_type, const Slice& existing_value,
                    std::string* new_value, std::string* skip_until) const override {
    EXPECT_EQ(level, 0);
    EXPECT_EQ(value_type, kValue);
    shown += key.ToString() + " ";
    const std::string value = existing_value.ToString();
    if (value == "remove") return Decision::kRemove;
    if (value == "purge") return Decision::kPurge;
    if (value == "change") {
      *new_value = "changed";
      return Decision::kChangeValue;
    }
    if (value.starts_with("skip to ")) {
      *skip_until = value.substr(8);
      return Decision::kRemoveAndSkipUntil;
    }
    return value == "keep" ? Decision::kKeep : Decision::kUndetermined;
  }
  mutable std::string shown;
};

class Simple final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.Simple"; }
  bool Filter(int, const Slice& key, const Slice&, std::string* new_value,
              bool* value_changed) const override {
    if (key == "c") {
      *new_value = "changed";
      *value_changed = true;
    }
    return key == "r";
  }
};

class Makes final : public rocksdb::CompactionFilterFactory {
 public:
  const char* Name() const override { return "test.Makes"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    EXPECT_FALSE(context.is_full_compaction || context.is_manual_compaction);
    EXPECT_EQ(context.input_start_level, -1);
    EXPECT_EQ(context.column_family_id, 0U);
    EXPECT_EQ(context.reason, rocksdb::TableFileCreationReason::kCompaction);
    ++made;
    if (none) return nullptr;
    return std::make_unique<Simple>();
  }
  int made = 0;
  bool none = false;
};

class Filters : public RocksTest {
 protected:
  void compact() { ASSERT_OK(db_->CompactRange({}, nullptr, nullptr)); }

  const Obeys filter_;
};

TEST_F(Filters, DoWhatTheyDecide) {
  EXPECT_TRUE(filter_.IgnoreSnapshots());
  EXPECT_FALSE(filter_.FilterMergeOperand(0, "k", "v"));
  EXPECT_STREQ(CompactionFilter::Type(), "CompactionFilter");
  options_.compaction_filter = &filter_;
  open();
  ASSERT_OK(put("a", "keep"));
  ASSERT_OK(put("b", "remove"));
  ASSERT_OK(put("c", "change"));
  ASSERT_OK(put("d", "skip to f"));
  ASSERT_OK(put("e", "keep"));
  ASSERT_OK(put("f", "keep"));
  ASSERT_OK(put("g", "skip to a"));
  ASSERT_OK(put("h", "purge"));
  ASSERT_OK(put("i", "whatever"));
  const rocksdb::Snapshot* const before = db_->GetSnapshot();
  compact();
  EXPECT_EQ(all(), "a=keep c=changed f=keep g=skip to a i=whatever ");
  EXPECT_EQ(get("b", nullptr, before), "remove");
  db_->ReleaseSnapshot(before);
  close();
  EXPECT_EQ(filter_.shown.find("e "), std::string::npos);
}

TEST_F(Filters, OfAFactory) {
  const auto factory = std::make_shared<Makes>();
  EXPECT_STREQ(rocksdb::CompactionFilterFactory::Type(), "CompactionFilterFactory");
  EXPECT_FALSE(factory->ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason::kFlush));
  options_.compaction_filter_factory = factory;
  open();
  ASSERT_OK(put("c", "1"));
  ASSERT_OK(put("r", "1"));
  factory->none = true;
  compact();
  EXPECT_EQ(all(), "c=1 r=1 ");
  factory->none = false;
  compact();
  EXPECT_EQ(all(), "c=changed ");
  EXPECT_GE(factory->made, 2);
}

TEST_F(Filters, OfMergedValuesAndOtherOrders) {
  options_.compaction_filter = &filter_;
  options_.comparator = rocksdb::ReverseBytewiseComparator();
  options_.merge_operator = std::make_shared<Append>();
  open();
  ASSERT_OK(put("a", "keep"));
  ASSERT_OK(put("b", "remo"));
  ASSERT_OK(db_->Merge({}, "b", "ve"));
  ASSERT_OK(put("c", "remove"));
  ASSERT_OK(put("d", "skip to b"));
  ASSERT_OK(put("e", "change"));
  compact();
  // "c" was skipped with "d", since the order is the other one.
  EXPECT_EQ(all(), "e=changed b=remo,ve a=keep ");
}

TEST_F(Filters, GoWithTheFamiliesThatAreOpened) {
  options_.create_missing_column_families = true;
  options_.compaction_filter = &filter_;
  ASSERT_OK(try_open({"default", "one"}));
  rocksdb::ColumnFamilyHandle* late = nullptr;
  ASSERT_OK(put("a", "remove", handles_[1]));
  compact();
  EXPECT_EQ(all(handles_[1]), "");
  // Another family of the same name has no filter.
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(handles_[1]));
  handles_.pop_back();
  options_.compaction_filter = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "one", &late));
  handles_.push_back(late);
  ASSERT_OK(put("a", "remove", late));
  compact();
  EXPECT_EQ(all(late), "a=remove ");
}

TEST_F(Filters, OfFamiliesThatComeLater) {
  open();
  rocksdb::ColumnFamilyHandle* late = nullptr;
  options_.compaction_filter = &filter_;
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "late", &late).IsNotSupported());
  reopen();
  ASSERT_OK(db_->CreateColumnFamily(options_, "late", &late));
  handles_.push_back(late);
  ASSERT_OK(put("a", "remove", late));
  ASSERT_OK(put("b", "change", late));
  compact();
  EXPECT_EQ(all(late), "b=changed ");
  std::string files;
  EXPECT_TRUE(db_->GetProperty(late, rocksdb::DB::Properties::kEstimateNumKeys, &files));
  EXPECT_TRUE(db_->GetProperty(late, rocksdb::DB::Properties::kCFStats, &files));
  ASSERT_OK(put("c", "remove", late));
  close();
  ASSERT_OK(try_open({"default", "late"}));
  compact();
  EXPECT_EQ(all(handles_[1]), "b=changed ");
  // A dropped one's stops, and its slot serves the next.
  ASSERT_OK(put("c", "remove", handles_[1]));
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  ASSERT_OK(db_->CreateColumnFamily(options_, "later", &late));
  handles_.push_back(late);
  ASSERT_OK(put("c", "remove", late));
  compact();
  EXPECT_EQ(all(handles_[1]), "b=changed c=remove ");
  EXPECT_EQ(all(late), "");
  // Without its filter it is a family like others.
  delete handles_[1];
  handles_.erase(handles_.begin() + 1);
  close();
  options_.compaction_filter = nullptr;
  ASSERT_OK(try_open({"default", "later"}));
  ASSERT_OK(put("c", "remove", handles_[1]));
  compact();
  EXPECT_EQ(all(handles_[1]), "c=remove ");
}

// Its row has both, the slot of its filter and the mark of its entities.
TEST_F(Filters, OfLateFamiliesWithEntities) {
  options_.compaction_filter = &filter_;
  open();
  rocksdb::ColumnFamilyHandle* late = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "late", &late));
  handles_.push_back(late);
  const rocksdb::WideColumns columns{{rocksdb::kDefaultWideColumnName, "d"}, {"x", "y"}};
  ASSERT_OK(db_->PutEntity({}, late, "a", columns));
  ASSERT_OK(put("b", "remove", late));
  close();
  ASSERT_OK(try_open({"default", "late"}));
  compact();
  EXPECT_EQ(all(handles_[1]), "a=d ");
  rocksdb::PinnableWideColumns read;
  ASSERT_OK(db_->GetEntity({}, handles_[1], "a", &read));
  EXPECT_EQ(read.columns(), columns);
}

TEST_F(Filters, ThereIsAnEndOfFiltersThatComeLater) {
  options_.compaction_filter = &filter_;
  open();
  rocksdb::ColumnFamilyHandle* late = nullptr;
  for (uint32_t i = 0; i < FilterSlot::kSlots; ++i) {
    ASSERT_OK(db_->CreateColumnFamily(options_, std::to_string(i), &late));
    handles_.push_back(late);
  }
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "more", &late).IsNotSupported());
  ASSERT_OK(db_->DropColumnFamily(handles_[5]));
  ASSERT_OK(db_->CreateColumnFamily(options_, "more", &late));
  handles_.push_back(late);
}

TEST_F(Filters, CheckpointsAreDatabases) {
  open();
  ASSERT_OK(put("a", "1"));
  rocksdb::Checkpoint* made = nullptr;
  ASSERT_OK(rocksdb::Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  const std::string copy = directory_ + "/copy";
  uint64_t sequence = 0;
  const uint64_t before = db_->GetLatestSequenceNumber();
  ASSERT_OK(checkpoint->CreateCheckpoint(copy, 0, &sequence));
  EXPECT_EQ(sequence, before);
  EXPECT_TRUE(checkpoint->CreateCheckpoint(copy).IsInvalidArgument());
  ASSERT_OK(put("a", "2"));
  std::unique_ptr<rocksdb::DB> other;
  ASSERT_OK(rocksdb::DB::Open(options_, copy, &other));
  std::string value;
  ASSERT_OK(other->Get({}, "a", &value));
  EXPECT_EQ(value, "1");
}

TEST_F(Filters, AFailedMergeSaysSoAsRocksDbDoes) {
  class Fails final : public rocksdb::MergeOperator {
    const char* Name() const override { return "test.Fails"; }
  };
  options_.merge_operator = std::make_shared<Fails>();
  open();
  ASSERT_OK(db_->Merge({}, "a", "1"));
  std::string value;
  const rocksdb::Status status = db_->Get({}, "a", &value);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_EQ(status.subcode(), rocksdb::Status::kMergeOperatorFailed);
  EXPECT_NE(status.ToString().find("Merge operator failed"), std::string::npos);
}

TEST_F(Filters, TailingIteratorsGoOnAtTheirEnd) {
  open();
  ASSERT_OK(put("a", "1"));
  rocksdb::ReadOptions tailing;
  tailing.tailing = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(tailing));
  iterator->SeekToFirst();
  ASSERT_OK(put("b", "2"));
  iterator->Next();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->key(), "b");
  ASSERT_OK(db_->Delete({}, "b"));
  ASSERT_OK(put("c", "3"));
  iterator->Next();
  ASSERT_TRUE(iterator->Valid());
  EXPECT_EQ(iterator->key(), "c");
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
}

TEST(CLogger, GetsWholeMessagesOfItsLevel) {
  std::string text;
  const auto log = [](void* state, unsigned level, char* message, size_t size) {
    *static_cast<std::string*>(state) += std::to_string(level) + std::string(message, size) + ";";
  };
  rocksdb_logger_t* const logger =
      rocksdb_logger_create_callback_logger(rocksdb::INFO_LEVEL, log, &text);
  const auto say = [logger](rocksdb::InfoLogLevel level, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    logger->rep->Logv(level, format, arguments);
    va_end(arguments);
  };
  const std::string large(1000, 'x');
  say(rocksdb::DEBUG_LEVEL, "no");
  say(rocksdb::WARN_LEVEL, "%d and %s", 7, large.c_str());
  EXPECT_EQ(text, "27 and " + large + ";");
  rocksdb_logger_destroy(logger);
}

}  // namespace
}  // namespace hawthorn::rocks
