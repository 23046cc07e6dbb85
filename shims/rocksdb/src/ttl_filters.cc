#include "shims/rocksdb/src/ttl_filters.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <utility>
#include <vector>

#include "rocksdb/merge_operator.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/files.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

using rocksdb::CompactionFilter;
using rocksdb::Slice;

// When RocksDB began to write times: what claims to be older is none.
constexpr uint32_t kTimeMin = 1368146402;

uint32_t time_of(const Slice& value) {
  return fixed_at<uint32_t>(view(value), value.size() - kTimeBytes);
}
Slice without_time(const Slice& value) { return {value.data(), value.size() - kTimeBytes}; }

class TtlFilter final : public CompactionFilter {
 public:
  TtlFilter(std::shared_ptr<const std::atomic<int32_t>> ttl, const CompactionFilter* one,
            std::unique_ptr<CompactionFilter> made)
      : ttl_(std::move(ttl)), made_(std::move(made)), own_(one != nullptr ? one : made_.get()) {}
  const char* Name() const override { return "TtlCompactionFilter"; }

  Decision FilterV2(int level, const Slice& key, ValueType type, const Slice& value,
                    std::string* new_value, std::string* skip_until) const override {
    if (value.size() < kTimeBytes) return Decision::kKeep;
    const int64_t ttl = *ttl_;
    if (ttl > 0 && time_of(value) + ttl < seconds_now()) return Decision::kRemove;
    if (own_ == nullptr) return Decision::kKeep;
    const Decision decision =
        own_->FilterV2(level, key, type, without_time(value), new_value, skip_until);
    if (decision == Decision::kChangeValue) append_time(time_of(value), new_value);
    return decision;
  }

 private:
  const std::shared_ptr<const std::atomic<int32_t>> ttl_;
  const std::unique_ptr<CompactionFilter> made_;
  const CompactionFilter* const own_;
};

// The result has the time of the newest of what it is made of, so that it is the same whenever it
// is worked out.
class TtlMergeOperator final : public rocksdb::MergeOperator {
 public:
  explicit TtlMergeOperator(std::shared_ptr<MergeOperator> own) : own_(std::move(own)) {}
  const char* Name() const override { return "TtlMergeOperator"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<Slice> operands;
    uint32_t newest = 0;
    Slice existing;
    if (in.existing_value != nullptr && !take_off(*in.existing_value, &existing, &newest)) {
      return false;
    }
    for (const Slice& operand : in.operand_list) {
      operands.emplace_back();
      if (!take_off(operand, &operands.back(), &newest)) return false;
    }
    Slice chosen(nullptr, 0);
    MergeOperationOutput own_out(out->new_value, chosen);
    const Slice* const before = in.existing_value == nullptr ? nullptr : &existing;
    if (!own_->FullMergeV2({in.key, before, operands, in.logger}, &own_out)) return false;
    if (chosen.data() != nullptr) out->new_value.assign(chosen.data(), chosen.size());
    append_time(newest, &out->new_value);
    return true;
  }

  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                         std::string* new_value, rocksdb::Logger* logger) const override {
    std::deque<Slice> operands;
    uint32_t newest = 0;
    for (const Slice& operand : operand_list) {
      operands.emplace_back();
      if (!take_off(operand, &operands.back(), &newest)) return false;
    }
    if (!own_->PartialMergeMulti(key, operands, new_value, logger)) return false;
    append_time(newest, new_value);
    return true;
  }

 private:
  static bool take_off(const Slice& from, Slice* rest, uint32_t* newest) {
    if (from.size() < kTimeBytes) return false;
    *rest = without_time(from);
    *newest = std::max(*newest, time_of(from));
    return true;
  }

  const std::shared_ptr<MergeOperator> own_;
};

}  // namespace

uint32_t seconds_now() { return static_cast<uint32_t>(std::time(nullptr)); }

void append_time(uint32_t seconds, std::string* value) { append_fixed(seconds, value); }

S check_time(const Slice& value) {
  if (value.size() < kTimeBytes) return S::Corruption("the value is too short for a time");
  if (time_of(value) < kTimeMin) return S::Corruption("there is no time behind the value");
  return S::OK();
}

std::unique_ptr<CompactionFilter> TtlFilterFactory::CreateCompactionFilter(
    const CompactionFilter::Context& context) {
  std::unique_ptr<CompactionFilter> made;
  if (one_ == nullptr && factory_ != nullptr) made = factory_->CreateCompactionFilter(context);
  return std::make_unique<TtlFilter>(ttl_, one_, std::move(made));
}

rocksdb::ColumnFamilyOptions with_ttl(rocksdb::ColumnFamilyOptions options, int32_t ttl) {
  options.compaction_filter_factory = std::make_shared<TtlFilterFactory>(ttl, options);
  options.compaction_filter = nullptr;
  if (options.merge_operator != nullptr) {
    options.merge_operator = std::make_shared<TtlMergeOperator>(options.merge_operator);
  }
  return options;
}

}  // namespace hawthorn::rocks
