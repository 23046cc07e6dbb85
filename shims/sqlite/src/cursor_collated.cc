// A cursor on an index by a program's own collation.

#include <sqlite3.h>

#include "shims/sqlite/src/cursor.h"

using hawthorn::sqlite::kCollatedHeaderKey;
using hawthorn::sqlite::Numbers;
using hawthorn::sqlite::PaddedRecord;
using hawthorn::sqlite::Sought;
using hawthorn::sqlite::to_code;

namespace {

// What the dispatcher seeks, or a record that it compares others with.
class DispatchedSought : public Sought {
 public:
  DispatchedSought(const HwCollator& collator, void* sought)
      : collator_(collator), sought_(sought) {}

  int compare(std::string_view record, int* order) override {
    return collator_.compare(collator_.context, sought_, record.data(),
                             static_cast<unsigned>(record.size()), order);
  }

 protected:
  const HwCollator& collator_;
  void* sought_;
};

class SoughtRecord : public DispatchedSought {
 public:
  SoughtRecord(const HwCollator& collator, std::string_view record)
      : DispatchedSought(collator, nullptr), record_(record) {}
  ~SoughtRecord() override {
    if (sought_ != nullptr) collator_.forget(collator_.context, sought_);
  }
  int unpack() {
    return collator_.unpack(collator_.context, record_.view().data(),
                            static_cast<unsigned>(record_.view().size()), &sought_);
  }

 private:
  const PaddedRecord record_;
};

// The collation was another function when the index was written: one of SQLite's own, of which the
// order is in keys, or none of them.
int wrong_form(uint32_t root, const char* is) {
  sqlite3_log(SQLITE_ERROR,
              "hawthorn: index %u is %s of SQLite's own collations, and here its definition is "
              "not so: a collation has another function than when it was written; REINDEX",
              root, is);
  return SQLITE_ERROR;
}

}  // namespace

int HwCursor::open_collated(const HwCollator& collator) {
  collated_ = std::make_unique<Collated>(connection, root, tree, collator);
  bool is_there = false;
  if (const int code = collated_->entries.exists(&is_there); code != SQLITE_OK || is_there) {
    return code;
  }
  bool is_empty = false;
  const int code = collated_->nodes.is_empty(&is_empty);
  return code != SQLITE_OK || is_empty ? code : wrong_form(root, "by nothing but");
}

int HwCursor::refuse_collated() {
  const Numbers* now = nullptr;
  if (const int code = connection->numbers(&now); code != SQLITE_OK) return code;
  if (now->collated == 0) return SQLITE_OK;
  if (const int code = connection->write_kept_nodes_of(root); code != SQLITE_OK) return code;
  hawthorn::Value header;
  const hawthorn::Status status = connection->get(tree, kCollatedHeaderKey, header);
  if (status.is_not_found()) return SQLITE_OK;
  return status.ok() ? wrong_form(root, "by another one than those") : to_code(status);
}

int HwCursor::stand_on_node(int code, bool* found) {
  *found = code == SQLITE_OK && collated_->entries.valid();
  if (*found) return stand(At::kNode);
  nowhere();
  return code;
}

// So that its place is kept when the tree changes.
void HwCursor::keep_record() {
  std::string_view record;
  if (const int code = collated_->entries.record(&record); code != SQLITE_OK) return trip(code);
  key = record;
}

int HwCursor::restore_collated(int* moved) {
  SoughtRecord sought(collated_->collator, key);
  if (const int code = sought.unpack(); code != SQLITE_OK) return code;
  int order = 0;
  bool found = false;
  int code = stand_on_node(collated_->entries.seek(sought, false, &order), &found);
  if (code != SQLITE_OK) return code;
  *moved = order == 0 ? 0 : 1;
  if (found) return SQLITE_OK;
  *moved = -1;
  return stand_on_node(collated_->entries.last(), &found);
}

int HwCursor::seek_sought(void* its_sought, int equals, int* met, int* result) {
  if (state == HW_FAULT) return skip_next;
  DispatchedSought sought(collated_->collator, its_sought);
  hawthorn::sqlite::CollatedCursor& entries = collated_->entries;
  int order = 0;
  bool found = false;
  int code = stand_on_node(entries.seek(sought, equals < 0, &order), &found);
  if (code != SQLITE_OK) return code;
  if (found && equals >= 0) {
    if (met != nullptr && order == 0) *met = 1;
    *result = order == 0 && equals == 0 ? 0 : 1;
    return SQLITE_OK;
  }
  *result = 1;
  if (found && met == nullptr) return SQLITE_OK;
  // The last one that is not greater: one that is equal, if there is any.
  *result = -1;
  code = stand_on_node(found ? entries.previous() : entries.last(), &found);
  if (code != SQLITE_OK || !found || met == nullptr || equals >= 0) return code;
  std::string_view record;
  code = entries.record(&record);
  if (code == SQLITE_OK) code = sought.compare(record, &order);
  if (code == SQLITE_OK && order == 0) *met = 1;
  return code;
}

int HwCursor::insert_sought(void* its_sought, std::string_view record) {
  if (const int code = connection->about_to_change(root, std::nullopt, this); code != SQLITE_OK) {
    return code;
  }
  stand_saved();
  key = record;
  bool is_there = false;
  int code = collated_->entries.exists(&is_there);
  if (code == SQLITE_OK && !is_there) code = connection->note_collated();
  if (code != SQLITE_OK) return code;
  DispatchedSought sought(collated_->collator, its_sought);
  return collated_->entries.insert(sought, record);
}

int HwCursor::remove_collated() {
  std::string_view record;
  if (const int code = collated_->entries.record(&record); code != SQLITE_OK) return code;
  std::string gone(record);
  if (const int code = connection->about_to_change(root, std::nullopt, this); code != SQLITE_OK) {
    return code;
  }
  stand_saved();
  key = std::move(gone);
  return collated_->entries.remove();
}

int hw_is_collated(const HwCursor* cursor) { return cursor->is_collated(); }

int hw_seek_sought(HwCursor* cursor, void* sought, int equals, int* met, int* result) try {
  return cursor->seek_sought(sought, equals, met, result);
} catch (...) {
  return cursor->fail_by_exception();
}

int hw_insert_sought(HwCursor* cursor, void* sought, const void* record, long long size) try {
  return cursor->insert_sought(sought,
                               {static_cast<const char*>(record), static_cast<size_t>(size)});
} catch (...) {
  return cursor->fail_by_exception();
}
