// The way from C into Go: what the library calls, and the functions that hand it over.
#include "callbacks.h"

#include <_cgo_export.h>

#define CONTEXT(number) ((void*)(number))
#define HANDLE(context) ((uintptr_t)(context))

static void destroy(void* context) { goDestroy(HANDLE(context)); }

static void on_log(void* context, hawthorn_log_level level, const char* message, size_t size) {
  goLog(HANDLE(context), level, (char*)message, size);
}
hawthorn_code hw_options_log(hawthorn_options* o, uintptr_t context, hawthorn_error** e) {
  return hawthorn_options_set_log(o, on_log, CONTEXT(context), destroy, e);
}

static void on_expiry(void* context, const char* tree, size_t tree_size, const void* key,
                      size_t key_size, const void* value, size_t value_size) {
  goExpiry(HANDLE(context), (char*)tree, tree_size, (void*)key, key_size, (void*)value, value_size);
}
hawthorn_code hw_options_expiry(hawthorn_options* o, uintptr_t context, hawthorn_error** e) {
  return hawthorn_options_set_on_expiry(o, on_expiry, CONTEXT(context), destroy, e);
}

static void on_event(void* context, hawthorn_event event, const hawthorn_records* fields) {
  goEvent(HANDLE(context), event, (hawthorn_records*)fields);
}
hawthorn_code hw_options_listener(hawthorn_options* o, uintptr_t context, hawthorn_error** e) {
  return hawthorn_options_add_listener(o, on_event, CONTEXT(context), destroy, e);
}

static hawthorn_error* before(void* context, uint64_t operations, hawthorn_durability durability) {
  return goBeforeCommit(HANDLE(context), operations, durability);
}
static void after(void* context, uint64_t operations, hawthorn_durability durability,
                  uint64_t timestamp, hawthorn_code code, const hawthorn_error* outcome) {
  goAfterCommit(HANDLE(context), operations, durability, timestamp, code,
                (char*)hawthorn_error_message(outcome, NULL));
}
hawthorn_code hw_options_hook(hawthorn_options* o, uintptr_t context, hawthorn_error** e) {
  return hawthorn_options_add_commit_hook(o, before, after, CONTEXT(context), destroy, e);
}

static int merge(void* context, const void* key, size_t key_size, const void* existing,
                 size_t existing_size, const hawthorn_bytes* operands, size_t count,
                 hawthorn_buffer* result) {
  return goMerge(HANDLE(context), (void*)key, key_size, (void*)existing, existing_size,
                 (hawthorn_bytes*)operands, count, result);
}
static int combine(void* context, const void* key, size_t key_size, const void* left,
                   size_t left_size, const void* right, size_t right_size,
                   hawthorn_buffer* result) {
  return goCombine(HANDLE(context), (void*)key, key_size, (void*)left, left_size, (void*)right,
                   right_size, result);
}
hawthorn_code hw_options_merge(hawthorn_options* o, const char* name, int combines,
                               uintptr_t context, hawthorn_error** e) {
  const hawthorn_merge_operator made = {sizeof(made), name, CONTEXT(context), destroy, merge,
                                        combines ? combine : NULL};
  return hawthorn_options_add_merge_operator(o, &made, e);
}

static int encode(void* context, const void* key, size_t size, hawthorn_buffer* out) {
  return goOrder(HANDLE(context), 1, (void*)key, size, out);
}
static int decode(void* context, const void* sort_key, size_t size, hawthorn_buffer* out) {
  return goOrder(HANDLE(context), 0, (void*)sort_key, size, out);
}
hawthorn_code hw_options_order(hawthorn_options* o, const char* name, size_t fixed_bytes,
                               uintptr_t context, hawthorn_error** e) {
  const hawthorn_key_order order = {sizeof(order), name,   CONTEXT(context), destroy,
                                    encode,        decode, fixed_bytes};
  return hawthorn_options_add_key_order(o, &order, e);
}

static int compare(void* context, const void* a, size_t a_size, const void* b, size_t b_size) {
  return goCompare(HANDLE(context), (void*)a, a_size, (void*)b, b_size);
}
hawthorn_code hw_options_comparator(hawthorn_options* o, const char* name, uintptr_t context,
                                    hawthorn_error** e) {
  return hawthorn_options_add_key_comparator(o, name, compare, CONTEXT(context), destroy, e);
}

static hawthorn_filter_decision filter(void* context, const void* key, size_t key_size,
                                       const void* value, size_t value_size,
                                       hawthorn_buffer* changed) {
  return goFilter(HANDLE(context), (void*)key, key_size, (void*)value, value_size, changed);
}
hawthorn_code hw_options_filter(hawthorn_options* o, const char* tree, size_t tree_size,
                                const char* name, int keys_only, uintptr_t context,
                                hawthorn_error** e) {
  const hawthorn_flush_filter made = {sizeof(made), name,      CONTEXT(context),
                                      destroy,      keys_only, filter};
  return hawthorn_options_set_flush_filter(o, tree, tree_size, &made, e);
}

static hawthorn_error* give_key(void* context, const char* id, size_t size, uint8_t key[32]) {
  return goKey(HANDLE(context), (char*)id, size, key);
}
hawthorn_code hw_options_encryption(hawthorn_options* o, const char* key_id, size_t key_id_size,
                                    uintptr_t context, hawthorn_error** e) {
  return hawthorn_options_set_encryption(o, key_id, key_id_size, give_key, CONTEXT(context),
                                         destroy, e);
}

// ---- Streams

static int64_t source(void* context, void* buffer, size_t capacity, hawthorn_error** error) {
  return goSource(HANDLE(context), buffer, capacity, error);
}
static int sink(void* context, const void* data, size_t size) {
  return goSink(HANDLE(context), (void*)data, size);
}
hw_result hw_write_stream(hawthorn_txn* txn, int kind, HW_KEY, uint64_t offset, uint64_t size,
                          uintptr_t context) {
  HW_RESULT;
  void* c = CONTEXT(context);
  if (kind == HW_STREAM_PUT) {
    r.code = hawthorn_txn_put_stream(txn, tree, key, key_size, size, source, c, &r.error);
  } else if (kind == HW_STREAM_PART) {
    r.code = hawthorn_txn_write_part_stream(txn, tree, key, key_size, offset, size, source, c,
                                            &r.error);
  } else {
    r.code = hawthorn_txn_append_stream(txn, tree, key, key_size, size, source, c, &r.number,
                                        &r.error);
  }
  return r;
}
hw_result hw_read_stream(HW_ACCESS, HW_KEY, uint64_t offset, uintptr_t context) {
  HW_RESULT;
  void* c = CONTEXT(context);
  r.code = txn ? hawthorn_txn_read_stream(txn, tree, key, key_size, offset, sink, c, &r.error)
               : hawthorn_db_read_stream(db, tree, key, key_size, offset, snap, sink, c, &r.error);
  return r;
}
hw_result hw_ingest_stream(hawthorn_ingest* ingest, const char* key, size_t key_size, uint64_t size,
                           uintptr_t context) {
  HW_RESULT;
  r.code = hawthorn_ingest_add_stream(ingest, key, key_size, size, source, CONTEXT(context),
                                      &r.error);
  return r;
}

// ---- Copies

static hawthorn_error* progress(void* context, uint64_t bytes) {
  return goProgress(HANDLE(context), bytes);
}
static hawthorn_error* backup_sink(void* context, const void* data, size_t size) {
  return goBackupSink(HANDLE(context), (void*)data, size);
}
static hawthorn_copy_options copy_options(hw_copy copy) {
  const hawthorn_copy_options options = {sizeof(options),
                                         copy.bytes_per_second,
                                         copy.progress ? progress : NULL,
                                         CONTEXT(copy.progress),
                                         copy.copy_blocks,
                                         copy.full,
                                         copy.encryption};
  return options;
}
hw_result hw_checkpoint(hawthorn_db* db, const char* directory, hw_copy copy) {
  HW_RESULT;
  const hawthorn_copy_options options = copy_options(copy);
  r.code = hawthorn_db_checkpoint(db, directory, &options, &r.error);
  return r;
}
hw_result hw_backup(hawthorn_db* db, hawthorn_repository* repository, hw_copy copy) {
  HW_RESULT;
  const hawthorn_copy_options options = copy_options(copy);
  r.code = hawthorn_db_backup(db, repository, &options, (hawthorn_records**)&r.data, &r.error);
  return r;
}
hw_result hw_verify(hawthorn_repository* repository, uint64_t id, hw_copy copy) {
  HW_RESULT;
  const hawthorn_copy_options options = copy_options(copy);
  r.code = hawthorn_repository_verify(repository, id, &options, &r.error);
  return r;
}
hw_result hw_restore(hawthorn_repository* repository, uint64_t id, const char* target,
                     hw_copy copy) {
  HW_RESULT;
  const hawthorn_copy_options options = copy_options(copy);
  r.code = hawthorn_repository_restore(repository, id, target, &options, &r.error);
  return r;
}
hw_result hw_backup_to(hawthorn_db* db, uintptr_t sink_context, hw_copy copy) {
  HW_RESULT;
  const hawthorn_copy_options options = copy_options(copy);
  r.code = hawthorn_db_backup_to(db, backup_sink, CONTEXT(sink_context), &options,
                                 (hawthorn_records**)&r.data, &r.error);
  return r;
}
hw_result hw_restore_from(uintptr_t source_context, const char* target, hw_copy copy) {
  HW_RESULT;
  const hawthorn_copy_options options = copy_options(copy);
  hawthorn_records** out = (hawthorn_records**)&r.data;
  r.code = target ? hawthorn_restore_backup(source, CONTEXT(source_context), target, &options, out,
                                            &r.error)
                  : hawthorn_verify_backup(source, CONTEXT(source_context), &options, out,
                                           &r.error);
  return r;
}

static void steps(void* context, uint64_t done, uint64_t all) {
  goSteps(HANDLE(context), done, all);
}
hw_result hw_check(hawthorn_db* db, int skip_values, int skip_files, uint32_t threads,
                   uint64_t bytes_per_second, uint64_t errors_max, uintptr_t context) {
  HW_RESULT;
  const hawthorn_check_options options = {sizeof(options),
                                          skip_values,
                                          skip_files,
                                          threads,
                                          bytes_per_second,
                                          errors_max,
                                          context ? steps : NULL,
                                          CONTEXT(context)};
  r.code = hawthorn_db_check(db, &options, (hawthorn_records**)&r.data, &r.error);
  return r;
}
hw_result hw_repair(const char* from, const char* target, const hawthorn_options* database,
                    int ignore_manifest, uintptr_t context) {
  HW_RESULT;
  const hawthorn_repair_options options = {sizeof(options), database, ignore_manifest,
                                           context ? steps : NULL, CONTEXT(context)};
  r.code = hawthorn_repair(from, target, &options, (hawthorn_records**)&r.data, &r.error);
  return r;
}

static hawthorn_error* pieces(void* context, const void** data, size_t* size) {
  return goPiece(HANDLE(context), (void**)data, size);
}
hw_result hw_apply_pieces(hawthorn_replica* replica, uintptr_t context, uint32_t durability) {
  HW_RESULT;
  r.code = hawthorn_replica_apply_pieces(replica, pieces, CONTEXT(context), durability, &r.error);
  return r;
}
