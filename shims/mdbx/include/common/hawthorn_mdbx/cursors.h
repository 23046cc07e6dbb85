#pragma once
// Cursors: positions in a table, which move, read and change.

#include "operations.h"
#include "statistics.h"
#include "tables.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a cursor moves. A table without MDBX_DUPSORT has one value for each key. [mapped]
typedef enum MDBX_cursor_op {
  MDBX_FIRST,           // the first pair
  MDBX_FIRST_DUP,       // the first value of the key
  MDBX_GET_BOTH,        // this key with this value
  MDBX_GET_BOTH_RANGE,  // this key with this value or the next
  MDBX_GET_CURRENT,     // where it is
  MDBX_GET_MULTIPLE,    // the values of the key around the present one, of one size: a page
  MDBX_LAST,            // the last pair
  MDBX_LAST_DUP,        // the last value of the key
  MDBX_NEXT,            // the next pair
  MDBX_NEXT_DUP,        // the next value of the key
  MDBX_NEXT_MULTIPLE,   // the values behind those that MDBX_GET_MULTIPLE gave
  MDBX_NEXT_NODUP,      // the first value of the next key
  MDBX_PREV,            // the pair before
  MDBX_PREV_DUP,        // the value of the key before
  MDBX_PREV_NODUP,      // the last value of the key before
  MDBX_SET,             // this key
  MDBX_SET_KEY,         // this key, and give it back
  MDBX_SET_RANGE,       // this key or the next
  MDBX_PREV_MULTIPLE,   // the values before those that MDBX_GET_MULTIPLE gave
  // This pair or the next one: MDBX_RESULT_TRUE if it is the next.
  MDBX_SET_LOWERBOUND,
  // The next pair behind this one.
  MDBX_SET_UPPERBOUND,
  // By the key alone.
  MDBX_TO_KEY_LESSER_THAN,
  MDBX_TO_KEY_LESSER_OR_EQUAL,
  MDBX_TO_KEY_EQUAL,
  MDBX_TO_KEY_GREATER_OR_EQUAL,
  MDBX_TO_KEY_GREATER_THAN,
  // Of this key, by the value.
  MDBX_TO_EXACT_KEY_VALUE_LESSER_THAN,
  MDBX_TO_EXACT_KEY_VALUE_LESSER_OR_EQUAL,
  MDBX_TO_EXACT_KEY_VALUE_EQUAL,
  MDBX_TO_EXACT_KEY_VALUE_GREATER_OR_EQUAL,
  MDBX_TO_EXACT_KEY_VALUE_GREATER_THAN,
  // By key and value, of any key.
  MDBX_TO_PAIR_LESSER_THAN,
  MDBX_TO_PAIR_LESSER_OR_EQUAL,
  MDBX_TO_PAIR_EQUAL,
  MDBX_TO_PAIR_GREATER_OR_EQUAL,
  MDBX_TO_PAIR_GREATER_THAN,
  // This key, and what MDBX_GET_MULTIPLE gives.
  MDBX_SEEK_AND_GET_MULTIPLE
} MDBX_cursor_op;

// Makes a cursor of no table, with a pointer of the caller; null: there is no memory. [mapped]
LIBMDBX_API MDBX_cursor* mdbx_cursor_create(void* context);

// A pointer of the caller. [mapped]
LIBMDBX_API int mdbx_cursor_set_userctx(MDBX_cursor* cursor, void* ctx);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API void* mdbx_cursor_get_userctx(const MDBX_cursor* cursor);

// Puts a cursor at a table, with no position. [mapped]
LIBMDBX_API int mdbx_cursor_bind(MDBX_txn* txn, MDBX_cursor* cursor, MDBX_dbi dbi);

// Makes it one of no table again. [mapped]
LIBMDBX_API int mdbx_cursor_unbind(MDBX_cursor* cursor);

// Takes its position away. [mapped]
LIBMDBX_API int mdbx_cursor_reset(MDBX_cursor* cursor);

// Makes a cursor of a table. [mapped]
LIBMDBX_API int mdbx_cursor_open(MDBX_txn* txn, MDBX_dbi dbi, MDBX_cursor** cursor);

// Puts it at the same table as another transaction sees it. [mapped]
LIBMDBX_API int mdbx_cursor_renew(MDBX_txn* txn, MDBX_cursor* cursor);

// Deletes a cursor; it needs that also where its transaction is over. The second one says whether
// the handle was good. [mapped]
LIBMDBX_API void mdbx_cursor_close(MDBX_cursor* cursor);
LIBMDBX_API int mdbx_cursor_close2(MDBX_cursor* cursor);

// Deletes all cursors of a transaction, or with `unbind` makes them ones of no table; `count` gets
// how many, and may be null. [mapped]
LIBMDBX_API int mdbx_txn_release_all_cursors_ex(const MDBX_txn* txn, bool unbind, size_t* count);

// The same. [mapped]
LIBMDBX_INLINE_API(int, mdbx_txn_release_all_cursors, (const MDBX_txn* txn, bool unbind)) {
  return mdbx_txn_release_all_cursors_ex(txn, unbind, NULL);
}

// Its transaction and its table; null and the largest number where it has none. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API MDBX_txn* mdbx_cursor_txn(const MDBX_cursor* cursor);
LIBMDBX_API MDBX_dbi mdbx_cursor_dbi(const MDBX_cursor* cursor);

// Gives a cursor the table and the position of another. [mapped]
LIBMDBX_API int mdbx_cursor_copy(const MDBX_cursor* src, MDBX_cursor* dest);

// Compares the positions of two cursors of one table: below, equal to or above 0. [mapped]
LIBMDBX_API int mdbx_cursor_compare(const MDBX_cursor* left, const MDBX_cursor* right,
                                    bool ignore_multival);

// Moves, and gives the pair where it is then; either may be null where the move does not need
// it. [mapped]
LIBMDBX_API int mdbx_cursor_get(MDBX_cursor* cursor, MDBX_val* key, MDBX_val* data,
                                MDBX_cursor_op op);

// Takes keys and values in any order from now on, to put what another order sorted. [mapped]
LIBMDBX_API int mdbx_cursor_ignord(MDBX_cursor* cursor);

// Called for each pair of a scan: MDBX_RESULT_FALSE goes on, MDBX_RESULT_TRUE has found it, and
// errors end it. [mapped]
typedef int HAWTHORN_MDBX_CALLBACK(MDBX_predicate_func)(void* context, MDBX_val* key,
                                                        MDBX_val* value,
                                                        void* arg) MDBX_CXX17_NOEXCEPT;

// Moves by `start_op`, then by `turn_op` until the callback has found a pair: MDBX_RESULT_TRUE, or
// MDBX_RESULT_FALSE at the end. [mapped]
LIBMDBX_API int mdbx_cursor_scan(MDBX_cursor* cursor,
                                 HAWTHORN_MDBX_POINTER(MDBX_predicate_func) predicate,
                                 void* context, MDBX_cursor_op start_op, MDBX_cursor_op turn_op,
                                 void* arg);

// The same, with a first move that takes a key or a pair. [mapped]
LIBMDBX_API int mdbx_cursor_scan_from(MDBX_cursor* cursor,
                                      HAWTHORN_MDBX_POINTER(MDBX_predicate_func) predicate,
                                      void* context, MDBX_cursor_op from_op, MDBX_val* from_key,
                                      MDBX_val* from_value, MDBX_cursor_op turn_op, void* arg);

// Moves, and gives keys and values in turn, up to `limit` of both; of tables whose keys have one
// value. MDBX_RESULT_TRUE: there were more than had room. [mapped]
LIBMDBX_API int mdbx_cursor_get_batch(MDBX_cursor* cursor, size_t* count, MDBX_val* pairs,
                                      size_t limit, MDBX_cursor_op op);

// Puts a pair, and stands at it. [mapped]
LIBMDBX_API int mdbx_cursor_put(MDBX_cursor* cursor, const MDBX_val* key, MDBX_val* data,
                                MDBX_put_flags_t flags);

// Deletes the pair where it is, or with MDBX_ALLDUPS all values of the key; MDBX_NEXT then gives
// the one behind. [mapped]
LIBMDBX_API int mdbx_cursor_del(MDBX_cursor* cursor, MDBX_put_flags_t flags);

#if HAWTHORN_MDBX_API >= 14
// Deletes what is between two cursors of one table; null is the first or the last pair. The begin
// goes too, the end with `end_including`. [mapped]
LIBMDBX_API int mdbx_cursor_delete_range(MDBX_cursor* begin, MDBX_cursor* end, bool end_including,
                                         uint64_t* number_of_affected);

// What mdbx_cursor_bunch_delete deletes: of the key, or of the table, before or behind the cursor,
// without or with the pair where it is. [mapped]
typedef enum MDBX_bunch_action {
  MDBX_DELETE_CURRENT_VALUE,
  MDBX_DELETE_CURRENT_MULTIVAL_BEFORE_EXCLUDING,
  MDBX_DELETE_CURRENT_MULTIVAL_BEFORE_INCLUDING,
  MDBX_DELETE_CURRENT_MULTIVAL_AFTER_INCLUDING,
  MDBX_DELETE_CURRENT_MULTIVAL_AFTER_EXCLUDING,
  MDBX_DELETE_CURRENT_MULTIVAL_ALL,
  MDBX_DELETE_BEFORE_EXCLUDING,
  MDBX_DELETE_BEFORE_INCLUDING,
  MDBX_DELETE_AFTER_INCLUDING,
  MDBX_DELETE_AFTER_EXCLUDING,
  MDBX_DELETE_WHOLE,
} MDBX_bunch_action_t;

// Deletes it. [mapped]
LIBMDBX_API int mdbx_cursor_bunch_delete(MDBX_cursor* cursor, MDBX_bunch_action_t action,
                                         uint64_t* number_of_affected);

// How many pairs there are from one cursor to another; null, for one of both, is the begin or the
// end. `deepness` is how far down libmdbx looks; here, all of them are counted. [mapped]
LIBMDBX_API int mdbx_cursor_distance(const MDBX_cursor* first, const MDBX_cursor* last,
                                     intptr_t* distance, unsigned deepness);

// Moves by so many pairs, backwards where `amount` is below 0. [mapped]
LIBMDBX_API int mdbx_cursor_scroll(MDBX_cursor* cursor, intptr_t amount, unsigned deepness);

// Puts cursors at the ends of equal parts of what lies between two others. MDBX_RESULT_TRUE: there
// were too few pairs, and some have no position. [mapped]
LIBMDBX_API int mdbx_cursor_distribute(const MDBX_cursor* first, const MDBX_cursor* last,
                                       MDBX_cursor** array, intptr_t count, unsigned deepness);
#endif

// How many values the key has, and with the second the statistics of their tree. [mapped]
LIBMDBX_API int mdbx_cursor_count(const MDBX_cursor* cursor, size_t* count);
LIBMDBX_API int mdbx_cursor_count_ex(const MDBX_cursor* cursor, size_t* count, MDBX_stat* stat,
                                     size_t bytes);

// Whether it has no pair to stand at, or stands at the first or the last pair, or the first or the
// last value of its key: MDBX_RESULT_TRUE, MDBX_RESULT_FALSE, or an error. [mapped]
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_cursor_eof(const MDBX_cursor* cursor);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_cursor_on_first(const MDBX_cursor* cursor);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_cursor_on_first_dup(const MDBX_cursor* cursor);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_cursor_on_last(const MDBX_cursor* cursor);
MDBX_NOTHROW_PURE_FUNCTION LIBMDBX_API int mdbx_cursor_on_last_dup(const MDBX_cursor* cursor);

// About how many pairs there are from one cursor to another. [mapped]
LIBMDBX_API int mdbx_estimate_distance(const MDBX_cursor* first, const MDBX_cursor* last,
                                       ptrdiff_t* distance_items);

// About how far a move would go; the cursor stays where it is. [mapped]
LIBMDBX_API int mdbx_estimate_move(const MDBX_cursor* cursor, MDBX_val* key, MDBX_val* data,
                                   MDBX_cursor_op move_op, ptrdiff_t* distance_items);

#ifdef __cplusplus
}
#endif
