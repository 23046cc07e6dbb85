#pragma once
// LMDB's handles and values as those of the core, and its codes for the core's.
//
// What it is not: an engine. A handle of LMDB is the core's object of the same kind; an environment
// has some more, which only LMDB's API knows.
//
// Threads: as of the core's objects; functions without state.

#include <lmdb.h>

#include <atomic>
#include <string>
#include <vector>

#include "shims/mdbx/src/common.h"
#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/environment.h"
#include "shims/mdbx/src/transaction.h"

namespace hawthorn::lmdb {

using hawthorn::mdbx::Compare;
using hawthorn::mdbx::exception_code;
using hawthorn::mdbx::fail_by_exception;
using hawthorn::mdbx::TxnTable;

// Bytes that a key, or a value of a key with several, may have.
constexpr size_t kKeyMax = hawthorn::mdbx::kMultiKeyMax;
constexpr uint64_t kDefaultMapSize = 10485760;

// An order that a program has set, by mdb_set_compare and mdb_set_dupsort.
struct Orders {
  std::string table;
  bool main = false;
  MDB_dbi dbi = 0;
  Compare keys = nullptr;
  Compare values = nullptr;
};

struct Env : MDBX_env {
  Env() { lmdb = true; }
  ~Env();

  // Whether calls may be made; `open`: also those that need it opened.
  static int check(const MDB_env* env, bool open);
  // The flags of the core that do what those of LMDB ask for.
  void take_flags(unsigned lmdb_flags);

  unsigned asked = 0;  // flags as LMDB's
  MDB_assert_func* on_assert = nullptr;
  int directory = -1;            // mdb_env_get_fd
  std::vector<Orders> orders{};  // holding `mutex`
  std::atomic<size_t> orders_count{0};
};

inline Env* core(MDB_env* env) { return reinterpret_cast<Env*>(env); }
inline const Env* core(const MDB_env* env) { return reinterpret_cast<const Env*>(env); }
inline MDBX_txn* core(MDB_txn* txn) { return reinterpret_cast<MDBX_txn*>(txn); }
inline MDBX_cursor* core(MDB_cursor* cursor) { return reinterpret_cast<MDBX_cursor*>(cursor); }
inline Env* env_of(const MDBX_txn& txn) { return static_cast<Env*>(txn.env); }

inline MDBX_val core(const MDB_val& value) {
  MDBX_val same;
  same.iov_base = value.mv_data;
  same.iov_len = value.mv_size;
  return same;
}
inline void give(const MDBX_val& value, MDB_val* out) {
  if (out == nullptr) return;
  out->mv_data = value.iov_base;
  out->mv_size = static_cast<size_t>(value.iov_len);
}
inline std::string_view view(const MDB_val& value) { return hawthorn::mdbx::view(core(value)); }

// LMDB's code for one of the core's.
int answer(int code);

// A table for reading or for a write: EINVAL, MDB_BAD_TXN, EACCES, MDB_INCOMPATIBLE where the
// program has to set its order. Codes are LMDB's.
int find(MDBX_txn* txn, MDB_dbi dbi, bool write, TxnTable** table);
// Whether a cursor may be used so. Codes are LMDB's.
int check(MDBX_cursor* cursor, bool write);

// The function of the core that calls this one; null: a process has no more than kFunctions.
Compare function_for(MDB_cmp_func* compare);
constexpr size_t kFunctions = 128;

// Before a put: gives an empty table the orders that the program has set for it, if they are such;
// then it is another TxnTable. Codes are LMDB's.
int settle_orders(MDBX_txn* txn, MDB_dbi dbi, const MDBX_val& key, const MDBX_val& value);
// How keys, or values of a key, are compared.
Compare order_of(MDBX_txn* txn, MDB_dbi dbi, const TxnTable& table, bool of_keys);
void forget_orders(Env& env, MDB_dbi dbi);

}  // namespace hawthorn::lmdb
