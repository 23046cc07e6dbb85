// A warehouse, written for RocksDB: compiled unchanged against its headers or against ours, it
// prints the same.
//
//   warehouse DIRECTORY
//
// Articles lie in the default family, their stock is counted by a merge operator in a family of its
// own, orders are kept newest first, and a journal is sorted by a comparator of the program's.

#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

void must(const rocksdb::Status& status, const char* what) {
  if (status.ok()) return;
  std::printf("%s: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

// Decimal numbers are added up.
class Stock : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "Stock"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger*) const override {
    const long before = existing == nullptr ? 0 : std::atol(existing->ToString().c_str());
    *result = std::to_string(before + std::atol(value.ToString().c_str()));
    return true;
  }
};

// Shorter keys come first: numbers without leading zeros stand in their order.
class ByNumber : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "ByNumber"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Says what a batch holds.
class Summary : public rocksdb::WriteBatch::Handler {
 public:
  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key,
                        const rocksdb::Slice&) override {
    text += " put(" + std::to_string(family) + "," + key.ToString() + ")";
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t family, const rocksdb::Slice& key) override {
    text += " delete(" + std::to_string(family) + "," + key.ToString() + ")";
    return rocksdb::Status::OK();
  }
  rocksdb::Status MergeCF(uint32_t family, const rocksdb::Slice& key,
                          const rocksdb::Slice& value) override {
    text +=
        " merge(" + std::to_string(family) + "," + key.ToString() + "," + value.ToString() + ")";
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteRangeCF(uint32_t family, const rocksdb::Slice& begin,
                                const rocksdb::Slice& end) override {
    text +=
        " range(" + std::to_string(family) + "," + begin.ToString() + "," + end.ToString() + ")";
    return rocksdb::Status::OK();
  }
  std::string text;
};

const ByNumber by_number;

class Warehouse {
 public:
  explicit Warehouse(const std::string& directory) : directory_(directory) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(16 << 20);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options_.write_buffer_size = 4 << 20;
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    options_.compression = rocksdb::kNoCompression;
    options_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(5));
  }
  ~Warehouse() { close(); }

  void open() {
    rocksdb::ColumnFamilyOptions stock(options_);
    stock.merge_operator = std::make_shared<Stock>();
    rocksdb::ColumnFamilyOptions orders(options_);
    orders.comparator = rocksdb::ReverseBytewiseComparator();
    rocksdb::ColumnFamilyOptions journal(options_);
    journal.comparator = &by_number;
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {rocksdb::kDefaultColumnFamilyName, options_},
        {"stock", stock},
        {"orders", orders},
        {"journal", journal}};
    must(rocksdb::DB::Open(options_, directory_, families, &handles_, &db_), "open");
  }

  void close() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      must(db_->DestroyColumnFamilyHandle(handle), "destroy handle");
    }
    handles_.clear();
    delete db_;
    db_ = nullptr;
  }

  void add_articles() {
    static const char* const kKinds[] = {"bolts", "nails", "pipes", "tools"};
    for (const char* kind : kKinds) {
      rocksdb::WriteBatch batch;
      for (int i = 0; i < 250; ++i) {
        char key[32];
        std::snprintf(key, sizeof(key), "%s/%04d", kind, i);
        must(batch.Put(key, std::string(kind) + " of size " + std::to_string(i)), "put");
        must(batch.Merge(stock(), key, std::to_string(i % 7)), "merge");
      }
      must(db_->Write(rocksdb::WriteOptions(), &batch), "write");
    }
  }

  void order(int number, const std::string& article, int count) {
    char key[16];
    std::snprintf(key, sizeof(key), "%06d", number);
    rocksdb::WriteBatch batch;
    must(batch.Put(orders(), key, article + " x " + std::to_string(count)), "put");
    must(batch.Merge(stock(), article, std::to_string(-count)), "merge");
    must(batch.Put(journal(), std::to_string(number), "ordered"), "put");
    batch.SetSavePoint();
    must(batch.Delete(article), "delete");
    must(batch.RollbackToSavePoint(), "roll back");
    if (number % 100 == 0) {
      Summary summary;
      must(batch.Iterate(&summary), "iterate");
      std::printf("order %d:%s, %u operations, %zu bytes\n", number, summary.text.c_str(),
                  batch.Count(), batch.GetDataSize());
    }
    // As a log of batches that is sent elsewhere.
    rocksdb::WriteBatch received(batch.Data());
    rocksdb::WriteOptions durable;
    durable.sync = number % 100 == 0;
    must(db_->Write(durable, &received), "write");
  }

  void show_kind(const char* kind) {
    rocksdb::ReadOptions options;
    options.prefix_same_as_start = true;
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
    int count = 0;
    size_t bytes = 0;
    for (at->Seek(kind); at->Valid(); at->Next()) {
      ++count;
      bytes += at->key().size() + at->value().size();
    }
    must(at->status(), "walk");
    std::printf("%s: %d articles of %zu bytes\n", kind, count, bytes);
  }

  void show_stock(const std::vector<std::string>& articles) {
    std::vector<rocksdb::Slice> keys(articles.begin(), articles.end());
    std::vector<std::string> values;
    const std::vector<rocksdb::Status> statuses = db_->MultiGet(
        rocksdb::ReadOptions(), std::vector<rocksdb::ColumnFamilyHandle*>(keys.size(), stock()),
        keys, &values);
    for (size_t i = 0; i < articles.size(); ++i) {
      std::printf("stock of %s: %s\n", articles[i].c_str(),
                  statuses[i].IsNotFound() ? "missing" : values[i].c_str());
    }
  }

  void show(const char* what, rocksdb::ColumnFamilyHandle* family, int limit, bool backwards,
            const rocksdb::Snapshot* snapshot = nullptr) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    options.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options, family));
    std::printf("%s:", what);
    backwards ? at->SeekToLast() : at->SeekToFirst();
    for (int i = 0; i < limit && at->Valid(); ++i) {
      std::printf(" %s=%s", at->key().ToString().c_str(), at->value().ToString().c_str());
      backwards ? at->Prev() : at->Next();
    }
    must(at->status(), "walk");
    std::printf("\n");
  }

  void show_range(const char* low, const char* high) {
    const rocksdb::Slice lower(low);
    const rocksdb::Slice upper(high);
    rocksdb::ReadOptions options;
    options.iterate_lower_bound = &lower;
    options.iterate_upper_bound = &upper;
    options.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(options));
    std::printf("from %s to %s:", low, high);
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
      std::printf(" %s", at->key().ToString().c_str());
    }
    at->SeekForPrev("zzzz");
    std::printf(", last %s\n", at->Valid() ? at->key().ToString().c_str() : "none");
    must(at->status(), "walk");
  }

  void errors() {
    std::string value;
    std::printf("missing: %d\n",
                db_->Get(rocksdb::ReadOptions(), "none/0000", &value).IsNotFound());
    rocksdb::DB* second = nullptr;
    std::printf("opened twice: %d\n", rocksdb::DB::Open(options_, directory_, &second).IsIOError());
    std::printf("merge without an operator: %d\n",
                db_->Merge(rocksdb::WriteOptions(), "bolts/0000", "1").IsNotSupported());
    std::printf("range the wrong way: %d\n",
                db_->DeleteRange(rocksdb::WriteOptions(), db_->DefaultColumnFamily(), "b", "a")
                    .IsInvalidArgument());
  }

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* stock() { return handles_[1]; }
  rocksdb::ColumnFamilyHandle* orders() { return handles_[2]; }
  rocksdb::ColumnFamilyHandle* journal() { return handles_[3]; }
  const rocksdb::Options& options() const { return options_; }

 private:
  const std::string directory_;
  rocksdb::Options options_;
  rocksdb::DB* db_ = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

void run(const std::string& directory) {
  Warehouse warehouse(directory);
  warehouse.open();
  warehouse.add_articles();
  warehouse.show_kind("bolts");
  warehouse.show_kind("tools");
  for (int i = 1; i <= 300; ++i)
    warehouse.order(i, i % 2 == 0 ? "bolts/0006" : "pipes/0013", i % 3);
  warehouse.show("newest orders", warehouse.orders(), 3, false);
  warehouse.show("oldest orders", warehouse.orders(), 2, true);
  warehouse.show("journal", warehouse.journal(), 12, false);
  warehouse.show_stock({"bolts/0006", "pipes/0013", "nails/0005", "none/0000"});

  const rocksdb::Snapshot* const before = warehouse.db().GetSnapshot();
  rocksdb::DB& db = warehouse.db();
  must(
      db.DeleteRange(rocksdb::WriteOptions(), db.DefaultColumnFamily(), "nails/0003", "pipes/0248"),
      "delete range");
  must(db.Delete(rocksdb::WriteOptions(), "tools/0000"), "delete");
  must(db.SingleDelete(rocksdb::WriteOptions(), warehouse.orders(), "000300"), "single delete");
  must(db.Flush(rocksdb::FlushOptions()), "flush");
  warehouse.show_range("nails", "tools/0003");
  warehouse.show("before", db.DefaultColumnFamily(), 1, true, before);
  warehouse.show("orders before", warehouse.orders(), 1, false, before);
  warehouse.show("orders after", warehouse.orders(), 1, false);
  db.ReleaseSnapshot(before);
  must(db.CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), "compact");
  warehouse.errors();
  warehouse.close();

  std::vector<std::string> families;
  must(rocksdb::DB::ListColumnFamilies(warehouse.options(), directory, &families), "list");
  std::printf("families:");
  for (const std::string& name : families) std::printf(" %s", name.c_str());
  std::printf("\n");
  warehouse.open();
  warehouse.show_kind("bolts");
  warehouse.show_kind("nails");
  warehouse.show_kind("pipes");
  warehouse.show_stock({"bolts/0006", "pipes/0013"});
  warehouse.show("newest orders", warehouse.orders(), 2, false);
  must(warehouse.db().DropColumnFamily(warehouse.journal()), "drop");
  warehouse.show("dropped, and still there", warehouse.journal(), 1, false);
  warehouse.close();
  must(rocksdb::DestroyDB(directory, warehouse.options()), "destroy");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::printf("usage: warehouse DIRECTORY\n");
    return 2;
  }
  run(argv[1]);
  return 0;
}
