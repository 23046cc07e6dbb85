#include "shims/sqlite/src/tree_nodes.h"

#include <sqlite3.h>

namespace hawthorn::sqlite {

int TreeNodes::get(std::string_view key, std::string* value) {
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
  return connection_->put(tree_, key, value);
}

int TreeNodes::remove(std::string_view key) {
  connection_->dirty = true;
  return connection_->written(connection_->txn.del(tree_, key));
}

int TreeNodes::each_key(const std::function<void(std::string_view key)>& use) {
  Cursor cursor = connection_->open_cursor(tree_);
  for (bool more = cursor.first(); more; more = cursor.next()) use(cursor.key());
  const Status status = cursor.status();
  return status.ok() ? SQLITE_OK : to_code(status);
}

int TreeNodes::is_empty(bool* empty) {
  Cursor cursor = connection_->open_cursor(tree_);
  *empty = !cursor.first();
  const Status status = cursor.status();
  return status.ok() ? SQLITE_OK : to_code(status);
}

}  // namespace hawthorn::sqlite
