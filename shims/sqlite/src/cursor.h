#pragma once
// A cursor of SQLite's on a table or an index.
//
// Not here: transactions (connection.h). Threads: that of its connection.
//
// Where it stands is one of these; `state` is what SQLite sees of it:
//
//   nowhere   HW_INVALID
//   below     HW_INVALID, and SQLite was told that it is on a smaller entry than `key`, of which
//             there is none: which one is looked up only when somebody asks
//   engine    HW_VALID: the engine's cursor is there
//   batch     HW_VALID: on one of the entries that the engine's cursor has handed out
//   value     HW_VALID: `key`'s value was read without a cursor
//   tail      HW_VALID: the last entry, whose key is known, and nothing of which was read
//   node      HW_VALID: in an index by a program's own collation
//   saved     HW_REQUIRE_SEEK: `key` was there before the table changed, or the transaction; in an
//             index by a program's own collation it is the record
//
// 1. Before a tree changes each cursor on it is saved, so none is on what is gone.
// 2. A row's key is its number, the sign bit turned round, high bytes first.
// 3. The last entry is known once it was looked for, as long as this connection writes
//    (HwConnection::tails): so appending does not search.
// 4. Who reads and has gone on a few times takes entries in batches, which costs less for each. A
//    transaction that writes does not: a batch would not have what it writes meanwhile.
// 5. An index one of whose columns has a collation that is not SQLite's own, as this connection has
//    it, is a tree of nodes (collated.h), whose entries a function of the dispatcher compares. The
//    other ones have their order in their keys. A cursor of the one sort does not open what is of
//    the other one: neither would find anything there.
// 6. `key` is an entry's own key, and that of the engine's but for long ones (long_key.h): these
//    are read where the engine's cursor is, or in a batch, never as a value or a tail.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/hawthorn.h"
#include "shims/sqlite/src/connection.h"
#include "shims/sqlite/src/long_key.h"
#include "shims/sqlite/src/record_key.h"
#include "shims/sqlite/src/storage.h"
#include "shims/sqlite/src/tree_nodes.h"

struct HwCursor {
  enum class At : uint8_t { kNowhere, kBelow, kEngine, kBatch, kValue, kTail, kNode, kSaved };

  HwCursor(HwConnection* connection, unsigned char* state, int* skip_next);

  // One of these is due on an index, before anything else. SQLITE_ERROR: it is of the other sort.
  int open_collated(const HwCollator& collator);
  int refuse_collated();
  bool is_collated() const { return collated_ != nullptr; }

  void attach();
  void detach();

  // Whether it has a place that a change of its table takes from it.
  bool stands() const { return state == HW_VALID || state == HW_SKIP_NEXT; }
  // Whether nobody else may change its table: it is pinned, and has stood somewhere, which may be
  // what it has deleted itself.
  bool holds() const { return is_pinned && (stands() || state == HW_REQUIRE_SEEK); }
  // Keeps the place, and lets go of what is read there.
  void save();
  // The same, and the engine's cursor goes: the transaction does.
  void leave();
  void clear();
  void trip(int error);
  // In a handler: it fails with the code from now on, which is returned.
  [[gnu::cold]] int fail_by_exception() noexcept;
  [[gnu::cold]] const void* payload_by_exception() noexcept;
  void table_changes(std::optional<int64_t> row, bool by_this);
  int restore();

  int first(bool* found);
  int last(bool* found);
  int next();
  int previous();
  bool at_end();
  int seek_row(int64_t row, int* result);
  int seek_record(std::string_view prefix, bool whole, int equals, int* met, int* result);

  // The same by what the dispatcher seeks, where it is collated.
  int seek_sought(void* sought, int equals, int* met, int* result);

  int64_t row();
  int64_t place();
  // Null: it cannot be read, for the reason of payload_code().
  const void* payload(unsigned* size);
  int payload_code() const { return payload_code_; }

  int insert_row(int64_t row, std::string_view data, size_t zeros);
  int insert_record(std::string_view record);  // of `key`
  int insert_sought(void* sought, std::string_view record);
  int remove();
  int count(int64_t* entries);
  int overwrite(uint64_t offset, std::string_view bytes);

  HwConnection* const connection;
  unsigned char& state;
  int& skip_next;
  HwCursor* next_cursor = nullptr;
  HwCursor* previous_cursor = nullptr;

  uint32_t root = 0;
  bool is_table = true;
  bool writes = false;
  bool is_blob = false;
  bool is_pinned = false;  // its place is not to be saved
  hawthorn::sqlite::ColumnOrders orders;
  hawthorn::Tree tree;
  std::string key;  // see above

 private:
  struct Collated {
    Collated(HwConnection* connection, uint32_t root, const hawthorn::Tree& tree,
             const HwCollator& its_collator)
        : nodes(connection, root, tree), entries(&nodes), collator(its_collator) {}

    hawthorn::sqlite::TreeNodes nodes;
    hawthorn::sqlite::CollatedCursor entries;
    HwCollator collator;
  };

  hawthorn::Cursor& engine();
  int stand(At where);
  void stand_saved();
  int restore_by_key(int* moved);
  int stand_on_engine(bool there, bool* found);
  int step(bool forward);
  bool takes_batches();
  int take_batch(bool from_engine);
  int read_key(int* result);
  int insert(std::string_view bytes, std::optional<int64_t> row);
  int nowhere();
  void keep_engine_key();
  int seek_engine(std::string_view wanted, bool* found);
  int begins_with(std::string_view prefix, bool* begins);
  int settle_below();  // on the entry before
  std::string_view current_key() const;
  bool make_record(std::string_view value);
  const void* no_payload(int code);

  // Entries with long keys (long_key.h).
  int read_long(hawthorn::sqlite::LongValue* value);
  int read_long_key(std::string* own);
  int long_begins_with(std::string_view prefix, bool* begins);
  struct LongPlace {
    std::string low;       // the label of the last one of the group that is before; empty: of none
    std::string high;      // of the first one that is not
    bool is_same = false;  // which begins with what was sought
  };
  int find_long(std::string_view wanted, bool behind, LongPlace* place);
  int get_long(std::string_view place, std::string* bytes, hawthorn::sqlite::LongValue* value);
  int decode_long(std::string_view bytes, hawthorn::sqlite::LongValue* value);
  int long_is_damaged();
  int stand_on_long(std::string_view group, const LongPlace& place, bool* found);
  int seek_long(std::string_view wanted, bool behind, bool* found);
  int seek_long_key(int* result);
  int keep_long_record();
  int place_long(std::string* engine_key);
  int relabel(std::string_view group);
  int insert_long(std::string_view record);
  int remove_long();

  int stand_on_node(int code, bool* found);
  void keep_record();
  int restore_collated(int* moved);
  int remove_collated();

  At at_ = At::kNowhere;
  std::optional<hawthorn::Cursor> engine_;
  struct Batch {
    std::array<hawthorn::Entry, 32> entries;
    size_t at = 0;
    size_t count = 0;
  };
  std::unique_ptr<Batch> batch_;  // made when it is needed
  uint32_t steps_ = 0;            // forward, of the engine's cursor since it was sought
  bool engine_stays_ = false;     // it is still where this one was when it was saved
  std::unique_ptr<Collated> collated_;
  hawthorn::Value value_;
  std::string large_;  // a value that is not read in one piece
  bool is_large_ = false;
  int64_t place_ = 0;
  std::string record_;      // of an index's entry that is not its value
  bool is_unread_ = false;  // the engine's cursor is on a value that is too large for it
  std::string_view shown_;  // the payload, at shown_place_
  int64_t shown_place_ = 0;
  int payload_code_ = 11;   // SQLITE_CORRUPT
  int64_t sought_row_ = 0;  // on which it stood last, by number
};

template <typename Use>
void HwConnection::each_cursor(const Use& use) {
  for (HwCursor* cursor = cursors; cursor != nullptr; cursor = cursor->next_cursor) use(*cursor);
}
