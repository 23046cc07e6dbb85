#pragma once
// What compilers differ in: attributes, constexpr, visibility, and operators for enums of flags.
//
// For g++ and clang, in C from C99 and in C++ from C++11. The names are those that programs, and
// the C++ API over this one, take from libmdbx's header.

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifndef __has_attribute
#define __has_attribute(x) (0)
#endif
#ifndef __has_builtin
#define __has_builtin(x) (0)
#endif
#ifndef __has_c_attribute
#define __has_c_attribute(x) (0)
#endif
#ifndef __has_cpp_attribute
#define __has_cpp_attribute(x) (0)
#endif
#ifndef __has_feature
#define __has_feature(x) (0)
#endif
#ifndef __has_extension
#define __has_extension(x) __has_feature(x)
#endif
#ifndef __has_exceptions_disabled
#define __has_exceptions_disabled (__has_feature(cxx_noexcept) && !__has_feature(cxx_exceptions))
#endif

// To clang, a pure function in C++ is one that does not throw either.
#if defined(__clang__) && defined(__cplusplus) && !__has_exceptions_disabled
#define MDBX_PURE_FUNCTION
#define MDBX_CONST_FUNCTION
#else
#define MDBX_PURE_FUNCTION __attribute__((__pure__))
#define MDBX_CONST_FUNCTION __attribute__((__const__))
#endif
#define MDBX_NOTHROW_PURE_FUNCTION __attribute__((__pure__, __nothrow__))
#define MDBX_NOTHROW_CONST_FUNCTION __attribute__((__const__, __nothrow__))
#ifdef __cplusplus
#define MDBX_NORETURN [[noreturn]]
#else
#define MDBX_NORETURN __attribute__((__noreturn__))
#endif
#define MDBX_MAYBE_UNUSED __attribute__((__unused__))
#ifndef MDBX_PRINTF_ARGS
#define MDBX_PRINTF_ARGS(format_index, first_arg) \
  __attribute__((__format__(__printf__, format_index, first_arg)))
#endif
#ifndef MDBX_DEPRECATED
#define MDBX_DEPRECATED __attribute__((__deprecated__))
#endif
#ifndef MDBX_DEPRECATED_ENUM
#define MDBX_DEPRECATED_ENUM MDBX_DEPRECATED
#endif

#ifndef __dll_export
#define __dll_export __attribute__((__visibility__("default")))
#endif
#ifndef __dll_import
#define __dll_import
#endif

// LIBMDBX_EXPORTS is for who builds the library, LIBMDBX_IMPORTS for who links with a shared one.
#ifndef LIBMDBX_API
#if defined(LIBMDBX_EXPORTS)
#define LIBMDBX_API __dll_export
#elif defined(LIBMDBX_IMPORTS)
#define LIBMDBX_API __dll_import
#else
#define LIBMDBX_API
#endif
#endif
#if defined(LIBMDBX_IMPORTS)
#define LIBMDBX_VERINFO_API __dll_import
#else
#define LIBMDBX_VERINFO_API __dll_export
#endif
#if !defined(__cplusplus)
#define LIBMDBX_API_TYPE
#elif defined(__clang__) || __has_attribute(type_visibility)
#define LIBMDBX_API_TYPE LIBMDBX_API __attribute__((type_visibility("default")))
#else
#define LIBMDBX_API_TYPE LIBMDBX_API
#endif

// Functions that are made of others here. The library exports them as well, for those who take
// symbols from it without this header: it is compiled with LIBMDBX_INTERNALS, and for it the inline
// ones have another name.
#if defined(LIBMDBX_INTERNALS) && !defined(LIBMDBX_NO_EXPORTS_LEGACY_API)
#define LIBMDBX_INLINE_API(TYPE, NAME, ARGS) \
  LIBMDBX_API TYPE NAME ARGS;                \
  static __inline TYPE __inline_##NAME ARGS
#else
#define LIBMDBX_INLINE_API(TYPE, NAME, ARGS) static __inline TYPE NAME ARGS
#endif

#ifndef MDBX_STRINGIFY
#define MDBX_STRINGIFY_HELPER(x) #x
#define MDBX_STRINGIFY(x) MDBX_STRINGIFY_HELPER(x)
#endif

// Since C++17, noexcept is a part of a function's type.
#if defined(__cpp_noexcept_function_type) && __cpp_noexcept_function_type >= 201510L
#define MDBX_CXX17_NOEXCEPT noexcept
#else
#define MDBX_CXX17_NOEXCEPT
#endif

// What a function may be where `constexpr` has the meaning of an older standard. The rules of
// C++14 began with compilers that named them so; C++11 has only those of 2007.
#if !defined(__cplusplus)
#define MDBX_CXX01_CONSTEXPR __inline
#define MDBX_CXX01_CONSTEXPR_VAR const
#else
#define MDBX_CXX01_CONSTEXPR constexpr
#define MDBX_CXX01_CONSTEXPR_VAR constexpr
#endif
#if !defined(__cplusplus)
#define MDBX_CXX11_CONSTEXPR __inline
#define MDBX_CXX11_CONSTEXPR_VAR const
#define MDBX_CXX14_CONSTEXPR __inline
#define MDBX_CXX14_CONSTEXPR_VAR const
#elif defined(__cpp_constexpr) && __cpp_constexpr >= 201304L
#define MDBX_CXX11_CONSTEXPR constexpr
#define MDBX_CXX11_CONSTEXPR_VAR constexpr
#define MDBX_CXX14_CONSTEXPR constexpr
#define MDBX_CXX14_CONSTEXPR_VAR constexpr
#else
#define MDBX_CXX11_CONSTEXPR inline
#define MDBX_CXX11_CONSTEXPR_VAR const
#define MDBX_CXX14_CONSTEXPR inline
#define MDBX_CXX14_CONSTEXPR_VAR const
#endif

// A union of flags is a value that its enum does not name.
#if __has_attribute(no_sanitize)
#define MDBX_NOSANITIZE_ENUM __attribute__((__no_sanitize__("enum")))
#else
#define MDBX_NOSANITIZE_ENUM
#endif

// The operators of an enum of flags. Only in C++: in C, enums are integers.
#ifdef __cplusplus
#define HAWTHORN_MDBX_ENUM_OPERATORS(ENUM)                                              \
  extern "C++" {                                                                        \
  MDBX_NOSANITIZE_ENUM MDBX_CXX01_CONSTEXPR ENUM operator|(ENUM a, ENUM b) {            \
    return static_cast<ENUM>(static_cast<unsigned>(a) | static_cast<unsigned>(b));      \
  }                                                                                     \
  MDBX_NOSANITIZE_ENUM MDBX_CXX01_CONSTEXPR ENUM operator&(ENUM a, ENUM b) {            \
    return static_cast<ENUM>(static_cast<unsigned>(a) & static_cast<unsigned>(b));      \
  }                                                                                     \
  MDBX_NOSANITIZE_ENUM MDBX_CXX01_CONSTEXPR ENUM operator&(ENUM a, unsigned b) {        \
    return static_cast<ENUM>(static_cast<unsigned>(a) & b);                             \
  }                                                                                     \
  MDBX_NOSANITIZE_ENUM MDBX_CXX01_CONSTEXPR ENUM operator&(unsigned a, ENUM b) {        \
    return static_cast<ENUM>(a & static_cast<unsigned>(b));                             \
  }                                                                                     \
  MDBX_NOSANITIZE_ENUM MDBX_CXX01_CONSTEXPR ENUM operator^(ENUM a, ENUM b) {            \
    return static_cast<ENUM>(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));      \
  }                                                                                     \
  MDBX_CXX01_CONSTEXPR unsigned operator~(ENUM a) { return ~static_cast<unsigned>(a); } \
  MDBX_NOSANITIZE_ENUM MDBX_CXX14_CONSTEXPR ENUM& operator|=(ENUM& a, ENUM b) {         \
    return a = a | b;                                                                   \
  }                                                                                     \
  MDBX_NOSANITIZE_ENUM MDBX_CXX14_CONSTEXPR ENUM& operator&=(ENUM& a, ENUM b) {         \
    return a = a & b;                                                                   \
  }                                                                                     \
  MDBX_NOSANITIZE_ENUM MDBX_CXX14_CONSTEXPR ENUM& operator&=(ENUM& a, unsigned b) {     \
    return a = a & b;                                                                   \
  }                                                                                     \
  MDBX_NOSANITIZE_ENUM MDBX_CXX14_CONSTEXPR ENUM& operator^=(ENUM& a, ENUM b) {         \
    return a = a ^ b;                                                                   \
  }                                                                                     \
  }
#else
#define HAWTHORN_MDBX_ENUM_OPERATORS(ENUM)
#endif

#if HAWTHORN_MDBX_API >= 14
#ifndef MDBX_DEFINE_ENUM_FLAG_OPERATORS
#define MDBX_DEFINE_ENUM_FLAG_OPERATORS(ENUM) HAWTHORN_MDBX_ENUM_OPERATORS(ENUM)
#endif
#ifndef MDBX_CONSTEXPR_ENUM_FLAGS_OPERATIONS
#define MDBX_CONSTEXPR_ENUM_FLAGS_OPERATIONS 1
#endif
#ifndef MDBX_LIKELY
#define MDBX_LIKELY(cond) __builtin_expect(!!(cond), 1)
#endif
#ifndef MDBX_UNLIKELY
#define MDBX_UNLIKELY(cond) __builtin_expect(!!(cond), 0)
#endif
#if (defined(MDBX_CHECKING) && MDBX_CHECKING > 0) || (defined(MDBX_DEBUG) && MDBX_DEBUG > 0)
#define MDBX_INLINE_API_ASSERT(expr) \
  (MDBX_LIKELY(expr) ? (void)0 : mdbx_assert_fail(#expr, __func__, __LINE__))
#else
#define MDBX_INLINE_API_ASSERT(expr) ((void)0)
#endif
#else
#ifndef DEFINE_ENUM_FLAG_OPERATORS
#define DEFINE_ENUM_FLAG_OPERATORS(ENUM) HAWTHORN_MDBX_ENUM_OPERATORS(ENUM)
#endif
#ifndef CONSTEXPR_ENUM_FLAGS_OPERATIONS
#define CONSTEXPR_ENUM_FLAGS_OPERATIONS 1
#endif
#endif

// Callbacks: 0.13 names the type of the function, 0.14 that of a pointer to it. The first of these
// is for the typedef, the second for the type of a parameter.
#if HAWTHORN_MDBX_API >= 14
#define HAWTHORN_MDBX_CALLBACK(TYPE) (*TYPE)
#define HAWTHORN_MDBX_POINTER(TYPE) TYPE
#else
#define HAWTHORN_MDBX_CALLBACK(TYPE) TYPE
#define HAWTHORN_MDBX_POINTER(TYPE) TYPE*
#endif
