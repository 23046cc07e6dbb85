// libmdbx without syncs, with and without a writable map; or, compiled against our header of its
// API, this engine by that. One write transaction is one batch; read
// transactions are renewed; updates go through the cursor that found the key; cursors of writers
// are bound again instead of opened again.

#include <mdbx.h>

#include <array>

#include "bench/engine_registry.h"
#include "bench/text.h"

namespace hawthorn::bench {
namespace {

void check(int code) {
  if (code == MDBX_SUCCESS || code == MDBX_RESULT_TRUE) return;
  const bool full = code == MDBX_MAP_FULL || code == ENOSPC;
  throw EngineError(std::string(code == MDBX_MAP_FULL ? "MAP_FULL: " : "") + mdbx_strerror(code),
                    full ? EngineError::Kind::kFull : EngineError::Kind::kOther);
}

MDBX_val val(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }
std::string_view view(const MDBX_val& value) {
  return {static_cast<const char*>(value.iov_base), value.iov_len};
}

class MdbxWriter : public Writer {
 public:
  MdbxWriter(MDBX_env* env, MDBX_dbi dbi) : env_(env), dbi_(dbi) {
    for (MDBX_cursor*& cursor : cursors_) cursor = mdbx_cursor_create(nullptr);
  }
  ~MdbxWriter() override {
    for (MDBX_cursor* cursor : cursors_) mdbx_cursor_close(cursor);
    if (txn_ != nullptr) mdbx_txn_abort(txn_);
  }

  void begin(WriteIntent) override {
    check(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn_));
    bound_.fill(false);
  }

  void commit() override {
    MDBX_txn* const txn = txn_;
    txn_ = nullptr;
    check(mdbx_txn_commit(txn));
  }

  bool get(std::string_view key, std::string_view& value) override {
    const MDBX_val k = val(key);
    MDBX_val v;
    const int code = mdbx_get(txn_, dbi_, &k, &v);
    if (code == MDBX_NOTFOUND) return false;
    check(code);
    value = view(v);
    return true;
  }

  void put(std::string_view key, std::string_view value) override {
    put_with(key, value, MDBX_UPSERT);
  }
  void append(std::string_view key, std::string_view value) override {
    put_with(key, value, MDBX_APPEND);
  }

  void del(std::string_view key) override {
    const MDBX_val k = val(key);
    const int code = mdbx_del(txn_, dbi_, &k, nullptr);
    if (code != MDBX_NOTFOUND) check(code);
  }

  bool get_for_update(unsigned slot, std::string_view key, std::string_view& value) override {
    if (!bound_[slot]) check(mdbx_cursor_bind(txn_, cursors_[slot], dbi_));
    bound_[slot] = true;
    MDBX_val k = val(key);
    MDBX_val v;
    const int code = mdbx_cursor_get(cursors_[slot], &k, &v, MDBX_SET_KEY);
    if (code == MDBX_NOTFOUND) return false;
    check(code);
    value = view(v);
    return true;
  }

  void update(unsigned slot, std::string_view key, std::string_view value) override {
    const MDBX_val k = val(key);
    MDBX_val v = val(value);
    check(mdbx_cursor_put(cursors_[slot], &k, &v, MDBX_CURRENT));
  }

 private:
  void put_with(std::string_view key, std::string_view value, MDBX_put_flags_t flags) {
    const MDBX_val k = val(key);
    MDBX_val v = val(value);
    check(mdbx_put(txn_, dbi_, &k, &v, flags));
  }

  MDBX_env* const env_;
  const MDBX_dbi dbi_;
  MDBX_txn* txn_ = nullptr;
  std::array<MDBX_cursor*, 2> cursors_{};
  std::array<bool, 2> bound_{};
};

class MdbxReader : public ReaderOf<MdbxReader> {
 public:
  MdbxReader(MDBX_env* env, MDBX_dbi dbi) : dbi_(dbi), cursor_(mdbx_cursor_create(nullptr)) {
    check(mdbx_txn_begin(env, nullptr, MDBX_TXN_RDONLY, &txn_));
    check(mdbx_txn_reset(txn_));
  }
  ~MdbxReader() override {
    mdbx_cursor_close(cursor_);
    mdbx_txn_abort(txn_);
  }

  void begin(View) override {
    check(mdbx_txn_renew(txn_));
    bound_ = false;
  }
  void end() override { check(mdbx_txn_reset(txn_)); }

  bool get(std::string_view key, std::string_view& value) override {
    const MDBX_val k = val(key);
    MDBX_val v;
    const int code = mdbx_get(txn_, dbi_, &k, &v);
    if (code == MDBX_NOTFOUND) return false;
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
    MDBX_cursor* const at = cursor();
    MDBX_val k = val(key);
    MDBX_val v;
    int code = mdbx_cursor_get(at, &k, &v, MDBX_SET_RANGE);
    for (size_t i = 0; code == MDBX_SUCCESS; ++i) {
      sink.add(view(k), view(v));
      if (i == count) return;
      code = mdbx_cursor_get(at, &k, &v, MDBX_NEXT);
    }
    if (code != MDBX_NOTFOUND) check(code);
  }

  template <class Sink>
  void walk(Sink& sink) {
    MDBX_cursor* const at = cursor();
    MDBX_val k;
    MDBX_val v;
    int code = mdbx_cursor_get(at, &k, &v, MDBX_FIRST);
    while (code == MDBX_SUCCESS) {
      sink.add(view(k), view(v));
      code = mdbx_cursor_get(at, &k, &v, MDBX_NEXT);
    }
    if (code != MDBX_NOTFOUND) check(code);
  }

  // A page at a time: keys and values alternate in the array.
  template <class Sink>
  void walk_batch(Sink& sink) {
    MDBX_cursor* const at = cursor();
    std::array<MDBX_val, 512> pairs;
    size_t count = 0;
    int code = mdbx_cursor_get_batch(at, &count, pairs.data(), pairs.size(), MDBX_FIRST);
    while (code == MDBX_SUCCESS || code == MDBX_RESULT_TRUE) {
      for (size_t i = 0; i < count; i += 2) sink.add(view(pairs[i]), view(pairs[i + 1]));
      code = mdbx_cursor_get_batch(at, &count, pairs.data(), pairs.size(), MDBX_NEXT);
    }
    if (code != MDBX_NOTFOUND) check(code);
  }

 private:
  MDBX_cursor* cursor() {
    if (!bound_) check(mdbx_cursor_bind(txn_, cursor_, dbi_));
    bound_ = true;
    return cursor_;
  }

  const MDBX_dbi dbi_;
  MDBX_cursor* const cursor_;
  MDBX_txn* txn_ = nullptr;
  bool bound_ = false;
};

class MdbxEngine : public Engine {
 public:
  explicit MdbxEngine(bool writemap) : writemap_(writemap) {}
  ~MdbxEngine() override {
    if (env_ != nullptr) mdbx_env_close(env_);
  }

  std::string version() const override {
    return print_text("libmdbx %u.%u.%u", mdbx_version.major, mdbx_version.minor,
                      mdbx_version.patch);
  }

  std::string settings() const override {
#ifdef HAWTHORN_BENCH_OVER_HAWTHORN
    return print_text("%s, memory budget %s",
                      config_.sync == SyncMode::kFull ? "synced" : "MDBX_UTTERLY_NOSYNC",
                      size_text(static_cast<double>(config_.memory_bytes)).c_str());
#else
    return print_text("%s%s, MDBX_LIFORECLAIM, map of %s%s",
                      config_.sync == SyncMode::kFull ? "synced" : "MDBX_UTTERLY_NOSYNC",
                      writemap_ ? " and MDBX_WRITEMAP (a killed process may destroy the file)" : "",
                      size_text(static_cast<double>(config_.map_bytes)).c_str(),
                      config_.sync == SyncMode::kAsync ? ", it has no level between" : "");
#endif
  }

  void open(const EngineConfig& config) override {
    config_ = config;
    check(mdbx_env_create(&env_));
#ifdef HAWTHORN_BENCH_OVER_HAWTHORN
    check(mdbx_env_set_option(env_, MDBX_opt_hawthorn_memory, config.memory_bytes));
#endif
    check(mdbx_env_set_option(env_, MDBX_opt_prefault_write_enable, config.pretouch ? 1 : 0));
    check(mdbx_env_set_geometry(env_, -1, -1, static_cast<intptr_t>(config.map_bytes), 64 << 20, -1,
                                -1));
    MDBX_env_flags_t flags = MDBX_NOSTICKYTHREADS | MDBX_NORDAHEAD | MDBX_NOMEMINIT |
                             MDBX_LIFORECLAIM | MDBX_SYNC_DURABLE;
    if (config.sync != SyncMode::kFull) flags |= MDBX_UTTERLY_NOSYNC;
    if (writemap_) flags |= MDBX_WRITEMAP;
    check(mdbx_env_open(env_, config.path.c_str(), flags, 0644));
    MDBX_txn* txn = nullptr;
    check(mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &txn));
    check(mdbx_dbi_open(txn, nullptr, MDBX_CREATE, &dbi_));
    check(mdbx_txn_commit(txn));
  }

  void close() override {
    MDBX_env* const env = env_;
    env_ = nullptr;
    check(mdbx_env_close(env));
  }

  std::unique_ptr<Writer> writer() override { return std::make_unique<MdbxWriter>(env_, dbi_); }
  std::unique_ptr<Reader> reader() override { return std::make_unique<MdbxReader>(env_, dbi_); }

  void sync() override { check(mdbx_env_sync_ex(env_, true, false)); }
  void drain() override {}

  uint64_t reachable_bytes() override {
#ifdef HAWTHORN_BENCH_OVER_HAWTHORN
    // Its pages do not count what is only in the log yet.
    MDBX_envinfo info;
    check(mdbx_env_info_ex(env_, nullptr, &info, sizeof info));
    return (info.mi_last_pgno + 1) * info.mi_dxb_pagesize;
#else
    MDBX_stat stat;
    check(mdbx_env_stat_ex(env_, nullptr, &stat, sizeof stat));
    return (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) * stat.ms_psize;
#endif
  }

 private:
  const bool writemap_;
  EngineConfig config_;
  MDBX_env* env_ = nullptr;
  MDBX_dbi dbi_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_mdbx(bool writemap) { return std::make_unique<MdbxEngine>(writemap); }

}  // namespace hawthorn::bench
