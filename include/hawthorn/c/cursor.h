#pragma once
// Ordered walks over a tree, in both directions, entry by entry or many at once into columns.
//
// Each move sets *found to whether the cursor stands on an entry then; the ends of the range are no
// error. Key and value are valid until the next call for this cursor. A cursor of a transaction
// sees that one's writes, also those made after it was opened, and nothing once it has ended
// (HAWTHORN_INVALID_ARGUMENT). An open cursor never blocks writers, but keeps old versions.
// Errors, where none are named: HAWTHORN_CORRUPTION, which names the key range, HAWTHORN_IO_ERROR,
// HAWTHORN_TOO_OLD (of followers); HAWTHORN_NOT_SUPPORTED for a value over 64 MB, which no walk
// hands out unless it is of keys only; the message names its key. An error stays, and the cursor
// stands nowhere, until first, last or a seek: hawthorn_db_read_part reads such a value.

#include "db.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hawthorn_cursor hawthorn_cursor;

typedef struct hawthorn_cursor_options {
  size_t struct_size;
  // Not 0: values are not read, and come empty, but where a key may have several: there they are a
  // part of the key.
  int keys_only;
  const void* lower;  // the first key that it may show; NULL: from the first one on
  size_t lower_size;
  const void* upper;  // the first key that it may not show; NULL: to the last one
  size_t upper_size;
  const hawthorn_snapshot* snapshot;  // NULL: one taken now; in transactions always NULL
} hawthorn_cursor_options;
#define HAWTHORN_CURSOR_OPTIONS_INIT {sizeof(hawthorn_cursor_options), 0, NULL, 0, NULL, 0, NULL}

// Opens a cursor, which stands nowhere yet. `options` may be NULL. Errors:
// HAWTHORN_INVALID_ARGUMENT also for bounds that are no keys in the tree's order.
HAWTHORN_C_API hawthorn_code hawthorn_db_cursor(hawthorn_db* db, const hawthorn_tree* tree,
                                                const hawthorn_cursor_options* options,
                                                hawthorn_cursor** out, hawthorn_error** error);
HAWTHORN_C_API void hawthorn_cursor_free(hawthorn_cursor* cursor);

HAWTHORN_C_API hawthorn_code hawthorn_cursor_first(hawthorn_cursor* cursor, int* found,
                                                   hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_cursor_last(hawthorn_cursor* cursor, int* found,
                                                  hawthorn_error** error);
// To the first entry that is not before the key.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_seek(hawthorn_cursor* cursor, const void* key,
                                                  size_t key_size, int* found,
                                                  hawthorn_error** error);
// To the last entry that is not behind the key.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_seek_for_prev(hawthorn_cursor* cursor, const void* key,
                                                           size_t key_size, int* found,
                                                           hawthorn_error** error);
// Of a cursor that stands nowhere, both stay there.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_next(hawthorn_cursor* cursor, int* found,
                                                  hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_cursor_prev(hawthorn_cursor* cursor, int* found,
                                                  hawthorn_error** error);
// As so many calls of next, or of prev for a negative number, in much less time.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_skip(hawthorn_cursor* cursor, int64_t count,
                                                  int* found, hawthorn_error** error);
// To an entry of the range, each about as likely as the others where `random` is.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_seek_random(hawthorn_cursor* cursor, uint64_t random,
                                                         int* found, hawthorn_error** error);

// Where a key may have several values: to the first value of the next key, to the last of the one
// before, and within the key (then *found becomes 0, and the cursor stays, where there is none).
HAWTHORN_C_API hawthorn_code hawthorn_cursor_next_key(hawthorn_cursor* cursor, int* found,
                                                      hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_cursor_prev_key(hawthorn_cursor* cursor, int* found,
                                                      hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_cursor_next_value(hawthorn_cursor* cursor, int* found,
                                                        hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_cursor_prev_value(hawthorn_cursor* cursor, int* found,
                                                        hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_cursor_first_value(hawthorn_cursor* cursor, int* found,
                                                         hawthorn_error** error);
HAWTHORN_C_API hawthorn_code hawthorn_cursor_last_value(hawthorn_cursor* cursor, int* found,
                                                        hawthorn_error** error);
// To the first value of this key that is not before `value`. Errors: HAWTHORN_NOT_SUPPORTED in
// trees of one value to a key.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_seek_value(hawthorn_cursor* cursor, const void* key,
                                                        size_t key_size, const void* value,
                                                        size_t value_size, int* found,
                                                        hawthorn_error** error);
// How many values the key has: 1 in trees of one value to a key. Errors: HAWTHORN_INVALID_ARGUMENT
// where it stands on no entry; those of the move that left it so, and of a count.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_count_values(hawthorn_cursor* cursor, uint64_t* out,
                                                          hawthorn_error** error);
// Whether the entry is a subtree. Errors: HAWTHORN_INVALID_ARGUMENT where it stands on no entry.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_is_subtree(const hawthorn_cursor* cursor, int* out,
                                                        hawthorn_error** error);
// When the entry ends, in milliseconds since 1970; 0: never, and for NULL.
HAWTHORN_C_API uint64_t hawthorn_cursor_expires_at(const hawthorn_cursor* cursor);

// Whether the cursor stands on an entry; 0 for NULL.
HAWTHORN_C_API int hawthorn_cursor_valid(const hawthorn_cursor* cursor);
// The entry on which it stands; NULL where it stands on none. *size (may be NULL) becomes the size.
HAWTHORN_C_API const void* hawthorn_cursor_key(const hawthorn_cursor* cursor, size_t* size);
HAWTHORN_C_API const void* hawthorn_cursor_value(const hawthorn_cursor* cursor, size_t* size);
// What the last move came to, again.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_status(const hawthorn_cursor* cursor,
                                                    hawthorn_error** error);

// Hands out entries in ascending order, from the one on which the cursor stands, or from behind the
// last batch, as many as fit or fewer; *count becomes how many: 0 at the end, and where the cursor
// was not moved to an entry before. In a fraction of the time of next, and without copies.
// Afterwards the cursor stands nowhere: what follows is another batch, or a seek. Lifetime: until
// the next call for this cursor.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_next_batch(hawthorn_cursor* cursor,
                                                        hawthorn_entry* entries, size_t capacity,
                                                        size_t* count, hawthorn_error** error);
// The same into columns, as many as fit: columns->rows becomes how many, 0 at the end. The next
// call goes on behind them. Errors: also HAWTHORN_BUFFER_TOO_SMALL where not one entry fits:
// columns->key_bytes_needed and value_bytes_needed are what it takes, and the next call begins
// there. Who wants no values opens the cursor with keys_only: then none are read.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_next_columns(hawthorn_cursor* cursor,
                                                          hawthorn_columns* columns,
                                                          hawthorn_error** error);
// The same in descending order, as fast as so many calls of prev. Afterwards the cursor stands on
// the entry behind the last one that was filled, which is the first of the next call, or nowhere at
// the end.
HAWTHORN_C_API hawthorn_code hawthorn_cursor_prev_columns(hawthorn_cursor* cursor,
                                                          hawthorn_columns* columns,
                                                          hawthorn_error** error);

#ifdef __cplusplus
}
#endif
