#pragma once
// Verifying a database, and making a new one of what is readable of a damaged one (db.h, repair.h).

#include "db.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hawthorn_check_options {
  size_t struct_size;
  int skip_values;            // not 0: indexes only
  int skip_files;             // not 0: containers only, without superblock, manifest and log
  uint32_t threads;           // 1 to 64; 0: one
  uint64_t bytes_per_second;  // 0: no limit
  uint64_t errors_max;        // told; the rest is counted. 0: 1000
  // Called by the threads of the check, one at a time; NULL: nobody is told.
  void (*progress)(void* context, uint64_t containers_done, uint64_t containers);
  void* context;
} hawthorn_check_options;
#define HAWTHORN_CHECK_OPTIONS_INIT {sizeof(hawthorn_check_options), 0, 0, 0, 0, 0, NULL, NULL}

// Reads all that is on disk and verifies it, while the database is in use. Damage is no error of
// the call: one row of ok, the fields of hawthorn::CheckReport by their names, and `items`, a list
// of what was found: kind, file, offset, bytes, container, tree, tree_name, low_key, high_key,
// what, text. `options` may be NULL. Errors: HAWTHORN_INVALID_ARGUMENT; HAWTHORN_TOO_OLD.
HAWTHORN_C_API hawthorn_code hawthorn_db_check(hawthorn_db* db,
                                               const hawthorn_check_options* options,
                                               hawthorn_records** out, hawthorn_error** error);

typedef struct hawthorn_repair_options {
  size_t struct_size;
  const hawthorn_options* database;  // with which the target is opened; NULL: the defaults
  int ignore_manifest;               // not 0: looks for containers in the data files
  void (*progress)(void* context, uint64_t done, uint64_t all);  // NULL: nobody is told
  void* context;
} hawthorn_repair_options;
#define HAWTHORN_REPAIR_OPTIONS_INIT {sizeof(hawthorn_repair_options), NULL, 0, NULL, NULL}

// Makes a new database at `target`, which must not exist, of what is readable of the one at
// `source`. One row of ok, the fields of hawthorn::RepairReport by their names, and the lists
// `trees` and `losses`. `options` may be NULL. Errors: HAWTHORN_INVALID_ARGUMENT where the target
// exists, or for a wrong key; HAWTHORN_NOT_FOUND; HAWTHORN_BUSY when it is open; HAWTHORN_IO_ERROR;
// HAWTHORN_CORRUPTION where its file of keys is lost; HAWTHORN_NO_SPACE.
HAWTHORN_C_API hawthorn_code hawthorn_repair(const char* source, const char* target,
                                             const hawthorn_repair_options* options,
                                             hawthorn_records** out, hawthorn_error** error);

#ifdef __cplusplus
}
#endif
