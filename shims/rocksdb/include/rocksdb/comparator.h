#pragma once
// The order of a column family's keys.
//
// The two that come with the library cost nothing; others become comparisons of the engine
// (hawthorn/key_order.h says what they cost). A column family keeps the name of its comparator, and
// is not opened with another one.
//
// Threads: called from any thread, several at a time. They must not call the database.
// Lifetime: as long as databases that use it are open.

#include <cstdint>
#include <string>

#include "rocksdb/customizable.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class CompareInterface {
 public:
  virtual ~CompareInterface() = default;
  // Less than, equal to or greater than 0 where `a` comes before, is, or comes behind `b`.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;
};

// [mapped]
class Comparator : public Customizable, public CompareInterface {
 public:
  Comparator() = default;
  // [refused] where it is not 0, when a column family is opened: user timestamps.
  explicit Comparator(size_t ts_sz) : timestamp_size_(ts_sz) {}
  ~Comparator() override = default;

  static const char* Type() { return "Comparator"; }
  const char* Name() const override = 0;
  virtual bool Equal(const Slice& a, const Slice& b) const { return Compare(a, b) == 0; }
  // Never called: the engine shortens keys by itself. [accepted]
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;
  // [accepted]
  virtual void FindShortSuccessor(std::string* key) const = 0;
  // [accepted]
  virtual bool IsSameLengthImmediateSuccessor(const Slice& /*s*/, const Slice& /*t*/) const {
    return false;
  }
  // Of keys that compare equal the first that was put is shown for all. [accepted]
  virtual bool CanKeysWithDifferentByteContentsBeEqual() const { return true; }
  virtual const Comparator* GetRootComparator() const { return this; }
  size_t timestamp_size() const { return timestamp_size_; }

 private:
  size_t timestamp_size_ = 0;
};

// Byte by byte, unsigned. Lifetime: static. [mapped]
const Comparator* BytewiseComparator();
// The other way round. [mapped]
const Comparator* ReverseBytewiseComparator();

}  // namespace ROCKSDB_NAMESPACE
