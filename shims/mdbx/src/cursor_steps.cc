// How a cursor moves by one.

#include "shims/mdbx/src/cursor.h"

using hawthorn::mdbx::val;

int MDBX_cursor::hand_out(MDBX_val* key_out, MDBX_val* value_out) {
  if (engine->status().ok()) return txn->keep(*engine, key_out, value_out);
  // It shows a key whose value is too large for it.
  const int code = txn->keep(engine->key(), key_out);
  return code == MDBX_SUCCESS ? txn->keep_large(table->tree, engine->key(), value_out) : code;
}

int MDBX_cursor::found(bool there, MDBX_val* key_out, MDBX_val* value_out) {
  block = 0;
  if (there) {
    place = Place::kAt;
    among = Among::kOn;
    on_engine = true;
    stale = at_end = false;
    return hand_out(key_out, value_out);
  }
  on_engine = false;
  if (failed()) {
    place = Place::kNowhere;
    return txn->fail(engine->status());
  }
  return MDBX_NOTFOUND;
}

int MDBX_cursor::not_found(bool range) {
  block = 0;
  on_engine = false;
  if (failed()) {
    place = Place::kNowhere;
    return txn->fail(engine->status());
  }
  if (place == Place::kFresh || range) {
    const bool empty = !moved().first();
    if (empty && place == Place::kFresh) return MDBX_NOTFOUND;
    if (empty && !txn->env->lmdb) range = false;
  }
  place = range ? Place::kEnd : Place::kNowhere;
  among = Among::kOn;
  at_end = reads_last = false;
  return MDBX_NOTFOUND;
}

int MDBX_cursor::before_first() {
  const bool was_at_end = at_end;
  const int code = found(moved().first(), nullptr, nullptr);
  if (code != MDBX_SUCCESS) return code == MDBX_NOTFOUND ? not_found() : code;
  if (txn->env->lmdb) return MDBX_NOTFOUND;
  at_end = was_at_end;
  if (multi()) {
    leave_engine();
    among = Among::kOutside;
  }
  return MDBX_NOTFOUND;
}

// The engine is on the last entry, or the one that was it when this place was taken.
int MDBX_cursor::behind_last() {
  const int code = found(true, nullptr, nullptr);
  if (code != MDBX_SUCCESS) return code;
  at_end = true;
  if (multi() && !txn->env->lmdb) {
    leave_engine();
    among = Among::kOutside;
  }
  return MDBX_NOTFOUND;
}

int MDBX_cursor::behind_all() {
  const int code = not_found(true);
  if (place != Place::kEnd || txn->env->lmdb || !moved().last()) return code;
  key = engine->key();
  reads_last = true;
  return code;
}

// kEnd: the engine's cursor to the entry that was the last when this place was taken.
bool MDBX_cursor::to_read_last() {
  return (moved().seek(key) && same_key(engine->key(), key)) || (!failed() && engine->last());
}

int MDBX_cursor::first(MDBX_val* key_out, MDBX_val* value_out) {
  const int code = found(moved().first(), key_out, value_out);
  return code == MDBX_NOTFOUND ? not_found() : code;
}

int MDBX_cursor::to_last(MDBX_val* key_out, MDBX_val* value_out) {
  const int code = found(moved().last(), key_out, value_out);
  return code == MDBX_NOTFOUND ? not_found() : code;
}

int MDBX_cursor::last(MDBX_val* key_out, MDBX_val* value_out) {
  const int code = to_last(key_out, value_out);
  if (code != MDBX_SUCCESS || txn->env->lmdb) return code;
  // Behind several values of the last key it is told by the next step only.
  at_end = true;
  if (multi() && engine->prev_value()) {
    at_end = false;
    static_cast<void>(engine->next_value());
  }
  return failed() ? txn->fail(engine->status()) : int{MDBX_SUCCESS};
}

int MDBX_cursor::first_or_last_value(bool to_first, MDBX_val* key_out, MDBX_val* value_out) {
  bool there = false;
  if (place == Place::kAt) {
    there = !multi() || (among == Among::kOn && on_engine) ? settle() : settle_key();
  }
  if (place == Place::kGap && !there && !failed()) there = settle_gap();
  if (failed()) return txn->fail(engine->status());
  if (!there) return MDBX_ENODATA;
  const bool was_at_end = place == Place::kAt && at_end;
  const bool was_gap = place == Place::kGap;
  if (multi()) there = to_first ? engine->first_value() : engine->last_value();
  const int code = found(there, key_out, value_out);
  at_end = was_at_end;
  if (code == MDBX_SUCCESS && was_gap) {
    // It is still the entry to which the next step goes.
    leave_engine();
    place = Place::kGap;
  }
  return code;
}

int MDBX_cursor::step_from_gap(bool forward, MDBX_cursor_op operation, MDBX_val* key_out,
                               MDBX_val* value_out) {
  if (operation == MDBX_PREV_DUP) return MDBX_NOTFOUND;
  if (!settle_gap()) {
    if (failed()) return txn->fail(engine->status());
    return step(forward, operation, key_out, value_out);
  }
  if (operation == MDBX_NEXT_DUP) return MDBX_NOTFOUND;
  if (forward) return found(true, key_out, value_out);
  if (engine->prev()) return found(true, key_out, value_out);
  if (failed()) return txn->fail(engine->status());
  return txn->env->lmdb ? before_first() : int{MDBX_NOTFOUND};
}

// kAt, of several values: the engine's cursor to the next or the previous value
// of the key.
bool MDBX_cursor::step_value(bool forward) {
  switch (among) {
    case Among::kOn:
      return forward ? engine->next_value() : engine->prev_value();
    case Among::kGap:
      if (settle_value_gap()) return forward || engine->prev_value();
      if (failed() || place != Place::kAt) return false;
      [[fallthrough]];
    case Among::kLast:
      if (!settle_key() || !engine->last_value()) return false;
      if (!forward) return true;
      // From then on it is on the last one.
      among = Among::kOn;
      on_engine = true;
      stale = false;
      return false;
    case Among::kOutside:
      return false;
  }
  return false;
}

// kAt: from its key to another one.
int MDBX_cursor::step_key(bool forward, MDBX_val* key_out, MDBX_val* value_out) {
  bool there = false;
  if (!multi()) {
    there = forward ? engine->next() : engine->prev();
  } else {
    if (!on_engine && !settle_key())
      return failed() ? txn->fail(engine->status()) : MDBX_RESULT_TRUE;
    there = forward ? engine->next_key() : engine->prev_key();
  }
  if (there) return found(true, key_out, value_out);
  if (failed()) return txn->fail(engine->status());
  on_engine = false;
  if (!forward) return before_first();
  return engine->last() ? behind_last() : not_found();
}

int MDBX_cursor::step(bool forward, MDBX_cursor_op operation, MDBX_val* key_out,
                      MDBX_val* value_out) {
  const bool lmdb = txn->env->lmdb;
  const bool values_only = operation == MDBX_NEXT_DUP || operation == MDBX_PREV_DUP;
  switch (place) {
    case Place::kNowhere:
      if (!lmdb) return std::exchange(emptied, false) ? MDBX_NOTFOUND : MDBX_ENODATA;
      [[fallthrough]];
    case Place::kFresh:
      return forward ? first(key_out, value_out) : last(key_out, value_out);
    case Place::kEnd:
      if (forward && reads_last) {
        if (!to_read_last()) return failed() ? txn->fail(engine->status()) : not_found();
        return behind_last();
      }
      if (forward || values_only) return MDBX_NOTFOUND;
      return to_last(key_out, value_out);
    case Place::kGap:
      return step_from_gap(forward, operation, key_out, value_out);
    case Place::kAt:
      break;
  }
  if (among != Among::kOn && stale) {
    if (among == Among::kGap ? !settle_value_gap() : !settle_key()) {
      if (failed()) return txn->fail(engine->status());
    }
    stale = false;
    if (place != Place::kAt) return step(forward, operation, key_out, value_out);
  }
  if (at_end && stale && among == Among::kOn && !settle()) {
    if (failed()) return txn->fail(engine->status());
    return step(forward, operation, key_out, value_out);
  }
  if (values_only && !multi()) return MDBX_NOTFOUND;
  if (at_end && !lmdb && (forward || values_only)) return MDBX_NOTFOUND;
  if (among == Among::kOn && !(on_engine && !stale) && !settle()) {
    if (failed()) return txn->fail(engine->status());
    return step(forward, operation, key_out, value_out);
  }
  const bool keys_only = operation == MDBX_NEXT_NODUP || operation == MDBX_PREV_NODUP;
  if (multi() && !keys_only) {
    if (step_value(forward)) return found(true, key_out, value_out);
    if (failed()) return txn->fail(engine->status());
    if (place != Place::kAt) return step(forward, operation, key_out, value_out);
    if (values_only) return MDBX_NOTFOUND;
  }
  const bool stays = lmdb && keys_only && multi() && on_engine;
  const std::string at_key(stays ? engine->key() : std::string_view());
  const std::string at_value(stays ? engine->value() : std::string_view());
  const int code = step_key(forward, key_out, value_out);
  if (stays && code == MDBX_NOTFOUND) stand_at(at_key, at_value);
  return code == MDBX_RESULT_TRUE ? step(forward, operation, key_out, value_out) : code;
}

int MDBX_cursor::current(MDBX_val* key_out, MDBX_val* value_out) {
  switch (place) {
    case Place::kFresh:
    case Place::kNowhere:
      return MDBX_ENODATA;
    case Place::kEnd: {
      if (!reads_last || !to_read_last())
        return failed() ? txn->fail(engine->status()) : MDBX_NOTFOUND;
      bool one = true;
      if (const int code = has_one_value(&one); code != MDBX_SUCCESS) return code;
      return one || value_out == nullptr ? hand_out(key_out, value_out) : int{MDBX_ENODATA};
    }
    case Place::kGap: {
      // Behind a delete the next entry is the current one.
      if (settle_gap()) return found(true, key_out, value_out);
      return failed() ? txn->fail(engine->status()) : current(key_out, value_out);
    }
    case Place::kAt:
      break;
  }
  if (among == Among::kOn && settle()) return hand_out(key_out, value_out);
  if (!failed() && place == Place::kAt && among == Among::kGap && settle_value_gap()) {
    return at_end ? int{MDBX_NOTFOUND} : found(true, key_out, value_out);
  }
  if (failed()) return txn->fail(engine->status());
  if (place != Place::kAt || !settle_key()) {
    return failed() ? txn->fail(engine->status()) : current(key_out, value_out);
  }
  if (among == Among::kLast && txn->env->lmdb) return MDBX_NOTFOUND;
  bool one = true;
  if (const int code = has_one_value(&one); code != MDBX_SUCCESS) return code;
  if (among == Among::kOutside) {
    return one || value_out == nullptr ? hand_out(key_out, value_out) : int{MDBX_ENODATA};
  }
  return engine->last_value() ? hand_out(key_out, value_out) : txn->fail(engine->status());
}
