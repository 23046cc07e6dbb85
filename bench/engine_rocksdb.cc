// RocksDB with its log and without compression. `rocksdb` takes the default options,
// `rocksdb-tuned` what its tuning guide advises for two cores; both have the memory figure M as
// block cache and write buffers. `rocksdb-level` and `rocksdb-universal` take what two published
// comparisons with larger-than-memory data chose for it. For transactions it is opened as its
// TransactionDB, with the default options of that. Over hawthorn-rocksdb this is the engine
// `hawthorn-rocksdb`.

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <thread>
#include <vector>

#include "bench/engine_registry.h"
#include "bench/overlay.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

void check(const rocksdb::Status& status) {
  if (status.ok()) return;
  throw EngineError("rocksdb: " + status.ToString(),
                    status.IsNoSpace() ? EngineError::Kind::kFull : EngineError::Kind::kOther);
}

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& text) { return {text.data(), text.size()}; }

// A batch is a WriteBatch; what it may read again lies in the overlay until the commit, so that a
// key that is updated many times in a batch reaches the memtable once.
class RocksWriter : public Writer {
 public:
  RocksWriter(rocksdb::DB& db, SyncMode sync) : db_(db) { write_.sync = sync == SyncMode::kFull; }

  void begin(WriteIntent intent) override {
    batch_.Clear();
    overlay_.clear();
    reads_ = intent == WriteIntent::kReadWrite;
  }

  void commit() override {
    for (const Overlay::Entry& entry : overlay_.entries()) {
      const rocksdb::Slice key = slice(overlay_.key_of(entry));
      check(entry.deleted ? batch_.Delete(key) : batch_.Put(key, slice(overlay_.value_of(entry))));
    }
    check(db_.Write(write_, &batch_));
  }

  bool get(std::string_view key, std::string_view& value) override {
    if (const Overlay::Entry* own = overlay_.find(key)) {
      value = overlay_.value_of(*own);
      return !own->deleted;
    }
    value_.Reset();
    const rocksdb::Status status = db_.Get(read_, db_.DefaultColumnFamily(), slice(key), &value_);
    if (status.IsNotFound()) return false;
    check(status);
    value = view(value_);
    return true;
  }

  void put(std::string_view key, std::string_view value) override {
    if (reads_) return overlay_.put(key, value);
    check(batch_.Put(slice(key), slice(value)));
  }
  void insert_next(std::string_view key, std::string_view value) override {
    check(batch_.Put(slice(key), slice(value)));
  }
  void del(std::string_view key) override {
    if (reads_) return overlay_.del(key);
    check(batch_.Delete(slice(key)));
  }
  void put_now(std::string_view key, std::string_view value) override {
    check(db_.Put(write_, slice(key), slice(value)));
  }

 private:
  rocksdb::DB& db_;
  rocksdb::WriteOptions write_;
  rocksdb::ReadOptions read_;
  rocksdb::WriteBatch batch_;
  rocksdb::PinnableSlice value_;
  Overlay overlay_;
  bool reads_ = false;
};

// Without a snapshot of its own, so that a key that it has locked shows its newest value.
class RocksTxnClient : public TxnClient {
 public:
  RocksTxnClient(rocksdb::TransactionDB& db, SyncMode sync) : db_(db) {
    write_.sync = sync == SyncMode::kFull;
  }

  void begin() override {
    value_.Reset();
    // Takes the memory of the one before.
    transaction_.reset(db_.BeginTransaction(write_, options_, transaction_.release()));
  }

  TxnAnswer commit() override { return answer(transaction_->Commit()); }

  TxnAnswer get(std::string_view key, std::string_view& value) override {
    value_.Reset();
    return answer_of_read(transaction_->Get(read_, db_.DefaultColumnFamily(), slice(key), &value_),
                          value);
  }
  TxnAnswer get_for_update(std::string_view key, std::string_view& value) override {
    value_.Reset();
    return answer_of_read(
        transaction_->GetForUpdate(read_, db_.DefaultColumnFamily(), slice(key), &value_), value);
  }
  TxnAnswer put(std::string_view key, std::string_view value) override {
    return answer(transaction_->Put(slice(key), slice(value)));
  }

 private:
  TxnAnswer answer_of_read(const rocksdb::Status& status, std::string_view& value) {
    const TxnAnswer result = answer(status);
    if (result == TxnAnswer::kDone) value = view(value_);
    return result;
  }

  TxnAnswer answer(const rocksdb::Status& status) {
    if (status.ok()) return TxnAnswer::kDone;
    if (status.IsNotFound()) return TxnAnswer::kMissing;
    // A deadlock is a kind of Busy.
    if (!status.IsBusy() && !status.IsTimedOut() && !status.IsTryAgain()) check(status);
    check(transaction_->Rollback());
    return TxnAnswer::kConflict;
  }

  rocksdb::TransactionDB& db_;
  rocksdb::WriteOptions write_;
  rocksdb::ReadOptions read_;
  rocksdb::TransactionOptions options_;
  std::unique_ptr<rocksdb::Transaction> transaction_;
  rocksdb::PinnableSlice value_;
};

class RocksReader : public ReaderOf<RocksReader> {
 public:
  RocksReader(rocksdb::DB& db, bool async_io, bool multi_get) : db_(db), multi_get_(multi_get) {
    read_.async_io = async_io;
    read_.adaptive_readahead = async_io;
  }
  ~RocksReader() override { RocksReader::end(); }

  void begin(View view) override {
    if (view == View::kSnapshot) read_.snapshot = db_.GetSnapshot();
  }

  void end() override {
    value_.Reset();
    for (rocksdb::PinnableSlice& value : values_) value.Reset();
    iterator_.reset();
    if (read_.snapshot != nullptr) db_.ReleaseSnapshot(read_.snapshot);
    read_.snapshot = nullptr;
  }

  bool get(std::string_view key, std::string_view& value) override {
    value_.Reset();
    const rocksdb::Status status = db_.Get(read_, db_.DefaultColumnFamily(), slice(key), &value_);
    if (status.IsNotFound()) return false;
    check(status);
    value = view(value_);
    return true;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    if (!multi_get_) return get_each(keys, values);
    keys_.resize(keys.size());
    statuses_.resize(keys.size());
    if (values_.size() < keys.size()) values_ = std::vector<rocksdb::PinnableSlice>(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      keys_[i] = slice(keys[i]);
      values_[i].Reset();
    }
    db_.MultiGet(read_, db_.DefaultColumnFamily(), keys.size(), keys_.data(), values_.data(),
                 statuses_.data());
    for (size_t i = 0; i < keys.size(); ++i) {
      values[i] = {};
      if (statuses_[i].IsNotFound()) continue;
      check(statuses_[i]);
      values[i] = view(values_[i]);
    }
  }

  bool reads_together() const override { return multi_get_; }

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
    const std::unique_ptr<rocksdb::Iterator> iterator(db_.NewIterator(read_));
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      sink.add(view(iterator->key()), view(iterator->value()));
    }
    check(iterator->status());
  }

 private:
  void get_each(std::span<const std::string_view> keys, std::span<std::string_view> values) {
    if (values_.size() < keys.size()) values_ = std::vector<rocksdb::PinnableSlice>(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      values_[i].Reset();
      const rocksdb::Status status =
          db_.Get(read_, db_.DefaultColumnFamily(), slice(keys[i]), &values_[i]);
      values[i] = {};
      if (status.IsNotFound()) continue;
      check(status);
      values[i] = view(values_[i]);
    }
  }

  rocksdb::DB& db_;
  const bool multi_get_;
  rocksdb::ReadOptions read_;
  rocksdb::PinnableSlice value_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  std::vector<rocksdb::Slice> keys_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> statuses_;
};

class RocksEngine : public Engine {
 public:
  explicit RocksEngine(RocksProfile profile) : profile_(profile) {}

  std::string version() const override {
    return print_text("RocksDB %d.%d.%d", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
  }
  std::string settings() const override { return settings_; }

  void open(const EngineConfig& config) override {
    config_ = config;
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.info_log_level = rocksdb::WARN_LEVEL;
    options.stats_dump_period_sec = 0;
    if (config.sync == SyncMode::kFull) options.recycle_log_file_num = 4;
    rocksdb::BlockBasedTableOptions table;
    const size_t cache = apply_profile(options, table);
    table.block_cache = make_cache(cache);
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    open_db(options);
    settings_ =
        print_text("%s%s, block cache %s, write buffers %d of %s, log %s%s",
                   config.transactions ? "TransactionDB, " : "", profile_text(),
                   size_text(static_cast<double>(cache)).c_str(), options.max_write_buffer_number,
                   size_text(static_cast<double>(options.write_buffer_size)).c_str(),
                   config.sync == SyncMode::kFull ? "synced and recycled" : "not synced",
                   config.sync == SyncMode::kAsync ? " (it has no level between)" : "");
  }

  void close() override {
    check(db_->Close());
    transaction_db_ = nullptr;
    db_.reset();
  }

  std::unique_ptr<Writer> writer() override {
    return std::make_unique<RocksWriter>(*db_, config_.sync);
  }
  std::unique_ptr<Reader> reader() override {
    return std::make_unique<RocksReader>(*db_, is_universal(),
                                         profile_ != RocksProfile::kUniversalGet);
  }

  void sync() override { check(db_->FlushWAL(true)); }

  void drain() override {
#if ROCKSDB_MAJOR >= 9
    rocksdb::WaitForCompactOptions options;
#ifdef HAWTHORN_BENCH_OVER_HAWTHORN
    options.flush = true;  // as the engine below it drains
#endif
    check(db_->WaitForCompact(options));
#else
    // A compaction may follow another at once: quiet means quiet for some time. Universal
    // compaction may also say for ever that one is pending, where what it found is too narrow to
    // merge: what is pending for half a second in which nothing runs does not come.
    constexpr int kQuietLooks = 5;
    constexpr int kIdleLooks = 100;
    int quiet = 0;
    for (int idle = 0; quiet < kQuietLooks && idle < kIdleLooks;) {
      const bool running = is_any({"rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes",
                                   "rocksdb.num-running-compactions"});
      idle = running ? 0 : idle + 1;
      quiet = running || is_any({"rocksdb.compaction-pending"}) ? 0 : quiet + 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(quiet == 1 ? 0 : 5));
    }
#endif
  }

  void settle() override {
    check(db_->Flush(rocksdb::FlushOptions()));
    drain();
  }

  bool is_log(std::string_view file_name) const override {
#ifdef HAWTHORN_BENCH_OVER_HAWTHORN
    return file_name.starts_with("wal.");
#else
    return file_name.ends_with(".log");
#endif
  }
  uint64_t reachable_bytes() override {
    uint64_t tables = 0;
    uint64_t memory = 0;
    db_->GetIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &tables);
    db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &memory);
    return tables + memory;
  }

  bool offers(TxnKind kind) const override { return kind == TxnKind::kRowLocks; }
  std::unique_ptr<TxnClient> transactions(TxnKind kind) override {
    if (!offers(kind) || transaction_db_ == nullptr) return Engine::transactions(kind);
    return std::make_unique<RocksTxnClient>(*transaction_db_, config_.sync);
  }

  bool holds_snapshots() const override { return true; }

 private:
  static std::shared_ptr<rocksdb::Cache> make_cache(size_t bytes) {
#if ROCKSDB_MAJOR >= 9
    return rocksdb::HyperClockCacheOptions(bytes, 0).MakeSharedCache();
#else
    return rocksdb::NewLRUCache(bytes);
#endif
  }

  static constexpr size_t kMega = size_t{1} << 20;

  bool is_universal() const {
    return profile_ == RocksProfile::kUniversal || profile_ == RocksProfile::kUniversalGet;
  }

  const char* profile_text() const {
    switch (profile_) {
      case RocksProfile::kDefault:
        return "default options";
      case RocksProfile::kTuned:
        return "tuned";
      case RocksProfile::kLevel:
        return "leveled (4 levels, base 512 MiB times 8, 16 compactions)";
      case RocksProfile::kUniversal:
        return "universal, direct I/O, filters of 10 bits, MultiGet";
      case RocksProfile::kUniversalGet:
        return "universal, direct I/O, filters of 10 bits, Get alone";
    }
    return "";
  }

  // Sets what the profile is about and returns the size of the block cache.
  size_t apply_profile(rocksdb::Options& options, rocksdb::BlockBasedTableOptions& table) const {
    if (profile_ == RocksProfile::kLevel) return set_level(options);
    if (is_universal()) return set_universal(options, table);
    if (profile_ == RocksProfile::kTuned) tune(options, table);
    const size_t buffers =
        options.write_buffer_size * static_cast<size_t>(options.max_write_buffer_number);
    const size_t memory = config_.memory_bytes;
    return memory > 2 * buffers ? memory - buffers : memory / 2;
  }

  // As https://github.com/cojen/TuplDB's wiki has it, whose cache was half of the machine's memory.
  size_t set_level(rocksdb::Options& options) const {
    options.compaction_style = rocksdb::kCompactionStyleLevel;
    options.write_buffer_size = 64 * kMega;
    options.max_write_buffer_number = 3;
    options.max_background_compactions = 16;
    options.level0_file_num_compaction_trigger = 8;
    options.level0_slowdown_writes_trigger = 17;
    options.num_levels = 4;
    options.max_bytes_for_level_base = 512 * kMega;
    options.max_bytes_for_level_multiplier = 8;
    return config_.memory_bytes;
  }

  // As HedgeDB's benchmark tool has it, with caches that a small M bounds further.
  size_t set_universal(rocksdb::Options& options, rocksdb::BlockBasedTableOptions& table) const {
    options.OptimizeUniversalStyleCompaction(
        std::min<size_t>(512 * kMega, config_.memory_bytes / 4));
    options.compression_per_level.clear();
    options.max_background_jobs = 8;
    options.compaction_options_universal.min_merge_width = 8;
    options.compaction_options_universal.max_merge_width = 32;
    options.compaction_options_universal.allow_trivial_move = true;
    options.num_levels = 40;
    options.compaction_readahead_size = 2 * kMega;
    options.level0_stop_writes_trigger = std::numeric_limits<int>::max();
    options.level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
    options.use_direct_reads = true;
    options.use_direct_io_for_flush_and_compaction = true;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.block_size = 4096;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    return std::min<size_t>(1024 * kMega, config_.memory_bytes / 2);
  }

  void tune(rocksdb::Options& options, rocksdb::BlockBasedTableOptions& table) const {
    options.write_buffer_size = std::clamp(config_.memory_bytes / 16, 16 * kMega, 128 * kMega);
    options.max_write_buffer_number = 4;
    options.max_background_jobs = 2;
    options.level_compaction_dynamic_level_bytes = true;
    options.max_bytes_for_level_base = 4 * options.write_buffer_size;
    options.level0_slowdown_writes_trigger = 24;
    options.level0_stop_writes_trigger = 48;
    options.bytes_per_sync = kMega;
    options.memtable_prefix_bloom_size_ratio = 0.1;
    options.memtable_whole_key_filtering = true;
    // With one writer the machinery for several only costs.
    options.allow_concurrent_memtable_write = config_.writers > 1;
    options.enable_write_thread_adaptive_yield = config_.writers > 1;
    options.enable_pipelined_write = config_.writers > 1;

    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
    // Counted in the cache, so that M is all there is, and never evicted.
    table.cache_index_and_filter_blocks = true;
    table.metadata_cache_options.unpartitioned_pinning = rocksdb::PinningTier::kAll;
  }

  void open_db(const rocksdb::Options& options) {
    if (config_.transactions) {
      check(rocksdb::TransactionDB::Open(options, rocksdb::TransactionDBOptions(), config_.path,
                                         &transaction_db_));
      db_.reset(transaction_db_);
      return;
    }
#if ROCKSDB_MAJOR >= 11
    check(rocksdb::DB::Open(options, config_.path, &db_));
#else
    rocksdb::DB* db = nullptr;
    check(rocksdb::DB::Open(options, config_.path, &db));
    db_.reset(db);
#endif
  }

  // Whether any of these properties is a number above zero.
  [[maybe_unused]] bool is_any(std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) {
      uint64_t number = 0;
      return db_->GetIntProperty(name, &number) && number != 0;
    });
  }

  const RocksProfile profile_;
  EngineConfig config_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::TransactionDB* transaction_db_ = nullptr;  // db_, where it was opened for transactions
  std::string settings_;
};

}  // namespace

std::unique_ptr<Engine> make_rocksdb(RocksProfile profile) {
  return std::make_unique<RocksEngine>(profile);
}

}  // namespace hawthorn::bench
