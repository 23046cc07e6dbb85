#pragma once
// A copy of a database as it is at one moment, in a directory of its own, which can be opened.
//
// Used by programs. Threads: any, beside readers and writers. Lifetime: not longer than the
// database.

#include <cstdint>
#include <string>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class DB;

// [mapped]
class Checkpoint {
 public:
  // The caller owns it.
  static Status Create(DB* db, Checkpoint** checkpoint_ptr);
  virtual ~Checkpoint() = default;

  // The directory must not exist, the one above it must. What was written without `sync` is in it,
  // too; it is durable when this returns. log_size_for_flush means nothing. *sequence_number_ptr:
  // all up to it is in the copy. Errors: InvalidArgument where the directory exists; NoSpace.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;
};

}  // namespace ROCKSDB_NAMESPACE
