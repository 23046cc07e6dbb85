#include "shims/sqlite/src/tree_nodes.h"

#include <sqlite3.h>

#include <utility>

namespace hawthorn::sqlite {
namespace {

// Of all nodes that are kept; and what is larger is not kept.
constexpr size_t kKeptBytesMax = size_t{1} << 20;
constexpr size_t kKeptValueBytesMax = size_t{64} << 10;

int write_all(HwConnection* connection, uint32_t root, const HwConnection::KeptNodes& nodes) {
  for (const auto& [key, value] : nodes.values) {
    const int code = value.has_value() ? connection->put(root, nodes.tree, key, *value)
                                       : connection->del(root, nodes.tree, key);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

}  // namespace

int TreeNodes::get(std::string_view key, std::string* value) {
  if (const auto kept = connection_->kept_nodes.find(root_);
      kept != connection_->kept_nodes.end()) {
    const auto& values = kept->second.values;
    if (const auto found = values.find(std::string(key)); found != values.end()) {
      if (!found->second.has_value()) return SQLITE_NOTFOUND;
      *value = *found->second;
      return SQLITE_OK;
    }
  }
  Status status = connection_->get(tree_, key, value_);
  if (status.ok()) {
    value->assign(value_.view());
    value_.reset();
  } else if (status.is(StatusCode::kNotSupported)) {
    status = connection_->get_large(tree_, key, value);
  }
  if (status.is_not_found()) return SQLITE_NOTFOUND;
  return status.ok() ? SQLITE_OK : to_code(status);
}

int TreeNodes::put(std::string_view key, std::string_view value) {
  if (value.size() <= kKeptValueBytesMax) return keep(key, std::string(value));
  if (const auto kept = connection_->kept_nodes.find(root_);
      kept != connection_->kept_nodes.end()) {
    kept->second.values.erase(std::string(key));
  }
  return connection_->put(root_, tree_, key, value);
}

int TreeNodes::keep(std::string_view key, std::optional<std::string> value) {
  connection_->dirty = true;
  HwConnection::KeptNodes& kept = connection_->kept_nodes[root_];
  kept.tree = tree_;
  std::optional<std::string>& at = kept.values[std::string(key)];
  // An upper bound: what takes the place of another one counts, too, where it is larger.
  const size_t before = at.has_value() ? at->size() : 0;
  at = std::move(value);
  const size_t now = at.has_value() ? at->size() : key.size();
  connection_->kept_bytes += now > before ? now - before : 0;
  return connection_->kept_bytes > kKeptBytesMax ? connection_->write_kept_nodes() : SQLITE_OK;
}

int TreeNodes::remove(std::string_view key) { return keep(key, std::nullopt); }

int TreeNodes::each_key(const std::function<void(std::string_view key)>& use) {
  if (const int code = connection_->write_kept_nodes_of(root_); code != SQLITE_OK) return code;
  Cursor cursor = connection_->open_cursor(tree_);
  for (bool more = cursor.first(); more; more = cursor.next()) use(cursor.key());
  const Status status = cursor.status();
  return status.ok() ? SQLITE_OK : to_code(status);
}

int TreeNodes::is_empty(bool* empty) {
  if (const int code = connection_->write_kept_nodes_of(root_); code != SQLITE_OK) return code;
  Cursor cursor = connection_->open_cursor(tree_);
  *empty = !cursor.first();
  const Status status = cursor.status();
  return status.ok() ? SQLITE_OK : to_code(status);
}

}  // namespace hawthorn::sqlite

int HwConnection::write_kept_nodes() {
  for (const auto& [root, nodes] : kept_nodes) {
    const int code = hawthorn::sqlite::write_all(this, root, nodes);
    if (code != SQLITE_OK) return code;
  }
  drop_kept_nodes();
  return SQLITE_OK;
}

int HwConnection::write_kept_nodes_of(uint32_t root) {
  const auto found = kept_nodes.find(root);
  if (found == kept_nodes.end()) return SQLITE_OK;
  const int code = hawthorn::sqlite::write_all(this, root, found->second);
  if (code == SQLITE_OK) kept_nodes.erase(found);
  return code;
}

void HwConnection::drop_kept_nodes() {
  kept_nodes.clear();
  kept_bytes = 0;
}
