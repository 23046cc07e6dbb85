// WriteBatch: operations encoded as the log stores them, so that a commit copies them once.

#include "hawthorn/batch.h"

#include <algorithm>
#include <set>

#include "base/out_of_memory.h"
#include "db/impl.h"
#include "db/large_values.h"
#include "db/stored_key.h"
#include "format/operation.h"

namespace hawthorn {

namespace {
// Only of a tree with a shape the state is looked at: others may be of a database that is closed.
// Null also of one that was dropped: what the batch has of it then is refused when it is written.
FoundTree shaped_state(const Tree& tree) {
  return FoundTree([&] { return TreeAccess::shaped(tree) ? TreeAccess::state(tree) : nullptr; });
}
}  // namespace

bool WriteBatch::fits(size_t key_bytes, size_t value_bytes, size_t value_bytes_max) {
  if (key_bytes <= format::kKeyBytesMax && value_bytes <= value_bytes_max) return true;
  refused_ =
      Status(StatusCode::kInvalidArgument, "the batch was given a key or a value over the limits");
  return false;
}

void WriteBatch::add(format::OperationType type, const Tree& tree, std::string_view stored_key,
                     std::string_view value) {
  format::append_operation(ops_, {type, tree.id(), stored_key, value});
  ++count_;
}

void WriteBatch::put(const Tree& tree, std::string_view key, std::string_view value) try {
  if (!fits(key.size(), value.size(), format::kValueBytesMax)) return;
  if (TreeAccess::shaped(tree)) {
    const FoundTree state = shaped_state(tree);
    if (state != nullptr) return put_shaped(tree, db::StoredPair(*state, key, value));
  }
  large_ = large_ || value.size() > db::kLargeValueBytes;
  add(format::OperationType::kPut, tree, key, value);
} catch (const std::bad_alloc&) {
  lose();
}

void WriteBatch::put(const Tree& tree, std::string_view key, std::string_view value,
                     const Expiry& expiry) try {
  if (!fits(key.size(), value.size(), format::kValueBytesMax)) return;
  if (const FoundTree state = shaped_state(tree); state != nullptr) {
    return put_shaped(tree, db::StoredPair(*state, key, value, &expiry));
  }
  refused_ = TreeAccess::shaped(tree)
                 ? tree_was_dropped()
                 : Status(StatusCode::kInvalidArgument, "the entries of this tree do not end");
} catch (const std::bad_alloc&) {
  lose();
}

void WriteBatch::put_shaped(const Tree& tree, const db::StoredPair& stored) {
  if (!stored.ok()) {
    refused_ = stored.status();
    return;
  }
  if (!stored.note().empty()) add(format::OperationType::kPut, tree, stored.note(), {});
  large_ = large_ || stored.value().size() > db::kLargeValueBytes;
  add(format::OperationType::kPut, tree, stored.key(), stored.value());
}

void WriteBatch::del(const Tree& tree, std::string_view key) try {
  if (!fits(key.size(), 0, 0)) return;
  if (!TreeAccess::shaped(tree)) return add(format::OperationType::kDelete, tree, key, {});
  const FoundTree state = shaped_state(tree);
  if (state == nullptr) return add(format::OperationType::kDelete, tree, key, {});
  const db::StoredKey stored(*state, key);
  if (stored.ok()) return add(format::OperationType::kDelete, tree, stored.view(), {});
  refused_ = stored.status();
} catch (const std::bad_alloc&) {
  lose();
}

void WriteBatch::del_value(const Tree& tree, std::string_view key, std::string_view value) try {
  const FoundTree state = shaped_state(tree);
  if (state == nullptr || !db::several_values(*state)) {
    const bool gone = state == nullptr && TreeAccess::shaped(tree);
    refused_ = gone ? tree_was_dropped() : db::not_without_several_values();
    return;
  }
  const db::StoredPair stored(*state, key, value);
  if (stored.ok()) return add(format::OperationType::kDelete, tree, stored.key(), {});
  refused_ = stored.status();
} catch (const std::bad_alloc&) {
  lose();
}

// In the log the range ranks below all other operations, so that those before it are undone by
// themselves.
void WriteBatch::delete_range(const Tree& tree, std::string_view low,
                              std::optional<std::string_view> high) try {
  if (!fits(std::max(low.size(), high ? high->size() : 0), 0, 0)) return;
  const FoundTree state = shaped_state(tree);
  if (state == nullptr) return delete_stored_range(tree, low, high);
  const db::StoredRange range(*state, low, high);
  if (range.ok()) return delete_stored_range(tree, range.low(), range.high());
  refused_ = range.status();
} catch (const std::bad_alloc&) {
  lose();
}

void WriteBatch::delete_stored_range(const Tree& tree, std::string_view low,
                                     std::optional<std::string_view> high) {
  if (high.has_value() && *high <= low) return;
  std::set<std::string_view> put;
  const char* const end = ops_.data() + ops_.size();
  for (const char* at = ops_.data(); at < end;) {
    format::Operation operation;
    at = format::decode_operation(at, end, &operation);
    const bool inside =
        operation.tree == tree.id() && operation.key >= low && (!high || operation.key < *high);
    if (!inside || operation.type == format::OperationType::kDeleteRange) continue;
    if (operation.type == format::OperationType::kDelete) {
      put.erase(operation.key);
    } else {
      put.insert(operation.key);
    }
  }
  std::string added;
  for (const std::string_view key : put) {
    format::append_operation(added, {format::OperationType::kDelete, tree.id(), key, {}});
  }
  format::append_operation(
      added, {format::OperationType::kDeleteRange, tree.id(), low, format::encode_range_end(high)});
  ops_ += added;
  count_ += put.size() + 1;
}

void WriteBatch::merge(const Tree& tree, std::string_view key, std::string_view operand) try {
  if (!fits(key.size(), operand.size(), db::kLargeValueBytes)) return;
  if (!TreeAccess::shaped(tree)) return add(format::OperationType::kMerge, tree, key, operand);
  const FoundTree state = shaped_state(tree);
  if (state == nullptr) return add(format::OperationType::kMerge, tree, key, operand);
  const db::StoredKey stored(*state, key);
  if (stored.ok()) return add(format::OperationType::kMerge, tree, stored.view(), operand);
  refused_ = stored.status();
} catch (const std::bad_alloc&) {
  lose();
}

// Some of what was to be added may be there.
void WriteBatch::lose() {
  clear();
  refused_ = out_of_memory();
}

void WriteBatch::clear() {
  ops_.clear();
  count_ = 0;
  refused_ = Status();
  large_ = false;
}

}  // namespace hawthorn
