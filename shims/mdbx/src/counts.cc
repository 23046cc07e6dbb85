// How many entries are between two places of a table.

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/transaction.h"

namespace hawthorn::mdbx {
namespace {

// The number of entries before a place: of its key's keys by the engine's count, of the values
// before it by steps. Without a key: of all.
int entries_before(MDBX_txn* txn, TxnTable* table, const MDBX_val* key, const MDBX_val* value,
                   int64_t* before) {
  *before = 0;
  const std::optional<std::string_view> end =
      key != nullptr ? std::optional<std::string_view>(view(*key)) : std::nullopt;
  if (!end || !end->empty()) {
    const Result<uint64_t> counted = txn->count(table->tree, "", end);
    if (!counted.ok()) return txn->fail(counted.status());
    *before = static_cast<int64_t>(*counted);
  }
  if (key == nullptr || value == nullptr || !table->table->multi()) return MDBX_SUCCESS;
  Cursor& cursor = txn->scratch(table);
  for (bool more = cursor.seek(view(*key)); more; more = cursor.next_value()) {
    if (table->table->order_of_keys(cursor.key(), view(*key)) != 0) break;
    if (table->table->order_of_values(cursor.value(), view(*value)) >= 0) break;
    ++*before;
  }
  return cursor.status().ok() ? MDBX_SUCCESS : txn->fail(cursor.status());
}

}  // namespace

int count_between(MDBX_txn* txn, TxnTable* table, const MDBX_val* begin_key,
                  const MDBX_val* begin_data, const MDBX_val* end_key, const MDBX_val* end_data,
                  ptrdiff_t* distance) {
  *distance = 0;
  if (table->table->garbage) return MDBX_SUCCESS;
  if (const int code = txn->finish_reserve(); code != MDBX_SUCCESS) return code;
  MDBX_val first{};
  if (begin_key == MDBX_EPSILON || end_key == MDBX_EPSILON) {
    // The other end, once more: how many values that key has.
    const MDBX_val* const key = begin_key == MDBX_EPSILON ? end_key : begin_key;
    if (key == nullptr || key == MDBX_EPSILON) return MDBX_EINVAL;
    MDBX_cursor cursor(nullptr);
    MDBX_val asked = *key;
    MDBX_dbi dbi = 0;
    for (size_t i = 0; i < txn->tables.size(); ++i) {
      if (txn->tables[i].get() == table) dbi = static_cast<MDBX_dbi>(i);
    }
    int code = cursor.bind(txn, dbi);
    size_t count = 0;
    if (code == MDBX_SUCCESS) code = cursor.get(&asked, &first, MDBX_SET);
    if (code == MDBX_SUCCESS) code = cursor.count(&count);
    cursor.unbind();
    *distance = static_cast<ptrdiff_t>(count);
    return code == MDBX_NOTFOUND ? MDBX_SUCCESS : code;
  }
  int64_t from = 0;
  int64_t to = 0;
  if (begin_key != nullptr) {
    const int code = entries_before(txn, table, begin_key, begin_data, &from);
    if (code != MDBX_SUCCESS) return code;
  }
  if (const int code = entries_before(txn, table, end_key, end_data, &to); code != MDBX_SUCCESS) {
    return code;
  }
  *distance = static_cast<ptrdiff_t>(to - from);
  return MDBX_SUCCESS;
}

}  // namespace hawthorn::mdbx
