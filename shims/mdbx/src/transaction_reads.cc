// Reads by a transaction, of its moment or of its own writes, and what it hands out of them.

#include <cstring>

#include "shims/mdbx/src/cursor.h"
#include "shims/mdbx/src/transaction.h"

using hawthorn::Result;
using hawthorn::Status;
using hawthorn::StatusCode;
using hawthorn::mdbx::TxnTable;
using hawthorn::mdbx::val;

int MDBX_txn::keep(std::string_view bytes, MDBX_val* out) {
  if (out == nullptr) return MDBX_SUCCESS;
  std::string_view copy;
  if (!copies.keep(bytes, &copy)) return copies.error();
  *out = val(copy);
  return MDBX_SUCCESS;
}

int MDBX_txn::keep_large(const hawthorn::Tree& tree, std::string_view key, MDBX_val* out) {
  if (out == nullptr) return MDBX_SUCCESS;
  const hawthorn::ReadOptions options{.snapshot = moment.get()};
  const Result<uint64_t> size =
      read_only() ? db->size_of(tree, key, options) : engine.size_of(tree, key);
  if (!size.ok()) return fail(size.status());
  char* const room = copies.room(*size);
  if (room == nullptr) return copies.error();
  char* at = room;
  const auto take = [&at](std::string_view part) {
    memcpy(at, part.data(), part.size());
    at += part.size();
    return true;
  };
  const Status s = read_only() ? db->read_stream(tree, key, take, 0, options)
                               : engine.read_stream(tree, key, take);
  if (!s.ok()) return fail(s);
  *out = val({room, static_cast<size_t>(*size)});
  return MDBX_SUCCESS;
}

int MDBX_txn::keep(const hawthorn::Cursor& cursor, MDBX_val* key, MDBX_val* data) {
  const int code = keep(cursor.key(), key);
  return code == MDBX_SUCCESS ? keep(cursor.value(), data) : code;
}

int MDBX_txn::get(TxnTable* found, std::string_view key, MDBX_val* data) {
  if (found->table->garbage) return MDBX_NOTFOUND;
  if (found->table->multi()) {
    hawthorn::Cursor& cursor = scratch(found);
    if (!cursor.seek(key)) return cursor.status().ok() ? MDBX_NOTFOUND : fail(cursor.status());
    if (found->table->order_of_keys(key, cursor.key()) != 0) return MDBX_NOTFOUND;
    return keep(cursor, nullptr, data);
  }
  const Status s = read(found->tree, key, value);
  if (s.is(StatusCode::kNotSupported)) return keep_large(found->tree, key, data);
  return s.ok() ? keep(value.view(), data) : fail(s);
}

Status MDBX_txn::read(const hawthorn::Tree& tree, std::string_view key, hawthorn::Value& out) {
  return read_only() ? db->get(tree, key, out, {.snapshot = moment.get()})
                     : engine.get(tree, key, out);
}

Result<uint64_t> MDBX_txn::count(const hawthorn::Tree& tree, std::string_view low,
                                 std::optional<std::string_view> high) {
  return read_only() ? db->count(tree, low, high, {.snapshot = moment.get()})
                     : engine.count(tree, low, high);
}

Result<hawthorn::Tree> MDBX_txn::find_tree(std::string_view name) {
  return read_only() ? db->find_tree(name, {.snapshot = moment.get()}) : engine.find_tree(name);
}

Result<std::vector<std::string>> MDBX_txn::list_trees() {
  return read_only() ? db->list_trees({.snapshot = moment.get()}) : engine.list_trees();
}

hawthorn::Cursor MDBX_txn::open_cursor(const hawthorn::Tree& tree,
                                       hawthorn::CursorOptions options) {
  options.large_as_empty = true;
  if (!read_only()) return engine.cursor(tree, options);
  options.snapshot = moment.get();
  return db->cursor(tree, options);
}

hawthorn::Cursor& MDBX_txn::scratch(TxnTable* found) {
  write_reserved();
  if (!found->scratch) found->scratch = open_cursor(found->tree);
  return *found->scratch;
}
