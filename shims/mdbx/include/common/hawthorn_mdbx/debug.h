#pragma once
// Log, assertions, and values as texts.

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// How much there is in the log: each level has those before it. [mapped]
typedef enum MDBX_log_level {
  MDBX_LOG_FATAL = 0,
  MDBX_LOG_ERROR = 1,
  MDBX_LOG_WARN = 2,
  MDBX_LOG_NOTICE = 3,
  MDBX_LOG_VERBOSE = 4,
  MDBX_LOG_DEBUG = 5,
  MDBX_LOG_TRACE = 6,
  MDBX_LOG_EXTRA = 7,
#if HAWTHORN_MDBX_API >= 14
  MDBX_LOG_MAX = 7,
#endif
  MDBX_LOG_DONTCHANGE = -1  // of mdbx_setup_debug: leave it
} MDBX_log_level_t;

// What libmdbx checks of itself, and may be told not to. [accepted]
typedef enum MDBX_debug_flags {
  MDBX_DBG_NONE = 0,
  MDBX_DBG_ASSERT = 1,
  MDBX_DBG_AUDIT = 2,
  MDBX_DBG_JITTER = 4,
  MDBX_DBG_DUMP = 8,
  MDBX_DBG_LEGACY_MULTIOPEN = 16,  // a second environment follows the first, as another process's
  MDBX_DBG_LEGACY_OVERLAP = 32,    // [mapped] a thread may read while it writes
  MDBX_DBG_DONT_UPGRADE = 64,
#if HAWTHORN_MDBX_API >= 14
  MDBX_DBG_MAX = 7 << 16 | 127,
#endif
  MDBX_DBG_DONTCHANGE = -1  // [mapped] leave them
} MDBX_debug_flags_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_debug_flags)

// Called for each line of the log, with a format of printf and its arguments. [mapped]
typedef void HAWTHORN_MDBX_CALLBACK(MDBX_debug_func)(MDBX_log_level_t loglevel,
                                                     const char* function, int line,
                                                     const char* fmt,
                                                     va_list args) MDBX_CXX17_NOEXCEPT;

// Called for each line of the log, with its text, which need not end with a zero. [mapped]
typedef void HAWTHORN_MDBX_CALLBACK(MDBX_debug_func_nofmt)(MDBX_log_level_t loglevel,
                                                           const char* function, int line,
                                                           const char* msg,
                                                           unsigned length) MDBX_CXX17_NOEXCEPT;

// In the place of a callback: leave the one that is set. [mapped]
#define MDBX_LOGGER_DONTCHANGE ((HAWTHORN_MDBX_POINTER(MDBX_debug_func))(intptr_t)-1)
#define MDBX_LOGGER_NOFMT_DONTCHANGE ((HAWTHORN_MDBX_POINTER(MDBX_debug_func_nofmt))(intptr_t)-1)

// Sets level, flags and callback of the process; returns the old level and flags. [mapped]
LIBMDBX_API int mdbx_setup_debug(MDBX_log_level_t log_level, MDBX_debug_flags_t debug_flags,
                                 HAWTHORN_MDBX_POINTER(MDBX_debug_func) logger);

// The same for a callback that takes texts, which are written to `logger_buffer`. [mapped]
LIBMDBX_API int mdbx_setup_debug_nofmt(MDBX_log_level_t log_level, MDBX_debug_flags_t debug_flags,
                                       HAWTHORN_MDBX_POINTER(MDBX_debug_func_nofmt) logger,
                                       char* logger_buffer, size_t logger_buffer_size);

#if HAWTHORN_MDBX_API >= 14
// Called before the process is ended by mdbx_assert_fail. [mapped]
typedef void (*MDBX_panic_func)(const char* msg, const char* function, unsigned line,
                                const void* obj, const char* obj_class) MDBX_CXX17_NOEXCEPT;

// Sets the callback of the process, or with null none. [mapped]
LIBMDBX_API void mdbx_set_panic(MDBX_panic_func func);

// Ends the process, with a line to the log; for assertions of the caller. [mapped]
MDBX_NORETURN LIBMDBX_API void mdbx_assert_fail(const char* msg, const char* func, unsigned line);
#else
// Called for an assertion of the environment that failed, instead of the process's end. [mapped]
typedef void MDBX_assert_func(const MDBX_env* env, const char* msg, const char* function,
                              unsigned line) MDBX_CXX17_NOEXCEPT;

// Sets the callback of an environment, or with null none. [mapped]
LIBMDBX_API int mdbx_env_set_assert(MDBX_env* env, MDBX_assert_func* func);

// Ends the process, with a line to the log; for assertions of the caller. [mapped]
MDBX_NORETURN LIBMDBX_API void mdbx_assert_fail(const MDBX_env* env, const char* msg,
                                                const char* func, unsigned line);

// Ends the process, with a text to the log. [mapped]
MDBX_NORETURN LIBMDBX_API void mdbx_panic(const char* fmt, ...) MDBX_PRINTF_ARGS(1, 2);
#endif

// Writes a value to `buf`, of 4 bytes or more: as it is where all bytes are printable, else in
// hexadecimal digits. Returns `buf`, or a constant for a value that is null or empty, or null where
// there is no room. [mapped]
LIBMDBX_API const char* mdbx_dump_val(const MDBX_val* key, char* const buf, const size_t bufsize);

#ifdef __cplusplus
}
#endif
