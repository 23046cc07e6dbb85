#pragma once
// The version of RocksDB whose API these headers offer, and how programs ask for it.

#include <string>

#include "rocksdb/rocksdb_namespace.h"

#define ROCKSDB_MAJOR 10
#define ROCKSDB_MINOR 4
#define ROCKSDB_PATCH 2

#define __ROCKSDB_MAJOR__ ROCKSDB_MAJOR
#define __ROCKSDB_MINOR__ ROCKSDB_MINOR
#define __ROCKSDB_PATCH__ ROCKSDB_PATCH

#define ROCKSDB_MAKE_VERSION_INT(a, b, c) ((a) * 1000000 + (b) * 1000 + (c))
#define ROCKSDB_VERSION_INT ROCKSDB_MAKE_VERSION_INT(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)
#define ROCKSDB_VERSION_GE(a, b, c) (ROCKSDB_VERSION_INT >= ROCKSDB_MAKE_VERSION_INT(a, b, c))

namespace ROCKSDB_NAMESPACE {

// "10.4.2", or without the patch. [mapped]
std::string GetRocksVersionAsString(bool with_patch = true);

}  // namespace ROCKSDB_NAMESPACE
