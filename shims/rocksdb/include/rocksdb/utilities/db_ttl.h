#pragma once
// A database whose entries go some time after they were written.
//
// Behind each value the time of its write is kept, four bytes of seconds since 1970, as in RocksDB;
// reads and iterators take them off. A compaction filter removes what is older than the family's
// ttl: behind the flush that brought it to the disk, and at CompactRange. So what has expired may
// be seen until then; what has not is there. The program's own compaction filter and merge operator
// are called without the times. What is merged is as old as its newest operand. How much a ttl is
// may be another with each open, and change while it is open. A ttl of 0 or below is none.
//
// A database of this kind is always to be opened as such: without it, values have the four bytes
// more, and nothing goes. What one of another kind has written gives Corruption, unless it happens
// to end with a time since 2013, and is never removed where it is too short for one.
//
// Not here: writes of transactions, and files that are ingested, which bring their times
// themselves. Threads: as rocksdb::DB. Lifetime: filters and comparators of the options outlive it.

#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/utilities/stackable_db.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class DBWithTTL : public StackableDB {
 public:
  // NotSupported beyond 32 families that were made by it.
  virtual Status CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                           const std::string& column_family_name,
                                           ColumnFamilyHandle** handle, int ttl) = 0;

  // In seconds.
  static Status Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                     int32_t ttl = 0, bool read_only = false);
  // One ttl for each family, or InvalidArgument. A database that is read_only removes nothing.
  static Status Open(const DBOptions& db_options, const std::string& dbname,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                     const std::vector<int32_t>& ttls, bool read_only = false);

  // Of the default family; also for what is there already.
  virtual void SetTtl(int32_t ttl) = 0;
  virtual void SetTtl(ColumnFamilyHandle* h, int32_t ttl) = 0;

 protected:
  explicit DBWithTTL(DB* db) : StackableDB(db) {}
};

}  // namespace ROCKSDB_NAMESPACE
