#pragma once
// Mutexes of a program's own for row locks: taken, and never called, since the engine waits by
// itself.

#include <cstdint>
#include <memory>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// [accepted]
class TransactionDBMutex {
 public:
  virtual ~TransactionDBMutex() = default;
  virtual Status Lock() = 0;
  virtual Status TryLockFor(int64_t timeout_time) = 0;
  virtual void UnLock() = 0;
};

// [accepted]
class TransactionDBCondVar {
 public:
  virtual ~TransactionDBCondVar() = default;
  virtual Status Wait(std::shared_ptr<TransactionDBMutex> mutex) = 0;
  virtual Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t timeout_time) = 0;
  virtual void Notify() = 0;
  virtual void NotifyAll() = 0;
};

// [accepted]
class TransactionDBMutexFactory {
 public:
  virtual ~TransactionDBMutexFactory() = default;
  virtual std::shared_ptr<TransactionDBMutex> AllocateMutex() = 0;
  virtual std::shared_ptr<TransactionDBCondVar> AllocateCondVar() = 0;
};

}  // namespace ROCKSDB_NAMESPACE
