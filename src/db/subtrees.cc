#include "db/subtrees.h"

#include <algorithm>

#include "base/out_of_memory.h"
#include "db/cursor_impl.h"
#include "db/transaction_impl.h"
#include "tree/cursor.h"

namespace hawthorn {

namespace {
constexpr size_t kKeysAtOnce = 1024;

// What hangs at a key, of a view that is registered.
Result<tree::TreeState*> find_at(db::Catalog& catalog, tree::TreeState* parent,
                                 std::string_view key, const tree::ReadView& view) {
  Result<tree::TreeState*> found = catalog.find_subtree(*parent, key, view, true);
  if (!found.status().is_not_found()) return found;
  Value value;
  Status status = parent->get(key, view, true, value);
  if (!status.ok()) return status;
  return Status(StatusCode::kInvalidArgument, "the key has a value, which is no tree");
}

Result<std::vector<std::string>> loaded_keys(
    const tree::TreeState& parent, const Result<std::vector<db::Catalog::Subtree>>& subtrees) {
  if (!subtrees.ok()) return subtrees.status();
  std::vector<std::string> keys;
  for (const db::Catalog::Subtree& subtree : *subtrees) {
    std::string& key = keys.emplace_back();
    if (Status s = parent.shape()->load(subtree.key, &key, nullptr); !s.ok()) return s;
  }
  return keys;
}
}  // namespace

Status may_hold_subtrees(const tree::TreeState& tree) {
  if (db::holds_subtrees(tree)) return {};
  return Status(StatusCode::kInvalidArgument,
                "the tree was not made to have trees as values (TreeOptions::subtrees)");
}

// ---- Writes look first

Result<tree::TreeState*> Transaction::Impl::hanging(tree::TreeState* parent,
                                                    std::string_view key) const {
  if (txn_->is_read_only()) return Status(StatusCode::kReadOnly, "the transaction is read-only");
  db::Catalog& catalog = *db_->catalog_;
  tree::ReadView view = txn_->view();
  bool registered = txn_->reads_one_moment();
  if (txn_->locks_rows()) {
    // While the parent's entry stays as it is, so does what hangs there.
    if (Status s = txn_->begin_update(parent, key); !s.ok()) return s;
  } else if (!registered) {
    view = txn_->expect_key(catalog.names(), format::subtree_key({parent->id(), key}));
    registered = true;
  }
  // Of one moment: the write of the key itself conflicts with whoever has changed that since.
  Result<tree::TreeState*> found = catalog.find_subtree(*parent, key, view, registered);
  return found.status().is_not_found() ? Result<tree::TreeState*>(nullptr) : found;
}

Status Transaction::Impl::takes_no_subtree(tree::TreeState* state, std::string_view key) const {
  const Result<tree::TreeState*> found = hanging(state, key);
  if (!found.ok()) return found.status();
  if (*found == nullptr) return {};
  return Status(StatusCode::kInvalidArgument, "a subtree hangs at this key: it takes no value");
}

Status Transaction::Impl::del_hanging(tree::TreeState* state, std::string_view key) const {
  const Result<tree::TreeState*> found = hanging(state, key);
  if (!found.ok()) return found.status();
  if (*found != nullptr) return db_->catalog_->drop(*txn_, {key, state}, *found);
  return txn_->write(state, format::OperationType::kDelete, key, {});
}

Status Transaction::Impl::delete_range_hanging(tree::TreeState* state, std::string_view low,
                                               std::optional<std::string_view> high) const {
  if (high.has_value() && *high <= low) return {};
  if (txn_->is_read_only()) return Status(StatusCode::kReadOnly, "the transaction is read-only");
  const uint64_t before = txn_->mark();
  Status status;
  if (txn_->locks_rows()) {
    status = delete_keys_hanging(state, low, high);
  } else {
    status = db_->catalog_->drop_subtrees(*txn_, state, low, high);
    if (status.ok()) status = txn_->delete_range(state, low, high);
  }
  // What fails leaves nothing of it behind.
  if (!status.ok()) static_cast<void>(txn_->roll_back_to(before).ok());
  static_cast<void>(txn_->release_mark(before).ok());
  return status;
}

// Each behind the lock of its row, as Txn::delete_range does it.
Status Transaction::Impl::delete_keys_hanging(tree::TreeState* state, std::string_view low,
                                              std::optional<std::string_view> high) const {
  txn_->expect_unchanged(state, low, high);
  const tree::HeldSnapshot present(*db_->snapshots_, db_->sequencer_->visible());
  const tree::ReadView view =
      txn_->reads_one_moment() ? txn_->view() : tree::ReadView{present.ts(), txn_->id()};
  tree::TreeCursor::Options options;
  options.lower = std::string(low);
  if (high.has_value()) options.upper = std::string(*high);
  options.key_only = true;
  tree::TreeCursor cursor(state, view, std::move(options));
  std::vector<std::string> keys;
  for (bool there = cursor.first(); there;) {
    keys.clear();
    for (; there && keys.size() < kKeysAtOnce; there = cursor.next()) {
      keys.emplace_back(cursor.key());
    }
    if (!cursor.status().ok()) return cursor.status();
    for (const std::string& key : keys) {
      if (Status s = del_hanging(state, key); !s.ok()) return s;
    }
    // What it stands on may have moved.
    if (there) there = cursor.seek(keys.back());
  }
  return cursor.status();
}

Status Transaction::Impl::write_all(std::string_view operations) const {
  const os::epoch::Call call;
  const char* at = operations.data();
  const char* const end = at + operations.size();
  while (at < end) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    if (at == nullptr) {
      return Status(StatusCode::kInvalidArgument, "a write batch holds no valid operations");
    }
    tree::TreeState* const state = db_->catalog_->find(operation.tree);
    if (state == nullptr) {
      return Status(StatusCode::kInvalidArgument, "a write batch names tree " +
                                                      std::to_string(operation.tree) +
                                                      ", which does not exist (any more)");
    }
    txn_->keep(state);
    if (Status s = write_one(state, operation); !s.ok()) return s;
  }
  return {};
}

Status Transaction::Impl::write_one(tree::TreeState* state,
                                    const format::Operation& operation) const {
  switch (operation.type) {
    case format::OperationType::kPut: {
      const Status status = takes_value(state, operation.key);
      return status.ok() ? put(state, operation.key, operation.value) : status;
    }
    case format::OperationType::kDelete:
      return del(state, operation.key);
    case format::OperationType::kMerge:
      return merge(state, operation.key, operation.value);
    case format::OperationType::kDeleteRange: {
      const std::optional<std::string_view> high = format::range_end(operation.value);
      return db::holds_subtrees(*state) ? delete_range_hanging(state, operation.key, high)
                                        : txn_->delete_range(state, operation.key, high);
    }
    default:
      return Status(StatusCode::kInvalidArgument, "a write batch holds no valid operations");
  }
}

// ---- Hanging and taking off

Transaction::Impl::At::At(const Impl& impl, const Tree& tree, std::string_view key, Status* status)
    : parent(impl.find_to_write(tree, key, 0, status)) {
  if (parent == nullptr) return;
  *status = may_hold_subtrees(*parent);
  if (!status->ok()) return;
  stored.emplace(*parent, key);
  *status = stored->status();
}

Status Transaction::Impl::free_to_hang(const At& at) const {
  const Result<bool> absent = has(at.parent, at.key(), std::nullopt);
  if (!absent.ok()) return absent.status();
  if (*absent) return {};
  return Status(StatusCode::kInvalidArgument, "the key where the tree is to hang is taken");
}

Result<tree::TreeState*> Transaction::Impl::hanging_at(const At& at) const {
  Result<tree::TreeState*> found = hanging(at.parent, at.key());
  if (!found.ok() || *found != nullptr) return found;
  const tree::HeldSnapshot present(*db_->snapshots_, db_->sequencer_->visible());
  const tree::ReadView view =
      txn_->reads_one_moment() ? txn_->view() : tree::ReadView{present.ts(), txn_->id()};
  found = find_at(*db_->catalog_, at.parent, at.key(), view);
  // Somebody has hung it there since.
  return found.ok() ? Result<tree::TreeState*>(Status(StatusCode::kConflict)) : found;
}

Result<tree::TreeState*> Transaction::Impl::find_hanging(const Tree& tree,
                                                         std::string_view key) const {
  Status status;
  const FoundTree parent = find(tree, &status);
  if (parent == nullptr) return status;
  if (status = may_hold_subtrees(*parent); !status.ok()) return status;
  const db::StoredKey stored(*parent, key);
  if (!stored.ok()) return stored.status();
  db::Catalog& catalog = *db_->catalog_;
  if (txn_->tracks_reads()) {
    txn_->note_read(catalog.names(), format::subtree_key({parent->id(), stored.view()}));
    txn_->note_read(parent, stored.view());
  }
  const tree::HeldSnapshot present(*db_->snapshots_, db_->sequencer_->visible());
  const tree::ReadView view =
      txn_->reads_one_moment() ? txn_->view() : tree::ReadView{present.ts(), txn_->id()};
  return find_at(catalog, parent, stored.view(), view);
}

Result<Tree> Transaction::create_subtree(const Tree& parent, std::string_view key) try {
  return create_subtree(parent, key, TreeOptions());
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Transaction::create_subtree(const Tree& parent, std::string_view key,
                                         const TreeOptions& options) try {
  if (impl_ == nullptr) return no_transaction();
  Result<std::string> shape = encoded_shape(options, *impl_->db());
  if (!shape.ok()) return shape.status();
  Status status;
  const Impl::At at(*impl_, parent, key, &status);
  if (status.ok()) status = impl_->free_to_hang(at);
  if (!status.ok()) return status;
  const Result<tree::TreeState*> made = impl_->make_tree(at.place(), std::move(*shape));
  if (!made.ok()) return made.status();
  return TreeAccess::make(*made);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Transaction::subtree(const Tree& parent, std::string_view key) try {
  if (impl_ == nullptr) return no_transaction();
  const os::epoch::Call call;
  const Result<tree::TreeState*> found = impl_->find_hanging(parent, key);
  if (!found.ok()) return found.status();
  return TreeAccess::make(*found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::vector<std::string>> Transaction::list_subtrees(const Tree& parent) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const FoundTree state = impl_->find(parent, &status);
  if (state == nullptr) return status;
  if (status = may_hold_subtrees(*state); !status.ok()) return status;
  txn::Txn& txn = impl_->txn();
  db::Catalog& catalog = *impl_->db()->catalog_;
  tree::ReadView view = txn.view();
  Snapshot own;
  if (!txn.reads_one_moment()) {
    own = impl_->db()->snapshot();
    view.ts = own.timestamp();
  }
  if (txn.tracks_reads()) {
    txn.reads().add_range(catalog.names(), format::subtrees_begin(state->id()),
                          format::subtrees_end(state->id()), view.ts);
  }
  return loaded_keys(*state, catalog.subtrees(*state, {}, std::nullopt, view));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::attach(const Tree& parent, std::string_view key, std::string_view name) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const Impl::At at(*impl_, parent, key, &status);
  if (!status.ok()) return status;
  const Result<tree::TreeState*> found = impl_->find_name_to_change(name);
  if (!found.ok()) return found.status();
  if (status = impl_->free_to_hang(at); !status.ok()) return status;
  db::Catalog& catalog = *impl_->db()->catalog_;
  status = catalog.check_no_circle(impl_->txn(), *found, at.parent);
  return status.ok() ? catalog.move(impl_->txn(), {name}, at.place(), *found) : status;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::detach(const Tree& parent, std::string_view key, std::string_view name) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const Impl::At at(*impl_, parent, key, &status);
  if (!status.ok()) return status;
  const Result<tree::TreeState*> found = impl_->hanging_at(at);
  if (!found.ok()) return found.status();
  const Result<tree::TreeState*> other = impl_->find_name_to_change(name);
  if (other.ok()) return name_taken(name);
  if (!other.status().is_not_found()) return other.status();
  return impl_->db()->catalog_->move(impl_->txn(), at.place(), {name}, *found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Transaction::move_subtree(const Tree& parent, std::string_view key, const Tree& to_parent,
                                 std::string_view to_key) try {
  if (impl_ == nullptr) return no_transaction();
  Status status;
  const Impl::At from(*impl_, parent, key, &status);
  if (!status.ok()) return status;
  const Impl::At to(*impl_, to_parent, to_key, &status);
  if (!status.ok()) return status;
  const Result<tree::TreeState*> found = impl_->hanging_at(from);
  if (!found.ok()) return found.status();
  if (from.parent == to.parent && from.key() == to.key()) return {};
  if (status = impl_->free_to_hang(to); !status.ok()) return status;
  db::Catalog& catalog = *impl_->db()->catalog_;
  status = catalog.check_no_circle(impl_->txn(), *found, to.parent);
  return status.ok() ? catalog.move(impl_->txn(), from.place(), to.place(), *found) : status;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Transaction::clone_subtree(const Tree& parent, std::string_view key,
                                        std::string_view to) try {
  if (impl_ == nullptr) return no_transaction();
  const os::epoch::Call call;
  Db::Impl* const db = impl_->db();
  // Whatever is found stays until the clone has pinned it.
  const tree::HeldSnapshot held(*db->snapshots_, db->sequencer_->visible());
  const Result<tree::TreeState*> source = impl_->find_hanging(parent, key);
  if (!source.ok()) return source.status();
  const Result<tree::TreeState*> other = impl_->find_name_to_change(to);
  if (other.ok()) return name_taken(to);
  if (!other.status().is_not_found()) return other.status();
  const Result<tree::TreeState*> made = db->clone_tree(impl_->txn(), to, *source, "");
  if (!made.ok()) return made.status();
  return TreeAccess::make(*made);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- In commits of their own

namespace {
template <typename Change>
Status change_subtrees(Db& db, const Db::Impl& impl, Durability durability, Change change) {
  return change_alone(db, impl, durability,
                      [&](Transaction& transaction) {
                        Status status = change(transaction);
                        return status.ok() ? Result<bool>(true) : Result<bool>(std::move(status));
                      })
      .status();
}
}  // namespace

Result<Tree> Db::create_subtree(const Tree& parent, std::string_view key,
                                const TreeOptions& options, Durability durability) try {
  Result<Tree> made = Status(StatusCode::kNotFound);
  const Status status = change_subtrees(*this, *impl_, durability, [&](Transaction& t) {
    made = t.create_subtree(parent, key, options);
    return made.status();
  });
  return status.ok() ? made : status;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Db::subtree(const Tree& parent, std::string_view key, const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(parent, options.snapshot, &status);
  if (state == nullptr) return status;
  if (status = may_hold_subtrees(*state); !status.ok()) return status;
  const db::StoredKey stored(*state, key);
  if (!stored.ok()) return stored.status();
  const Snapshot own = options.snapshot == nullptr ? snapshot() : Snapshot();
  const Snapshot& shown = options.snapshot == nullptr ? own : *options.snapshot;
  const Result<tree::TreeState*> found =
      find_at(*impl_->catalog_, state, stored.view(), {shown.timestamp(), 0});
  if (!found.ok()) return found.status();
  return TreeAccess::make(*found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<std::vector<std::string>> Db::list_subtrees(const Tree& parent,
                                                   const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(parent, options.snapshot, &status);
  if (state == nullptr) return status;
  if (status = may_hold_subtrees(*state); !status.ok()) return status;
  const Snapshot own = options.snapshot == nullptr ? snapshot() : Snapshot();
  const Snapshot& shown = options.snapshot == nullptr ? own : *options.snapshot;
  return loaded_keys(*state,
                     impl_->catalog_->subtrees(*state, {}, std::nullopt, {shown.timestamp(), 0}));
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::attach(const Tree& parent, std::string_view key, std::string_view name,
                  Durability durability) try {
  return change_subtrees(*this, *impl_, durability,
                         [&](Transaction& t) { return t.attach(parent, key, name); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::detach(const Tree& parent, std::string_view key, std::string_view name,
                  Durability durability) try {
  return change_subtrees(*this, *impl_, durability,
                         [&](Transaction& t) { return t.detach(parent, key, name); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::move_subtree(const Tree& parent, std::string_view key, const Tree& to_parent,
                        std::string_view to_key, Durability durability) try {
  return change_subtrees(*this, *impl_, durability, [&](Transaction& t) {
    return t.move_subtree(parent, key, to_parent, to_key);
  });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Db::clone_subtree(const Tree& parent, std::string_view key, std::string_view to,
                               Durability durability) try {
  Result<Tree> made = Status(StatusCode::kNotFound);
  const Status status = change_subtrees(*this, *impl_, durability, [&](Transaction& t) {
    made = t.clone_subtree(parent, key, to);
    return made.status();
  });
  return status.ok() ? made : status;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Cursors

Result<bool> Cursor::Impl::is_subtree() const {
  if (!db::holds_subtrees(*tree_) || !cursor_.value().empty()) return false;
  const os::epoch::Call call;
  const Result<tree::TreeState*> found =
      db_->catalog_->find_subtree(*tree_, cursor_.key(), view_, true);
  if (found.ok()) return true;
  return found.status().is_not_found() ? Result<bool>(false) : found.status();
}

Result<bool> Cursor::is_subtree() const try {
  if (valid_) return impl_->is_subtree();
  Status status = this->status();
  if (!status.ok()) return status;
  return Status(StatusCode::kInvalidArgument, "the cursor stands on no entry");
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
