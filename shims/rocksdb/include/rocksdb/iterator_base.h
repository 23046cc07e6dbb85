#pragma once
// A walk over keys in their order, in both directions.

#include "rocksdb/cleanable.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class Snapshot;

// [mapped]
class IteratorBase : public Cleanable {
 public:
  IteratorBase() = default;
  virtual ~IteratorBase() = default;
  IteratorBase(const IteratorBase&) = delete;
  void operator=(const IteratorBase&) = delete;

  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(const Slice& target) = 0;         // the first key from there on
  virtual void SeekForPrev(const Slice& target) = 0;  // the last key up to there
  virtual void Next() = 0;                            // only where it is valid
  virtual void Prev() = 0;

  // From now on what is committed now, or the snapshot. It stands nowhere until the next seek.
  virtual Status Refresh() { return Refresh(nullptr); }
  virtual Status Refresh(const Snapshot* /*snapshot*/) {
    return Status::NotSupported("this iterator cannot be refreshed");
  }
  // Values are always there. [accepted]
  virtual bool PrepareValue() { return true; }
  // Lifetime: until the next move; with ReadOptions::pin_data as long as the iterator.
  virtual Slice key() const = 0;
  // OK at the ends, too.
  virtual Status status() const = 0;
};

}  // namespace ROCKSDB_NAMESPACE
