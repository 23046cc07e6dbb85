// SstFileReader: a walk over a file of entries (entries_walk.h), and what it shows.

#include "rocksdb/sst_file_reader.h"

#include <mutex>
#include <optional>

#include "rocksdb/comparator.h"
#include "rocksdb/merge_operator.h"
#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/entities.h"
#include "shims/rocksdb/src/entries_walk.h"
#include "shims/rocksdb/src/slots.h"

namespace rocksdb {

using hawthorn::rocks::BatchRecord;
using hawthorn::rocks::BatchTag;
using hawthorn::rocks::EntriesMap;
using hawthorn::rocks::EntriesReader;
using hawthorn::rocks::EntriesWalk;
using hawthorn::rocks::view;

struct SstFileReader::Rep {
  explicit Rep(const Options& of_reader) : options(of_reader) {}
  // Reads the file where nobody has.
  Status look();

  const Options options;
  std::unique_ptr<EntriesReader> file;
  std::mutex mutex;
  std::optional<Status> looked;  // guarded by it, as the map is until then
  std::shared_ptr<EntriesMap> map;
};

Status SstFileReader::Rep::look() {
  const std::lock_guard lock(mutex);
  if (file == nullptr) return Status::InvalidArgument("no file is open");
  if (!looked.has_value()) {
    map = std::make_shared<EntriesMap>();
    looked = map->read(*file, *options.comparator);
  }
  return *looked;
}

namespace {

class FileIterator final : public Iterator {
 public:
  FileIterator(const EntriesReader* file, const EntriesMap* map, const Options& options,
               const ReadOptions& read)
      : walk_(file, map, options.comparator),
        comparator_(*options.comparator),
        merges_(options.merge_operator.get()),
        lower_(read.iterate_lower_bound),
        upper_(read.iterate_upper_bound) {}

  bool Valid() const override { return valid_; }
  void SeekToFirst() override {
    lower_ == nullptr ? walk_.first() : walk_.seek(*lower_), show(true);
  }
  void SeekToLast() override {
    if (upper_ == nullptr) {
      walk_.last();
      return show(false);
    }
    walk_.seek(*upper_);
    step_back();
    show(false);
  }
  void Seek(const Slice& target) override {
    const bool below = lower_ != nullptr && comparator_.Compare(target, *lower_) < 0;
    walk_.seek(below ? *lower_ : target);
    show(true);
  }
  void SeekForPrev(const Slice& target) override {
    if (upper_ != nullptr && comparator_.Compare(target, *upper_) >= 0) return SeekToLast();
    walk_.seek(target);
    if (!walk_.valid() || comparator_.Compare(walk_.record().key, target) != 0) step_back();
    show(false);
  }
  void Next() override { walk_.next(), show(true); }
  void Prev() override { walk_.prev(), show(false); }
  Slice key() const override { return walk_.record().key; }
  Slice value() const override { return hawthorn::rocks::default_of(shown_.columns()); }
  const WideColumns& columns() const override { return shown_.columns(); }
  Status status() const override { return failure_.ok() ? walk_.status() : failure_; }

 private:
  void step_back() { walk_.valid() ? walk_.prev() : walk_.last(); }
  bool within() const {
    const Slice& key = walk_.record().key;
    return (lower_ == nullptr || comparator_.Compare(key, *lower_) >= 0) &&
           (upper_ == nullptr || comparator_.Compare(key, *upper_) < 0);
  }
  // From where the walk stands to an entry that is one.
  void show(bool forward) {
    valid_ = false;
    failure_ = Status::OK();
    while (walk_.valid() && within() && walk_.record().tag == BatchTag::kDelete) {
      forward ? walk_.next() : walk_.prev();
    }
    if (!walk_.valid() || !within()) return;
    failure_ = take(walk_.record());
    valid_ = failure_.ok();
  }
  Status take(const BatchRecord& record) {
    if (record.tag == BatchTag::kPutEntity) return shown_.SetWideColumnValue(record.value);
    if (record.tag == BatchTag::kPut) {
      shown_.SetPlainValue(record.value);
      return Status::OK();
    }
    if (merges_ == nullptr) return Status::InvalidArgument("merge_operator must be set.");
    std::string merged;
    if (!hawthorn::rocks::full_merge(*merges_, view(record.key), std::nullopt, {record.value},
                                     nullptr, &merged)) {
      return Status::Corruption("the merge operator has refused an operand");
    }
    shown_.SetPlainValue(std::move(merged));
    return Status::OK();
  }

  EntriesWalk walk_;
  const Comparator& comparator_;
  const MergeOperator* const merges_;
  const Slice* const lower_;
  const Slice* const upper_;
  bool valid_ = false;
  PinnableWideColumns shown_;
  Status failure_;
};

}  // namespace

SstFileReader::SstFileReader(const Options& options) : rep_(std::make_unique<Rep>(options)) {}
SstFileReader::~SstFileReader() = default;

Status SstFileReader::Open(const std::string& file_path) {
  auto file = std::make_unique<EntriesReader>();
  if (Status s = file->open(file_path); !s.ok()) return s;
  if (file->index().comparator != rep_->options.comparator->Name()) {
    return Status::InvalidArgument(file_path, "has the order of " + file->index().comparator);
  }
  rep_->file = std::move(file);
  rep_->looked.reset();
  return Status::OK();
}

Iterator* SstFileReader::NewIterator(const ReadOptions& options) {
  if (Status s = rep_->look(); !s.ok()) return NewErrorIterator(s);
  return new FileIterator(rep_->file.get(), rep_->map.get(), rep_->options, options);
}

std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<std::string>* values) {
  std::vector<Status> statuses(keys.size());
  values->assign(keys.size(), std::string());
  const std::unique_ptr<Iterator> at(NewIterator(options));
  for (size_t i = 0; i < keys.size(); ++i) {
    at->Seek(keys[i]);
    const bool found = at->Valid() && rep_->options.comparator->Compare(at->key(), keys[i]) == 0;
    if (found) (*values)[i] = at->value().ToString();
    statuses[i] = found || !at->status().ok() ? at->status() : Status::NotFound();
  }
  return statuses;
}

std::shared_ptr<const TableProperties> SstFileReader::GetTableProperties() const {
  if (!rep_->look().ok()) return nullptr;
  return {rep_->map, &rep_->map->properties};
}

Status SstFileReader::VerifyChecksum(const ReadOptions&) {
  if (rep_->file == nullptr) return Status::InvalidArgument("no file is open");
  std::string block;
  for (uint64_t at = EntriesReader::blocks_begin(); at != rep_->file->blocks_end();) {
    if (Status s = rep_->file->read_block(at, &block, &at); !s.ok()) return s;
  }
  return Status::OK();
}

Status SstFileReader::VerifyNumEntries(const ReadOptions&) { return rep_->look(); }

// ---- Properties

namespace {

using Number = std::pair<const char*, uint64_t TableProperties::*>;

constexpr Number kNumbers[] = {
    {"data_size", &TableProperties::data_size},
    {"index_size", &TableProperties::index_size},
    {"raw_key_size", &TableProperties::raw_key_size},
    {"raw_value_size", &TableProperties::raw_value_size},
    {"num_data_blocks", &TableProperties::num_data_blocks},
    {"num_entries", &TableProperties::num_entries},
    {"num_deletions", &TableProperties::num_deletions},
    {"num_merge_operands", &TableProperties::num_merge_operands},
    {"num_range_deletions", &TableProperties::num_range_deletions},
};

}  // namespace

std::string TableProperties::ToString(const std::string& prop_delim,
                                      const std::string& kv_delim) const {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text += name + kv_delim + value + prop_delim;
  };
  for (const auto& [name, member] : kNumbers) add(name, std::to_string(this->*member));
  add("comparator_name", comparator_name);
  add("column_family_id", std::to_string(column_family_id));
  add("format_version", std::to_string(format_version));
  return text;
}

void TableProperties::Add(const TableProperties& tp) {
  for (const auto& [name, member] : kNumbers) this->*member += tp.*member;
}

std::map<std::string, uint64_t> TableProperties::GetAggregatablePropertiesAsMap() const {
  std::map<std::string, uint64_t> numbers;
  for (const auto& [name, member] : kNumbers) numbers[name] = this->*member;
  return numbers;
}

}  // namespace rocksdb
