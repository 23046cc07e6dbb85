// Transactions: begin and end, savepoints, trees.

#include "c/handles.h"
#include "c/trees.h"
#include "hawthorn/c/transaction.h"

namespace hawthorn::c {

namespace {

static_assert(sizeof(Savepoint) == sizeof(hawthorn_savepoint));
static_assert(std::is_trivially_copyable_v<Savepoint>);

Isolation isolation_of(hawthorn_isolation isolation) {
  switch (isolation) {
    case HAWTHORN_ISOLATION_READ_COMMITTED:
      return Isolation::kReadCommitted;
    case HAWTHORN_ISOLATION_SERIALIZABLE:
      return Isolation::kSerializable;
    default:
      return Isolation::kSnapshot;
  }
}

Status take_txn_options(hawthorn_db* db, const hawthorn_txn_options* given, TxnOptions* out) {
  hawthorn_txn_options taken;
  if (Status s = take(given, "hawthorn_txn_options", &taken); !s.ok()) return s;
  const SnapshotOf at(db, taken.snapshot);
  Status s = need(OneOf(taken.mode, HAWTHORN_TXN_PESSIMISTIC, "mode"),
                  OneOf(taken.isolation, HAWTHORN_ISOLATION_SERIALIZABLE, "isolation"), at);
  if (!s.ok()) return s;
  out->mode = static_cast<TxnMode>(taken.mode);
  out->isolation = isolation_of(taken.isolation);
  out->read_only = taken.read_only != 0;
  out->snapshot = at.get();
  if (taken.has_lock_timeout != 0) out->lock_timeout_ms = taken.lock_timeout_ms;
  return {};
}

void hand_out_txn(const std::shared_ptr<Db>& db, std::shared_ptr<TxnHeld> outer, Transaction txn,
                  hawthorn_txn** out) {
  auto held = std::make_shared<TxnHeld>();
  held->db = db;
  held->outer = std::move(outer);
  held->txn = std::move(txn);
  hand_out(out, std::move(held));
}

struct Interrupt {
  hawthorn_interrupt asked = nullptr;
  void* context = nullptr;
};
thread_local Interrupt interrupt;

bool ask_interrupt(void* context) {
  const auto* const given = static_cast<const Interrupt*>(context);
  return given->asked(given->context) != 0;
}

// Functions that only pass on to one of Transaction.
template <typename Body>
hawthorn_code on_txn(hawthorn_txn* txn, hawthorn_error** error, Body&& body) {
  return call(error, [&]() -> Status {
    if (Status s = need(TxnGiven(txn)); !s.ok()) return s;
    return body(txn->held->txn);
  });
}

Savepoint savepoint_of(const hawthorn_savepoint* given) {
  Savepoint savepoint;
  std::memcpy(static_cast<void*>(&savepoint), given, sizeof(savepoint));
  return savepoint;
}

}  // namespace

}  // namespace hawthorn::c

using hawthorn::Status;
using hawthorn::Transaction;
using hawthorn::TreeOptions;
using hawthorn::c::Bytes;
using hawthorn::c::call;
using hawthorn::c::Given;
using hawthorn::c::hand_out_tree;
using hawthorn::c::need;
using hawthorn::c::on_txn;
using hawthorn::c::TxnGiven;
using hawthorn::c::TxnTree;

void hawthorn_set_interrupt(hawthorn_interrupt interrupted, void* context) {
  hawthorn::c::interrupt = {interrupted, context};
  hawthorn::set_interrupt(interrupted != nullptr ? hawthorn::c::ask_interrupt : nullptr,
                          &hawthorn::c::interrupt);
}

hawthorn_code hawthorn_txn_begin(hawthorn_db* db, const hawthorn_txn_options* options,
                                 hawthorn_txn** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(hawthorn::c::DbGiven(db), Given(out, "out")); !s.ok()) return s;
    hawthorn::TxnOptions taken;
    if (Status s = hawthorn::c::take_txn_options(db, options, &taken); !s.ok()) return s;
    auto begun = db->db->begin(taken);
    if (!begun.ok()) return begun.status();
    hawthorn::c::hand_out_txn(db->db, nullptr, std::move(*begun), out);
    return {};
  });
}

hawthorn_code hawthorn_txn_begin_nested(hawthorn_txn* txn, hawthorn_txn** out,
                                        hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    if (Status s = need(Given(out, "out")); !s.ok()) return s;
    auto begun = on.begin_nested();
    if (!begun.ok()) return begun.status();
    hawthorn::c::hand_out_txn(txn->held->db, txn->held, std::move(*begun), out);
    return {};
  });
}

hawthorn_code hawthorn_txn_commit(hawthorn_txn* txn, hawthorn_durability durability,
                                  hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    const hawthorn::c::DurabilityOf level(durability);
    if (Status s = need(level); !s.ok()) return s;
    return on.commit(level.get());
  });
}

hawthorn_code hawthorn_txn_abort(hawthorn_txn* txn, hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    on.abort();
    if (!on.open()) return {};
    if (Status s = hawthorn::c::usable(*txn->held->db); !s.ok()) return s;
    return Status(hawthorn::StatusCode::kIoError,
                  "the prepared transaction stays: its end could not be logged; "
                  "hawthorn_db_rollback_prepared says why");
  });
}

int hawthorn_txn_is_open(const hawthorn_txn* txn) {
  return txn != nullptr && txn->held->txn.open() ? 1 : 0;
}

void hawthorn_txn_free(hawthorn_txn* txn) {
  if (txn == nullptr) return;
  // Cursors and nested ones may hold it for longer. What is prepared stays.
  if (!txn->held->prepared) {
    (void)call(nullptr, [&]() -> Status {
      if (txn->held->txn.open()) txn->held->txn.abort();
      return {};
    });
  }
  delete txn;
}

// ---- Savepoints

hawthorn_code hawthorn_txn_savepoint(hawthorn_txn* txn, hawthorn_savepoint* out,
                                     hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    if (Status s = need(Given(out, "out")); !s.ok()) return s;
    const auto savepoint = on.savepoint();
    if (!savepoint.ok()) return savepoint.status();
    std::memcpy(out, static_cast<const void*>(&*savepoint), sizeof(*out));
    return {};
  });
}

hawthorn_code hawthorn_txn_rollback_to(hawthorn_txn* txn, const hawthorn_savepoint* savepoint,
                                       hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    if (Status s = need(Given(savepoint, "savepoint")); !s.ok()) return s;
    return on.rollback_to(hawthorn::c::savepoint_of(savepoint));
  });
}

hawthorn_code hawthorn_txn_release(hawthorn_txn* txn, const hawthorn_savepoint* savepoint,
                                   hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    if (Status s = need(Given(savepoint, "savepoint")); !s.ok()) return s;
    return on.release(hawthorn::c::savepoint_of(savepoint));
  });
}

hawthorn_code hawthorn_txn_prepare(hawthorn_txn* txn, const char* id, size_t id_size,
                                   hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    const Bytes bytes(id, id_size, "id");
    if (Status s = need(bytes); !s.ok()) return s;
    Status prepared = on.prepare(bytes);
    // What has an unknown outcome may be prepared: it is not to be aborted by being freed.
    txn->held->prepared =
        prepared.ok() || prepared.is(hawthorn::StatusCode::kUnknownOutcome) || txn->held->prepared;
    return prepared;
  });
}

// ---- Trees

hawthorn_code hawthorn_txn_tree(hawthorn_txn* txn, const char* name, size_t name_size,
                                const hawthorn_tree_options* options, hawthorn_tree** out,
                                hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(bytes, Given(out, "out")); !s.ok()) return s;
    if (options == nullptr) return hand_out_tree(txn->held->db, on.tree(bytes), out);
    TreeOptions taken;
    if (Status s = hawthorn::c::take_tree_options(options, &taken); !s.ok()) return s;
    return hand_out_tree(txn->held->db, on.tree(bytes, taken), out);
  });
}

hawthorn_code hawthorn_txn_find_tree(hawthorn_txn* txn, const char* name, size_t name_size,
                                     hawthorn_tree** out, hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(bytes, Given(out, "out")); !s.ok()) return s;
    return hand_out_tree(txn->held->db, on.find_tree(bytes), out);
  });
}

hawthorn_code hawthorn_txn_list_trees(hawthorn_txn* txn, hawthorn_records** out,
                                      hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) {
    return hawthorn::c::hand_out_names("name", on.list_trees(), out);
  });
}

hawthorn_code hawthorn_txn_drop_tree(hawthorn_txn* txn, const char* name, size_t name_size,
                                     hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(bytes); !s.ok()) return s;
    return on.drop_tree(bytes);
  });
}

hawthorn_code hawthorn_txn_rename_tree(hawthorn_txn* txn, const char* from, size_t from_size,
                                       const char* to, size_t to_size, hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    const Bytes old_name(from, from_size, "from");
    const Bytes new_name(to, to_size, "to");
    if (Status s = need(old_name, new_name); !s.ok()) return s;
    return on.rename_tree(old_name, new_name);
  });
}

hawthorn_code hawthorn_txn_clone_tree(hawthorn_txn* txn, const char* from, size_t from_size,
                                      const char* to, size_t to_size, hawthorn_tree** out,
                                      hawthorn_error** error) {
  return on_txn(txn, error, [&](Transaction& on) -> Status {
    const Bytes source(from, from_size, "from");
    const Bytes clone(to, to_size, "to");
    if (Status s = need(source, clone); !s.ok()) return s;
    return hand_out_tree(txn->held->db, on.clone_tree(source, clone), out);
  });
}

hawthorn_code hawthorn_txn_create_subtree(hawthorn_txn* txn, const hawthorn_tree* parent,
                                          const void* key, size_t key_size,
                                          const hawthorn_tree_options* options, hawthorn_tree** out,
                                          hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    TreeOptions taken;
    Status s = need(TxnTree(txn, parent), at);
    if (s.ok()) s = hawthorn::c::take_tree_options(options, &taken);
    if (!s.ok()) return s;
    return hand_out_tree(txn->held->db, txn->held->txn.create_subtree(parent->tree, at, taken),
                         out);
  });
}

hawthorn_code hawthorn_txn_subtree(hawthorn_txn* txn, const hawthorn_tree* parent, const void* key,
                                   size_t key_size, hawthorn_tree** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    if (Status s = need(TxnTree(txn, parent), at, Given(out, "out")); !s.ok()) return s;
    return hand_out_tree(txn->held->db, txn->held->txn.subtree(parent->tree, at), out);
  });
}

hawthorn_code hawthorn_txn_list_subtrees(hawthorn_txn* txn, const hawthorn_tree* parent,
                                         hawthorn_records** out, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    if (Status s = need(TxnTree(txn, parent)); !s.ok()) return s;
    return hawthorn::c::hand_out_names("key", txn->held->txn.list_subtrees(parent->tree), out);
  });
}

hawthorn_code hawthorn_txn_attach(hawthorn_txn* txn, const hawthorn_tree* parent, const void* key,
                                  size_t key_size, const char* name, size_t name_size,
                                  hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(TxnTree(txn, parent), at, bytes); !s.ok()) return s;
    return txn->held->txn.attach(parent->tree, at, bytes);
  });
}

hawthorn_code hawthorn_txn_detach(hawthorn_txn* txn, const hawthorn_tree* parent, const void* key,
                                  size_t key_size, const char* name, size_t name_size,
                                  hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const Bytes bytes(name, name_size, "name");
    if (Status s = need(TxnTree(txn, parent), at, bytes); !s.ok()) return s;
    return txn->held->txn.detach(parent->tree, at, bytes);
  });
}

hawthorn_code hawthorn_txn_move_subtree(hawthorn_txn* txn, const hawthorn_tree* parent,
                                        const void* key, size_t key_size,
                                        const hawthorn_tree* to_parent, const void* to_key,
                                        size_t to_key_size, hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const Bytes to(to_key, to_key_size, "to_key");
    if (Status s = need(TxnTree(txn, parent), TxnTree(txn, to_parent), at, to); !s.ok()) return s;
    return txn->held->txn.move_subtree(parent->tree, at, to_parent->tree, to);
  });
}

hawthorn_code hawthorn_txn_clone_subtree(hawthorn_txn* txn, const hawthorn_tree* parent,
                                         const void* key, size_t key_size, const char* to,
                                         size_t to_size, hawthorn_tree** out,
                                         hawthorn_error** error) {
  return call(error, [&]() -> Status {
    const Bytes at(key, key_size, "key");
    const Bytes name(to, to_size, "to");
    if (Status s = need(TxnTree(txn, parent), at, name); !s.ok()) return s;
    return hand_out_tree(txn->held->db, txn->held->txn.clone_subtree(parent->tree, at, name), out);
  });
}
