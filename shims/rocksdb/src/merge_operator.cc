// The forms of a merge operator, each by the one below it.

#include "rocksdb/merge_operator.h"

namespace rocksdb {

bool MergeOperator::FullMerge(const Slice&, const Slice*, const std::deque<std::string>&,
                              std::string*, Logger*) const {
  return false;
}

bool MergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                MergeOperationOutput* merge_out) const {
  std::deque<std::string> operands;
  for (const Slice& operand : merge_in.operand_list) operands.push_back(operand.ToString());
  return FullMerge(merge_in.key, merge_in.existing_value, operands, &merge_out->new_value,
                   merge_in.logger);
}

bool MergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                      std::string* new_value, Logger* logger) const {
  if (operand_list.size() < 2) return false;
  std::string merged = operand_list.front().ToString();
  for (size_t i = 1; i < operand_list.size(); ++i) {
    std::string next;
    if (!PartialMerge(key, merged, operand_list[i], &next, logger)) return false;
    merged = std::move(next);
  }
  *new_value = std::move(merged);
  return true;
}

bool AssociativeMergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                           MergeOperationOutput* merge_out) const {
  std::string merged;
  Slice existing;
  const Slice* before = merge_in.existing_value;
  for (const Slice& operand : merge_in.operand_list) {
    std::string next;
    if (!Merge(merge_in.key, before, operand, &next, merge_in.logger)) return false;
    merged = std::move(next);
    existing = Slice(merged);
    before = &existing;
  }
  merge_out->new_value = std::move(merged);
  return true;
}

bool AssociativeMergeOperator::PartialMerge(const Slice& key, const Slice& left_operand,
                                            const Slice& right_operand, std::string* new_value,
                                            Logger* logger) const {
  return Merge(key, &left_operand, right_operand, new_value, logger);
}

}  // namespace rocksdb
