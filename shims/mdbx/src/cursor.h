#pragma once
// A cursor: where a program is in a table.
//
// It remembers the entry on which it stands, or the place between two where one was deleted, and
// moves a cursor of the engine only where a step needs it.
//
// Threads: one at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hawthorn/cursor.h"
#include "shims/mdbx/src/common.h"
#include "shims/mdbx/src/transaction.h"

namespace hawthorn::mdbx {

constexpr uint32_t kCursorUnbound = 0x484d4355;
constexpr uint32_t kCursorBound = 0x484d4342;

enum class Place : uint8_t {
  kFresh,    // it has not been moved yet
  kNowhere,  // what was looked for is not there
  kAt,       // on an entry
  kGap,      // where an entry was, which is deleted
  kEnd,      // behind the last entry
};

// Whether this can be a key of the table: MDBX_BAD_VALSIZE.
int check_key(const MDBX_txn& txn, const TxnTable& table, const MDBX_val& key);

// How many entries there are from one place of a table to another one; less than none where the
// second is before the first. Without a begin or an end: from, or to, that of the table.
int count_between(MDBX_txn* txn, TxnTable* table, const MDBX_val* begin_key,
                  const MDBX_val* begin_data, const MDBX_val* end_key, const MDBX_val* end_data,
                  ptrdiff_t* distance);

}  // namespace hawthorn::mdbx

struct MDBX_cursor {
  using Place = hawthorn::mdbx::Place;

  explicit MDBX_cursor(void* context) : userctx(context) {}

  // Whether it can be used: MDBX_EBADSIGN, MDBX_EINVAL, or what its transaction says. `bad` as of
  // MDBX_txn::check.
  static int check(const MDBX_cursor* cursor, unsigned bad);
  static int check_write(const MDBX_cursor* cursor);

  int bind(MDBX_txn* transaction, MDBX_dbi handle);
  void unbind();
  int copy_to(MDBX_cursor* other);

  int get(MDBX_val* key, MDBX_val* value, MDBX_cursor_op operation);
  int put(const MDBX_val* key, MDBX_val* value, unsigned put_flags);
  int del(unsigned put_flags);
  int get_batch(size_t* count, MDBX_val* pairs, size_t limit, MDBX_cursor_op operation);
  // How many values the key has on whose entry it stands.
  int count(size_t* values);

  // To which side of the other it stands; both are bound to one table of one transaction.
  int compare(MDBX_cursor& other, bool ignore_values);
  bool on_first();
  bool on_last();
  bool on_first_value();
  bool on_last_value();

  // The entry on which it stands, or stood. Lifetime: until it is moved.
  std::string_view current_key() const { return on_engine ? engine->key() : std::string_view(key); }
  std::string_view current_value() const {
    return on_engine ? engine->value() : std::string_view(value);
  }
  // Brings the engine's cursor to its entry. False: the entry is gone, and the place is a gap.
  bool settle();

  // Told by its transaction: the table was written; this entry was deleted (without a value, all of
  // the key), all of them were.
  void table_written() { stale = true; }
  void entry_deleted(std::string_view gone_key, const std::string_view* gone_value);
  void table_emptied();
  // The engine's cursor goes; the place stays.
  void let_go();

  // To an entry that was just written, or found without the engine's cursor.
  void stand_at(std::string_view new_key, std::string_view new_value);

  bool multi() const { return table->table->multi(); }
  bool same_key(std::string_view a, std::string_view b);
  int compare_keys(std::string_view a, std::string_view b);
  int compare_values(std::string_view a, std::string_view b);
  hawthorn::Cursor& moved();
  // Seeks by the engine's cursor; what is found, or not, is its place from then on.
  int found(bool there, MDBX_val* key_out, MDBX_val* value_out);
  int hand_out(MDBX_val* key_out, MDBX_val* value_out);

  int first(MDBX_val* key_out, MDBX_val* value_out);
  int last(MDBX_val* key_out, MDBX_val* value_out);
  int step(bool forward, MDBX_cursor_op operation, MDBX_val* key_out, MDBX_val* value_out);
  int step_from_gap(bool forward, MDBX_cursor_op operation, MDBX_val* key_out, MDBX_val* value_out);
  int current(MDBX_val* key_out, MDBX_val* value_out);
  // To a key, or with `range` to the first that is not before it. `exact`: whether it is the key.
  int seek_key(MDBX_val* key, MDBX_val* value, bool range, bool give_key, bool* exact);
  int seek_pair(MDBX_val* key, MDBX_val* value, bool range);
  int multiple(MDBX_val* key, MDBX_val* value, MDBX_cursor_op operation);
  int gather(MDBX_val* key, MDBX_val* value);
  int bound(MDBX_val* key, MDBX_val* value, bool upper);
  int to_key(MDBX_val* key, MDBX_val* value, int operation);
  int to_pair(MDBX_val* key, MDBX_val* value, int operation, bool of_this_key);
  // The engine's cursor to the first entry that is not before the pair; false: there is none.
  bool engine_to_pair(std::string_view at_key, std::string_view at_value);
  int check_key(const MDBX_val& asked) { return hawthorn::mdbx::check_key(*txn, *table, asked); }

  uint32_t signature = hawthorn::mdbx::kCursorUnbound;
  void* userctx;
  MDBX_txn* txn = nullptr;
  MDBX_dbi dbi = 0;
  hawthorn::mdbx::TxnTable* table = nullptr;
  MDBX_cursor* next = nullptr;
  MDBX_cursor* previous = nullptr;

  std::optional<hawthorn::Cursor> engine;
  std::string key;  // of kAt, where the engine's cursor is elsewhere, and of kGap
  std::string value;
  Place place = Place::kFresh;
  bool on_engine = false;  // kAt: the engine's cursor stands there
  bool stale = false;      // kAt: the table was written since
  bool at_end = false;     // kAt: a step went beyond it
  size_t block = 0;        // values that the last operation on several has handed out
};

template <typename Use>
void MDBX_txn::each_cursor(TxnTable* found, const Use& use) {
  for (MDBX_cursor* cursor = found->cursors; cursor != nullptr; cursor = cursor->next) use(*cursor);
}
