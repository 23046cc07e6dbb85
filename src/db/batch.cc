// WriteBatch: operations encoded as the log stores them, so that a commit copies them once.

#include "hawthorn/batch.h"

#include <set>

#include "db/impl.h"
#include "db/large_values.h"
#include "format/operation.h"

namespace hawthorn {

void WriteBatch::put(const Tree& tree, std::string_view key, std::string_view value) {
  if (key.size() > format::kKeyBytesMax || value.size() > format::kValueBytesMax) {
    too_large_ = true;
    return;
  }
  large_ = large_ || value.size() > db::kLargeValueBytes;
  format::append_operation(ops_, {format::OperationType::kPut, tree.id(), key, value});
  ++count_;
}

void WriteBatch::del(const Tree& tree, std::string_view key) {
  if (key.size() > format::kKeyBytesMax) {
    too_large_ = true;
    return;
  }
  format::append_operation(ops_, {format::OperationType::kDelete, tree.id(), key, {}});
  ++count_;
}

// In the log the range ranks below all other operations, so that those before it are undone by
// themselves.
void WriteBatch::delete_range(const Tree& tree, std::string_view low,
                              std::optional<std::string_view> high) {
  if (low.size() > format::kKeyBytesMax || (high && high->size() > format::kKeyBytesMax)) {
    too_large_ = true;
    return;
  }
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

void WriteBatch::merge(const Tree& tree, std::string_view key, std::string_view operand) {
  if (key.size() > format::kKeyBytesMax || operand.size() > db::kLargeValueBytes) {
    too_large_ = true;
    return;
  }
  format::append_operation(ops_, {format::OperationType::kMerge, tree.id(), key, operand});
  ++count_;
}

void WriteBatch::clear() {
  ops_.clear();
  count_ = 0;
  too_large_ = false;
  large_ = false;
}

}  // namespace hawthorn
