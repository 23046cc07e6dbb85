// A program without run-time type information (-fno-rtti) that derives from every class of
// RocksDB's API that it may hand in. Nothing here may need such information of the library's own
// objects, nor the library of these.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/write_batch_with_index.h"

using namespace rocksdb;  // NOLINT(google-build-using-namespace): as many programs do

namespace {

void must(bool done, const char* what) {
  if (done) return;
  fprintf(stderr, "failed: %s\n", what);
  exit(1);
}
void must(const Status& status, const char* what) {
  if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
  must(status.ok(), what);
}

class Join final : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    *result = (existing == nullptr ? std::string() : existing->ToString()) + value.ToString();
    return true;
  }
  const char* Name() const override { return "StringAppendOperator"; }  // as the library's own
};

class Whole final : public MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override {
    output->new_value = std::to_string(input.operand_list.size());
    return true;
  }
  const char* Name() const override { return "Whole"; }
};

class Backwards final : public Comparator {
 public:
  const char* Name() const override { return "Backwards"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class Drops final : public CompactionFilter {
 public:
  bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    return key == "dropped";
  }
  const char* Name() const override { return "Drops"; }
};

class MakesDrops final : public CompactionFilterFactory {
 public:
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return std::make_unique<Drops>();
  }
  const char* Name() const override { return "MakesDrops"; }
};

class First final : public SliceTransform {
 public:
  const char* Name() const override { return "First"; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), 1); }
  bool InDomain(const Slice& key) const override { return !key.empty(); }
};

class Listens final : public EventListener {
 public:
  void OnFlushCompleted(DB*, const FlushJobInfo&) override {}
};

class Counts final : public Statistics {
 public:
  const char* Name() const override { return "Counts"; }
  uint64_t getTickerCount(uint32_t) const override { return 0; }
  void histogramData(uint32_t, HistogramData* const) const override {}
  void recordTick(uint32_t, uint64_t) override {}
  void setTickerCount(uint32_t, uint64_t) override {}
  uint64_t getAndResetTickerCount(uint32_t) override { return 0; }
};

class Keeps final : public Cache {
 public:
  const char* Name() const override { return "Keeps"; }
  void SetCapacity(size_t) override {}
  size_t GetCapacity() const override { return size_t{8} << 20; }
  void SetStrictCapacityLimit(bool) override {}
  bool HasStrictCapacityLimit() const override { return false; }
  size_t GetUsage() const override { return 0; }
  size_t GetPinnedUsage() const override { return 0; }
};

class Limits final : public RateLimiter {
 public:
  void SetBytesPerSecond(int64_t) override {}
  int64_t GetBytesPerSecond() const override { return int64_t{1} << 30; }
};

class Above final : public StackableDB {
 public:
  using StackableDB::StackableDB;
};

class Sees final : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t, const Slice&, const Slice&) override {
    ++puts;
    return Status::OK();
  }
  Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  int puts = 0;
};

Options options_of_all() {
  Options options;
  options.create_if_missing = true;
  options.merge_operator = std::make_shared<Join>();
  options.compaction_filter_factory = std::make_shared<MakesDrops>();
  options.prefix_extractor = std::make_shared<First>();
  options.listeners.push_back(std::make_shared<Listens>());
  options.statistics = std::make_shared<Counts>();
  options.rate_limiter = std::make_shared<Limits>();
  options.row_cache = std::make_shared<Keeps>();
  BlockBasedTableOptions table;
  table.block_cache = std::make_shared<Keeps>();
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

std::string value_of(DB& db, ColumnFamilyHandle* family, const Slice& key) {
  std::string value;
  must(db.Get(ReadOptions(), family, key, &value), "get");
  return value;
}

void use(DB& db) {
  ColumnFamilyHandle* const family = db.DefaultColumnFamily();
  WriteBatchWithIndex batch(BytewiseComparator(), 0, true);
  must(batch.Put(family, "a", "1"), "put");
  must(batch.Merge(family, "a", "2"), "merge");
  std::string value;
  must(batch.GetFromBatchAndDB(&db, ReadOptions(), family, "a", &value), "get from a batch");
  must(value == "12", "what a batch merges");
  must(db.Write(WriteOptions(), batch.GetWriteBatch()), "write");
  Sees sees;
  must(batch.GetWriteBatch()->Iterate(&sees), "iterate");
  must(sees.puts == 1, "what a handler sees");
  must(db.Put(WriteOptions(), "dropped", "x"), "put");
  must(db.Flush(FlushOptions()), "flush");
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  must(db.CompactRange(all, nullptr, nullptr), "compact");
  must(value_of(db, family, "a") == "12", "what is merged");
  must(db.Get(ReadOptions(), "dropped", &value).IsNotFound(), "what a filter drops");

  ColumnFamilyOptions others;
  Backwards backwards;
  others.comparator = &backwards;
  others.merge_operator = std::make_shared<Whole>();
  ColumnFamilyHandle* other = nullptr;
  must(db.CreateColumnFamily(others, "other", &other), "create a family");
  for (const char* key : {"a", "b", "b"}) must(db.Merge(WriteOptions(), other, key, "x"), "merge");
  must(value_of(db, other, "b") == "2", "what another operator merges");
  {
    const std::unique_ptr<Iterator> at(db.NewIterator(ReadOptions(), other));
    at->SeekToFirst();
    must(at->Valid() && at->key() == "b", "the order of a comparator");
  }
  std::string text;
  must(GetStringFromColumnFamilyOptions(&text, db.GetOptions(other)), "options as text");
  must(db.DropColumnFamily(other), "drop a family");
  must(db.DestroyColumnFamilyHandle(other), "let go of a family");
}

void copy(DB& db, const std::string& to) {
  Checkpoint* made = nullptr;
  must(Checkpoint::Create(&db, &made), "make a checkpoint's object");
  const std::unique_ptr<Checkpoint> checkpoint(made);
  must(checkpoint->CreateCheckpoint(to + "/checkpoint"), "make a checkpoint");
  BackupEngine* opened = nullptr;
  must(BackupEngine::Open(BackupEngineOptions(to + "/backups"), Env::Default(), &opened),
       "open a backup engine");
  const std::unique_ptr<BackupEngine> backups(opened);
  must(backups->CreateNewBackup(&db), "make a backup");
}

void transactions(const std::string& path) {
  Options options = options_of_all();
  DB* plain = nullptr;
  must(DB::Open(options, path, &plain), "open");
  TransactionDB* made = nullptr;
  must(TransactionDB::WrapStackableDB(new Above(plain), TransactionDBOptions(), {}, {}, &made),
       "wrap a database");
  const std::unique_ptr<TransactionDB> db(made);
  const std::unique_ptr<Transaction> txn(db->BeginTransaction(WriteOptions()));
  must(txn->Put("t", "1"), "put");
  must(txn->Commit(), "commit");
  must(value_of(*db, db->DefaultColumnFamily(), "t") == "1", "what a transaction wrote");
}

}  // namespace

int main(int argc, char** argv) {
  must(argc == 2, "usage: no_rtti_test DIRECTORY");
  const std::string root = std::string(argv[1]) + "/no_rtti";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  {
    DB* opened = nullptr;
    must(DB::Open(options_of_all(), root + "/db", &opened), "open");
    Above db(opened);
    use(db);
    copy(db, root);
  }
  transactions(root + "/db");
  std::filesystem::remove_all(root);
  printf("all is as it has to be\n");
  return 0;
}
