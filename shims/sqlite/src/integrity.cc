// What PRAGMA integrity_check finds in the storage: every entry is read, every file is verified.

#include <sqlite3.h>

#include <functional>
#include <string>
#include <vector>

#include "shims/sqlite/src/connection.h"
#include "shims/sqlite/src/cursor.h"
#include "shims/sqlite/src/record.h"

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

}  // namespace

int hw_check_tree(HwConnection* connection, unsigned root, const HwCollator* collator,
                  long long* entries, void (*complain)(void* context, const char* what),
                  void* context) {
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
    return check_nodes(connection, root, tree, collator, tell, entries);
  }
  hawthorn::Cursor cursor = connection->open_cursor(tree);
  std::vector<Field> fields;
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
    if (count != 0 && cursor.key() <= before) {
      complain(context, (name + "entries are out of order").c_str());
    }
    before = cursor.key();
    ++count;
    const bool is_short = hawthorn::sqlite::is_short(record);
    if (is_short && !record.empty()) record.remove_prefix(1);
    const bool has_record = (is_short && record.empty()) || take_apart(record, SIZE_MAX, &fields);
    if (!has_record || (is_short && !hawthorn::sqlite::is_key(cursor.key()))) {
      complain(context, (name + "entry " + std::to_string(count) + " is no record").c_str());
    }
  }
  *entries = count;
  const hawthorn::Status status = cursor.status();
  if (status.is(hawthorn::StatusCode::kCorruption)) {
    complain(context, (name + status.to_string()).c_str());
    return SQLITE_OK;
  }
  return status.ok() ? SQLITE_OK : to_code(status);
}

int hw_check_files(HwConnection* connection, void (*complain)(void* context, const char* what),
                   void* context) {
  const hawthorn::Result<hawthorn::CheckReport> report = connection->database->db().check();
  if (!report.ok()) return to_code(report.status());
  for (const hawthorn::CheckItem& item : report->items) {
    complain(context, item.to_string().c_str());
  }
  return SQLITE_OK;
}
