// Orders of a program's own: mdb_set_compare and mdb_set_dupsort.
//
// The core takes them when a table is made. LMDB has them set behind that, and before the first
// use: with the first put a table is made once more. They are kept with the environment, as LMDB
// does, for transactions that come later.

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

// Whether there can be nothing more to be set for this table.
bool is_settled(Env& env, const mdbx::Table& table) {
  if (env.orders_count.load(std::memory_order_acquire) == 0) return is_ordered(table);
  return is_ordered(table) && has_own_keys(table) && (!table.multi() || has_own_values(table));
}

// What the program has set for a table.
Orders wanted_of(Env& env, MDB_dbi dbi, const mdbx::Table& table) {
  const std::lock_guard<std::mutex> guard(env.mutex);
  const auto orders = find_orders(env, dbi);
  const bool there =
      orders != env.orders.end() && orders->table == table.name && orders->main == table.main;
  return there ? *orders : Orders();
}

// The functions of a table that has such orders.
void take_functions(Env& env, mdbx::Table& table, const Orders& wanted) {
  const bool keys = wanted.keys != nullptr && has_own_keys(table);
  const bool values = wanted.values != nullptr && has_own_values(table);
  const std::lock_guard<std::mutex> guard(env.mutex);
  if ((!keys || table.compare_keys == wanted.keys) &&
      (!values || table.compare_values == wanted.values)) {
    return;
  }
  if (keys) table.compare_keys = wanted.keys;
  if (values) table.compare_values = wanted.values;
  env.give_comparators(table);
}

// Of an empty table no order depends on anything yet.
int check_empty(MDBX_txn* txn, TxnTable* table) {
  Cursor& cursor = txn->scratch(table);
  if (cursor.first()) return MDB_INCOMPATIBLE;
  return cursor.status().ok() ? MDB_SUCCESS : answer(txn->fail(cursor.status()));
}

int apply_orders(MDBX_txn* txn, MDB_dbi dbi, TxnTable* table) {
  mdbx::Table& mine = *table->table;
  Env& env = *env_of(*txn);
  const Orders wanted = wanted_of(env, dbi, mine);
  take_functions(env, mine, wanted);
  if (!is_ordered(mine)) return MDB_INCOMPATIBLE;
  const bool more = (wanted.keys != nullptr && !has_own_keys(mine)) ||
                    (wanted.values != nullptr && !has_own_values(mine));
  return more ? check_empty(txn, table) : MDB_SUCCESS;
}

// A function that does not find a value to be itself is no order: mdb_load has one, so that nothing
// is compared.
bool is_order(Compare function, const MDBX_val& value) {
  return function != nullptr && function(&value, &value) == 0;
}

// Makes the table anew, with all cursors that programs have of it.
int reorder(MDBX_txn* txn, MDB_dbi dbi, TxnTable* table, Compare keys, Compare values) {
  std::vector<MDBX_cursor*> cursors;
  txn->each_cursor(table, [&](MDBX_cursor& cursor) { cursors.push_back(&cursor); });
  for (MDBX_cursor* cursor : cursors) cursor->unbind();
  int code = txn->reshape(dbi, table, table->table->record.flags, keys, values);
  for (MDBX_cursor* cursor : cursors) {
    const int bound = cursor->bind(txn, dbi);
    if (code == MDBX_SUCCESS) code = bound;
  }
  return answer(code);
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
  const bool has_it = of_keys ? has_own_keys(*table->table) : has_own_values(*table->table);
  if (!has_it) {
    if (const int code = check_empty(mine, table); code != MDB_SUCCESS) return code;
  }
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
  return apply_orders(mine, dbi, table);
}

}  // namespace

Compare function_for(MDB_cmp_func* compare) {
  for (size_t i = 0; i < kFunctions; ++i) {
    MDB_cmp_func* there = functions[i].load(std::memory_order_acquire);
    if (there == nullptr && functions[i].compare_exchange_strong(there, compare)) {
      return kCallers[i];
    }
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

int settle_orders(MDBX_txn* txn, MDB_dbi dbi, const MDBX_val& key, const MDBX_val& value) {
  TxnTable* table = nullptr;
  if (const int code = txn->table(dbi, &table); code != MDBX_SUCCESS) return answer(code);
  mdbx::Table& mine = *table->table;
  Env& env = *env_of(*txn);
  if (mine.garbage || is_settled(env, mine)) return MDB_SUCCESS;
  const Orders wanted = wanted_of(env, dbi, mine);
  const bool new_keys = !has_own_keys(mine) && is_order(wanted.keys, key);
  const bool new_values = !has_own_values(mine) && mine.multi() && is_order(wanted.values, value);
  if (!new_keys && !new_values) return MDB_SUCCESS;
  const Compare keys = new_keys || has_own_keys(mine) ? wanted.keys : nullptr;
  const Compare values = new_values || has_own_values(mine) ? wanted.values : nullptr;
  return reorder(txn, dbi, table, keys, values);
}

Compare order_of(MDBX_txn* txn, MDB_dbi dbi, const TxnTable& table, bool of_keys) {
  const mdbx::Table& mine = *table.table;
  Env& env = *env_of(*txn);
  if (!mine.garbage && !is_settled(env, mine)) {
    const Orders wanted = wanted_of(env, dbi, mine);
    if (of_keys && wanted.keys != nullptr) return wanted.keys;
    if (!of_keys && mine.multi() && wanted.values != nullptr) return wanted.values;
  }
  return of_keys ? mine.compare_keys : mine.compare_values;
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
  const mdbx::Table& mine = *(*table)->table;
  if (mine.garbage || is_settled(*env_of(*txn), mine)) return MDB_SUCCESS;
  return apply_orders(txn, dbi, *table);
}

int check(MDBX_cursor* cursor, bool write) {
  if (cursor == nullptr) return EINVAL;
  if (cursor->signature == mdbx::kCursorUnbound) return MDB_BAD_TXN;
  return answer(write ? MDBX_cursor::check_write(cursor)
                      : MDBX_cursor::check(cursor, MDBX_TXN_BLOCKED));
}

}  // namespace hawthorn::lmdb

namespace lmdb_shim = hawthorn::lmdb;

int mdb_set_compare(MDB_txn* txn, MDB_dbi dbi, MDB_cmp_func* cmp) try {
  return lmdb_shim::set_order(txn, dbi, cmp, true);
} catch (...) {
  return lmdb_shim::fail_by_exception(core(txn));
}

int mdb_set_dupsort(MDB_txn* txn, MDB_dbi dbi, MDB_cmp_func* cmp) try {
  return lmdb_shim::set_order(txn, dbi, cmp, false);
} catch (...) {
  return lmdb_shim::fail_by_exception(core(txn));
}
