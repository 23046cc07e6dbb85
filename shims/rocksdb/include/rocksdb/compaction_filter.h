#pragma once
// What removes or changes entries by a rule of the program's, in the background.
//
// There is no compaction here: entries are shown to a filter behind the flush that brought them to
// the disk, and by DB::CompactRange, in key order, as they are committed (hawthorn/flush_filter.h).
// What it decides is done by transactions, unless the entry has changed since; so snapshots and
// iterators that are older still have the entry. Families of merged values are shown the values.
//
// A family that is made later has its filter where the database was opened with one, of any family
// (and up to 32 of them are there); otherwise it is refused, until it is opened with it. Not here:
// blob indexes.
//
// Threads: a filter is called by one thread at a time. It may read and write the database, but not
// close or compact it. Lifetime: as long as databases that use it are open.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/customizable.h"
#include "rocksdb/slice.h"
#include "rocksdb/types.h"
#include "rocksdb/wide_columns.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class CompactionFilter : public Customizable {
 public:
  enum ValueType {
    kValue,
    kMergeOperand,
    kBlobIndex,
    kDeletion,
    kWideColumnEntity,
  };
  // What is not named below keeps the entry.
  enum class Decision {
    kKeep,
    kRemove,
    kChangeValue,
    kRemoveAndSkipUntil,
    kChangeBlobIndex,
    kIOError,
    kPurge,
    kChangeWideColumnEntity,
    kUndetermined,
  };
  // [accepted]
  struct Context {
    bool is_full_compaction = false;
    bool is_manual_compaction = false;
    int input_start_level = -1;
    uint32_t column_family_id = 0;
    TableFileCreationReason reason = TableFileCreationReason::kCompaction;
  };

  static const char* Type() { return "CompactionFilter"; }
  const char* Name() const override = 0;

  // True removes the entry; where *value_changed is set, *new_value is its value. The level is 0.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/,
                      std::string* /*new_value*/, bool* /*value_changed*/) const {
    return false;
  }
  // Never called: operands are folded before. [accepted]
  virtual bool FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                                  const Slice& /*operand*/) const {
    return false;
  }
  // Calls Filter where it is not overridden. With kRemoveAndSkipUntil entries from this one up to
  // *skip_until, which is not one of them, are removed without being shown.
  virtual Decision FilterV2(int level, const Slice& key, ValueType value_type,
                            const Slice& existing_value, std::string* new_value,
                            std::string* skip_until) const;
  // The same for entities, too, which are kept where it is not overridden: then existing_value is
  // null, else existing_columns is. kChangeWideColumnEntity makes *new_columns of the entry, in
  // families that have had an entity before.
  virtual Decision FilterV3(int level, const Slice& key, ValueType value_type,
                            const Slice* existing_value, const WideColumns* existing_columns,
                            std::string* new_value,
                            std::vector<std::pair<std::string, std::string>>* new_columns,
                            std::string* skip_until) const;
  // Snapshots keep what they show in any case. [accepted]
  virtual bool IgnoreSnapshots() const { return true; }
};

// Makes a filter for each pass over keys that are neighbours, of at most some thousand. [mapped]
class CompactionFilterFactory : public Customizable {
 public:
  static const char* Type() { return "CompactionFilterFactory"; }
  const char* Name() const override = 0;
  // Null: this pass keeps all.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;
  // Never asked. [accepted]
  virtual bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }
};

}  // namespace ROCKSDB_NAMESPACE
