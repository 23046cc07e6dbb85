#include "shims/mdbx/src/debug.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>

#include "shims/mdbx/src/environment.h"

namespace hawthorn::mdbx {
namespace {

#if HAWTHORN_MDBX_API >= 14
constexpr int kDefaultLevel = MDBX_LOG_NOTICE;
#else
constexpr int kDefaultLevel = MDBX_LOG_FATAL;
#endif

// Held while somebody is told. A child of fork begins with a new one.
constinit std::mutex telling;
[[maybe_unused]] const int telling_anew =
    pthread_atfork(nullptr, nullptr, [] { new (&telling) std::mutex; });

struct Debug {
  std::atomic<int> level{kDefaultLevel};
  std::atomic<unsigned> flags{0};
  PointerTo<MDBX_debug_func> logger = nullptr;
  PointerTo<MDBX_debug_func_nofmt> plain_logger = nullptr;
  char* buffer = nullptr;
  size_t buffer_bytes = 0;
};

Debug& state() {
  // Without a destructor: also for what is told while a process ends.
  static_assert(std::is_trivially_destructible_v<Debug>);
  static constinit Debug debug;
  return debug;
}

void call(PointerTo<MDBX_debug_func> logger, MDBX_log_level_t level, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  logger(level, "hawthorn", 0, format, arguments);
  va_end(arguments);
}

// What stands there before, told apart from "as it is".
int change(MDBX_log_level_t level, MDBX_debug_flags_t flags) {
  Debug& debug = state();
  const int before = debug.level.load() << 16 | static_cast<int>(debug.flags.load());
  if (level != MDBX_LOG_DONTCHANGE) debug.level = level;
  if (flags != MDBX_DBG_DONTCHANGE) debug.flags = static_cast<unsigned>(flags);
  return before;
}

}  // namespace

unsigned debug_flags() { return state().flags.load(std::memory_order_relaxed); }

void tell(MDBX_log_level_t level, std::string_view message) {
  Debug& debug = state();
  if (level > debug.level.load(std::memory_order_relaxed)) return;
  const std::lock_guard<std::mutex> guard(telling);
  const int length = static_cast<int>(message.size());
  if (debug.logger != nullptr) call(debug.logger, level, "%.*s\n", length, message.data());
  if (debug.plain_logger == nullptr) return;
  const int whole = snprintf(debug.buffer, debug.buffer_bytes, "%.*s\n", length, message.data());
  const size_t printed = std::min(static_cast<size_t>(whole), debug.buffer_bytes - 1);
  debug.plain_logger(level, "hawthorn", 0, debug.buffer, static_cast<unsigned>(printed));
}

void tell(MDBX_log_level_t level, std::string_view what, const Status& status) noexcept {
  if (level > state().level.load(std::memory_order_relaxed)) return;
  try {
    tell(level, std::string(what) + status.to_string());
  } catch (const std::bad_alloc&) {
    return;
  }
}

void tell_of_the_database(LogLevel level, std::string_view message) {
  tell(level == LogLevel::kError     ? MDBX_LOG_ERROR
       : level == LogLevel::kWarning ? MDBX_LOG_WARN
                                     : MDBX_LOG_NOTICE,
       message);
}

}  // namespace hawthorn::mdbx

namespace mdbx_shim = hawthorn::mdbx;

int mdbx_setup_debug(MDBX_log_level_t level, MDBX_debug_flags_t flags,
                     mdbx_shim::PointerTo<MDBX_debug_func> logger) try {
  mdbx_shim::Debug& debug = mdbx_shim::state();
  const std::lock_guard<std::mutex> guard(mdbx_shim::telling);
  if (logger != MDBX_LOGGER_DONTCHANGE) {
    debug.logger = logger;
    debug.plain_logger = nullptr;
  }
  return mdbx_shim::change(level, flags);
} catch (...) {
  return -1;
}

int mdbx_setup_debug_nofmt(MDBX_log_level_t level, MDBX_debug_flags_t flags,
                           mdbx_shim::PointerTo<MDBX_debug_func_nofmt> logger, char* buffer,
                           size_t buffer_bytes) try {
  mdbx_shim::Debug& debug = mdbx_shim::state();
  const std::lock_guard<std::mutex> guard(mdbx_shim::telling);
  const bool has_logger = logger != nullptr && logger != MDBX_LOGGER_NOFMT_DONTCHANGE;
  const bool has_buffer = buffer != nullptr && buffer_bytes != 0;
#if HAWTHORN_MDBX_API >= 14
  if (has_logger != has_buffer) return -1;
#endif
  if (has_logger && has_buffer) {
    debug.plain_logger = logger;
    debug.logger = nullptr;
    debug.buffer = buffer;
    debug.buffer_bytes = buffer_bytes;
  }
  return mdbx_shim::change(level, flags);
} catch (...) {
  return -1;
}

namespace {

// A process that broke a promise of the library's ends with a word about it.
[[noreturn]] void end(const char* message, const char* function, unsigned line) {
  fprintf(stderr, "hawthorn-mdbx: %s: %s:%u\n", message, function, line);
  abort();
}

#if HAWTHORN_MDBX_API >= 14
std::atomic<MDBX_panic_func> panic_function{nullptr};
#else
std::atomic<MDBX_assert_func*> assert_function{nullptr};
#endif

}  // namespace

#if HAWTHORN_MDBX_API >= 14
void mdbx_set_panic(MDBX_panic_func func) { panic_function = func; }

void mdbx_assert_fail(const char* msg, const char* func, unsigned line) {
  if (const MDBX_panic_func told = panic_function.load()) told(msg, func, line, nullptr, nullptr);
  end(msg, func, line);
}
#else
int mdbx_env_set_assert(MDBX_env* env, MDBX_assert_func* func) {
  if (env == nullptr) return MDBX_EINVAL;
  if (env->signature != mdbx_shim::kEnvironmentSignature) return MDBX_EBADSIGN;
  assert_function = func;
  return MDBX_SUCCESS;
}

void mdbx_assert_fail(const MDBX_env* env, const char* msg, const char* func, unsigned line) {
  if (MDBX_assert_func* const told = assert_function.load()) told(env, msg, func, line);
  end(msg, func, line);
}

void mdbx_panic(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  end(text, "panic", 0);
}
#endif

const char* mdbx_dump_val(const MDBX_val* value, char* const buffer, const size_t bytes) {
  if (value == nullptr) return "<null>";
  if (value->iov_len == 0) return "<empty>";
  if (buffer == nullptr || bytes < 4) return nullptr;
  const auto* const data = static_cast<const unsigned char*>(value->iov_base);
  const bool text =
      std::all_of(data, data + value->iov_len, [](unsigned char c) { return c >= ' ' && c < 127; });
  size_t used = 0;
  if (!text) buffer[used++] = '<';
  for (size_t i = 0; i < value->iov_len && used + 3 < bytes; ++i) {
    if (text) {
      buffer[used++] = static_cast<char>(data[i]);
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      buffer[used++] = kDigits[data[i] >> 4];
      buffer[used++] = kDigits[data[i] & 15];
    }
  }
  if (!text) buffer[used++] = '>';
  buffer[used] = 0;
  return buffer;
}
