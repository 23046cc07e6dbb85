// WriteBatch: operations encoded as the log stores them, so that a commit copies them once.

#include "hawthorn/batch.h"

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
