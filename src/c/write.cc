// Writes outside of transactions, and batches.

#include "c/columns.h"
#include "c/handles.h"

struct hawthorn_batch {
  std::shared_ptr<hawthorn::Db> db;  // of its trees; null while it has none
  hawthorn::WriteBatch batch;
};

namespace hawthorn::c {

Status take_write_options(const hawthorn_write_options* given, Writes writes, WriteOptions* out) {
  *out = {};
  if (given == nullptr) return {};
  hawthorn_write_options taken;
  if (Status s = take(given, "hawthorn_write_options", &taken); !s.ok()) return s;
  const DurabilityOf level(taken.durability);
  if (Status s = need(level, OneOf(taken.expiry, HAWTHORN_EXPIRY_AFTER, "expiry")); !s.ok()) {
    return s;
  }
  const bool inside = writes == Writes::kInside || writes == Writes::kPutInside;
  if (inside && level.get() != Durability::kDefault) {
    return invalid("the durability of a write in a transaction or batch is that of its commit");
  }
  out->durability = level.get();
  if (taken.expiry == HAWTHORN_EXPIRY_DEFAULT) return {};
  if (writes != Writes::kPut && writes != Writes::kPutInside) {
    return invalid("only a put says when its entry ends");
  }
  switch (taken.expiry) {
    case HAWTHORN_EXPIRY_AT:
      out->expiry = Expiry::at_ms(taken.expiry_ms);
      break;
    case HAWTHORN_EXPIRY_AFTER:
      out->expiry = Expiry::after_ms(taken.expiry_ms);
      break;
    default:
      out->expiry = Expiry::never();
  }
  return {};
}

namespace {
// A write of one key: arguments are looked at, and `body` gets options and key.
template <typename Body>
hawthorn_code write_key(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                        size_t key_size, const hawthorn_write_options* options, Writes writes,
                        hawthorn_error** error, Body&& body) {
  return call(error, [&]() -> Status {
    const Bytes bytes(key, key_size, "key");
    WriteOptions how;
    Status s = need(TreeOf(db, tree), bytes);
    if (s.ok()) s = take_write_options(options, writes, &how);
    return s.ok() ? body(*db->db, tree->tree, bytes.view(), how) : s;
  });
}

Status told_done(Result<bool> done, int* out) { return hand_out_value(std::move(done), out); }

// An operation of a batch: `body` adds it.
template <typename Body>
hawthorn_code add_to_batch(hawthorn_batch* batch, const hawthorn_tree* tree, const Bytes& first,
                           const Bytes& second, hawthorn_error** error, Body&& body) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(batch, "batch"), Given(tree, "the tree"), first, second); !s.ok()) {
      return s;
    }
    if (batch->db != nullptr && batch->db != tree->db) {
      return invalid("the tree is one of another database than those before");
    }
    Status s = body(batch->batch, tree->tree);
    if (s.ok()) batch->db = tree->db;
    return s;
  });
}
}  // namespace

}  // namespace hawthorn::c

using hawthorn::Db;
using hawthorn::Status;
using hawthorn::Tree;
using hawthorn::WriteBatch;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::Given;
using hawthorn::c::need;
using hawthorn::c::told_done;
using hawthorn::c::TreeOf;
using hawthorn::c::write_key;
using hawthorn::c::WriteOptions;
using hawthorn::c::Writes;

hawthorn_code hawthorn_db_put(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                              size_t key_size, const void* value, size_t value_size,
                              const hawthorn_write_options* options, hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kPut, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes v(value, value_size, "value");
        if (Status s = need(v); !s.ok()) return s;
        if (how.expiry.has_value()) return on.put(in, k, v, *how.expiry, how.durability);
        return on.put(in, k, v, how.durability);
      });
}

hawthorn_code hawthorn_db_del(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                              size_t key_size, const hawthorn_write_options* options,
                              hawthorn_error** error) {
  return write_key(db, tree, key, key_size, options, Writes::kOther, error,
                   [](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) {
                     return on.del(in, k, how.durability);
                   });
}

hawthorn_code hawthorn_db_del_value(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                    size_t key_size, const void* value, size_t value_size,
                                    const hawthorn_write_options* options, hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes v(value, value_size, "value");
        if (Status s = need(v); !s.ok()) return s;
        return on.del_value(in, k, v, how.durability);
      });
}

hawthorn_code hawthorn_db_delete_range(hawthorn_db* db, const hawthorn_tree* tree, const void* low,
                                       size_t low_size, const void* high, size_t high_size,
                                       const hawthorn_write_options* options,
                                       hawthorn_error** error) {
  return write_key(
      db, tree, low, low_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view from, const WriteOptions& how) -> Status {
        const Bytes to(high, high_size, "high");
        if (Status s = need(to); !s.ok()) return s;
        return on.delete_range(in, from, to.optional(), how.durability);
      });
}

hawthorn_code hawthorn_db_merge(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                size_t key_size, const void* operand, size_t operand_size,
                                const hawthorn_write_options* options, hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes v(operand, operand_size, "operand");
        if (Status s = need(v); !s.ok()) return s;
        return on.merge(in, k, v, how.durability);
      });
}

// ---- Compare and set

hawthorn_code hawthorn_db_insert(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                 size_t key_size, const void* value, size_t value_size,
                                 const hawthorn_write_options* options, int* done,
                                 hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes v(value, value_size, "value");
        if (Status s = need(v); !s.ok()) return s;
        return told_done(on.insert(in, k, v, how.durability), done);
      });
}

hawthorn_code hawthorn_db_update(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                 size_t key_size, const void* value, size_t value_size,
                                 const hawthorn_write_options* options, int* done,
                                 hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes v(value, value_size, "value");
        if (Status s = need(v); !s.ok()) return s;
        return told_done(on.update(in, k, v, how.durability), done);
      });
}

hawthorn_code hawthorn_db_replace(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                  size_t key_size, const void* expected, size_t expected_size,
                                  const void* value, size_t value_size,
                                  const hawthorn_write_options* options, int* done,
                                  hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes old(expected, expected_size, "expected");
        const Bytes v(value, value_size, "value");
        if (Status s = need(old, v); !s.ok()) return s;
        return told_done(on.replace(in, k, old.optional(), v, how.durability), done);
      });
}

hawthorn_code hawthorn_db_remove_if(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                    size_t key_size, const void* expected, size_t expected_size,
                                    const hawthorn_write_options* options, int* done,
                                    hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes old(expected, expected_size, "expected");
        if (Status s = need(old); !s.ok()) return s;
        return told_done(on.remove_if(in, k, old, how.durability), done);
      });
}

// ---- Values by parts

hawthorn_code hawthorn_db_write_part(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                     size_t key_size, uint64_t offset, const void* data,
                                     size_t size, const hawthorn_write_options* options,
                                     hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes part(data, size, "data");
        if (Status s = need(part); !s.ok()) return s;
        return on.write_part(in, k, offset, part, how.durability);
      });
}

hawthorn_code hawthorn_db_append(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                 size_t key_size, const void* data, size_t size,
                                 const hawthorn_write_options* options, uint64_t* offset,
                                 hawthorn_error** error) {
  return write_key(
      db, tree, key, key_size, options, Writes::kOther, error,
      [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) -> Status {
        const Bytes part(data, size, "data");
        if (Status s = need(part); !s.ok()) return s;
        return hawthorn::c::hand_out_value(on.append(in, k, part, how.durability), offset);
      });
}

hawthorn_code hawthorn_db_resize(hawthorn_db* db, const hawthorn_tree* tree, const void* key,
                                 size_t key_size, uint64_t size,
                                 const hawthorn_write_options* options, hawthorn_error** error) {
  return write_key(db, tree, key, key_size, options, Writes::kOther, error,
                   [&](Db& on, const Tree& in, std::string_view k, const WriteOptions& how) {
                     return on.resize(in, k, size, how.durability);
                   });
}

// ---- Batches

hawthorn_batch* hawthorn_batch_create(void) { return hawthorn::c::make_or_null<hawthorn_batch>(); }
void hawthorn_batch_free(hawthorn_batch* batch) { delete batch; }

hawthorn_code hawthorn_batch_clear(hawthorn_batch* batch, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(Given(batch, "batch")); !s.ok()) return s;
    batch->batch.clear();
    batch->db.reset();
    return {};
  });
}

size_t hawthorn_batch_count(const hawthorn_batch* batch) {
  return batch != nullptr ? batch->batch.count() : 0;
}
size_t hawthorn_batch_bytes(const hawthorn_batch* batch) {
  return batch != nullptr ? batch->batch.bytes() : 0;
}

hawthorn_code hawthorn_batch_put(hawthorn_batch* batch, const hawthorn_tree* tree, const void* key,
                                 size_t key_size, const void* value, size_t value_size,
                                 const hawthorn_write_options* options, hawthorn_error** error) {
  const Bytes k(key, key_size, "key");
  const Bytes v(value, value_size, "value");
  return hawthorn::c::add_to_batch(
      batch, tree, k, v, error, [&](WriteBatch& to, const Tree& in) -> Status {
        WriteOptions how;
        if (Status s = take_write_options(options, Writes::kPutInside, &how); !s.ok()) return s;
        if (how.expiry.has_value()) {
          to.put(in, k, v, *how.expiry);
        } else {
          to.put(in, k, v);
        }
        return {};
      });
}

hawthorn_code hawthorn_batch_del(hawthorn_batch* batch, const hawthorn_tree* tree, const void* key,
                                 size_t key_size, hawthorn_error** error) {
  const Bytes k(key, key_size, "key");
  return hawthorn::c::add_to_batch(batch, tree, k, k, error,
                                   [&](WriteBatch& to, const Tree& in) -> Status {
                                     to.del(in, k);
                                     return {};
                                   });
}

hawthorn_code hawthorn_batch_del_value(hawthorn_batch* batch, const hawthorn_tree* tree,
                                       const void* key, size_t key_size, const void* value,
                                       size_t value_size, hawthorn_error** error) {
  const Bytes k(key, key_size, "key");
  const Bytes v(value, value_size, "value");
  return hawthorn::c::add_to_batch(batch, tree, k, v, error,
                                   [&](WriteBatch& to, const Tree& in) -> Status {
                                     to.del_value(in, k, v);
                                     return {};
                                   });
}

hawthorn_code hawthorn_batch_delete_range(hawthorn_batch* batch, const hawthorn_tree* tree,
                                          const void* low, size_t low_size, const void* high,
                                          size_t high_size, hawthorn_error** error) {
  const Bytes from(low, low_size, "low");
  const Bytes to_key(high, high_size, "high");
  return hawthorn::c::add_to_batch(batch, tree, from, to_key, error,
                                   [&](WriteBatch& to, const Tree& in) -> Status {
                                     to.delete_range(in, from, to_key.optional());
                                     return {};
                                   });
}

hawthorn_code hawthorn_batch_merge(hawthorn_batch* batch, const hawthorn_tree* tree,
                                   const void* key, size_t key_size, const void* operand,
                                   size_t operand_size, hawthorn_error** error) {
  const Bytes k(key, key_size, "key");
  const Bytes v(operand, operand_size, "operand");
  return hawthorn::c::add_to_batch(batch, tree, k, v, error,
                                   [&](WriteBatch& to, const Tree& in) -> Status {
                                     to.merge(in, k, v);
                                     return {};
                                   });
}

hawthorn_code hawthorn_batch_put_columns(hawthorn_batch* batch, const hawthorn_tree* tree,
                                         const hawthorn_columns* columns, hawthorn_error** error) {
  const Bytes none(nullptr, 0, "key");
  return hawthorn::c::add_to_batch(
      batch, tree, none, none, error, [&](WriteBatch& to, const Tree& in) {
        return hawthorn::c::for_each_row(columns,
                                         [&](std::string_view k, std::string_view v) -> Status {
                                           to.put(in, k, v);
                                           return {};
                                         });
      });
}

hawthorn_code hawthorn_db_write(hawthorn_db* db, const hawthorn_batch* batch,
                                const hawthorn_write_options* options, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(hawthorn::c::DbGiven(db), Given(batch, "batch")); !s.ok()) return s;
    if (batch->db != nullptr && batch->db != db->db) {
      return hawthorn::c::invalid("the batch has trees of another database");
    }
    WriteOptions how;
    if (Status s = take_write_options(options, Writes::kOther, &how); !s.ok()) return s;
    return db->db->write(batch->batch, how.durability);
  });
}
