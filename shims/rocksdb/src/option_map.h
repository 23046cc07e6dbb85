#pragma once
// What options of RocksDB become, and which are refused.
//
// Used by DBImpl. The classification is that of the headers (options.h, advanced_options.h), which
// SUPPORTED.md lists. Threads: any.

#include <hawthorn/options.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "rocksdb/options.h"

namespace hawthorn::rocks {

// NotSupported, and which one, where an option that is refused is not its default; InvalidArgument
// for what contradicts itself.
rocksdb::Status check_options(const rocksdb::DBOptions& options);
rocksdb::Status check_options(const rocksdb::ColumnFamilyOptions& options);

// Block caches and write buffers together (cache.h).
size_t memory_budget(const rocksdb::DBOptions& options,
                     const std::vector<const rocksdb::ColumnFamilyOptions*>& families);

// The distinct caches of the options.
std::vector<std::shared_ptr<rocksdb::Cache>> caches_of(
    const rocksdb::DBOptions& options,
    const std::vector<const rocksdb::ColumnFamilyOptions*>& families);

// Directory, log and limits; not the budget, nor what families bring.
hawthorn::Options engine_options(const rocksdb::DBOptions& options, bool read_only);

}  // namespace hawthorn::rocks
