#pragma once
// Errors are values. Every call that can fail returns a Status, or a Result<T> that is a T or a
// Status.
//
// Not here: exceptions (none leaves the library: where the system gives no memory, calls return
// kOutOfMemory; only what is made by value, such as a string or a copy, may throw std::bad_alloc)
// and error numbers of the operating system (they are in the message). Threads: a Status is an
// ordinary value; use one object from one thread at a time.

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hawthorn/export.h"

namespace hawthorn {

enum class StatusCode : uint8_t {
  kOk = 0,
  kNotFound = 1,         // no such key, tree or database
  kInvalidArgument = 2,  // the caller's mistake: sizes, handles, order of calls
  kNotSupported = 3,     // a known wish that this version does not fulfil
  kCorruption =
      4,  // bytes on disk are not what was written; the message names file and offset or key range
  kIoError = 5,          // the operating system refused a read or write, or a thread
  kNoSpace = 6,          // the disk is full, or a file may not be larger, or there is no descriptor
                         // left for one; reads and deletes go on
  kBusy = 7,             // somebody else holds it (another process has the database open)
  kConflict = 8,         // another transaction committed first; abort and try again
  kReadOnly = 9,         // opened read-only, made so by a failed sync, or on a read-only medium
  kOutOfMemory = 10,     // the memory budget does not allow it, or the system gives none
  kForked = 11,          // the handle was opened by the parent process
  kUnknownOutcome = 12,  // the sync of this commit failed: it may or may not survive a crash
  kClosed = 13,          // the handle was closed
  kTimedOut = 14,        // others held a lock for too long; the message names them
  kDeadlock = 15,        // transactions wait for each other in a circle; abort and try again
  kTooOld = 16,          // what was asked for is not kept any more; begin anew
  kNotInMemory = 17,     // the disk would have to be read, which the caller does not want
  // The system does not let this process do it: the permissions of a file or directory, or a
  // sandbox; the message names it.
  kPermissionDenied = 18,
};

// The name of a code, such as "NotFound". Lifetime: static.
HAWTHORN_EXPORT std::string_view status_code_name(StatusCode code);

class [[nodiscard]] HAWTHORN_EXPORT Status {
 public:
  Status() noexcept = default;
  Status(StatusCode code, std::string message)
      : code_(code), message_(message.empty() ? nullptr : new std::string(std::move(message))) {}
  explicit Status(StatusCode code) noexcept : code_(code) {}
  Status(const Status& other)
      : code_(other.code_), message_(other.message_ ? new std::string(*other.message_) : nullptr) {}
  Status& operator=(const Status& other) {
    if (this != &other) *this = Status(other);
    return *this;
  }
  Status(Status&& other) noexcept
      : code_(std::exchange(other.code_, StatusCode::kOk)), message_(std::move(other.message_)) {}
  Status& operator=(Status&& other) noexcept {
    code_ = std::exchange(other.code_, StatusCode::kOk);
    message_ = std::move(other.message_);
    return *this;
  }
  ~Status() = default;

  static Status not_found() { return Status(StatusCode::kNotFound); }

  bool ok() const { return code_ == StatusCode::kOk; }
  explicit operator bool() const { return ok(); }
  bool is(StatusCode code) const { return code_ == code; }
  bool is_not_found() const { return code_ == StatusCode::kNotFound; }
  bool is_conflict() const { return code_ == StatusCode::kConflict; }
  StatusCode code() const { return code_; }

  // What and where, in words; empty for kOk. Lifetime: as long as this Status.
  std::string_view message() const {
    if (message_) return *message_;
    return code_ == StatusCode::kOutOfMemory ? "no memory is left" : std::string_view();
  }
  // "Corruption: data.3 at 40960: ..." for logs.
  std::string to_string() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::unique_ptr<std::string> message_;
};

// Writes the status to standard error and ends the process (abort).
[[noreturn]] HAWTHORN_EXPORT void end_without_value(const Status& status);

// A T, or the Status that says why there is none. Who asks an error for its value ends the process,
// which says what the error was, in every build: ask ok() before.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.ok() && "a Result without a value needs an error");
  }

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  T& value() & {
    need();
    return *value_;
  }
  const T& value() const& {
    need();
    return *value_;
  }
  T&& value() && {
    need();
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void need() const {
    if (!ok()) [[unlikely]] {
      end_without_value(status_);
    }
  }

  std::optional<T> value_;
  Status status_;
};

}  // namespace hawthorn
