#pragma once
// Wide columns of one key in several column families.
//
// Not here: iterators over groups.
// Threads: as wide_columns.h.

#include <utility>
#include <vector>

#include "rocksdb/wide_columns.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyHandle;

// What is written of a key to one family. [mapped]
class AttributeGroup {
 public:
  explicit AttributeGroup(ColumnFamilyHandle* column_family, const WideColumns& columns)
      : column_family_(column_family), columns_(columns) {}
  ColumnFamilyHandle* column_family() const { return column_family_; }
  const WideColumns& columns() const { return columns_; }
  WideColumns& columns() { return columns_; }

 private:
  ColumnFamilyHandle* column_family_;
  WideColumns columns_;
};

// [mapped]
inline bool operator==(const AttributeGroup& lhs, const AttributeGroup& rhs) {
  return lhs.column_family() == rhs.column_family() && lhs.columns() == rhs.columns();
}
inline bool operator!=(const AttributeGroup& lhs, const AttributeGroup& rhs) {
  return !(lhs == rhs);
}

// [mapped]
using AttributeGroups = std::vector<AttributeGroup>;
// [mapped]
extern const AttributeGroups kNoAttributeGroups;

// What is read of a key from one family. [mapped]
class PinnableAttributeGroup {
 public:
  explicit PinnableAttributeGroup(ColumnFamilyHandle* column_family)
      : column_family_(column_family) {}
  ColumnFamilyHandle* column_family() const { return column_family_; }
  const Status& status() const { return status_; }
  const WideColumns& columns() const { return columns_.columns(); }
  void SetStatus(const Status& status) { status_ = status; }
  void SetColumns(PinnableWideColumns&& columns) { columns_ = std::move(columns); }
  void Reset() {
    status_ = Status::OK();
    columns_.Reset();
  }

 private:
  ColumnFamilyHandle* column_family_;
  Status status_;
  PinnableWideColumns columns_;
};

// [mapped]
using PinnableAttributeGroups = std::vector<PinnableAttributeGroup>;

}  // namespace ROCKSDB_NAMESPACE
