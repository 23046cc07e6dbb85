// The functions of cursors.

#include <algorithm>
#include <cstring>

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/transaction.h"
#include "shims/mdbx/src/writes.h"

using hawthorn::mdbx::Place;
using hawthorn::mdbx::TxnTable;
using hawthorn::mdbx::val;
using hawthorn::mdbx::Write;
namespace mdbx_shim = hawthorn::mdbx;

namespace {

constexpr unsigned kCursorPutFlags = MDBX_NOOVERWRITE | MDBX_NODUPDATA | MDBX_ALLDUPS |
                                     MDBX_RESERVE | MDBX_APPEND | MDBX_APPENDDUP | MDBX_CURRENT |
                                     MDBX_MULTIPLE;

int check_read(const MDBX_cursor* cursor) { return MDBX_cursor::check(cursor, MDBX_TXN_BLOCKED); }

bool is_cursor(const MDBX_cursor* cursor) {
  return cursor != nullptr && (cursor->signature == mdbx_shim::kCursorUnbound ||
                               cursor->signature == mdbx_shim::kCursorBound);
}

bool in_mask(unsigned operation, unsigned mask) {
  return operation < 31 && ((1U << operation) & mask) != 0;
}

constexpr unsigned kTurns = 1U << MDBX_NEXT | 1U << MDBX_NEXT_DUP | 1U << MDBX_NEXT_NODUP |
                            1U << MDBX_PREV | 1U << MDBX_PREV_DUP | 1U << MDBX_PREV_NODUP |
                            1U << MDBX_NEXT_MULTIPLE | 1U << MDBX_PREV_MULTIPLE;

int scan_on(MDBX_cursor* cursor, mdbx_shim::PointerTo<MDBX_predicate_func> predicate, void* context,
            void* arg, MDBX_val* key, MDBX_val* value, MDBX_cursor_op turn) {
  if ((turn == MDBX_NEXT_DUP || turn == MDBX_PREV_DUP) && !cursor->multi()) return MDBX_NOTFOUND;
  for (;;) {
    const int told = predicate(context, key, value, arg);
    if (told != MDBX_RESULT_FALSE) return told;
    const bool was_at_end = cursor->at_end;
    const int code = cursor->get(key, value, turn);
    if (code == MDBX_NOTFOUND && cursor->at_end && !was_at_end) cursor->behind_all();
    if (code != MDBX_SUCCESS) return code == MDBX_NOTFOUND ? int{MDBX_RESULT_FALSE} : code;
  }
}

}  // namespace

MDBX_cursor* mdbx_cursor_create(void* context) try {
  return new MDBX_cursor(context);
} catch (...) {
  return nullptr;
}

int mdbx_cursor_set_userctx(MDBX_cursor* cursor, void* ctx) {
  if (cursor == nullptr) return MDBX_EINVAL;
  if (!is_cursor(cursor)) return MDBX_EBADSIGN;
  cursor->userctx = ctx;
  return MDBX_SUCCESS;
}

void* mdbx_cursor_get_userctx(const MDBX_cursor* cursor) HAWTHORN_MDBX_NOTHROW {
  return is_cursor(cursor) ? cursor->userctx : nullptr;
}

int mdbx_cursor_bind(MDBX_txn* txn, MDBX_cursor* cursor, MDBX_dbi dbi) try {
  return cursor == nullptr ? int{MDBX_EINVAL} : cursor->bind(txn, dbi);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_unbind(MDBX_cursor* cursor) try {
  if (cursor == nullptr) return MDBX_EINVAL;
  if (!is_cursor(cursor)) return MDBX_EBADSIGN;
  if (cursor->lent > 0) return MDBX_EINVAL;
  cursor->unbind();
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_reset(MDBX_cursor* cursor) try {
  if (const int code = MDBX_cursor::check(cursor, 0); code != MDBX_SUCCESS) return code;
  cursor->reset();
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_open(MDBX_txn* txn, MDBX_dbi dbi, MDBX_cursor** ret) try {
  if (ret == nullptr) return MDBX_EINVAL;
  *ret = nullptr;
  auto cursor = std::make_unique<MDBX_cursor>(nullptr);
  const int code = cursor->bind(txn, dbi);
  if (code == MDBX_SUCCESS) *ret = cursor.release();
  return code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_renew(MDBX_txn* txn, MDBX_cursor* cursor) try {
  if (cursor == nullptr) return MDBX_EINVAL;
  return cursor->bind(txn, cursor->dbi);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_close2(MDBX_cursor* cursor) try {
  if (cursor == nullptr) return MDBX_EINVAL;
  if (!is_cursor(cursor)) return MDBX_EBADSIGN;
  if (cursor->signature == mdbx_shim::kCursorBound) {
    const int code = MDBX_txn::check(cursor->txn, 0);
    if (code == MDBX_THREAD_MISMATCH) return code;
    cursor->unbind();
    if (cursor->lent > 0) {
      cursor->signature = mdbx_shim::kCursorClosing;
      return MDBX_SUCCESS;
    }
  }
  cursor->signature = 0;
  delete cursor;
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

void mdbx_cursor_close(MDBX_cursor* cursor) {
  if (cursor != nullptr) static_cast<void>(mdbx_cursor_close2(cursor));
}

int mdbx_txn_release_all_cursors_ex(const MDBX_txn* txn, bool unbind, size_t* count) try {
  if (count != nullptr) *count = 0;
  const int code = MDBX_txn::check(txn, MDBX_TXN_FINISHED | MDBX_TXN_HAS_CHILD);
  if (code != MDBX_SUCCESS) return code;
  for (const auto& table : txn->tables) {
    while (table != nullptr && table->cursors != nullptr) {
      MDBX_cursor* const cursor = table->cursors;
      const_cast<MDBX_txn*>(txn)->keep_cursor(*cursor);
      cursor->unbind();
      if (count != nullptr) ++*count;
      if (!unbind) {
        cursor->signature = 0;
        delete cursor;
      }
    }
  }
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

MDBX_txn* mdbx_cursor_txn(const MDBX_cursor* cursor) HAWTHORN_MDBX_NOTHROW {
  return is_cursor(cursor) ? cursor->txn : nullptr;
}

MDBX_dbi mdbx_cursor_dbi(const MDBX_cursor* cursor) {
  return is_cursor(cursor) && cursor->signature == mdbx_shim::kCursorBound ? cursor->dbi
                                                                           : UINT32_MAX;
}

int mdbx_cursor_copy(const MDBX_cursor* src, MDBX_cursor* dest) try {
  const int code = MDBX_cursor::check(src, MDBX_TXN_FINISHED | MDBX_TXN_HAS_CHILD);
  return code == MDBX_SUCCESS ? const_cast<MDBX_cursor*>(src)->copy_to(dest) : code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_compare(const MDBX_cursor* left, const MDBX_cursor* right,
                        bool ignore_multival) try {
  constexpr int kIncomparable = INT16_MAX + 1;
  if (left == nullptr || right == nullptr) {
    return left == right ? 0 : left == nullptr ? -kIncomparable * 9 : kIncomparable * 9;
  }
  const bool left_good = MDBX_cursor::check(left, 0) == MDBX_SUCCESS;
  const bool right_good = MDBX_cursor::check(right, 0) == MDBX_SUCCESS;
  if (!left_good || !right_good) {
    return left_good == right_good ? 0 : left_good ? kIncomparable * 8 : -kIncomparable * 8;
  }
  if (left->table != right->table) {
    const auto further = [&](const auto& a, const auto& b, int weight) {
      return std::less<>()(b, a) ? kIncomparable * weight : -kIncomparable * weight;
    };
    if (left->txn->env != right->txn->env) return further(left->txn->env, right->txn->env, 7);
    const uint64_t left_id = left->txn->id();
    const uint64_t right_id = right->txn->id();
    if (left_id != right_id) return further(left_id, right_id, 6);
    if (left->dbi != right->dbi) return further(left->dbi, right->dbi, 5);
  }
  return const_cast<MDBX_cursor*>(left)->compare(*const_cast<MDBX_cursor*>(right), ignore_multival);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_get(MDBX_cursor* cursor, MDBX_val* key, MDBX_val* data, MDBX_cursor_op op) try {
  const int code = check_read(cursor);
  return code == MDBX_SUCCESS ? cursor->get(key, data, op) : code;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_ignord(MDBX_cursor* cursor) try {
  // The order of keys is the engine's own to keep: there is nothing here to
  // ignore.
  return MDBX_cursor::check(cursor, 0);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_scan(MDBX_cursor* cursor, mdbx_shim::PointerTo<MDBX_predicate_func> predicate,
                     void* context, MDBX_cursor_op start_op, MDBX_cursor_op turn_op,
                     void* arg) try {
  constexpr unsigned kStarts = 1U << MDBX_FIRST | 1U << MDBX_FIRST_DUP | 1U << MDBX_LAST |
                               1U << MDBX_LAST_DUP | 1U << MDBX_GET_CURRENT |
                               1U << MDBX_GET_MULTIPLE;
  if (predicate == nullptr || !in_mask(start_op, kStarts) || !in_mask(turn_op, kTurns)) {
    return MDBX_EINVAL;
  }
  if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
  MDBX_val key{};
  MDBX_val value{};
  const int code = cursor->get(&key, &value, start_op);
  if (code != MDBX_SUCCESS) return code;
  return scan_on(cursor, predicate, context, arg, &key, &value, turn_op);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_scan_from(MDBX_cursor* cursor, mdbx_shim::PointerTo<MDBX_predicate_func> predicate,
                          void* context, MDBX_cursor_op from_op, MDBX_val* from_key,
                          MDBX_val* from_value, MDBX_cursor_op turn_op, void* arg) try {
  constexpr unsigned kStarts = 1U << MDBX_GET_BOTH | 1U << MDBX_GET_BOTH_RANGE |
                               1U << MDBX_SET_KEY | 1U << MDBX_GET_MULTIPLE |
                               1U << MDBX_SET_LOWERBOUND | 1U << MDBX_SET_UPPERBOUND;
  if (predicate == nullptr || from_key == nullptr || !in_mask(turn_op, kTurns)) return MDBX_EINVAL;
  if (from_op < MDBX_TO_KEY_LESSER_THAN && !in_mask(from_op, kStarts)) return MDBX_EINVAL;
  if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
  const int code = cursor->get(from_key, from_value, from_op);
  if (code != MDBX_SUCCESS && code != MDBX_RESULT_TRUE) return code;
  MDBX_val own{};
  if (from_value == nullptr) {
    from_value = &own;
    const int read = cursor->get(from_key, from_value, MDBX_GET_CURRENT);
    if (read != MDBX_SUCCESS) return read;
  }
  return scan_on(cursor, predicate, context, arg, from_key, from_value, turn_op);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_get_batch(MDBX_cursor* cursor, size_t* count, MDBX_val* pairs, size_t limit,
                          MDBX_cursor_op op) try {
  if (count == nullptr) return MDBX_EINVAL;
  *count = 0;
  if (limit < 4) return MDBX_EINVAL;
  if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
  return cursor->get_batch(count, pairs, limit, op);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_put(MDBX_cursor* cursor, const MDBX_val* key, MDBX_val* data,
                    MDBX_put_flags_t flags) try {
  if (key == nullptr || data == nullptr) return MDBX_EINVAL;
  if (const int code = MDBX_cursor::check_write(cursor); code != MDBX_SUCCESS) return code;
  if (unsigned{flags} & ~kCursorPutFlags) return MDBX_EINVAL;
  return cursor->put(key, data, flags);
} catch (...) {
  return mdbx_shim::fail_by_exception(cursor->txn);
}

int mdbx_cursor_del(MDBX_cursor* cursor, MDBX_put_flags_t flags) try {
  const int code = MDBX_cursor::check_write(cursor);
  return code == MDBX_SUCCESS ? cursor->del(flags) : code;
} catch (...) {
  return mdbx_shim::fail_by_exception(cursor->txn);
}

int mdbx_cursor_count_ex(const MDBX_cursor* cursor, size_t* count, MDBX_stat* stat,
                         size_t bytes) try {
  if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
  if (stat != nullptr) {
    if (bytes != sizeof(MDBX_stat) && bytes != offsetof(MDBX_stat, ms_mod_txnid)) {
      return MDBX_EINVAL;
    }
    memset(stat, 0, bytes);
  }
  size_t values = 0;
  const int code = const_cast<MDBX_cursor*>(cursor)->count(&values);
  if (code != MDBX_SUCCESS) return code;
  if (stat != nullptr && values > 1) {
    stat->ms_psize = static_cast<uint32_t>(cursor->txn->env->page_bytes);
    stat->ms_entries = values;
  }
  if (count != nullptr) *count = values;
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_count(const MDBX_cursor* cursor, size_t* count) {
  return count == nullptr ? int{MDBX_EINVAL} : mdbx_cursor_count_ex(cursor, count, nullptr, 0);
}

int mdbx_cursor_eof(const MDBX_cursor* cursor) HAWTHORN_MDBX_NOTHROW try {
  if (const int code = MDBX_cursor::check(cursor, 0); code != MDBX_SUCCESS) return code;
  const_cast<MDBX_cursor*>(cursor)->look();
  const bool end = cursor->place == Place::kFresh || cursor->place == Place::kNowhere ||
                   cursor->place == Place::kEnd || cursor->at_end;
  return end ? MDBX_RESULT_TRUE : MDBX_RESULT_FALSE;
} catch (...) {
  return mdbx_shim::exception_code();
}

namespace {

int on(const MDBX_cursor* cursor, bool (MDBX_cursor::*where)()) {
  if (const int code = MDBX_cursor::check(cursor, 0); code != MDBX_SUCCESS) return code;
  return (const_cast<MDBX_cursor*>(cursor)->*where)() ? MDBX_RESULT_TRUE : MDBX_RESULT_FALSE;
}

}  // namespace

int mdbx_cursor_on_first(const MDBX_cursor* cursor) HAWTHORN_MDBX_NOTHROW try {
  return on(cursor, &MDBX_cursor::on_first);
} catch (...) {
  return mdbx_shim::exception_code();
}
int mdbx_cursor_on_first_dup(const MDBX_cursor* cursor) HAWTHORN_MDBX_NOTHROW try {
  return on(cursor, &MDBX_cursor::on_first_value);
} catch (...) {
  return mdbx_shim::exception_code();
}
int mdbx_cursor_on_last(const MDBX_cursor* cursor) HAWTHORN_MDBX_NOTHROW try {
  return on(cursor, &MDBX_cursor::on_last);
} catch (...) {
  return mdbx_shim::exception_code();
}
int mdbx_cursor_on_last_dup(const MDBX_cursor* cursor) HAWTHORN_MDBX_NOTHROW try {
  return on(cursor, &MDBX_cursor::on_last_value);
} catch (...) {
  return mdbx_shim::exception_code();
}

namespace {

// From where one cursor stands to where the other does; a null one is an end of
// the table.
int distance_between(const MDBX_cursor* first, const MDBX_cursor* last, ptrdiff_t* distance) {
  const MDBX_cursor* const one = first != nullptr ? first : last;
  MDBX_val keys[2];
  MDBX_val values[2];
  const MDBX_cursor* const both[2] = {first, last};
  bool ends[2] = {first == nullptr, last == nullptr};
  for (int i = 0; i < 2; ++i) {
    if (both[i] == nullptr) continue;
    if (both[i]->place == Place::kEnd) {
      ends[i] = true;
      continue;
    }
    keys[i] = val(both[i]->current_key());
    values[i] = val(both[i]->current_value());
  }
  // A cursor at the end, as the first one, is behind all.
  if (first != nullptr && ends[0]) {
    ptrdiff_t all = 0;
    ptrdiff_t before = 0;
    int code =
        mdbx_shim::count_between(one->txn, one->table, nullptr, nullptr, nullptr, nullptr, &all);
    if (code == MDBX_SUCCESS) {
      code = mdbx_shim::count_between(one->txn, one->table, nullptr, nullptr,
                                      ends[1] ? nullptr : &keys[1], ends[1] ? nullptr : &values[1],
                                      &before);
    }
    *distance = before - all;
    return code;
  }
  return mdbx_shim::count_between(one->txn, one->table, ends[0] ? nullptr : &keys[0],
                                  ends[0] ? nullptr : &values[0], ends[1] ? nullptr : &keys[1],
                                  ends[1] ? nullptr : &values[1], distance);
}

bool stands(const MDBX_cursor* cursor) {
  return cursor->place == Place::kAt || cursor->place == Place::kGap ||
         cursor->place == Place::kEnd;
}

}  // namespace

int mdbx_estimate_distance(const MDBX_cursor* first, const MDBX_cursor* last,
                           ptrdiff_t* distance_items) try {
  if (distance_items == nullptr) return MDBX_EINVAL;
  *distance_items = 0;
  for (const MDBX_cursor* cursor : {first, last}) {
    if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
  }
  if (first->dbi != last->dbi || first->txn != last->txn) return MDBX_EINVAL;
  if (!stands(first) || !stands(last)) return MDBX_ENODATA;
  return distance_between(first, last, distance_items);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_estimate_move(const MDBX_cursor* cursor, MDBX_val* key, MDBX_val* data,
                       MDBX_cursor_op move_op, ptrdiff_t* distance_items) try {
  if (distance_items == nullptr || move_op == MDBX_GET_CURRENT || move_op == MDBX_GET_MULTIPLE) {
    return MDBX_EINVAL;
  }
  *distance_items = 0;
  if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
  if (!stands(cursor)) return MDBX_ENODATA;
  MDBX_cursor moved(nullptr);
  int code = const_cast<MDBX_cursor*>(cursor)->copy_to(&moved);
  MDBX_val own_key{};
  MDBX_val own_value{};
  if (code == MDBX_SUCCESS) {
    code = moved.get(key != nullptr ? key : &own_key, data != nullptr ? data : &own_value, move_op);
  }
  const bool nothing = code == MDBX_NOTFOUND || code == MDBX_ENODATA;
  if ((code == MDBX_SUCCESS || code == MDBX_RESULT_TRUE || nothing) && stands(&moved)) {
    const int counted = distance_between(cursor, &moved, distance_items);
    if (counted != MDBX_SUCCESS) code = counted;
  }
  moved.unbind();
  return code == MDBX_RESULT_TRUE ? int{MDBX_SUCCESS} : code;
} catch (...) {
  return mdbx_shim::exception_code();
}

#if HAWTHORN_MDBX_API >= 14
int mdbx_cursor_distance(const MDBX_cursor* first, const MDBX_cursor* last, intptr_t* distance,
                         unsigned deepness) try {
  if (distance == nullptr || (first == nullptr && last == nullptr)) return MDBX_EINVAL;
  *distance = 0;
  static_cast<void>(deepness);  // exact at every level
  for (const MDBX_cursor* cursor : {first, last}) {
    if (cursor == nullptr) continue;
    if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
    if (!stands(cursor)) return MDBX_ENODATA;
  }
  if (first != nullptr && last != nullptr && (first->dbi != last->dbi || first->txn != last->txn)) {
    return MDBX_EINVAL;
  }
  return distance_between(first, last, distance);
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_scroll(MDBX_cursor* cursor, intptr_t amount, unsigned) try {
  if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
  if (!stands(cursor)) return MDBX_ENODATA;
  for (; amount != 0; amount += amount < 0 ? 1 : -1) {
    const int code = cursor->get(nullptr, nullptr, amount > 0 ? MDBX_NEXT : MDBX_PREV);
    if (code != MDBX_SUCCESS) return code;
  }
  return MDBX_SUCCESS;
} catch (...) {
  return mdbx_shim::exception_code();
}

int mdbx_cursor_distribute(const MDBX_cursor* first, const MDBX_cursor* last, MDBX_cursor** array,
                           intptr_t count, unsigned) try {
  if (array == nullptr || count < 1 || (first == nullptr && last == nullptr)) return MDBX_EINVAL;
  for (const MDBX_cursor* cursor : {first, last}) {
    if (cursor == nullptr) continue;
    if (const int code = check_read(cursor); code != MDBX_SUCCESS) return code;
    if (!stands(cursor)) return MDBX_ENODATA;
  }
  const MDBX_cursor* const one = first != nullptr ? first : last;
  // Of one table, and of transactions that read the same snapshot.
  const auto is_of_the_same = [one](const MDBX_cursor& cursor) {
    return cursor.dbi == one->dbi && cursor.txn->env == one->txn->env &&
           cursor.txn->id() == one->txn->id();
  };
  if (last != nullptr && !is_of_the_same(*last)) return MDBX_EINVAL;
  bool any = false;
  for (intptr_t i = 0; i < count; ++i) {
    if (array[i] == nullptr) return MDBX_EINVAL;
    if (array[i] == first || array[i] == last) continue;
    const int code = MDBX_cursor::check(array[i], MDBX_TXN_BLOCKED & ~MDBX_TXN_PARKED);
    if (code != MDBX_SUCCESS) return code;
    if (!is_of_the_same(*array[i])) return MDBX_EINVAL;
    any = true;
  }
  if (!any) return MDBX_EINVAL;
  MDBX_cursor at(nullptr);
  int code = at.bind(one->txn, one->dbi);
  if (code == MDBX_SUCCESS && first != nullptr) {
    code = const_cast<MDBX_cursor*>(first)->copy_to(&at);
  } else if (code == MDBX_SUCCESS) {
    code = at.get(nullptr, nullptr, MDBX_FIRST);
  }
  ptrdiff_t all = 0;
  if (code == MDBX_SUCCESS) code = distance_between(&at, last, &all);
  if (last == nullptr) --all;  // to the last entry
  if (code == MDBX_SUCCESS && all < 0) code = MDBX_ENODATA;
  if (code == MDBX_SUCCESS && all == 0) code = MDBX_RESULT_TRUE;
  // Each goes to the end of its part.
  bool enough = true;
  ptrdiff_t done = 0;
  for (intptr_t i = 0; i < count && code == MDBX_SUCCESS; ++i) {
    const ptrdiff_t left = count - i;
    const ptrdiff_t part = (all - done + left - 1) / left;
    if (part == 0) {
      array[i]->reset();
      array[i]->place = Place::kEnd;
      enough = false;
      continue;
    }
    for (ptrdiff_t step = 0; step < part && code == MDBX_SUCCESS; ++step) {
      code = at.get(nullptr, nullptr, MDBX_NEXT);
    }
    done += part;
    if (code == MDBX_SUCCESS && array[i]->txn != at.txn) {
      array[i]->let_go();
      array[i]->stand_at(at.current_key(), at.current_value());
    } else if (code == MDBX_SUCCESS) {
      code = at.copy_to(array[i]);
    }
  }
  at.unbind();
  return code != MDBX_SUCCESS ? code : enough ? int{MDBX_SUCCESS} : int{MDBX_RESULT_TRUE};
} catch (...) {
  return mdbx_shim::exception_code();
}

namespace {

// Deletes entries from where `cursor` stands on, `count` of them.
int delete_from(MDBX_cursor* cursor, ptrdiff_t count, uint64_t* affected) {
  for (; count > 0; --count) {
    if (const int code = cursor->del(0); code != MDBX_SUCCESS) return code;
    if (affected != nullptr) ++*affected;
    if (count == 1) break;
    const int code = cursor->get(nullptr, nullptr, MDBX_NEXT);
    if (code != MDBX_SUCCESS) return code;
  }
  return MDBX_SUCCESS;
}

// The number of values of the key before, and from, where the cursor stands.
int values_around(MDBX_cursor* cursor, ptrdiff_t* before, ptrdiff_t* from) {
  size_t all = 0;
  *before = *from = 0;
  if (const int code = cursor->count(&all); code != MDBX_SUCCESS) return code;
  const MDBX_val key = val(cursor->current_key());
  const MDBX_val value = val(cursor->current_value());
  const int code =
      mdbx_shim::count_between(cursor->txn, cursor->table, &key, nullptr, &key, &value, before);
  *from = static_cast<ptrdiff_t>(all) - *before;
  return code;
}

}  // namespace

int mdbx_cursor_delete_range(MDBX_cursor* begin, MDBX_cursor* end, bool end_including,
                             uint64_t* number_of_affected) try {
  if (number_of_affected != nullptr) *number_of_affected = 0;
  if (begin == nullptr && end == nullptr) return MDBX_EINVAL;
  for (MDBX_cursor* cursor : {begin, end}) {
    if (cursor == nullptr) continue;
    if (const int code = MDBX_cursor::check_write(cursor); code != MDBX_SUCCESS) return code;
    if (!stands(cursor)) return MDBX_ENODATA;
  }
  if (begin != nullptr && end != nullptr && (begin->dbi != end->dbi || begin->txn != end->txn)) {
    return MDBX_EINVAL;
  }
  MDBX_cursor* const one = begin != nullptr ? begin : end;
  MDBX_cursor walk(nullptr);
  int code = walk.bind(one->txn, one->dbi);
  if (code == MDBX_SUCCESS) {
    code = begin != nullptr ? begin->copy_to(&walk) : walk.get(nullptr, nullptr, MDBX_FIRST);
  }
  ptrdiff_t count = 0;
  if (code == MDBX_SUCCESS) code = distance_between(&walk, end, &count);
  if (code == MDBX_SUCCESS && end != nullptr && end_including && end->place == Place::kAt) ++count;
  if (code == MDBX_SUCCESS && count < 0) code = MDBX_ENODATA;
  if (code == MDBX_SUCCESS) code = delete_from(&walk, count, number_of_affected);
  walk.unbind();
  return code;
} catch (...) {
  return mdbx_shim::fail_by_exception((begin != nullptr ? begin : end)->txn);
}

int mdbx_cursor_bunch_delete(MDBX_cursor* cursor, MDBX_bunch_action_t action,
                             uint64_t* number_of_affected) try {
  if (number_of_affected != nullptr) *number_of_affected = 0;
  if (const int code = MDBX_cursor::check_write(cursor); code != MDBX_SUCCESS) return code;
  if (action == MDBX_DELETE_WHOLE) {
    MDBX_stat stat;
    int code = cursor->txn->stat(cursor->table, &stat, sizeof(stat));
    if (code == MDBX_SUCCESS) code = cursor->txn->drop_table(cursor->dbi, false);
    if (code == MDBX_SUCCESS && number_of_affected != nullptr)
      *number_of_affected = stat.ms_entries;
    return code;
  }
  if (cursor->place != Place::kAt || !cursor->settle()) return MDBX_ENODATA;
  ptrdiff_t before = 0;
  ptrdiff_t from = 0;
  if (const int code = values_around(cursor, &before, &from); code != MDBX_SUCCESS) return code;
  MDBX_cursor walk(nullptr);
  int code = cursor->copy_to(&walk);
  ptrdiff_t count = 0;
  switch (action) {
    case MDBX_DELETE_CURRENT_VALUE:
      count = 1;
      break;
    case MDBX_DELETE_CURRENT_MULTIVAL_BEFORE_EXCLUDING:
      count = before;
      break;
    case MDBX_DELETE_CURRENT_MULTIVAL_BEFORE_INCLUDING:
      count = before + 1;
      break;
    case MDBX_DELETE_CURRENT_MULTIVAL_AFTER_INCLUDING:
      count = from;
      break;
    case MDBX_DELETE_CURRENT_MULTIVAL_AFTER_EXCLUDING:
      count = from - 1;
      break;
    case MDBX_DELETE_CURRENT_MULTIVAL_ALL:
      count = before + from;
      break;
    case MDBX_DELETE_BEFORE_EXCLUDING:
    case MDBX_DELETE_BEFORE_INCLUDING:
      code = distance_between(nullptr, &walk, &count);
      if (action == MDBX_DELETE_BEFORE_INCLUDING) ++count;
      break;
    case MDBX_DELETE_AFTER_INCLUDING:
    case MDBX_DELETE_AFTER_EXCLUDING:
      code = distance_between(&walk, nullptr, &count);
      if (action == MDBX_DELETE_AFTER_EXCLUDING) --count;
      break;
    default:
      code = MDBX_EINVAL;
      break;
  }
  const bool from_the_key = action == MDBX_DELETE_CURRENT_MULTIVAL_BEFORE_EXCLUDING ||
                            action == MDBX_DELETE_CURRENT_MULTIVAL_BEFORE_INCLUDING ||
                            action == MDBX_DELETE_CURRENT_MULTIVAL_ALL;
  const bool from_the_begin =
      action == MDBX_DELETE_BEFORE_EXCLUDING || action == MDBX_DELETE_BEFORE_INCLUDING;
  const bool behind = action == MDBX_DELETE_CURRENT_MULTIVAL_AFTER_EXCLUDING ||
                      action == MDBX_DELETE_AFTER_EXCLUDING;
  if (code == MDBX_SUCCESS && count > 0) {
    MDBX_val unused{};
    if (from_the_key) code = walk.get(nullptr, &unused, MDBX_FIRST_DUP);
    if (from_the_begin) code = walk.get(nullptr, nullptr, MDBX_FIRST);
    if (behind) code = walk.get(nullptr, nullptr, MDBX_NEXT);
  }
  if (code == MDBX_SUCCESS) code = delete_from(&walk, count, number_of_affected);
  walk.unbind();
  return code;
} catch (...) {
  return mdbx_shim::fail_by_exception(cursor->txn);
}
#endif
