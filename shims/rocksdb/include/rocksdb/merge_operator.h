#pragma once
// Changes of a value that are written without reading it: what operands make of a value is worked
// out by the program's operator, when the key is read or flushed.
//
// An operator must be a pure function, and folding some operands and then the rest must give what
// folding all at once gives. A column family may get another one, or none, at each open. Where it
// has none, or one that returns false, reads of merged keys give Corruption, and nothing is lost.
//
// Threads: called from any thread, also of the background. They must not call the database.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/customizable.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

class Logger;

// [mapped]
class MergeOperator : public Customizable {
 public:
  static const char* Type() { return "MergeOperator"; }
  const char* Name() const override = 0;

  // The form of old programs, which FullMergeV2 calls. Returns false where it is not overridden.
  virtual bool FullMerge(const Slice& key, const Slice* existing_value,
                         const std::deque<std::string>& operand_list, std::string* new_value,
                         Logger* logger) const;

  struct MergeOperationInput {
    MergeOperationInput(const Slice& _key, const Slice* _existing_value,
                        const std::vector<Slice>& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(_existing_value),
          operand_list(_operand_list),
          logger(_logger) {}
    const Slice& key;
    const Slice* existing_value;  // null: the key is absent
    const std::vector<Slice>& operand_list;
    Logger* logger;
  };

  // All of them mean the same here: the key cannot be read. [accepted]
  enum class OpFailureScope {
    kDefault,
    kTryMerge,
    kMustMerge,
    kOpFailureScopeMax,
  };

  struct MergeOperationOutput {
    MergeOperationOutput(std::string& _new_value, Slice& _existing_operand)
        : new_value(_new_value), existing_operand(_existing_operand) {}
    std::string& new_value;
    // An operand, or the old value, that is the new one: then new_value is not looked at.
    Slice& existing_operand;
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;
  };

  // Operands come oldest first. False: they do not fit together.
  virtual bool FullMergeV2(const MergeOperationInput& merge_in,
                           MergeOperationOutput* merge_out) const;
  // Makes one operand of two neighbours. False: cannot.
  virtual bool PartialMerge(const Slice& /*key*/, const Slice& /*left_operand*/,
                            const Slice& /*right_operand*/, std::string* /*new_value*/,
                            Logger* /*logger*/) const {
    return false;
  }
  // Of several; calls PartialMerge for each pair where it is not overridden.
  virtual bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                 std::string* new_value, Logger* logger) const;
  // Operands are folded one by one, too. [accepted]
  virtual bool AllowSingleOperand() const { return false; }
  // Never asked: when operands are folded is the engine's matter. [accepted]
  virtual bool ShouldMerge(const std::vector<Slice>& /*operands*/) const { return false; }
};

// Where operands and values are of one kind. [mapped]
class AssociativeMergeOperator : public MergeOperator {
 public:
  // False: they do not fit together. existing_value is null where the key is absent.
  virtual bool Merge(const Slice& key, const Slice* existing_value, const Slice& value,
                     std::string* new_value, Logger* logger) const = 0;

 private:
  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override;
};

}  // namespace ROCKSDB_NAMESPACE
