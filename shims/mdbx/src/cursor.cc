#include "shims/mdbx/src/cursor.h"

#include "shims/mdbx/src/debug.h"

using hawthorn::mdbx::Place;
using hawthorn::mdbx::TxnTable;
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
    if (lent > 0) return MDBX_EINVAL;
    unbind();
  }
  txn = transaction;
  dbi = handle;
  table = found;
  reset();
  signature = mdbx_shim::kCursorBound;
  txn->attach(this);
  return MDBX_SUCCESS;
}

void MDBX_cursor::unbind() {
  if (signature != mdbx_shim::kCursorBound) return;
  txn->detach(this);
  reset();
  txn = nullptr;
  table = nullptr;
  signature = mdbx_shim::kCursorUnbound;
}

int MDBX_cursor::copy_to(MDBX_cursor* other) {
  if (other == nullptr || other == this) return MDBX_EINVAL;
  if (const int code = other->bind(txn, dbi); code != MDBX_SUCCESS) return code;
  other->reset();
  static_cast<mdbx_shim::CursorPlace&>(*other) = *this;
  other->key = current_key();
  other->value = current_value();
  return MDBX_SUCCESS;
}

int MDBX_cursor::compare_keys(std::string_view a, std::string_view b) {
  return table->table->order_of_keys(a, b);
}

int MDBX_cursor::compare_values(std::string_view a, std::string_view b) {
  return table->table->order_of_values(a, b);
}

bool MDBX_cursor::same_key(std::string_view a, std::string_view b) {
  return compare_keys(a, b) == 0;
}

hawthorn::Cursor& MDBX_cursor::moved() {
  txn->write_reserved();
  if (!engine) engine.emplace(txn->open_cursor(table->tree));
  return *engine;
}

void MDBX_cursor::let_go() {
  leave_engine();
  engine.reset();
}

void MDBX_cursor::reset() {
  engine.reset();
  on_engine = stale = at_end = reads_last = emptied = false;
  place = Place::kFresh;
  among = Among::kOn;
  block = 0;
  edge_key.clear();
  edge.clear();
}

void MDBX_cursor::leave_engine() {
  if (!on_engine) return;
  key = engine->key();
  value = engine->value();
  on_engine = false;
}

void MDBX_cursor::entry_deleted(std::string_view gone_key, const std::string_view* gone_value) {
  if (place != Place::kAt || !same_key(current_key(), gone_key)) return;
  if (gone_value != nullptr && multi()) {
    if (among != Among::kOn || compare_values(current_value(), *gone_value) != 0) return;
    leave_engine();
    among = Among::kGap;
    stale = true;
    return;
  }
  leave_engine();
  place = Place::kGap;
  among = Among::kOn;
  at_end = false;
}

void MDBX_cursor::value_replaced(std::string_view of_key, std::string_view new_value) {
  if (place != Place::kAt || !same_key(current_key(), of_key)) return;
  leave_engine();
  value = new_value;
}

void MDBX_cursor::table_emptied() {
  const bool fresh = place == Place::kFresh;
  const bool gap = place == Place::kGap;
  reset();
  if (!fresh) place = Place::kNowhere;
  emptied = gap;
}

void MDBX_cursor::stand_at(std::string_view new_key, std::string_view new_value) {
  key = new_key;
  value = new_value;
  place = Place::kAt;
  among = Among::kOn;
  on_engine = stale = at_end = false;
  block = 0;
}

bool MDBX_cursor::settle() {
  if (on_engine && !stale) return true;
  leave_engine();
  stale = false;
  hawthorn::Cursor& cursor = moved();
  if (!multi()) {
    on_engine = cursor.seek(key) && same_key(cursor.key(), key);
    if (!on_engine && cursor.status().ok()) {
      place = Place::kGap;
      at_end = false;
    }
    return on_engine;
  }
  on_engine = cursor.seek_value(key, value) && compare_values(cursor.value(), value) == 0;
  if (!on_engine && cursor.status().ok() && settle_key()) among = Among::kGap;
  return on_engine;
}

bool MDBX_cursor::settle_key() {
  leave_engine();
  if (moved().seek(key) && same_key(engine->key(), key)) return true;
  if (engine->status().ok()) {
    place = Place::kGap;
    among = Among::kOn;
    at_end = false;
  }
  return false;
}

bool MDBX_cursor::settle_value_gap() {
  if (!settle_key()) return false;
  if (engine->seek_value(key, value)) {
    value = engine->value();
    return true;
  }
  if (engine->status().ok()) among = Among::kLast;
  return false;
}

bool MDBX_cursor::settle_gap() {
  leave_engine();
  if (moved().seek(key)) {
    key = engine->key();
    value = engine->value();
    return true;
  }
  if (!engine->status().ok()) return false;
  place = engine->last() || txn->env->lmdb ? Place::kEnd : Place::kNowhere;
  if (engine->valid()) key = engine->key();
  reads_last = emptied = !txn->env->lmdb;
  return false;
}

void MDBX_cursor::settle_gaps() {
  if (place == Place::kAt && among == Among::kGap) {
    static_cast<void>(settle_value_gap());
  } else if (place == Place::kAt && among != Among::kOn && stale) {
    static_cast<void>(settle_key());  // which may be gone
  }
  if (place == Place::kGap) static_cast<void>(settle_gap());
}

void MDBX_cursor::look() {
  if (place == Place::kAt && among == Among::kOn && stale) static_cast<void>(settle());
  if (place == Place::kAt && among != Among::kOn) static_cast<void>(settle_key());
  settle_gaps();
}

int MDBX_cursor::has_one_value(bool* one) {
  *one = true;
  if (!multi()) return MDBX_SUCCESS;
  const hawthorn::Result<uint64_t> there = engine->count_values();
  if (!there.ok()) return txn->fail(there.status());
  *one = *there == 1;
  return MDBX_SUCCESS;
}

int MDBX_cursor::count(size_t* values) {
  *values = 0;
  bool there = false;
  if (place == Place::kAt) {
    there = among == Among::kOn ? settle() : settle_key();
    if (!there && place == Place::kAt) there = among == Among::kGap && settle_key();
    if (!there && failed()) return txn->fail(engine->status());
  }
  if (place == Place::kGap) there = settle_gap();
  if (failed()) return txn->fail(engine->status());
  if (!there) return MDBX_SUCCESS;
  *values = 1;
  if (!multi() || among == Among::kOutside) return MDBX_SUCCESS;
  const hawthorn::Result<uint64_t> counted = engine->count_values();
  if (!counted.ok()) return txn->fail(counted.status());
  *values = *counted;
  return MDBX_SUCCESS;
}

int MDBX_cursor::compare(MDBX_cursor& other, bool ignore_values) {
  look();
  other.look();
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
  const auto rank = [](const MDBX_cursor& cursor) {
    return cursor.among == Among::kOutside ? -1 : cursor.among == Among::kLast ? 1 : 0;
  };
  if (rank(*this) == 0 && rank(other) == 0) {
    return compare_values(current_value(), other.current_value());
  }
  size_t values = 0;
  if (count(&values) == MDBX_SUCCESS && values <= 1 && other.count(&values) == MDBX_SUCCESS &&
      values <= 1) {
    return 0;
  }
  return rank(*this) - rank(other);
}

bool MDBX_cursor::on_end_key(bool at_first) {
  look();
  if (place == Place::kFresh || place == Place::kNowhere) return true;
  hawthorn::Cursor& cursor = txn->scratch(table);
  if (place == Place::kEnd) {
    return !at_first || (reads_last && cursor.first() && !cursor.next_key());
  }
  return (at_first ? cursor.first() : cursor.last()) && same_key(cursor.key(), current_key());
}

bool MDBX_cursor::on_first() { return on_end_key(true); }

bool MDBX_cursor::on_last() { return on_end_key(false); }

bool MDBX_cursor::on_end_value(bool at_first) {
  look();
  if (!multi() || (place != Place::kAt && place != Place::kGap)) return true;
  if (among == Among::kOutside || (among == Among::kLast && !at_first)) return true;
  hawthorn::Cursor& cursor = txn->scratch(table);
  if (among == Among::kLast) {
    return cursor.seek(current_key()) && !cursor.next_value();
  }
  if (place == Place::kGap) return at_first || (cursor.seek(current_key()) && !cursor.next_value());
  return (at_first ? cursor.seek(current_key()) : cursor.seek_for_prev(current_key())) &&
         compare_values(cursor.value(), current_value()) == 0;
}

bool MDBX_cursor::on_first_value() { return on_end_value(true); }

bool MDBX_cursor::on_last_value() { return on_end_value(false); }
