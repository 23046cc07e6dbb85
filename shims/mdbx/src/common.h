#pragma once
// What all of the library uses: views of values, error codes, times.
//
// Threads: functions without state.

#include <mdbx.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "hawthorn/status.h"

// Behind the definition of a function that the header declares with the attribute `nothrow`: to
// clang that is a part of its type.
#ifdef __clang__
#define HAWTHORN_MDBX_NOTHROW noexcept
#else
#define HAWTHORN_MDBX_NOTHROW
#endif

namespace hawthorn::mdbx {

// As MDBX_cmp_func, of which the two versions of the header have different kinds.
using Compare = int (*)(const MDBX_val*, const MDBX_val*) noexcept;

// Types of functions are such in one version of the header, and pointers in the other.
template <typename F>
using PointerTo = std::add_pointer_t<std::remove_pointer_t<F>>;

inline std::string_view view(const MDBX_val& value) {
  return value.iov_len == 0 ? std::string_view()
                            : std::string_view(static_cast<const char*>(value.iov_base),
                                               static_cast<size_t>(value.iov_len));
}
inline MDBX_val val(std::string_view bytes) {
  MDBX_val value;
  value.iov_base = const_cast<char*>(bytes.data());
  value.iov_len = bytes.size();
  return value;
}

// As it lies in memory, which is how the catalog keeps numbers and the like.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::string_view stored(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof(object)};
}

// Of this process, also behind fork, without a call of the system.
pid_t process_id();

// The code that says the same.
int to_code(const Status& status);

// Each function of the API is a function-try-block, so that no exception leaves it: this is the
// answer in its handler. MDBX_ENOMEM for std::bad_alloc.
[[gnu::cold]] int exception_code() noexcept;
// The same where a transaction was to write: what it was at may be half done, so it can only be
// aborted from then on.
[[gnu::cold]] int fail_by_exception(MDBX_txn* txn) noexcept;

// Seconds as fixed point numbers, 16 bits behind the point.
inline uint32_t seconds_16dot16(std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  return seconds >= 65535 ? UINT32_MAX : static_cast<uint32_t>(seconds * 65536);
}
inline uint32_t seconds_since(std::chrono::steady_clock::time_point then) {
  return seconds_16dot16(std::chrono::steady_clock::now() - then);
}
inline std::chrono::nanoseconds from_16dot16(uint64_t seconds) {
  return std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(seconds) / 65536 * 1e9));
}

}  // namespace hawthorn::mdbx
