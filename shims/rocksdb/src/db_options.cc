// Options of a database that is open: shown, and changed.

#include <algorithm>

#include "shims/rocksdb/src/convert.h"
#include "shims/rocksdb/src/db_impl.h"
#include "shims/rocksdb/src/option_map.h"
#include "shims/rocksdb/src/option_text.h"
#include "shims/rocksdb/src/options_file.h"

namespace hawthorn::rocks {
using S = rocksdb::Status;

namespace {

// Into a copy of what is there. Objects that cannot be made of their names are an error: otherwise
// a program would believe that it has them.
template <typename T>
S parse_changes(OptionTable table, const OptionMap& changes, T* options) {
  if (changes.empty()) return S::InvalidArgument("empty input");
  rocksdb::ConfigOptions config;
  config.mutable_options_only = true;
  config.ignore_unsupported_options = false;
  S s = parse_options(table, config, changes, options);
  return s.ok() ? check_options(*options) : s;
}

}  // namespace

int DBImpl::NumberLevels(Handle* handle) { return family_of(handle)->options.num_levels; }

int DBImpl::Level0StopWriteTrigger(Handle* handle) {
  return family_of(handle)->options_now().level0_stop_writes_trigger;
}

rocksdb::Options DBImpl::GetOptions(Handle* handle) const {
  return {GetDBOptions(), family_of(handle)->options_now()};
}

rocksdb::DBOptions DBImpl::GetDBOptions() const {
  const std::shared_lock lock(families_mutex_);
  return options_;
}

// The budget goes first, since it may be refused.
rocksdb::Status DBImpl::set_budget_with(const Family& changed,
                                        const rocksdb::ColumnFamilyOptions& options) {
  size_t bytes = 0;
  {
    const std::shared_lock lock(families_mutex_);
    std::vector<const rocksdb::ColumnFamilyOptions*> all = family_options();
    std::replace(all.begin(), all.end(), &changed.options, &options);
    bytes = memory_budget(options_, all);
  }
  const std::lock_guard lock(budget_mutex_);
  return told(db_->set_memory_budget(bytes));
}

rocksdb::Status DBImpl::options_text(std::string* text) const {
  std::map<uint32_t, std::shared_ptr<Family>> by_id;
  {
    const std::shared_lock lock(families_mutex_);
    for (const std::shared_ptr<Family>& family : families_) by_id[family->id] = family;
  }
  NamedFamilies families;
  for (const auto& [id, family] : by_id) families.emplace_back(family->name, family->options_now());
  return options_file_text(GetDBOptions(), families, text);
}

rocksdb::Status DBImpl::keep_options(const std::string& directory) const {
  std::string text;
  S s = options_text(&text);
  if (s.ok()) s = write_options_file(directory, text);
  return s.ok() ? s : S::IOError("Unable to persist options.", s.ToString());
}

// Where memory is missing it says so: what was done before this is done.
rocksdb::Status DBImpl::keep_options_now() try {
  const std::lock_guard lock(admin_);
  return keep_options(directory_.path());
} catch (const std::bad_alloc&) {
  return S::MemoryLimit();
}

rocksdb::Status DBImpl::SetOptions(Handle* handle, const OptionMap& changes) {
  if (read_only_) return S::NotSupported("Not supported operation in read only mode.");
  Family& family = *family_of(handle);
  const std::lock_guard lock(admin_);
  if (family.dropped) return S::InvalidArgument("Column family already dropped!");
  rocksdb::ColumnFamilyOptions options = family.options_now();
  S s = parse_changes(family_option_table(), changes, &options);
  if (s.ok()) s = set_budget_with(family, options);
  if (!s.ok()) return s;
  s = set_compression(family, compression_of(options));
  if (s.ok()) {
    const std::unique_lock families_lock(families_mutex_);
    const std::lock_guard options_lock(family.options_mutex);
    copy_options(family_option_table(), changes, &options, &family.options);
  }
  if (s.ok()) subscribe();
  // What has changed a cache meanwhile, or the budget as it was.
  memory_changed();
  return s.ok() ? keep_options(directory_.path()) : s;
}

rocksdb::Status DBImpl::SetDBOptions(const OptionMap& changes) {
  if (read_only_) return S::NotSupported("Not supported operation in read only mode.");
  const std::lock_guard lock(admin_);
  rocksdb::DBOptions options = GetDBOptions();
  S s = parse_changes(db_option_table(), changes, &options);
  if (!s.ok()) return s;
  {
    const std::unique_lock families_lock(families_mutex_);
    copy_options(db_option_table(), changes, &options, &options_);
  }
  return keep_options(directory_.path());
}

}  // namespace hawthorn::rocks
