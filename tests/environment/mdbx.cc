// libmdbx's API.

#include <mdbx.h>

#include <array>
#include <memory>
#include <utility>

#include "tests/environment/store.h"

namespace hawthorn::tests {
namespace {

Outcome outcome_of(int code) {
  if (code == MDBX_SUCCESS) return {};
  // The engine's kUnknownOutcome, and what comes after it.
  const Ending ending = code == MDBX_PANIC ? Ending::kUnknown : Ending::kRefused;
  return Outcome::of(ending, mdbx_strerror(code));
}

MDBX_val val(std::string_view text) {
  MDBX_val made;
  made.iov_len = text.size();
  made.iov_base = const_cast<char*>(text.data());
  return made;
}
std::string_view view(const MDBX_val& made) {
  return {static_cast<const char*>(made.iov_base), made.iov_len};
}

class MdbxStore final : public Store {
 public:
  Outcome open(const std::string& path) override {
    int code = mdbx_env_create(&env_);
    if (code != MDBX_SUCCESS) return outcome_of(code);
    code = mdbx_env_set_option(env_, MDBX_opt_hawthorn_memory, 16 << 20);
    if (code == MDBX_SUCCESS) code = mdbx_env_set_maxdbs(env_, 4);
    if (code == MDBX_SUCCESS) {
      code = mdbx_env_open(env_, path.c_str(), MDBX_SYNC_DURABLE, 0600);
    }
    MDBX_txn* transaction = nullptr;
    if (code == MDBX_SUCCESS)
      code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &transaction);
    if (code == MDBX_SUCCESS) {
      code = mdbx_dbi_open(transaction, "t", MDBX_CREATE, &table_);
      code = code == MDBX_SUCCESS ? mdbx_txn_commit(transaction) : abort(transaction, code);
    }
    if (code != MDBX_SUCCESS) static_cast<void>(close());
    return outcome_of(code);
  }

  Outcome close() override { return outcome_of(mdbx_env_close(std::exchange(env_, nullptr))); }

  Outcome write(unsigned, std::span<const Write> writes) override {
    MDBX_txn* transaction = nullptr;
    int code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_READWRITE, &transaction);
    if (code != MDBX_SUCCESS) return outcome_of(code);
    MDBX_val key = val(writes[0].key);
    MDBX_val value;
    code = mdbx_get(transaction, table_, &key, &value);
    if (code == MDBX_NOTFOUND) code = MDBX_SUCCESS;
    for (const Write& write : writes) {
      if (code != MDBX_SUCCESS) break;
      key = val(write.key);
      value = val(write.value);
      code = write.remove ? mdbx_del(transaction, table_, &key, nullptr)
                          : mdbx_put(transaction, table_, &key, &value, MDBX_UPSERT);
      if (write.remove && code == MDBX_NOTFOUND) code = MDBX_SUCCESS;
    }
    if (code != MDBX_SUCCESS) return outcome_of(abort(transaction, code));
    return outcome_of(mdbx_txn_commit(transaction));
  }

  Outcome get(unsigned thread, std::string_view key, std::string_view& value) override {
    MDBX_txn* transaction = nullptr;
    int code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &transaction);
    if (code != MDBX_SUCCESS) return outcome_of(code);
    MDBX_val of_key = val(key);
    MDBX_val found;
    code = mdbx_get(transaction, table_, &of_key, &found);
    if (code == MDBX_SUCCESS) value = values_[thread].assign(view(found));
    abort(transaction, code);
    return code == MDBX_NOTFOUND ? Outcome::of(Ending::kNone) : outcome_of(code);
  }

  Outcome scan(unsigned, std::string_view low, std::string_view high, Visit visit,
               void* context) override {
    MDBX_txn* transaction = nullptr;
    int code = mdbx_txn_begin(env_, nullptr, MDBX_TXN_RDONLY, &transaction);
    if (code != MDBX_SUCCESS) return outcome_of(code);
    MDBX_cursor* cursor = nullptr;
    code = mdbx_cursor_open(transaction, table_, &cursor);
    if (code != MDBX_SUCCESS) return outcome_of(abort(transaction, code));
    MDBX_val key = val(low);
    MDBX_val value;
    code = mdbx_cursor_get(cursor, &key, &value, MDBX_SET_RANGE);
    while (code == MDBX_SUCCESS && view(key) < high) {
      visit(context, view(key), view(value));
      code = mdbx_cursor_get(cursor, &key, &value, MDBX_NEXT);
    }
    mdbx_cursor_close(cursor);
    return outcome_of(abort(transaction, code == MDBX_NOTFOUND ? MDBX_SUCCESS : code));
  }

  Outcome tend(unsigned, uint64_t) override {
    const int code = mdbx_env_sync_ex(env_, true, false);
    return outcome_of(code == MDBX_RESULT_TRUE ? MDBX_SUCCESS : code);
  }

  Outcome check(unsigned) override { return {}; }

 private:
  static int abort(MDBX_txn* transaction, int code) {
    mdbx_txn_abort(transaction);
    return code;
  }

  MDBX_env* env_ = nullptr;
  MDBX_dbi table_ = 0;
  std::array<std::string, kThreads> values_;
};

}  // namespace
}  // namespace hawthorn::tests

int main(int argc, char** argv) {
  using namespace hawthorn::tests;
  return run_environment(argc, argv, "mdbx", [] { return std::make_unique<MdbxStore>(); });
}
