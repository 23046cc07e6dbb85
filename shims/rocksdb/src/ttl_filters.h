#pragma once
// Values with the time of their write behind them, and what a program's filters and operators are
// called with.
//
// Used by ttl.cc. Threads: any.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace hawthorn::rocks {

inline constexpr size_t kTimeBytes = sizeof(uint32_t);

uint32_t seconds_now();
void append_time(uint32_t seconds, std::string* value);
// Corruption where no time is behind it, or none that can be one.
rocksdb::Status check_time(const rocksdb::Slice& value);

// The filter of a family with a ttl, around that of the program, if it has one.
class TtlFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  TtlFilterFactory(int32_t ttl, const rocksdb::ColumnFamilyOptions& options)
      : ttl_(std::make_shared<std::atomic<int32_t>>(ttl)),
        one_(options.compaction_filter),
        factory_(options.compaction_filter_factory) {}
  const char* Name() const override { return "TtlCompactionFilterFactory"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;
  // Also for filters that were made before.
  void set(int32_t ttl) { *ttl_ = ttl; }

 private:
  const std::shared_ptr<std::atomic<int32_t>> ttl_;
  const rocksdb::CompactionFilter* const one_;
  const std::shared_ptr<rocksdb::CompactionFilterFactory> factory_;
};

// Options of such a family, from those of the program.
rocksdb::ColumnFamilyOptions with_ttl(rocksdb::ColumnFamilyOptions options, int32_t ttl);

}  // namespace hawthorn::rocks
