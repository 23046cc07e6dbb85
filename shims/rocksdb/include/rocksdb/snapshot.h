#pragma once
// A fixed view of the whole database at one commit.
//
// Lifetime: from DB::GetSnapshot to DB::ReleaseSnapshot; iterators that read it keep what they need
// of it. Threads: may be read from any number of threads.

#include <cstdint>

#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {

class DB;

// [mapped]
class Snapshot {
 public:
  virtual SequenceNumber GetSequenceNumber() const = 0;
  // Seconds since 1970.
  virtual int64_t GetUnixTime() const = 0;
  // Of user timestamps, which there are none of. [accepted]
  virtual uint64_t GetTimestamp() const = 0;

 protected:
  virtual ~Snapshot() = default;
};

// Releases its snapshot when it goes. [mapped]
class ManagedSnapshot {
 public:
  explicit ManagedSnapshot(DB* db);
  ManagedSnapshot(DB* db, const Snapshot* _snapshot);
  ~ManagedSnapshot();
  ManagedSnapshot(const ManagedSnapshot&) = delete;
  ManagedSnapshot& operator=(const ManagedSnapshot&) = delete;
  const Snapshot* snapshot() { return snapshot_; }

 private:
  DB* db_;
  const Snapshot* snapshot_;
};

}  // namespace ROCKSDB_NAMESPACE
