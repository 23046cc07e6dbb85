#pragma once
// Merge operators and comparators of a database's families, as the engine wants them: under names
// that it is told before it opens, and keeps with each tree.
//
// RocksDB's families get theirs when they are opened or made, and a merge operator may be another
// one each time. So the engine is told of a fixed number of slots, "rocksdb.merge.7"; a tree keeps
// the name of its slot, and a slot does what the operator does that the family has now.
//
// Not here: which slot a family has (families.h). Used by DBImpl.
// Threads: bind before the family is used; the rest from any thread. Slots live as long as the
// engine's options, which share them.
//
// 1. A merge slot without an operator refuses, so that operands stay as they are.
// 2. Where the engine does not store keys as they are, it calls with what it stores; so operands of
//    such families carry their key ("keyed"): its length (varint), the key, the operand.

#include <hawthorn/key_order.h>
#include <hawthorn/merge_operator.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/merge_operator.h"

namespace hawthorn::rocks {

class EntityMark;

class MergeSlot final : public hawthorn::MergeOperator {
 public:
  explicit MergeSlot(std::string name) : name_(std::move(name)) {}

  // Makes what a tree is to have of what it has and of operands that are not keyed. False: the
  // operator refuses them.
  using Fold =
      std::function<bool(const rocksdb::MergeOperator& with, std::string_view key,
                         std::optional<std::string_view> stored,
                         const std::vector<rocksdb::Slice>& operands, std::string* result)>;
  // Nothing happens where it has been bound to the same operator for the same family: who folds
  // beside this must not find it without one. Lifetime: the logger, which may be null, outlives it.
  void bind(std::shared_ptr<const rocksdb::MergeOperator> to, bool keyed, const void* family,
            rocksdb::Logger* logger, Fold fold);

  std::string_view name() const override { return name_; }
  bool merge(std::string_view key, std::optional<std::string_view> existing,
             std::span<const std::string_view> operands, std::string* result) const override;
  bool combine(std::string_view key, std::string_view left, std::string_view right,
               std::string* result) const override;

 private:
  const std::string name_;
  std::shared_ptr<const rocksdb::MergeOperator> owner_;  // of operator_
  std::atomic<const rocksdb::MergeOperator*> operator_{nullptr};
  bool keyed_ = false;
  const void* family_ = nullptr;
  rocksdb::Logger* logger_ = nullptr;
  Fold fold_;
};

// Folds operands that are not keyed.
bool full_merge(const rocksdb::MergeOperator& with, std::string_view key,
                std::optional<std::string_view> existing,
                const std::vector<rocksdb::Slice>& operands, rocksdb::Logger* logger,
                std::string* result);

// The operand as a keyed family stores it, and its parts.
std::string keyed_operand(std::string_view key, std::string_view operand);
bool split_keyed(std::string_view keyed, rocksdb::Slice* key, rocksdb::Slice* operand);

class OrderSlot final : public hawthorn::KeyComparator {
 public:
  explicit OrderSlot(std::string name) : name_(std::move(name)) {}

  void bind(const rocksdb::Comparator* to) { comparator_.store(to, std::memory_order_release); }

  std::string_view name() const override { return name_; }
  int compare(std::string_view a, std::string_view b) const override;

 private:
  const std::string name_;
  std::atomic<const rocksdb::Comparator*> comparator_{nullptr};
};

struct Slots {
  static constexpr size_t kMerges = 256;
  static constexpr size_t kOrders = 64;
  Slots();
  // Adds them to what the engine is told when it opens: hawthorn::Options, or FollowerOptions.
  template <typename Options>
  void tell(Options& engine) const {
    engine.merge_operators.insert(engine.merge_operators.end(), merges.begin(), merges.end());
    engine.key_comparators.insert(engine.key_comparators.end(), orders.begin(), orders.end());
  }
  std::vector<std::shared_ptr<MergeSlot>> merges;
  std::vector<std::shared_ptr<OrderSlot>> orders;
  // Of families, by id; one that is opened again, in another view, has its mark again.
  using Marks = std::map<uint32_t, std::shared_ptr<EntityMark>>;
  std::shared_ptr<Marks> marks = std::make_shared<Marks>();
};

std::string merge_slot_name(size_t number);
std::string order_slot_name(size_t number);

}  // namespace hawthorn::rocks
