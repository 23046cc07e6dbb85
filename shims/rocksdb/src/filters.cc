#include "shims/rocksdb/src/filters.h"

#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/compaction_filter.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/measure.h"

namespace hawthorn::rocks {
namespace {

// So many entries a filter of a factory is shown, at most: the engine does not say where a pass
// ends, and a filter may be made of what holds at one moment only.
constexpr size_t kEntriesOfPass = 4096;

class Filter final : public FamilyFilter {
 public:
  Filter(const rocksdb::ColumnFamilyOptions& options, rocksdb::Statistics* statistics)
      : statistics_(statistics),
        comparator_(options.comparator),
        one_(options.compaction_filter),
        factory_(options.compaction_filter_factory) {}

  std::string_view name() const override {
    return one_ != nullptr ? one_->Name() : factory_->Name();
  }

  Decision filter(std::string_view key, std::string_view value, std::string* changed) override {
    if (!works_) return Decision::kKeep;
    const TimedTick timed(statistics_, rocksdb::FILTER_OPERATION_TOTAL_TIME,
                          rocksdb::kExceptDetailedTimers);
    const rocksdb::CompactionFilter* const filter = filter_for(key);
    last_key_ = key;
    if (skip_until_.has_value() && comparator_->Compare(slice(key), *skip_until_) < 0) {
      return Decision::kRemove;
    }
    skip_until_.reset();
    if (filter == nullptr) return Decision::kKeep;
    std::string skip_until;
    Columns columns;
    switch (ask(*filter, key, value, changed, &columns, &skip_until)) {
      case rocksdb::CompactionFilter::Decision::kRemove:
      case rocksdb::CompactionFilter::Decision::kPurge:
        return Decision::kRemove;
      case rocksdb::CompactionFilter::Decision::kChangeValue:
        *changed = mark_->plain(*changed, &kept_);
        return Decision::kChange;
      case rocksdb::CompactionFilter::Decision::kChangeWideColumnEntity:
        return change_to(columns, changed) ? Decision::kChange : Decision::kKeep;
      case rocksdb::CompactionFilter::Decision::kRemoveAndSkipUntil:
        // Up to a key that is not behind this one nothing is skipped, and the entry stays.
        if (comparator_->Compare(skip_until, slice(key)) <= 0) return Decision::kKeep;
        skip_until_ = std::move(skip_until);
        return Decision::kRemove;
      default:
        return Decision::kKeep;
    }
  }

 private:
  using Columns = std::vector<std::pair<std::string, std::string>>;

  rocksdb::CompactionFilter::Decision ask(const rocksdb::CompactionFilter& filter,
                                          std::string_view key, std::string_view stored,
                                          std::string* changed, Columns* columns,
                                          std::string* skip_until) const {
    using By = rocksdb::CompactionFilter;
    const Content content = mark_->content(stored);
    const rocksdb::Slice value = slice(content.bytes);
    rocksdb::WideColumns existing;
    if (!content.entity) {
      return filter.FilterV3(0, slice(key), By::kValue, &value, nullptr, changed, columns,
                             skip_until);
    }
    if (!decode_columns(content.bytes, &existing).ok()) return By::Decision::kKeep;
    return filter.FilterV3(0, slice(key), By::kWideColumnEntity, nullptr, &existing, changed,
                           columns, skip_until);
  }

  bool change_to(const Columns& columns, std::string* changed) const {
    if (mark_->get() == nullptr) return false;
    rocksdb::WideColumns wanted;
    for (const auto& [name, value] : columns) wanted.emplace_back(name, value);
    std::string bytes;
    if (!encode_columns(wanted, &bytes).ok()) return false;
    *changed = mark_->entity(bytes);
    return true;
  }

  // A pass ends where keys begin anew.
  const rocksdb::CompactionFilter* filter_for(std::string_view key) {
    const bool again = !last_key_.has_value() || comparator_->Compare(slice(key), *last_key_) <= 0;
    if (again) skip_until_.reset();
    if (one_ != nullptr) return one_;
    if (again || entries_ == kEntriesOfPass) {
      made_ = factory_->CreateCompactionFilter({});
      entries_ = 0;
    }
    ++entries_;
    return made_.get();
  }

  rocksdb::Statistics* const statistics_;
  const rocksdb::Comparator* const comparator_;
  const rocksdb::CompactionFilter* const one_;
  const std::shared_ptr<rocksdb::CompactionFilterFactory> factory_;
  std::unique_ptr<rocksdb::CompactionFilter> made_;
  size_t entries_ = 0;
  std::optional<std::string> last_key_;
  std::optional<std::string> skip_until_;
  std::string kept_;
};

}  // namespace

std::shared_ptr<FamilyFilter> engine_filter(const rocksdb::ColumnFamilyOptions& options,
                                            rocksdb::Statistics* statistics) {
  return std::make_shared<Filter>(options, statistics);
}

}  // namespace hawthorn::rocks

namespace rocksdb {

CompactionFilter::Decision CompactionFilter::FilterV3(
    int level, const Slice& key, ValueType value_type, const Slice* existing_value,
    const WideColumns*, std::string* new_value, std::vector<std::pair<std::string, std::string>>*,
    std::string* skip_until) const {
  if (value_type == kWideColumnEntity) return Decision::kKeep;
  return FilterV2(level, key, value_type, *existing_value, new_value, skip_until);
}

CompactionFilter::Decision CompactionFilter::FilterV2(int level, const Slice& key,
                                                      ValueType value_type,
                                                      const Slice& existing_value,
                                                      std::string* new_value, std::string*) const {
  if (value_type != kValue) return Decision::kKeep;
  bool changed = false;
  if (Filter(level, key, existing_value, new_value, &changed)) return Decision::kRemove;
  return changed ? Decision::kChangeValue : Decision::kKeep;
}

}  // namespace rocksdb
