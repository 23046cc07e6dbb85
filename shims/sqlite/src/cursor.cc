#include "shims/sqlite/src/cursor.h"

#include <sqlite3.h>

#include <utility>

#include "shims/of_thread.h"
#include "shims/sqlite/src/long_key.h"

using hawthorn::Result;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::sqlite::Field;
using hawthorn::sqlite::FieldType;
using hawthorn::sqlite::is_long;
using hawthorn::sqlite::make_successor;
using hawthorn::sqlite::to_code;

namespace {

struct ShortRecord {  // of insert_record, kept between calls
  std::string value;
};

constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr uint32_t kStepsBeforeBatches = 6;
constexpr size_t kSpareKeyBytesMax = 4096;

void encode_row(int64_t row, std::string* key) {
  char bytes[sizeof(uint64_t)];
  hawthorn::sqlite::store_big_endian(bytes, static_cast<uint64_t>(row) ^ kSignBit);
  key->assign(bytes, sizeof(bytes));
}

int64_t decode_row(std::string_view key) {
  if (key.size() != sizeof(uint64_t)) return 0;
  return static_cast<int64_t>(hawthorn::sqlite::load_big_endian(key.data()) ^ kSignBit);
}

}  // namespace

HwCursor::HwCursor(HwConnection* its_connection, unsigned char* its_state, int* its_skip_next)
    : connection(its_connection),
      state(*its_state),
      skip_next(*its_skip_next),
      key(std::move(its_connection->spare_key)) {
  key.clear();
}

void HwCursor::attach() {
  next_cursor = connection->cursors;
  if (next_cursor != nullptr) next_cursor->previous_cursor = this;
  connection->cursors = this;
}

void HwCursor::detach() {
  if (previous_cursor != nullptr) {
    previous_cursor->next_cursor = next_cursor;
  } else if (connection->cursors == this) {
    connection->cursors = next_cursor;
  }
  if (next_cursor != nullptr) next_cursor->previous_cursor = previous_cursor;
  next_cursor = previous_cursor = nullptr;
  value_.reset();
  if (key.capacity() <= kSpareKeyBytesMax) connection->spare_key = std::move(key);
  if (engine_.has_value()) connection->keep_cursor(root, std::move(*engine_));
  engine_.reset();
  at_ = At::kNowhere;
}

// ---- Places

hawthorn::Cursor& HwCursor::engine() {
  steps_ = 0;
  if (!engine_) engine_.emplace(connection->take_cursor(root, tree));
  return *engine_;
}

std::string_view HwCursor::current_key() const {
  if (at_ == At::kEngine) return engine_->key();
  return at_ == At::kBatch ? batch_->entries[batch_->at].key : std::string_view(key);
}

int HwCursor::stand(At where) {
  at_ = where;
  engine_stays_ = false;
  state = HW_VALID;
  place_ = ++connection->places;
  return SQLITE_OK;
}

int HwCursor::nowhere() {
  at_ = At::kNowhere;
  engine_stays_ = false;
  state = HW_INVALID;
  return SQLITE_OK;
}

// Where the engine's cursor has gone.
int HwCursor::stand_on_engine(bool there, bool* found) {
  *found = there;
  const Status& status = engine_->status();
  is_unread_ = !status.ok();
  if (there) return stand(At::kEngine);
  nowhere();
  return is_unread_ ? to_code(status) : SQLITE_OK;
}

// Where there is no memory for the place, it has none.
void HwCursor::save() try {
  if (stands()) {
    // What was skipped to is skipped to again, and where it is there, it is no step.
    if (state == HW_VALID) skip_next = 0;
    engine_stays_ = at_ == At::kEngine && state == HW_VALID;
    if (at_ == At::kEngine || at_ == At::kBatch) keep_engine_key();
    if (at_ == At::kNode) keep_record();
    if (state != HW_FAULT) {
      at_ = At::kSaved;
      state = HW_REQUIRE_SEEK;
    }
  }
  value_.reset();
  if (is_collated()) collated_->entries.forget();
} catch (...) {
  trip(hawthorn::sqlite::exception_code());
}

int HwCursor::fail_by_exception() noexcept {
  const int code = connection->fail_by_exception();
  trip(code);
  return code;
}

const void* HwCursor::payload_by_exception() noexcept {
  payload_code_ = fail_by_exception();
  return nullptr;
}

void HwCursor::keep_engine_key() {
  key = current_key();
  if (!is_long(key)) return;
  // Where it is may change with others of its group.
  engine_stays_ = false;
  if (const int code = read_long_key(&key); code != SQLITE_OK) trip(code);
}

// On what `key` is about to be.
void HwCursor::stand_saved() {
  value_.reset();
  engine_stays_ = false;
  at_ = At::kSaved;
  state = HW_REQUIRE_SEEK;
  skip_next = 0;
}

void HwCursor::leave() {
  save();
  engine_.reset();
  engine_stays_ = false;
}

void HwCursor::clear() {
  value_.reset();
  if (is_collated()) collated_->entries.forget();
  static_cast<void>(nowhere());
}

void HwCursor::trip(int error) {
  clear();
  state = HW_FAULT;
  skip_next = error;
}

void HwCursor::table_changes(std::optional<int64_t> changed, bool by_this) {
  if (by_this) return;
  // One that has failed is as if it had not, as SQLite has it.
  if (is_blob && (!changed.has_value() || sought_row_ == *changed)) return clear();
  save();
}

int HwCursor::restore() {
  if (state == HW_FAULT) return skip_next;
  if (state != HW_REQUIRE_SEEK) return SQLITE_OK;
  int moved = 1;
  const int code = is_collated() ? restore_collated(&moved) : restore_by_key(&moved);
  if (code != SQLITE_OK) return code;
  if (moved != 0) skip_next = moved;
  if (skip_next != 0 && state == HW_VALID) state = HW_SKIP_NEXT;
  return SQLITE_OK;
}

// To the first entry that is not before it.
int HwCursor::seek_engine(std::string_view wanted, bool* found) {
  if (is_long(wanted)) return seek_long(wanted, false, found);
  return stand_on_engine(engine().seek(wanted), found);
}

// Of the entry on which the engine's cursor is.
int HwCursor::begins_with(std::string_view prefix, bool* begins) {
  if (is_long(prefix)) return long_begins_with(prefix, begins);
  *begins = engine_->key().starts_with(prefix);
  return SQLITE_OK;
}

int HwCursor::restore_by_key(int* moved) {
  const std::string wanted = key;
  bool found = false;
  bool same = false;
  int code = seek_engine(wanted, &found);
  if (code == SQLITE_OK && found) code = begins_with(wanted, &same);
  if (code != SQLITE_OK) return code;
  if (same) *moved = 0;
  if (found) return SQLITE_OK;
  *moved = -1;
  return stand_on_engine(engine().last(), &found);
}

int HwCursor::settle_below() {
  bool found = false;
  if (!is_long(key)) return stand_on_engine(engine().seek_for_prev(key), &found);
  const int code = seek_long(key, false, &found);
  if (code != SQLITE_OK) return code;
  return stand_on_engine(found ? engine_->prev() : engine_->last(), &found);
}

// ---- Steps

int HwCursor::first(bool* found) {
  if (state == HW_FAULT) return skip_next;
  if (is_collated()) return stand_on_node(collated_->entries.first(), found);
  return stand_on_engine(engine().first(), found);
}

int HwCursor::last(bool* found) {
  if (state == HW_FAULT) return skip_next;
  if (is_collated()) return stand_on_node(collated_->entries.last(), found);
  if (const auto tail = connection->tails.find(root);
      tail != connection->tails.end() && !is_long(tail->second)) {
    *found = !tail->second.empty();
    if (!*found) return nowhere();
    key = tail->second;
    return stand(At::kTail);
  }
  const int code = stand_on_engine(engine().last(), found);
  if (code == SQLITE_OK && connection->mode == HwConnection::Mode::kWrite) {
    // Either the whole of it is known, or nothing.
    std::string tail(*found ? engine_->key() : std::string_view());
    connection->tails.insert_or_assign(root, std::move(tail));
  }
  return code;
}

// Of its step forward from the engine's entry.
bool HwCursor::takes_batches() {
  return ++steps_ > kStepsBeforeBatches && connection->mode == HwConnection::Mode::kRead &&
         !connection->concurrent;
}

// Goes to the next entry by another batch. SQLITE_DONE: there is none.
int HwCursor::take_batch(bool from_engine) {
  if (batch_ == nullptr) batch_ = std::make_unique<Batch>();
  key = current_key();
  // The first one begins with the entry on which the engine's cursor is.
  size_t at = from_engine ? 1 : 0;
  batch_->count = engine_->next_batch(batch_->entries);
  if (batch_->count == at && at != 0) {
    at = 0;
    batch_->count = engine_->next_batch(batch_->entries);
  }
  if (batch_->count > at) {
    batch_->at = at;
    return stand(At::kBatch);
  }
  bool found = false;
  if (engine_->status().is(StatusCode::kNotSupported)) {
    // A value that is too large for a batch stands by itself.
    found = engine().seek(key);
    if (found && engine_->key() == key) found = engine_->next();
  }
  const int code = stand_on_engine(found, &found);
  return code != SQLITE_OK || found ? code : SQLITE_DONE;
}

// One on, or back. SQLITE_DONE: there is none.
int HwCursor::step(bool forward) {
  if (at_ == At::kBatch && state == HW_VALID) {
    if (!forward) {
      key = current_key();
    } else if (batch_->at + 1 < batch_->count) {
      ++batch_->at;
      return stand(At::kBatch);
    } else {
      return take_batch(false);
    }
  }
  bool found = false;
  int code = SQLITE_OK;
  if (at_ == At::kBelow) {
    code = forward ? seek_engine(key, &found) : settle_below();
    if (forward) return code != SQLITE_OK || found ? code : SQLITE_DONE;
    if (code != SQLITE_OK) return code;
  }
  if (at_ == At::kSaved && engine_stays_ && state == HW_REQUIRE_SEEK) {
    // Whether the entry is still there or not, this is the one behind it.
    code = stand_on_engine(forward ? engine_->next() : engine_->prev(), &found);
    return code != SQLITE_OK || found ? code : SQLITE_DONE;
  }
  if (state != HW_VALID) {
    if (code = restore(); code != SQLITE_OK) return code;
    if (state == HW_INVALID) return SQLITE_DONE;
    if (state == HW_SKIP_NEXT) {
      state = HW_VALID;
      if (forward ? skip_next > 0 : skip_next < 0) return SQLITE_OK;
    }
  }
  if (is_collated()) {
    hawthorn::sqlite::CollatedCursor& entries = collated_->entries;
    code = stand_on_node(forward ? entries.next() : entries.previous(), &found);
    return code != SQLITE_OK || found ? code : SQLITE_DONE;
  }
  value_.reset();
  if (at_ != At::kEngine && !engine().seek(key)) {
    code = stand_on_engine(false, &found);
    return code != SQLITE_OK ? code : SQLITE_DONE;
  }
  if (forward && !is_unread_ && takes_batches()) return take_batch(true);
  code = stand_on_engine(forward ? engine_->next() : engine_->prev(), &found);
  return code != SQLITE_OK || found ? code : SQLITE_DONE;
}

int HwCursor::next() { return step(true); }
int HwCursor::previous() { return step(false); }

bool HwCursor::at_end() {
  if (at_ == At::kBelow) static_cast<void>(settle_below());
  return state != HW_VALID;
}

// By a get. Nothing there: below.
int HwCursor::read_key(int* result) {
  if (is_long(key)) return seek_long_key(result);
  is_large_ = false;
  Status status = connection->get(tree, key, value_);
  if (status.is(StatusCode::kNotSupported)) {
    status = connection->get_large(tree, key, &large_);
    is_large_ = true;
  }
  *result = status.ok() ? 0 : -1;
  if (status.ok()) return stand(At::kValue);
  nowhere();
  if (!status.is_not_found()) return to_code(status);
  at_ = At::kBelow;
  return SQLITE_OK;
}

int HwCursor::seek_row(int64_t wanted, int* result) {
  if (state == HW_FAULT) return skip_next;
  encode_row(wanted, &key);
  const int code = read_key(result);
  if (state == HW_VALID) sought_row_ = wanted;
  return code;
}

int HwCursor::seek_record(std::string_view prefix, bool whole, int equals, int* met, int* result) {
  if (state == HW_FAULT) return skip_next;
  // At most one entry is equal, and what seeks that alone needs no cursor where it is there.
  if (whole && (equals == 0 || (equals > 0 && met != nullptr))) {
    key = prefix;
    const int code = read_key(result);
    if (equals == 0 || code != SQLITE_OK) return code;
    if (state == HW_VALID) {
      *met = 1;
      *result = 1;
      return SQLITE_OK;
    }
  }
  value_.reset();
  bool found = false;
  int code = SQLITE_OK;
  bool equal = false;
  if (equals >= 0) {
    code = seek_engine(prefix, &found);
    if (code == SQLITE_OK && found) code = begins_with(prefix, &equal);
    if (met != nullptr && equal) *met = 1;
    *result = equal && equals == 0 ? 0 : 1;
  } else if (is_long(prefix)) {
    code = seek_long(prefix, true, &found);
    *result = 1;
  } else if (std::string behind(prefix); make_successor(&behind)) {
    code = stand_on_engine(engine().seek(behind), &found);
    *result = 1;
  }
  if (code != SQLITE_OK || (found && (met == nullptr || equals >= 0))) return code;
  // The last one that is not greater: one that is equal, if there is any.
  *result = -1;
  code = stand_on_engine(found ? engine_->prev() : engine_->last(), &found);
  if (met == nullptr || !found || code != SQLITE_OK) return code;
  code = begins_with(prefix, &equal);
  if (equal) *met = 1;
  return code;
}

// ---- The entry

int64_t HwCursor::row() {
  if (at_ == At::kBelow) static_cast<void>(settle_below());
  return at_ == At::kNowhere ? 0 : decode_row(current_key());
}

int64_t HwCursor::place() { return place_; }

// Of an index's entry with a short value.
bool HwCursor::make_record(std::string_view value) {
  if (hawthorn::sqlite::restore_record(current_key(), orders.all(), value, &record_)) return true;
  sqlite3_log(SQLITE_CORRUPT, "hawthorn: an entry of index %u is damaged", root);
  return false;
}

const void* HwCursor::no_payload(int code) {
  payload_code_ = code;
  return nullptr;
}

const void* HwCursor::payload(unsigned* size) {
  if (shown_place_ == place_ && place_ != 0 && state == HW_VALID) {
    *size = static_cast<unsigned>(shown_.size());
    return shown_.data();
  }
  *size = 0;
  int code = SQLITE_OK;
  if (at_ == At::kBelow && (code = settle_below()) != SQLITE_OK) return no_payload(code);
  int result = 0;
  if (at_ == At::kTail && (code = read_key(&result)) != SQLITE_OK) return no_payload(code);
  std::string_view bytes;
  switch (at_) {
    case At::kEngine:
      if (is_long(engine_->key())) {
        if ((code = keep_long_record()) != SQLITE_OK) return no_payload(code);
        bytes = record_;
        break;
      }
      bytes = engine_->value();
      if (!is_unread_) break;
      if (!engine_->status().is(StatusCode::kNotSupported)) {
        return no_payload(to_code(engine_->status()));
      }
      // It is on an entry whose value it has not read, which is too large for it.
      key = engine_->key();
      if ((code = read_key(&result)) != SQLITE_OK) return no_payload(code);
      if (result != 0) return no_payload(SQLITE_CORRUPT);
      [[fallthrough]];
    case At::kValue:
      bytes = is_large_ ? std::string_view(large_) : value_.view();
      break;
    case At::kBatch:
      bytes = batch_->entries[batch_->at].value;
      if (!is_long(current_key())) break;
      if ((code = keep_long_record()) != SQLITE_OK) return no_payload(code);
      bytes = record_;
      break;
    case At::kNode:
      if ((code = collated_->entries.record(&bytes)) != SQLITE_OK) return no_payload(code);
      break;
    default:
      return nullptr;
  }
  if (!is_table && hawthorn::sqlite::is_short(bytes)) {
    if (!make_record(bytes)) return no_payload(SQLITE_CORRUPT);
    bytes = record_;
  }
  shown_ = bytes.data() != nullptr ? bytes : std::string_view("", 0);
  shown_place_ = place_;
  *size = static_cast<unsigned>(shown_.size());
  return shown_.data();
}

// Of `key`.
int HwCursor::insert(std::string_view bytes, std::optional<int64_t> row) {
  const bool stays = at_ == At::kEngine && state == HW_VALID && engine_->key() == key;
  if (const int code = connection->about_to_change(root, row, this); code != SQLITE_OK) {
    return code;
  }
  stand_saved();
  engine_stays_ = stays;
  return connection->put(root, tree, key, bytes);
}

int HwCursor::insert_row(int64_t number, std::string_view data, size_t zeros) {
  encode_row(number, &key);
  if (zeros == 0) return insert(data, number);
  std::string bytes(data);
  bytes.append(zeros, '\0');
  return insert(bytes, number);
}

int HwCursor::insert_record(std::string_view record) {
  if (is_long(key)) return insert_long(record);
  std::string& value = hawthorn::OfThread<ShortRecord>::get().value;
  value.clear();
  const bool is_shorter = hawthorn::sqlite::shorten_record(
      key, orders.all(), record, hawthorn::sqlite::kShortRecordBytesMax, &value);
  return insert(is_shorter ? std::string_view(value) : record, std::nullopt);
}

int HwCursor::remove() {
  if (is_collated()) return remove_collated();
  std::string gone(current_key());
  if (is_long(gone)) return remove_long();
  const bool stays = at_ == At::kEngine && state == HW_VALID;
  const std::optional<int64_t> number =
      is_table ? std::optional<int64_t>(decode_row(gone)) : std::nullopt;
  if (const int code = connection->about_to_change(root, number, this); code != SQLITE_OK) {
    return code;
  }
  stand_saved();
  engine_stays_ = stays;
  key = std::move(gone);
  return connection->del(root, tree, key);
}

int HwCursor::overwrite(uint64_t offset, std::string_view bytes) {
  std::string changed(current_key());
  // Not as a change of the row, which would end other handles of its parts.
  if (const int code = connection->save_all(root, this); code != SQLITE_OK) return code;
  stand_saved();
  key = std::move(changed);
  return connection->write_part(root, tree, key, offset, bytes);
}

int HwCursor::count(int64_t* entries) {
  if (is_collated()) {
    uint64_t counted = 0;
    const int code = collated_->entries.entries(&counted);
    *entries = static_cast<int64_t>(counted);
    return code;
  }
  const Result<uint64_t> counted = connection->count(tree);
  if (!counted.ok()) return to_code(counted.status());
  *entries = static_cast<int64_t>(*counted);
  return SQLITE_OK;
}
