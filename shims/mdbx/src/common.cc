#include "shims/mdbx/src/common.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

#include "shims/mdbx/src/transaction.h"

namespace hawthorn::mdbx {
namespace {

std::atomic<pid_t> known_process{0};

void forget_process() { known_process.store(0, std::memory_order_relaxed); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, forget_process);

}  // namespace

pid_t process_id() {
  pid_t known = known_process.load(std::memory_order_relaxed);
  if (known == 0) {
    known = getpid();
    known_process.store(known, std::memory_order_relaxed);
  }
  return known;
}

int exception_code() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return MDBX_ENOMEM;
  } catch (...) {
    return MDBX_PROBLEM;  // of a function of the program's
  }
}

int fail_by_exception(MDBX_txn* txn) noexcept {
  if (!txn->read_only()) txn->flags |= MDBX_TXN_ERROR;
  return exception_code();
}

int to_code(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return MDBX_SUCCESS;
    case StatusCode::kNotFound:
    case StatusCode::kNotInMemory:
      return MDBX_NOTFOUND;
    case StatusCode::kInvalidArgument:
      return MDBX_EINVAL;
    case StatusCode::kNotSupported:
      return MDBX_ENOSYS;
    case StatusCode::kCorruption:
      return MDBX_CORRUPTED;
    case StatusCode::kIoError:
      return MDBX_EIO;
    case StatusCode::kNoSpace:
      return ENOSPC;
    case StatusCode::kBusy:
    case StatusCode::kTimedOut:
    case StatusCode::kConflict:
    case StatusCode::kDeadlock:
      return MDBX_BUSY;
    case StatusCode::kReadOnly:
      return MDBX_EROFS;
    case StatusCode::kPermissionDenied:
      return MDBX_EACCESS;
    case StatusCode::kOutOfMemory:
      return MDBX_ENOMEM;
    case StatusCode::kForked:
    case StatusCode::kUnknownOutcome:
      return MDBX_PANIC;
    case StatusCode::kClosed:
      return MDBX_EPERM;
    case StatusCode::kTooOld:
      return MDBX_MVCC_RETARDED;
  }
  return MDBX_PROBLEM;
}

}  // namespace hawthorn::mdbx
