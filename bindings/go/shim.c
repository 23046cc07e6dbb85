// Moves of cursors, all of them in one call.
#include "shim.h"

hw_move_result hw_move(hawthorn_cursor* cursor, int kind, const char* key, size_t key_size,
                       const char* value, size_t value_size, int64_t count) {
  hw_move_result r = {0, 0, NULL, NULL, 0, NULL, 0};
  int* found = &r.found;
  hawthorn_error** e = &r.error;
  switch (kind) {
    case HW_FIRST:
      r.code = hawthorn_cursor_first(cursor, found, e);
      break;
    case HW_LAST:
      r.code = hawthorn_cursor_last(cursor, found, e);
      break;
    case HW_NEXT:
      r.code = hawthorn_cursor_next(cursor, found, e);
      break;
    case HW_PREV:
      r.code = hawthorn_cursor_prev(cursor, found, e);
      break;
    case HW_SEEK:
      r.code = hawthorn_cursor_seek(cursor, key, key_size, found, e);
      break;
    case HW_SEEK_FOR_PREV:
      r.code = hawthorn_cursor_seek_for_prev(cursor, key, key_size, found, e);
      break;
    case HW_SKIP:
      r.code = hawthorn_cursor_skip(cursor, count, found, e);
      break;
    case HW_SEEK_RANDOM:
      r.code = hawthorn_cursor_seek_random(cursor, (uint64_t)count, found, e);
      break;
    case HW_NEXT_KEY:
      r.code = hawthorn_cursor_next_key(cursor, found, e);
      break;
    case HW_PREV_KEY:
      r.code = hawthorn_cursor_prev_key(cursor, found, e);
      break;
    case HW_NEXT_VALUE:
      r.code = hawthorn_cursor_next_value(cursor, found, e);
      break;
    case HW_PREV_VALUE:
      r.code = hawthorn_cursor_prev_value(cursor, found, e);
      break;
    case HW_FIRST_VALUE:
      r.code = hawthorn_cursor_first_value(cursor, found, e);
      break;
    case HW_LAST_VALUE:
      r.code = hawthorn_cursor_last_value(cursor, found, e);
      break;
    default:
      r.code = hawthorn_cursor_seek_value(cursor, key, key_size, value, value_size, found, e);
      break;
  }
  if (r.code == HAWTHORN_OK && hawthorn_cursor_valid(cursor)) {
    r.key = hawthorn_cursor_key(cursor, &r.key_size);
    r.value = hawthorn_cursor_value(cursor, &r.value_size);
  }
  return r;
}
