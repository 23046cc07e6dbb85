// What PRAGMA integrity_check finds in the storage: every entry is read, every file is verified.

#include <sqlite3.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "shims/sqlite/src/connection.h"
#include "shims/sqlite/src/cursor.h"
#include "shims/sqlite/src/long_key.h"
#include "shims/sqlite/src/record.h"

using hawthorn::sqlite::ColumnOrder;
using hawthorn::sqlite::Field;
using hawthorn::sqlite::kCollatedHeaderKey;
using hawthorn::sqlite::take_apart;
using hawthorn::sqlite::to_code;

namespace {

int check_nodes(HwConnection* connection, uint32_t root, const hawthorn::Tree& tree,
                const HwCollator* collator, const std::function<void(const std::string&)>& complain,
                long long* entries) {
  std::function<int(std::string_view, std::string_view, int*)> compare;
  if (collator != nullptr) {
    compare = [collator](std::string_view first, std::string_view second, int* order) {
      void* sought = nullptr;
      int code = collator->unpack(collator->context, second.data(),
                                  static_cast<unsigned>(second.size()), &sought);
      if (code != SQLITE_OK) return code;
      code = collator->compare(collator->context, sought, first.data(),
                               static_cast<unsigned>(first.size()), order);
      collator->forget(collator->context, sought);
      return code;
    };
  }
  std::vector<Field> fields;
  uint64_t count = 0;
  const auto use = [&](std::string_view record) {
    ++count;
    if (take_apart(record, SIZE_MAX, &fields)) return;
    complain("entry " + std::to_string(count) + " is no record");
  };
  hawthorn::sqlite::TreeNodes nodes(connection, root, tree);
  uint64_t counted = 0;
  const int code = hawthorn::sqlite::check_collated(nodes, compare, use, complain, &counted);
  *entries = static_cast<long long>(counted);
  return code;
}

// Entries of a table, or of an index whose keys are encoded.
class EntryCheck {
 public:
  explicit EntryCheck(const HwEntries& of) : of_(of) {
    for (int i = 0; of.orders != nullptr && i < of.columns; ++i) {
      orders_.push_back(
          {.collation = static_cast<hawthorn::sqlite::Collation>(of.orders[i].collation),
           .descending = of.orders[i].descending != 0});
    }
  }

  // What is wrong with one; null: nothing.
  const char* operator()(std::string_view key, std::string_view value) {
    const bool is_short = hawthorn::sqlite::is_short(value);
    if (orders_.empty()) {
      if (is_short && !value.empty()) value.remove_prefix(1);
      const bool has_record = (is_short && value.empty()) || take_apart(value, SIZE_MAX, &fields_);
      return has_record && (!is_short || hawthorn::sqlite::is_key(key)) ? nullptr : "is no record";
    }
    if (is_short) {
      if (!hawthorn::sqlite::restore_record(key, orders_, value, &made_)) return "is no record";
      value = made_;
    }
    if (!take_apart(value, SIZE_MAX, &fields_)) return "is no record";
    const auto count = static_cast<int>(fields_.size());
    if (count < of_.fields_min || count > of_.fields_max) return "has another number of columns";
    if (is_short) return nullptr;  // made of its key
    made_.clear();
    hawthorn::sqlite::append_key(fields_, orders_, &made_);
    return made_ == key ? nullptr : "is another one than its key's";
  }

 private:
  const HwEntries& of_;
  std::vector<ColumnOrder> orders_;
  std::vector<Field> fields_;
  std::string made_;
};

// Of a long entry its own key and its record; others stay. False: it is none.
bool take_long(std::string* key, std::string_view* value) {
  if (!hawthorn::sqlite::is_long(*key)) return true;
  const auto decoded = hawthorn::sqlite::decode_long_value(*value);
  if (!decoded.has_value()) return false;
  key->resize(hawthorn::sqlite::kWholeKeyBytesMax);
  *key += decoded->rest;
  *value = decoded->record;
  return true;
}

}  // namespace

int hw_check_tree(HwConnection* connection, unsigned root, const HwEntries* of, long long* entries,
                  void (*complain)(void* context, const char* what), void* context) try {
  hawthorn::Tree tree;
  if (const int code = connection->tree(root, &tree); code != SQLITE_OK) {
    complain(context, ("Tree " + std::to_string(root) + ": is missing").c_str());
    return SQLITE_OK;
  }
  const std::string name = "Tree " + std::to_string(root) + ": ";
  if (const int code = connection->write_kept_nodes_of(root); code != SQLITE_OK) return code;
  hawthorn::Value header;
  if (connection->get(tree, kCollatedHeaderKey, header).ok()) {
    header.reset();
    const auto tell = [&](const std::string& what) { complain(context, (name + what).c_str()); };
    return check_nodes(connection, root, tree, of->collator, tell, entries);
  }
  hawthorn::Cursor cursor = connection->open_cursor(tree);
  EntryCheck check(*of);
  std::string own;  // keys of entries
  std::string before;
  std::string large;
  long long count = 0;
  for (bool more = cursor.first(); more; more = cursor.next()) {
    std::string_view record = cursor.value();
    if (cursor.status().is(hawthorn::StatusCode::kNotSupported)) {
      // It is too large for a cursor.
      const hawthorn::Status read = connection->get_large(tree, cursor.key(), &large);
      if (!read.ok()) complain(context, (name + read.to_string()).c_str());
      record = large;
    }
    own = cursor.key();
    const bool is_sound = take_long(&own, &record);
    if (count != 0 && own <= before) {
      complain(context, (name + "entries are out of order").c_str());
    }
    ++count;
    const char* const wrong = is_sound ? check(own, record) : "is no long one";
    std::swap(before, own);
    if (wrong != nullptr) {
      complain(context, (name + "entry " + std::to_string(count) + " " + wrong).c_str());
    }
  }
  *entries = count;
  const hawthorn::Status status = cursor.status();
  if (status.is(hawthorn::StatusCode::kCorruption)) {
    complain(context, (name + status.to_string()).c_str());
    return SQLITE_OK;
  }
  return status.ok() ? SQLITE_OK : to_code(status);
} catch (...) {
  return connection->fail_by_exception();
}

int hw_check_files(HwConnection* connection, void (*complain)(void* context, const char* what),
                   void* context) try {
  const hawthorn::Result<hawthorn::CheckReport> report = connection->database->db().check();
  if (!report.ok()) return to_code(report.status());
  for (const hawthorn::CheckItem& item : report->items) {
    complain(context, item.to_string().c_str());
  }
  return SQLITE_OK;
} catch (...) {
  return connection->fail_by_exception();
}
