// Orders of a program's own: mdb_set_compare and mdb_set_dupsort.
//
// The core takes them when a table is made. LMDB has them set behind that, and before the first
// use: then a table is made once more, which is why it must be empty. They are kept with the
// environment, as LMDB does, for transactions that come later.

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "shims/mdbx/src/lmdb/layer.h"

namespace hawthorn::lmdb {
namespace {

// A function of the core has no context, and its values another layout: there is one for each
// function of a program.
std::array<std::atomic<MDB_cmp_func*>, kFunctions> functions{};

template <size_t kIndex>
int call_function(const MDBX_val* a, const MDBX_val* b) noexcept {
  const MDB_val first{static_cast<size_t>(a->iov_len), a->iov_base};
  const MDB_val second{static_cast<size_t>(b->iov_len), b->iov_base};
  return functions[kIndex].load(std::memory_order_relaxed)(&first, &second);
}

template <size_t... kIndices>
constexpr std::array<Compare, kFunctions> callers(std::index_sequence<kIndices...>) {
  return {call_function<kIndices>...};
}

constexpr std::array<Compare, kFunctions> kCallers =
    callers(std::make_index_sequence<kFunctions>());

bool has_own_keys(const mdbx::Table& table) { return (table.record.comparators & 1) != 0; }
bool has_own_values(const mdbx::Table& table) { return (table.record.comparators & 2) != 0; }

// Whether a table has all functions that its order needs.
bool is_ordered(const mdbx::Table& table) {
  const unsigned flags = table.record.flags;
  return (!has_own_keys(table) || table.compare_keys != mdbx::key_compare(flags)) &&
         (!has_own_values(table) || table.compare_values != mdbx::value_compare(flags));
}

std::vector<Orders>::iterator find_orders(Env& env, MDB_dbi dbi) {
  return std::find_if(env.orders.begin(), env.orders.end(),
                      [dbi](const Orders& orders) { return orders.dbi == dbi; });
}

int set_order(MDB_txn* txn, MDB_dbi dbi, MDB_cmp_func* compare, bool of_keys) {
  if (txn == nullptr || compare == nullptr) return EINVAL;
  MDBX_txn* const mine = core(txn);
  TxnTable* table = nullptr;
  if (const int code = MDBX_txn::check(mine, MDBX_TXN_BLOCKED); code != MDBX_SUCCESS) {
    return answer(code);
  }
  if (dbi == mdbx::kGarbageDbi || mine->table(dbi, &table) != MDBX_SUCCESS) return EINVAL;
  if (!of_keys && !table->table->multi()) return MDB_SUCCESS;  // as in LMDB: nothing is sorted
  const Compare function = function_for(compare);
  if (function == nullptr) return MDB_DBS_FULL;
  Env& env = *env_of(*mine);
  {
    const std::lock_guard<std::mutex> guard(env.mutex);
    auto orders = find_orders(env, dbi);
    if (orders == env.orders.end() || orders->table != table->table->name) {
      if (orders != env.orders.end()) env.orders.erase(orders);
      env.orders.push_back({table->table->name, table->table->main, dbi, nullptr, nullptr});
      orders = env.orders.end() - 1;
    }
    (of_keys ? orders->keys : orders->values) = function;
    env.orders_count.store(env.orders.size(), std::memory_order_release);
  }
  return apply_orders(mine, dbi, !mine->read_only());
}

}  // namespace

Compare function_for(MDB_cmp_func* compare) {
  for (size_t i = 0; i < kFunctions; ++i) {
    MDB_cmp_func* there = functions[i].load(std::memory_order_acquire);
    if (there == nullptr && functions[i].compare_exchange_strong(there, compare))
      return kCallers[i];
    if (there == compare) return kCallers[i];
  }
  return nullptr;
}

void forget_orders(Env& env, MDB_dbi dbi) {
  const std::lock_guard<std::mutex> guard(env.mutex);
  const auto orders = find_orders(env, dbi);
  if (orders != env.orders.end()) env.orders.erase(orders);
  env.orders_count.store(env.orders.size(), std::memory_order_release);
}

int apply_orders(MDBX_txn* txn, MDB_dbi dbi, bool write) {
  TxnTable* table = nullptr;
  if (const int code = txn->table(dbi, &table); code != MDBX_SUCCESS) return answer(code);
  mdbx::Table& mine = *table->table;
  Env& env = *env_of(*txn);
  if (env.orders_count.load(std::memory_order_acquire) == 0 || mine.garbage) {
    return is_ordered(mine) ? MDB_SUCCESS : MDB_INCOMPATIBLE;
  }
  Orders wanted;
  {
    const std::lock_guard<std::mutex> guard(env.mutex);
    const auto orders = find_orders(env, dbi);
    if (orders != env.orders.end() && orders->table == mine.name && orders->main == mine.main) {
      wanted = *orders;
    }
    // An order that the table has got: this is its function.
    const bool keys = wanted.keys != nullptr && has_own_keys(mine);
    const bool values = wanted.values != nullptr && has_own_values(mine);
    if ((keys && mine.compare_keys != wanted.keys) ||
        (values && mine.compare_values != wanted.values)) {
      if (keys) mine.compare_keys = wanted.keys;
      if (values) mine.compare_values = wanted.values;
      env.give_comparators(mine);
    }
  }
  const bool new_keys = wanted.keys != nullptr && !has_own_keys(mine);
  const bool new_values = wanted.values != nullptr && !has_own_values(mine);
  if (!is_ordered(mine)) return MDB_INCOMPATIBLE;
  if (!new_keys && !new_values) return MDB_SUCCESS;
  if (!write) {
    // Of an empty table nothing depends on it yet.
    Cursor& cursor = txn->scratch(table);
    if (cursor.first()) return MDB_INCOMPATIBLE;
    return cursor.status().ok() ? MDB_SUCCESS : answer(txn->fail(cursor.status()));
  }
  const Compare keys = new_keys || has_own_keys(mine) ? wanted.keys : nullptr;
  const Compare values = new_values || has_own_values(mine) ? wanted.values : nullptr;
  return answer(txn->reshape(dbi, table, mine.record.flags, keys, values));
}

int find(MDBX_txn* txn, MDB_dbi dbi, bool write, TxnTable** table) {
  const int checked = write ? MDBX_txn::check_write(txn) : MDBX_txn::check(txn, MDBX_TXN_BLOCKED);
  if (checked != MDBX_SUCCESS) return answer(checked);
  if (const int code = txn->table(dbi, table); code != MDBX_SUCCESS) {
    if (code != MDBX_BAD_DBI) return answer(code);
    const bool gone =
        dbi < txn->tables.size() && txn->tables[dbi] != nullptr && txn->tables[dbi]->gone;
    if (gone) return EINVAL;
    MDBX_env& env = *txn->env;
    const std::lock_guard<std::mutex> guard(env.mutex);
    return dbi >= env.handle_count || env.handles[dbi].table == nullptr ? EINVAL : MDB_BAD_DBI;
  }
  Env& env = *env_of(*txn);
  if ((*table)->table->record.comparators == 0 &&
      env.orders_count.load(std::memory_order_acquire) == 0) {
    return MDB_SUCCESS;
  }
  const int code = apply_orders(txn, dbi, write);
  return code == MDB_SUCCESS ? answer(txn->table(dbi, table)) : code;
}

int check(MDBX_cursor* cursor, bool write) {
  if (cursor == nullptr) return EINVAL;
  if (cursor->signature == mdbx::kCursorUnbound) return MDB_BAD_TXN;
  return answer(write ? MDBX_cursor::check_write(cursor)
                      : MDBX_cursor::check(cursor, MDBX_TXN_BLOCKED));
}

}  // namespace hawthorn::lmdb

namespace lmdb_shim = hawthorn::lmdb;

int mdb_set_compare(MDB_txn* txn, MDB_dbi dbi, MDB_cmp_func* cmp) {
  return lmdb_shim::set_order(txn, dbi, cmp, true);
}

int mdb_set_dupsort(MDB_txn* txn, MDB_dbi dbi, MDB_cmp_func* cmp) {
  return lmdb_shim::set_order(txn, dbi, cmp, false);
}
