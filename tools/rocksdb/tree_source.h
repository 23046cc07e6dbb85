#pragma once
// A database of this engine, opened read-only: the column families that hawthorn-rocksdb keeps in
// it, or trees that are to become some.
//
// Merge operators and comparators of programs are not kept in databases. The shim's slots stand for
// the first, bound to what the command line names; families with the second are refused.
// Used by export. Threads: single-threaded.

#include <rocksdb/options.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hawthorn/db.h"
#include "shims/rocksdb/src/families.h"
#include "shims/rocksdb/src/slots.h"
#include "tools/rocksdb/migrate.h"

namespace hawthorn::tools {

struct TreeFamily {
  std::string name;
  Tree tree;
  rocksdb::ColumnFamilyOptions options;  // comparator, compression and merge operator
  // Of trees, and of families without entities, it tells none.
  std::shared_ptr<rocks::EntityMark> mark = std::make_shared<rocks::EntityMark>();
};

class TreeSource {
 public:
  // Errors: those of opening; kInvalidArgument where it has no column families, and no tree was
  // named; kNotSupported for what RocksDB has not, or what only the program has that wrote it.
  static Result<std::unique_ptr<TreeSource>> open(const MigrateOptions& options);

  // The default family first.
  const std::vector<TreeFamily>& families() const { return families_; }
  Db& db() { return *db_; }
  uint64_t entries() const;  // about

 private:
  Status open_engine(const MigrateOptions& options);
  Status find_trees(const std::vector<std::string>& names);
  Status find_families(const std::vector<std::string>& merge_operators);
  Status add_family(const std::string& name, const rocks::FamilyRow& row,
                    std::map<std::string, std::string>& merge_operators);

  rocks::Slots slots_;
  std::unique_ptr<Db> db_;
  std::vector<TreeFamily> families_;
};

}  // namespace hawthorn::tools
