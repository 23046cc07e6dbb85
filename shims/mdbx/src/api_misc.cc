// The functions that need no environment: limits, errors, numbers as keys, the machine's memory.

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hawthorn/version.h"
#include "shims/mdbx/src/environment.h"
#include "shims/mdbx/src/tables.h"

namespace mdbx_shim = hawthorn::mdbx;

#define HAWTHORN_MDBX_DESCRIPTION                                        \
  "hawthorn-" MDBX_STRINGIFY(HAWTHORN_VERSION_MAJOR) "." MDBX_STRINGIFY( \
      HAWTHORN_VERSION_MINOR) "." MDBX_STRINGIFY(HAWTHORN_VERSION_PATCH)

// The release whose API this is.
const struct MDBX_version_info mdbx_version = {MDBX_VERSION_MAJOR,
                                               MDBX_VERSION_MINOR,
#if HAWTHORN_MDBX_API >= 14
                                               1,
#else
                                               11,
#endif
                                               0,
                                               "",
                                               {"", "", "", HAWTHORN_MDBX_DESCRIPTION},
                                               "hawthorn"};

const struct MDBX_build_info mdbx_build = {"",          "linux", HAWTHORN_MDBX_DESCRIPTION,
                                           __VERSION__, "",      ""};

namespace {

bool is_page_size(intptr_t size) {
  return size >= MDBX_MIN_PAGESIZE && size <= MDBX_MAX_PAGESIZE && (size & (size - 1)) == 0;
}

// -1 asks for the default size.
bool bad_page_size(intptr_t size) { return size >= 1 && !is_page_size(size); }

struct ErrorText {
  int code;
  const char* text;
};

constexpr ErrorText kTexts[] = {
    {MDBX_KEYEXIST, "MDBX_KEYEXIST: The key, or the pair of key and value, exists"},
    {MDBX_NOTFOUND, "MDBX_NOTFOUND: No such entry"},
    {MDBX_PAGE_NOTFOUND, "MDBX_PAGE_NOTFOUND: A page is missing"},
    {MDBX_CORRUPTED, "MDBX_CORRUPTED: The database is damaged"},
    {MDBX_PANIC, "MDBX_PANIC: An earlier failure does not let the environment go on"},
    {MDBX_VERSION_MISMATCH, "MDBX_VERSION_MISMATCH: The database is of another version"},
    {MDBX_INVALID, "MDBX_INVALID: This is not a database of this kind"},
    {MDBX_MAP_FULL, "MDBX_MAP_FULL: The upper bound of the database's size is reached"},
    {MDBX_DBS_FULL, "MDBX_DBS_FULL: Too many tables are open, see maxdbs"},
    {MDBX_READERS_FULL, "MDBX_READERS_FULL: Too many readers, see maxreaders"},
    {MDBX_TXN_FULL, "MDBX_TXN_FULL: The transaction is too large"},
    {MDBX_CURSOR_FULL, "MDBX_CURSOR_FULL: A cursor's stack is too deep"},
    {MDBX_PAGE_FULL, "MDBX_PAGE_FULL: A page is full"},
    {MDBX_UNABLE_EXTEND_MAPSIZE, "MDBX_UNABLE_EXTEND_MAPSIZE: The map cannot grow"},
    {MDBX_INCOMPATIBLE, "MDBX_INCOMPATIBLE: The table, or its flags, do not allow this"},
    {MDBX_BAD_RSLOT, "MDBX_BAD_RSLOT: This thread reads already"},
    {MDBX_BAD_TXN, "MDBX_BAD_TXN: The transaction has ended, failed, or has a nested one"},
    {MDBX_BAD_VALSIZE, "MDBX_BAD_VALSIZE: The size of the key or the value does not fit the table"},
    {MDBX_BAD_DBI, "MDBX_BAD_DBI: The handle stands for no table, or for another one by now"},
    {MDBX_PROBLEM, "MDBX_PROBLEM: An unexpected failure inside of the library"},
    {MDBX_BUSY, "MDBX_BUSY: Somebody else has what is needed"},
    {MDBX_EMULTIVAL, "MDBX_EMULTIVAL: The key has several values"},
    {MDBX_EBADSIGN, "MDBX_EBADSIGN: This is no such object, or no longer one"},
    {MDBX_WANNA_RECOVERY, "MDBX_WANNA_RECOVERY: The database needs to be opened for writing first"},
    {MDBX_EKEYMISMATCH, "MDBX_EKEYMISMATCH: The key is not that of the cursor, or not the last"},
    {MDBX_TOO_LARGE, "MDBX_TOO_LARGE: The database is too large for this machine"},
    {MDBX_THREAD_MISMATCH, "MDBX_THREAD_MISMATCH: The transaction is another thread's"},
    {MDBX_TXN_OVERLAPPING, "MDBX_TXN_OVERLAPPING: The thread would read and write at once"},
    {MDBX_BACKLOG_DEPLETED, "MDBX_BACKLOG_DEPLETED: No free space is prepared"},
    {-30413, "MDBX_DUPLICATED_LCK: The lock file is one of several"},
    {MDBX_DANGLING_DBI, "MDBX_DANGLING_DBI: Something of the table is still in use"},
    {MDBX_OUSTED, "MDBX_OUSTED: The parked transaction has lost its snapshot"},
    {MDBX_MVCC_RETARDED, "MDBX_MVCC_RETARDED: What is to be read is no longer there"},
#if HAWTHORN_MDBX_API >= 14
    {MDBX_LAGGARD_READER, "MDBX_LAGGARD_READER: A reader of an old snapshot is in the way"},
#endif
};

template <typename Number>
Number number_of(const MDBX_val& value) {
  Number number{};
  memcpy(&number, value.iov_base, std::min<size_t>(value.iov_len, sizeof(number)));
  return number;
}

// Of numbers as IEEE 754 has them the order is that of these integers: those below zero turned
// round, the others behind them.
uint64_t ordered(double number) {
  const auto bits = std::bit_cast<uint64_t>(number);
  return bits >> 63 ? ~bits : bits | uint64_t{1} << 63;
}
uint32_t ordered(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  return bits >> 31 ? ~bits : bits | uint32_t{1} << 31;
}
double unordered(uint64_t key) {
  return std::bit_cast<double>(key >> 63 ? key & ~(uint64_t{1} << 63) : ~key);
}
float unordered(uint32_t key) {
  return std::bit_cast<float>(key >> 31 ? key & ~(uint32_t{1} << 31) : ~key);
}

}  // namespace

const char* mdbx_liberr2str(int errnum) HAWTHORN_MDBX_NOTHROW {
  if (errnum == MDBX_SUCCESS) return "MDBX_SUCCESS: Successful";
  for (const ErrorText& error : kTexts) {
    if (error.code == errnum) return error.text;
  }
  return nullptr;
}

const char* mdbx_strerror_r(int errnum, char* buf, size_t buflen) {
  const char* const text = mdbx_liberr2str(errnum);
  if (text != nullptr || buf == nullptr || buflen == 0) return text;
  return strerror_r(errnum, buf, buflen);
}

const char* mdbx_strerror(int errnum) {
  static thread_local char buffer[256];
  return mdbx_strerror_r(errnum, buffer, sizeof(buffer));
}

intptr_t mdbx_limits_dbsize_min(intptr_t pagesize) HAWTHORN_MDBX_NOTHROW {
  if (bad_page_size(pagesize)) return -1;
  return intptr_t{1} << 20;
}

intptr_t mdbx_limits_dbsize_max(intptr_t pagesize) HAWTHORN_MDBX_NOTHROW {
  if (bad_page_size(pagesize)) return -1;
  return intptr_t{1} << 47;
}

intptr_t mdbx_limits_txnsize_max(intptr_t pagesize) HAWTHORN_MDBX_NOTHROW {
  return mdbx_limits_dbsize_max(pagesize);
}

intptr_t mdbx_limits_keysize_max(intptr_t pagesize, MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  if (bad_page_size(pagesize)) return -1;
  return static_cast<intptr_t>(mdbx_shim::key_max(flags));
}

intptr_t mdbx_limits_keysize_min(MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  return flags & MDBX_INTEGERKEY ? 4 : 0;
}

intptr_t mdbx_limits_valsize_max(intptr_t pagesize, MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  if (bad_page_size(pagesize)) return -1;
  return static_cast<intptr_t>(mdbx_shim::value_max(flags));
}

intptr_t mdbx_limits_valsize_min(MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  return flags & MDBX_INTEGERDUP ? 4 : 0;
}

// The original keeps a pair of this size in one page; here all pairs are alike.
intptr_t mdbx_limits_pairsize4page_max(intptr_t pagesize,
                                       MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  return mdbx_limits_valsize_max(pagesize, flags);
}

intptr_t mdbx_limits_valsize4page_max(intptr_t pagesize,
                                      MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  return mdbx_limits_valsize_max(pagesize, flags);
}

int mdbx_env_get_maxkeysize_ex(const MDBX_env* env, MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  if (env == nullptr || env->signature != mdbx_shim::kEnvironmentSignature) return -1;
  return static_cast<int>(mdbx_shim::key_max(flags));
}

int mdbx_env_get_maxkeysize(const MDBX_env* env) HAWTHORN_MDBX_NOTHROW {
  return mdbx_env_get_maxkeysize_ex(env, MDBX_DUPSORT);
}

int mdbx_env_get_maxvalsize_ex(const MDBX_env* env, MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  if (env == nullptr || env->signature != mdbx_shim::kEnvironmentSignature) return -1;
  return static_cast<int>(mdbx_shim::value_max(flags));
}

int mdbx_env_get_pairsize4page_max(const MDBX_env* env,
                                   MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  return mdbx_env_get_maxvalsize_ex(env, flags);
}

int mdbx_env_get_valsize4page_max(const MDBX_env* env,
                                  MDBX_db_flags_t flags) HAWTHORN_MDBX_NOTHROW {
  return mdbx_env_get_maxvalsize_ex(env, flags);
}

size_t mdbx_default_pagesize(void) HAWTHORN_MDBX_NOTHROW { return 4096; }

int mdbx_get_sysraminfo(intptr_t* page_size, intptr_t* total_pages, intptr_t* avail_pages) {
  if (page_size == nullptr && total_pages == nullptr && avail_pages == nullptr) return MDBX_EINVAL;
  if (page_size != nullptr) *page_size = sysconf(_SC_PAGESIZE);
  if (total_pages != nullptr) *total_pages = sysconf(_SC_PHYS_PAGES);
  if (avail_pages != nullptr) *avail_pages = sysconf(_SC_AVPHYS_PAGES);
  return MDBX_SUCCESS;
}

int mdbx_is_readahead_reasonable(size_t volume, intptr_t redundancy) {
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  const double memory = page * static_cast<double>(sysconf(_SC_PHYS_PAGES));
  const double needed = static_cast<double>(volume) + static_cast<double>(redundancy);
  return needed < memory * 0.75 ? MDBX_RESULT_TRUE : MDBX_RESULT_FALSE;
}

uint64_t mdbx_key_from_double(const double ieee754_64bit) HAWTHORN_MDBX_NOTHROW {
  return ordered(ieee754_64bit);
}
uint64_t mdbx_key_from_ptrdouble(const double* const ieee754_64bit) HAWTHORN_MDBX_NOTHROW {
  return ordered(*ieee754_64bit);
}
uint32_t mdbx_key_from_float(const float ieee754_32bit) HAWTHORN_MDBX_NOTHROW {
  return ordered(ieee754_32bit);
}
uint32_t mdbx_key_from_ptrfloat(const float* const ieee754_32bit) HAWTHORN_MDBX_NOTHROW {
  return ordered(*ieee754_32bit);
}
uint64_t mdbx_key_from_jsonInteger(const int64_t json_integer) HAWTHORN_MDBX_NOTHROW {
  return ordered(static_cast<double>(json_integer));
}
double mdbx_double_from_key(const MDBX_val key) HAWTHORN_MDBX_NOTHROW {
  return unordered(number_of<uint64_t>(key));
}
float mdbx_float_from_key(const MDBX_val key) HAWTHORN_MDBX_NOTHROW {
  return unordered(number_of<uint32_t>(key));
}
int64_t mdbx_jsonInteger_from_key(const MDBX_val key) HAWTHORN_MDBX_NOTHROW {
  return static_cast<int64_t>(unordered(number_of<uint64_t>(key)));
}
int64_t mdbx_int64_from_key(const MDBX_val key) HAWTHORN_MDBX_NOTHROW {
  return static_cast<int64_t>(number_of<uint64_t>(key) ^ uint64_t{1} << 63);
}
int32_t mdbx_int32_from_key(const MDBX_val key) HAWTHORN_MDBX_NOTHROW {
  return static_cast<int32_t>(number_of<uint32_t>(key) ^ uint32_t{1} << 31);
}

#if HAWTHORN_MDBX_API >= 14
const char* mdbx_ratio2digits(uint64_t numerator, uint64_t denominator, int precision, char* buffer,
                              size_t buffer_size) {
  if (buffer == nullptr || buffer_size == 0) return nullptr;
  if (denominator == 0) {
    snprintf(buffer, buffer_size, "%s", numerator == 0 ? "nan" : "inf");
  } else {
    snprintf(buffer, buffer_size, "%.*f", std::clamp(precision, 0, 19),
             static_cast<double>(static_cast<long double>(numerator) /
                                 static_cast<long double>(denominator)));
  }
  return buffer;
}

const char* mdbx_ratio2percents(uint64_t value, uint64_t whole, char* buffer, size_t buffer_size) {
  if (buffer == nullptr || buffer_size == 0) return nullptr;
  const long double percents =
      whole == 0 ? 0 : static_cast<long double>(value) * 100 / static_cast<long double>(whole);
  snprintf(buffer, buffer_size, "%.*Lf%%", percents < 10 ? 2 : percents < 100 ? 1 : 0, percents);
  return buffer;
}
#endif
