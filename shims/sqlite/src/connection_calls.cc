// What the dispatcher asks of connections (storage.h). No exception leaves these functions.

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "shims/sqlite/src/connection.h"
#include "shims/sqlite/src/cursor.h"
#include "shims/sqlite/src/place.h"

using hawthorn::Durability;
using hawthorn::Result;
using hawthorn::Tree;
using hawthorn::sqlite::Numbers;
using hawthorn::sqlite::to_code;

int hw_is_ours(const char* path, int new_ones) try {
  std::string directory;
  const hawthorn::sqlite::Found found = hawthorn::sqlite::look_at(path, &directory);
  // What is not known is refused where it may be one of ours, and by SQLite's own else.
  if (found == hawthorn::sqlite::Found::kOther) return 0;
  return found == hawthorn::sqlite::Found::kOurs || new_ones != 0;
} catch (...) {
  return -1;
}

int hw_open(const char* path, int create, int read_only, long long memory_bytes,
            HwConnection** out) try {
  auto made = std::make_unique<HwConnection>();
  const int code = hawthorn::sqlite::Database::open(
      path, create != 0, read_only != 0, static_cast<uint64_t>(std::max(memory_bytes, 0LL)),
      &made->database);
  if (code != SQLITE_OK) return code;
  // A file that may not be written to is for reading, as SQLite has it.
  made->read_only = read_only != 0 || made->database->read_only() || access(path, W_OK) != 0;
  *out = made.release();
  return SQLITE_OK;
} catch (...) {
  return hawthorn::sqlite::exception_code();
}

int hw_open_beside(const HwConnection* other, HwConnection** out) try {
  auto made = std::make_unique<HwConnection>();
  made->database = hawthorn::sqlite::Database::share(other->database);
  made->read_only = other->read_only;
  *out = made.release();
  return SQLITE_OK;
} catch (...) {
  return hawthorn::sqlite::exception_code();
}

void hw_close(HwConnection* connection) try {
  // All that it has is of the parent's, whose threads may have been in the middle of it.
  if (connection->database->inherited()) return;
  static_cast<void>(connection->roll_back(false));
  connection->end_read();
  while (connection->cursors != nullptr) connection->cursors->detach();
  connection->leave_all();
  hawthorn::sqlite::Database* const database = connection->database;
  static_cast<void>(database->change_cache(connection->cache_bytes, 0));
  delete connection;
  hawthorn::sqlite::Database::release(database);
} catch (...) {
  return;
}

int hw_read_only(const HwConnection* connection) { return connection->read_only; }

int hw_set_cache(HwConnection* connection, long long bytes) try {
  const auto wanted = static_cast<uint64_t>(std::max(bytes, 0LL));
  const uint64_t before = std::exchange(connection->cache_bytes, wanted);
  return to_code(connection->database->change_cache(before, wanted));
} catch (...) {
  return connection->fail_by_exception();
}

int hw_begin_read(HwConnection* connection) try { return connection->begin_read(); } catch (...) {
  return connection->fail_by_exception();
}

int hw_begin_concurrent(HwConnection* connection, long long wait_ms) try {
  return connection->begin_concurrent(wait_ms);
} catch (...) {
  return connection->fail_by_exception();
}

int hw_is_concurrent(const HwConnection* connection) { return connection->concurrent; }
int hw_failed(const HwConnection* connection) { return connection->failed; }
void hw_end_concurrent(HwConnection* connection) try { connection->end_concurrent(); } catch (...) {
  return;
}

int hw_begin_write(HwConnection* connection, long long wait_ms) try {
  return connection->begin_write(wait_ms);
} catch (...) {
  return connection->fail_by_exception();
}

int hw_is_new(HwConnection* connection, int* is_new) try {
  const bool reads_now = connection->mode == HwConnection::Mode::kNone;
  if (reads_now) {
    if (const int code = connection->begin_read(); code != SQLITE_OK) return code;
  }
  const Numbers* now = nullptr;
  const int code = connection->numbers(&now);
  if (code == SQLITE_OK) *is_new = *now == Numbers();
  if (reads_now) connection->end_read();
  return code;
} catch (...) {
  return connection->fail_by_exception();
}

int hw_settings(HwConnection* connection, HwSettings* settings) try {
  const Numbers* now = nullptr;
  if (const int code = connection->numbers(&now); code != SQLITE_OK) return code;
  const std::span<const uint32_t> meta = now->meta;
  *settings = {.schema_version = meta[HW_SCHEMA_VERSION],
               .auto_vacuum = meta[HW_LARGEST_ROOT],
               .incremental_vacuum = meta[HW_INCR_VACUUM],
               .page_bytes = meta[HW_PAGE_BYTES],
               .has_tables = now->next_root != hawthorn::sqlite::kSchemaRoot + 1,
               .is_wal = now->wal != 0};
  return SQLITE_OK;
} catch (...) {
  return connection->fail_by_exception();
}

int hw_is_wal(HwConnection* connection) try {
  const Numbers* now = nullptr;
  return connection->numbers(&now) == SQLITE_OK && now->wal != 0;
} catch (...) {
  return 0;
}

int hw_commit(HwConnection* connection, int synchronous, int keep_reading, long long wait_ms) try {
  // OFF is 1. NORMAL, 2, may lose the last commits with a power failure where the journal mode is
  // WAL, and in the other ones none but for rare failures.
  Durability durability = Durability::kFull;
  if (synchronous == 1) durability = Durability::kNone;
  if (synchronous == 2 && hw_is_wal(connection) != 0) durability = Durability::kAsync;
  return connection->commit(durability, keep_reading != 0, wait_ms);
} catch (...) {
  return connection->fail_by_exception();
}

int hw_roll_back(HwConnection* connection, int keep_reading) try {
  return connection->roll_back(keep_reading != 0);
} catch (...) {
  return connection->fail_by_exception();
}

void hw_end_read(HwConnection* connection) try { connection->end_read(); } catch (...) {
  return;
}

int hw_open_savepoints(HwConnection* connection, int count) try {
  return connection->open_savepoints(static_cast<size_t>(std::max(count, 0)));
} catch (...) {
  return connection->fail_by_exception();
}

int hw_release_savepoint(HwConnection* connection, int number) try {
  return connection->release_savepoint(number);
} catch (...) {
  return connection->fail_by_exception();
}

int hw_roll_back_to(HwConnection* connection, int number) try {
  return connection->roll_back_to(number);
} catch (...) {
  return connection->fail_by_exception();
}

int hw_meta(HwConnection* connection, int index, unsigned* value) try {
  const Numbers* now = nullptr;
  const int code = connection->numbers(&now);
  if (code == SQLITE_OK) *value = now->meta[static_cast<size_t>(index)];
  return code;
} catch (...) {
  return connection->fail_by_exception();
}

unsigned hw_data_version(HwConnection* connection) { return connection->data_version(); }

unsigned hw_seen_version(const HwConnection* connection) { return connection->seen_version(); }

int hw_has_written(const HwConnection* connection) {
  return connection->mode == HwConnection::Mode::kWrite && connection->dirty;
}

int hw_count_tree(HwConnection* connection, unsigned root, long long* entries) try {
  Tree found;
  if (const int code = connection->tree(root, &found); code != SQLITE_OK) return code;
  const Result<uint64_t> counted = connection->count(found);
  if (!counted.ok()) return to_code(counted.status());
  *entries = static_cast<long long>(*counted);
  return SQLITE_OK;
} catch (...) {
  return connection->fail_by_exception();
}

int hw_clear_all(HwConnection* connection) try { return connection->clear_all(); } catch (...) {
  return connection->fail_by_exception();
}

int hw_compact(HwConnection* connection) try {
  return to_code(connection->database->db().compact());
} catch (...) {
  return connection->fail_by_exception();
}

int hw_sync(HwConnection* connection) try {
  connection->database->clear_log_bytes();
  return to_code(connection->database->db().sync());
} catch (...) {
  return connection->fail_by_exception();
}

long long hw_log_bytes(const HwConnection* connection) {
  return static_cast<long long>(connection->database->log_bytes());
}

int hw_save_all(HwConnection* connection) try {
  return connection->save_all(0, nullptr);
} catch (...) {
  return connection->fail_by_exception();
}

void hw_trip_all(HwConnection* connection, int error, int only_writers) try {
  connection->each_cursor([&](HwCursor& cursor) {
    if (only_writers != 0 && !cursor.writes) {
      cursor.save();
    } else {
      cursor.trip(error);
    }
  });
} catch (...) {
  return;
}
