// WiredTiger with its log, which each commit writes to the operating system and, at full
// durability, syncs. One session with its cursor for each writer and reader.

#include <wiredtiger.h>

#include <cerrno>
#include <cstring>

#include "bench/engine_registry.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

constexpr const char* kTable = "table:bench";

void check_wiredtiger(int code) {
  if (code == 0) return;
  throw EngineError(std::string("wiredtiger: ") + wiredtiger_strerror(code),
                    code == ENOSPC ? EngineError::Kind::kFull : EngineError::Kind::kOther);
}

class Session {
 public:
  Session(WT_CONNECTION* connection, const char* cursor_options) {
    check_wiredtiger(
        connection->open_session(connection, nullptr, "isolation=snapshot", &session_));
    check_wiredtiger(session_->open_cursor(session_, kTable, nullptr, cursor_options, &cursor_));
  }
  ~Session() { session_->close(session_, nullptr); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void begin() {
    check_wiredtiger(session_->begin_transaction(session_, nullptr));
    open_ = true;
  }
  void commit() {
    open_ = false;
    check_wiredtiger(session_->commit_transaction(session_, nullptr));
  }
  bool open() const { return open_; }

  WT_CURSOR* at(std::string_view key) {
    const WT_ITEM item = item_of(key);
    cursor_->set_key(cursor_, &item);
    return cursor_;
  }
  WT_CURSOR* cursor() { return cursor_; }

  bool get(std::string_view key, std::string_view& value) {
    WT_CURSOR* const found = at(key);
    const int code = found->search(found);
    if (code == WT_NOTFOUND) return false;
    check_wiredtiger(code);
    value = this->value();
    return true;
  }

  std::string_view key() {
    WT_ITEM item;
    check_wiredtiger(cursor_->get_key(cursor_, &item));
    return view(item);
  }
  std::string_view value() {
    WT_ITEM item;
    check_wiredtiger(cursor_->get_value(cursor_, &item));
    return view(item);
  }

  static WT_ITEM item_of(std::string_view text) {
    WT_ITEM item;
    std::memset(&item, 0, sizeof item);
    item.data = text.data();
    item.size = text.size();
    return item;
  }

 private:
  static std::string_view view(const WT_ITEM& item) {
    return {static_cast<const char*>(item.data), item.size};
  }

  WT_SESSION* session_ = nullptr;
  WT_CURSOR* cursor_ = nullptr;
  bool open_ = false;
};

class WiredWriter : public Writer {
 public:
  explicit WiredWriter(WT_CONNECTION* connection) : session_(connection, "overwrite=true") {}

  void begin(WriteIntent) override { session_.begin(); }
  void commit() override { session_.commit(); }
  bool get(std::string_view key, std::string_view& value) override {
    return session_.get(key, value);
  }
  void put(std::string_view key, std::string_view value) override {
    WT_CURSOR* const cursor = session_.at(key);
    const WT_ITEM item = Session::item_of(value);
    cursor->set_value(cursor, &item);
    check_wiredtiger(cursor->insert(cursor));
  }
  void del(std::string_view key) override {
    WT_CURSOR* const cursor = session_.at(key);
    check_wiredtiger(cursor->remove(cursor));
  }

 private:
  Session session_;
};

class WiredReader : public ReaderOf<WiredReader> {
 public:
  explicit WiredReader(WT_CONNECTION* connection) : session_(connection, nullptr) {}

  void begin(View) override { session_.begin(); }
  void end() override { session_.commit(); }
  bool get(std::string_view key, std::string_view& value) override {
    return session_.get(key, value);
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    copies_.resize(std::max(copies_.size(), keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) {
      std::string_view value;
      values[i] = {};
      if (!get(keys[i], value)) continue;
      copies_[i].assign(value);
      values[i] = copies_[i];
    }
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    WT_CURSOR* const cursor = session_.at(key);
    int side = 0;
    int code = cursor->search_near(cursor, &side);
    if (code == 0 && side < 0) code = cursor->next(cursor);
    for (size_t i = 0; code == 0; ++i) {
      sink.add(session_.key(), session_.value());
      if (i == count) return;
      code = cursor->next(cursor);
    }
    if (code != WT_NOTFOUND) check_wiredtiger(code);
  }

  template <class Sink>
  void walk(Sink& sink) {
    WT_CURSOR* const cursor = session_.cursor();
    check_wiredtiger(cursor->reset(cursor));
    int code = cursor->next(cursor);
    for (; code == 0; code = cursor->next(cursor)) sink.add(session_.key(), session_.value());
    if (code != WT_NOTFOUND) check_wiredtiger(code);
  }

 private:
  Session session_;
  std::vector<std::string> copies_;
};

class WiredEngine : public Engine {
 public:
  ~WiredEngine() override {
    if (connection_ != nullptr) connection_->close(connection_, nullptr);
  }

  std::string version() const override { return wiredtiger_version(nullptr, nullptr, nullptr); }
  std::string settings() const override {
    return print_text("cache %s, log %s",
                      size_text(static_cast<double>(config_.memory_bytes)).c_str(),
                      config_.sync == SyncMode::kFull ? "synced" : "written, not synced");
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    const std::string options = print_text(
        "create,cache_size=%zu,log=(enabled=true,file_max=128MB),checkpoint=(log_size=1GB),"
        "transaction_sync=(enabled=true,method=%s),session_max=100",
        config.memory_bytes, config.sync == SyncMode::kFull ? "fsync" : "none");
    check_wiredtiger(wiredtiger_open(config.path.c_str(), nullptr, options.c_str(), &connection_));
    WT_SESSION* session = nullptr;
    check_wiredtiger(connection_->open_session(connection_, nullptr, nullptr, &session));
    check_wiredtiger(session->create(
        session, kTable, "key_format=u,value_format=u,leaf_page_max=16KB,memory_page_max=10MB"));
    check_wiredtiger(session->close(session, nullptr));
  }

  void close() override {
    WT_CONNECTION* const connection = connection_;
    connection_ = nullptr;
    check_wiredtiger(connection->close(connection, nullptr));
  }

  std::unique_ptr<Writer> writer() override { return std::make_unique<WiredWriter>(connection_); }
  std::unique_ptr<Reader> reader() override { return std::make_unique<WiredReader>(connection_); }

  void sync() override {
    with_session(
        [](WT_SESSION* session) { check_wiredtiger(session->log_flush(session, "sync=on")); });
  }
  void drain() override {}
  void settle() override {
    with_session(
        [](WT_SESSION* session) { check_wiredtiger(session->checkpoint(session, nullptr)); });
  }

  // Its statistics would tell, but they are off unless they slow everything else.
  bool is_log(std::string_view file_name) const override {
    return file_name.starts_with("WiredTigerLog") || file_name.starts_with("WiredTigerPreplog");
  }
  uint64_t reachable_bytes() override { return 0; }

 private:
  template <class F>
  void with_session(F&& f) {
    WT_SESSION* session = nullptr;
    check_wiredtiger(connection_->open_session(connection_, nullptr, nullptr, &session));
    f(session);
    check_wiredtiger(session->close(session, nullptr));
  }

  EngineConfig config_;
  WT_CONNECTION* connection_ = nullptr;
};

}  // namespace

std::unique_ptr<Engine> make_wiredtiger() { return std::make_unique<WiredEngine>(); }

}  // namespace hawthorn::bench
