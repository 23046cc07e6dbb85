#pragma once
// Filters of table files. The engine has its own in front of what is in memory, and needs none for
// what is on disk: a policy is taken, and not asked.

#include "rocksdb/customizable.h"

namespace ROCKSDB_NAMESPACE {

// [accepted]
class FilterPolicy : public Customizable {
 public:
  static const char* Type() { return "FilterPolicy"; }
  virtual const char* CompatibilityName() const = 0;
};

// The caller owns it. [accepted]
const FilterPolicy* NewBloomFilterPolicy(double bits_per_key,
                                         bool IGNORED_use_block_based_builder = false);
// [accepted]
FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                    int bloom_before_level = 0);

}  // namespace ROCKSDB_NAMESPACE
