#pragma once
// How writes are kept in memory: the engine's matter. The factories are taken, and not asked.

#include <cstddef>
#include <cstdint>

#include "rocksdb/customizable.h"

namespace ROCKSDB_NAMESPACE {

// [accepted]
class MemTableRepFactory : public Customizable {
 public:
  static const char* Type() { return "MemTableRepFactory"; }
};

// [accepted]
class SkipListFactory : public MemTableRepFactory {
 public:
  explicit SkipListFactory(size_t /*lookahead*/ = 0) {}
  const char* Name() const override { return "SkipListFactory"; }
};

// [accepted]
class VectorRepFactory : public MemTableRepFactory {
 public:
  explicit VectorRepFactory(size_t /*count*/ = 0) {}
  const char* Name() const override { return "VectorRepFactory"; }
};

// The caller owns it. [accepted]
MemTableRepFactory* NewHashSkipListRepFactory(size_t bucket_count = 1000000,
                                              int32_t skiplist_height = 4,
                                              int32_t skiplist_branching_factor = 4);
// [accepted]
MemTableRepFactory* NewHashLinkListRepFactory(size_t bucket_count = 50000,
                                              size_t huge_page_tlb_size = 0,
                                              int bucket_entries_logging_threshold = 4096,
                                              bool if_log_bucket_dist_when_flash = true,
                                              uint32_t threshold_use_skiplist = 256);

}  // namespace ROCKSDB_NAMESPACE
