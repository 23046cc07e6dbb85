#pragma once
// Reads that do not wait for the disk: many gets on their way at once, from one thread.
//
// Two ways to get what they came to: a callback, which hawthorn_read_queue_poll or _wait runs, or,
// where none was given, hawthorn_read_queue_take behind these, by the tag of the read.
// Threads: one at a time. Lifetime: hawthorn_db_close returns HAWTHORN_BUSY while a queue is there.

#include "db.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hawthorn_read_queue hawthorn_read_queue;

// `depth`: reads of the disk under way at once, 1 to 4096; 0: the default, 16.
HAWTHORN_C_API hawthorn_code hawthorn_read_queue_open(hawthorn_db* db, uint32_t depth,
                                                      hawthorn_read_queue** out,
                                                      hawthorn_error** error);
// With reads pending it waits for the disk; their callbacks are not called. Not from a callback.
HAWTHORN_C_API void hawthorn_read_queue_free(hawthorn_read_queue* queue);

// Called once for each get, inside of poll or wait. `error` and `value` are the library's, and
// valid during the call: hawthorn_value_move keeps the value's bytes. It may begin other gets; it
// must not free the queue.
typedef void (*hawthorn_read_callback)(void* context, uint64_t tag, hawthorn_code code,
                                       const hawthorn_error* error, hawthorn_value* value);
// Begins a get; the key is copied. `snapshot` may be NULL, and is kept until the completion. Errors
// of the get come with its completion; of the call: HAWTHORN_INVALID_ARGUMENT, and then there is
// none.
HAWTHORN_C_API hawthorn_code hawthorn_read_queue_get(hawthorn_read_queue* queue,
                                                     const hawthorn_tree* tree, const void* key,
                                                     size_t key_size,
                                                     const hawthorn_snapshot* snapshot,
                                                     uint64_t tag, hawthorn_read_callback callback,
                                                     void* context, hawthorn_error** error);
// Completes what is done and sends off what can be; *completed (may be NULL) becomes how many were.
HAWTHORN_C_API hawthorn_code hawthorn_read_queue_poll(hawthorn_read_queue* queue, size_t* completed,
                                                      hawthorn_error** error);
// The same, and waits until there was one; 0 when nothing was pending.
HAWTHORN_C_API hawthorn_code hawthorn_read_queue_wait(hawthorn_read_queue* queue, size_t* completed,
                                                      hawthorn_error** error);
// Gets that are not completed; 0 for NULL.
HAWTHORN_C_API size_t hawthorn_read_queue_pending(const hawthorn_read_queue* queue);
// The oldest completion of a get without a callback: *found becomes 1, *tag its tag, `value` its
// bytes; what the call returns is what the get came to (HAWTHORN_NOT_FOUND, say). *found becomes 0,
// with HAWTHORN_OK, where there is none.
HAWTHORN_C_API hawthorn_code hawthorn_read_queue_take(hawthorn_read_queue* queue, int* found,
                                                      uint64_t* tag, hawthorn_value* value,
                                                      hawthorn_error** error);
// A descriptor that is readable when poll would complete something, and now and then when it would
// not. For poll and epoll only: not to be read, written or closed. -1 where there is none.
// Lifetime: the queue's.
HAWTHORN_C_API int hawthorn_read_queue_event_fd(hawthorn_read_queue* queue);

#ifdef __cplusplus
}
#endif
