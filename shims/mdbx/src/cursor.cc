#include "shims/mdbx/src/cursor.h"

#include "shims/mdbx/src/debug.h"

using hawthorn::mdbx::Place;
using hawthorn::mdbx::TxnTable;
using hawthorn::mdbx::val;
using hawthorn::mdbx::view;
namespace mdbx_shim = hawthorn::mdbx;

int MDBX_cursor::check(const MDBX_cursor* cursor, unsigned bad) {
  if (cursor == nullptr) return MDBX_EINVAL;
  if (cursor->signature != mdbx_shim::kCursorBound) {
    return cursor->signature == mdbx_shim::kCursorUnbound ? MDBX_EINVAL : MDBX_EBADSIGN;
  }
  if (const int code = MDBX_txn::check(cursor->txn, bad); code != MDBX_SUCCESS) return code;
  if (bad == 0) return MDBX_SUCCESS;
  TxnTable* now = nullptr;
  if (const int code = cursor->txn->table(cursor->dbi, &now); code != MDBX_SUCCESS) return code;
  return now == cursor->table ? MDBX_SUCCESS : MDBX_BAD_DBI;
}

int MDBX_cursor::check_write(const MDBX_cursor* cursor) {
  return check(cursor, (MDBX_TXN_BLOCKED & ~MDBX_TXN_PARKED) | MDBX_TXN_RDONLY);
}

int MDBX_cursor::bind(MDBX_txn* transaction, MDBX_dbi handle) {
  if (signature != mdbx_shim::kCursorUnbound && signature != mdbx_shim::kCursorBound) {
    return MDBX_EBADSIGN;
  }
  int code = MDBX_txn::check(transaction, MDBX_TXN_FINISHED | MDBX_TXN_HAS_CHILD);
  if (code != MDBX_SUCCESS) return code;
  if (handle == mdbx_shim::kGarbageDbi && !transaction->read_only()) return MDBX_EACCESS;
  TxnTable* found = nullptr;
  code = transaction->table(handle, &found);
  if (code != MDBX_SUCCESS) return code;
  if (signature == mdbx_shim::kCursorBound) {
    if (txn == transaction && dbi == handle) return MDBX_SUCCESS;
    unbind();
  }
  txn = transaction;
  dbi = handle;
  table = found;
  place = Place::kFresh;
  signature = mdbx_shim::kCursorBound;
  txn->attach(this);
  return MDBX_SUCCESS;
}

void MDBX_cursor::unbind() {
  if (signature != mdbx_shim::kCursorBound) return;
  txn->detach(this);
  engine.reset();
  on_engine = stale = at_end = false;
  place = Place::kFresh;
  txn = nullptr;
  table = nullptr;
  signature = mdbx_shim::kCursorUnbound;
}

int MDBX_cursor::copy_to(MDBX_cursor* other) {
  if (other == nullptr) return MDBX_EINVAL;
  if (const int code = other->bind(txn, dbi); code != MDBX_SUCCESS) return code;
  other->key = current_key();
  other->value = current_value();
  other->place = place;
  other->on_engine = false;
  other->stale = false;
  other->at_end = at_end;
  other->block = block;
  return MDBX_SUCCESS;
}

int MDBX_cursor::compare_keys(std::string_view a, std::string_view b) {
  const MDBX_val first = val(a);
  const MDBX_val second = val(b);
  return table->table->compare_keys(&first, &second);
}

int MDBX_cursor::compare_values(std::string_view a, std::string_view b) {
  const MDBX_val first = val(a);
  const MDBX_val second = val(b);
  return table->table->compare_values(&first, &second);
}

bool MDBX_cursor::same_key(std::string_view a, std::string_view b) {
  return compare_keys(a, b) == 0;
}

hawthorn::Cursor& MDBX_cursor::moved() {
  if (!engine) engine.emplace(txn->open_cursor(table));
  return *engine;
}

void MDBX_cursor::let_go() {
  if (on_engine) {
    key = engine->key();
    value = engine->value();
    on_engine = false;
  }
  engine.reset();
}

void MDBX_cursor::entry_deleted(std::string_view gone_key, const std::string_view* gone_value) {
  if (place != Place::kAt || !same_key(current_key(), gone_key)) return;
  if (gone_value != nullptr && multi() && compare_values(current_value(), *gone_value) != 0) return;
  if (on_engine) {
    key = engine->key();
    value = engine->value();
    on_engine = false;
  }
  place = Place::kGap;
}

void MDBX_cursor::table_emptied() {
  engine.reset();
  on_engine = stale = at_end = false;
  place = Place::kNowhere;
}

void MDBX_cursor::stand_at(std::string_view new_key, std::string_view new_value) {
  key = new_key;
  value = new_value;
  place = Place::kAt;
  on_engine = stale = at_end = false;
  block = 0;
}

bool MDBX_cursor::settle() {
  if (on_engine && !stale) return true;
  if (on_engine) {
    key = engine->key();
    value = engine->value();
  }
  on_engine = stale = false;
  hawthorn::Cursor& cursor = moved();
  bool there = false;
  if (multi()) {
    there = cursor.seek_value(key, value) && compare_values(cursor.value(), value) == 0;
  } else {
    there = cursor.seek(key) && same_key(cursor.key(), key);
  }
  if (there) {
    on_engine = true;
  } else {
    place = Place::kGap;
  }
  return there;
}

int MDBX_cursor::hand_out(MDBX_val* key_out, MDBX_val* value_out) {
  return txn->keep(*engine, key_out, value_out);
}

int MDBX_cursor::found(bool there, MDBX_val* key_out, MDBX_val* value_out) {
  block = 0;
  if (there) {
    place = Place::kAt;
    on_engine = true;
    stale = at_end = false;
    return hand_out(key_out, value_out);
  }
  on_engine = false;
  if (engine && !engine->status().ok()) {
    place = Place::kNowhere;
    return txn->fail(engine->status());
  }
  return MDBX_NOTFOUND;
}

int MDBX_cursor::first(MDBX_val* key_out, MDBX_val* value_out) {
  const int code = found(moved().first(), key_out, value_out);
  if (code == MDBX_NOTFOUND) place = Place::kNowhere;
  return code;
}

int MDBX_cursor::last(MDBX_val* key_out, MDBX_val* value_out) {
  const int code = found(moved().last(), key_out, value_out);
  if (code == MDBX_NOTFOUND) place = Place::kNowhere;
  return code;
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

int MDBX_cursor::step_from_gap(bool forward, MDBX_cursor_op operation, MDBX_val* key_out,
                               MDBX_val* value_out) {
  hawthorn::Cursor& cursor = moved();
  const std::string gone_key = key;
  const std::string gone_value = value;
  bool there = multi() ? engine_to_pair(gone_key, gone_value) : cursor.seek(gone_key);
  const bool same_keys_only = operation == MDBX_NEXT_DUP || operation == MDBX_PREV_DUP;
  if (!forward && !same_keys_only && operation == MDBX_PREV_NODUP && multi()) {
    there = cursor.seek(gone_key) ? cursor.prev() : cursor.last();
  } else if (!forward) {
    there = there ? cursor.prev() : cursor.last();
  } else if (operation == MDBX_NEXT_NODUP && there && same_key(cursor.key(), gone_key)) {
    there = multi() ? cursor.next_key() : there;
  }
  if (there && same_keys_only) there = multi() && same_key(cursor.key(), gone_key);
  const int code = found(there, key_out, value_out);
  if (code != MDBX_NOTFOUND) return code;
  if (!same_keys_only && txn->env->lmdb) {
    if (forward) {
      place = Place::kEnd;
      return MDBX_NOTFOUND;
    }
    const int none = first(nullptr, nullptr);
    return none == MDBX_SUCCESS ? MDBX_NOTFOUND : none;
  }
  if (forward && !same_keys_only) {
    // As behind a step beyond the last entry.
    const int none = last(nullptr, nullptr);
    if (none == MDBX_SUCCESS) at_end = true;
    return none == MDBX_SUCCESS ? MDBX_NOTFOUND : none;
  }
  key = gone_key;
  value = gone_value;
  return MDBX_NOTFOUND;
}

int MDBX_cursor::step(bool forward, MDBX_cursor_op operation, MDBX_val* key_out,
                      MDBX_val* value_out) {
  switch (place) {
    case Place::kFresh:
      return forward ? first(key_out, value_out) : last(key_out, value_out);
    case Place::kNowhere:
      if (!txn->env->lmdb) return MDBX_ENODATA;
      return forward ? first(key_out, value_out) : last(key_out, value_out);
    case Place::kEnd:
      if (forward || operation == MDBX_PREV_DUP) return MDBX_NOTFOUND;
      return last(key_out, value_out);
    case Place::kGap:
      return step_from_gap(forward, operation, key_out, value_out);
    case Place::kAt:
      break;
  }
  const bool values_only = operation == MDBX_NEXT_DUP || operation == MDBX_PREV_DUP;
  if (values_only && !multi()) return MDBX_NOTFOUND;
  if (at_end && !txn->env->lmdb && (forward || values_only)) return MDBX_NOTFOUND;
  if (!on_engine && !settle()) return step_from_gap(forward, operation, key_out, value_out);
  hawthorn::Cursor& cursor = *engine;
  const bool keys_only = operation == MDBX_NEXT_NODUP || operation == MDBX_PREV_NODUP;
  std::string stays_at_key;
  std::string stays_at_value;
  if (keys_only && multi() && txn->env->lmdb) {
    stays_at_key = cursor.key();
    stays_at_value = cursor.value();
  }
  bool there = false;
  if (values_only) {
    there = forward ? cursor.next_value() : cursor.prev_value();
    if (!there && cursor.status().ok()) return MDBX_NOTFOUND;  // it stays where it is
  } else if (!multi()) {
    there = forward ? cursor.next() : cursor.prev();
  } else if (keys_only || (at_end && !txn->env->lmdb)) {
    there = forward ? cursor.next_key() : cursor.prev_key();
  } else {
    there = forward ? cursor.next() : cursor.prev();
  }
  const int code = found(there, key_out, value_out);
  if (code != MDBX_NOTFOUND) return code;
  if (keys_only && multi() && txn->env->lmdb) {
    stand_at(stays_at_key, stays_at_value);
    return MDBX_NOTFOUND;
  }
  // It stays on the last entry, or the first one.
  const int stays = forward ? last(nullptr, nullptr) : first(nullptr, nullptr);
  if (stays == MDBX_SUCCESS) at_end = forward;
  return stays == MDBX_SUCCESS ? MDBX_NOTFOUND : stays;
}

int MDBX_cursor::current(MDBX_val* key_out, MDBX_val* value_out) {
  switch (place) {
    case Place::kFresh:
    case Place::kNowhere:
      return MDBX_ENODATA;
    case Place::kEnd:
      return MDBX_NOTFOUND;
    case Place::kAt:
      if (settle()) return hand_out(key_out, value_out);
      if (!engine->status().ok()) return txn->fail(engine->status());
      break;
    case Place::kGap:
      break;
  }
  // Behind a delete the next entry is the current one, of this key while it has others.
  bool key_remains = false;
  if (multi()) {
    hawthorn::Cursor& cursor = moved();
    key_remains = cursor.seek(key) && same_key(cursor.key(), key);
  }
  return step_from_gap(true, key_remains ? MDBX_NEXT_DUP : MDBX_NEXT_NODUP, key_out, value_out);
}

int MDBX_cursor::count(size_t* values) {
  *values = 0;
  if (place != Place::kAt || !settle()) return MDBX_SUCCESS;
  *values = 1;
  if (!multi()) return MDBX_SUCCESS;
  const hawthorn::Result<uint64_t> there = engine->count_values();
  if (!there.ok()) return txn->fail(there.status());
  *values = *there;
  return MDBX_SUCCESS;
}

int MDBX_cursor::compare(MDBX_cursor& other, bool ignore_values) {
  const bool here = place == Place::kAt || place == Place::kGap || place == Place::kEnd;
  const bool there =
      other.place == Place::kAt || other.place == Place::kGap || other.place == Place::kEnd;
  constexpr int kIncomparable = INT16_MAX + 1;
  if (here != there) return here ? kIncomparable * 4 : -kIncomparable * 4;
  if (!here) return 0;
  if (place == Place::kEnd || other.place == Place::kEnd) {
    return int{place == Place::kEnd} - int{other.place == Place::kEnd};
  }
  const int order = compare_keys(current_key(), other.current_key());
  if (order != 0 || ignore_values || !multi()) return order;
  return compare_values(current_value(), other.current_value());
}

bool MDBX_cursor::on_first() {
  if (place == Place::kFresh || place == Place::kNowhere) return true;
  hawthorn::Cursor& cursor = txn->scratch(table);
  return place == Place::kAt && cursor.first() && same_key(cursor.key(), current_key());
}

bool MDBX_cursor::on_last() {
  if (place == Place::kFresh || place == Place::kNowhere) return true;
  hawthorn::Cursor& cursor = txn->scratch(table);
  return place == Place::kAt && cursor.last() && same_key(cursor.key(), current_key());
}

bool MDBX_cursor::on_first_value() {
  if (place != Place::kAt || !multi() || !settle()) return true;
  hawthorn::Cursor& cursor = txn->scratch(table);
  return cursor.seek(current_key()) && compare_values(cursor.value(), current_value()) == 0;
}

bool MDBX_cursor::on_last_value() {
  if (place != Place::kAt || !multi() || !settle()) return true;
  hawthorn::Cursor& cursor = txn->scratch(table);
  return cursor.seek_for_prev(current_key()) &&
         compare_values(cursor.value(), current_value()) == 0;
}
