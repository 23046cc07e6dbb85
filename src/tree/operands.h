#pragma once
// Operands of a tree's merge operator, as a read meets them on its way down to a value.
//
//   own intents, newest first ─> active delta ─> frozen delta ─> run ──> a value, or nothing
//        operands are gathered ...................................       what they are folded onto
//
// Not here: folding (TreeState::fold), chains of operands made shorter (fold_chain.cc), what a
// flush makes of them (merge_fold.cc). Used by point reads; cursors ask those.
// Threads: an Operands belongs to one thread; chains are read inside an epoch guard.
//
// 1. What counts is every operand that the reader sees and that ranks above the newest version that
//    it sees and that is none; each of them once.
// 2. Operands are copied: the operator is called later, without a guard.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/operands.h"
#include "hawthorn/merge_operator.h"
#include "tree/visibility.h"

namespace hawthorn::tree {

class Operands {
 public:
  void clear() { newest_first_.clear(); }
  bool empty() const { return newest_first_.empty(); }
  // Below those that are here already.
  void add_older(std::string_view operand) { newest_first_.emplace_back(operand); }
  // The same with what a run's record holds. False: that is malformed.
  bool add_older_list(std::string_view encoded);
  std::vector<std::string_view> oldest_first() const {
    return {newest_first_.rbegin(), newest_first_.rend()};
  }

 private:
  std::vector<std::string> newest_first_;
};

// As read_chain, where that would find an operand: gathers operands down to the version below them
// that is none, and returns that; none: what counts further stands in an older delta or in the run.
ChainRead read_operands(const Version* newest, const ReadView& view, const TxnSlots& slots,
                        bool frozen, Operands* operands);

// The operator's functions; false, too, where there is none, or where it throws. `result` is
// emptied first.
bool fold_operands(const MergeOperator* merge_operator, std::string_view key,
                   std::optional<std::string_view> existing,
                   std::span<const std::string_view> oldest_first, std::string* result);
bool combine_operands(const MergeOperator* merge_operator, std::string_view key,
                      std::string_view left, std::string_view right, std::string* result);

}  // namespace hawthorn::tree
