#include "c/columns.h"

#include <cstring>

namespace hawthorn::c {

namespace {
Status check_buffers(const hawthorn_columns& columns, bool keys) {
  if (columns.rows_capacity == 0) return invalid("columns.rows_capacity is 0");
  if (columns.key_offsets == nullptr && columns.value_offsets == nullptr) {
    return invalid("columns has neither key_offsets nor value_offsets");
  }
  if (keys && columns.key_offsets != nullptr && columns.key_bytes == nullptr &&
      columns.key_bytes_capacity != 0) {
    return invalid("columns.key_bytes is NULL");
  }
  if (columns.value_offsets != nullptr && columns.value_bytes == nullptr &&
      columns.value_bytes_capacity != 0) {
    return invalid("columns.value_bytes is NULL");
  }
  return {};
}

bool fits(size_t used, size_t more, size_t capacity) { return more <= capacity - used; }

void put(void* bytes, int64_t* offsets, size_t row, size_t* used, std::string_view cell) {
  if (!cell.empty()) std::memcpy(static_cast<char*>(bytes) + *used, cell.data(), cell.size());
  *used += cell.size();
  offsets[row + 1] = static_cast<int64_t>(*used);
}
}  // namespace

Status ColumnWriter::begin() {
  if (Status s = take_out(columns_, "hawthorn_columns"); !s.ok()) return s;
  columns_->rows = 0;
  columns_->key_bytes_needed = 0;
  columns_->value_bytes_needed = 0;
  if (Status s = check_buffers(*columns_, keys_); !s.ok()) return s;
  if (keys_ && columns_->key_offsets != nullptr) columns_->key_offsets[0] = 0;
  if (columns_->value_offsets != nullptr) columns_->value_offsets[0] = 0;
  return {};
}

bool ColumnWriter::add(std::string_view key, std::string_view value, bool found) {
  const bool keys = keys_ && columns_->key_offsets != nullptr;
  const bool values = wants_values();
  if (full() || (keys && !fits(key_bytes_, key.size(), columns_->key_bytes_capacity)) ||
      (values && !fits(value_bytes_, value.size(), columns_->value_bytes_capacity))) {
    return false;
  }
  const size_t row = columns_->rows++;
  if (keys) put(columns_->key_bytes, columns_->key_offsets, row, &key_bytes_, key);
  if (values) put(columns_->value_bytes, columns_->value_offsets, row, &value_bytes_, value);
  if (columns_->found != nullptr) columns_->found[row] = found ? 1 : 0;
  return true;
}

Status ColumnWriter::end(const std::string_view* key_left, const std::string_view* value_left) {
  columns_->key_bytes_needed = key_bytes_;
  columns_->value_bytes_needed = value_bytes_;
  if (columns_->rows != 0 || value_left == nullptr) return {};
  const size_t key_bytes = key_left != nullptr ? key_left->size() : 0;
  columns_->key_bytes_needed = columns_->key_offsets != nullptr && keys_ ? key_bytes : 0;
  columns_->value_bytes_needed = wants_values() ? value_left->size() : 0;
  return Status(kBufferTooSmall, "an entry takes " + std::to_string(columns_->key_bytes_needed) +
                                     " bytes of keys and " +
                                     std::to_string(columns_->value_bytes_needed) +
                                     " of values, which is more than the columns have");
}

Status check_column(const void* bytes, const int64_t* offsets, size_t rows, const char* name) {
  if (rows == 0) return {};
  const std::string column(name);
  if (offsets == nullptr) return invalid(column + "_offsets is NULL");
  if (offsets[0] < 0) return invalid(column + "_offsets[0] is below 0");
  for (size_t row = 0; row < rows; ++row) {
    if (offsets[row + 1] >= offsets[row]) continue;
    return invalid(column + "_offsets go down at row " + std::to_string(row));
  }
  if (bytes == nullptr && offsets[rows] != 0) return invalid(column + "_bytes is NULL");
  return {};
}

}  // namespace hawthorn::c
