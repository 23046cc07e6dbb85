#pragma once
// Column families: which there are, and what is kept of each.
//
// A family is a tree of the engine, "cf/" and its name, or "filtered/" and the number of a filter
// slot (filters.h). What the engine does not know of it stands in the tree "rocksdb", in a row for
// each:
//
//   family/NAME   id, name of the comparator, engine's order, merge slot, compression; where it has
//                 one, "f" and its filter slot; of families that have had entities, "m" and their
//                 mark in hexadecimal (entities.h)
//   dropped/ID    the same of a family that is dropped, and still read by who has a handle; its
//                 tree is "dropped/ID", and goes with the last handle, or with the next open
//   next_family   the id that the next one gets
//
// and in the tree "rocksdb_erased" by the number of its tree the row of each that is gone: the log
// may tell of it for some time (updates.h).
//
// Not here: handles, and who waits for whom (db_impl.h).
// Threads: FamilyRows as the engine; a Family's members that do not change from any thread, options
// that SetOptions changes as (3) says.
//
// 1. A family's rows and its tree are made, renamed and dropped in one commit.
// 2. An id is never given twice.
// 3. Options that SetOptions changes are changed under DBImpl's families_mutex_ and the family's
//    options_mutex, and read under one of them.

#include <hawthorn/db.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/options.h"
#include "shims/rocksdb/src/entities.h"
#include "shims/rocksdb/src/slots.h"

namespace hawthorn::rocks {

struct FamilyRow {
  uint32_t id = 0;
  std::string comparator;                   // rocksdb::Comparator::Name
  std::string order;                        // TreeOptions::order
  std::optional<uint32_t> merge_slot = {};  // nothing: it never had an operator
  uint32_t compression = 0;                 // hawthorn::Compression
  std::optional<uint32_t> filter_slot = {};
  std::string mark = {};  // bytes; empty: it never had entities
};

struct Family {
  uint32_t id = 0;
  std::string name;
  hawthorn::Tree tree;
  rocksdb::ColumnFamilyOptions options;
  mutable std::mutex options_mutex;
  FamilyRow row;
  bool bytewise = true;                            // keys are stored as they are
  const rocksdb::MergeOperator* merges = nullptr;  // that it has now
  bool has_slot = false;                           // the engine folds operands in its tree
  std::atomic<bool> dropped{false};
  // Shared with its merge slot and its filter.
  std::shared_ptr<EntityMark> mark;

  rocksdb::ColumnFamilyOptions options_now() const {
    const std::lock_guard lock(options_mutex);
    return options;
  }
  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor() const {
    const std::lock_guard lock(options_mutex);
    return options.prefix_extractor;
  }
};

inline constexpr std::string_view kRowsTree = "rocksdb";
inline constexpr std::string_view kFamilyTree = "cf/";
inline constexpr std::string_view kFilteredTree = "filtered/";
inline constexpr std::string_view kDroppedTree = "dropped/";

std::string tree_name(const std::string& family, const FamilyRow& row);
std::string filtered_tree_name(uint32_t slot);
std::string dropped_tree_name(uint32_t id);

// All rows, as they are read at once.
class FamilyRows {
 public:
  // Errors: kNotFound where the database has no such tree; kCorruption; those of reading.
  static hawthorn::Result<FamilyRows> read(hawthorn::Db& db);

  // By name.
  const std::map<std::string, FamilyRow>& families() const { return families_; }
  const std::vector<FamilyRow>& dropped() const { return dropped_; }
  uint32_t next_id() const { return next_id_; }
  std::vector<std::string> names_by_id() const;

 private:
  std::map<std::string, FamilyRow> families_;
  std::vector<FamilyRow> dropped_;
  uint32_t next_id_ = 0;
};

// Within a transaction that is committed by the caller.
hawthorn::Status put_family_row(hawthorn::Transaction& in, const std::string& name,
                                const FamilyRow& row);
// Makes tree and row, and counts the next id.
hawthorn::Status make_family(hawthorn::Transaction& in, const std::string& name,
                             const FamilyRow& row);
// From "cf/NAME" to "dropped/ID".
hawthorn::Status drop_family(hawthorn::Transaction& in, const std::string& name,
                             const FamilyRow& row);
// Removes what drop_family has left.
hawthorn::Status erase_dropped(hawthorn::Db& db, uint32_t id);
// Those that were erased, by the ids of their trees.
hawthorn::Status each_erased_family(
    hawthorn::Db& db, const std::function<void(uint32_t tree, const FamilyRow& row)>& show);
// The first commit of a new database.
hawthorn::Status make_rows(hawthorn::Db& db, const FamilyRow& default_family);

hawthorn::Compression compression_of(const rocksdb::ColumnFamilyOptions& options);

}  // namespace hawthorn::rocks
