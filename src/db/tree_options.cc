// Trees with options: how they are made, and the orders that a database was given.

#include <algorithm>

#include "base/out_of_memory.h"
#include "db/compared_keys.h"
#include "db/cursor_impl.h"
#include "db/transaction_impl.h"
#include "format/tree_shape.h"

namespace hawthorn {

namespace {
format::TreeShapeNames names_of(const TreeOptions& options) {
  const auto or_bytewise = [](const std::string& name) {
    return name.empty() ? std::string(format::kBytewiseOrder) : name;
  };
  return {or_bytewise(options.order),
          or_bytewise(options.value_order),
          options.multi_value,
          options.expires,
          options.ttl_ms,
          options.subtrees};
}

// With what this database knows of the orders.
format::TreeShapeNames names_of(const TreeOptions& options, const Db::Impl& db) {
  format::TreeShapeNames names = names_of(options);
  names.compared = db.comparator(names.order) != nullptr;
  names.values_compared = db.comparator(names.value_order) != nullptr;
  return names;
}

format::TreeShapeNames names_of(const tree::TreeState& tree) {
  return tree.shape() == nullptr ? names_of(TreeOptions()) : tree.shape()->names();
}

std::string describe(const format::TreeShapeNames& names) {
  std::string text = "the order \"" + names.order + "\"";
  if (names.multi_value) text += " and several values in the order \"" + names.value_order + "\"";
  if (names.expires) {
    text += " and entries that end";
    if (names.ttl_ms != 0) text += " after " + std::to_string(names.ttl_ms) + " ms";
  }
  if (names.subtrees) text += " and values that may be trees";
  return text;
}

Status check_same(std::string_view name, const tree::TreeState& tree, const TreeOptions& options,
                  const Db::Impl& db) {
  const format::TreeShapeNames has = names_of(tree);
  const format::TreeShapeNames wanted = names_of(options, db);
  if (has == wanted) return {};
  return Status(StatusCode::kInvalidArgument, "tree \"" + std::string(name) + "\" has " +
                                                  describe(has) + ", not " + describe(wanted));
}

}  // namespace

// Empty where the tree stores what it is given.
Result<std::string> encoded_shape(const TreeOptions& options, const Db::Impl& db) {
  const format::TreeShapeNames names = names_of(options, db);
  if (std::max(names.order.size(), names.value_order.size()) > format::kOrderNameBytesMax) {
    return Status(StatusCode::kInvalidArgument, "the name of an order is longer than " +
                                                    std::to_string(format::kOrderNameBytesMax) +
                                                    " bytes");
  }
  if (!names.multi_value && !options.value_order.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "an order of values is only of use where a key may have several");
  }
  if (!options.expires && options.ttl_ms != 0) {
    return Status(StatusCode::kInvalidArgument,
                  "a time to live is only of use where entries end (TreeOptions::expires)");
  }
  if (options.subtrees && (options.multi_value || options.expires)) {
    return Status(StatusCode::kNotSupported,
                  "values that may be trees, where a key may have several or entries end");
  }
  if (options.subtrees && db.feeds_->any()) {
    return Status(StatusCode::kNotSupported, "values that may be trees, beside a feed");
  }
  if (options.subtrees && names.compared) {
    return Status(StatusCode::kNotSupported,
                  "values that may be trees, where the order of keys is a comparison");
  }
  if (names == names_of(TreeOptions())) return std::string();
  return format::encode_tree_shape(names);
}

// ---- The orders of a database

Status Db::Impl::check_key_orders() const {
  std::vector<std::string_view> names = {format::kBytewiseOrder};
  const auto check = [&](const auto& orders) -> Status {
    for (const auto& order : orders) {
      if (order == nullptr) {
        return Status(StatusCode::kInvalidArgument, "a key order of the options is null");
      }
      const std::string_view name = order->name();
      if (name.empty() || name.size() > format::kOrderNameBytesMax) {
        return Status(StatusCode::kInvalidArgument, "the name of a key order must have 1 to " +
                                                        std::to_string(format::kOrderNameBytesMax) +
                                                        " bytes");
      }
      const bool known = std::find(names.begin(), names.end(), name) != names.end();
      if (known || format::library_order(name) != nullptr) {
        return Status(StatusCode::kInvalidArgument,
                      "there is more than one key order \"" + std::string(name) + "\"");
      }
      names.push_back(name);
    }
    return {};
  };
  Status status = check(options_.key_orders);
  return status.ok() ? check(options_.key_comparators) : status;
}

const KeyOrder* Db::Impl::encoded_order(std::string_view name) const {
  for (const auto& order : options_.key_orders) {
    if (order->name() == name) return order.get();
  }
  return format::library_order(name);
}

const KeyComparator* Db::Impl::comparator(std::string_view name) const {
  for (const auto& comparator : options_.key_comparators) {
    if (comparator->name() == name) return comparator.get();
  }
  return nullptr;
}

Result<format::TreeShape::Order> Db::Impl::key_order(std::string_view name, bool compared,
                                                     char rows) {
  const KeyOrder* const encoded = encoded_order(name);
  const KeyComparator* const comparison = comparator(name);
  if (encoded == nullptr && comparison == nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  "which is neither the library's nor among the options'");
  }
  if (compared != (comparison != nullptr)) {
    return Status(StatusCode::kInvalidArgument,
                  compared ? "which is a comparison (Options::key_comparators), no encoding"
                           : "which is an encoding (Options::key_orders), no comparison");
  }
  format::TreeShape::Order order;
  order.encoded = encoded;
  if (compared) order.compared = std::make_unique<db::ComparedKeys>(this, comparison, rows);
  return order;
}

// ---- Trees

Result<tree::TreeState*> Transaction::Impl::make_tree(const db::Catalog::Place& place,
                                                      std::string shape) const {
  const auto codec = static_cast<format::Codec>(db_->options_.compression);
  return db_->catalog_->create(*txn_, place, codec, std::move(shape));
}

Result<Tree> Transaction::tree(std::string_view name, const TreeOptions& options) try {
  if (impl_ == nullptr) return no_transaction();
  const os::epoch::Call call;
  Result<std::string> shape = encoded_shape(options, *impl_->db());
  if (!shape.ok()) return shape.status();
  Result<tree::TreeState*> found = impl_->find_name(name);
  if (found.status().is_not_found()) found = impl_->find_name_to_change(name);
  if (found.status().is_not_found()) {
    found = impl_->make_tree({name}, std::move(*shape));
  } else if (found.ok()) {
    if (Status s = check_same(name, **found, options, *impl_->db()); !s.ok()) return s;
  }
  if (!found.ok()) return found.status();
  return TreeAccess::make(*found);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<Tree> Db::tree(std::string_view name, const TreeOptions& options) try {
  const Result<std::string> shape = encoded_shape(options, *impl_);
  if (!shape.ok()) return shape.status();
  Result<Tree> found = find_tree(name);
  if (!found.ok() && !found.status().is_not_found()) return found;
  if (found.ok()) {
    const os::epoch::Call call;
    // Null: it was dropped in between.
    if (const tree::TreeState* state = TreeAccess::state(*found); state != nullptr) {
      Status status = check_same(name, *state, options, *impl_);
      return status.ok() ? found : Result<Tree>(std::move(status));
    }
  }
  return make_tree(*this, *impl_, [&](Transaction& t) { return t.tree(name, options); });
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Result<TreeOptions> Db::tree_options(const Tree& tree) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const os::epoch::Call call;
  const tree::TreeState* state = impl_->own(tree, &status);
  if (state == nullptr) return status;
  const format::TreeShapeNames names = names_of(*state);
  TreeOptions options;
  options.order = names.order;
  options.multi_value = names.multi_value;
  if (names.multi_value) options.value_order = names.value_order;
  options.expires = names.expires;
  options.ttl_ms = names.ttl_ms;
  options.subtrees = names.subtrees;
  return options;
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

// ---- Entries that end

Result<uint64_t> Db::expires_at(const Tree& tree, std::string_view key,
                                const ReadOptions& options) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, options.snapshot, &status);
  if (state == nullptr) return status;
  const db::StoredKey stored(*state, key, db::Use::kSeek);
  if (!stored.ok()) return stored.status();
  const Snapshot own = options.snapshot == nullptr ? snapshot() : Snapshot();
  const Snapshot& shown = options.snapshot == nullptr ? own : *options.snapshot;
  Value value;
  status = state->get(stored.view(), {shown.timestamp(), 0}, true, value);
  if (!status.ok()) return status;
  if (!db::expires(*state)) return uint64_t{0};
  const Result<bool> ended = db::has_ended(value.view(), shown.now_ms());
  if (!ended.ok()) return ended.status();
  if (*ended) return Status::not_found();
  return format::TreeShape::moment_of(value.view());
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
