// TidesDB 10 without compression, through the headers that it installs. One transaction object is
// used for all batches of a writer, one iterator for all seeks of a view. A transaction is given
// each key once, at its commit, so that a key that is updated many times in a batch reaches the
// memtable once.

extern "C" {
#include <tidesdb/db.h>
#include <tidesdb/tidesdb_version.h>
}

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "bench/engine_registry.h"
#include "bench/overlay.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

void check(int code) {
  if (code == TDB_SUCCESS) return;
  throw EngineError(
      print_text("tidesdb: %s (error %d)", tidesdb_strerror(code), code),
      code == TDB_ERR_NO_SPACE ? EngineError::Kind::kFull : EngineError::Kind::kOther);
}

// Any call may say that something else holds what it needs, and is to be made again then.
template <class Call>
int retried(Call call) {
  int code = call();
  while (code == TDB_ERR_LOCKED) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    code = call();
  }
  return code;
}

const uint8_t* bytes(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}
std::string_view view(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Bytes that the library allocated.
class OwnedBytes {
 public:
  OwnedBytes() = default;
  ~OwnedBytes() { reset(); }
  OwnedBytes(const OwnedBytes&) = delete;
  OwnedBytes& operator=(const OwnedBytes&) = delete;

  bool read(tidesdb_txn_t* txn, tidesdb_column_family_t* family, std::string_view key) {
    reset();
    const int code = retried(
        [&] { return tidesdb_txn_get(txn, family, bytes(key), key.size(), &data_, &size_); });
    if (code == TDB_ERR_NOT_FOUND) {
      data_ = nullptr;
      return false;
    }
    check(code);
    return true;
  }
  // Not null, however short they are.
  std::string_view text() const { return data_ == nullptr ? "" : view(data_, size_); }

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
        give(key, overlay_.value_of(entry));
      }
    }
    check(retried([&] { return tidesdb_txn_commit(txn_.get()); }));
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
  void insert_next(std::string_view key, std::string_view value) override { give(key, value); }
  void del(std::string_view key) override { overlay_.del(key); }

 private:
  void give(std::string_view key, std::string_view value) {
    check(tidesdb_txn_put(txn_.get(), family_, bytes(key), key.size(), bytes(value), value.size(),
                          -1));
  }

  Overlay overlay_;
  tidesdb_column_family_t* const family_;
  Txn txn_;
  OwnedBytes value_;
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
    iterator_.reset();
    check(tidesdb_txn_rollback(txn_.get()));
  }

  bool get(std::string_view key, std::string_view& value) override {
    if (!value_.read(txn_.get(), family_, key)) return false;
    value = value_.text();
    return true;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    if (values_.size() < keys.size()) values_ = std::vector<OwnedBytes>(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool found = values_[i].read(txn_.get(), family_, keys[i]);
      values[i] = found ? values_[i].text() : std::string_view();
    }
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    tidesdb_iter_t* at = iterator();
    bool valid =
        is_at_entry(retried([&] { return tidesdb_iter_seek(at, bytes(key), key.size()); }));
    for (size_t i = 0; valid; ++i) {
      add(at, sink);
      valid = i < count && next(at);
    }
  }

  template <class Sink>
  void walk(Sink& sink) {
    tidesdb_iter_t* at = iterator();
    bool valid = is_at_entry(retried([&] { return tidesdb_iter_seek_to_first(at); }));
    for (; valid; valid = next(at)) add(at, sink);
  }

 private:
  struct FreeIterator {
    void operator()(tidesdb_iter_t* iterator) const { tidesdb_iter_free(iterator); }
  };

  // That of this view.
  tidesdb_iter_t* iterator() {
    if (iterator_ == nullptr) {
      tidesdb_iter_t* made = nullptr;
      check(retried([&] { return tidesdb_iter_new(txn_.get(), family_, &made); }));
      iterator_.reset(made);
    }
    return iterator_.get();
  }

  static bool is_at_entry(int code) {
    if (code == TDB_ERR_NOT_FOUND) return false;
    check(code);
    return true;
  }
  static bool next(tidesdb_iter_t* at) {
    return is_at_entry(retried([&] { return tidesdb_iter_next(at); }));
  }

  template <class Sink>
  void add(tidesdb_iter_t* at, Sink& sink) {
    key_.reset();
    value_.reset();
    check(retried([&] {
      return tidesdb_iter_key_value(at, &key_.data_, &key_.size_, &value_.data_, &value_.size_);
    }));
    sink.add(key_.text(), value_.text());
  }

  tidesdb_column_family_t* const family_;
  Txn txn_;
  std::unique_ptr<tidesdb_iter_t, FreeIterator> iterator_;
  OwnedBytes key_;
  OwnedBytes value_;
  std::vector<OwnedBytes> values_;
  bool open_ = false;
};

class TidesEngine : public Engine {
 public:
  std::string version() const override { return "TidesDB " TIDESDB_VERSION; }
  std::string settings() const override {
    return print_text("block cache %s, write buffer %s, Bloom filters, log %s",
                      size_text(static_cast<double>(cache_bytes())).c_str(),
                      size_text(static_cast<double>(kBufferBytes)).c_str(),
                      config_.sync == SyncMode::kFull    ? "synced"
                      : config_.sync == SyncMode::kAsync ? "synced each second"
                                                         : "not synced");
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    tidesdb_config_t options = tidesdb_default_config();
    options.db_path = config_.path.data();
    options.log_level = TDB_LOG_NONE;
    options.block_cache_size = cache_bytes();
    options.memtable_write_buffer_size = kBufferBytes;
    // With TDB_SYNC_NONE a commit would be in this process alone, and lost when it is killed.
    options.memtable_sync_mode = config.sync == SyncMode::kFull ? TDB_SYNC_FULL : TDB_SYNC_INTERVAL;
    options.memtable_sync_interval_us = config.sync == SyncMode::kAsync ? kSecondUs : kNeverUs;
    check(tidesdb_open(&options, &db_));
    family_ = tidesdb_get_column_family(db_, "bench");
    if (family_ == nullptr) {
      tidesdb_column_family_config_t family = tidesdb_default_column_family_config();
      family.encoding_count = 0;
      family.enable_bloom_filter = 1;
      check(tidesdb_create_column_family(db_, "bench", &family));
      family_ = tidesdb_get_column_family(db_, "bench");
    }
  }

  void close() override { check(tidesdb_close(db_)); }

  std::unique_ptr<Writer> writer() override { return std::make_unique<TidesWriter>(db_, family_); }
  std::unique_ptr<Reader> reader() override { return std::make_unique<TidesReader>(db_, family_); }

  void sync() override { check(tidesdb_sync_wal(db_)); }

  void drain() override {
    for (int quiet = 0; quiet < 5;) {
      const tidesdb_db_stats_t stats = db_stats();
      const bool busy = stats.is_flushing != 0 || stats.immutable_memtable_count != 0 ||
                        stats.compaction_pending_count != 0 || tidesdb_is_flushing(db_) != 0 ||
                        tidesdb_is_compacting(family_) != 0;
      quiet = busy ? 0 : quiet + 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(quiet == 1 ? 0 : 5));
    }
  }
  void settle() override {
    check(retried([&] { return tidesdb_flush_memtable(db_); }));
    drain();
  }

  uint64_t reachable_bytes() override {
    const tidesdb_db_stats_t stats = db_stats();
    return stats.memtable_bytes + stats.total_data_size_bytes + stats.vlog_live_bytes;
  }

 private:
  static constexpr size_t kBufferBytes = size_t{64} << 20;
  static constexpr uint64_t kSecondUs = 1'000'000;
  static constexpr uint64_t kNeverUs = uint64_t{365} * 24 * 3600 * kSecondUs;

  tidesdb_db_stats_t db_stats() {
    tidesdb_db_stats_t stats;
    check(tidesdb_get_db_stats(db_, &stats));
    return stats;
  }

  size_t cache_bytes() const {
    // The rest is for the memtable and those that wait to be flushed.
    constexpr size_t kBuffers = 4 * kBufferBytes;
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
