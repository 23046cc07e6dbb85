// Counted by `hawthorn-bench instructions`: Put through RocksDB's interface, without a sync.

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "bench/instructions/counting.h"
#include "bench/instructions/shim.h"

namespace hawthorn::bench {
namespace {

class RocksDbShim : public ShimDatabase {
 public:
  explicit RocksDbShim(const std::string& directory) {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* db = nullptr;
    must(rocksdb::DB::Open(options, directory + "/db", &db));
    db_.reset(db);
  }
  ~RocksDbShim() override { must(db_->Close()); }

  void begin_load() override { batch_.Clear(); }
  void load(const std::string& key, const std::string& value) override {
    must(batch_.Put(key, value));
  }
  void end_load() override { must(db_->Write(rocksdb::WriteOptions(), &batch_)); }

  void insert(const std::string& key, const std::string& value) override {
    must(db_->Put(rocksdb::WriteOptions(), key, value));
  }
  void update(const std::string& key, const std::string& value) override { insert(key, value); }

  void hold_snapshot() override { snapshot_ = db_->GetSnapshot(); }
  void release_snapshot() override {
    if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
    snapshot_ = nullptr;
  }

 private:
  static void must(const rocksdb::Status& status) {
    if (!status.ok()) fail("rocksdb: " + status.ToString());
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch batch_;
  const rocksdb::Snapshot* snapshot_ = nullptr;
};

}  // namespace
}  // namespace hawthorn::bench

int main(int argc, char** argv) {
  using namespace hawthorn::bench;
  return count_shim(argc, argv, "rocksdb",
                    [](const std::string& directory) -> std::unique_ptr<ShimDatabase> {
                      return std::make_unique<RocksDbShim>(directory);
                    });
}
