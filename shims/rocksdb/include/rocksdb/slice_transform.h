#pragma once
// What of a key is its prefix, for iterators that stay within one.
//
// Threads: called from any thread. Nothing of it is stored: it may change from open to open.

#include <cstddef>
#include <memory>
#include <string>

#include "rocksdb/customizable.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class SliceTransform : public Customizable {
 public:
  static const char* Type() { return "SliceTransform"; }
  const char* Name() const override = 0;
  virtual Slice Transform(const Slice& key) const = 0;
  // Whether the key has a prefix at all.
  virtual bool InDomain(const Slice& key) const = 0;
  // [accepted]
  virtual bool InRange(const Slice& /*dst*/) const { return false; }
  // [accepted]
  virtual bool FullLengthEnabled(size_t* /*len*/) const { return false; }
  // [accepted]
  virtual bool SameResultWhenAppended(const Slice& /*prefix*/) const { return false; }
  std::string AsString() const { return GetId(); }
};

// The first bytes; shorter keys have none. The caller owns it. [mapped]
const SliceTransform* NewFixedPrefixTransform(size_t prefix_len);
// The first bytes, or all of a shorter key. [mapped]
const SliceTransform* NewCappedPrefixTransform(size_t cap_len);
// The whole key. [mapped]
const SliceTransform* NewNoopTransform();

}  // namespace ROCKSDB_NAMESPACE
