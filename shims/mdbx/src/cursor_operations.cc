// The operations of mdbx_cursor_get, by the moves of cursor.cc.

#include "shims/mdbx/src/cursor.h"

namespace hawthorn::mdbx {

int check_key(const MDBX_txn& txn, const TxnTable& table, const MDBX_val& key) {
  const unsigned flags = table.table->record.flags;
  if (txn.env->lmdb && key.iov_len == 0) return MDBX_BAD_VALSIZE;
  if (flags & MDBX_INTEGERKEY) {
    return key.iov_len == 4 || key.iov_len == 8 ? MDBX_SUCCESS : MDBX_BAD_VALSIZE;
  }
  return key.iov_len <= key_max(flags) ? MDBX_SUCCESS : MDBX_BAD_VALSIZE;
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
    if (code != MDBX_SUCCESS) {
      block = 0;
      on_engine = false;
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
  if (code == MDBX_NOTFOUND) place = range ? Place::kEnd : Place::kNowhere;
  return code;
}

int MDBX_cursor::seek_pair(MDBX_val* asked, MDBX_val* wanted, bool range) {
  if (const int code = check_key(*asked); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  bool there = cursor.seek_value(view(*asked), view(*wanted));
  if (there && !range) there = compare_values(cursor.value(), view(*wanted)) == 0;
  const int code = found(there, nullptr, wanted);
  if (code == MDBX_NOTFOUND) place = Place::kNowhere;
  return code;
}

// The values of the key from here on, as many as a page would have, one behind the other.
int MDBX_cursor::gather(MDBX_val* key_out, MDBX_val* value_out) {
  hawthorn::Cursor& cursor = *engine;
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
  return txn->keep(all, value_out);
}

int MDBX_cursor::multiple(MDBX_val* key_out, MDBX_val* value_out, MDBX_cursor_op operation) {
  if (value_out == nullptr) return MDBX_EINVAL;
  if (!(table->table->record.flags & MDBX_DUPFIXED)) return MDBX_INCOMPATIBLE;
  if (operation == MDBX_NEXT_MULTIPLE) {
    const int code = step(true, MDBX_NEXT_DUP, nullptr, nullptr);
    return code == MDBX_SUCCESS ? gather(key_out, value_out) : code;
  }
  if (place != Place::kAt || !settle()) return MDBX_ENODATA;
  if (operation != MDBX_PREV_MULTIPLE) return gather(key_out, value_out);
  hawthorn::Cursor& cursor = *engine;
  // To the begin of what was handed out last, and as much before that.
  for (size_t i = 1; i < block; ++i) {
    if (!cursor.prev_value()) break;
  }
  const size_t most =
      std::max<size_t>(1, txn->env->page_bytes / std::max<size_t>(1, cursor.value().size()));
  size_t back = 0;
  while (back < most && cursor.prev_value()) ++back;
  if (!cursor.status().ok()) return txn->fail(cursor.status());
  block = 0;
  if (back == 0) return MDBX_NOTFOUND;
  std::string all(cursor.value());
  for (size_t i = 1; i < back && cursor.next_value(); ++i) all += cursor.value();
  block = back;
  if (key_out != nullptr) {
    if (const int code = txn->keep(cursor.key(), key_out); code != MDBX_SUCCESS) return code;
  }
  return txn->keep(all, value_out);
}

int MDBX_cursor::bound(MDBX_val* key_io, MDBX_val* value_io, bool upper) {
  const std::string asked_key(view(*key_io));
  const bool with_value = value_io->iov_base != nullptr;
  const std::string asked_value(view(*value_io));
  if (const int code = check_key(*key_io); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  bool there = false;
  if (multi() && with_value) {
    there = engine_to_pair(asked_key, asked_value);
  } else {
    there = cursor.seek(asked_key);
  }
  bool exact = there && same_key(cursor.key(), asked_key);
  if (exact && multi() && with_value) exact = compare_values(cursor.value(), asked_value) == 0;
  if (exact && upper) there = cursor.next();
  const int code = found(there, key_io, value_io);
  if (code == MDBX_NOTFOUND) place = Place::kEnd;
  if (code != MDBX_SUCCESS || upper) return code;
  return exact ? MDBX_SUCCESS : MDBX_RESULT_TRUE;
}

int MDBX_cursor::to_key(MDBX_val* key_io, MDBX_val* value_out, int operation) {
  const std::string asked(view(*key_io));
  if (const int code = check_key(*key_io); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  bool there = cursor.seek(asked);
  const bool exact = there && same_key(cursor.key(), asked);
  switch (operation) {
    case MDBX_TO_KEY_LESSER_THAN:
      there = there ? cursor.prev() : cursor.last();
      break;
    case MDBX_TO_KEY_LESSER_OR_EQUAL:
      if (!exact) there = there ? cursor.prev() : cursor.last();
      break;
    case MDBX_TO_KEY_EQUAL:
      there = exact;
      break;
    case MDBX_TO_KEY_GREATER_THAN:
      if (exact) there = multi() ? cursor.next_key() : cursor.next();
      break;
    default:
      break;
  }
  const int code = found(there, key_io, value_out);
  if (code == MDBX_NOTFOUND) {
    place = operation > MDBX_TO_KEY_EQUAL ? Place::kEnd : Place::kNowhere;
  }
  return code;
}

int MDBX_cursor::to_pair(MDBX_val* key_io, MDBX_val* value_io, int operation, bool of_this_key) {
  const std::string asked_key(view(*key_io));
  const std::string asked_value(view(*value_io));
  if (const int code = check_key(*key_io); code != MDBX_SUCCESS) return code;
  hawthorn::Cursor& cursor = moved();
  // As an operation on pairs, whichever it is.
  if (of_this_key) operation += MDBX_TO_PAIR_LESSER_THAN - MDBX_TO_EXACT_KEY_VALUE_LESSER_THAN;
  bool there = engine_to_pair(asked_key, asked_value);
  const bool exact = there && same_key(cursor.key(), asked_key) &&
                     compare_values(cursor.value(), asked_value) == 0;
  switch (operation) {
    case MDBX_TO_PAIR_LESSER_THAN:
      there = there ? cursor.prev() : cursor.last();
      break;
    case MDBX_TO_PAIR_LESSER_OR_EQUAL:
      if (!exact) there = there ? cursor.prev() : cursor.last();
      break;
    case MDBX_TO_PAIR_EQUAL:
      there = exact;
      break;
    case MDBX_TO_PAIR_GREATER_THAN:
      if (exact) there = cursor.next();
      break;
    default:
      break;
  }
  if (there && of_this_key) there = same_key(cursor.key(), asked_key);
  const int code = found(there, key_io, value_io);
  if (code == MDBX_NOTFOUND) {
    place = operation > MDBX_TO_PAIR_EQUAL && !of_this_key ? Place::kEnd : Place::kNowhere;
  }
  return code;
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
    case MDBX_LAST_DUP: {
      if (value_io == nullptr && !txn->env->lmdb) return MDBX_EINVAL;
      if (place != Place::kAt || !settle()) return MDBX_ENODATA;
      if (multi()) {
        const bool there =
            operation == MDBX_FIRST_DUP ? engine->first_value() : engine->last_value();
        return found(there, key_io, value_io);
      }
      return hand_out(key_io, value_io);
    }
    case MDBX_GET_BOTH:
    case MDBX_GET_BOTH_RANGE:
      if (value_io == nullptr || key_io == nullptr) return MDBX_EINVAL;
      if (!multi()) return MDBX_INCOMPATIBLE;
      return seek_pair(key_io, value_io, operation == MDBX_GET_BOTH_RANGE);
    case MDBX_SET:
    case MDBX_SET_KEY:
    case MDBX_SET_RANGE:
      if (key_io == nullptr) return MDBX_EINVAL;
      return seek_key(key_io, value_io, operation == MDBX_SET_RANGE, operation != MDBX_SET, &exact);
    case MDBX_SEEK_AND_GET_MULTIPLE: {
      if (key_io == nullptr) return MDBX_EINVAL;
      if (!multi()) return MDBX_INCOMPATIBLE;
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
    case MDBX_TO_PAIR_LESSER_THAN:
    case MDBX_TO_PAIR_LESSER_OR_EQUAL:
    case MDBX_TO_PAIR_EQUAL:
    case MDBX_TO_PAIR_GREATER_OR_EQUAL:
    case MDBX_TO_PAIR_GREATER_THAN:
      if (key_io == nullptr || value_io == nullptr) return MDBX_EINVAL;
      return to_pair(key_io, value_io, operation, operation < MDBX_TO_PAIR_LESSER_THAN);
    default:
      return MDBX_EINVAL;
  }
}

int MDBX_cursor::get_batch(size_t* count, MDBX_val* pairs, size_t limit, MDBX_cursor_op operation) {
  *count = 0;
  if (limit < 4) return MDBX_EINVAL;
  if (multi()) return MDBX_INCOMPATIBLE;
  if (table->table->garbage) return MDBX_NOTFOUND;
  int code = MDBX_SUCCESS;
  if (operation == MDBX_FIRST) {
    if (place != Place::kAt) code = first(nullptr, nullptr);
  } else if (operation == MDBX_NEXT) {
    if (place == Place::kFresh || place == Place::kNowhere) return MDBX_ENODATA;
    if (place == Place::kEnd || at_end) return MDBX_NOTFOUND;
  } else {
    return MDBX_EINVAL;
  }
  if (code != MDBX_SUCCESS) return code;
  // Pairs from the present entry on; then it stands on the one behind them.
  code = current(&pairs[0], &pairs[1]);
  while (code == MDBX_SUCCESS) {
    *count += 2;
    if (*count + 2 > limit)
      return step(true, MDBX_NEXT, nullptr, nullptr) == MDBX_NOTFOUND ? MDBX_RESULT_TRUE
                                                                      : MDBX_SUCCESS;
    code = step(true, MDBX_NEXT, &pairs[*count], &pairs[*count + 1]);
  }
  return code == MDBX_NOTFOUND ? MDBX_RESULT_TRUE : code;
}
