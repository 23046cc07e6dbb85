#pragma once
// A cursor: where a program is in a table.
//
// It remembers the entry on which it stands, or the place between two where one
// was deleted, and moves a cursor of the engine only where a step needs it.
//
// Where it stands tells what the next step does:
//
//   kFresh    NEXT is FIRST, PREV is LAST; also behind a search of an empty
//   table kNowhere  steps are refused (of LMDB: as kFresh) kAt       steps go
//   to the neighbour. `at_end`: NEXT goes nowhere, PREV to the key before kGap
//   its key was deleted: NEXT and GET_CURRENT go to the key behind kEnd NEXT
//   goes nowhere, PREV to the last entry
//
// and, where a key has several values and it is kAt, Among tells the same of
// the values of its key.
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
constexpr uint32_t kCursorClosing = 0x484d4357;  // closed, and lent to a nested transaction

enum class Place : uint8_t {
  kFresh,    // it has not been moved yet
  kNowhere,  // what was looked for is not there
  kAt,       // on an entry
  kGap,      // before the first entry whose key is not before its own one, which was
             // deleted
  kEnd,      // behind the last entry
};

enum class Among : uint8_t {
  kOn,       // on one
  kGap,      // before the first that is not before its own one, which was deleted
  kLast,     // behind the last, which was deleted, or was looked for in vain
  kOutside,  // a step from the key has found no other key
};

// Where a cursor is.
struct CursorPlace {
  std::string key;  // of kAt, where the engine's cursor is elsewhere, and of kGap
  std::string value;
  Place place = Place::kFresh;
  Among among = Among::kOn;
  bool stale = false;       // kAt: the table was written since
  bool at_end = false;      // kAt: on the last key, and a step went beyond it
  bool reads_last = false;  // kEnd: the last entry is still what is read
  bool emptied = false;     // kNowhere: by deletes, which the next step tells
  size_t block = 0;         // values that the last operation on several has handed out
  std::string edge_key;     // the last of the values that were handed out so
  std::string edge;
};

// Whether this can be a key of the table: MDBX_BAD_VALSIZE.
int check_key(MDBX_txn& txn, TxnTable& table, const MDBX_val& key);
// The same of a value among several of a key.
int check_value(MDBX_txn& txn, TxnTable& table, const MDBX_val& value);

// How many entries there are from one place of a table to another one; less
// than none where the second is before the first. Without a begin or an end:
// from, or to, that of the table.
int count_between(MDBX_txn* txn, TxnTable* table, const MDBX_val* begin_key,
                  const MDBX_val* begin_data, const MDBX_val* end_key, const MDBX_val* end_data,
                  ptrdiff_t* distance);

}  // namespace hawthorn::mdbx

struct MDBX_cursor : hawthorn::mdbx::CursorPlace {
  using Place = hawthorn::mdbx::Place;
  using Among = hawthorn::mdbx::Among;

  explicit MDBX_cursor(void* context) : userctx(context) {}
  ~MDBX_cursor() { unbind(); }
  MDBX_cursor(const MDBX_cursor&) = delete;
  MDBX_cursor& operator=(const MDBX_cursor&) = delete;

  // Whether it can be used: MDBX_EBADSIGN, MDBX_EINVAL, or what its transaction
  // says. `bad` as of MDBX_txn::check.
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

  // To which side of the other it stands; both are bound to one table of one
  // transaction.
  int compare(MDBX_cursor& other, bool ignore_values);
  bool on_first();
  bool on_last();
  bool on_first_value();
  bool on_last_value();
  bool on_end_key(bool at_first);
  bool on_end_value(bool at_first);

  // The entry on which it stands, or stood. Lifetime: until it is moved.
  std::string_view current_key() const { return on_engine ? engine->key() : std::string_view(key); }
  std::string_view current_value() const {
    return on_engine ? engine->value() : std::string_view(value);
  }
  // Brings the engine's cursor to its entry (kAt, kOn). False: the entry is
  // gone, and the place is a gap, or an error.
  bool settle();
  // kGap: to the entry behind the gap. False: there is none, and the place
  // another, or an error.
  bool settle_gap();
  // kAt: to the first value of its key. False: the key is gone, and the place a
  // gap, or an error.
  bool settle_key();
  // Among::kGap: to the value behind the gap. False: there is none, and it is
  // kLast or no longer on the key, or an error.
  bool settle_value_gap();
  // Before an entry is put: a gap is before the entry behind it, whatever is
  // put into it.
  void settle_gaps();
  // What has become of its place by now.
  void look();
  // kAt: whether the key has one value.
  int has_one_value(bool* one);
  void leave_engine();  // its place is remembered, and the engine's cursor may
                        // be moved
  bool failed() { return engine && !engine->status().ok(); }

  // Told by its transaction: the table was written; this entry was deleted
  // (without a value, all of the key), all of them were.
  void table_written() { stale = true; }
  void entry_deleted(std::string_view gone_key, const std::string_view* gone_value);
  void table_emptied();
  // The only value of the key was replaced.
  void value_replaced(std::string_view of_key, std::string_view new_value);
  // The engine's cursor goes; the place stays.
  void let_go();
  void reset();

  // To an entry that was just written, or found without the engine's cursor.
  void stand_at(std::string_view new_key, std::string_view new_value);

  bool multi() const { return table->table->multi(); }
  bool same_key(std::string_view a, std::string_view b);
  int compare_keys(std::string_view a, std::string_view b);
  int compare_values(std::string_view a, std::string_view b);
  hawthorn::Cursor& moved();
  // The engine's cursor has been moved: what it has found is the place from
  // then on. Where it has found nothing, the caller says which place that is.
  int found(bool there, MDBX_val* key_out, MDBX_val* value_out);
  // What was looked for is not there, or, of a range, all is before it.
  int not_found(bool range = false);
  // As a step backwards from the first key leaves it, and one forwards from the
  // last: by NEXT, or in the course of a search.
  int before_first();
  int behind_last();
  int behind_all();
  bool to_read_last();
  int hand_out(MDBX_val* key_out, MDBX_val* value_out);

  int first(MDBX_val* key_out, MDBX_val* value_out);
  int last(MDBX_val* key_out, MDBX_val* value_out);
  int to_last(MDBX_val* key_out, MDBX_val* value_out);
  int first_or_last_value(bool to_first, MDBX_val* key_out, MDBX_val* value_out);
  int step(bool forward, MDBX_cursor_op operation, MDBX_val* key_out, MDBX_val* value_out);
  int step_from_gap(bool forward, MDBX_cursor_op operation, MDBX_val* key_out, MDBX_val* value_out);
  bool step_value(bool forward);
  int step_key(bool forward, MDBX_val* key_out, MDBX_val* value_out);
  int current(MDBX_val* key_out, MDBX_val* value_out);
  // To a key, or with `range` to the first that is not before it. `exact`:
  // whether it is the key.
  int seek_key(MDBX_val* key, MDBX_val* value, bool range, bool give_key, bool* exact);
  int seek_pair(MDBX_val* key, MDBX_val* value, bool range);
  int multiple(MDBX_val* key, MDBX_val* value, MDBX_cursor_op operation);
  int gather(size_t back, MDBX_val* key, MDBX_val* value);
  size_t values_of_a_page() const;
  int fits_a_page(bool* fits);
  int bound(MDBX_val* key, MDBX_val* value, bool upper);
  int to_key(MDBX_val* key, MDBX_val* value, int operation);
  int to_value(MDBX_val* key, MDBX_val* value, int operation);
  int to_pair(MDBX_val* key, MDBX_val* value, int operation);
  int found_before(bool there, MDBX_val* key_out, MDBX_val* value_out);
  // The engine's cursor to the first entry that is not before the pair; false:
  // there is none.
  bool engine_to_pair(std::string_view at_key, std::string_view at_value);
  int check_key(const MDBX_val& asked) { return hawthorn::mdbx::check_key(*txn, *table, asked); }
  int check_value(const MDBX_val& asked) {
    return hawthorn::mdbx::check_value(*txn, *table, asked);
  }

  uint32_t signature = hawthorn::mdbx::kCursorUnbound;
  void* userctx;
  MDBX_txn* txn = nullptr;
  MDBX_dbi dbi = 0;
  hawthorn::mdbx::TxnTable* table = nullptr;
  MDBX_cursor* next = nullptr;
  MDBX_cursor* previous = nullptr;

  std::optional<hawthorn::Cursor> engine;
  bool on_engine = false;  // kAt: the engine's cursor stands there
  uint32_t lent = 0;       // to so many transactions, one in the other (nested.cc)
};

template <typename Use>
void MDBX_txn::each_cursor(TxnTable* found, const Use& use) {
  for (MDBX_cursor* cursor = found->cursors; cursor != nullptr; cursor = cursor->next) use(*cursor);
}
