#pragma once
// import-rocksdb and export-rocksdb: databases that RocksDB has written become such that programs
// open through hawthorn-rocksdb, and the other way round.
//
// They are a program of their own, hawthorn-rocksdb, that is linked with RocksDB's own library and
// with the engine, never with the shim: both have the same symbols. What the shim keeps of families
// it reads and writes by the shim's own sources (families.h, slots.h), which are compiled for it
// against RocksDB's headers.
//
// Not here: the command line (migrate_main.cc). Threads: single-threaded.
//
// 1. The target appears under its name when all of it is there, synced and counted; until then it
//    is a directory NAME.partial.
// 2. The source is opened read-only, and what is read of it is one state.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hawthorn/status.h"
#include "tools/progress.h"

namespace hawthorn::tools {

struct MigrateOptions {
  std::string source;
  std::string target;
  std::string wal_dir;                       // import: instead of what the source's options say
  std::vector<std::string> db_paths;         // import: where its files are beside the directory
  std::vector<std::string> merge_operators;  // export: FAMILY=NAME
  std::vector<std::string> trees;            // export: instead of column families
  uint64_t memory_bytes = uint64_t{256} << 20;
  bool verify = false;
  bool json = false;
  bool progress = false;
  bool quiet = false;  // no progress, on a terminal neither
};

Status run_import(const MigrateOptions& options);
Status run_export(const MigrateOptions& options);

// What an entry has: a value, or wide columns, as the shim's entities.h has them.
struct Content {
  std::string_view bytes;
  bool entity = false;
};

// Entries of one family in their order, whoever holds them.
class Walk {
 public:
  virtual ~Walk() = default;
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual Content content() const = 0;
  virtual void next() = 0;
  // Errors: of reading.
  virtual Status status() const = 0;
};

struct CopiedFamily {
  std::string name;
  uint64_t entries = 0;
  uint64_t bytes = 0;
};

using PutEntry = std::function<Status(std::string_view key, const Content& content)>;

// Copies one family behind the other, counts, and tells of it.
class Copier {
 public:
  // `total`: about how many entries there are, 0 where nobody knows.
  Copier(const MigrateOptions& options, std::string_view verb, uint64_t total);

  // Errors name the family, those of `put` the key, too.
  Status copy(const std::string& family, Walk& from, const PutEntry& put);
  // In the order in which they were copied.
  const std::vector<CopiedFamily>& families() const { return families_; }
  // Prints what was copied.
  Status report() const;

 private:
  const MigrateOptions& options_;
  const std::string verb_;
  const uint64_t total_;
  Progress progress_;
  CopiedFamily all_;
  std::vector<CopiedFamily> families_;
};

// Errors: kCorruption with the first key that is not the same.
Status compare_entries(Walk& source, Walk& copy, const std::string& family);
Status compare_counts(const CopiedFamily& family, uint64_t found);

// "column family NAME: ..." before the message.
Status in_family(const std::string& family, const Status& status);
// A key as a message shows it: readable, and not too long.
std::string shown(std::string_view key);

}  // namespace hawthorn::tools
