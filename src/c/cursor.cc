// Walks: cursors of databases; those of transactions are opened by c/txn_read.cc.

#include "c/cursor.h"

#include <algorithm>

#include "c/columns.h"
#include "c/handles.h"

namespace hawthorn::c {

Status take_cursor_options(const hawthorn_cursor_options* given, CursorOptions* out,
                           const hawthorn_snapshot** snapshot) {
  hawthorn_cursor_options taken;
  if (Status s = take(given, "hawthorn_cursor_options", &taken); !s.ok()) return s;
  const Bytes lower(taken.lower, taken.lower_size, "lower");
  const Bytes upper(taken.upper, taken.upper_size, "upper");
  if (Status s = need(lower, upper); !s.ok()) return s;
  *out = {};
  if (lower.optional().has_value()) out->lower = std::string(lower.view());
  if (upper.optional().has_value()) out->upper = std::string(upper.view());
  out->key_only = taken.keys_only != 0;
  *snapshot = taken.snapshot;
  return {};
}

Status hand_out_cursor(hawthorn_cursor opened, hawthorn_cursor** out) {
  if (Status s = opened.cursor.status(); !s.ok()) return s;
  *out = new hawthorn_cursor(std::move(opened));
  return {};
}

namespace {

// Behind a batch this many entries are asked for at once.
constexpr size_t kBatchEntries = 512;

// OK, or why the cursor cannot move.
Status movable(const hawthorn_cursor* cursor) {
  if (cursor == nullptr) return invalid("the cursor is NULL");
  if (cursor->txn != nullptr && !cursor->txn->txn.open()) {
    return invalid("the cursor's transaction has ended");
  }
  return {};
}

void forget_batch(hawthorn_cursor* cursor) {
  cursor->at = 0;
  cursor->count = 0;
  cursor->left = Status();
}

template <typename Move>
hawthorn_code move_cursor(hawthorn_cursor* cursor, int* found, hawthorn_error** error,
                          Move&& move) {
  return call(error, [&]() -> Status {
    if (found != nullptr) *found = 0;
    if (Status s = movable(cursor); !s.ok()) return s;
    forget_batch(cursor);
    const bool stands = move(cursor->cursor);
    if (found != nullptr) *found = stands ? 1 : 0;
    return stands ? Status() : cursor->cursor.status();
  });
}

// Entries that the engine hands out, of which those that were not taken wait for the next call.
Status refill(hawthorn_cursor* cursor, size_t entries) {
  cursor->batch.resize(std::max(entries, cursor->batch.size()));
  cursor->at = 0;
  cursor->count = cursor->cursor.next_batch(std::span(cursor->batch).first(entries));
  return cursor->count != 0 ? Status() : cursor->cursor.status();
}

Status next_columns(hawthorn_cursor* cursor, hawthorn_columns* columns) {
  ColumnWriter writer(columns, true);
  if (Status s = writer.begin(); !s.ok()) return s;
  if (!cursor->left.ok()) return std::exchange(cursor->left, Status());
  while (!writer.full()) {
    if (cursor->at == cursor->count) {
      Status s = refill(cursor, std::min(writer.room(), kBatchEntries));
      if (!s.ok() && columns->rows == 0) return s;
      // An error behind some rows: those are handed out first.
      cursor->left = std::move(s);
      if (cursor->count == 0) break;
    }
    const Entry& entry = cursor->batch[cursor->at];
    if (!writer.add(entry.key, entry.value)) return writer.end(&entry.key, &entry.value);
    ++cursor->at;
  }
  return writer.end(nullptr, nullptr);
}

Status prev_columns(hawthorn_cursor* cursor, hawthorn_columns* columns) {
  ColumnWriter writer(columns, true);
  if (Status s = writer.begin(); !s.ok()) return s;
  forget_batch(cursor);
  Cursor& at = cursor->cursor;
  if (!at.valid()) {
    if (Status s = at.status(); !s.ok()) return s;
  }
  while (at.valid() && !writer.full()) {
    const std::string_view key = at.key();
    const std::string_view value = at.value();
    if (!writer.add(key, value)) return writer.end(&key, &value);
    // An error behind some rows is what the next call begins with.
    if (!at.prev()) break;
  }
  return writer.end(nullptr, nullptr);
}

}  // namespace

}  // namespace hawthorn::c

using hawthorn::Cursor;
using hawthorn::Status;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::Given;
using hawthorn::c::move_cursor;
using hawthorn::c::need;
using hawthorn::c::TreeOf;

hawthorn_code hawthorn_db_cursor(hawthorn_db* db, const hawthorn_tree* tree,
                                 const hawthorn_cursor_options* options, hawthorn_cursor** out,
                                 hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(TreeOf(db, tree), Given(out, "out")); !s.ok()) return s;
    hawthorn::CursorOptions taken;
    const hawthorn_snapshot* snapshot = nullptr;
    if (Status s = hawthorn::c::take_cursor_options(options, &taken, &snapshot); !s.ok()) return s;
    const hawthorn::c::SnapshotOf at(db, snapshot);
    if (Status s = need(at); !s.ok()) return s;
    taken.snapshot = at.get();
    return hawthorn::c::hand_out_cursor({.db = db->db,
                                         .snapshot = snapshot != nullptr ? snapshot->held : nullptr,
                                         .txn = nullptr,
                                         .cursor = db->db->cursor(tree->tree, taken)},
                                        out);
  });
}

void hawthorn_cursor_free(hawthorn_cursor* cursor) { delete cursor; }

// ---- Moves

#define HAWTHORN_C_MOVE(name)                                                             \
  hawthorn_code hawthorn_cursor_##name(hawthorn_cursor* cursor, int* found,               \
                                       hawthorn_error** error) {                          \
    return move_cursor(cursor, found, error, [](Cursor& moved) { return moved.name(); }); \
  }
HAWTHORN_C_MOVE(first)
HAWTHORN_C_MOVE(last)
HAWTHORN_C_MOVE(next)
HAWTHORN_C_MOVE(prev)
HAWTHORN_C_MOVE(next_key)
HAWTHORN_C_MOVE(prev_key)
HAWTHORN_C_MOVE(next_value)
HAWTHORN_C_MOVE(prev_value)
HAWTHORN_C_MOVE(first_value)
HAWTHORN_C_MOVE(last_value)
#undef HAWTHORN_C_MOVE

hawthorn_code hawthorn_cursor_seek(hawthorn_cursor* cursor, const void* key, size_t key_size,
                                   int* found, hawthorn_error** error) {
  const Bytes bytes(key, key_size, "key");
  if (!bytes.fine()) return call(error, [&] { return need(bytes); });
  return move_cursor(cursor, found, error, [&](Cursor& moved) { return moved.seek(bytes); });
}

hawthorn_code hawthorn_cursor_seek_for_prev(hawthorn_cursor* cursor, const void* key,
                                            size_t key_size, int* found, hawthorn_error** error) {
  const Bytes bytes(key, key_size, "key");
  if (!bytes.fine()) return call(error, [&] { return need(bytes); });
  return move_cursor(cursor, found, error,
                     [&](Cursor& moved) { return moved.seek_for_prev(bytes); });
}

hawthorn_code hawthorn_cursor_skip(hawthorn_cursor* cursor, int64_t count, int* found,
                                   hawthorn_error** error) {
  return move_cursor(cursor, found, error, [&](Cursor& moved) { return moved.skip(count); });
}

hawthorn_code hawthorn_cursor_seek_random(hawthorn_cursor* cursor, uint64_t random, int* found,
                                          hawthorn_error** error) {
  return move_cursor(cursor, found, error,
                     [&](Cursor& moved) { return moved.seek_random(random); });
}

hawthorn_code hawthorn_cursor_seek_value(hawthorn_cursor* cursor, const void* key, size_t key_size,
                                         const void* value, size_t value_size, int* found,
                                         hawthorn_error** error) {
  const Bytes k(key, key_size, "key");
  const Bytes v(value, value_size, "value");
  if (!k.fine() || !v.fine()) return call(error, [&] { return need(k, v); });
  return move_cursor(cursor, found, error, [&](Cursor& moved) { return moved.seek_value(k, v); });
}

// ---- The entry

hawthorn_code hawthorn_cursor_count_values(hawthorn_cursor* cursor, uint64_t* out,
                                           hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = hawthorn::c::movable(cursor); !s.ok()) return s;
    if (Status s = need(Given(out, "out")); !s.ok()) return s;
    return hawthorn::c::hand_out_value(cursor->cursor.count_values(), out);
  });
}

hawthorn_code hawthorn_cursor_is_subtree(const hawthorn_cursor* cursor, int* out,
                                         hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = hawthorn::c::movable(cursor); !s.ok()) return s;
    if (Status s = need(Given(out, "out")); !s.ok()) return s;
    return hawthorn::c::hand_out_value(cursor->cursor.is_subtree(), out);
  });
}

uint64_t hawthorn_cursor_expires_at(const hawthorn_cursor* cursor) {
  return cursor != nullptr && cursor->cursor.valid() ? cursor->cursor.expires_at() : 0;
}
int hawthorn_cursor_valid(const hawthorn_cursor* cursor) {
  return cursor != nullptr && cursor->cursor.valid() ? 1 : 0;
}

namespace hawthorn::c {
namespace {
const void* show_bytes(bool there, std::string_view bytes, size_t* size) {
  if (size != nullptr) *size = there ? bytes.size() : 0;
  if (!there) return nullptr;
  return bytes.data() != nullptr ? bytes.data() : "";
}
}  // namespace
}  // namespace hawthorn::c

const void* hawthorn_cursor_key(const hawthorn_cursor* cursor, size_t* size) {
  const bool there = hawthorn_cursor_valid(cursor) != 0;
  return hawthorn::c::show_bytes(there, there ? cursor->cursor.key() : std::string_view(), size);
}
const void* hawthorn_cursor_value(const hawthorn_cursor* cursor, size_t* size) {
  const bool there = hawthorn_cursor_valid(cursor) != 0;
  return hawthorn::c::show_bytes(there, there ? cursor->cursor.value() : std::string_view(), size);
}

hawthorn_code hawthorn_cursor_status(const hawthorn_cursor* cursor, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = hawthorn::c::movable(cursor); !s.ok()) return s;
    return cursor->cursor.status();
  });
}

// ---- Many at once

hawthorn_code hawthorn_cursor_next_batch(hawthorn_cursor* cursor, hawthorn_entry* entries,
                                         size_t capacity, size_t* count, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = hawthorn::c::movable(cursor); !s.ok()) return s;
    if (Status s = need(Given(entries, "entries"), Given(count, "count")); !s.ok()) return s;
    *count = 0;
    if (capacity == 0) return hawthorn::c::invalid("capacity is 0");
    if (!cursor->left.ok()) return std::exchange(cursor->left, Status());
    if (cursor->at == cursor->count) {
      if (Status s = hawthorn::c::refill(cursor, std::min<size_t>(capacity, 4096)); !s.ok()) {
        return s;
      }
    }
    for (; *count < capacity && cursor->at < cursor->count; ++*count, ++cursor->at) {
      const hawthorn::Entry& e = cursor->batch[cursor->at];
      entries[*count] = {e.key.data(), e.key.size(), e.value.data(), e.value.size()};
    }
    return {};
  });
}

hawthorn_code hawthorn_cursor_next_columns(hawthorn_cursor* cursor, hawthorn_columns* columns,
                                           hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = hawthorn::c::movable(cursor); !s.ok()) return s;
    return hawthorn::c::next_columns(cursor, columns);
  });
}

hawthorn_code hawthorn_cursor_prev_columns(hawthorn_cursor* cursor, hawthorn_columns* columns,
                                           hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = hawthorn::c::movable(cursor); !s.ok()) return s;
    return hawthorn::c::prev_columns(cursor, columns);
  });
}
