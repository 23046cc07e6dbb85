// export-rocksdb: each family as sorted files, which RocksDB takes in at once.

#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tools/rocksdb/migrate.h"
#include "tools/rocksdb/partial_directory.h"
#include "tools/rocksdb/rocks_source.h"
#include "tools/rocksdb/tree_source.h"
#include "tools/rocksdb/tree_walk.h"

namespace hawthorn::tools {
namespace {

constexpr uint64_t kFileBytes = uint64_t{256} << 20;

// The files of one family.
class SortedFiles {
 public:
  SortedFiles(std::string directory, const rocksdb::ColumnFamilyOptions& options)
      : directory_(std::move(directory)),
        options_(rocksdb::DBOptions(), options),
        writer_(rocksdb::EnvOptions(), options_) {}

  Status put(std::string_view key, std::string_view value) {
    rocksdb::Status s;
    if (!open_) {
      files_.push_back(directory_ + "/" + std::to_string(files_.size()) + ".export");
      s = writer_.Open(files_.back());
      open_ = s.ok();
    }
    if (s.ok()) s = writer_.Put(rocksdb::Slice(key), rocksdb::Slice(value));
    if (!s.ok()) return status_of(files_.back(), s);
    return writer_.FileSize() < kFileBytes ? Status() : finish();
  }

  Status finish() {
    if (!std::exchange(open_, false)) return {};
    return status_of(files_.back(), writer_.Finish());
  }

  const std::vector<std::string>& names() const { return files_; }

 private:
  const std::string directory_;
  const rocksdb::Options options_;
  rocksdb::SstFileWriter writer_;
  std::vector<std::string> files_;
  bool open_ = false;
};

class Export {
 public:
  Export(TreeSource& source, const MigrateOptions& options)
      : source_(source), options_(options), copier_(options, "exported", source.entries()) {}
  ~Export() { static_cast<void>(close()); }

  // Into a directory that is there, and empty.
  Status run(const std::string& directory) {
    directory_ = directory;
    Status status = open();
    for (const TreeFamily& family : source_.families()) {
      if (status.ok()) status = export_family(family);
    }
    if (Status closed = close(); status.ok()) status = closed;
    return status.ok() ? verify() : status;
  }

  const Copier& copier() const { return copier_; }

 private:
  // RocksDB's default family is always there, and is made with the database.
  Status open() {
    rocksdb::ColumnFamilyOptions of_default;
    for (const TreeFamily& family : source_.families()) {
      if (family.name == rocksdb::kDefaultColumnFamilyName) of_default = family.options;
    }
    rocksdb::DBOptions options;
    options.create_if_missing = true;
    const rocksdb::Status s =
        open_rocksdb(false, options, directory_, {{rocksdb::kDefaultColumnFamilyName, of_default}},
                     &handles_, &db_);
    return status_of(directory_, s);
  }

  Status export_family(const TreeFamily& family) {
    rocksdb::ColumnFamilyHandle* handle = handles_.front();
    if (family.name != rocksdb::kDefaultColumnFamilyName) {
      const rocksdb::Status s = db_->CreateColumnFamily(family.options, family.name, &handle);
      if (!s.ok()) return in_family(family.name, status_of(directory_, s));
      handles_.push_back(handle);
    }
    SortedFiles files(directory_, family.options);
    TreeWalk walk(source_.db(), family.tree);
    Status status = copier_.copy(family.name, walk, [&files](std::string_view key, auto value) {
      return files.put(key, value);
    });
    if (status.ok()) status = in_family(family.name, files.finish());
    if (!status.ok() || files.names().empty()) return status;
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    return in_family(family.name,
                     status_of(directory_, db_->IngestExternalFile(handle, files.names(), ingest)));
  }

  Status close() {
    if (db_ == nullptr) return {};
    for (rocksdb::ColumnFamilyHandle* handle : handles_) db_->DestroyColumnFamilyHandle(handle);
    const rocksdb::Status s = db_->Close();
    db_.reset();
    return status_of(directory_, s);
  }

  Status verify() {
    MigrateOptions of_copy;
    of_copy.source = directory_;
    const Result<std::unique_ptr<RocksSource>> copy = RocksSource::open(of_copy);
    if (!copy.ok()) return copy.status();
    for (size_t i = 0; i < source_.families().size(); ++i) {
      const TreeFamily& family = source_.families()[i];
      const auto& families = (*copy)->families();
      const auto found = std::find_if(families.begin(), families.end(),
                                      [&](const auto& other) { return other.name == family.name; });
      if (found == families.end()) return compare_counts(copier_.families()[i], 0);
      const std::unique_ptr<Walk> copied = (*copy)->walk(*found);
      Status status;
      if (options_.verify) {
        TreeWalk walk(source_.db(), family.tree);
        status = compare_entries(walk, *copied, family.name);
      } else {
        uint64_t entries = 0;
        for (; copied->valid(); copied->next()) ++entries;
        status = in_family(family.name, copied->status());
        if (status.ok()) status = compare_counts(copier_.families()[i], entries);
      }
      if (!status.ok()) return status;
    }
    return {};
  }

  TreeSource& source_;
  const MigrateOptions& options_;
  Copier copier_;
  std::string directory_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace

Status run_export(const MigrateOptions& options) {
  Result<std::unique_ptr<TreeSource>> source = TreeSource::open(options);
  if (!source.ok()) return source.status();
  Result<PartialDirectory> target = PartialDirectory::make(options.target);
  if (!target.ok()) return target.status();
  Export work(**source, options);
  Status status = work.run(target->path());
  if (status.ok()) status = target->finish();
  return status.ok() ? work.copier().report() : status;
}

}  // namespace hawthorn::tools
