// The merge operators that come with the library, and those of trees as the manifest knows them.

#include <algorithm>

#include "base/bytes.h"
#include "base/out_of_memory.h"
#include "db/impl.h"
#include "db/large_values.h"
#include "db/stored_key.h"
#include "db/thread_txns.h"
#include "format/operation.h"
#include "hawthorn/merge_operator.h"

namespace hawthorn {

namespace {
constexpr size_t kNameBytesMax = format::kMergeOperatorBytesMax;
constexpr size_t kSeparatorBytesMax = 200;

class Uint64Add : public MergeOperator {
 public:
  std::string_view name() const override { return "uint64_add"; }
  bool merge(std::string_view, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override {
    uint64_t sum = 0;
    if (existing.has_value() && !add(*existing, &sum)) return false;
    for (const std::string_view operand : operands) {
      if (!add(operand, &sum)) return false;
    }
    append(*result, sum);
    return true;
  }
  bool combine(std::string_view, std::string_view left, std::string_view right,
               std::string* result) const override {
    uint64_t sum = 0;
    if (!add(left, &sum) || !add(right, &sum)) return false;
    append(*result, sum);
    return true;
  }

 private:
  static bool add(std::string_view number, uint64_t* sum) {
    if (number.size() != sizeof(uint64_t)) return false;
    *sum += load<uint64_t>(number.data());
    return true;
  }
};

class Append : public MergeOperator {
 public:
  explicit Append(std::string_view separator)
      : separator_(separator.substr(0, kSeparatorBytesMax)),
        name_(separator.empty() ? "append" : "append:" + separator_) {}
  std::string_view name() const override { return name_; }
  bool merge(std::string_view, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override {
    size_t bytes = existing.value_or("").size();
    for (const std::string_view operand : operands) bytes += separator_.size() + operand.size();
    result->reserve(bytes);
    bool first = !existing.has_value();
    if (!first) result->append(*existing);
    for (const std::string_view operand : operands) {
      if (!first) result->append(separator_);
      first = false;
      result->append(operand);
    }
    return true;
  }
  bool combine(std::string_view, std::string_view left, std::string_view right,
               std::string* result) const override {
    result->reserve(left.size() + separator_.size() + right.size());
    result->append(left).append(separator_).append(right);
    return true;
  }

 private:
  const std::string separator_;
  const std::string name_;
};

class BytewiseMax : public MergeOperator {
 public:
  std::string_view name() const override { return "max"; }
  bool merge(std::string_view, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override {
    std::string_view greatest = existing.value_or("");
    for (const std::string_view operand : operands) greatest = std::max(greatest, operand);
    result->assign(greatest);
    return true;
  }
  bool combine(std::string_view, std::string_view left, std::string_view right,
               std::string* result) const override {
    result->assign(std::max(left, right));
    return true;
  }
};
}  // namespace

std::shared_ptr<const MergeOperator> uint64_add() { return std::make_shared<Uint64Add>(); }
std::shared_ptr<const MergeOperator> append_with(std::string_view separator) {
  return std::make_shared<Append>(separator);
}
std::shared_ptr<const MergeOperator> bytewise_max() { return std::make_shared<BytewiseMax>(); }

// ---- Of a database

Status Db::Impl::check_merge_operators() const {
  std::vector<std::string_view> names;
  for (const auto& merge_operator : options_.merge_operators) {
    if (merge_operator == nullptr) {
      return Status(StatusCode::kInvalidArgument, "a merge operator of the options is null");
    }
    const std::string_view name = merge_operator->name();
    if (name.empty() || name.size() > kNameBytesMax) {
      return Status(StatusCode::kInvalidArgument, "the name of a merge operator must have 1 to " +
                                                      std::to_string(kNameBytesMax) + " bytes");
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return Status(
          StatusCode::kInvalidArgument,
          "two merge operators of the options have the name \"" + std::string(name) + "\"");
    }
    names.push_back(name);
  }
  return {};
}

const MergeOperator* Db::Impl::merge_operator(std::string_view name) const {
  for (const auto& merge_operator : options_.merge_operators) {
    if (merge_operator->name() == name) return merge_operator.get();
  }
  return nullptr;
}

Status Db::Impl::set_merge_operator(tree::TreeState* tree, std::string_view name) {
  if (Status s = writable(); !s.ok()) return s;
  const MergeOperator* found = merge_operator(name);
  if (found == nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  "no merge operator of the options has the name \"" + std::string(name) + "\"");
  }
  os::MutexLock changing(settings_mutex_);
  const MergeOperator* present = tree->merge_operator();
  if (present != nullptr && present->name() == found->name()) return {};
  if (present != nullptr) {
    return Status(StatusCode::kInvalidArgument, "the tree has the merge operator \"" +
                                                    std::string(present->name()) + "\" already");
  }
  if (db::several_values(*tree)) return db::not_with_several_values();
  if (db::expires(*tree)) {
    return Status(StatusCode::kNotSupported, "the tree's entries end, which merges cannot tell");
  }
  if (db::holds_subtrees(*tree)) {
    return Status(StatusCode::kNotSupported, "values of the tree may be trees, which do not merge");
  }
  if (tree->base() != nullptr || tree->pins().any()) {
    return Status(StatusCode::kNotSupported, "the tree is a clone, or clones show it");
  }
  if (!tree->layers().forbid()) {
    return Status(StatusCode::kBusy,
                  "the tree still has to take in what a large transaction has written or "
                  "delete_range has deleted; Db::drain waits for that, but not for transactions "
                  "and snapshots that are open");
  }
  Status status = catalog_->change_record(
      tree->id(), [&](format::TreeRecord& record) { record.merge_operator = name; });
  if (status.ok()) {
    tree->set_merge_operator(found);
  } else {
    tree->layers().allow();
  }
  return status;
}

Status Db::Impl::check_merge(const tree::TreeState& tree, std::string_view key,
                             std::string_view operand) const {
  if (Status s = check_sizes(key, 0); !s.ok()) return s;
  if (operand.size() > db::kLargeValueBytes) {
    return Status(StatusCode::kInvalidArgument, "an operand of " + std::to_string(operand.size()) +
                                                    " bytes is over the limit of " +
                                                    std::to_string(db::kLargeValueBytes));
  }
  return tree.can_merge();
}

// ---- Writes

Status Db::set_merge_operator(const Tree& tree, std::string_view name) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, &status);
  return state == nullptr ? status : impl_->set_merge_operator(state, name);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

Status Db::merge(const Tree& tree, std::string_view key, std::string_view operand,
                 Durability durability) try {
  Status status = impl_->usable();
  if (!status.ok()) return status;
  const FoundTree state = impl_->find(tree, &status);
  if (state != nullptr) status = impl_->check_merge(*state, key, operand);
  if (!status.ok()) return status;
  const db::StoredKey stored(*state, key);
  if (!stored.ok()) return stored.status();
  db::OperationText operation;
  operation.append({format::OperationType::kMerge, state->id(), stored.view(), operand});
  return impl_->write_operations(operation.view(), 1, false, durability);
} catch (const std::bad_alloc&) {
  return out_of_memory();
}

}  // namespace hawthorn
