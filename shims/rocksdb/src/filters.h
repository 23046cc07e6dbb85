#pragma once
// The compaction filter of a column family, as the engine wants it: by the name of a tree, when it
// opens. For families that come later there are slots: trees "filtered/7", with a filter that does
// what the family's does. A database that is opened without any filter has none of them, since the
// engine has a thread for filters.
//
// Not here: when entries are shown (hawthorn/flush_filter.h). Used by DBImpl.
// Threads: stop and bind from any; the rest by one at a time.

#include <hawthorn/flush_filter.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

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

class FilterSlot final : public hawthorn::FlushFilter {
 public:
  static constexpr uint32_t kSlots = 32;

  void bind(std::shared_ptr<FamilyFilter> to) {
    const std::lock_guard lock(mutex_);
    bound_ = std::move(to);
  }

  std::string_view name() const override { return "a family's filter"; }
  Decision filter(std::string_view key, std::string_view value, std::string* changed) override {
    const std::shared_ptr<FamilyFilter> filter = bound();
    return filter == nullptr ? Decision::kKeep : filter->filter(key, value, changed);
  }
  bool needs_values() const override { return bound() != nullptr; }

 private:
  std::shared_ptr<FamilyFilter> bound() const {
    const std::lock_guard lock(mutex_);
    return bound_;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<FamilyFilter> bound_;
};

inline bool has_filter(const rocksdb::ColumnFamilyOptions& options) {
  return options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
}

// Of options that have one. Lifetime: options' comparator and filter, and statistics, which may be
// null, outlive it.
std::shared_ptr<FamilyFilter> engine_filter(const rocksdb::ColumnFamilyOptions& options,
                                            rocksdb::Statistics* statistics);

}  // namespace hawthorn::rocks
