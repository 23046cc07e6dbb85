#pragma once
// libmdbx's handles, each with its end, and its codes as Status.
//
// Used by dump.cc and load.cc. Threads: one object, one thread.

#include <mdbx.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "hawthorn/status.h"

namespace hawthorn::tools {

// `what`: to whom it happened. Not for MDBX_SUCCESS.
Status mdbx_error(int code, std::string_view what);

inline std::string_view mdbx_bytes(const MDBX_val& value) {
  if (value.iov_len == 0) return {};
  return {static_cast<const char*>(value.iov_base), value.iov_len};
}
inline MDBX_val mdbx_value(std::string_view bytes) {
  MDBX_val value{};
  value.iov_base = const_cast<char*>(bytes.data());
  value.iov_len = bytes.size();
  return value;
}

// How messages name a table.
std::string table_text(const std::optional<std::string>& name);

struct EndOfHandle {
  void operator()(MDBX_env* env) const { mdbx_env_close(env); }
  void operator()(MDBX_txn* txn) const { mdbx_txn_abort(txn); }
  void operator()(MDBX_cursor* cursor) const { mdbx_cursor_close(cursor); }
};
using EnvironmentHandle = std::unique_ptr<MDBX_env, EndOfHandle>;
using TransactionHandle = std::unique_ptr<MDBX_txn, EndOfHandle>;
using CursorHandle = std::unique_ptr<MDBX_cursor, EndOfHandle>;

// With room for one table beside the main one. `flags`: MDBX_RDONLY, where it has to be there; else
// it is created.
Result<EnvironmentHandle> open_environment(const std::string& directory, MDBX_env_flags_t flags);
Result<TransactionHandle> begin_transaction(MDBX_env* env, MDBX_txn_flags_t flags);
Result<CursorHandle> open_cursor(MDBX_txn* txn, MDBX_dbi table);
// `name`: nothing for the main table.
int open_mdbx_table(MDBX_txn* txn, const std::optional<std::string>& name, MDBX_db_flags_t flags,
                    MDBX_dbi* table);

}  // namespace hawthorn::tools
