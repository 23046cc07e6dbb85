#pragma once
// How each function of the C API runs: arguments are looked at, a body that returns a Status is
// run, and what it came to becomes a code and an error object. Nothing is thrown beyond it.
//
//   return call(error, [&]() -> Status {
//     const Bytes k(key, key_size, "key");
//     if (Status s = need(db, k, Out(out, "out")); !s.ok()) return s;
//     ...
//   });
//
// Not here: the handles (c/handles.h). Used by all of src/c. Threads: any.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hawthorn/c.h"
#include "hawthorn/status.h"

struct hawthorn_error {
  hawthorn_code code = HAWTHORN_OK;
  const char* fixed = nullptr;  // the message of one of the library's own, which nobody frees
};

namespace hawthorn::c {

// Codes that the C API has beside those of StatusCode.
inline constexpr StatusCode kBufferTooSmall = static_cast<StatusCode>(HAWTHORN_BUFFER_TOO_SMALL);
inline constexpr StatusCode kInternal = static_cast<StatusCode>(HAWTHORN_INTERNAL);

// The code of a status, and its error object where one is wanted.
hawthorn_code answer(const Status& status, hawthorn_error** error) noexcept;
hawthorn_code answer_out_of_memory(hawthorn_error** error) noexcept;
hawthorn_code answer_exception(const char* what, hawthorn_error** error) noexcept;

// What a callback has returned, as a status; the error is freed.
Status take_error(hawthorn_error* error);

template <typename Body>
hawthorn_code call(hawthorn_error** error, Body&& body) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    const Status status = std::forward<Body>(body)();
    if (status.ok()) [[likely]] {
      return HAWTHORN_OK;
    }
    return answer(status, error);
  } catch (const std::bad_alloc&) {
    return answer_out_of_memory(error);
  } catch (const std::exception& exception) {
    return answer_exception(exception.what(), error);
  } catch (...) {
    return answer_exception("an exception of an unknown type", error);
  }
}

// For functions that return a handle, and have no error to put anywhere: null where it throws.
template <typename T>
T* make_or_null() noexcept {
  try {
    return new T();
  } catch (...) {
    return nullptr;
  }
}

[[gnu::cold]] inline Status invalid(std::string message) {
  return Status(StatusCode::kInvalidArgument, std::move(message));
}

// Bytes as the caller gives them. NULL is empty.
class Bytes {
 public:
  Bytes(const void* data, size_t size, const char* name) : name_(name) {
    const auto* chars = static_cast<const char*>(data);
    given_ = data != nullptr;
    if (size == HAWTHORN_STRING) {
      view_ = given_ ? std::string_view(chars) : std::string_view();
    } else if ((!given_ && size != 0) || size > PTRDIFF_MAX) {
      fine_ = false;
      size_ = size;
    } else if (given_) {
      view_ = {chars, size};
    }
  }
  bool fine() const { return fine_; }
  [[gnu::cold]] std::string problem() const {
    return std::string(name_) +
           (given_ ? " has an impossible size of " : " is NULL with a size of ") +
           std::to_string(size_);
  }
  std::string_view view() const { return view_; }
  operator std::string_view() const { return view_; }  // NOLINT(google-explicit-constructor)
  std::optional<std::string_view> optional() const {
    return given_ ? std::optional(view_) : std::nullopt;
  }

 private:
  const char* name_;
  std::string_view view_;
  size_t size_ = 0;
  bool given_ = false;
  bool fine_ = true;
};

// Anything that must not be NULL.
class Given {
 public:
  Given(const void* pointer, const char* name) : pointer_(pointer), name_(name) {}
  bool fine() const { return pointer_ != nullptr; }
  [[gnu::cold]] std::string problem() const { return std::string(name_) + " is NULL"; }

 private:
  const void* pointer_;
  const char* name_;
};

// Where a function takes a function.
class GivenCall {
 public:
  template <typename F>
  GivenCall(F* function, const char* name) : given_(function != nullptr), name_(name) {}
  bool fine() const { return given_; }
  [[gnu::cold]] std::string problem() const { return std::string(name_) + " is NULL"; }

 private:
  bool given_;
  const char* name_;
};

// A number that must be one of constants 0 to `last`.
class OneOf {
 public:
  OneOf(uint32_t number, uint32_t last, const char* name)
      : number_(number), last_(last), name_(name) {}
  bool fine() const { return number_ <= last_; }
  [[gnu::cold]] std::string problem() const {
    return std::string(name_) + " is " + std::to_string(number_) +
           ", which is none of its constants";
  }

 private:
  uint32_t number_;
  uint32_t last_;
  const char* name_;
};

// OK, or what is wrong with the first argument of which something is.
template <typename... Args>
Status need(const Args&... args) {
  Status status;
  static_cast<void>((... && (args.fine() || (status = invalid(args.problem()), false))));
  return status;
}

// Whether a structure of the caller, of `known` bytes here, can be taken as it is.
Status check_structure(const void* given, size_t size, size_t known, const char* name);

// A structure of the caller, of this version of the headers or a later one (all are in their
// first one). NULL gives the defaults.
template <typename T>
Status take(const T* given, const char* name, T* out) {
  *out = T{};
  if (given != nullptr) {
    if (Status s = check_structure(given, given->struct_size, sizeof(T), name); !s.ok()) return s;
    std::memcpy(static_cast<void*>(out), given, sizeof(T));
  }
  out->struct_size = sizeof(T);
  return {};
}

// The same of one that the library writes to, and so needs.
template <typename T>
Status take_out(T* given, const char* name) {
  if (given == nullptr) return invalid(std::string(name) + " is NULL");
  T ignored;
  return take(given, name, &ignored);
}

}  // namespace hawthorn::c
