#pragma once
// Between the engine's types and RocksDB's.
//
// Used by all of the shim. Threads: any.

#include <hawthorn/status.h>

#include <string_view>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace hawthorn::rocks {

inline std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
inline rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// kReadOnly and kPermissionDenied become IOError; who has opened read-only says NotSupported in
// place of kReadOnly.
rocksdb::Status to_status(const hawthorn::Status& status);

}  // namespace hawthorn::rocks
