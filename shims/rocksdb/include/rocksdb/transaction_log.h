#pragma once
// What RocksDB reads its log by. Here nothing gives such an iterator: DB::GetUpdatesSince is
// refused. Programs that need changes as they are committed have the engine's feeds
// (hawthorn/feed.h).
//
// Used by programs that are written for RocksDB, so that they compile.

#include <memory>
#include <vector>

#include "rocksdb/status.h"
#include "rocksdb/types.h"
#include "rocksdb/write_batch.h"

namespace ROCKSDB_NAMESPACE {

// [refused]
struct BatchResult {
  SequenceNumber sequence = 0;
  std::unique_ptr<WriteBatch> writeBatchPtr;
};

// [refused]
class TransactionLogIterator {
 public:
  struct ReadOptions {
    ReadOptions() = default;
    explicit ReadOptions(bool verify_checksums) : verify_checksums_(verify_checksums) {}
    bool verify_checksums_ = true;
  };

  TransactionLogIterator() = default;
  virtual ~TransactionLogIterator() = default;
  virtual bool Valid() = 0;
  virtual void Next() = 0;
  virtual Status status() = 0;
  virtual BatchResult GetBatch() = 0;
};

}  // namespace ROCKSDB_NAMESPACE
