// What a connection's transaction writes: each change goes to the engine's, and where that may be
// committed together with others to the list of what it has done (redo.h).

#include <sqlite3.h>

#include <algorithm>
#include <cstring>

#include "shims/sqlite/src/connection.h"

using hawthorn::Result;
using hawthorn::Status;
using hawthorn::Tree;
using hawthorn::sqlite::kNumbersKey;
using hawthorn::sqlite::Numbers;
using hawthorn::sqlite::Redo;
using hawthorn::sqlite::to_code;
using hawthorn::sqlite::tree_name;

int HwConnection::written(const Status& status) {
  if (status.ok()) return SQLITE_OK;
  const int code = to_code(status);
  if (code != SQLITE_BUSY) return code;
  failed = concurrent ? SQLITE_BUSY_SNAPSHOT : SQLITE_BUSY;
  return failed;
}

int HwConnection::done(const Redo::Operation& operation) {
  if (!redo.has_value()) return SQLITE_OK;
  const int code = to_code(redo->add(operation));
  // One that is in the transaction and not in the list must not be committed.
  if (code != SQLITE_OK) failed = code;
  return code;
}

// ---- Entries

int HwConnection::put(uint32_t root, const Tree& tree, std::string_view key,
                      std::string_view value) {
  const uint64_t entry_bytes = key.size() + value.size();
  if (entry_bytes <= room_) {
    room_ -= entry_bytes;
  } else if (const int code = make_room(entry_bytes); code != SQLITE_OK) {
    return code;
  }
  dirty = true;
  written_bytes += entry_bytes;
  Status status;
  if (value.size() <= hawthorn::Db::limits().batch_value_bytes_max) {
    status = txn.put(tree, key, value);
  } else {
    std::string_view rest = value;
    status = txn.put_stream(tree, key, value.size(), [&rest](std::span<char> buffer) {
      const size_t size = std::min(buffer.size(), rest.size());
      memcpy(buffer.data(), rest.data(), size);
      rest.remove_prefix(size);
      return Result<size_t>(size);
    });
  }
  if (!status.ok()) return written(status);
  if (const auto tail = tails.find(root); tail != tails.end() && tail->second < key) {
    tail->second = key;
  }
  return done({.kind = Redo::Kind::kPut, .root = root, .key = key, .value = value});
}

int HwConnection::del(uint32_t root, const Tree& tree, std::string_view key) {
  dirty = true;
  written_bytes += key.size();
  if (Status s = txn.del(tree, key); !s.ok()) return written(s);
  if (const auto tail = tails.find(root); tail != tails.end() && tail->second == key) {
    tails.erase(tail);
  }
  return done({.kind = Redo::Kind::kDelete, .root = root, .key = key});
}

int HwConnection::write_part(uint32_t root, const Tree& tree, std::string_view key, uint64_t offset,
                             std::string_view bytes) {
  dirty = true;
  written_bytes += key.size() + bytes.size();
  if (Status s = txn.write_part(tree, key, offset, bytes); !s.ok()) return written(s);
  return done(
      {.kind = Redo::Kind::kPart, .root = root, .offset = offset, .key = key, .value = bytes});
}

// ---- The limit of pages

void HwConnection::limit_pages(uint32_t pages, uint32_t page_bytes) {
  const uint64_t bytes = pages == UINT32_MAX ? UINT64_MAX : uint64_t{pages} * page_bytes;
  const bool is_known = bytes == bytes_max_ && room_as_of_ == data_version_;
  pages_max_ = pages;
  bytes_max_ = bytes;
  if (bytes == UINT64_MAX) {
    room_ = UINT64_MAX;
  } else if (!is_known) {
    room_ = 0;  // others have written
  }
}

// Before a transaction begins, as what is compacted beside it counts twice until it ends: where the
// half of what there was space for has been used since the last time.
int HwConnection::shrink() {
  if (bytes_max_ == UINT64_MAX || room_ > bytes_max_ / 16) return SQLITE_OK;
  const uint64_t used = database->bytes_now();
  const uint64_t before = std::min(compacted_bytes_, bytes_max_);
  if (used < before + (bytes_max_ - before) / 2) return SQLITE_OK;
  const int code = to_code(database->db().compact());
  compacted_bytes_ = database->bytes_now();
  return code;
}

// The size is that which page_count is about. It is looked at the more often the closer it comes to
// the limit.
int HwConnection::make_room(uint64_t bytes) {
  const auto is_full = [this, bytes](uint64_t used) {
    return used > bytes_max_ || bytes > bytes_max_ - used;
  };
  const uint64_t used = database->bytes_now();
  room_as_of_ = data_version_;
  if (is_full(used)) {
    room_ = 0;
    return SQLITE_FULL;
  }
  room_ = (bytes_max_ - used - bytes) / 4;
  return SQLITE_OK;
}

// ---- Numbers and trees

int HwConnection::write_numbers(const Numbers& changed) {
  dirty = true;
  numbers_changed_ = true;
  const std::string value = changed.encode();
  if (Status s = txn.put(database->numbers_tree(), kNumbersKey, value); !s.ok()) return written(s);
  numbers_ = changed;
  return done({.kind = Redo::Kind::kNumbers, .value = value});
}

template <typename Change>
int HwConnection::change_numbers(const Change& change) {
  if (concurrent) return HW_SCHEMA_IN_CONCURRENT;
  const Numbers* now = nullptr;
  if (const int code = numbers(&now); code != SQLITE_OK) return code;
  Numbers changed = *now;
  change(changed);
  return write_numbers(changed);
}

int HwConnection::create_tree(uint32_t* root) {
  const Numbers* now = nullptr;
  if (const int code = numbers(&now); code != SQLITE_OK) return code;
  if (now->next_root >= pages_max_) return SQLITE_FULL;
  const auto take = [root](Numbers& numbers) { *root = numbers.next_root++; };
  if (const int code = change_numbers(take); code != SQLITE_OK) return code;
  const Result<Tree> made = txn.tree(tree_name(*root));
  if (!made.ok()) return to_code(made.status());
  made_.push_back(*root);
  trees_[*root] = *made;
  return done({.kind = Redo::Kind::kCreate, .root = *root});
}

int HwConnection::drop_tree(uint32_t root) {
  if (concurrent) return HW_SCHEMA_IN_CONCURRENT;
  if (const int code = about_to_change(root, std::nullopt, nullptr); code != SQLITE_OK) return code;
  dirty = true;
  trees_.erase(root);
  kept_nodes.erase(root);
  tails.erase(root);
  kept_cursors_.clear();
  const Status status = txn.drop_tree(tree_name(root));
  if (status.is_not_found()) return SQLITE_CORRUPT;
  const int code = written(status);
  return code == SQLITE_OK ? done({.kind = Redo::Kind::kDrop, .root = root}) : code;
}

int HwConnection::clear_tree(uint32_t root, int64_t* entries) {
  Tree found;
  if (const int code = tree(root, &found); code != SQLITE_OK) return code;
  if (entries != nullptr) {
    int code = write_kept_nodes_of(root);
    if (code == SQLITE_OK) code = count_entries(found, entries);
    if (code != SQLITE_OK) return code;
  }
  if (const int code = about_to_change(root, std::nullopt, nullptr); code != SQLITE_OK) return code;
  dirty = true;
  kept_nodes.erase(root);
  const int code = written(txn.delete_range(found, {}));
  if (code == SQLITE_OK) tails[root].clear();
  return code == SQLITE_OK ? done({.kind = Redo::Kind::kClear, .root = root}) : code;
}

int HwConnection::note_collated() {
  const Numbers* now = nullptr;
  if (const int code = numbers(&now); code != SQLITE_OK) return code;
  if (now->collated != 0) return SQLITE_OK;
  Numbers changed = *now;
  changed.collated = 1;
  return write_numbers(changed);
}

int HwConnection::clear_all() {
  const Result<std::vector<std::string>> names = txn.list_trees();
  if (!names.ok()) return to_code(names.status());
  for (const std::string& name : *names) {
    const std::optional<uint32_t> root = hawthorn::sqlite::root_of(name);
    if (!root.has_value()) continue;
    const int code =
        *root == hawthorn::sqlite::kSchemaRoot ? clear_tree(*root, nullptr) : drop_tree(*root);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

int HwConnection::reset() {
  if (const int code = clear_all(); code != SQLITE_OK) return code;
  constexpr size_t kSchemaVersion = 1;  // among SQLite's numbers
  return change_numbers([](Numbers& numbers) {
    // Roots are not given twice.
    const uint32_t version = numbers.meta[kSchemaVersion];
    numbers.meta = {};
    numbers.meta[kSchemaVersion] = version + 1;
  });
}

// ---- For the dispatcher

void hw_limit_pages(HwConnection* connection, unsigned pages, unsigned page_bytes) {
  connection->limit_pages(pages, page_bytes);
}
unsigned hw_pages(HwConnection* connection, unsigned page_bytes, int now) try {
  hawthorn::sqlite::Database* const database = connection->database;
  const uint64_t bytes = now != 0 ? database->bytes_now() : database->bytes();
  uint64_t pages = bytes / std::max(page_bytes, 512U);
  const Numbers* numbers = nullptr;
  if (connection->numbers(&numbers) == SQLITE_OK) {
    pages = std::max<uint64_t>(pages, numbers->next_root);
  }
  return static_cast<unsigned>(std::min<uint64_t>(pages, UINT32_MAX - 1));
} catch (...) {
  return 0;
}

int hw_reset(HwConnection* connection) try { return connection->reset(); } catch (...) {
  return connection->fail_by_exception();
}
int hw_set_wal(HwConnection* connection, int wal) try {
  return connection->change_numbers([wal](Numbers& numbers) { numbers.wal = wal != 0 ? 1 : 0; });
} catch (...) {
  return connection->fail_by_exception();
}

int hw_set_meta(HwConnection* connection, int index, unsigned value) try {
  return connection->change_numbers(
      [=](Numbers& numbers) { numbers.meta[static_cast<size_t>(index)] = value; });
} catch (...) {
  return connection->fail_by_exception();
}

int hw_create_tree(HwConnection* connection, unsigned* root) try {
  return connection->create_tree(root);
} catch (...) {
  return connection->fail_by_exception();
}

int hw_drop_tree(HwConnection* connection, unsigned root) try {
  return connection->drop_tree(root);
} catch (...) {
  return connection->fail_by_exception();
}

int hw_clear_tree(HwConnection* connection, unsigned root, long long* entries) try {
  int64_t counted = 0;
  const int code = connection->clear_tree(root, entries != nullptr ? &counted : nullptr);
  if (entries != nullptr) *entries = counted;
  return code;
} catch (...) {
  return connection->fail_by_exception();
}
