// TidesDB without compression, through the header that it installs. One transaction object is used
// for all batches of a writer. A transaction is given each key once: what its log restores (in
// 9.3.14) of a key that a transaction wrote twice is the first value.

extern "C" {
#include <tidesdb/db.h>
}

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "bench/engine_registry.h"
#include "bench/overlay.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

void check(int code) {
  if (code != TDB_SUCCESS) throw EngineError(print_text("tidesdb: error %d", code));
}

const uint8_t* bytes(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}
std::string_view view(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A value that the library allocated.
class OwnedValue {
 public:
  OwnedValue() = default;
  ~OwnedValue() { reset(); }
  OwnedValue(const OwnedValue&) = delete;
  OwnedValue& operator=(const OwnedValue&) = delete;

  bool read(tidesdb_txn_t* txn, tidesdb_column_family_t* family, std::string_view key) {
    reset();
    const int code = tidesdb_txn_get(txn, family, bytes(key), key.size(), &data_, &size_);
    if (code == TDB_ERR_NOT_FOUND) {
      data_ = nullptr;
      return false;
    }
    check(code);
    return true;
  }
  std::string_view text() const { return view(data_, size_); }

 private:
  void reset() {
    if (data_ != nullptr) tidesdb_free(data_);
    data_ = nullptr;
  }
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// One transaction object, used again and again.
class Txn {
 public:
  Txn(tidesdb_t* db, tidesdb_isolation_level_t isolation) : isolation_(isolation) {
    check(tidesdb_txn_begin_with_isolation(db, isolation, &txn_));
    check(tidesdb_txn_rollback(txn_));
  }
  ~Txn() { tidesdb_txn_free(txn_); }
  Txn(const Txn&) = delete;
  Txn& operator=(const Txn&) = delete;

  void begin() { check(tidesdb_txn_reset(txn_, isolation_)); }
  tidesdb_txn_t* get() const { return txn_; }

 private:
  const tidesdb_isolation_level_t isolation_;
  tidesdb_txn_t* txn_ = nullptr;
};

class TidesWriter : public Writer {
 public:
  // Accounts belong to one writer each, so that no isolation between writers is needed.
  TidesWriter(tidesdb_t* db, tidesdb_column_family_t* family)
      : family_(family), txn_(db, TDB_ISOLATION_READ_COMMITTED) {}

  void begin(WriteIntent) override {
    overlay_.clear();
    txn_.begin();
  }

  void commit() override {
    for (const Overlay::Entry& entry : overlay_.entries()) {
      const std::string_view key = overlay_.key_of(entry);
      if (entry.deleted) {
        check(tidesdb_txn_delete(txn_.get(), family_, bytes(key), key.size()));
      } else {
        put_now(key, overlay_.value_of(entry));
      }
    }
    // It asks callers to try again when its background work is behind.
    int code = tidesdb_txn_commit(txn_.get());
    while (code == TDB_ERR_BUSY) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      code = tidesdb_txn_commit(txn_.get());
    }
    check(code);
  }

  bool get(std::string_view key, std::string_view& value) override {
    if (const Overlay::Entry* own = overlay_.find(key)) {
      value = overlay_.value_of(*own);
      return !own->deleted;
    }
    if (!value_.read(txn_.get(), family_, key)) return false;
    value = value_.text();
    return true;
  }

  void put(std::string_view key, std::string_view value) override { overlay_.put(key, value); }
  void insert_next(std::string_view key, std::string_view value) override { put_now(key, value); }
  void del(std::string_view key) override { overlay_.del(key); }

 private:
  void put_now(std::string_view key, std::string_view value) {
    check(tidesdb_txn_put(txn_.get(), family_, bytes(key), key.size(), bytes(value), value.size(),
                          -1));
  }

  Overlay overlay_;
  tidesdb_column_family_t* const family_;
  Txn txn_;
  OwnedValue value_;
};

class TidesReader : public ReaderOf<TidesReader> {
 public:
  TidesReader(tidesdb_t* db, tidesdb_column_family_t* family)
      : family_(family), txn_(db, TDB_ISOLATION_SNAPSHOT) {}
  ~TidesReader() override {
    if (open_) TidesReader::end();
  }

  void begin(View) override {
    txn_.begin();
    open_ = true;
  }
  void end() override {
    open_ = false;
    check(tidesdb_txn_rollback(txn_.get()));
  }

  bool get(std::string_view key, std::string_view& value) override {
    if (!value_.read(txn_.get(), family_, key)) return false;
    value = value_.text();
    return true;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    if (values_.size() < keys.size()) values_ = std::vector<OwnedValue>(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool found = values_[i].read(txn_.get(), family_, keys[i]);
      values[i] = found ? values_[i].text() : std::string_view();
    }
  }

  // A new iterator for each seek: one that is used again (in 9.3.14) skips entries of tables.
  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    const Iterator at(*this);
    if (tidesdb_iter_seek(at, bytes(key), key.size()) != TDB_SUCCESS) return;
    for (size_t i = 0; tidesdb_iter_valid(at) != 0; ++i) {
      add(at, sink);
      if (i == count || tidesdb_iter_next(at) != TDB_SUCCESS) return;
    }
  }

  template <class Sink>
  void walk(Sink& sink) {
    const Iterator at(*this);
    if (tidesdb_iter_seek_to_first(at) != TDB_SUCCESS) return;
    while (tidesdb_iter_valid(at) != 0) {
      add(at, sink);
      if (tidesdb_iter_next(at) != TDB_SUCCESS) return;
    }
  }

 private:
  class Iterator {
   public:
    explicit Iterator(const TidesReader& reader) {
      check(tidesdb_iter_new(reader.txn_.get(), reader.family_, &iterator_));
    }
    ~Iterator() { tidesdb_iter_free(iterator_); }
    Iterator(const Iterator&) = delete;
    Iterator& operator=(const Iterator&) = delete;
    operator tidesdb_iter_t*() const { return iterator_; }  // NOLINT

   private:
    tidesdb_iter_t* iterator_ = nullptr;
  };

  template <class Sink>
  static void add(tidesdb_iter_t* at, Sink& sink) {
    uint8_t* key = nullptr;
    uint8_t* value = nullptr;
    size_t key_size = 0;
    size_t value_size = 0;
    check(tidesdb_iter_key_value(at, &key, &key_size, &value, &value_size));
    sink.add(view(key, key_size), view(value, value_size));
  }

  tidesdb_column_family_t* const family_;
  Txn txn_;
  OwnedValue value_;
  std::vector<OwnedValue> values_;
  bool open_ = false;
};

class TidesEngine : public Engine {
 public:
  std::string version() const override { return "TidesDB"; }
  std::string settings() const override {
    return print_text("block cache %s, write buffer 64 MB, Bloom filters, %s",
                      size_text(static_cast<double>(cache_bytes())).c_str(),
                      config_.sync == SyncMode::kFull ? "synced" : "not synced");
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    tidesdb_config_t options = tidesdb_default_config();
    options.db_path = config_.path.data();
    options.log_level = TDB_LOG_NONE;
    options.block_cache_size = cache_bytes();
    check(tidesdb_open(&options, &db_));
    family_ = tidesdb_get_column_family(db_, "bench");
    if (family_ == nullptr) {
      tidesdb_column_family_config_t family = tidesdb_default_column_family_config();
      family.compression_algorithm = TDB_COMPRESS_NONE;
      family.enable_bloom_filter = 1;
      family.sync_mode = config.sync == SyncMode::kFull    ? TDB_SYNC_FULL
                         : config.sync == SyncMode::kAsync ? TDB_SYNC_INTERVAL
                                                           : TDB_SYNC_NONE;
      check(tidesdb_create_column_family(db_, "bench", &family));
      family_ = tidesdb_get_column_family(db_, "bench");
    }
  }

  void close() override { check(tidesdb_close(db_)); }

  std::unique_ptr<Writer> writer() override { return std::make_unique<TidesWriter>(db_, family_); }
  std::unique_ptr<Reader> reader() override { return std::make_unique<TidesReader>(db_, family_); }

  void sync() override { check(tidesdb_sync_wal(family_)); }

  void drain() override {
    for (int quiet = 0; quiet < 5;) {
      const bool busy = tidesdb_is_flushing(family_) != 0 || tidesdb_is_compacting(family_) != 0;
      quiet = busy ? 0 : quiet + 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(quiet == 1 ? 0 : 5));
    }
  }
  void settle() override {
    check(tidesdb_flush_memtable(family_));
    drain();
  }

  uint64_t reachable_bytes() override {
    tidesdb_stats_t* stats = nullptr;
    check(tidesdb_get_stats(family_, &stats));
    uint64_t total = stats->memtable_size;
    for (int i = 0; i < stats->num_levels; ++i) total += stats->level_sizes[i];
    tidesdb_free_stats(stats);
    return total;
  }

 private:
  size_t cache_bytes() const {
    // The rest is for the memtable and those that wait to be flushed.
    constexpr size_t kBuffers = size_t{256} << 20;
    return config_.memory_bytes > 2 * kBuffers ? config_.memory_bytes - kBuffers
                                               : config_.memory_bytes / 2;
  }

  EngineConfig config_;
  tidesdb_t* db_ = nullptr;
  tidesdb_column_family_t* family_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> make_tidesdb() { return std::make_unique<TidesEngine>(); }

}  // namespace hawthorn::bench
