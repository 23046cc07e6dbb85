#pragma once
// Wide columns: a value that is several named ones, an entity.
//
//   db->PutEntity(WriteOptions(), family, "ada", WideColumns{{"born", "1815"}, {"died", "1852"}});
//   PinnableWideColumns found;
//   db->GetEntity(ReadOptions(), family, "ada", &found);
//
// A plain value is shown as an entity with one column, whose name is empty (the default column),
// and reads of plain values show that column of an entity, or nothing where it has none.
//
// Not here: groups of columns in several families (attribute_groups.h).
// Threads: one object from one thread at a time, or any number that read it.

#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// A name and a value that somebody else owns. [mapped]
class WideColumn {
 public:
  WideColumn() = default;
  template <typename N, typename V>
  WideColumn(N&& name, V&& value) : name_(std::forward<N>(name)), value_(std::forward<V>(value)) {}
  // Of what the constructors of two slices take.
  template <typename NTuple, typename VTuple>
  WideColumn(std::piecewise_construct_t, NTuple&& name_tuple, VTuple&& value_tuple)
      : name_(std::make_from_tuple<Slice>(std::forward<NTuple>(name_tuple))),
        value_(std::make_from_tuple<Slice>(std::forward<VTuple>(value_tuple))) {}

  const Slice& name() const { return name_; }
  const Slice& value() const { return value_; }
  Slice& name() { return name_; }
  Slice& value() { return value_; }

 private:
  Slice name_;
  Slice value_;
};

// [mapped]
inline bool operator==(const WideColumn& lhs, const WideColumn& rhs) {
  return lhs.name() == rhs.name() && lhs.value() == rhs.value();
}
inline bool operator!=(const WideColumn& lhs, const WideColumn& rhs) { return !(lhs == rhs); }
// "name:value", in hexadecimal where the stream is.
std::ostream& operator<<(std::ostream& os, const WideColumn& column);

// [mapped]
using WideColumns = std::vector<WideColumn>;

// It is empty. [mapped]
extern const Slice kDefaultWideColumnName;
// [mapped]
extern const WideColumns kNoWideColumns;

// What a read hands out: the columns in the order of their names, and the memory in which they are.
// [mapped]
class PinnableWideColumns {
 public:
  PinnableWideColumns() = default;
  PinnableWideColumns(const PinnableWideColumns&) = delete;
  PinnableWideColumns& operator=(const PinnableWideColumns&) = delete;
  PinnableWideColumns(PinnableWideColumns&& other) noexcept { *this = std::move(other); }
  PinnableWideColumns& operator=(PinnableWideColumns&& other) noexcept;

  const WideColumns& columns() const { return columns_; }
  size_t serialized_size() const { return value_.size(); }

  // Of a plain value: a copy, or what `cleanable` keeps, or what is moved.
  void SetPlainValue(const Slice& value);
  void SetPlainValue(const Slice& value, Cleanable* cleanable);
  void SetPlainValue(PinnableSlice&& value);
  void SetPlainValue(std::string&& value);
  // The same of an entity, as a batch's handler is shown it. Errors: Corruption; NotSupported for a
  // newer format.
  Status SetWideColumnValue(const Slice& value);
  Status SetWideColumnValue(const Slice& value, Cleanable* cleanable);
  Status SetWideColumnValue(PinnableSlice&& value);
  Status SetWideColumnValue(std::string&& value);
  void Reset();

 private:
  void Take(const Slice& value, Cleanable* cleanable);
  void Take(std::string&& value);
  void ShowPlain();
  Status ShowColumns();

  PinnableSlice value_;
  WideColumns columns_;
};

// [mapped]
inline bool operator==(const PinnableWideColumns& lhs, const PinnableWideColumns& rhs) {
  return lhs.columns() == rhs.columns();
}
inline bool operator!=(const PinnableWideColumns& lhs, const PinnableWideColumns& rhs) {
  return !(lhs == rhs);
}

}  // namespace ROCKSDB_NAMESPACE
