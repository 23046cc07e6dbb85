// PsiTri without syncs, through its transactions: one transaction is one batch. Readers hold a
// tree, which is a snapshot. One session for each writer and reader, in the thread that uses it.

#include <exception>
#include <optional>
#include <psitri/database.hpp>
#include <psitri/database_impl.hpp>
#include <psitri/read_session_impl.hpp>
#include <psitri/transaction.hpp>
#include <psitri/write_session_impl.hpp>
#include <string>
#include <vector>

#include "bench/engine_registry.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr uint32_t kRoot = 0;  // of its 512 trees

// What it throws is no EngineError.
template <class F>
auto guarded(F&& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    throw EngineError(std::string("psitri: ") + error.what());
  }
}

class PsitriWriter : public Writer {
 public:
  explicit PsitriWriter(psitri::database& db)
      : session_(guarded([&] { return db.start_write_session(); })) {}

  void begin(WriteIntent) override {
    guarded([&] { txn_.emplace(session_->start_transaction(kRoot)); });
  }
  void commit() override {
    guarded([&] { txn_->commit(); });
    txn_.reset();
  }

  bool get(std::string_view key, std::string_view& value) override {
    const bool found = guarded([&] { return txn_->get(key, &value_) >= 0; });
    value = value_;
    return found;
  }
  void put(std::string_view key, std::string_view value) override {
    guarded([&] { txn_->upsert(key, value); });
  }
  void del(std::string_view key) override {
    guarded([&] { txn_->remove(key); });
  }

 private:
  std::shared_ptr<psitri::write_session> session_;
  std::optional<psitri::transaction> txn_;
  std::string value_;
};

class PsitriReader : public ReaderOf<PsitriReader> {
 public:
  explicit PsitriReader(psitri::database& db)
      : session_(guarded([&] { return db.start_read_session(); })) {}

  void begin(View) override {
    guarded([&] { cursor_.emplace(session_->snapshot_cursor(kRoot)); });
  }
  void end() override { cursor_.reset(); }

  bool get(std::string_view key, std::string_view& value) override {
    const bool found = read(key, value_);
    value = value_;
    return found;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    copies_.resize(std::max(copies_.size(), keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) {
      values[i] = read(keys[i], copies_[i]) ? std::string_view(copies_[i]) : std::string_view();
    }
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    guarded([&] {
      cursor_->lower_bound(key);
      for (size_t i = 0; !cursor_->is_end(); ++i) {
        add(sink);
        if (i == count) return;
        cursor_->next();
      }
    });
  }

  template <class Sink>
  void walk(Sink& sink) {
    guarded([&] {
      for (cursor_->seek_begin(); !cursor_->is_end(); cursor_->next()) add(sink);
    });
  }

 private:
  bool read(std::string_view key, std::string& value) {
    return guarded([&] { return cursor_->get(key, &value) >= 0; });
  }

  template <class Sink>
  void add(Sink& sink) {
    cursor_->get_value(
        [&](psitri::value_view value) { sink.add(cursor_->key(), std::string_view(value)); });
  }

  std::shared_ptr<psitri::read_session> session_;
  std::optional<psitri::cursor> cursor_;
  std::string value_;
  std::vector<std::string> copies_;
};

class PsitriEngine : public Engine {
 public:
  std::string version() const override { return "PsiTri"; }
  std::string settings() const override {
    return print_text("pinned cache %lu MB, %s", pinned_mb(),
                      config_.sync == SyncMode::kFull    ? "fsync"
                      : config_.sync == SyncMode::kAsync ? "msync, asynchronous"
                                                         : "not synced");
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    guarded([&] {
      psitri::runtime_config options;
      options.max_pinned_cache_size_mb = pinned_mb();
      options.sync_mode = config.sync == SyncMode::kFull    ? sal::sync_type::fsync
                          : config.sync == SyncMode::kAsync ? sal::sync_type::msync_async
                                                            : sal::sync_type::none;
      db_ = psitri::database::open(config.path + "/psitri", psitri::open_mode::create_or_open,
                                   options);
    });
  }
  void close() override { db_.reset(); }

  std::unique_ptr<Writer> writer() override { return std::make_unique<PsitriWriter>(*db_); }
  std::unique_ptr<Reader> reader() override { return std::make_unique<PsitriReader>(*db_); }

  void sync() override {
    guarded([&] { db_->sync(); });
  }
  // It says nothing where its compactor is still at work after the time that it was given.
  void drain() override {
    guarded([&] {
      while (!db_->wait_for_compactor()) {
      }
    });
  }

  uint64_t reachable_bytes() override {
    return guarded([&] { return db_->reachable_size(); });
  }

 private:
  // In segments of 32 MB.
  uint64_t pinned_mb() const { return std::max<uint64_t>(1, config_.memory_bytes >> 25) * 32; }

  EngineConfig config_;
  std::shared_ptr<psitri::database> db_;
};

}  // namespace

std::unique_ptr<Engine> make_psitri() { return std::make_unique<PsitriEngine>(); }

}  // namespace hawthorn::bench
