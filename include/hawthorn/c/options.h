#pragma once
// The options of a database, and what it calls: merge operators, orders, filters, events, keys.
//
// Not here: what each option is about, in full: hawthorn/options.h. Functions without further words
// set one field of it. Values are checked by hawthorn_db_open, numbers of constants at once.
//
// Callbacks take the context that was given with them. They must not throw, nor leave by longjmp,
// and may run on any thread unless it is said otherwise. An options object and each database that
// was opened with it share them: `destroy` is called when the last of these has gone, and not at
// all where the call fails that would have taken the context.
//
// Errors, where none are named: HAWTHORN_INVALID_ARGUMENT. Threads: one at a time; an object may be
// used to open any number of databases, at the same time, too.

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hawthorn_options hawthorn_options;

// The defaults. NULL where there is no memory.
HAWTHORN_C_API hawthorn_options* hawthorn_options_create(void);
HAWTHORN_C_API void hawthorn_options_free(hawthorn_options* options);

// Sets an option by its name, for bindings and configuration files. Numbers are decimal, sizes may
// end with K, M or G (1024 of the one before); file_mode is octal; flags are true or false;
// durability: default, none, async, full; io_mode: auto, direct, buffered; compression: none, lz4,
// zstd. Those that are lists take one more with each call: devices (a path), merge_operators
// (uint64_add, max, append, or append: and a separator). encryption.key_id is a name,
// encryption.key a key in 64 hexadecimal digits that serves for every id. Errors:
// HAWTHORN_NOT_FOUND for a name that there is not; HAWTHORN_NOT_SUPPORTED for one that takes
// functions, of which the message names the call; HAWTHORN_INVALID_ARGUMENT for a value.
HAWTHORN_C_API hawthorn_code hawthorn_options_set(hawthorn_options* options, const char* name,
                                                  const char* value, hawthorn_error** error);
// The value of an option that is no function, as hawthorn_options_set takes it (of lists, the
// number of items; of a key, whether there is one): *out is to be freed by hawthorn_free. Errors:
// as above.
HAWTHORN_C_API hawthorn_code hawthorn_options_get(const hawthorn_options* options, const char* name,
                                                  char** out, hawthorn_error** error);
// The name of option `index`, from 0 on; NULL behind the last. Lifetime: static.
HAWTHORN_C_API const char* hawthorn_options_name(size_t index);

// Default: 256 MB, or a quarter of what the control groups allow where that is less; at least
// hawthorn_limit_memory_budget_bytes_min().
HAWTHORN_C_API hawthorn_code hawthorn_options_set_memory_budget_bytes(hawthorn_options* options,
                                                                      uint64_t bytes,
                                                                      hawthorn_error** error);
// Default: 0.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_preallocate_memory(hawthorn_options* options,
                                                                     int preallocate,
                                                                     hawthorn_error** error);
// Default: HAWTHORN_DURABILITY_FULL.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_durability(hawthorn_options* options,
                                                             hawthorn_durability durability,
                                                             hawthorn_error** error);
// Default: HAWTHORN_IO_AUTO.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_io_mode(hawthorn_options* options,
                                                          hawthorn_io_mode mode,
                                                          hawthorn_error** error);
// Default: 1.10; from 1.02 to 4.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_space_target(hawthorn_options* options,
                                                               double space_target,
                                                               hawthorn_error** error);
// Of trees that are created. Default: HAWTHORN_COMPRESSION_NONE.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_compression(hawthorn_options* options,
                                                              hawthorn_compression compression,
                                                              hawthorn_error** error);
// Adds the path of a block device, or of a file that serves as one. Default: none.
HAWTHORN_C_API hawthorn_code hawthorn_options_add_device(hawthorn_options* options,
                                                         const char* path, hawthorn_error** error);
// Default: 0.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_read_only(hawthorn_options* options,
                                                            int read_only, hawthorn_error** error);
// Default: 1.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_create_if_missing(hawthorn_options* options,
                                                                    int create,
                                                                    hawthorn_error** error);
// Default: 0.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_error_if_exists(hawthorn_options* options,
                                                                  int fail, hawthorn_error** error);
// Permissions of files, as of chmod. Default: 0600.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_file_mode(hawthorn_options* options,
                                                            uint32_t mode, hawthorn_error** error);
// Default: 1000.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_lock_timeout_ms(hawthorn_options* options,
                                                                  uint64_t timeout_ms,
                                                                  hawthorn_error** error);
// Default: 0, no limit.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_background_io_bytes_per_second(
    hawthorn_options* options, uint64_t bytes_per_second, hawthorn_error** error);
// Default: 0, no scrubbing.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_scrub_bytes_per_second(hawthorn_options* options,
                                                                         uint64_t bytes_per_second,
                                                                         hawthorn_error** error);

// ---- What is told

typedef uint32_t hawthorn_log_level;
enum { HAWTHORN_LOG_INFO = 0, HAWTHORN_LOG_WARNING = 1, HAWTHORN_LOG_ERROR = 2 };
// The message is a string. Lifetime: the call. Threads: any, several at a time.
typedef void (*hawthorn_log_callback)(void* context, hawthorn_log_level level, const char* message,
                                      size_t message_size);
// Messages for an operator. A NULL callback: silence, the default.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_log(hawthorn_options* options,
                                                      hawthorn_log_callback log, void* context,
                                                      hawthorn_destroy destroy,
                                                      hawthorn_error** error);

// While the log is replayed at open, each megabyte; these become less when its end is found, more
// where parts are read twice. An error that it returns ends the open, and is taken.
typedef hawthorn_error* (*hawthorn_open_progress)(void* context, uint64_t bytes_done,
                                                  uint64_t bytes);
// A NULL callback: nobody is told, the default.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_open_progress(hawthorn_options* options,
                                                                hawthorn_open_progress progress,
                                                                void* context,
                                                                hawthorn_destroy destroy,
                                                                hawthorn_error** error);

// An entry that had ended was removed. It may call the database, but for close and compact.
typedef void (*hawthorn_expiry_callback)(void* context, const char* tree, size_t tree_size,
                                         const void* key, size_t key_size, const void* value,
                                         size_t value_size);
// A NULL callback: nobody is told, the default.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_on_expiry(hawthorn_options* options,
                                                            hawthorn_expiry_callback on_expiry,
                                                            void* context, hawthorn_destroy destroy,
                                                            hawthorn_error** error);

// What a database tells of its work (events.h has when).
typedef uint32_t hawthorn_event;
enum {
  HAWTHORN_EVENT_FLUSH_BEGUN = 0,
  HAWTHORN_EVENT_FLUSH_COMPLETED = 1,
  HAWTHORN_EVENT_LOG_SEGMENT_BEGUN = 2,
  HAWTHORN_EVENT_LOG_WAITED = 3,
  HAWTHORN_EVENT_WRITE_STALL_BEGUN = 4,
  HAWTHORN_EVENT_WRITE_STALL_ENDED = 5,
  HAWTHORN_EVENT_BACKGROUND_ERROR = 6,
  HAWTHORN_EVENT_DAMAGE_FOUND = 7,
  HAWTHORN_EVENT_DATA_FILE_CREATED = 8,
  HAWTHORN_EVENT_DATA_FILE_REMOVED = 9,
  HAWTHORN_EVENT_TREE_CHANGED = 10,
  HAWTHORN_EVENT_SNAPSHOT_CHANGED = 11,
  HAWTHORN_EVENT_MANIFEST_REWRITTEN = 12,
  HAWTHORN_EVENT_OPENED = 13,
  HAWTHORN_EVENT_CLOSED = 14,
  HAWTHORN_EVENT_EVENTS_DROPPED = 15
};
// The name of an event, such as "flush_begun"; "unknown" for other numbers. Lifetime: static.
HAWTHORN_C_API const char* hawthorn_event_name(hawthorn_event event);
// `fields` has one row, with the fields of the event. Lifetime: the call. Threads: one of the
// database, one event after the other. It may read, write and ask for figures; it must not close
// the database, nor free its last handle.
typedef void (*hawthorn_event_callback)(void* context, hawthorn_event event,
                                        const hawthorn_records* fields);
HAWTHORN_C_API hawthorn_code hawthorn_options_add_listener(hawthorn_options* options,
                                                           hawthorn_event_callback callback,
                                                           void* context, hawthorn_destroy destroy,
                                                           hawthorn_error** error);

// Asked before a commit of the program, on its thread: NULL lets it go on, an error (which the
// library frees) refuses it. It may read, but neither write nor end a transaction.
typedef hawthorn_error* (*hawthorn_before_commit)(void* context, uint64_t operations,
                                                  hawthorn_durability durability);
// Told behind it: its timestamp, 0 where it failed; HAWTHORN_OK and NULL, or what it failed with.
// Lifetime of `outcome`: the call.
typedef void (*hawthorn_after_commit)(void* context, uint64_t operations,
                                      hawthorn_durability durability, uint64_t timestamp,
                                      hawthorn_code code, const hawthorn_error* outcome);
// Either may be NULL, but not both. Hooks are asked in the order in which they were added.
HAWTHORN_C_API hawthorn_code hawthorn_options_add_commit_hook(
    hawthorn_options* options, hawthorn_before_commit before, hawthorn_after_commit after,
    void* context, hawthorn_destroy destroy, hawthorn_error** error);

// ---- What makes, orders and removes

// A merge operator (merge_operator.h says what it must keep to). The functions return 1, or 0 where
// the operands do not fit together. They must not call the database.
typedef struct hawthorn_merge_operator {
  size_t struct_size;
  const char* name;  // 1 to 255 bytes, always the same; copied
  void* context;
  hawthorn_destroy destroy;
  // Folds operands, the oldest first, into `result`. `existing` is NULL where the key is absent.
  int (*merge)(void* context, const void* key, size_t key_size, const void* existing,
               size_t existing_size, const hawthorn_bytes* operands, size_t operand_count,
               hawthorn_buffer* result);
  // Makes one operand of two neighbours. NULL: cannot.
  int (*combine)(void* context, const void* key, size_t key_size, const void* left,
                 size_t left_size, const void* right, size_t right_size, hawthorn_buffer* result);
} hawthorn_merge_operator;
#define HAWTHORN_MERGE_OPERATOR_INIT {sizeof(hawthorn_merge_operator), NULL, NULL, NULL, NULL, NULL}
HAWTHORN_C_API hawthorn_code hawthorn_options_add_merge_operator(
    hawthorn_options* options, const hawthorn_merge_operator* merge_operator,
    hawthorn_error** error);
// One of the library's: "uint64_add", "max", "append", or "append:" and a separator. Errors: also
// HAWTHORN_NOT_FOUND.
HAWTHORN_C_API hawthorn_code hawthorn_options_add_builtin_merge_operator(hawthorn_options* options,
                                                                         const char* name,
                                                                         hawthorn_error** error);

// An order of keys by an encoding (key_order.h). The functions return 1, or 0 for what is no key or
// no sort key. They must not call the database.
typedef struct hawthorn_key_order {
  size_t struct_size;
  const char* name;  // 1 to 255 bytes, always the same; copied
  void* context;
  hawthorn_destroy destroy;
  int (*encode)(void* context, const void* key, size_t key_size, hawthorn_buffer* sort_key);
  int (*decode)(void* context, const void* sort_key, size_t sort_key_size, hawthorn_buffer* key);
  size_t fixed_bytes;  // the size of all sort keys; 0: they differ
} hawthorn_key_order;
#define HAWTHORN_KEY_ORDER_INIT {sizeof(hawthorn_key_order), NULL, NULL, NULL, NULL, NULL, 0}
HAWTHORN_C_API hawthorn_code hawthorn_options_add_key_order(hawthorn_options* options,
                                                            const hawthorn_key_order* order,
                                                            hawthorn_error** error);

// Less than, equal to or greater than 0 where a comes before, is, or comes behind b.
typedef int (*hawthorn_compare)(void* context, const void* a, size_t a_size, const void* b,
                                size_t b_size);
// An order of keys by a comparison, which costs more than an encoding. The name is copied.
HAWTHORN_C_API hawthorn_code hawthorn_options_add_key_comparator(
    hawthorn_options* options, const char* name, hawthorn_compare compare, void* context,
    hawthorn_destroy destroy, hawthorn_error** error);

typedef uint32_t hawthorn_filter_decision;
enum { HAWTHORN_FILTER_KEEP = 0, HAWTHORN_FILTER_REMOVE = 1, HAWTHORN_FILTER_CHANGE = 2 };
// What becomes of an entry; with HAWTHORN_FILTER_CHANGE `changed` has its new value. Any other
// number keeps it. It may call the database, but for close, compact and drain.
typedef hawthorn_filter_decision (*hawthorn_filter_callback)(void* context, const void* key,
                                                             size_t key_size, const void* value,
                                                             size_t value_size,
                                                             hawthorn_buffer* changed);
typedef struct hawthorn_flush_filter {
  size_t struct_size;
  const char* name;  // for messages; copied
  void* context;
  hawthorn_destroy destroy;
  int keys_only;  // not 0: values are not read, and come empty
  hawthorn_filter_callback filter;
} hawthorn_flush_filter;
#define HAWTHORN_FLUSH_FILTER_INIT {sizeof(hawthorn_flush_filter), NULL, NULL, NULL, 0, NULL}
// Of the tree with that name, in place of the one that it may have (flush_filter.h).
HAWTHORN_C_API hawthorn_code hawthorn_options_set_flush_filter(hawthorn_options* options,
                                                               const char* tree, size_t tree_size,
                                                               const hawthorn_flush_filter* filter,
                                                               hawthorn_error** error);

// ---- Encryption

// Gives the key with an id: 32 bytes, written to `key`. NULL where it could, else an error, which
// the library frees. It must not call the database. The 32 bytes are overwritten after use.
typedef hawthorn_error* (*hawthorn_key_callback)(void* context, const char* key_id,
                                                 size_t key_id_size, uint8_t key[32]);
// Where keys come from, and the id of the one for a database that is created (encryption.h): NULL
// where none is to be created. A NULL callback: no encryption, the default.
HAWTHORN_C_API hawthorn_code hawthorn_options_set_encryption(
    hawthorn_options* options, const char* key_id, size_t key_id_size, hawthorn_key_callback key,
    void* context, hawthorn_destroy destroy, hawthorn_error** error);
// 32 bytes of the system's randomness. Errors: HAWTHORN_IO_ERROR.
HAWTHORN_C_API hawthorn_code hawthorn_generate_key(uint8_t key[32], hawthorn_error** error);

#ifdef __cplusplus
}
#endif
