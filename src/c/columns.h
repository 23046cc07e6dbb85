#pragma once
// Filling a caller's column buffers, and reading columns that a caller has filled.
//
// Not here: where entries come from (c/cursor.cc, c/read.cc). Threads: one at a time.

#include <cstdint>
#include <string_view>

#include "c/call.h"
#include "hawthorn/c.h"

namespace hawthorn::c {

class ColumnWriter {
 public:
  // Begins with no row. `keys`: whether the caller of this has keys to give.
  ColumnWriter(hawthorn_columns* columns, bool keys) : columns_(columns), keys_(keys) {}

  // Errors: kInvalidArgument for buffers that are missing.
  Status begin();
  bool full() const { return columns_->rows == columns_->rows_capacity; }
  size_t room() const { return columns_->rows_capacity - columns_->rows; }
  // Whether values are wanted at all.
  bool wants_values() const { return columns_->value_offsets != nullptr; }
  // False, and nothing is added, where it does not fit.
  bool add(std::string_view key, std::string_view value, bool found = true);
  // Behind the last row: OK, or kBufferTooSmall where nothing was added and `left` is not null: it
  // is what did not fit.
  Status end(const std::string_view* key_left, const std::string_view* value_left);

 private:
  hawthorn_columns* const columns_;
  const bool keys_;
  size_t key_bytes_ = 0;
  size_t value_bytes_ = 0;
};

// OK where offsets begin at 0 or above, never go down, and have bytes behind them.
Status check_column(const void* bytes, const int64_t* offsets, size_t rows, const char* name);
inline std::string_view cell(const void* bytes, const int64_t* offsets, size_t row) {
  return {static_cast<const char*>(bytes) + offsets[row],
          static_cast<size_t>(offsets[row + 1] - offsets[row])};
}
// Calls `each` with key and value of the first `rows` rows.
template <typename Each>
Status for_each_row(const hawthorn_columns* columns, Each&& each) {
  hawthorn_columns taken;
  if (columns == nullptr) return invalid("columns is NULL");
  if (Status s = take(columns, "hawthorn_columns", &taken); !s.ok()) return s;
  if (Status s = check_column(taken.key_bytes, taken.key_offsets, taken.rows, "key"); !s.ok()) {
    return s;
  }
  if (Status s = check_column(taken.value_bytes, taken.value_offsets, taken.rows, "value");
      !s.ok()) {
    return s;
  }
  for (size_t row = 0; row < taken.rows; ++row) {
    Status s = each(cell(taken.key_bytes, taken.key_offsets, row),
                    cell(taken.value_bytes, taken.value_offsets, row));
    if (!s.ok()) return s;
  }
  return {};
}

}  // namespace hawthorn::c
