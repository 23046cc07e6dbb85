// LevelDB without compression. It has no readable batches and no batch of gets.

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <string>
#include <vector>

#include "bench/engine_registry.h"
#include "bench/overlay.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

void check(const leveldb::Status& status) {
  if (!status.ok()) throw EngineError("leveldb: " + status.ToString());
}

leveldb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const leveldb::Slice& text) { return {text.data(), text.size()}; }

class LevelWriter : public Writer {
 public:
  LevelWriter(leveldb::DB& db, SyncMode sync) : db_(db) { write_.sync = sync == SyncMode::kFull; }

  void begin(WriteIntent intent) override {
    batch_.Clear();
    overlay_.clear();
    reads_ = intent == WriteIntent::kReadWrite;
  }

  void commit() override {
    for (const Overlay::Entry& entry : overlay_.entries()) {
      const leveldb::Slice key = slice(overlay_.key_of(entry));
      if (entry.deleted) {
        batch_.Delete(key);
      } else {
        batch_.Put(key, slice(overlay_.value_of(entry)));
      }
    }
    check(db_.Write(write_, &batch_));
  }

  bool get(std::string_view key, std::string_view& value) override {
    if (const Overlay::Entry* own = overlay_.find(key)) {
      value = overlay_.value_of(*own);
      return !own->deleted;
    }
    const leveldb::Status status = db_.Get(read_, slice(key), &value_);
    if (status.IsNotFound()) return false;
    check(status);
    value = value_;
    return true;
  }

  void put(std::string_view key, std::string_view value) override {
    if (reads_) return overlay_.put(key, value);
    batch_.Put(slice(key), slice(value));
  }
  void insert_next(std::string_view key, std::string_view value) override {
    batch_.Put(slice(key), slice(value));
  }
  void del(std::string_view key) override {
    if (reads_) return overlay_.del(key);
    batch_.Delete(slice(key));
  }

 private:
  leveldb::DB& db_;
  leveldb::WriteOptions write_;
  leveldb::ReadOptions read_;
  leveldb::WriteBatch batch_;
  std::string value_;
  Overlay overlay_;
  bool reads_ = false;
};

class LevelReader : public ReaderOf<LevelReader> {
 public:
  explicit LevelReader(leveldb::DB& db) : db_(db) {}
  ~LevelReader() override { LevelReader::end(); }

  void begin(View view) override {
    if (view == View::kSnapshot) read_.snapshot = db_.GetSnapshot();
  }
  void end() override {
    iterator_.reset();
    if (read_.snapshot != nullptr) db_.ReleaseSnapshot(read_.snapshot);
    read_.snapshot = nullptr;
  }

  bool get(std::string_view key, std::string_view& value) override {
    const leveldb::Status status = db_.Get(read_, slice(key), &value_);
    if (status.IsNotFound()) return false;
    check(status);
    value = value_;
    return true;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    copies_.resize(std::max(copies_.size(), keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) {
      values[i] = {};
      const leveldb::Status status = db_.Get(read_, slice(keys[i]), &copies_[i]);
      if (status.IsNotFound()) continue;
      check(status);
      values[i] = copies_[i];
    }
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    if (!iterator_) iterator_.reset(db_.NewIterator(read_));
    iterator_->Seek(slice(key));
    for (size_t i = 0; iterator_->Valid(); ++i) {
      sink.add(view(iterator_->key()), view(iterator_->value()));
      if (i == count) return;
      iterator_->Next();
    }
    check(iterator_->status());
  }

  template <class Sink>
  void walk(Sink& sink) {
    const std::unique_ptr<leveldb::Iterator> iterator(db_.NewIterator(read_));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      sink.add(view(iterator->key()), view(iterator->value()));
    }
    check(iterator->status());
  }

 private:
  leveldb::DB& db_;
  leveldb::ReadOptions read_;
  std::string value_;
  std::vector<std::string> copies_;
  std::unique_ptr<leveldb::Iterator> iterator_;
};

class LevelEngine : public Engine {
 public:
  std::string version() const override {
    return print_text("LevelDB %d.%d", leveldb::kMajorVersion, leveldb::kMinorVersion);
  }
  std::string settings() const override {
    return print_text("write buffer 64 MB, block cache %s, Bloom filters, log %s",
                      size_text(static_cast<double>(config_.memory_bytes) / 2).c_str(),
                      config_.sync == SyncMode::kFull ? "synced" : "not synced");
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    if (!cache_) cache_.reset(leveldb::NewLRUCache(config.memory_bytes / 2));
    if (!filter_) filter_.reset(leveldb::NewBloomFilterPolicy(10));
    leveldb::Options options;
    options.create_if_missing = true;
    options.compression = leveldb::kNoCompression;
    options.write_buffer_size = size_t{64} << 20;
    options.max_file_size = size_t{32} << 20;
    options.block_cache = cache_.get();
    options.filter_policy = filter_.get();
    leveldb::DB* db = nullptr;
    check(leveldb::DB::Open(options, config.path, &db));
    db_.reset(db);
  }
  void close() override { db_.reset(); }

  std::unique_ptr<Writer> writer() override {
    return std::make_unique<LevelWriter>(*db_, config_.sync);
  }
  std::unique_ptr<Reader> reader() override { return std::make_unique<LevelReader>(*db_); }

  void sync() override {
    leveldb::WriteBatch nothing;
    leveldb::WriteOptions write;
    write.sync = true;
    check(db_->Write(write, &nothing));
  }
  // It tells nobody when its background thread is idle, and needs no wait to stay consistent.
  void drain() override {}
  void settle() override { db_->CompactRange(nullptr, nullptr); }

  bool is_log(std::string_view file_name) const override { return file_name.ends_with(".log"); }
  uint64_t reachable_bytes() override {
    const leveldb::Range all(leveldb::Slice(), leveldb::Slice("\xff\xff\xff\xff\xff\xff\xff\xff"));
    uint64_t bytes = 0;
    db_->GetApproximateSizes(&all, 1, &bytes);
    return bytes;
  }

 private:
  EngineConfig config_;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

std::unique_ptr<Engine> make_leveldb() { return std::make_unique<LevelEngine>(); }

}  // namespace hawthorn::bench
