#pragma once
// Options of universal compaction. There is no compaction here: all of them are taken, and mean
// nothing.

#include <climits>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

// [accepted]
enum CompactionStopStyle { kCompactionStopStyleSimilarSize, kCompactionStopStyleTotalSize };

// [accepted]
class CompactionOptionsUniversal {
 public:
  unsigned int size_ratio = 1;
  unsigned int min_merge_width = 2;
  unsigned int max_merge_width = UINT_MAX;
  unsigned int max_size_amplification_percent = 200;
  int compression_size_percent = -1;
  int max_read_amp = -1;
  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;
  bool allow_trivial_move = false;
  bool incremental = false;
  bool reduce_file_locking = false;
};

}  // namespace ROCKSDB_NAMESPACE
