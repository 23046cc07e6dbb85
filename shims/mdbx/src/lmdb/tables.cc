// The functions of tables and their entries.

#include <cerrno>
#include <cstring>

#include "shims/mdbx/src/lmdb/layer.h"
#include "shims/mdbx/src/writes.h"

namespace hawthorn::lmdb {
namespace {

constexpr unsigned kPersistent =
    MDB_REVERSEKEY | MDB_DUPSORT | MDB_INTEGERKEY | MDB_DUPFIXED | MDB_INTEGERDUP | MDB_REVERSEDUP;
constexpr unsigned kPutFlags =
    MDB_NOOVERWRITE | MDB_NODUPDATA | MDB_RESERVE | MDB_APPEND | MDB_APPENDDUP;

static_assert(kPersistent == mdbx::kPersistentFlags && MDB_CREATE == MDBX_CREATE);
static_assert(MDB_REVERSEKEY == MDBX_REVERSEKEY && MDB_DUPSORT == MDBX_DUPSORT);
static_assert(MDB_INTEGERKEY == MDBX_INTEGERKEY && MDB_DUPFIXED == MDBX_DUPFIXED);
static_assert(MDB_INTEGERDUP == MDBX_INTEGERDUP && MDB_REVERSEDUP == MDBX_REVERSEDUP);

// The flags of a table that says the same: LMDB takes all of them together, and some mean nothing
// beside others.
unsigned shape_of(unsigned flags) {
  flags &= kPersistent;
  if (!(flags & MDB_DUPSORT)) flags &= ~unsigned{MDB_DUPFIXED | MDB_INTEGERDUP | MDB_REVERSEDUP};
  if (flags & MDB_REVERSEKEY) flags &= ~unsigned{MDB_INTEGERKEY};
  // Integers have a size.
  if (flags & MDB_INTEGERDUP) flags = (flags | MDB_DUPFIXED) & ~unsigned{MDB_REVERSEDUP};
  return flags;
}

int open_main(MDBX_txn& txn, unsigned flags, MDB_dbi* dbi) {
  TxnTable* main = nullptr;
  if (const int code = txn.table(mdbx::kMainDbi, &main); code != MDBX_SUCCESS) return code;
  // Flags are added to those that it has.
  const unsigned has = main->table->record.flags;
  const unsigned shape = shape_of(has | flags);
  MDBX_dbi same = mdbx::kMainDbi;
  if (shape != has) {
    const int code = txn.open_table(nullptr, shape | MDBX_CREATE, &same, nullptr, nullptr);
    if (code != MDBX_SUCCESS) return code;
  }
  *dbi = same;
  return MDBX_SUCCESS;
}

int open_named(MDBX_txn& txn, std::string_view name, unsigned flags, MDB_dbi* dbi) {
  if (name.empty() || name.size() > kKeyMax) return MDB_BAD_VALSIZE;
  TxnTable* main = nullptr;
  if (const int code = txn.table(mdbx::kMainDbi, &main); code != MDBX_SUCCESS) return code;
  // Names cannot be keys of such a main table.
  if (main->table->record.flags & (MDB_DUPSORT | MDB_INTEGERKEY)) {
    return flags & MDB_CREATE ? MDB_INCOMPATIBLE : MDB_NOTFOUND;
  }
  MDBX_dbi found = 0;
  const MDBX_val bytes = mdbx::val(name);
  // One that is there is what it is, whatever flags say.
  int code = txn.open_table(&bytes, unsigned{MDBX_DB_ACCEDE}, &found, nullptr, nullptr);
  if (code == MDBX_NOTFOUND && (flags & MDB_CREATE)) {
    code = txn.open_table(&bytes, shape_of(flags) | MDBX_CREATE, &found, nullptr, nullptr);
  }
  if (code == MDBX_SUCCESS) *dbi = found;
  return code;
}

}  // namespace
}  // namespace hawthorn::lmdb

using hawthorn::lmdb::answer;
using hawthorn::lmdb::core;
using hawthorn::lmdb::Env;
using hawthorn::lmdb::TxnTable;
using hawthorn::mdbx::Write;
namespace lmdb_shim = hawthorn::lmdb;

int mdb_dbi_open(MDB_txn* txn, const char* name, unsigned int flags, MDB_dbi* dbi) try {
  if (dbi == nullptr || (flags & ~(lmdb_shim::kPersistent | MDB_CREATE))) return EINVAL;
  if (const int code = MDBX_txn::check(core(txn), MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) {
    return answer(code);
  }
  MDBX_txn& mine = *core(txn);
  return answer(name == nullptr ? lmdb_shim::open_main(mine, flags, dbi)
                                : lmdb_shim::open_named(mine, name, flags, dbi));
} catch (...) {
  return lmdb_shim::fail_by_exception(core(txn));
}

void mdb_dbi_close(MDB_env* env, MDB_dbi dbi) try {
  if (Env::check(env, true) != MDB_SUCCESS || dbi < hawthorn::mdbx::kCoreDbis) return;
  if (mdbx_dbi_close(core(env), dbi) == MDBX_SUCCESS) lmdb_shim::forget_orders(*core(env), dbi);
} catch (...) {
  return;
}

int mdb_stat(MDB_txn* txn, MDB_dbi dbi, MDB_stat* stat) try {
  if (stat == nullptr || txn == nullptr) return EINVAL;
  TxnTable* table = nullptr;
  if (const int code = lmdb_shim::find(core(txn), dbi, false, &table); code != MDB_SUCCESS) {
    return code;
  }
  MDBX_stat all;
  const int code = core(txn)->stat(table, &all, sizeof(all));
  if (code != MDBX_SUCCESS) return answer(code);
  stat->ms_psize = all.ms_psize;
  stat->ms_depth = all.ms_depth;
  stat->ms_branch_pages = static_cast<size_t>(all.ms_branch_pages);
  stat->ms_leaf_pages = static_cast<size_t>(all.ms_leaf_pages);
  stat->ms_overflow_pages = static_cast<size_t>(all.ms_overflow_pages);
  stat->ms_entries = static_cast<size_t>(all.ms_entries);
  return MDB_SUCCESS;
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_dbi_flags(MDB_txn* txn, MDB_dbi dbi, unsigned int* flags) try {
  if (flags == nullptr || txn == nullptr) return EINVAL;
  TxnTable* table = nullptr;
  const int checked = MDBX_txn::check(core(txn), MDBX_TXN_BLOCKED & ~unsigned{MDBX_TXN_ERROR});
  if (checked != MDBX_SUCCESS) return answer(checked);
  if (dbi == hawthorn::mdbx::kGarbageDbi || core(txn)->table(dbi, &table) != MDBX_SUCCESS) {
    return EINVAL;
  }
  *flags = table->table->record.flags;
  return MDB_SUCCESS;
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_drop(MDB_txn* txn, MDB_dbi dbi, int del) try {
  if (txn == nullptr || (del != 0 && del != 1) || dbi == hawthorn::mdbx::kGarbageDbi) return EINVAL;
  TxnTable* table = nullptr;
  // Also without the order that a program has set: nothing is compared.
  if (const int code = lmdb_shim::find(core(txn), dbi, true, &table);
      code != MDB_SUCCESS && code != MDB_INCOMPATIBLE) {
    return code;
  }
  return answer(core(txn)->drop_table(dbi, del == 1));
} catch (...) {
  return lmdb_shim::fail_by_exception(core(txn));
}

int mdb_set_relfunc(MDB_txn* txn, MDB_dbi dbi, MDB_rel_func*) {
  unsigned flags = 0;
  return mdb_dbi_flags(txn, dbi, &flags);
}

int mdb_set_relctx(MDB_txn* txn, MDB_dbi dbi, void*) {
  unsigned flags = 0;
  return mdb_dbi_flags(txn, dbi, &flags);
}

int mdb_get(MDB_txn* txn, MDB_dbi dbi, MDB_val* key, MDB_val* data) try {
  if (key == nullptr || data == nullptr || txn == nullptr) return EINVAL;
  TxnTable* table = nullptr;
  if (const int code = lmdb_shim::find(core(txn), dbi, false, &table); code != MDB_SUCCESS) {
    return code;
  }
  if (key->mv_size == 0) return MDB_BAD_VALSIZE;
  // Longer than any that there can be.
  if (key->mv_size > lmdb_shim::kKeyMax) return MDB_NOTFOUND;
  MDBX_val value;
  const MDBX_val asked = core(*key);
  int code = hawthorn::mdbx::check_key(*core(txn), *table, asked);
  if (code == MDBX_SUCCESS) code = core(txn)->get(table, lmdb_shim::view(*key), &value);
  if (code == MDBX_SUCCESS) lmdb_shim::give(value, data);
  return answer(code);
} catch (...) {
  return lmdb_shim::exception_code();
}

int mdb_put(MDB_txn* txn, MDB_dbi dbi, MDB_val* key, MDB_val* data, unsigned int flags) try {
  if (key == nullptr || data == nullptr || txn == nullptr) return EINVAL;
  if ((flags & ~lmdb_shim::kPutFlags) || dbi == hawthorn::mdbx::kGarbageDbi) return EINVAL;
  TxnTable* table = nullptr;
  if (const int code = lmdb_shim::find(core(txn), dbi, true, &table); code != MDB_SUCCESS) {
    return code;
  }
  const bool several = table->table->multi();
  if (several && (flags & MDB_RESERVE)) return MDB_INCOMPATIBLE;
  if (key->mv_size == 0 || key->mv_size > lmdb_shim::kKeyMax ||
      (several && data->mv_size > lmdb_shim::kKeyMax)) {
    return MDB_BAD_VALSIZE;
  }
  const MDBX_val same_key = core(*key);
  MDBX_val value = core(*data);
  int settled = lmdb_shim::settle_orders(core(txn), dbi, same_key, value);
  if (settled == MDB_SUCCESS) settled = answer(core(txn)->table(dbi, &table));
  if (settled != MDB_SUCCESS) return settled;
  const int code = Write(core(txn), table, nullptr).put(&same_key, &value, flags);
  if (code == MDBX_KEYEXIST || (code == MDBX_SUCCESS && (flags & MDB_RESERVE))) {
    lmdb_shim::give(value, data);
  }
  return answer(code);
} catch (...) {
  return lmdb_shim::fail_by_exception(core(txn));
}

int mdb_del(MDB_txn* txn, MDB_dbi dbi, MDB_val* key, MDB_val* data) try {
  if (key == nullptr || txn == nullptr || dbi == hawthorn::mdbx::kGarbageDbi) return EINVAL;
  TxnTable* table = nullptr;
  if (const int code = lmdb_shim::find(core(txn), dbi, true, &table); code != MDB_SUCCESS) {
    return code;
  }
  if (key->mv_size > lmdb_shim::kKeyMax) return MDB_NOTFOUND;
  // Without several values of a key the value is nothing to look at.
  const bool this_one = data != nullptr && table->table->multi();
  const std::string_view value = this_one ? lmdb_shim::view(*data) : std::string_view();
  return answer(
      Write(core(txn), table, nullptr).del(lmdb_shim::view(*key), this_one ? &value : nullptr));
} catch (...) {
  return lmdb_shim::fail_by_exception(core(txn));
}

int mdb_cmp(MDB_txn* txn, MDB_dbi dbi, const MDB_val* a, const MDB_val* b) try {
  TxnTable* table = nullptr;
  if (lmdb_shim::find(core(txn), dbi, false, &table) != MDB_SUCCESS) return 0;
  const MDBX_val first = core(*a);
  const MDBX_val second = core(*b);
  return lmdb_shim::order_of(core(txn), dbi, *table, true)(&first, &second);
} catch (...) {
  return 0;
}

int mdb_dcmp(MDB_txn* txn, MDB_dbi dbi, const MDB_val* a, const MDB_val* b) try {
  TxnTable* table = nullptr;
  if (lmdb_shim::find(core(txn), dbi, false, &table) != MDB_SUCCESS) return 0;
  const MDBX_val first = core(*a);
  const MDBX_val second = core(*b);
  return lmdb_shim::order_of(core(txn), dbi, *table, false)(&first, &second);
} catch (...) {
  return 0;
}
