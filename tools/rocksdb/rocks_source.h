#pragma once
// A database that RocksDB has written, opened read-only with RocksDB's own library.
//
// While it is open its lock is held for reading, where there is one, so that no process opens it
// for writing. Its options are those of its newest OPTIONS file; without one, RocksDB's defaults.
// Not here: writing one (export.cc). Threads: single-threaded.
//
// 1. What is opened can be read in full: families with a comparator or a merge operator that this
//    program does not have are refused, by name, when it is opened.

#include <rocksdb/db.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hawthorn/status.h"
#include "tools/rocksdb/migrate.h"

namespace hawthorn::tools {

// With the name of what it was about before RocksDB's own message.
Status status_of(const std::string& what, const rocksdb::Status& status);

// RocksDB's open, which hands out an owner in some versions, and a pointer in others.
template <typename Owner>
rocksdb::Status open_rocksdb(bool read_only, const rocksdb::DBOptions& options,
                             const std::string& path,
                             const std::vector<rocksdb::ColumnFamilyDescriptor>& families,
                             std::vector<rocksdb::ColumnFamilyHandle*>* handles, Owner* db) {
  using Db = rocksdb::DB;
  const auto open = [&](auto* to) {
    return read_only ? Db::OpenForReadOnly(options, path, families, handles, to)
                     : Db::Open(options, path, families, handles, to);
  };
  if constexpr (requires { Db::Open(options, path, families, handles, db); }) {
    return open(db);
  } else {
    typename Owner::pointer opened = nullptr;
    const rocksdb::Status status = open(&opened);
    db->reset(opened);
    return status;
  }
}

struct SourceFamily {
  std::string name;
  rocksdb::ColumnFamilyOptions options;
  rocksdb::ColumnFamilyHandle* handle = nullptr;
};

class RocksSource {
 public:
  // Errors: kNotFound where there is no database; kBusy while a process has it open for writing;
  // kNotSupported (invariant 1); RocksDB's own.
  static Result<std::unique_ptr<RocksSource>> open(const MigrateOptions& options);
  ~RocksSource();
  RocksSource(const RocksSource&) = delete;
  RocksSource& operator=(const RocksSource&) = delete;

  // In the order of their ids.
  const std::vector<SourceFamily>& families() const { return families_; }
  // RocksDB's estimate.
  uint64_t entries() const;
  // From the first entry on. Lifetime: before the source.
  std::unique_ptr<Walk> walk(const SourceFamily& family) const;

 private:
  explicit RocksSource(std::string directory) : directory_(std::move(directory)) {}
  Status lock();
  Status load_options(const MigrateOptions& options);
  Status open_families();

  const std::string directory_;
  int lock_fd_ = -1;
  rocksdb::DBOptions db_options_;
  std::vector<SourceFamily> families_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace hawthorn::tools
