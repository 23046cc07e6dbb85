#pragma once
// What was committed since a number, batch by batch: DB::GetUpdatesSince.
//
//   std::unique_ptr<TransactionLogIterator> at;
//   for (s = db->GetUpdatesSince(next, &at); s.ok() && at->Valid(); at->Next()) {
//     BatchResult batch = at->GetBatch();
//     apply(*batch.writeBatchPtr);
//     next = batch.sequence + batch.writeBatchPtr->Count();
//   }
//
// Threads: one object from one thread at a time. Lifetime: delete it before its database.

#include <memory>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "rocksdb/types.h"
#include "rocksdb/write_batch.h"

namespace ROCKSDB_NAMESPACE {

// [accepted]
enum WalFileType {
  kArchivedLogFile = 0,
  kAliveLogFile = 1,
};

// Nothing gives one. [refused]
class WalFile {
 public:
  virtual ~WalFile() = default;
  virtual std::string PathName() const = 0;
  virtual uint64_t LogNumber() const = 0;
  virtual WalFileType Type() const = 0;
  virtual SequenceNumber StartSequence() const = 0;
  virtual uint64_t SizeFileBytes() const = 0;
};
// [refused]
using LogFile = WalFile;
// [refused]
using VectorWalPtr = std::vector<std::unique_ptr<WalFile>>;
// [refused]
using VectorLogPtr = VectorWalPtr;

// [mapped]
struct BatchResult {
  BatchResult() = default;
  BatchResult(const BatchResult&) = delete;
  BatchResult& operator=(const BatchResult&) = delete;
  BatchResult(BatchResult&& other) noexcept = default;
  BatchResult& operator=(BatchResult&& other) noexcept = default;

  SequenceNumber sequence = 0;
  std::unique_ptr<WriteBatch> writeBatchPtr;
};

// [mapped]
class TransactionLogIterator {
 public:
  struct ReadOptions {
    ReadOptions() = default;
    explicit ReadOptions(bool verify_checksums) : verify_checksums_(verify_checksums) {}
    // They are, always. [accepted]
    bool verify_checksums_ = true;
  };

  TransactionLogIterator() = default;
  virtual ~TransactionLogIterator() = default;
  // False at the end, which is OK, and behind an error.
  virtual bool Valid() = 0;
  // At the end it looks again.
  virtual void Next() = 0;
  virtual Status status() = 0;
  // Once for each batch: it is given away. Where it is valid.
  virtual BatchResult GetBatch() = 0;
};

}  // namespace ROCKSDB_NAMESPACE
