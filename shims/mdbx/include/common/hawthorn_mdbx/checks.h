#pragma once
// The checker, free space, defragmentation, and the repair of files.

#include "statistics.h"
#include "tables.h"
#include "transactions.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a check is made. [mapped]
typedef enum MDBX_chk_flags {
  MDBX_CHK_DEFAULTS = 0,
  MDBX_CHK_READWRITE = 1,             // while nobody else writes
  MDBX_CHK_SKIP_BTREE_TRAVERSAL = 2,  // without a look at trees
  MDBX_CHK_SKIP_KV_TRAVERSAL = 4,     // without a look at pairs
  MDBX_CHK_IGNORE_ORDER = 8           // the order of keys is not a problem
} MDBX_chk_flags_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_chk_flags)

// How grave a message is: its level, and above `prio_shift` bits the verbosity at which it is
// shown. Nothing is printed here: what is wrong goes to `issue`. [accepted]
typedef enum MDBX_chk_severity {
  MDBX_chk_severity_prio_shift = 4,
  MDBX_chk_severity_kind_mask = 0xF,
  MDBX_chk_fatal = 0x00u,
  MDBX_chk_error = 0x11u,
  MDBX_chk_warning = 0x22u,
  MDBX_chk_notice = 0x33u,
  MDBX_chk_result = 0x44u,
  MDBX_chk_resolution = 0x55u,
  MDBX_chk_processing = 0x56u,
  MDBX_chk_info = 0x67u,
  MDBX_chk_verbose = 0x78u,
  MDBX_chk_details = 0x89u,
  MDBX_chk_extra = 0x9Au
} MDBX_chk_severity_t;

// The stages of a check, in their order; of these there are three. [accepted]
typedef enum MDBX_chk_stage {
  MDBX_chk_none,
  MDBX_chk_init,
  MDBX_chk_lock,
  MDBX_chk_meta,
  MDBX_chk_tree,  // [mapped] the files
  MDBX_chk_gc,
  MDBX_chk_space,
  MDBX_chk_maindb,  // [mapped] the entries of the main table
  MDBX_chk_tables,  // [mapped] those of the others
  MDBX_chk_conclude,
  MDBX_chk_unlock,
  MDBX_chk_finalize
} MDBX_chk_stage_t;

// A line that the caller's callbacks print. [mapped]
typedef struct MDBX_chk_line {
  struct MDBX_chk_context* ctx;
  uint8_t severity, scope_depth, empty;
  char *begin, *end, *out;
} MDBX_chk_line_t;

// A kind of problem, and how often it was found. [mapped]
typedef struct MDBX_chk_issue {
  struct MDBX_chk_issue* next;
  size_t count;
  const char* caption;
} MDBX_chk_issue_t;

// A part of the check, within others. The last three are the caller's. [mapped]
typedef struct MDBX_chk_scope {
  MDBX_chk_issue_t* issues;
  struct MDBX_chk_internal* internal;
  const void* object;
  MDBX_chk_stage_t stage;
  MDBX_chk_severity_t verbosity;
  size_t subtotal_issues;
  union {
    void* ptr;
    size_t number;
  } usr_z, usr_v, usr_o;
} MDBX_chk_scope_t;

// The caller's own for a table. [mapped]
typedef struct MDBX_chk_user_table_cookie MDBX_chk_user_table_cookie_t;

// How often numbers of a range were found. [mapped]
struct MDBX_chk_histogram {
#if HAWTHORN_MDBX_API >= 14
  size_t amount, count, le1_amount, le1_count;
#else
  size_t amount, count, ones, pad;
#endif
  struct {
    size_t begin, end, amount, count;
  } ranges[9];
};

// In the place of a table's name: the main table, that of free pages, and the pages that lead to
// them. [mapped]
#define MDBX_CHK_MAIN ((void*)((ptrdiff_t)0))
#define MDBX_CHK_GC ((void*)((ptrdiff_t)-1))
#define MDBX_CHK_META ((void*)((ptrdiff_t)-2))

// What was found of a table. [mapped]
typedef struct MDBX_chk_table {
  MDBX_chk_user_table_cookie_t* cookie;
  MDBX_val name;
  MDBX_db_flags_t flags;
  int id;
  size_t payload_bytes, lost_bytes;
  struct {
#if HAWTHORN_MDBX_API >= 14
    size_t all, empty, broken;
#else
    size_t all, empty, other;
#endif
    size_t branch, leaf;
    size_t nested_branch, nested_leaf, nested_subleaf;
  } pages;  // [accepted] zeros
  struct {
#if HAWTHORN_MDBX_API >= 14
    struct MDBX_chk_histogram height;
    struct MDBX_chk_histogram large_pages;
    struct MDBX_chk_histogram nested_height_or_gc_span_length;
    struct MDBX_chk_histogram key_len;
    struct MDBX_chk_histogram val_len;
    struct MDBX_chk_histogram multival;
    struct MDBX_chk_histogram tree_density;
    struct MDBX_chk_histogram large_or_nested_density;
    struct MDBX_chk_histogram page_age;
    struct MDBX_chk_histogram pgno;
#else
    struct MDBX_chk_histogram deep;
    struct MDBX_chk_histogram large_pages;
    struct MDBX_chk_histogram nested_tree;
    struct MDBX_chk_histogram key_len;
    struct MDBX_chk_histogram val_len;
#endif
  } histogram;  // those of keys and values; others are zeros
} MDBX_chk_table_t;

// A check, with what it has found so far. [mapped]
typedef struct MDBX_chk_context {
  struct MDBX_chk_internal* internal;
  MDBX_env* env;
  MDBX_txn* txn;
  MDBX_chk_scope_t* scope;
  uint8_t scope_nesting;
  struct {
    size_t total_payload_bytes;
    size_t table_total, table_processed;
    size_t total_unused_bytes, unused_pages;
    size_t processed_pages, reclaimable_pages, gc_pages, alloc_pages, backed_pages;
    size_t problems_meta, tree_problems, gc_tree_problems, kv_tree_problems, problems_gc,
        problems_kv, total_problems;
    uint64_t steady_txnid, recent_txnid;
#if HAWTHORN_MDBX_API >= 14
    struct MDBX_chk_histogram histogram_page_age;
    struct MDBX_chk_histogram histogram_pgno_payload;
    struct MDBX_chk_histogram histogram_pgno_retained;
#endif
    const MDBX_chk_table_t* const* tables;
  } result;
} MDBX_chk_context_t;

// What the caller does meanwhile; each may be null. Those that return int end the check with what
// is not 0. [mapped]
typedef struct MDBX_chk_callbacks {
  bool (*check_break)(MDBX_chk_context_t* ctx);
  int (*scope_push)(MDBX_chk_context_t* ctx, MDBX_chk_scope_t* outer, MDBX_chk_scope_t* inner,
                    const char* fmt, va_list args);
  int (*scope_conclude)(MDBX_chk_context_t* ctx, MDBX_chk_scope_t* outer, MDBX_chk_scope_t* inner,
                        int err);
  void (*scope_pop)(MDBX_chk_context_t* ctx, MDBX_chk_scope_t* outer, MDBX_chk_scope_t* inner);
  void (*issue)(MDBX_chk_context_t* ctx, const char* object, uint64_t entry_number,
                const char* issue, const char* extra_fmt, va_list extra_args);
  MDBX_chk_user_table_cookie_t* (*table_filter)(MDBX_chk_context_t* ctx, const MDBX_val* name,
                                                MDBX_db_flags_t flags);
  int (*table_conclude)(MDBX_chk_context_t* ctx, const MDBX_chk_table_t* table, MDBX_cursor* cursor,
                        int err);
  void (*table_dispose)(MDBX_chk_context_t* ctx, const MDBX_chk_table_t* table);
  int (*table_handle_kv)(MDBX_chk_context_t* ctx, const MDBX_chk_table_t* table,
                         size_t entry_number, const MDBX_val* key, const MDBX_val* value);
  int (*stage_begin)(MDBX_chk_context_t* ctx, MDBX_chk_stage_t);
  int (*stage_end)(MDBX_chk_context_t* ctx, MDBX_chk_stage_t, int err);
  MDBX_chk_line_t* (*print_begin)(MDBX_chk_context_t* ctx, MDBX_chk_severity_t severity);
  void (*print_flush)(MDBX_chk_line_t*);
  void (*print_done)(MDBX_chk_line_t*);
  void (*print_chars)(MDBX_chk_line_t*, const char* str, size_t len);
  void (*print_format)(MDBX_chk_line_t*, const char* fmt, va_list args);
  void (*print_size)(MDBX_chk_line_t*, const char* prefix, const uint64_t value,
                     const char* suffix);
} MDBX_chk_callbacks_t;

// Checks a database by the engine's checker, and then goes through its tables; for up to a time in
// 1/65536 s, 0 being without a limit. [mapped]
LIBMDBX_API int mdbx_env_chk(MDBX_env* env, const MDBX_chk_callbacks_t* cb, MDBX_chk_context_t* ctx,
                             const MDBX_chk_flags_t flags, MDBX_chk_severity_t verbosity,
                             unsigned timeout_seconds_16dot16);

// Counts a problem that the caller has found. [mapped]
LIBMDBX_API int mdbx_env_chk_encount_problem(MDBX_chk_context_t* ctx);

#if HAWTHORN_MDBX_API >= 14
// Called by mdbx_gc_info for each run of free pages. [refused]
typedef int (*MDBX_gc_iter_func)(void* ctx, const MDBX_txn* txn, uint64_t span_txnid,
                                 size_t span_pgno, size_t span_length,
                                 bool span_is_reclaimable) MDBX_CXX17_NOEXCEPT;

// Free space. [refused]
typedef struct MDBX_gc_info {
  size_t pages_total;
  size_t pages_backed;
  size_t pages_allocated;
  size_t pages_gc;
  struct {
    size_t pages;
    struct MDBX_chk_histogram span_histogram;
    struct MDBX_chk_histogram pgno_distribution;
  } gc_reclaimable;
  size_t max_reader_lag;
  size_t max_retained_pages;
} MDBX_gc_info_t;

// Describes the free space. [refused]
LIBMDBX_API int mdbx_gc_info(MDBX_txn* txn, MDBX_gc_info_t* info, size_t bytes,
                             MDBX_gc_iter_func iter_func, void* iter_ctx);

// Writes a fraction as a decimal number, with so many digits behind the point. Returns where in
// `buffer` it begins. [mapped]
LIBMDBX_API const char* mdbx_ratio2digits(uint64_t numerator, uint64_t denominator, int precision,
                                          char* buffer, size_t buffer_size);

// Writes a part of a whole in percent. [mapped]
LIBMDBX_API const char* mdbx_ratio2percents(uint64_t value, uint64_t whole, char* buffer,
                                            size_t buffer_size);
// Why a defragmentation ended. [mapped]
typedef enum MDBX_defrag_stopping_reasons {
  MDBX_defrag_noobstacles = 0,
  MDBX_defrag_step_size = 1,          // [accepted] a step would be too large
  MDBX_defrag_large_chunk = 2,        // [accepted] a large value needs room first
  MDBX_defrag_discontinued = 4,       // [accepted] the callback is asked when it is done
  MDBX_defrag_laggard_reader = 8,     // [accepted] old snapshots are not in the way
  MDBX_defrag_enough_threshold = 16,  // [accepted] it is always done to its end
  MDBX_defrag_time_limit = 32,        // [accepted] likewise
  MDBX_defrag_aborted = 64,           // [accepted] likewise
  MDBX_defrag_error = 128             // [accepted] the call returns what it was
} MDBX_defrag_stopping_reasons_t;
HAWTHORN_MDBX_ENUM_OPERATORS(MDBX_defrag_stopping_reasons)

// What it did so far; pages are estimates. [mapped]
typedef struct MDBX_defrag_result {
  intptr_t pages_shrinked;
  size_t pages_moved;
  size_t pages_scheduled;
  size_t pages_retained;
  size_t pages_left;
  size_t pages_whole;
  size_t obstructed_pgno;
  size_t obstructed_span;
  uint64_t obstructed_txnid;
  mdbx_tid_t obstructor_tid;
  mdbx_pid_t obstructor_pid;
  unsigned rough_estimation_cycle_progress_permille;
  unsigned cycles;
  unsigned stopping_reasons;
  size_t spent_time_dot16;
} MDBX_defrag_result_t;

// Called at the begin and the end of each round; 0 goes on. [mapped]
typedef int (*MDBX_defrag_notify_func)(void* ctx,
                                       const MDBX_defrag_result_t* progress) MDBX_CXX17_NOEXCEPT;

// Makes the files smaller, by the engine's compaction. Pages and times, in 1/65536 s, are how much
// is wanted and how much is enough, 0 being without a limit. MDBX_RESULT_TRUE: it ended before it
// was done. [mapped]
LIBMDBX_API int mdbx_env_defrag(MDBX_env* env, size_t defrag_atleast, size_t time_atleast_dot16,
                                size_t defrag_enough, size_t time_limit_dot16,
                                intptr_t acceptable_backlash, intptr_t preferred_batch,
                                MDBX_defrag_notify_func progress_callback, void* ctx,
                                MDBX_defrag_result_t* result);
#endif

// Opens a database at one of libmdbx's meta pages, and makes that the one that counts; the engine
// has none. [refused]
LIBMDBX_API int mdbx_env_open_for_recovery(MDBX_env* env, const char* pathname,
                                           unsigned target_meta, bool writeable);
#define mdbx_env_open_for_recoveryT(env, pathname, target_mets, writeable) \
  mdbx_env_open_for_recovery(env, pathname, target_mets, writeable)
LIBMDBX_API int mdbx_env_turn_for_recovery(MDBX_env* env, unsigned target_meta);

#ifdef __cplusplus
}
#endif
