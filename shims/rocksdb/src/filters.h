#pragma once
// The compaction filter of a column family, as the engine wants it.
//
// Not here: when entries are shown (hawthorn/flush_filter.h). Used by DBImpl.
// Threads: stop from any; the rest by one at a time.

#include <hawthorn/flush_filter.h>

#include <atomic>
#include <memory>

#include "rocksdb/options.h"
#include "shims/rocksdb/src/entities.h"

namespace hawthorn::rocks {

class FamilyFilter : public hawthorn::FlushFilter {
 public:
  // From now on it keeps all: the engine's filters go with names, and another family may get this
  // one.
  void stop() { works_ = false; }
  // Until then it keeps all: what the family's entities look like is not known.
  void start(std::shared_ptr<const EntityMark> mark) {
    mark_ = std::move(mark);
    works_ = true;
  }

 protected:
  std::shared_ptr<const EntityMark> mark_;
  std::atomic<bool> works_{false};
};

inline bool has_filter(const rocksdb::ColumnFamilyOptions& options) {
  return options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
}

// Of options that have one. Lifetime: options' comparator and filter outlive it.
std::shared_ptr<FamilyFilter> engine_filter(const rocksdb::ColumnFamilyOptions& options);

}  // namespace hawthorn::rocks
