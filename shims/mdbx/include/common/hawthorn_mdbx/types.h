#pragma once
// Handles, values, versions, and the limits that are constants.

#include "compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

// The flavour, 0.13 or 0.14. [mapped]
#define MDBX_VERSION_MAJOR 0
#define MDBX_VERSION_MINOR HAWTHORN_MDBX_API

// Types of the operating system. [mapped]
typedef int mdbx_filehandle_t;
typedef pid_t mdbx_pid_t;
typedef pthread_t mdbx_tid_t;
typedef mode_t mdbx_mode_t;

// A database: one directory, and everything that is open of it. [mapped]
typedef struct MDBX_env MDBX_env;

// A snapshot of all tables, for reading or for one commit. [mapped]
typedef struct MDBX_txn MDBX_txn;

// A position in a table. [mapped]
typedef struct MDBX_cursor MDBX_cursor;

// A table, as a small number within its environment. [mapped]
typedef uint32_t MDBX_dbi;

// Bytes that are somebody else's: iov_base and iov_len, as the system has them. [mapped]
typedef struct iovec MDBX_val;
#define HAVE_STRUCT_IOVEC 1

// Limits. [mapped]
enum MDBX_constants {
  MDBX_MAX_DBI = 32765,           // tables of an environment
  MDBX_MAXDATASIZE = 0x7fff0000,  // bytes of a value
  MDBX_MIN_PAGESIZE = 256,        // [accepted] bytes
  MDBX_MAX_PAGESIZE = 65536,      // [accepted] bytes
};

// Names of files that libmdbx has in an environment's directory, or beside its one file. Those of
// the engine have other names. [accepted]
#ifndef MDBX_LOCKNAME
#define MDBX_LOCKNAME "/mdbx.lck"
#endif
#ifndef MDBX_DATANAME
#define MDBX_DATANAME "/mdbx.dat"
#endif
#ifndef MDBX_LOCK_SUFFIX
#define MDBX_LOCK_SUFFIX "-lck"
#endif

// The version of the library. Its parts are those of the release whose API this is; `git.describe`
// names the engine. [mapped]
extern LIBMDBX_VERINFO_API const struct MDBX_version_info {
  uint16_t major;
  uint16_t minor;
  uint16_t patch;
  uint16_t tweak;
  const char* semver_prerelease;
  struct {
    const char* datetime;
    const char* tree;
    const char* commit;
    const char* describe;
  } git;
  const char* sourcery;
} mdbx_version;

// How the library was compiled. [mapped]
extern LIBMDBX_VERINFO_API const struct MDBX_build_info {
  const char* datetime;
  const char* target;
  const char* options;
  const char* compiler;
  const char* flags;
  const char* metadata;
} mdbx_build;

#ifdef __cplusplus
}
#endif
