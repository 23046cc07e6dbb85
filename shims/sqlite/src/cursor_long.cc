// A cursor on entries of an index whose keys are longer than the engine's may be (long_key.h). None
// of this is called for other ones.

#include <sqlite3.h>

#include <algorithm>
#include <vector>

#include "shims/sqlite/src/cursor.h"
#include "shims/sqlite/src/long_key.h"

using hawthorn::StatusCode;
using hawthorn::sqlite::behind_group;
using hawthorn::sqlite::Between;
using hawthorn::sqlite::decode_long_value;
using hawthorn::sqlite::encode_long_value;
using hawthorn::sqlite::group_of;
using hawthorn::sqlite::is_long;
using hawthorn::sqlite::kLabelBytesMax;
using hawthorn::sqlite::label_between;
using hawthorn::sqlite::label_of;
using hawthorn::sqlite::LongValue;
using hawthorn::sqlite::to_code;

// The value of the entry on which it stands, or the engine's cursor. Valid until either moves.
int HwCursor::read_long(LongValue* value) {
  if (at_ == At::kBatch) return decode_long(batch_->entries[batch_->at].value, value);
  if (!is_unread_) return decode_long(engine_->value(), value);
  hawthorn::Status status = engine_->status();
  if (status.is(StatusCode::kNotSupported)) {
    status = connection->get_large(tree, engine_->key(), &large_);
  }
  return status.ok() ? decode_long(large_, value) : to_code(status);
}

int HwCursor::decode_long(std::string_view bytes, LongValue* value) {
  const std::optional<LongValue> decoded = decode_long_value(bytes);
  if (!decoded.has_value()) return long_is_damaged();
  *value = *decoded;
  return SQLITE_OK;
}

int HwCursor::long_is_damaged() {
  sqlite3_log(SQLITE_CORRUPT, "hawthorn: a long entry of index %u is damaged", root);
  return SQLITE_CORRUPT;
}

// The own key of the entry.
int HwCursor::read_long_key(std::string* own) {
  LongValue value;
  if (const int code = read_long(&value); code != SQLITE_OK) return code;
  own->assign(group_of(current_key()));
  *own += value.rest;
  return SQLITE_OK;
}

int HwCursor::long_begins_with(std::string_view prefix, bool* begins) {
  *begins = is_long(engine_->key()) && group_of(engine_->key()) == group_of(prefix);
  if (!*begins) return SQLITE_OK;
  LongValue value;
  const int code = read_long(&value);
  *begins = code == SQLITE_OK && value.rest.starts_with(behind_group(prefix));
  return code;
}

// Where the first entry is that is not before `wanted` and, where `behind` is set, does not begin
// with it either. By a cursor that reads keys alone, and gets.
int HwCursor::find_long(std::string_view wanted, bool behind, LongPlace* place) {
  const std::string_view rest = behind_group(wanted);
  std::string& low = place->low;
  std::string& high = place->high;
  hawthorn::Cursor labels = connection->open_cursor(tree, true);
  std::string sought;
  const auto seek = [&](std::string_view label, std::string_view end) {
    sought.assign(group_of(wanted));
    sought += label;
    sought += end;
    if (!labels.seek(sought)) return false;
    const std::string_view found = labels.key();
    return is_long(found) && group_of(found) == group_of(wanted) &&
           (high.empty() || behind_group(found) < high);
  };
  const std::string_view zero("\0", 1);
  std::string next;  // the label of the first one behind `low`, where that is known
  while (next != high || high.empty()) {
    if (next.empty()) {
      if (!seek(low, low.empty() ? std::string_view() : zero)) break;
      next = behind_group(labels.key());
    }
    const std::string middle = label_between(low, high, Between::kMiddle);
    const bool is_there = next < middle && seek(middle, {});
    const std::string label = is_there ? std::string(behind_group(labels.key())) : next;
    sought.assign(group_of(wanted));
    sought += label;
    std::string bytes;
    LongValue value;
    if (const int code = get_long(sought, &bytes, &value); code != SQLITE_OK) return code;
    if (value.rest < rest || (behind && value.rest.starts_with(rest))) {
      low = label;
      next.clear();
    } else {
      high = label;
      place->is_same = value.rest.starts_with(rest);
    }
  }
  const hawthorn::Status status = labels.status();
  return status.ok() ? SQLITE_OK : to_code(status);
}

int HwCursor::get_long(std::string_view place, std::string* bytes, LongValue* value) {
  hawthorn::Status status = connection->get(tree, place, value_);
  if (status.ok()) {
    bytes->assign(value_.view());
    value_.reset();
  } else if (status.is(StatusCode::kNotSupported)) {
    status = connection->get_large(tree, place, bytes);
  }
  return status.ok() ? decode_long(*bytes, value) : to_code(status);
}

// The engine's cursor to that place.
int HwCursor::stand_on_long(std::string_view group, const LongPlace& place, bool* found) {
  std::string sought(group);
  sought += place.high.empty() ? place.low : place.high;
  // Behind the last one of the group, which may be none.
  if (place.high.empty() && !place.low.empty()) sought += '\0';
  return stand_on_engine(engine().seek(sought), found);
}

int HwCursor::seek_long(std::string_view wanted, bool behind, bool* found) {
  LongPlace place;
  if (const int code = find_long(wanted, behind, &place); code != SQLITE_OK) {
    nowhere();
    return code;
  }
  return stand_on_long(group_of(wanted), place, found);
}

// As read_key does it, but where it is there the engine's cursor is.
int HwCursor::seek_long_key(int* result) {
  LongPlace place;
  nowhere();
  *result = -1;
  if (const int code = find_long(key, false, &place); code != SQLITE_OK) return code;
  at_ = At::kBelow;
  if (!place.is_same) return SQLITE_OK;
  bool found = false;
  *result = 0;
  const int code = stand_on_long(group_of(key), place, &found);
  return code != SQLITE_OK || found ? code : long_is_damaged();
}

int HwCursor::keep_long_record() {
  LongValue value;
  if (const int code = read_long(&value); code != SQLITE_OK) return code;
  record_ = value.record;
  if (hawthorn::sqlite::is_short(value.record)) {
    std::string own(group_of(current_key()));
    own += value.rest;
    if (!hawthorn::sqlite::restore_record(own, orders.all(), value.record, &record_)) {
      return long_is_damaged();
    }
  }
  return SQLITE_OK;
}

// The engine's key of the entry of `key`, which is there or is to be.
int HwCursor::place_long(std::string* engine_key) {
  LongPlace place;
  const int code = find_long(key, false, &place);
  engine_key->assign(group_of(key));
  *engine_key += place.is_same ? place.high : label_between(place.low, place.high, Between::kNear);
  return code;
}

// Gives the entries of a group labels that leave space between them.
int HwCursor::relabel(std::string_view group) {
  std::vector<std::string> labels;
  hawthorn::Cursor all = connection->open_cursor(tree, true);
  for (bool more = all.seek(group); more && all.key().starts_with(group); more = all.next()) {
    labels.emplace_back(behind_group(all.key()));
  }
  if (!all.status().ok()) return to_code(all.status());
  std::string from(group);
  std::string to(group);
  for (size_t i = 0; i < labels.size(); ++i) {
    // None that another one has still.
    std::string label = label_of(i, labels.size());
    while (std::binary_search(labels.begin(), labels.end(), label)) label += '\x80';
    from.replace(group.size(), std::string::npos, labels[i]);
    to.replace(group.size(), std::string::npos, label);
    std::string bytes;
    LongValue value;
    int code = get_long(from, &bytes, &value);
    if (code == SQLITE_OK) code = connection->del(root, tree, from);
    if (code == SQLITE_OK) code = connection->put(root, tree, to, bytes);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

// Of `key`.
int HwCursor::insert_long(std::string_view record) {
  int code = connection->about_to_change(root, std::nullopt, this);
  if (code != SQLITE_OK) return code;
  stand_saved();
  std::string place;
  code = place_long(&place);
  if (code == SQLITE_OK && behind_group(place).size() > kLabelBytesMax) {
    code = relabel(group_of(key));
    if (code == SQLITE_OK) code = place_long(&place);
  }
  if (code != SQLITE_OK) return code;
  // Mostly the key has all of it.
  std::string shorter;
  if (hawthorn::sqlite::shorten_record(key, orders.all(), record, SIZE_MAX, &shorter))
    record = shorter;
  const LongValue value{.rest = behind_group(key), .record = record};
  return connection->put(root, tree, place, encode_long_value(value));
}

int HwCursor::remove_long() {
  const std::string place(current_key());
  std::string gone;
  if (const int code = read_long_key(&gone); code != SQLITE_OK) return code;
  if (const int code = connection->about_to_change(root, std::nullopt, this); code != SQLITE_OK) {
    return code;
  }
  stand_saved();
  key = std::move(gone);
  return connection->del(root, tree, place);
}
