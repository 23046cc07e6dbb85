#include "shims/rocksdb/src/slots.h"

#include "shims/rocksdb/src/batch_format.h"
#include "shims/rocksdb/src/convert.h"

namespace hawthorn::rocks {

std::string merge_slot_name(size_t number) { return "rocksdb.merge." + std::to_string(number); }
std::string order_slot_name(size_t number) { return "rocksdb.order." + std::to_string(number); }

Slots::Slots() {
  for (size_t i = 0; i < kMerges; ++i) {
    merges.push_back(std::make_shared<MergeSlot>(merge_slot_name(i)));
  }
  for (size_t i = 0; i < kOrders; ++i) {
    orders.push_back(std::make_shared<OrderSlot>(order_slot_name(i)));
  }
}

std::string keyed_operand(std::string_view key, std::string_view operand) {
  std::string keyed;
  keyed.reserve(kVarintBytesMax + key.size() + operand.size());
  append_string(key, &keyed);
  keyed.append(operand);
  return keyed;
}

bool split_keyed(std::string_view keyed, rocksdb::Slice* key, rocksdb::Slice* operand) {
  const char* const end = keyed.data() + keyed.size();
  const char* const behind = read_string(keyed.data(), end, key);
  if (behind == nullptr) return false;
  *operand = rocksdb::Slice(behind, static_cast<size_t>(end - behind));
  return true;
}

bool full_merge(const rocksdb::MergeOperator& with, std::string_view key,
                std::optional<std::string_view> existing,
                const std::vector<rocksdb::Slice>& operands, rocksdb::Logger* logger,
                std::string* result) {
  const rocksdb::Slice key_slice = slice(key);
  const rocksdb::Slice before = slice(existing.value_or(std::string_view()));
  // Where data() stays null, the operator has written the new value.
  rocksdb::Slice chosen(nullptr, 0);
  rocksdb::MergeOperator::MergeOperationOutput out(*result, chosen);
  const rocksdb::MergeOperator::MergeOperationInput in(
      key_slice, existing.has_value() ? &before : nullptr, operands, logger);
  if (!with.FullMergeV2(in, &out)) return false;
  if (chosen.data() != nullptr) result->assign(chosen.data(), chosen.size());
  return true;
}

void MergeSlot::bind(std::shared_ptr<const rocksdb::MergeOperator> to, bool keyed,
                     const void* family, rocksdb::Logger* logger, Fold fold) {
  if (owner_ == to && keyed_ == keyed && family_ == family) return;
  operator_.store(nullptr, std::memory_order_release);
  keyed_ = keyed;
  family_ = family;
  logger_ = logger;
  fold_ = std::move(fold);
  owner_ = std::move(to);
  operator_.store(owner_.get(), std::memory_order_release);
}

bool MergeSlot::merge(std::string_view key, std::optional<std::string_view> existing,
                      std::span<const std::string_view> operands, std::string* result) const {
  const rocksdb::MergeOperator* const with = operator_.load(std::memory_order_acquire);
  if (with == nullptr) return false;
  std::vector<rocksdb::Slice> list;
  list.reserve(operands.size());
  rocksdb::Slice user_key = slice(key);
  for (const std::string_view operand : operands) {
    rocksdb::Slice rest = slice(operand);
    if (keyed_ && !split_keyed(operand, &user_key, &rest)) return false;
    list.push_back(rest);
  }
  return fold_(*with, view(user_key), existing, list, result);
}

bool MergeSlot::combine(std::string_view key, std::string_view left, std::string_view right,
                        std::string* result) const {
  const rocksdb::MergeOperator* const with = operator_.load(std::memory_order_acquire);
  if (with == nullptr) return false;
  rocksdb::Slice user_key = slice(key);
  rocksdb::Slice first = slice(left);
  rocksdb::Slice second = slice(right);
  if (keyed_ &&
      (!split_keyed(left, &user_key, &first) || !split_keyed(right, &user_key, &second))) {
    return false;
  }
  std::string combined;
  if (!with->PartialMergeMulti(user_key, {first, second}, &combined, logger_)) return false;
  *result = keyed_ ? keyed_operand(view(user_key), combined) : std::move(combined);
  return true;
}

int OrderSlot::compare(std::string_view a, std::string_view b) const {
  const rocksdb::Comparator* const with = comparator_.load(std::memory_order_acquire);
  // Nobody compares in a tree whose family is not open.
  return with == nullptr ? a.compare(b) : with->Compare(slice(a), slice(b));
}

}  // namespace hawthorn::rocks
