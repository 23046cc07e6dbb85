// Hawthorn through its public API. Read-write batches are exclusive transactions (optimistic ones
// when several threads write, so that their commits share a sync); blind batches are WriteBatches.
// Transactions by row locks read what is committed: of a key that they have locked that is the
// newest value, and never a conflict.

#include <hawthorn/hawthorn.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/engine_registry.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

void check(const Status& status) {
  if (status.ok()) return;
  throw EngineError("hawthorn: " + status.to_string(), status.is(StatusCode::kNoSpace)
                                                           ? EngineError::Kind::kFull
                                                           : EngineError::Kind::kOther);
}

Durability durability_of(SyncMode mode) {
  switch (mode) {
    case SyncMode::kAsync:
      return Durability::kAsync;
    case SyncMode::kFull:
      return Durability::kFull;
    case SyncMode::kNone:
      break;
  }
  return Durability::kNone;
}

class HawthornWriter : public Writer {
 public:
  HawthornWriter(Db& db, const Tree& tree, const EngineConfig& config)
      : db_(db),
        tree_(tree),
        durability_(durability_of(config.sync)),
        mode_(config.writers > 1 ? TxnMode::kOptimistic : TxnMode::kExclusive) {}

  void begin(WriteIntent intent) override {
    if (intent == WriteIntent::kBlind) {
      batch_.clear();
      return;
    }
    Result<Transaction> transaction = db_.begin(mode_);
    check(transaction.status());
    transaction_ = std::move(transaction).value();
    in_transaction_ = true;
  }

  void commit() override {
    if (!in_transaction_) return check(db_.write(batch_, durability_));
    in_transaction_ = false;
    value_.reset();
    check(transaction_.commit(durability_));
  }

  bool get(std::string_view key, std::string_view& value) override {
    const Status status = transaction_.get(tree_, key, value_);
    if (status.is_not_found()) return false;
    check(status);
    value = value_.view();
    return true;
  }

  void put(std::string_view key, std::string_view value) override {
    if (in_transaction_) return check(transaction_.put(tree_, key, value));
    batch_.put(tree_, key, value);
  }

  void del(std::string_view key) override {
    if (in_transaction_) return check(transaction_.del(tree_, key));
    batch_.del(tree_, key);
  }

  void put_now(std::string_view key, std::string_view value) override {
    check(db_.put(tree_, key, value, durability_));
  }

  uint64_t modify(std::string_view key, const Change& change) override {
    for (uint64_t conflicts = 0;; ++conflicts) {
      Result<Transaction> begun = db_.begin(TxnMode::kOptimistic);
      check(begun.status());
      Transaction transaction = std::move(begun).value();
      const Status read = transaction.get(tree_, key, value_);
      if (!read.is_not_found()) check(read);
      change(read.ok(), read.ok() ? value_.view() : std::string_view(), next_);
      value_.reset();
      Status status = transaction.put(tree_, key, next_);
      if (status.ok()) status = transaction.commit(durability_);
      if (status.ok()) return conflicts;
      // The destructor aborts what is still open.
      if (!status.is(StatusCode::kConflict)) check(status);
    }
  }

 private:
  Db& db_;
  const Tree tree_;
  const Durability durability_;
  const TxnMode mode_;
  WriteBatch batch_;
  Transaction transaction_;
  bool in_transaction_ = false;
  Value value_;
  std::string next_;
};

class HawthornTxnClient : public TxnClient {
 public:
  HawthornTxnClient(Db& db, const Tree& tree, TxnKind kind, Durability durability)
      : db_(db), tree_(tree), durability_(durability) {
    switch (kind) {
      case TxnKind::kSnapshot:
        options_.isolation = Isolation::kSnapshot;
        break;
      case TxnKind::kSerializable:
        options_.isolation = Isolation::kSerializable;
        break;
      case TxnKind::kRowLocks:
        options_.mode = TxnMode::kPessimistic;
        options_.isolation = Isolation::kReadCommitted;
        break;
    }
  }

  void begin() override {
    Result<Transaction> begun = db_.begin(options_);
    check(begun.status());
    transaction_ = std::move(begun).value();
  }

  TxnAnswer commit() override {
    value_.reset();
    return answer(transaction_.commit(durability_));
  }

  TxnAnswer get(std::string_view key, std::string_view& value) override {
    return answer_of_read(transaction_.get(tree_, key, value_), value);
  }
  TxnAnswer get_for_update(std::string_view key, std::string_view& value) override {
    return answer_of_read(transaction_.get_for_update(tree_, key, value_), value);
  }
  TxnAnswer put(std::string_view key, std::string_view value) override {
    return answer(transaction_.put(tree_, key, value));
  }

 private:
  TxnAnswer answer_of_read(const Status& status, std::string_view& value) {
    const TxnAnswer result = answer(status);
    if (result == TxnAnswer::kDone) value = value_.view();
    return result;
  }

  TxnAnswer answer(const Status& status) {
    if (status.ok()) return TxnAnswer::kDone;
    if (status.is_not_found()) return TxnAnswer::kMissing;
    if (!status.is_conflict() && !status.is(StatusCode::kTimedOut) &&
        !status.is(StatusCode::kDeadlock)) {
      check(status);
    }
    value_.reset();
    if (transaction_.open()) transaction_.abort();
    return TxnAnswer::kConflict;
  }

  Db& db_;
  const Tree tree_;
  const Durability durability_;
  TxnOptions options_;
  Transaction transaction_;
  Value value_;
};

class HawthornClone : public Clone {
 public:
  HawthornClone(Db& db, const Tree& tree, const std::string& name, Durability durability)
      : db_(db), tree_(tree), name_(name), durability_(durability) {}

  uint64_t count() override {
    const Result<uint64_t> count = db_.count(tree_, {}, std::nullopt);
    check(count.status());
    return count.value();
  }

  bool get(std::string_view key, std::string_view& value) override {
    const Status status = db_.get(tree_, key, value_);
    if (status.is_not_found()) return false;
    check(status);
    value = value_.view();
    return true;
  }

  void put(std::string_view key, std::string_view value) override {
    check(db_.put(tree_, key, value, durability_));
  }

  void drop() override {
    value_.reset();
    check(db_.drop_tree(name_));
  }

 private:
  Db& db_;
  const Tree tree_;
  const std::string name_;
  const Durability durability_;
  Value value_;
};

// The tree of all entries, and that of those whose order is a comparison.
constexpr const char* kTreeName = "bench";
constexpr const char* kComparedName = "compared";

// The order that keys have anyway.
class ByBytes : public KeyComparator {
 public:
  std::string_view name() const override { return "by_bytes"; }
  int compare(std::string_view a, std::string_view b) const override { return a.compare(b); }
};

class HawthornReader : public ReaderOf<HawthornReader> {
 public:
  HawthornReader(Db& db, const Tree& tree) : db_(db), tree_(tree) {}

  void begin(View view) override {
    if (view == View::kSnapshot) snapshot_ = db_.snapshot();
    options_.snapshot = view == View::kSnapshot ? &snapshot_ : nullptr;
  }

  void end() override {
    value_.reset();
    batch_.reset();
    cursor_.reset();
    options_.snapshot = nullptr;
    snapshot_.reset();
  }

  bool get(std::string_view key, std::string_view& value) override {
    const Status status = db_.get(tree_, key, value_, options_);
    if (status.is_not_found()) return false;
    check(status);
    value = value_.view();
    return true;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    check(db_.multi_get(tree_, keys, batch_, options_));
    for (size_t i = 0; i < keys.size(); ++i) {
      values[i] = batch_[i].found() ? batch_[i].value : std::string_view();
    }
  }

  // A queue keeps `depth` gets on their way: as one is done the next begins.
  void read_many(ReadStream& stream, size_t depth) override {
    if (depth < 2) return ReaderOf::read_many(stream, depth);
    if (queue_ == nullptr || queue_depth_ != depth) {
      queue_.reset();
      Result<std::unique_ptr<ReadQueue>> queue =
          db_.read_queue({.depth = static_cast<uint32_t>(depth)});
      check(queue.status());
      queue_ = std::move(queue).value();
      queue_depth_ = depth;
    }
    free_slots_.clear();
    for (size_t slot = depth; slot-- > 0;) free_slots_.push_back(slot);
    for (bool more = true; more || queue_->pending() > 0;) {
      std::string_view key;
      while (more && !free_slots_.empty() && (more = stream.next(free_slots_.back(), key))) {
        const size_t slot = free_slots_.back();
        free_slots_.pop_back();
        stream.start(slot);
        queue_->get_async(
            tree_, key,
            [this, &stream, slot](const Status& status, Value& value) {
              // A completion must not throw.
              if (!status.ok() && !status.is_not_found() && failed_.ok()) failed_ = status;
              stream.done(slot, status.ok() ? value.view() : std::string_view());
              free_slots_.push_back(slot);
            },
            options_);
      }
      queue_->wait();
      check(failed_);
    }
  }

  uint64_t count(std::string_view lower, std::optional<std::string_view> upper) override {
    const Result<uint64_t> count = db_.count(tree_, lower, upper, options_);
    check(count.status());
    return count.value();
  }

  template <class Sink>
  void range_from(std::string_view key, size_t count, Sink& sink) {
    // A scan reads ahead and hands out runs, which a short range has no use for.
    constexpr size_t kScanFrom = 256;
    if (count < kScanFrom) return ReaderOf::range_from(key, count, sink);
    const auto add_some = [&](std::span<const Entry> entries) {
      for (const Entry& entry : entries) {
        if (count-- == 0) return false;
        sink.add(entry.key, entry.value);
      }
      return count != 0;
    };
    check(db_.scan(tree_, key, std::nullopt, add_some, {.snapshot = options_.snapshot}));
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    // One cursor for all seeks of a view.
    if (!cursor_) cursor_ = open_cursor();
    bool more = cursor_->seek(key);
    for (size_t i = 0; more; ++i) {
      sink.add(cursor_->key(), cursor_->value());
      if (i == count) break;
      more = cursor_->next();
    }
    if (!more) check(cursor_->status());
  }

  template <class Sink>
  void walk(Sink& sink) {
    Cursor cursor = open_cursor();
    for (bool more = cursor.first(); more; more = cursor.next()) {
      sink.add(cursor.key(), cursor.value());
    }
    check(cursor.status());
  }

  template <class Sink>
  void walk_batch(Sink& sink) {
    const auto add_all = [&sink](std::span<const Entry> entries) {
      for (const Entry& entry : entries) sink.add(entry.key, entry.value);
      return true;
    };
    check(db_.scan(tree_, {}, std::nullopt, add_all, {.snapshot = options_.snapshot}));
  }

 private:
  Cursor open_cursor() {
    CursorOptions options;
    options.snapshot = options_.snapshot;
    return db_.cursor(tree_, options);
  }

  Db& db_;
  const Tree tree_;
  Snapshot snapshot_;
  ReadOptions options_;
  Value value_;
  ReadBatch batch_;
  std::optional<Cursor> cursor_;
  std::unique_ptr<ReadQueue> queue_;
  size_t queue_depth_ = 0;
  std::vector<size_t> free_slots_;
  Status failed_;  // of the queue's first get that failed
};

class HawthornBackups : public Backups {
 public:
  HawthornBackups(Db& db, const std::string& directory) : db_(db) {
    Result<std::unique_ptr<BackupRepository>> opened = BackupRepository::open(directory);
    check(opened.status());
    repository_ = std::move(opened).value();
  }

  uint64_t make(uint64_t bytes_per_second) override {
    const Result<BackupInfo> made =
        db_.backup(*repository_, {.bytes_per_second = bytes_per_second, .full = true});
    check(made.status());
    newest_ = made->id;
    return made->bytes;
  }
  void verify() override { check(repository_->verify(newest_)); }
  void restore(const std::string& directory) override {
    check(repository_->restore(newest_, directory));
  }
  void remove() override { check(repository_->remove(newest_)); }

 private:
  Db& db_;
  std::unique_ptr<BackupRepository> repository_;
  uint64_t newest_ = 0;
};

class HawthornEngine : public Engine {
 public:
  HawthornEngine(Compression compression, bool encrypted)
      : compression_(compression), encrypted_(encrypted) {}

  std::string version() const override { return "Hawthorn " + std::string(hawthorn::version()); }

  std::string settings() const override {
    constexpr const char* kCodecs[] = {"", ", LZ4", ", Zstd"};
    return print_text("memory budget %s, %s I/O%s%s, commits %s",
                      size_text(static_cast<double>(config_.memory_bytes)).c_str(),
                      direct_io_ ? "direct" : "buffered",
                      kCodecs[static_cast<size_t>(compression_)], encrypted_ ? ", encrypted" : "",
                      config_.sync == SyncMode::kFull    ? "synced"
                      : config_.sync == SyncMode::kAsync ? "synced within milliseconds"
                                                         : "in the shared log ring");
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    Options options;
    options.memory_budget_bytes = config.memory_bytes;
    options.durability = durability_of(config.sync);
    options.preallocate_memory = config.pretouch;
    options.compression = compression_;
    options.key_comparators = {std::make_shared<ByBytes>()};
    if (encrypted_) {
      options.encryption.key_id = "bench";
      options.encryption.key = [](std::string_view) {
        return SecretKey::from_bytes(std::string(SecretKey::kBytes, 'b'));
      };
    }
    Result<std::unique_ptr<Db>> db = Db::open(config.path, options);
    check(db.status());
    db_ = std::move(db).value();
    Result<Tree> tree = db_->tree(kTreeName);
    check(tree.status());
    tree_ = std::move(tree).value();
    direct_io_ = db_->stats().direct_io;
  }

  void warm_up() override { check(db_->warm_up()); }

  void close() override {
    check(db_->close());
    db_.reset();
  }

  std::unique_ptr<Writer> writer() override {
    return std::make_unique<HawthornWriter>(*db_, tree_, config_);
  }
  std::unique_ptr<Reader> reader() override {
    return std::make_unique<HawthornReader>(*db_, tree_);
  }

  void sync() override { check(db_->sync()); }
  // With the deltas: nothing of what was written is left to do.
  void drain() override {
    check(db_->flush());
    check(db_->drain());
  }
  void settle() override { drain(); }
  uint64_t reachable_bytes() override { return db_->stats().disk_bytes_reachable; }
  std::optional<WriteAccount> write_account() override {
    const Stats stats = db_->stats();
    return WriteAccount{stats.bytes_written_log, stats.bytes_written_data,
                        stats.disk_bytes_allocated};
  }
  std::optional<uint64_t> resident_bytes() override { return db_->stats().memory_resident_bytes; }
  bool is_log(std::string_view file_name) const override { return file_name.starts_with("wal."); }

  bool ingests() const override { return true; }
  uint64_t ingest(const EntrySource& source) override {
    IngestOptions options;
    options.durability = durability_of(config_.sync);
    Result<Ingest> begun = db_->ingest(tree_, options);
    check(begun.status());
    Ingest ingest = std::move(begun).value();
    std::string_view key;
    std::string_view value;
    while (source(key, value)) check(ingest.add(key, value));
    check(ingest.finish());
    return ingest.stats().entries_attached;
  }

  bool offers(TxnKind) const override { return true; }
  std::unique_ptr<TxnClient> transactions(TxnKind kind) override {
    return std::make_unique<HawthornTxnClient>(*db_, tree_, kind, durability_of(config_.sync));
  }

  bool counts() const override { return true; }

  bool compares() const override { return true; }
  std::unique_ptr<Writer> compared_writer() override {
    return std::make_unique<HawthornWriter>(*db_, compared_tree(), config_);
  }
  std::unique_ptr<Reader> compared_reader() override {
    return std::make_unique<HawthornReader>(*db_, compared_tree());
  }

  bool backs_up() const override { return true; }
  std::unique_ptr<Backups> backups(const std::string& directory) override {
    return std::make_unique<HawthornBackups>(*db_, directory);
  }

  bool holds_snapshots() const override { return true; }

  bool clones() const override { return true; }
  std::unique_ptr<Clone> clone(const std::string& name, SyncMode sync) override {
    Result<Tree> tree = db_->clone_tree(kTreeName, name, durability_of(sync));
    check(tree.status());
    return std::make_unique<HawthornClone>(*db_, tree.value(), name, durability_of(config_.sync));
  }

 private:
  // Made when it is first asked for.
  Tree compared_tree() {
    Result<Tree> tree = db_->tree(kComparedName, {.order = "by_bytes"});
    check(tree.status());
    return std::move(tree).value();
  }

  const Compression compression_;
  const bool encrypted_;
  EngineConfig config_;
  std::unique_ptr<Db> db_;
  Tree tree_;
  bool direct_io_ = false;
};

}  // namespace

std::unique_ptr<Engine> make_hawthorn(Compression compression, bool encrypted) {
  return std::make_unique<HawthornEngine>(compression, encrypted);
}

}  // namespace hawthorn::bench
