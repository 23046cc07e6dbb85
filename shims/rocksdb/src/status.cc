// Status, and what the engine's errors become.

#include "rocksdb/status.h"

#include <cstring>

#include "shims/rocksdb/src/convert.h"

namespace rocksdb {
namespace {

std::unique_ptr<const char[]> copied(const char* words) {
  if (words == nullptr) return nullptr;
  const size_t bytes = std::strlen(words) + 1;
  auto copy = std::make_unique<char[]>(bytes);
  std::memcpy(copy.get(), words, bytes);
  return copy;
}

const char* name_of(Status::Code code) {
  switch (code) {
    case Status::kOk:
      return "OK";
    case Status::kNotFound:
      return "NotFound: ";
    case Status::kCorruption:
      return "Corruption: ";
    case Status::kNotSupported:
      return "Not implemented: ";
    case Status::kInvalidArgument:
      return "Invalid argument: ";
    case Status::kIOError:
      return "IO error: ";
    case Status::kMergeInProgress:
      return "Merge in progress: ";
    case Status::kIncomplete:
      return "Result incomplete: ";
    case Status::kShutdownInProgress:
      return "Shutdown in progress: ";
    case Status::kTimedOut:
      return "Operation timed out: ";
    case Status::kAborted:
      return "Operation aborted: ";
    case Status::kBusy:
      return "Resource busy: ";
    case Status::kExpired:
      return "Operation expired: ";
    case Status::kTryAgain:
      return "Operation failed. Try again.: ";
    case Status::kCompactionTooLarge:
      return "Compaction too large: ";
    case Status::kColumnFamilyDropped:
      return "Column family dropped: ";
    case Status::kMaxCode:
      break;
  }
  return "Unknown code: ";
}

const char* name_of(Status::SubCode code) {
  switch (code) {
    case Status::kNone:
    case Status::kOverwritten:
    case Status::kMaxSubCode:
      return "";
    case Status::kTxnNotPrepared:
      return "Txn not prepared";
    case Status::kIOFenced:
      return "IO fenced off";
    case Status::kMutexTimeout:
      return "Timeout Acquiring Mutex";
    case Status::kLockTimeout:
      return "Timeout waiting to lock key";
    case Status::kLockLimit:
      return "Failed to acquire lock due to max_num_locks limit";
    case Status::kNoSpace:
      return "No space left on device";
    case Status::kDeadlock:
      return "Deadlock";
    case Status::kStaleFile:
      return "Stale file handle";
    case Status::kMemoryLimit:
      return "Memory limit reached";
    case Status::kSpaceLimit:
      return "Space limit reached";
    case Status::kPathNotFound:
      return "No such file or directory";
    case Status::KMergeOperandsInsufficientCapacity:
      return "Insufficient capacity for merge operands";
    case Status::kManualCompactionPaused:
      return "Manual compaction paused";
    case Status::kMergeOperatorFailed:
      return "Merge operator failed";
    case Status::kMergeOperandThresholdExceeded:
      return "Number of operands merged exceeded threshold";
  }
  return "";
}

}  // namespace

Status::Status(const Status& s)
    : code_(s.code_), subcode_(s.subcode_), sev_(s.sev_), state_(copied(s.state_.get())) {}

Status::Status(const Status& s, Severity sev) : Status(s) { sev_ = sev; }

Status::Status(Code _code, SubCode _subcode, Severity _sev, const Slice& msg)
    : Status(_code, _subcode, msg, Slice()) {
  sev_ = _sev;
}

Status::Status(Code code, SubCode subcode, const Slice& msg, const Slice& msg2)
    : code_(code), subcode_(subcode) {
  std::string words = msg.ToString();
  if (!msg2.empty()) words += ": " + msg2.ToString();
  state_ = copied(words.c_str());
}

Status& Status::operator=(const Status& s) {
  if (this != &s) *this = Status(s);
  return *this;
}

Status Status::CopyAppendMessage(const Status& s, const Slice& delim, const Slice& msg) {
  const std::string words = s.state_ ? s.state_.get() : "";
  return Status(s.code_, s.subcode_, s.sev_, words + delim.ToString() + msg.ToString());
}

std::string Status::ToString() const {
  std::string text = name_of(code_);
  if (code_ == kOk) return text;
  if (subcode_ != kNone) {
    text += name_of(subcode_);
    if (state_) text += ": ";
  }
  if (state_) text += state_.get();
  return text;
}

}  // namespace rocksdb

namespace hawthorn::rocks {

using S = rocksdb::Status;

S to_status(const hawthorn::Status& status) {
  const std::string_view said = status.message();
  const rocksdb::Slice words(said);
  switch (status.code()) {
    case StatusCode::kOk:
      return S::OK();
    case StatusCode::kNotFound:
      return said.empty() ? S::NotFound() : S::NotFound(words);
    case StatusCode::kInvalidArgument:
      return S::InvalidArgument(words);
    case StatusCode::kNotSupported:
      return S::NotSupported(words);
    case StatusCode::kCorruption:
      // The engine has no code of its own for it; programs look for RocksDB's words.
      if (said.find("the merge operator") != said.npos && said.find("refuses") != said.npos) {
        return S(S::kCorruption, S::kMergeOperatorFailed, S::kNoError, words);
      }
      return S::Corruption(words);
    case StatusCode::kNoSpace:
      return S::NoSpace(words);
    case StatusCode::kBusy:
    case StatusCode::kConflict:
      return S::Busy(words);
    case StatusCode::kOutOfMemory:
      return S::MemoryLimit(words);
    case StatusCode::kNotInMemory:
      return S::Incomplete(words);
    case StatusCode::kTimedOut:
      return S(S::kTimedOut, S::kLockTimeout, S::kNoError, words);
    case StatusCode::kDeadlock:
      return S(S::kBusy, S::kDeadlock, S::kNoError, words);
    case StatusCode::kTooOld:
      return S::TryAgain(words);
    case StatusCode::kClosed:
      return S::ShutdownInProgress(words);
    case StatusCode::kForked:
      return S::Aborted(words);
    case StatusCode::kIoError:
    case StatusCode::kReadOnly:
    case StatusCode::kPermissionDenied:
    case StatusCode::kUnknownOutcome:
      break;
  }
  return S::IOError(status_code_name(status.code()), words);
}

}  // namespace hawthorn::rocks
