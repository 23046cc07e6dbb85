// Writes of transactions.

#include "c/handles.h"
#include "c/read.h"
#include "hawthorn/c/transaction.h"

namespace hawthorn::c {

namespace {
// A write of one key and some bytes: arguments are looked at, and `body` gets the transaction, the
// key and the bytes.
template <typename Body>
hawthorn_code txn_write(hawthorn_txn* txn, const hawthorn_tree* tree, const Bytes& key,
                        const Bytes& bytes, hawthorn_error** error, Body&& body) {
  return call(error, [&]() -> Status {
    if (Status s = need(TxnTree(txn, tree), key, bytes); !s.ok()) return s;
    return body(txn->held->txn, key.view(), bytes.view());
  });
}
Bytes no_bytes() { return {nullptr, 0, ""}; }
}  // namespace

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::Transaction;
using hawthorn::c::Bytes;
using hawthorn::c::Given;
using hawthorn::c::GivenCall;
using hawthorn::c::hand_out_value;
using hawthorn::c::need;
using hawthorn::c::no_bytes;
using hawthorn::c::source_of;
using hawthorn::c::txn_write;

hawthorn_code hawthorn_txn_lock(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                size_t key_size, hawthorn_row_lock lock, uint64_t timeout_ms,
                                hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), no_bytes(), error,
                   [&](Transaction& on, std::string_view k, std::string_view) -> Status {
                     const hawthorn::c::OneOf mode(lock, HAWTHORN_ROW_LOCK_EXCLUSIVE, "lock");
                     if (Status s = need(mode); !s.ok()) return s;
                     std::optional<uint64_t> timeout;
                     if (timeout_ms != HAWTHORN_TIMEOUT_DEFAULT) timeout = timeout_ms;
                     return on.lock(tree->tree, k, static_cast<hawthorn::RowLock>(lock), timeout);
                   });
}

hawthorn_code hawthorn_txn_put(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                               size_t key_size, const void* value, size_t value_size,
                               const hawthorn_write_options* options, hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), Bytes(value, value_size, "value"), error,
                   [&](Transaction& on, std::string_view k, std::string_view v) -> Status {
                     hawthorn::c::WriteOptions how;
                     Status s = hawthorn::c::take_write_options(
                         options, hawthorn::c::Writes::kPutInside, &how);
                     if (!s.ok()) return s;
                     if (how.expiry.has_value()) return on.put(tree->tree, k, v, *how.expiry);
                     return on.put(tree->tree, k, v);
                   });
}

hawthorn_code hawthorn_txn_del(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                               size_t key_size, hawthorn_error** error) {
  return txn_write(
      txn, tree, Bytes(key, key_size, "key"), no_bytes(), error,
      [&](Transaction& on, std::string_view k, std::string_view) { return on.del(tree->tree, k); });
}

hawthorn_code hawthorn_txn_del_value(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                     size_t key_size, const void* value, size_t value_size,
                                     hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), Bytes(value, value_size, "value"), error,
                   [&](Transaction& on, std::string_view k, std::string_view v) {
                     return on.del_value(tree->tree, k, v);
                   });
}

hawthorn_code hawthorn_txn_delete_range(hawthorn_txn* txn, const hawthorn_tree* tree,
                                        const void* low, size_t low_size, const void* high,
                                        size_t high_size, hawthorn_error** error) {
  const Bytes to(high, high_size, "high");
  return txn_write(txn, tree, Bytes(low, low_size, "low"), to, error,
                   [&](Transaction& on, std::string_view from, std::string_view) {
                     return on.delete_range(tree->tree, from, to.optional());
                   });
}

hawthorn_code hawthorn_txn_merge(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                 size_t key_size, const void* operand, size_t operand_size,
                                 hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), Bytes(operand, operand_size, "operand"),
                   error, [&](Transaction& on, std::string_view k, std::string_view v) {
                     return on.merge(tree->tree, k, v);
                   });
}

hawthorn_code hawthorn_txn_put_reserve(hawthorn_txn* txn, const hawthorn_tree* tree,
                                       const void* key, size_t key_size, size_t size, void** data,
                                       hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), no_bytes(), error,
                   [&](Transaction& on, std::string_view k, std::string_view) -> Status {
                     if (Status s = need(Given(data, "data")); !s.ok()) return s;
                     const auto bytes = on.put_reserve(tree->tree, k, size);
                     if (!bytes.ok()) return bytes.status();
                     *data = bytes->data();
                     return {};
                   });
}

hawthorn_code hawthorn_txn_finish_reserve(hawthorn_txn* txn, hawthorn_error** error) {
  return hawthorn::c::call(error, [&]() -> Status {
    if (Status s = need(hawthorn::c::TxnGiven(txn)); !s.ok()) return s;
    return txn->held->txn.finish_reserve();
  });
}

hawthorn_code hawthorn_txn_put_stream(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                      size_t key_size, uint64_t size, hawthorn_stream_source source,
                                      void* context, hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), no_bytes(), error,
                   [&](Transaction& on, std::string_view k, std::string_view) -> Status {
                     if (Status s = need(GivenCall(source, "source")); !s.ok()) return s;
                     return on.put_stream(tree->tree, k, size, source_of(source, context));
                   });
}

hawthorn_code hawthorn_txn_write_part(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                      size_t key_size, uint64_t offset, const void* data,
                                      size_t size, hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), Bytes(data, size, "data"), error,
                   [&](Transaction& on, std::string_view k, std::string_view part) {
                     return on.write_part(tree->tree, k, offset, part);
                   });
}

hawthorn_code hawthorn_txn_write_part_stream(hawthorn_txn* txn, const hawthorn_tree* tree,
                                             const void* key, size_t key_size, uint64_t offset,
                                             uint64_t size, hawthorn_stream_source source,
                                             void* context, hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), no_bytes(), error,
                   [&](Transaction& on, std::string_view k, std::string_view) -> Status {
                     if (Status s = need(GivenCall(source, "source")); !s.ok()) return s;
                     return on.write_part_stream(tree->tree, k, offset, size,
                                                 source_of(source, context));
                   });
}

hawthorn_code hawthorn_txn_append(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                  size_t key_size, const void* data, size_t size, uint64_t* offset,
                                  hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), Bytes(data, size, "data"), error,
                   [&](Transaction& on, std::string_view k, std::string_view part) {
                     return hand_out_value(on.append(tree->tree, k, part), offset);
                   });
}

hawthorn_code hawthorn_txn_append_stream(hawthorn_txn* txn, const hawthorn_tree* tree,
                                         const void* key, size_t key_size, uint64_t size,
                                         hawthorn_stream_source source, void* context,
                                         uint64_t* offset, hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), no_bytes(), error,
                   [&](Transaction& on, std::string_view k, std::string_view) -> Status {
                     if (Status s = need(GivenCall(source, "source")); !s.ok()) return s;
                     return hand_out_value(
                         on.append_stream(tree->tree, k, size, source_of(source, context)), offset);
                   });
}

hawthorn_code hawthorn_txn_resize(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                  size_t key_size, uint64_t size, hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), no_bytes(), error,
                   [&](Transaction& on, std::string_view k, std::string_view) {
                     return on.resize(tree->tree, k, size);
                   });
}

// ---- Compare and set

hawthorn_code hawthorn_txn_insert(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                  size_t key_size, const void* value, size_t value_size, int* done,
                                  hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), Bytes(value, value_size, "value"), error,
                   [&](Transaction& on, std::string_view k, std::string_view v) {
                     return hand_out_value(on.insert(tree->tree, k, v), done);
                   });
}

hawthorn_code hawthorn_txn_update(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                  size_t key_size, const void* value, size_t value_size, int* done,
                                  hawthorn_error** error) {
  return txn_write(txn, tree, Bytes(key, key_size, "key"), Bytes(value, value_size, "value"), error,
                   [&](Transaction& on, std::string_view k, std::string_view v) {
                     return hand_out_value(on.update(tree->tree, k, v), done);
                   });
}

hawthorn_code hawthorn_txn_replace(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                   size_t key_size, const void* expected, size_t expected_size,
                                   const void* value, size_t value_size, int* done,
                                   hawthorn_error** error) {
  const Bytes old(expected, expected_size, "expected");
  return txn_write(txn, tree, Bytes(key, key_size, "key"), Bytes(value, value_size, "value"), error,
                   [&](Transaction& on, std::string_view k, std::string_view v) -> Status {
                     if (Status s = need(old); !s.ok()) return s;
                     return hand_out_value(on.replace(tree->tree, k, old.optional(), v), done);
                   });
}

hawthorn_code hawthorn_txn_remove_if(hawthorn_txn* txn, const hawthorn_tree* tree, const void* key,
                                     size_t key_size, const void* expected, size_t expected_size,
                                     int* done, hawthorn_error** error) {
  const Bytes old(expected, expected_size, "expected");
  return txn_write(txn, tree, Bytes(key, key_size, "key"), old, error,
                   [&](Transaction& on, std::string_view k, std::string_view v) {
                     return hand_out_value(on.remove_if(tree->tree, k, v), done);
                   });
}
