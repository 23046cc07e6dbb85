#pragma once
// What others read of a database: change feeds, replicas that are kept equal by them, and followers
// in other processes. feed.h, replica.h and follower.h say what each is.

#include "access.h"
#include "db.h"
#include "transaction.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Change feeds

// Makes a feed behind the present moment, durably. log_bytes_max: how much log may be kept for it;
// 0: no limit, HAWTHORN_FEED_LOG_DEFAULT: 4 GB. Errors: HAWTHORN_INVALID_ARGUMENT for a name that
// is taken, or not of 1 to 255 bytes; HAWTHORN_NO_SPACE; HAWTHORN_READ_ONLY; HAWTHORN_NOT_SUPPORTED
// beside trees that may hang in trees.
#define HAWTHORN_FEED_LOG_DEFAULT ((uint64_t)-1)
HAWTHORN_C_API hawthorn_code hawthorn_db_create_feed(hawthorn_db* db, const char* name,
                                                     size_t name_size, uint64_t log_bytes_max,
                                                     hawthorn_error** error);
// Errors: HAWTHORN_NOT_FOUND; HAWTHORN_BUSY for one that is open.
HAWTHORN_C_API hawthorn_code hawthorn_db_drop_feed(hawthorn_db* db, const char* name,
                                                   size_t name_size, hawthorn_error** error);
// Rows of name, position, created_us, log_bytes_max, log_bytes, lost, open.
HAWTHORN_C_API hawthorn_code hawthorn_db_list_feeds(hawthorn_db* db, hawthorn_records** out,
                                                    hawthorn_error** error);

typedef struct hawthorn_feed hawthorn_feed;
// Reads it from its position on. Errors: HAWTHORN_NOT_FOUND; HAWTHORN_BUSY; HAWTHORN_TOO_OLD where
// it is lost.
HAWTHORN_C_API hawthorn_code hawthorn_feed_open(hawthorn_db* db, const char* name, size_t name_size,
                                                hawthorn_feed** out, hawthorn_error** error);
// Reads behind any timestamp, for which nothing is kept. Errors: HAWTHORN_TOO_OLD.
HAWTHORN_C_API hawthorn_code hawthorn_feed_open_at(hawthorn_db* db, uint64_t position,
                                                   hawthorn_feed** out, hawthorn_error** error);
HAWTHORN_C_API void hawthorn_feed_free(hawthorn_feed* feed);
// What was acknowledged; 0 for NULL.
HAWTHORN_C_API uint64_t hawthorn_feed_position(const hawthorn_feed* feed);
// Of the database: 32 digits. Lifetime: the feed's. NULL for NULL.
HAWTHORN_C_API const char* hawthorn_feed_source_id(const hawthorn_feed* feed);

// Goes to the next commit: *found becomes 0 when none came within the time. What is asked of the
// commit below is of this one, until the next call. Errors: HAWTHORN_TOO_OLD;
// HAWTHORN_NOT_SUPPORTED for a bulk ingest, behind hawthorn_feed_open_at alone.
HAWTHORN_C_API hawthorn_code hawthorn_feed_next(hawthorn_feed* feed, uint64_t timeout_ms,
                                                int* found, hawthorn_error** error);
// The timestamp of the commit, and of the one that was delivered before; 0 where there is none.
HAWTHORN_C_API uint64_t hawthorn_feed_commit_timestamp(const hawthorn_feed* feed);
HAWTHORN_C_API uint64_t hawthorn_feed_commit_previous(const hawthorn_feed* feed);

typedef uint32_t hawthorn_change_type;
enum {
  HAWTHORN_CHANGE_PUT = 1,           // key, value, expires_at_ms
  HAWTHORN_CHANGE_DELETE = 2,        // key
  HAWTHORN_CHANGE_DELETE_VALUE = 3,  // key, value
  HAWTHORN_CHANGE_MERGE = 4,         // key, value: an operand
  HAWTHORN_CHANGE_DELETE_RANGE = 5,  // key, and high (NULL: to the end of the tree)
  HAWTHORN_CHANGE_CREATE_TREE = 6,
  HAWTHORN_CHANGE_DROP_TREE = 7,
  HAWTHORN_CHANGE_RENAME_TREE = 8,  // other_name: the new one
  HAWTHORN_CHANGE_CLONE_TREE = 9    // other_name: what it begins as a copy of
};
// A change of a commit. The caller sets struct_size; the library fills the rest as far as that
// goes. Lifetime of what it points to: until the next call for the feed.
typedef struct hawthorn_change {
  size_t struct_size;
  hawthorn_change_type type;
  uint32_t tree_id;
  int streamed;  // the value is to be read by hawthorn_feed_read_value
  const char* tree_name;
  size_t tree_name_size;
  const void* key;
  size_t key_size;
  const void* value;  // empty where it is streamed
  size_t value_size;
  const void* high;
  size_t high_size;
  const char* other_name;
  size_t other_name_size;
  uint64_t expires_at_ms;  // 0: never
  uint64_t value_bytes;    // also of a value that is streamed
} hawthorn_change;
#define HAWTHORN_CHANGE_INIT \
  {sizeof(hawthorn_change), 0, 0, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, 0, 0}
// The next change of the commit, in the order in which they were made; *found becomes 0 when there
// is none left. Errors: HAWTHORN_INVALID_ARGUMENT where there is no commit; HAWTHORN_TOO_OLD.
HAWTHORN_C_API hawthorn_code hawthorn_feed_next_change(hawthorn_feed* feed, hawthorn_change* change,
                                                       int* found, hawthorn_error** error);
// Its tree as it was then: one row of id, name, order, value_order, multi_value, expires, ttl_ms,
// subtrees, compression, merge_operator.
HAWTHORN_C_API hawthorn_code hawthorn_feed_change_tree(hawthorn_feed* feed, hawthorn_records** out,
                                                       hawthorn_error** error);
// Reads a part of the value of a change that is streamed; *size becomes what was read.
HAWTHORN_C_API hawthorn_code hawthorn_feed_read_value(hawthorn_feed* feed, uint64_t offset,
                                                      void* buffer, size_t capacity, size_t* size,
                                                      hawthorn_error** error);
// In place of hawthorn_feed_next_change: the next piece of the commit as bytes, for
// hawthorn_replica_apply_pieces elsewhere; *found becomes 0 behind the last. Lifetime: until the
// next call for the feed.
HAWTHORN_C_API hawthorn_code hawthorn_feed_encode(hawthorn_feed* feed, const void** data,
                                                  size_t* size, int* found, hawthorn_error** error);
// Commits up to this timestamp are not needed any more, durably. Errors: HAWTHORN_INVALID_ARGUMENT
// for one that was not delivered, and of feeds without a name; HAWTHORN_TOO_OLD.
HAWTHORN_C_API hawthorn_code hawthorn_feed_acknowledge(hawthorn_feed* feed, uint64_t timestamp,
                                                       hawthorn_error** error);

// ---- Replicas

typedef struct hawthorn_replica hawthorn_replica;
// Of a database that is one already, or holds no tree. Errors: HAWTHORN_INVALID_ARGUMENT;
// HAWTHORN_READ_ONLY.
HAWTHORN_C_API hawthorn_code hawthorn_replica_open(hawthorn_db* target, hawthorn_replica** out,
                                                   hawthorn_error** error);
HAWTHORN_C_API void hawthorn_replica_free(hawthorn_replica* replica);
// The first copy, after the feed was made.
HAWTHORN_C_API hawthorn_code hawthorn_replica_copy(hawthorn_replica* replica, hawthorn_db* source,
                                                   hawthorn_error** error);
// In its place, where the program has brought a copy here by other means.
HAWTHORN_C_API hawthorn_code hawthorn_replica_begin_at(hawthorn_replica* replica,
                                                       const char* source_id, size_t source_id_size,
                                                       uint64_t timestamp, hawthorn_error** error);
// It holds all commits of the source up to here; 0: no copy yet, and for NULL.
HAWTHORN_C_API uint64_t hawthorn_replica_position(const hawthorn_replica* replica);
// Empty: no copy yet. Lifetime: until the next call for it. NULL for NULL.
HAWTHORN_C_API const char* hawthorn_replica_source_id(const hawthorn_replica* replica);
// Applies the commit on which the feed stands, or passes over it where it is there already. Durable
// as asked. Errors: HAWTHORN_INVALID_ARGUMENT where there is none, for one of another source, or
// behind a gap; those of writes.
HAWTHORN_C_API hawthorn_code hawthorn_replica_apply(hawthorn_replica* replica, hawthorn_feed* feed,
                                                    hawthorn_durability durability,
                                                    hawthorn_error** error);
// Gives the next piece of a commit, in *data and *size, which stay valid until the next call: NULL,
// or an error, which the library frees.
typedef hawthorn_error* (*hawthorn_piece_source)(void* context, const void** data, size_t* size);
// The same from the pieces of hawthorn_feed_encode. Errors: also HAWTHORN_CORRUPTION.
HAWTHORN_C_API hawthorn_code hawthorn_replica_apply_pieces(hawthorn_replica* replica,
                                                           hawthorn_piece_source pieces,
                                                           void* context,
                                                           hawthorn_durability durability,
                                                           hawthorn_error** error);

// ---- Followers

typedef struct hawthorn_follower hawthorn_follower;
// Reads a database beside the process that writes it. Of the options (may be NULL) these count:
// memory budget, io_mode, merge operators, orders, encryption, log. Errors: HAWTHORN_NOT_FOUND;
// HAWTHORN_PERMISSION_DENIED; HAWTHORN_READ_ONLY; HAWTHORN_BUSY when 128 views are there;
// HAWTHORN_NOT_SUPPORTED; HAWTHORN_OUT_OF_MEMORY; those of hawthorn_db_open.
HAWTHORN_C_API hawthorn_code hawthorn_follower_open(const char* path,
                                                    const hawthorn_options* options,
                                                    hawthorn_follower** out,
                                                    hawthorn_error** error);
HAWTHORN_C_API void hawthorn_follower_free(hawthorn_follower* follower);
// When it returns, views show at least all that was committed before the call.
HAWTHORN_C_API hawthorn_code hawthorn_follower_refresh(hawthorn_follower* follower,
                                                       hawthorn_error** error);
// The same by a new view in any case.
HAWTHORN_C_API hawthorn_code hawthorn_follower_rebuild(hawthorn_follower* follower,
                                                       hawthorn_error** error);
// The newest view: a database that is read-only, for all functions that read; *out is to be freed
// by hawthorn_db_free, and not to be closed. A refresh may take it to a later commit, whoever holds
// it, until it is not the newest one any more; what was begun in it (snapshots, cursors,
// transactions but read-committed ones) stays at its moment as long as it is held.
HAWTHORN_C_API hawthorn_code hawthorn_follower_view(hawthorn_follower* follower, hawthorn_db** out,
                                                    hawthorn_error** error);
// A refresh, and the view then.
HAWTHORN_C_API hawthorn_code hawthorn_follower_latest(hawthorn_follower* follower,
                                                      hawthorn_db** out, hawthorn_error** error);

#ifdef __cplusplus
}
#endif
