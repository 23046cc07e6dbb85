#pragma once
// How the C API tells of failures, and of memory that was missing: no exception leaves it.
//
// Each of its functions that may throw is a function-try-block, whose handler fills `errptr`. Where
// a function has none, a pointer is null, and an object remembers that it is not what it was to be:
// what is done with it next says so (`short_of_memory`, rocksdb_iterator_t::lose).
//
// Not here: semantics. Used by c_*.cc. Threads: any.

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "rocksdb/status.h"

namespace hawthorn::rocks {

// What an error says where there is no memory even for its text; rocksdb_free leaves it alone.
inline constinit char no_memory_text[] =
    "Aborted: Memory limit reached: the system gives no memory";

inline void free_text(void* text) {
  if (text != no_memory_text) std::free(text);
}

// For rocksdb_free, and never null.
inline char* copy_of_text(const char* text) noexcept {
  char* const copy = ::strdup(text);
  return copy != nullptr ? copy : no_memory_text;
}

[[gnu::cold]] inline void fail_for_memory(char** errptr) noexcept {
  free_text(*errptr);
  *errptr = copy_of_text(no_memory_text);
}

// In a handler: what was thrown.
[[gnu::cold]] inline void fail_by_exception(char** errptr) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    fail_for_memory(errptr);
  } catch (...) {
    free_text(*errptr);
    *errptr = copy_of_text("Aborted: a function of the program's has thrown an exception");
  }
}

[[gnu::cold]] inline void set_error(char** errptr, const rocksdb::Status& status) noexcept {
  try {
    const std::string text = status.ToString();
    free_text(*errptr);
    *errptr = copy_of_text(text.c_str());
  } catch (...) {
    fail_by_exception(errptr);
  }
}
// True where it failed: then *errptr is its text, in place of what was there.
inline bool failed(char** errptr, const rocksdb::Status& status) noexcept {
  if (status.ok()) return false;
  set_error(errptr, status);
  return true;
}

// What a function does that this library does not have.
inline void refuse(char** errptr, const char* function) noexcept {
  try {
    failed(errptr, rocksdb::Status::NotSupported(function, "hawthorn-rocksdb does not have it"));
  } catch (...) {
    fail_by_exception(errptr);
  }
}

// Whether an object got no memory for something that was put into it; then *errptr says so.
template <typename Object>
bool incomplete(const Object* object, char** errptr) noexcept {
  if (!object->short_of_memory) [[likely]] {
    return false;
  }
  fail_for_memory(errptr);
  return true;
}

// Of a read of several keys: none has a value.
template <typename Value>
[[gnu::cold]] void fail_all_by_exception(size_t count, Value** values, size_t* sizes,
                                         char** errors) noexcept {
  for (size_t i = 0; i < count; ++i) {
    values[i] = nullptr;
    if (sizes != nullptr) sizes[i] = 0;
    errors[i] = nullptr;
    fail_by_exception(&errors[i]);
  }
}

}  // namespace hawthorn::rocks
