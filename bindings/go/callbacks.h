#pragma once
// Functions of the C API that call back, with contexts that are handles of Go: numbers, which
// runtime/cgo gives out.

#include "shim.h"

hawthorn_code hw_options_log(hawthorn_options* o, uintptr_t context, hawthorn_error** e);
hawthorn_code hw_options_expiry(hawthorn_options* o, uintptr_t context, hawthorn_error** e);
hawthorn_code hw_options_listener(hawthorn_options* o, uintptr_t context, hawthorn_error** e);
hawthorn_code hw_options_hook(hawthorn_options* o, uintptr_t context, hawthorn_error** e);
hawthorn_code hw_options_merge(hawthorn_options* o, const char* name, int combines,
                               uintptr_t context, hawthorn_error** e);
hawthorn_code hw_options_order(hawthorn_options* o, const char* name, size_t fixed_bytes,
                               uintptr_t context, hawthorn_error** e);
hawthorn_code hw_options_comparator(hawthorn_options* o, const char* name, uintptr_t context,
                                    hawthorn_error** e);
hawthorn_code hw_options_filter(hawthorn_options* o, const char* tree, size_t tree_size,
                                const char* name, int keys_only, uintptr_t context,
                                hawthorn_error** e);
hawthorn_code hw_options_encryption(hawthorn_options* o, const char* key_id, size_t key_id_size,
                                    uintptr_t context, hawthorn_error** e);

typedef enum hw_stream_kind { HW_STREAM_PUT, HW_STREAM_PART, HW_STREAM_APPEND } hw_stream_kind;
hw_result hw_write_stream(hawthorn_txn* txn, int kind, HW_KEY, uint64_t offset, uint64_t size,
                          uintptr_t context);
hw_result hw_read_stream(HW_ACCESS, HW_KEY, uint64_t offset, uintptr_t context);
hw_result hw_ingest_stream(hawthorn_ingest* ingest, const char* key, size_t key_size, uint64_t size,
                           uintptr_t context);

// What copies are told; `progress`: a handle, or 0.
typedef struct hw_copy {
  uint64_t bytes_per_second;
  uintptr_t progress;
  int copy_blocks;
  int full;
  const hawthorn_options* encryption;
} hw_copy;
hw_result hw_checkpoint(hawthorn_db* db, const char* directory, hw_copy copy);
hw_result hw_backup(hawthorn_db* db, hawthorn_repository* repository, hw_copy copy);
hw_result hw_verify(hawthorn_repository* repository, uint64_t id, hw_copy copy);
hw_result hw_restore(hawthorn_repository* repository, uint64_t id, const char* target,
                     hw_copy copy);
hw_result hw_backup_to(hawthorn_db* db, uintptr_t sink, hw_copy copy);
// Verifies where `target` is NULL.
hw_result hw_restore_from(uintptr_t source, const char* target, hw_copy copy);

hw_result hw_check(hawthorn_db* db, int skip_values, int skip_files, uint32_t threads,
                   uint64_t bytes_per_second, uint64_t errors_max, uintptr_t progress);
hw_result hw_repair(const char* source, const char* target, const hawthorn_options* database,
                    int ignore_manifest, uintptr_t progress);
hw_result hw_apply_pieces(hawthorn_replica* replica, uintptr_t pieces, uint32_t durability);
