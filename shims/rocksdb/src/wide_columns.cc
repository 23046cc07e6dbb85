// What programs see of wide columns: entities.h has their bytes.

#include "rocksdb/wide_columns.h"

#include <ios>

#include "rocksdb/attribute_groups.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/entities.h"

namespace rocksdb {

const Slice kDefaultWideColumnName;
const WideColumns kNoWideColumns;
const AttributeGroups kNoAttributeGroups;

std::ostream& operator<<(std::ostream& os, const WideColumn& column) {
  const bool hex = (os.flags() & std::ios_base::basefield) == std::ios_base::hex;
  const auto show = [&os, hex](const Slice& bytes) {
    if (!bytes.empty()) os << (hex ? "0x" : "") << bytes.ToString(hex);
  };
  show(column.name());
  os << ':';
  show(column.value());
  return os;
}

PinnableWideColumns& PinnableWideColumns::operator=(PinnableWideColumns&& other) noexcept {
  if (this == &other) return *this;
  const std::less<const char*> before;
  const char* const from = other.value_.data();
  const char* const end = from + other.value_.size();
  value_ = std::move(other.value_);
  columns_ = std::move(other.columns_);
  // Short ones have moved with their object.
  for (WideColumn& column : columns_) {
    for (Slice* part : {&column.name(), &column.value()}) {
      if (before(part->data(), from) || before(end, part->data())) continue;
      *part = Slice(value_.data() + (part->data() - from), part->size());
    }
  }
  other.Reset();
  return *this;
}

void PinnableWideColumns::Take(const Slice& value, Cleanable* cleanable) {
  value_.Reset();
  cleanable == nullptr ? value_.PinSelf(value) : value_.PinSlice(value, cleanable);
}

void PinnableWideColumns::Take(std::string&& value) {
  value_.Reset();
  *value_.GetSelf() = std::move(value);
  value_.PinSelf();
}

void PinnableWideColumns::ShowPlain() {
  columns_.assign(1, WideColumn(kDefaultWideColumnName, static_cast<const Slice&>(value_)));
}

Status PinnableWideColumns::ShowColumns() {
  Status s = hawthorn::rocks::decode_columns(hawthorn::rocks::view(value_), &columns_);
  if (!s.ok()) Reset();
  return s;
}

void PinnableWideColumns::SetPlainValue(const Slice& value) {
  Take(value, nullptr);
  ShowPlain();
}
void PinnableWideColumns::SetPlainValue(const Slice& value, Cleanable* cleanable) {
  Take(value, cleanable);
  ShowPlain();
}
void PinnableWideColumns::SetPlainValue(PinnableSlice&& value) {
  value_ = std::move(value);
  ShowPlain();
}
void PinnableWideColumns::SetPlainValue(std::string&& value) {
  Take(std::move(value));
  ShowPlain();
}

Status PinnableWideColumns::SetWideColumnValue(const Slice& value) {
  Take(value, nullptr);
  return ShowColumns();
}
Status PinnableWideColumns::SetWideColumnValue(const Slice& value, Cleanable* cleanable) {
  Take(value, cleanable);
  return ShowColumns();
}
Status PinnableWideColumns::SetWideColumnValue(PinnableSlice&& value) {
  value_ = std::move(value);
  return ShowColumns();
}
Status PinnableWideColumns::SetWideColumnValue(std::string&& value) {
  Take(std::move(value));
  return ShowColumns();
}

void PinnableWideColumns::Reset() {
  value_.Reset();
  columns_.clear();
}

}  // namespace rocksdb
