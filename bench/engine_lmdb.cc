// LMDB without syncs, with and without a writable map. One write transaction is one batch; a read
// transaction is renewed, not begun again; updates go through the cursor that found the key.

#include <lmdb.h>

#include <array>

#include "bench/engine_registry.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

void check(int code) {
  if (code == MDB_SUCCESS) return;
  const bool full = code == MDB_MAP_FULL || code == ENOSPC;
  throw EngineError(std::string(code == MDB_MAP_FULL ? "MAP_FULL: " : "") + mdb_strerror(code),
                    full ? EngineError::Kind::kFull : EngineError::Kind::kOther);
}

MDB_val val(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }
std::string_view view(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

class LmdbWriter : public Writer {
 public:
  LmdbWriter(MDB_env* env, MDB_dbi dbi) : env_(env), dbi_(dbi) {}
  ~LmdbWriter() override {
    // Cursors of a write transaction end with it.
    if (txn_ != nullptr) mdb_txn_abort(txn_);
  }

  void begin(WriteIntent) override {
    check(mdb_txn_begin(env_, nullptr, 0, &txn_));
    cursors_.fill(nullptr);
  }

  void commit() override {
    MDB_txn* const txn = txn_;
    txn_ = nullptr;
    check(mdb_txn_commit(txn));
  }

  bool get(std::string_view key, std::string_view& value) override {
    MDB_val k = val(key);
    MDB_val v;
    const int code = mdb_get(txn_, dbi_, &k, &v);
    if (code == MDB_NOTFOUND) return false;
    check(code);
    value = view(v);
    return true;
  }

  void put(std::string_view key, std::string_view value) override { put_with(key, value, 0); }
  void append(std::string_view key, std::string_view value) override {
    put_with(key, value, MDB_APPEND);
  }

  void del(std::string_view key) override {
    MDB_val k = val(key);
    const int code = mdb_del(txn_, dbi_, &k, nullptr);
    if (code != MDB_NOTFOUND) check(code);
  }

  bool get_for_update(unsigned slot, std::string_view key, std::string_view& value) override {
    if (cursors_[slot] == nullptr) check(mdb_cursor_open(txn_, dbi_, &cursors_[slot]));
    MDB_val k = val(key);
    MDB_val v;
    const int code = mdb_cursor_get(cursors_[slot], &k, &v, MDB_SET_KEY);
    if (code == MDB_NOTFOUND) return false;
    check(code);
    value = view(v);
    return true;
  }

  void update(unsigned slot, std::string_view key, std::string_view value) override {
    MDB_val k = val(key);
    MDB_val v = val(value);
    check(mdb_cursor_put(cursors_[slot], &k, &v, MDB_CURRENT));
  }

 private:
  void put_with(std::string_view key, std::string_view value, unsigned flags) {
    MDB_val k = val(key);
    MDB_val v = val(value);
    check(mdb_put(txn_, dbi_, &k, &v, flags));
  }

  MDB_env* const env_;
  const MDB_dbi dbi_;
  MDB_txn* txn_ = nullptr;
  std::array<MDB_cursor*, 2> cursors_{};
};

class LmdbReader : public ReaderOf<LmdbReader> {
 public:
  LmdbReader(MDB_env* env, MDB_dbi dbi) : dbi_(dbi) {
    check(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn_));
    mdb_txn_reset(txn_);
  }
  ~LmdbReader() override {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
    mdb_txn_abort(txn_);
  }

  void begin(View) override {
    check(mdb_txn_renew(txn_));
    cursor_is_current_ = false;
  }
  void end() override { mdb_txn_reset(txn_); }

  bool get(std::string_view key, std::string_view& value) override {
    MDB_val k = val(key);
    MDB_val v;
    const int code = mdb_get(txn_, dbi_, &k, &v);
    if (code == MDB_NOTFOUND) return false;
    check(code);
    value = view(v);
    return true;
  }

  void multi_get(std::span<const std::string_view> keys,
                 std::span<std::string_view> values) override {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!get(keys[i], values[i])) values[i] = {};
    }
  }

  template <class Sink>
  void seek_from(std::string_view key, size_t count, Sink& sink) {
    MDB_cursor* const at = cursor();
    MDB_val k = val(key);
    MDB_val v;
    int code = mdb_cursor_get(at, &k, &v, MDB_SET_RANGE);
    for (size_t i = 0; code == MDB_SUCCESS; ++i) {
      sink.add(view(k), view(v));
      if (i == count) return;
      code = mdb_cursor_get(at, &k, &v, MDB_NEXT);
    }
    if (code != MDB_NOTFOUND) check(code);
  }

  template <class Sink>
  void walk(Sink& sink) {
    MDB_cursor* const at = cursor();
    MDB_val k;
    MDB_val v;
    int code = mdb_cursor_get(at, &k, &v, MDB_FIRST);
    while (code == MDB_SUCCESS) {
      sink.add(view(k), view(v));
      code = mdb_cursor_get(at, &k, &v, MDB_NEXT);
    }
    if (code != MDB_NOTFOUND) check(code);
  }

 private:
  MDB_cursor* cursor() {
    if (cursor_ == nullptr) {
      check(mdb_cursor_open(txn_, dbi_, &cursor_));
    } else if (!cursor_is_current_) {
      check(mdb_cursor_renew(txn_, cursor_));
    }
    cursor_is_current_ = true;
    return cursor_;
  }

  const MDB_dbi dbi_;
  MDB_txn* txn_ = nullptr;
  MDB_cursor* cursor_ = nullptr;
  bool cursor_is_current_ = false;
};

class LmdbEngine : public Engine {
 public:
  explicit LmdbEngine(bool writemap) : writemap_(writemap) {}
  ~LmdbEngine() override { LmdbEngine::close(); }

  std::string version() const override { return mdb_version(nullptr, nullptr, nullptr); }

  std::string settings() const override {
    return print_text("%s%s, map of %s%s",
                      config_.sync == SyncMode::kFull ? "synced" : "MDB_NOSYNC",
                      writemap_ ? " and MDB_WRITEMAP (a killed process may destroy the file)" : "",
                      size_text(static_cast<double>(config_.map_bytes)).c_str(),
                      config_.sync == SyncMode::kAsync ? ", it has no level between" : "");
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    check(mdb_env_create(&env_));
    check(mdb_env_set_mapsize(env_, config.map_bytes));
    // Pages are read where they are needed: reading ahead would fill the memory with others.
    unsigned flags = MDB_NOTLS | MDB_NORDAHEAD | MDB_NOMEMINIT;
    if (config.sync != SyncMode::kFull) flags |= MDB_NOSYNC;
    if (writemap_) flags |= MDB_WRITEMAP;
    check(mdb_env_open(env_, config.path.c_str(), flags, 0644));
    MDB_txn* txn = nullptr;
    check(mdb_txn_begin(env_, nullptr, 0, &txn));
    check(mdb_dbi_open(txn, nullptr, MDB_CREATE, &dbi_));
    check(mdb_txn_commit(txn));
  }

  void close() override {
    if (env_ != nullptr) mdb_env_close(env_);
    env_ = nullptr;
  }

  std::unique_ptr<Writer> writer() override { return std::make_unique<LmdbWriter>(env_, dbi_); }
  std::unique_ptr<Reader> reader() override { return std::make_unique<LmdbReader>(env_, dbi_); }

  void sync() override { check(mdb_env_sync(env_, 1)); }
  void drain() override {}

  uint64_t reachable_bytes() override {
    MDB_stat stat;
    check(mdb_env_stat(env_, &stat));
    return (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) * stat.ms_psize;
  }

 private:
  const bool writemap_;
  EngineConfig config_;
  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_lmdb(bool writemap) { return std::make_unique<LmdbEngine>(writemap); }

}  // namespace hawthorn::bench
