#pragma once
// What became of a call: a code, for some of them a finer one, and words.
//
// Threads: as any value. A Status that is OK, or has no words, takes no memory of its own.

#include <memory>
#include <string>
#include <utility>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class Status {
 public:
  enum Code : unsigned char {
    kOk = 0,
    kNotFound = 1,
    kCorruption = 2,
    kNotSupported = 3,
    kInvalidArgument = 4,
    kIOError = 5,
    kMergeInProgress = 6,
    kIncomplete = 7,
    kShutdownInProgress = 8,
    kTimedOut = 9,
    kAborted = 10,
    kBusy = 11,
    kExpired = 12,
    kTryAgain = 13,
    kCompactionTooLarge = 14,
    kColumnFamilyDropped = 15,
    kMaxCode
  };

  enum SubCode : unsigned char {
    kNone = 0,
    kMutexTimeout = 1,
    kLockTimeout = 2,
    kLockLimit = 3,
    kNoSpace = 4,
    kDeadlock = 5,
    kStaleFile = 6,
    kMemoryLimit = 7,
    kSpaceLimit = 8,
    kPathNotFound = 9,
    KMergeOperandsInsufficientCapacity = 10,
    kManualCompactionPaused = 11,
    kOverwritten = 12,
    kTxnNotPrepared = 13,
    kIOFenced = 14,
    kMergeOperatorFailed = 15,
    kMergeOperandThresholdExceeded = 16,
    kMaxSubCode
  };

  enum Severity : unsigned char {
    kNoError = 0,
    kSoftError = 1,
    kHardError = 2,
    kFatalError = 3,
    kUnrecoverableError = 4,
    kMaxSeverity
  };

  Status() noexcept = default;
  Status(const Status& s);
  Status(const Status& s, Severity sev);
  Status(Code _code, SubCode _subcode, Severity _sev, const Slice& msg);
  Status(Status&& s) noexcept
      : code_(std::exchange(s.code_, kOk)),
        subcode_(std::exchange(s.subcode_, kNone)),
        sev_(std::exchange(s.sev_, kNoError)),
        state_(std::move(s.state_)) {}
  Status& operator=(const Status& s);
  Status& operator=(Status&& s) noexcept {
    code_ = std::exchange(s.code_, kOk);
    subcode_ = std::exchange(s.subcode_, kNone);
    sev_ = std::exchange(s.sev_, kNoError);
    state_ = std::move(s.state_);
    return *this;
  }
  ~Status() = default;

  // Compares codes alone.
  bool operator==(const Status& rhs) const { return code_ == rhs.code_; }
  bool operator!=(const Status& rhs) const { return code_ != rhs.code_; }

  // Where a Status that nobody looks at is a mistake; here it is none.
  void PermitUncheckedError() const {}
  void MustCheck() const {}

  Code code() const { return code_; }
  SubCode subcode() const { return subcode_; }
  Severity severity() const { return sev_; }
  // The words, or null. Lifetime: as long as this Status.
  const char* getState() const { return state_.get(); }
  // "NotFound: " and the words.
  std::string ToString() const;
  // The first error of several.
  Status& UpdateIfOk(Status&& s) {
    if (ok()) *this = std::move(s);
    return *this;
  }
  Status& UpdateIfOk(const Status& s) { return UpdateIfOk(Status(s)); }
  static Status CopyAppendMessage(const Status& s, const Slice& delim, const Slice& msg);

  static Status OK() { return Status(); }
  static Status OkOverwritten() { return Status(kOk, kOverwritten); }
  static Status OkMergeOperandThresholdExceeded() {
    return Status(kOk, kMergeOperandThresholdExceeded);
  }

  static Status NotFound(SubCode msg = kNone) { return Status(kNotFound, msg); }
  static Status NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, kNone, msg, msg2);
  }
  static Status NotFound(SubCode sc, const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, sc, msg, msg2);
  }

  static Status Corruption(SubCode msg = kNone) { return Status(kCorruption, msg); }
  static Status Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCorruption, kNone, msg, msg2);
  }

  static Status NotSupported(SubCode msg = kNone) { return Status(kNotSupported, msg); }
  static Status NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotSupported, kNone, msg, msg2);
  }

  static Status InvalidArgument(SubCode msg = kNone) { return Status(kInvalidArgument, msg); }
  static Status InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kNone, msg, msg2);
  }

  static Status IOError(SubCode msg = kNone) { return Status(kIOError, msg); }
  static Status IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kNone, msg, msg2);
  }

  static Status MergeInProgress(SubCode msg = kNone) { return Status(kMergeInProgress, msg); }
  static Status MergeInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kMergeInProgress, kNone, msg, msg2);
  }

  static Status Incomplete(SubCode msg = kNone) { return Status(kIncomplete, msg); }
  static Status Incomplete(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIncomplete, kNone, msg, msg2);
  }

  static Status ShutdownInProgress(SubCode msg = kNone) { return Status(kShutdownInProgress, msg); }
  static Status ShutdownInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kShutdownInProgress, kNone, msg, msg2);
  }

  static Status TimedOut(SubCode msg = kNone) { return Status(kTimedOut, msg); }
  static Status TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTimedOut, kNone, msg, msg2);
  }

  static Status Aborted(SubCode msg = kNone) { return Status(kAborted, msg); }
  static Status Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kNone, msg, msg2);
  }

  static Status Busy(SubCode msg = kNone) { return Status(kBusy, msg); }
  static Status Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kBusy, kNone, msg, msg2);
  }

  static Status Expired(SubCode msg = kNone) { return Status(kExpired, msg); }
  static Status Expired(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kExpired, kNone, msg, msg2);
  }

  static Status TryAgain(SubCode msg = kNone) { return Status(kTryAgain, msg); }
  static Status TryAgain(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTryAgain, kNone, msg, msg2);
  }

  static Status CompactionTooLarge(SubCode msg = kNone) { return Status(kCompactionTooLarge, msg); }
  static Status CompactionTooLarge(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCompactionTooLarge, kNone, msg, msg2);
  }

  static Status ColumnFamilyDropped(SubCode msg = kNone) {
    return Status(kColumnFamilyDropped, msg);
  }
  static Status ColumnFamilyDropped(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kColumnFamilyDropped, kNone, msg, msg2);
  }

  static Status NoSpace() { return Status(kIOError, kNoSpace); }
  static Status NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kNoSpace, msg, msg2);
  }

  static Status MemoryLimit() { return Status(kAborted, kMemoryLimit); }
  static Status MemoryLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kMemoryLimit, msg, msg2);
  }

  static Status SpaceLimit() { return Status(kIOError, kSpaceLimit); }
  static Status SpaceLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kSpaceLimit, msg, msg2);
  }

  static Status PathNotFound() { return Status(kIOError, kPathNotFound); }
  static Status PathNotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kPathNotFound, msg, msg2);
  }

  static Status TxnNotPrepared() { return Status(kInvalidArgument, kTxnNotPrepared); }
  static Status TxnNotPrepared(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kTxnNotPrepared, msg, msg2);
  }

  static Status LockLimit() { return Status(kAborted, kLockLimit); }

  bool ok() const { return code_ == kOk; }
  bool IsOkOverwritten() const { return is(kOk, kOverwritten); }
  bool IsOkMergeOperandThresholdExceeded() const { return is(kOk, kMergeOperandThresholdExceeded); }
  bool IsNotFound() const { return code_ == kNotFound; }
  bool IsCorruption() const { return code_ == kCorruption; }
  bool IsNotSupported() const { return code_ == kNotSupported; }
  bool IsInvalidArgument() const { return code_ == kInvalidArgument; }
  bool IsIOError() const { return code_ == kIOError; }
  bool IsMergeInProgress() const { return code_ == kMergeInProgress; }
  bool IsIncomplete() const { return code_ == kIncomplete; }
  bool IsShutdownInProgress() const { return code_ == kShutdownInProgress; }
  bool IsTimedOut() const { return code_ == kTimedOut; }
  bool IsAborted() const { return code_ == kAborted; }
  bool IsBusy() const { return code_ == kBusy; }
  bool IsExpired() const { return code_ == kExpired; }
  bool IsTryAgain() const { return code_ == kTryAgain; }
  bool IsCompactionTooLarge() const { return code_ == kCompactionTooLarge; }
  bool IsColumnFamilyDropped() const { return code_ == kColumnFamilyDropped; }
  bool IsNoSpace() const { return is(kIOError, kNoSpace); }
  bool IsMemoryLimit() const { return is(kAborted, kMemoryLimit); }
  bool IsLockLimit() const { return is(kAborted, kLockLimit); }
  bool IsDeadlock() const { return is(kBusy, kDeadlock); }
  bool IsPathNotFound() const {
    return is(kIOError, kPathNotFound) || is(kNotFound, kPathNotFound);
  }
  bool IsManualCompactionPaused() const { return is(kIncomplete, kManualCompactionPaused); }
  bool IsTxnNotPrepared() const { return is(kInvalidArgument, kTxnNotPrepared); }
  bool IsIOFenced() const { return is(kIOError, kIOFenced); }

 protected:
  explicit Status(Code code, SubCode subcode = kNone) : code_(code), subcode_(subcode) {}
  Status(Code code, SubCode subcode, const Slice& msg, const Slice& msg2);

 private:
  bool is(Code code, SubCode subcode) const { return code_ == code && subcode_ == subcode; }

  Code code_ = kOk;
  SubCode subcode_ = kNone;
  Severity sev_ = kNoError;
  std::unique_ptr<const char[]> state_;  // null: no words
};

}  // namespace ROCKSDB_NAMESPACE
