// Reads of transactions.

#include "c/cursor.h"
#include "c/read.h"
#include "hawthorn/c/transaction.h"

namespace hawthorn::c {

namespace {
// A read of one key: arguments are looked at, and `body` gets the transaction and the key.
template <typename Body>
hawthorn_code txn_read(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                       size_t key_size, hawthorn_error** error, Body&& body) {
  return call(error, [&]() -> Status {
    const Bytes bytes(key, key_size, "key");
    if (Status s = need(TxnTree(txn, tree), bytes); !s.ok()) return s;
    return body(txn->held->txn, bytes.view());
  });
}

// Lets go of what the caller's value holds, and makes it belong to the transaction's database.
Status prepare_value(hawthorn_txn* txn, hawthorn_value* value) {
  if (Status s = need(Given(value, "value")); !s.ok()) return s;
  if (value->db != txn->held->db) {
    value->value.reset();
    value->db = txn->held->db;
  }
  return {};
}

Status txn_read_many(hawthorn_txn* txn, const hawthorn_tree* tree,
                     std::span<const std::string_view> keys, hawthorn_read_batch* batch) {
  batch->batch.reset();
  batch->value_bytes = 0;
  belong_to(batch, txn->held->db);
  Status s = txn->held->txn.multi_get(tree->tree, keys, batch->batch);
  if (s.ok()) {
    count_bytes(batch);
  } else {
    batch->batch.reset();
  }
  return s;
}
}  // namespace

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::Transaction;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::Given;
using hawthorn::c::need;
using hawthorn::c::Room;
using hawthorn::c::txn_read;
using hawthorn::c::TxnTree;

hawthorn_code hawthorn_txn_get(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                               size_t key_size, hawthorn_value* value, hawthorn_error** error) {
  return txn_read(txn, tree, key, key_size, error,
                  [&](Transaction& on, std::string_view k) -> Status {
                    Status s = hawthorn::c::prepare_value(txn, value);
                    if (!s.ok()) return s;
                    s = on.get(tree->tree, k, value->value);
                    if (!s.ok()) value->value.reset();
                    return s;
                  });
}

hawthorn_code hawthorn_txn_get_into(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                    size_t key_size, void* buffer, size_t capacity, size_t* size,
                                    hawthorn_error** error) {
  return txn_read(txn, tree, key, key_size, error,
                  [&](Transaction& on, std::string_view k) -> Status {
                    Status s = need(Room(buffer, capacity), Given(size, "size"));
                    if (!s.ok()) return s;
                    hawthorn::Value value;
                    s = on.get(tree->tree, k, value);
                    if (!s.ok()) return s;
                    return hawthorn::c::copy_out(value.view(), buffer, capacity, size);
                  });
}

hawthorn_code hawthorn_txn_get_for_update(hawthorn_txn* txn, const hawthorn_tree* tree,
                                          const void* key, size_t key_size, hawthorn_value* value,
                                          hawthorn_error** error) {
  return txn_read(txn, tree, key, key_size, error,
                  [&](Transaction& on, std::string_view k) -> Status {
                    Status s = hawthorn::c::prepare_value(txn, value);
                    if (!s.ok()) return s;
                    s = on.get_for_update(tree->tree, k, value->value);
                    if (!s.ok()) value->value.reset();
                    return s;
                  });
}

hawthorn_code hawthorn_txn_multi_get(hawthorn_txn* txn, const hawthorn_tree* tree,
                                     const hawthorn_bytes* keys, size_t key_count,
                                     hawthorn_read_batch* batch, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    std::vector<std::string_view> views;
    Status s = need(TxnTree(txn, tree), Given(batch, "batch"));
    if (s.ok()) s = hawthorn::c::take_keys(keys, key_count, &views);
    return s.ok() ? hawthorn::c::txn_read_many(txn, tree, views, batch) : s;
  });
}

hawthorn_code hawthorn_txn_multi_get_columns(hawthorn_txn* txn, const hawthorn_tree* tree,
                                             const void* key_bytes, const int64_t* key_offsets,
                                             size_t key_count, hawthorn_read_batch* batch,
                                             hawthorn_columns* columns, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    std::vector<std::string_view> views;
    Status s = need(TxnTree(txn, tree), Given(batch, "batch"));
    if (s.ok()) s = hawthorn::c::take_keys(key_bytes, key_offsets, key_count, &views);
    if (s.ok()) s = hawthorn::c::txn_read_many(txn, tree, views, batch);
    return s.ok() ? hawthorn::c::fill_columns(*batch, 0, columns) : s;
  });
}

hawthorn_code hawthorn_txn_get_pinned(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                      size_t key_size, const void** data, size_t* size,
                                      hawthorn_error** error) {
  return txn_read(txn, tree, key, key_size, error,
                  [&](Transaction& on, std::string_view k) -> Status {
                    Status s = need(Given(data, "data"), Given(size, "size"));
                    if (!s.ok()) return s;
                    const auto pinned = on.get_pinned(tree->tree, k);
                    if (!pinned.ok()) return pinned.status();
                    *data = pinned->data() != nullptr ? pinned->data() : "";
                    *size = pinned->size();
                    return {};
                  });
}

hawthorn_code hawthorn_txn_pin(hawthorn_txn* txn, const hawthorn_cursor* cursor,
                               hawthorn_entry* out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    Status s = need(hawthorn::c::TxnGiven(txn), Given(cursor, "the cursor"), Given(out, "out"));
    if (!s.ok()) return s;
    if (cursor->txn != txn->held) {
      return hawthorn::c::invalid("the cursor is not one of this transaction");
    }
    const auto pinned = txn->held->txn.pin(cursor->cursor);
    if (!pinned.ok()) return pinned.status();
    *out = {pinned->key.data(), pinned->key.size(), pinned->value.data(), pinned->value.size()};
    return {};
  });
}

hawthorn_code hawthorn_txn_release_pinned(hawthorn_txn* txn, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(hawthorn::c::TxnGiven(txn)); !s.ok()) return s;
    txn->held->txn.release_pinned();
    return {};
  });
}

hawthorn_code hawthorn_txn_cursor(hawthorn_txn* txn, const hawthorn_tree* tree,
                                  const hawthorn_cursor_options* options, hawthorn_cursor** out,
                                  hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(TxnTree(txn, tree), Given(out, "out")); !s.ok()) return s;
    hawthorn::CursorOptions taken;
    const hawthorn_snapshot* snapshot = nullptr;
    if (Status s = hawthorn::c::take_cursor_options(options, &taken, &snapshot); !s.ok()) return s;
    if (snapshot != nullptr) {
      return hawthorn::c::invalid("a cursor of a transaction reads what the transaction does");
    }
    return hawthorn::c::hand_out_cursor({.db = txn->held->db,
                                         .snapshot = nullptr,
                                         .txn = txn->held,
                                         .cursor = txn->held->txn.cursor(tree->tree, taken)},
                                        out);
  });
}

hawthorn_code hawthorn_txn_count(hawthorn_txn* txn, const hawthorn_tree* tree, const void* low,
                                 size_t low_size, const void* high, size_t high_size, uint64_t* out,
                                 hawthorn_error** error) {
  return txn_read(
      txn, tree, low, low_size, error, [&](Transaction& on, std::string_view from) -> Status {
        const Bytes to(high, high_size, "high");
        if (Status s = need(to, Given(out, "out")); !s.ok()) return s;
        return hawthorn::c::hand_out_value(on.count(tree->tree, from, to.optional()), out);
      });
}

hawthorn_code hawthorn_txn_read_part(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                     size_t key_size, uint64_t offset, void* buffer,
                                     size_t capacity, size_t* size, hawthorn_error** error) {
  return txn_read(
      txn, tree, key, key_size, error, [&](Transaction& on, std::string_view k) -> Status {
        const Room room(buffer, capacity);
        if (Status s = need(room, Given(size, "size")); !s.ok()) return s;
        return hawthorn::c::hand_out_value(on.read_part(tree->tree, k, offset, room.span()), size);
      });
}

hawthorn_code hawthorn_txn_size_of(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                   size_t key_size, uint64_t* out, hawthorn_error** error) {
  return txn_read(txn, tree, key, key_size, error,
                  [&](Transaction& on, std::string_view k) -> Status {
                    if (Status s = need(Given(out, "out")); !s.ok()) return s;
                    return hawthorn::c::hand_out_value(on.size_of(tree->tree, k), out);
                  });
}

hawthorn_code hawthorn_txn_read_stream(hawthorn_txn* txn, const hawthorn_tree* tree,
                                       const void* key, size_t key_size, uint64_t offset,
                                       hawthorn_stream_sink sink, void* context,
                                       hawthorn_error** error) {
  return txn_read(
      txn, tree, key, key_size, error, [&](Transaction& on, std::string_view k) -> Status {
        if (Status s = need(hawthorn::c::GivenCall(sink, "sink")); !s.ok()) return s;
        return on.read_stream(tree->tree, k, hawthorn::c::sink_of(sink, context), offset);
      });
}
