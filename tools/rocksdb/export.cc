// export-rocksdb: each family as sorted files, which RocksDB takes in at once. Not all versions of
// RocksDB have entities in such files: families that have some are written through its memtables.

#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "shims/rocksdb/src/entities.h"
#include "tools/partial_directory.h"
#include "tools/rocksdb/migrate.h"
#include "tools/rocksdb/rocks_source.h"
#include "tools/rocksdb/tree_source.h"
#include "tools/rocksdb/tree_walk.h"

namespace hawthorn::tools {
namespace {

constexpr uint64_t kFileBytes = uint64_t{256} << 20;
constexpr size_t kBatchBytes = size_t{1} << 20;

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

// The entries of one family with entities, without a log.
class Batches {
 public:
  Batches(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* handle, const std::string& directory)
      : db_(db), handle_(handle), directory_(directory) {
    options_.disableWAL = true;
  }

  Status put(std::string_view key, const Content& content) {
    rocksdb::Status s;
    if (content.entity) {
      rocksdb::WideColumns columns;
      s = rocks::decode_columns(content.bytes, &columns);
      if (s.ok()) s = batch_.PutEntity(handle_, rocksdb::Slice(key), columns);
    } else {
      s = batch_.Put(handle_, rocksdb::Slice(key), rocksdb::Slice(content.bytes));
    }
    if (s.ok() && batch_.GetDataSize() >= kBatchBytes) s = write();
    return status_of(directory_, s);
  }

  Status finish() {
    rocksdb::Status s = write();
    if (s.ok()) s = db_->Flush(rocksdb::FlushOptions(), handle_);
    return status_of(directory_, s);
  }

 private:
  rocksdb::Status write() {
    rocksdb::Status s = db_->Write(options_, &batch_);
    batch_.Clear();
    return s;
  }

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const handle_;
  const std::string& directory_;
  rocksdb::WriteOptions options_;
  rocksdb::WriteBatch batch_;
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
    TreeWalk walk(source_.db(), family.tree, *family.mark);
    if (family.mark->get() != nullptr) {
      Batches batches(db_.get(), handle, directory_);
      const Status status =
          copier_.copy(family.name, walk, [&batches](std::string_view key, const Content& content) {
            return batches.put(key, content);
          });
      return status.ok() ? in_family(family.name, batches.finish()) : status;
    }
    SortedFiles files(directory_, family.options);
    Status status =
        copier_.copy(family.name, walk, [&files](std::string_view key, const Content& content) {
          return files.put(key, content.bytes);
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
        TreeWalk walk(source_.db(), family.tree, *family.mark);
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
