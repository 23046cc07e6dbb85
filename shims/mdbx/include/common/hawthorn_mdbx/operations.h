#pragma once
// Reading and changing pairs by their key, and numbers as keys.

#include "errors.h"
#include "tables.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a pair is put. [mapped]
typedef enum MDBX_put_flags {
  MDBX_UPSERT = 0,
  MDBX_NOOVERWRITE = 0x10,   // the key must not be there; `data` gets its value
  MDBX_NODUPDATA = 0x20,     // the pair must not be there; to delete: all values of the key
  MDBX_CURRENT = 0x40,       // replace the value that is there, or that the cursor stands at
  MDBX_ALLDUPS = 0x80,       // replace, or delete, all values of the key
  MDBX_RESERVE = 0x10000,    // only make room, for the caller to fill
  MDBX_APPEND = 0x20000,     // the key is behind all others
  MDBX_APPENDDUP = 0x40000,  // the value is behind all others of the key
  MDBX_MULTIPLE = 0x80000    // many values of one size: `data` is two of MDBX_val
} MDBX_put_flags_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_put_flags)

// The value of a key; the first where there are several. [mapped]
LIBMDBX_API int mdbx_get(const MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, MDBX_val* data);

// The same, with the key as it is stored, and how many values it has; `values_count` may be
// null. [mapped]
LIBMDBX_API int mdbx_get_ex(const MDBX_txn* txn, MDBX_dbi dbi, MDBX_val* key, MDBX_val* data,
                            size_t* values_count);

// The key, or the pair, or the next one behind it. MDBX_RESULT_TRUE: it was the next. [mapped]
LIBMDBX_API int mdbx_get_equal_or_great(const MDBX_txn* txn, MDBX_dbi dbi, MDBX_val* key,
                                        MDBX_val* data);

// Puts a pair. [mapped]
LIBMDBX_API int mdbx_put(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, MDBX_val* data,
                         MDBX_put_flags_t flags);

// Puts a value in the place of another, or deletes it where `new_data` is null, and gives the old
// one in the memory of `old_data`. With MDBX_CURRENT | MDBX_NOOVERWRITE, `old_data` says which of
// several. MDBX_RESULT_TRUE: the memory is too small. [mapped]
LIBMDBX_API int mdbx_replace(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, MDBX_val* new_data,
                             MDBX_val* old_data, MDBX_put_flags_t flags);

// Called to keep an old value, whose bytes are at `src`, in `target`. [mapped]
typedef int (*MDBX_preserve_func)(void* context, MDBX_val* target, const void* src, size_t bytes);

// The same, where a callback keeps the old value. [mapped]
LIBMDBX_API int mdbx_replace_ex(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key,
                                MDBX_val* new_data, MDBX_val* old_data, MDBX_put_flags_t flags,
                                MDBX_preserve_func preserver, void* preserver_context);

// Deletes a pair, or where `data` is null all values of the key. [mapped]
LIBMDBX_API int mdbx_del(MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* key, const MDBX_val* data);

#if HAWTHORN_MDBX_API >= 14
// What a caller may keep of a key to find its value sooner. The engine has its own cache, and
// leaves this as it is. [accepted]
typedef struct MDBX_cache_entry {
  uint64_t trunk_txnid;
  uint64_t last_confirmed_txnid;
  size_t offset;
  uint32_t length;
} MDBX_cache_entry_t;

// Makes it empty. [mapped]
LIBMDBX_INLINE_API(void, mdbx_cache_init, (MDBX_cache_entry_t * entry)) {
  const MDBX_cache_entry_t empty = {0, 0, 0, 0};
  *entry = empty;
}

// What became of it. [accepted]
typedef enum MDBX_cache_status {
  MDBX_CACHE_ERROR = -3,   // [mapped] an error, other than MDBX_NOTFOUND
  MDBX_CACHE_BEHIND = -2,  // it is of a newer snapshot
  MDBX_CACHE_UNABLE = -1,  // it could not be used
  MDBX_CACHE_RACE = 0,     // another thread was at it
  MDBX_CACHE_DIRTY = 1,    // [mapped] the value was read without it
  MDBX_CACHE_HIT = 2,      // it was right
  MDBX_CACHE_CONFIRMED = 3,
  MDBX_CACHE_REFRESHED = 4
} MDBX_cache_status_t;

// Both. [mapped]
typedef struct MDBX_cache_result {
  MDBX_error_t errcode;
  MDBX_cache_status_t status;
} MDBX_cache_result_t;

// The value of a key, as mdbx_get has it. [mapped]
LIBMDBX_API MDBX_cache_result_t mdbx_cache_get(const MDBX_txn* txn, MDBX_dbi dbi,
                                               const MDBX_val* key, MDBX_val* data,
                                               volatile MDBX_cache_entry_t* entry);

// The same, for an entry that one thread has. [mapped]
LIBMDBX_API MDBX_cache_result_t mdbx_cache_get_SingleThreaded(const MDBX_txn* txn, MDBX_dbi dbi,
                                                              const MDBX_val* key, MDBX_val* data,
                                                              MDBX_cache_entry_t* entry);
#endif

// About how many pairs there are between two keys, or pairs; null is the first or the last, and
// MDBX_EPSILON as `end_key` is the begin itself. [mapped]
LIBMDBX_API int mdbx_estimate_range(const MDBX_txn* txn, MDBX_dbi dbi, const MDBX_val* begin_key,
                                    const MDBX_val* begin_data, const MDBX_val* end_key,
                                    const MDBX_val* end_data, ptrdiff_t* distance_items);
#define MDBX_EPSILON ((MDBX_val*)((ptrdiff_t)-1))

// Whether bytes that were read are of the transaction's own changes, which the next change may
// move: MDBX_RESULT_TRUE, MDBX_RESULT_FALSE, or an error. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_is_dirty(const MDBX_txn* txn, const void* ptr);

// Numbers as keys for MDBX_INTEGERKEY, in the order of the numbers: floating point, integers, and
// both in one order, as JSON has them. [mapped]
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API uint64_t mdbx_key_from_double(const double ieee754_64bit);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API uint64_t
mdbx_key_from_ptrdouble(const double* const ieee754_64bit);
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API uint32_t mdbx_key_from_float(const float ieee754_32bit);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API uint32_t
mdbx_key_from_ptrfloat(const float* const ieee754_32bit);
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_API uint64_t
mdbx_key_from_jsonInteger(const int64_t json_integer);
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_INLINE_API(uint64_t, mdbx_key_from_int64, (const int64_t i64)) {
  return (uint64_t)i64 ^ UINT64_C(0x8000000000000000);
}
MDBX_NOTHROW_CONST_FUNCTION LIBMDBX_INLINE_API(uint32_t, mdbx_key_from_int32, (const int32_t i32)) {
  return (uint32_t)i32 ^ UINT32_C(0x80000000);
}

// And back. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API double mdbx_double_from_key(const MDBX_val);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API float mdbx_float_from_key(const MDBX_val);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int64_t mdbx_jsonInteger_from_key(const MDBX_val);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int64_t mdbx_int64_from_key(const MDBX_val);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int32_t mdbx_int32_from_key(const MDBX_val);

#ifdef __cplusplus
}
#endif
