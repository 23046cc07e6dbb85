// The operations of mdbx_cursor_get, by the moves of cursor.cc.

#include <algorithm>
#include <cstdint>

#include "shims/mdbx/src/cursor.h"

namespace hawthorn::mdbx {

int check_key(MDBX_txn& txn, TxnTable& table, const MDBX_val& key) {
  const unsigned flags = table.table->record.flags;
  if (txn.env->lmdb && key.iov_len == 0) return MDBX_BAD_VALSIZE;
  if (flags & MDBX_INTEGERKEY) {
    if (key.iov_len != 4 && key.iov_len != 8) return MDBX_BAD_VALSIZE;
    if (txn.env->lmdb || table.table->garbage) return MDBX_SUCCESS;
    // The first entry decides for all.
    TableRecord* record = nullptr;
    if (const int code = txn.record(&table, &record); code != MDBX_SUCCESS) return code;
    return record->key_bytes == 0 || record->key_bytes == key.iov_len ? MDBX_SUCCESS
                                                                      : MDBX_BAD_VALSIZE;
  }
  return key.iov_len <= key_max(flags) ? MDBX_SUCCESS : MDBX_BAD_VALSIZE;
}

int check_value(MDBX_txn& txn, TxnTable& table, const MDBX_val& value) {
  const unsigned flags = table.table->record.flags;
  if (!(flags & MDBX_DUPFIXED) || txn.env->lmdb) return MDBX_SUCCESS;
  if ((flags & MDBX_INTEGERDUP) && value.iov_len != 4 && value.iov_len != 8) {
    return MDBX_BAD_VALSIZE;
  }
  TableRecord* record = nullptr;
  if (const int code = txn.record(&table, &record); code != MDBX_SUCCESS) return code;
  return record->value_bytes == 0 || record->value_bytes == value.iov_len ? MDBX_SUCCESS
                                                                          : MDBX_BAD_VALSIZE;
}

}  // namespace hawthorn::mdbx

using hawthorn::mdbx::Place;
using hawthorn::mdbx::val;
using hawthorn::mdbx::view;
namespace mdbx_shim = hawthorn::mdbx;

int MDBX_cursor::seek_key(MDBX_val* asked, MDBX_val* value_out, bool range, bool give_key,
                          bool* exact) {
  *exact = false;
  if (const int code = check_key(*asked); code != MDBX_SUCCESS) return code;
  const std::string_view wanted = view(*asked);
  if (!range && !multi()) {
    // Without the engine's cursor, which a step brings here if there is one.
    MDBX_val there{};
    const int code = txn->get(table, wanted, value_out != nullptr ? value_out : &there);
    if (code == MDBX_NOTFOUND) return not_found();
    if (code != MDBX_SUCCESS) {
      reset();
      place = Place::kNowhere;
      return code;
    }
    *exact = true;
    stand_at(wanted, {});
    return give_key ? txn->keep(wanted, asked) : MDBX_SUCCESS;
  }
  hawthorn::Cursor& cursor = moved();
  bool there = cursor.seek(wanted);
  *exact = there && same_key(cursor.key(), wanted);
  if (!range && !*exact) there = false;
  const int code = found(there, give_key ? asked : nullptr, value_out);
  return code == MDBX_NOTFOUND ? not_found(range) : code;
}

int MDBX_cursor::seek_pair(MDBX_val* asked, MDBX_val* wanted, bool range) {
  if (const int code = check_key(*asked); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  const std::string_view key_wanted = view(*asked);
  if (const int code = check_value(*wanted); code != MDBX_SUCCESS) {
    // Where there is no such key, that comes first.
    leave_engine();
    return cursor.seek(key_wanted) && same_key(cursor.key(), key_wanted) ? code : not_found();
  }
  bool there = cursor.seek_value(key_wanted, view(*wanted));
  if (there && !range) there = compare_values(cursor.value(), view(*wanted)) == 0;
  const int code = found(there, nullptr, wanted);
  return code == MDBX_NOTFOUND ? not_found() : code;
}

// How many values of the key a page would have.
size_t MDBX_cursor::values_of_a_page() const {
  return std::max<size_t>(1, txn->env->page_bytes / std::max<size_t>(1, engine->value().size()));
}

// Whether a page would have all values of the key.
int MDBX_cursor::fits_a_page(bool* fits) {
  const hawthorn::Result<uint64_t> values = engine->count_values();
  if (!values.ok()) return txn->fail(values.status());
  *fits = *values * engine->value().size() <= txn->env->page_bytes;
  return MDBX_SUCCESS;
}

// The values of the key, one behind the other, from up to `back` before the present one on, as many
// as a page would have, and none of what was handed out before.
int MDBX_cursor::gather(size_t back, MDBX_val* key_out, MDBX_val* value_out) {
  hawthorn::Cursor& cursor = *engine;
  const bool has_edge = edge_key == cursor.key() && compare_values(cursor.value(), edge) > 0;
  back = std::min(back, values_of_a_page() - 1);
  for (; back > 0 && cursor.prev_value(); --back) {
    if (!has_edge || compare_values(cursor.value(), edge) > 0) continue;
    static_cast<void>(cursor.next_value());
    break;
  }
  std::string all(cursor.value());
  size_t count = 1;
  if (key_out != nullptr) {
    if (const int code = txn->keep(cursor.key(), key_out); code != MDBX_SUCCESS) return code;
  }
  while (all.size() + cursor.value().size() <= txn->env->page_bytes && cursor.next_value()) {
    all += cursor.value();
    ++count;
  }
  if (!cursor.status().ok()) return txn->fail(cursor.status());
  block = count;
  edge_key = cursor.key();
  edge = cursor.value();
  return txn->keep(all, value_out);
}

int MDBX_cursor::multiple(MDBX_val* key_out, MDBX_val* value_out, MDBX_cursor_op operation) {
  if (value_out == nullptr) return MDBX_EINVAL;
  if (!(table->table->record.flags & MDBX_DUPFIXED)) return MDBX_INCOMPATIBLE;
  // What was handed out last is a page, and so is what lies around another place.
  const size_t handed_out = place == Place::kAt && among == Among::kOn && !stale ? block : 0;
  if (operation == MDBX_NEXT_MULTIPLE) {
    const int code = step(true, MDBX_NEXT_DUP, nullptr, nullptr);
    if (code == MDBX_NOTFOUND && place == Place::kAt && among == Among::kOn && !txn->env->lmdb &&
        settle()) {
      bool one = true;
      if (const int counted = has_one_value(&one); counted != MDBX_SUCCESS) return counted;
      if (!one) {
        leave_engine();
        among = Among::kLast;
      }
    }
    return code == MDBX_SUCCESS ? gather(SIZE_MAX, key_out, value_out) : code;
  }
  if (place == Place::kGap && operation != MDBX_PREV_MULTIPLE) {
    if (const int code = current(nullptr, nullptr); code != MDBX_SUCCESS) return code;
  }
  if (place != Place::kAt || among == Among::kLast) return MDBX_ENODATA;
  if (among == Among::kOn ? !settle() : current(nullptr, nullptr) != MDBX_SUCCESS) {
    return MDBX_ENODATA;
  }
  if (!on_engine) return MDBX_ENODATA;
  if (operation != MDBX_PREV_MULTIPLE) {
    return gather(handed_out > 0 ? handed_out - 1 : SIZE_MAX, key_out, value_out);
  }
  bool one = true;
  if (const int code = has_one_value(&one); code != MDBX_SUCCESS) return code;
  if (one && !txn->env->lmdb) return MDBX_ENODATA;
  bool all_fit = false;
  if (const int code = fits_a_page(&all_fit); code != MDBX_SUCCESS) return code;
  if (all_fit && !txn->env->lmdb) {
    const int code = found(engine->first_value(), nullptr, nullptr);
    return code == MDBX_SUCCESS ? int{MDBX_NOTFOUND} : code;
  }
  hawthorn::Cursor& cursor = *engine;
  // To the begin of what was handed out last, and as much before that.
  for (size_t i = 1; i < block; ++i) {
    if (!cursor.prev_value()) break;
  }
  const size_t most = values_of_a_page();
  size_t back = 0;
  while (back < most && cursor.prev_value()) ++back;
  if (!cursor.status().ok()) return txn->fail(cursor.status());
  block = 0;
  if (back == 0) return MDBX_NOTFOUND;
  std::string all(cursor.value());
  for (size_t i = 1; i < back && cursor.next_value(); ++i) all += cursor.value();
  block = back;
  edge_key = cursor.key();
  edge = cursor.value();
  if (key_out != nullptr) {
    if (const int code = txn->keep(cursor.key(), key_out); code != MDBX_SUCCESS) return code;
  }
  return txn->keep(all, value_out);
}

int MDBX_cursor::bound(MDBX_val* key_io, MDBX_val* value_io, bool upper) {
  const std::string asked_key(view(*key_io));
  const bool by_value = multi() && value_io->iov_base != nullptr;
  const std::string asked_value(view(*value_io));
  if (const int code = check_key(*key_io); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  leave_engine();
  bool there = cursor.seek(asked_key);
  const bool of_this_key = there && same_key(cursor.key(), asked_key);
  // Without a value, any of several is behind what was asked for.
  bool exact = of_this_key && !multi();
  if (of_this_key && by_value) {
    if (const int code = check_value(*value_io); code != MDBX_SUCCESS) return code;
    there = engine_to_pair(asked_key, asked_value);
    exact = there && same_key(cursor.key(), asked_key) &&
            compare_values(cursor.value(), asked_value) == 0;
  }
  if (exact && upper) there = cursor.next();
  const int code = found(there, key_io, value_io);
  if (code == MDBX_NOTFOUND) return of_this_key ? behind_all() : not_found(true);
  if (code != MDBX_SUCCESS || upper) return code;
  return exact ? MDBX_SUCCESS : MDBX_RESULT_TRUE;
}

// The engine's cursor is on the first entry that is not before what was asked
// for, if there is one: to the one before.
int MDBX_cursor::found_before(bool there, MDBX_val* key_out, MDBX_val* value_out) {
  if (!there && !failed() && place != Place::kFresh && !moved().first()) {
    const bool by_deletes = place == Place::kGap || emptied;
    not_found();
    emptied = false;
    if (failed()) return txn->fail(engine->status());
    return by_deletes ? int{MDBX_NOTFOUND} : int{MDBX_ENODATA};
  }
  const int code = found(there ? engine->prev() : moved().last(), key_out, value_out);
  if (code != MDBX_NOTFOUND) return code;
  return there ? before_first() : not_found();
}

int MDBX_cursor::to_key(MDBX_val* key_io, MDBX_val* value_out, int operation) {
  const std::string asked(view(*key_io));
  if (const int code = check_key(*key_io); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  leave_engine();
  bool there = cursor.seek(asked);
  const bool exact = there && same_key(cursor.key(), asked);
  if (operation == MDBX_TO_KEY_LESSER_THAN ||
      (operation == MDBX_TO_KEY_LESSER_OR_EQUAL && !exact)) {
    return found_before(there, key_io, value_out);
  }
  if (operation == MDBX_TO_KEY_GREATER_THAN && exact) {
    there = multi() ? cursor.next_key() : cursor.next();
  }
  const int code = found(there, key_io, value_out);
  if (code == MDBX_NOTFOUND) return exact ? behind_all() : not_found(true);
  return code == MDBX_SUCCESS && operation == MDBX_TO_KEY_EQUAL && !exact ? int{MDBX_NOTFOUND}
                                                                          : code;
}

// By the values of this key.
int MDBX_cursor::to_value(MDBX_val* key_io, MDBX_val* value_io, int operation) {
  const std::string asked_key(view(*key_io));
  const std::string asked_value(view(*value_io));
  if (const int code = check_key(*key_io); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  leave_engine();
  if (!cursor.seek(asked_key) || !same_key(cursor.key(), asked_key)) return not_found();
  if (const int code = check_value(*value_io); code != MDBX_SUCCESS) return code;
  bool one = true;
  if (const int code = has_one_value(&one); code != MDBX_SUCCESS) return code;
  bool there = one;
  int order = compare_values(cursor.value(), asked_value);
  if (!one) {
    there = cursor.seek_value(asked_key, asked_value);
    if (!there && (failed() || !cursor.seek(asked_key) || !cursor.last_value())) {
      return not_found();
    }
    order = compare_values(cursor.value(), asked_value);
  }
  // On the first value that is not before the one asked for, or the last one.
  bool fits = false;
  switch (operation) {
    case MDBX_TO_EXACT_KEY_VALUE_LESSER_THAN:
      fits = order < 0 || cursor.prev_value();
      break;
    case MDBX_TO_EXACT_KEY_VALUE_LESSER_OR_EQUAL:
      fits = order <= 0 || cursor.prev_value();
      break;
    case MDBX_TO_EXACT_KEY_VALUE_EQUAL:
      fits = order == 0;
      break;
    case MDBX_TO_EXACT_KEY_VALUE_GREATER_OR_EQUAL:
      fits = order >= 0;
      break;
    default:
      fits = order > 0 || (order == 0 && cursor.next_value());
      break;
  }
  const int code = found(true, key_io, value_io);
  if (code != MDBX_SUCCESS || fits) return code;
  if (!one && order <= 0 && operation >= MDBX_TO_EXACT_KEY_VALUE_EQUAL) {
    leave_engine();
    among = Among::kLast;
  }
  return failed() ? txn->fail(engine->status()) : int{MDBX_NOTFOUND};
}

int MDBX_cursor::to_pair(MDBX_val* key_io, MDBX_val* value_io, int operation) {
  const std::string asked_key(view(*key_io));
  const std::string asked_value(view(*value_io));
  if (const int code = check_key(*key_io); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  leave_engine();
  bool there = cursor.seek(asked_key);
  const bool of_this_key = there && same_key(cursor.key(), asked_key);
  if (of_this_key) {
    if (const int code = check_value(*value_io); code != MDBX_SUCCESS) return code;
    there = engine_to_pair(asked_key, asked_value);
  }
  const bool same = there && same_key(cursor.key(), asked_key);
  const bool exact = same && compare_values(cursor.value(), asked_value) == 0;
  if (operation == MDBX_TO_PAIR_LESSER_THAN ||
      (operation == MDBX_TO_PAIR_LESSER_OR_EQUAL && !exact)) {
    return found_before(there, key_io, value_io);
  }
  if (operation == MDBX_TO_PAIR_EQUAL && of_this_key && !same) {
    // It is on the key, behind its values.
    if (!cursor.seek(asked_key) || (multi() && !cursor.last_value())) return not_found();
    const int code = found(true, nullptr, nullptr);
    if (code != MDBX_SUCCESS) return code;
    bool one = true;
    if (const int counted = has_one_value(&one); counted != MDBX_SUCCESS) return counted;
    if (!one) {
      leave_engine();
      among = Among::kLast;
    }
    return MDBX_NOTFOUND;
  }
  if (operation == MDBX_TO_PAIR_GREATER_THAN && exact) there = cursor.next();
  const int code = found(there, key_io, value_io);
  if (code == MDBX_NOTFOUND) return of_this_key ? behind_all() : not_found(true);
  return code == MDBX_SUCCESS && operation == MDBX_TO_PAIR_EQUAL && !exact ? int{MDBX_NOTFOUND}
                                                                           : code;
}

bool MDBX_cursor::engine_to_pair(std::string_view at_key, std::string_view at_value) {
  hawthorn::Cursor& cursor = moved();
  if (!multi()) {
    if (!cursor.seek(at_key)) return false;
    if (!same_key(cursor.key(), at_key)) return true;
    return compare_values(cursor.value(), at_value) >= 0 || cursor.next();
  }
  if (cursor.seek_value(at_key, at_value)) return true;
  if (!cursor.status().ok() || !cursor.seek(at_key)) return false;
  return !same_key(cursor.key(), at_key) || cursor.next_key();
}

int MDBX_cursor::get(MDBX_val* key_io, MDBX_val* value_io, MDBX_cursor_op operation) {
  if (table->table->garbage) return MDBX_NOTFOUND;
  bool exact = false;
  switch (operation) {
    case MDBX_FIRST:
      return first(key_io, value_io);
    case MDBX_LAST:
      return last(key_io, value_io);
    case MDBX_NEXT:
    case MDBX_NEXT_DUP:
    case MDBX_NEXT_NODUP:
      return step(true, operation, key_io, value_io);
    case MDBX_PREV:
    case MDBX_PREV_DUP:
    case MDBX_PREV_NODUP:
      return step(false, operation, key_io, value_io);
    case MDBX_GET_CURRENT:
      return current(key_io, value_io);
    case MDBX_FIRST_DUP:
    case MDBX_LAST_DUP:
      if (value_io == nullptr && !txn->env->lmdb) return MDBX_EINVAL;
      return first_or_last_value(operation == MDBX_FIRST_DUP, key_io, value_io);
    case MDBX_GET_BOTH:
    case MDBX_GET_BOTH_RANGE:
      if (value_io == nullptr) return MDBX_EINVAL;
      if (!multi()) return MDBX_INCOMPATIBLE;
      if (key_io == nullptr) return MDBX_EINVAL;
      return seek_pair(key_io, value_io, operation == MDBX_GET_BOTH_RANGE);
    case MDBX_SET:
    case MDBX_SET_KEY:
    case MDBX_SET_RANGE:
      if (key_io == nullptr) return MDBX_EINVAL;
      return seek_key(key_io, value_io, operation == MDBX_SET_RANGE, operation != MDBX_SET, &exact);
    case MDBX_SEEK_AND_GET_MULTIPLE: {
      if (key_io == nullptr) return MDBX_EINVAL;
      const int code = seek_key(key_io, nullptr, false, false, &exact);
      return code == MDBX_SUCCESS ? multiple(key_io, value_io, MDBX_GET_MULTIPLE) : code;
    }
    case MDBX_GET_MULTIPLE:
    case MDBX_NEXT_MULTIPLE:
    case MDBX_PREV_MULTIPLE:
      return multiple(key_io, value_io, operation);
    case MDBX_SET_LOWERBOUND:
    case MDBX_SET_UPPERBOUND:
      if (key_io == nullptr || value_io == nullptr) return MDBX_EINVAL;
      return bound(key_io, value_io, operation == MDBX_SET_UPPERBOUND);
    case MDBX_TO_KEY_LESSER_THAN:
    case MDBX_TO_KEY_LESSER_OR_EQUAL:
    case MDBX_TO_KEY_EQUAL:
    case MDBX_TO_KEY_GREATER_OR_EQUAL:
    case MDBX_TO_KEY_GREATER_THAN:
      return key_io == nullptr ? MDBX_EINVAL : to_key(key_io, value_io, operation);
    case MDBX_TO_EXACT_KEY_VALUE_LESSER_THAN:
    case MDBX_TO_EXACT_KEY_VALUE_LESSER_OR_EQUAL:
    case MDBX_TO_EXACT_KEY_VALUE_EQUAL:
    case MDBX_TO_EXACT_KEY_VALUE_GREATER_OR_EQUAL:
    case MDBX_TO_EXACT_KEY_VALUE_GREATER_THAN:
      if (key_io == nullptr || value_io == nullptr) return MDBX_EINVAL;
      return to_value(key_io, value_io, operation);
    case MDBX_TO_PAIR_LESSER_THAN:
    case MDBX_TO_PAIR_LESSER_OR_EQUAL:
    case MDBX_TO_PAIR_EQUAL:
    case MDBX_TO_PAIR_GREATER_OR_EQUAL:
    case MDBX_TO_PAIR_GREATER_THAN:
      if (key_io == nullptr || value_io == nullptr) return MDBX_EINVAL;
      return to_pair(key_io, value_io, operation);
    default:
      return MDBX_EINVAL;
  }
}

int MDBX_cursor::get_batch(size_t* count, MDBX_val* pairs, size_t limit, MDBX_cursor_op operation) {
  *count = 0;
  if (multi()) return MDBX_INCOMPATIBLE;
  if (table->table->garbage) return MDBX_NOTFOUND;
  look();
  const bool stands = place == Place::kAt || place == Place::kGap;
  if (operation == MDBX_NEXT) {
    if (place == Place::kFresh || place == Place::kNowhere) return MDBX_ENODATA;
    if (place == Place::kEnd || at_end) return MDBX_NOTFOUND;
  } else if (operation != MDBX_FIRST) {
    return MDBX_EINVAL;
  } else if (!stands) {
    if (const int code = first(nullptr, nullptr); code != MDBX_SUCCESS) return code;
  }
  // Pairs from the present entry on; then it stands on the one behind them.
  const bool gap = place == Place::kGap;
  int code = current(&pairs[0], &pairs[1]);
  while (code == MDBX_SUCCESS) {
    *count += 2;
    const bool full = *count + 2 > limit;
    MDBX_val* const pair = full ? nullptr : &pairs[*count];
    code = step(true, MDBX_NEXT, pair, full ? nullptr : pair + 1);
    if (full && code == MDBX_SUCCESS) {
      if (gap) {
        leave_engine();
        place = Place::kGap;
      }
      return MDBX_SUCCESS;
    }
  }
  if (code != MDBX_NOTFOUND) return code;
  behind_all();
  return MDBX_RESULT_TRUE;
}
