// What the dispatcher asks of cursors (storage.h). No exception leaves these functions.

#include <sqlite3.h>

#include <memory>
#include <span>
#include <string>

#include "shims/sqlite/src/cursor.h"

using hawthorn::sqlite::Field;
using hawthorn::sqlite::FieldType;

int hw_cursor_open(HwConnection* connection, unsigned root, int columns, const HwColumn* orders,
                   const HwCollator* collator, unsigned char* state, int* skip_next,
                   HwCursor** out) try {
  auto made = std::make_unique<HwCursor>(connection, state, skip_next);
  if (const int code = connection->tree(root, &made->tree); code != SQLITE_OK) return code;
  made->root = root;
  made->is_table = columns < 0;
  for (int i = 0; i < columns && collator == nullptr; ++i) {
    made->orders.add({.collation = static_cast<hawthorn::sqlite::Collation>(orders[i].collation),
                      .descending = orders[i].descending != 0});
  }
  if (!made->is_table) {
    const int code = collator != nullptr ? made->open_collated(*collator) : made->refuse_collated();
    if (code != SQLITE_OK) return code;
  }
  made->attach();
  *out = made.release();
  return SQLITE_OK;
} catch (...) {
  return connection->fail_by_exception();
}

void hw_cursor_close(HwCursor* cursor) try {
  cursor->detach();
  delete cursor;
} catch (...) {
  return;
}

void hw_cursor_clear(HwCursor* cursor) { cursor->clear(); }
void hw_cursor_writes(HwCursor* cursor) { cursor->writes = true; }
void hw_cursor_is_blob(HwCursor* cursor) { cursor->is_blob = true; }
void hw_cursor_pin(HwCursor* cursor, int pinned) { cursor->is_pinned = pinned != 0; }

int hw_first(HwCursor* cursor, int* found) try {
  bool there = false;
  const int code = cursor->first(&there);
  *found = there;
  return code;
} catch (...) {
  return cursor->fail_by_exception();
}

int hw_last(HwCursor* cursor, int* found) try {
  bool there = false;
  const int code = cursor->last(&there);
  *found = there;
  return code;
} catch (...) {
  return cursor->fail_by_exception();
}

int hw_is_empty(HwCursor* cursor, int* empty) try {
  *empty = 0;
  if (cursor->state == HW_VALID) return SQLITE_OK;
  if (cursor->state == HW_FAULT) return cursor->skip_next;
  bool there = false;
  const int code = cursor->first(&there);
  cursor->clear();
  *empty = !there;
  return code;
} catch (...) {
  return cursor->fail_by_exception();
}

int hw_next(HwCursor* cursor) try { return cursor->next(); } catch (...) {
  return cursor->fail_by_exception();
}
int hw_previous(HwCursor* cursor) try { return cursor->previous(); } catch (...) {
  return cursor->fail_by_exception();
}
int hw_at_end(HwCursor* cursor) try { return cursor->at_end(); } catch (...) {
  static_cast<void>(cursor->fail_by_exception());
  return 1;
}

int hw_seek_row(HwCursor* cursor, long long row, int* result) try {
  return cursor->seek_row(row, result);
} catch (...) {
  return cursor->fail_by_exception();
}

namespace {

void encode_fields(const HwCursor& cursor, const HwField* fields, int count, std::string* key) {
  key->clear();
  const std::span<const hawthorn::sqlite::ColumnOrder> orders = cursor.orders.all();
  for (int i = 0; i < count; ++i) {
    const HwField& from = fields[i];
    Field field;
    field.type = static_cast<FieldType>(from.type);
    if (field.type == FieldType::kInteger) field.integer = from.integer;
    if (field.type == FieldType::kReal) field.real = from.real;
    if (field.type >= FieldType::kText && from.size != 0) {
      field.bytes = {from.bytes, static_cast<size_t>(from.size)};
    }
    hawthorn::sqlite::append_field(field, orders[static_cast<size_t>(i)], key);
  }
}

}  // namespace

int hw_seek_record(HwCursor* cursor, const HwField* fields, int count, int equals, int* met,
                   int* result) try {
  std::string& prefix = cursor->connection->sought;
  encode_fields(*cursor, fields, count, &prefix);
  return cursor->seek_record(prefix, static_cast<size_t>(count) == cursor->orders.all().size(),
                             equals, met, result);
} catch (...) {
  return cursor->fail_by_exception();
}

int hw_restore(HwCursor* cursor) try { return cursor->restore(); } catch (...) {
  return cursor->fail_by_exception();
}
long long hw_row(HwCursor* cursor) try { return cursor->row(); } catch (...) {
  static_cast<void>(cursor->fail_by_exception());
  return 0;
}
long long hw_place(HwCursor* cursor) { return cursor->place(); }
const void* hw_payload(HwCursor* cursor, unsigned* size) try {
  return cursor->payload(size);
} catch (...) {
  *size = 0;
  return cursor->payload_by_exception();
}

int hw_payload_code(const HwCursor* cursor) { return cursor->payload_code(); }

int hw_insert_row(HwCursor* cursor, long long row, const void* data, long long size,
                  long long zeros) try {
  return cursor->insert_row(row, {static_cast<const char*>(data), static_cast<size_t>(size)},
                            static_cast<size_t>(zeros));
} catch (...) {
  return cursor->fail_by_exception();
}

int hw_insert_record(HwCursor* cursor, const HwField* fields, int count, const void* record,
                     long long size) try {
  encode_fields(*cursor, fields, count, &cursor->key);
  return cursor->insert_record({static_cast<const char*>(record), static_cast<size_t>(size)});
} catch (...) {
  return cursor->fail_by_exception();
}

int hw_delete(HwCursor* cursor) try { return cursor->remove(); } catch (...) {
  return cursor->fail_by_exception();
}

int hw_overwrite(HwCursor* cursor, unsigned offset, const void* bytes, unsigned size) try {
  return cursor->overwrite(offset, {static_cast<const char*>(bytes), size});
} catch (...) {
  return cursor->fail_by_exception();
}

int hw_count(HwCursor* cursor, long long* entries) try {
  int64_t counted = 0;
  const int code = cursor->count(&counted);
  if (code == SQLITE_OK) *entries = counted;
  return code;
} catch (...) {
  return cursor->fail_by_exception();
}

long long hw_estimate(HwCursor* cursor) try {
  if (cursor->state != HW_VALID) return 0;
  if (int64_t counted = 0; cursor->is_collated()) {
    return cursor->count(&counted) == SQLITE_OK ? counted : -1;
  }
  const auto estimated =
      cursor->connection->database->db().estimate(cursor->tree, {}, std::nullopt);
  return estimated.ok() ? static_cast<long long>(estimated->entries) : -1;
} catch (...) {
  return -1;
}
