// LMDB's API.

#include <lmdb.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "tests/environment/store.h"

namespace hawthorn::tests {
namespace {

Outcome outcome_of(int code) {
  if (code == MDB_SUCCESS) return {};
  // The engine's kUnknownOutcome, and what comes after it.
  const Ending ending = code == MDB_PANIC ? Ending::kUnknown : Ending::kRefused;
  return Outcome::of(ending, mdb_strerror(code));
}

MDB_val val(std::string_view text) {
  MDB_val made;
  made.mv_size = text.size();
  made.mv_data = const_cast<char*>(text.data());
  return made;
}
std::string_view view(const MDB_val& made) {
  return {static_cast<const char*>(made.mv_data), made.mv_size};
}

class LmdbStore final : public Store {
 public:
  Outcome open(const std::string& path) override {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return outcome_of(errno);
    int code = mdb_env_create(&env_);
    if (code != MDB_SUCCESS) return outcome_of(code);
    code = mdb_env_set_mapsize(env_, size_t{1} << 30);
    if (code == MDB_SUCCESS) code = mdb_env_set_maxdbs(env_, 4);
    if (code == MDB_SUCCESS) code = mdb_env_open(env_, path.c_str(), MDB_NOTLS, 0600);
    MDB_txn* transaction = nullptr;
    if (code == MDB_SUCCESS) code = mdb_txn_begin(env_, nullptr, 0, &transaction);
    if (code == MDB_SUCCESS) {
      code = mdb_dbi_open(transaction, "t", MDB_CREATE, &table_);
      code = code == MDB_SUCCESS ? mdb_txn_commit(transaction) : abort(transaction, code);
    }
    if (code != MDB_SUCCESS) static_cast<void>(close());
    return outcome_of(code);
  }

  Outcome close() override {
    mdb_env_close(std::exchange(env_, nullptr));
    return {};
  }

  Outcome write(unsigned, std::span<const Write> writes) override {
    MDB_txn* transaction = nullptr;
    int code = mdb_txn_begin(env_, nullptr, 0, &transaction);
    if (code != MDB_SUCCESS) return outcome_of(code);
    MDB_val key = val(writes[0].key);
    MDB_val value;
    code = mdb_get(transaction, table_, &key, &value);
    if (code == MDB_NOTFOUND) code = MDB_SUCCESS;
    for (const Write& write : writes) {
      if (code != MDB_SUCCESS) break;
      key = val(write.key);
      value = val(write.value);
      code = write.remove ? mdb_del(transaction, table_, &key, nullptr)
                          : mdb_put(transaction, table_, &key, &value, 0);
      if (write.remove && code == MDB_NOTFOUND) code = MDB_SUCCESS;
    }
    if (code != MDB_SUCCESS) return outcome_of(abort(transaction, code));
    return outcome_of(mdb_txn_commit(transaction));
  }

  Outcome get(unsigned thread, std::string_view key, std::string_view& value) override {
    MDB_txn* transaction = nullptr;
    int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &transaction);
    if (code != MDB_SUCCESS) return outcome_of(code);
    MDB_val of_key = val(key);
    MDB_val found;
    code = mdb_get(transaction, table_, &of_key, &found);
    if (code == MDB_SUCCESS) value = values_[thread].assign(view(found));
    abort(transaction, code);
    return code == MDB_NOTFOUND ? Outcome::of(Ending::kNone) : outcome_of(code);
  }

  Outcome scan(unsigned, std::string_view low, std::string_view high, Visit visit,
               void* context) override {
    MDB_txn* transaction = nullptr;
    int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &transaction);
    if (code != MDB_SUCCESS) return outcome_of(code);
    MDB_cursor* cursor = nullptr;
    code = mdb_cursor_open(transaction, table_, &cursor);
    if (code != MDB_SUCCESS) return outcome_of(abort(transaction, code));
    MDB_val key = val(low);
    MDB_val value;
    code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (code == MDB_SUCCESS && view(key) < high) {
      visit(context, view(key), view(value));
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return outcome_of(abort(transaction, code == MDB_NOTFOUND ? MDB_SUCCESS : code));
  }

  Outcome tend(unsigned, uint64_t) override { return outcome_of(mdb_env_sync(env_, 1)); }

  Outcome check(unsigned) override { return {}; }

 private:
  static int abort(MDB_txn* transaction, int code) {
    mdb_txn_abort(transaction);
    return code;
  }

  MDB_env* env_ = nullptr;
  MDB_dbi table_ = 0;
  std::array<std::string, kThreads> values_;
};

}  // namespace
}  // namespace hawthorn::tests

int main(int argc, char** argv) {
  using namespace hawthorn::tests;
  return run_environment(argc, argv, "lmdb", [] { return std::make_unique<LmdbStore>(); });
}
