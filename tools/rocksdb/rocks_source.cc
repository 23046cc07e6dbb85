#include "tools/rocksdb/rocks_source.h"

#include <fcntl.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

#include "shims/rocksdb/src/entities.h"
#include "tools/stream.h"

namespace hawthorn::tools {
namespace {

constexpr int kOpenFilesMax = 256;
constexpr size_t kCacheBytes = size_t{64} << 20;
constexpr size_t kReadaheadBytes = size_t{2} << 20;

class RocksWalk final : public Walk {
 public:
  RocksWalk(std::string directory, std::unique_ptr<rocksdb::Iterator> iterator)
      : directory_(std::move(directory)), iterator_(std::move(iterator)) {
    iterator_->SeekToFirst();
    look();
  }
  bool valid() const override { return iterator_->Valid(); }
  std::string_view key() const override { return iterator_->key().ToStringView(); }
  Content content() const override {
    if (entity_) return {columns_, true};
    return {iterator_->value().ToStringView()};
  }
  void next() override {
    iterator_->Next();
    look();
  }
  Status status() const override {
    return status_of(directory_, iterator_->Valid() ? encoded_ : iterator_->status());
  }

 private:
  // An entity of a default column alone is a value, in RocksDB, too.
  void look() {
    encoded_ = rocksdb::Status::OK();
    if (!iterator_->Valid()) return;
    const rocksdb::WideColumns& columns = iterator_->columns();
    entity_ = columns.size() != 1 || columns.front().name() != rocksdb::kDefaultWideColumnName;
    if (!entity_) return;
    columns_.clear();
    encoded_ = rocks::encode_columns(columns, &columns_);
  }

  const std::string directory_;
  const std::unique_ptr<rocksdb::Iterator> iterator_;
  bool entity_ = false;
  std::string columns_;  // of the entity
  rocksdb::Status encoded_;
};

// What the OPTIONS file says of a family's objects. RocksDB reads names that it does not know as
// none at all, so they are looked for in the file itself.
struct Declared {
  std::string comparator;
  std::string merge_operator;
  std::string filters;
};

// "{id=NAME;...}" and "NAME" are both written.
std::string name_in(std::string_view value) {
  constexpr std::string_view kId = "{id=";
  if (!value.starts_with(kId)) return std::string(value);
  value.remove_prefix(kId.size());
  return std::string(value.substr(0, value.find_first_of(";}")));
}

// Of all families, in the order of the file, which is that of LoadOptionsFromFile.
std::vector<Declared> declared_in(const std::string& file) {
  std::vector<Declared> families;
  std::ifstream lines(file);
  bool in_family = false;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.starts_with('[')) {
      in_family = line.starts_with("[CFOptions ");
      if (in_family) families.emplace_back();
    }
    const size_t equals = line.find('=');
    if (!in_family || equals == std::string::npos) continue;
    const std::string name = line.substr(0, equals);
    const std::string value = name_in(std::string_view(line).substr(equals + 1));
    if (name == "comparator") families.back().comparator = value;
    if (name == "merge_operator") families.back().merge_operator = value;
    if (name.starts_with("compaction_filter")) families.back().filters += value + " ";
  }
  return families;
}

Status not_supported(const std::string& directory, const std::string& family,
                     const std::string& what) {
  return in_family(family, Status(StatusCode::kNotSupported, what + " (" + directory + ")"));
}

// Invariant 1.
Status check_declared(const std::string& directory, const Declared& declared,
                      const rocksdb::ColumnFamilyDescriptor& family) {
  const rocksdb::Comparator* const comparator = family.options.comparator;
  const bool has_timestamps = comparator != nullptr && comparator->timestamp_size() > 0;
  if (comparator == nullptr || declared.comparator != comparator->Name() || has_timestamps) {
    return not_supported(
        directory, family.name,
        "its comparator is " + declared.comparator + ", which only the program has that wrote it");
  }
  const bool merges = !declared.merge_operator.empty() && declared.merge_operator != "nullptr";
  if (merges && family.options.merge_operator == nullptr) {
    return not_supported(directory, family.name,
                         "its merge operator is " + declared.merge_operator +
                             ", which only the program has that wrote it");
  }
  if (declared.filters.find("TtlCompactionFilter") != std::string::npos) {
    return not_supported(directory, family.name, "its values carry times (DBWithTTL)");
  }
  return {};
}

// What reading needs of a family's options; the rest is about writing.
rocksdb::ColumnFamilyOptions for_reading(const rocksdb::ColumnFamilyOptions& from,
                                         const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  options.comparator = from.comparator;
  options.merge_operator = from.merge_operator;
  options.num_levels = std::max(options.num_levels, from.num_levels);
  options.compression = from.compression;
  options.compression_per_level = from.compression_per_level;
  options.bottommost_compression = from.bottommost_compression;
  options.compaction_style = from.compaction_style;
  options.table_factory = from.table_factory;
  if (options.table_factory->IsInstanceOf(rocksdb::TableFactory::kBlockBasedTableName())) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = cache;
    table.cache_index_and_filter_blocks = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  }
  return options;
}

}  // namespace

Status status_of(const std::string& what, const rocksdb::Status& status) {
  if (status.ok()) return {};
  StatusCode code = StatusCode::kIoError;
  if (status.IsNotFound()) code = StatusCode::kNotFound;
  if (status.IsCorruption()) code = StatusCode::kCorruption;
  if (status.IsInvalidArgument()) code = StatusCode::kInvalidArgument;
  if (status.IsNotSupported()) code = StatusCode::kNotSupported;
  if (status.IsNoSpace()) code = StatusCode::kNoSpace;
  if (status.IsBusy()) code = StatusCode::kBusy;
  return Status(code, what + ": RocksDB says: " + status.ToString());
}

RocksSource::~RocksSource() {
  if (db_ != nullptr) {
    for (const SourceFamily& family : families_) db_->DestroyColumnFamilyHandle(family.handle);
  }
  db_.reset();
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

Result<std::unique_ptr<RocksSource>> RocksSource::open(const MigrateOptions& options) {
  std::unique_ptr<RocksSource> source(new RocksSource(options.source));
  std::error_code error;
  if (!std::filesystem::exists(options.source + "/CURRENT", error)) {
    return Status(StatusCode::kNotFound,
                  options.source + ": no database of RocksDB (it has no file CURRENT)");
  }
  Status status = source->lock();
  if (status.ok()) status = source->load_options(options);
  if (status.ok()) status = source->open_families();
  if (!status.ok()) return status;
  return source;
}

// RocksDB locks this file for writing; a copy may have none.
Status RocksSource::lock() {
  const std::string path = directory_ + "/LOCK";
  lock_fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (lock_fd_ < 0) return errno == ENOENT ? Status() : system_error(path, errno);
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(lock_fd_, F_SETLK, &lock) == 0) return {};
  if (errno != EACCES && errno != EAGAIN) return system_error(path, errno);
  return Status(StatusCode::kBusy, directory_ + ": another process has it open");
}

Status RocksSource::load_options(const MigrateOptions& options) {
  std::vector<std::string> names;
  rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(db_options_, directory_, &names);
  if (!listed.ok()) return status_of(directory_, listed);

  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  std::string file;
  rocksdb::DBOptions loaded;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  std::map<std::string, rocksdb::ColumnFamilyOptions> by_name;
  if (rocksdb::GetLatestOptionsFileName(directory_, rocksdb::Env::Default(), &file).ok()) {
    file.insert(0, directory_ + "/");
    const rocksdb::Status s = LoadOptionsFromFile(config, file, &loaded, &descriptors);
    if (!s.ok()) return status_of(file, s);
    const std::vector<Declared> declared = declared_in(file);
    if (declared.size() != descriptors.size()) {
      return Status(StatusCode::kCorruption, file + ": its families cannot be told apart");
    }
    for (size_t i = 0; i < declared.size(); ++i) {
      if (Status c = check_declared(directory_, declared[i], descriptors[i]); !c.ok()) return c;
      by_name[descriptors[i].name] = descriptors[i].options;
    }
  }
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(kCacheBytes);
  for (const std::string& name : names) {
    families_.push_back({name, for_reading(by_name[name], cache)});
  }
  db_options_.max_open_files = kOpenFilesMax;
  db_options_.wal_recovery_mode = loaded.wal_recovery_mode;
  db_options_.allow_2pc = loaded.allow_2pc;
  db_options_.allow_mmap_reads = loaded.allow_mmap_reads;  // tables of some kinds ask for it
  db_options_.wal_dir = options.wal_dir.empty() ? loaded.wal_dir : options.wal_dir;
  for (const std::string& path : options.db_paths) {
    db_options_.db_paths.emplace_back(path, UINT64_MAX);
  }
  std::error_code error;
  if (!db_options_.wal_dir.empty() && !std::filesystem::exists(db_options_.wal_dir, error)) {
    return Status(StatusCode::kNotFound,
                  directory_ + ": its log was kept in " + db_options_.wal_dir +
                      ", which is not there; --wal-dir says where it is now");
  }
  return {};
}

Status RocksSource::open_families() {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const SourceFamily& family : families_) {
    descriptors.emplace_back(family.name, family.options);
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status s =
      open_rocksdb(true, db_options_, directory_, descriptors, &handles, &db_);
  if (!s.ok()) return status_of(directory_, s);
  for (size_t i = 0; i < handles.size(); ++i) families_[i].handle = handles[i];
  std::sort(families_.begin(), families_.end(),
            [](const auto& a, const auto& b) { return a.handle->GetID() < b.handle->GetID(); });
  return {};
}

uint64_t RocksSource::entries() const {
  uint64_t entries = 0;
  db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &entries);
  return entries;
}

std::unique_ptr<Walk> RocksSource::walk(const SourceFamily& family) const {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = false;
  options.readahead_size = kReadaheadBytes;
  std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(options, family.handle));
  return std::make_unique<RocksWalk>(directory_, std::move(iterator));
}

}  // namespace hawthorn::tools
