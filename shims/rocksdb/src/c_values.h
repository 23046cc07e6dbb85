#pragma once
// How the C API hands out what reads have found: null for a key that is missing, without an error.
//
// Not here: the reads. `read` is a function of a PinnableSlice*, which gives the status.
// Used by c_*.cc. Threads: any.

#include <utility>

#include "shims/rocksdb/src/c_types.h"

namespace hawthorn::rocks {

// Whether there is a value.
inline bool found(const rocksdb::Status& status, char** errptr) {
  return !status.IsNotFound() && !failed(errptr, status);
}

template <typename Read>
char* copy_of_read(size_t* value_size, char** errptr, const Read& read) {
  rocksdb::PinnableSlice value;
  *value_size = 0;
  if (!found(read(&value), errptr)) return nullptr;
  *value_size = value.size();
  return copy_of(value);
}

// A rocksdb_pinnableslice_t or a rocksdb_pinnable_handle_t, which are the same thing.
template <typename Pinned = rocksdb_pinnableslice_t, typename Read>
Pinned* pin_read(char** errptr, const Read& read) {
  auto value = std::make_unique<Pinned>();
  return found(read(&value->rep), errptr) ? value.release() : nullptr;
}

// What a read of several keys says of one of them.
inline char* error_of(const rocksdb::Status& status) noexcept {
  char* text = nullptr;
  if (!status.IsNotFound()) failed(&text, status);
  return text;
}

// Values are strings or slices.
template <typename Values>
void copy_values(const std::vector<rocksdb::Status>& statuses, const Values& found_values,
                 char** values, size_t* value_sizes, char** errors) {
  for (size_t i = 0; i < statuses.size(); ++i) {
    const bool ok = statuses[i].ok();
    values[i] = ok ? copy_of(found_values[i]) : nullptr;
    value_sizes[i] = ok ? found_values[i].size() : 0;
    errors[i] = error_of(statuses[i]);
  }
}

inline std::vector<rocksdb::ColumnFamilyHandle*> families_of(
    const rocksdb_column_family_handle_t* const* handles, size_t count) {
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  for (size_t i = 0; i < count; ++i) families.push_back(handles[i]->rep);
  return families;
}

}  // namespace hawthorn::rocks
