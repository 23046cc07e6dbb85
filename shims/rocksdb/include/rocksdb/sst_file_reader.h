#pragma once
// Reads a file that SstFileWriter has written, as it stands.
//
//   SstFileReader reader(options);
//   Status s = reader.Open("entries");
//   std::unique_ptr<Iterator> at(reader.NewIterator(ReadOptions()));
//
// Shown are the entries of the file alone: what it deletes is not there, a merge is folded by the
// operator of the options, and ranges delete nothing, since they are about what a database held
// before. RocksDB's tables are not read.
//
// Not here: NewTableIterator.
// Threads: Open alone, the rest from any thread. Lifetime: iterators go before their reader.

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/table_properties.h"

namespace ROCKSDB_NAMESPACE {

// [mapped]
class SstFileReader {
 public:
  // Of the options comparator and merge operator count.
  explicit SstFileReader(const Options& options);
  ~SstFileReader();
  SstFileReader(const SstFileReader&) = delete;
  SstFileReader& operator=(const SstFileReader&) = delete;

  // Errors: Corruption for other files, and damaged ends; InvalidArgument for another comparator.
  Status Open(const std::string& file_path);
  // The caller owns it. The first one, and what is below, reads the whole file once. Of the read
  // options the bounds count. Corruption for what is damaged, or out of order; InvalidArgument for
  // a merge without an operator.
  Iterator* NewIterator(const ReadOptions& options);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  // Null where the file cannot be read.
  std::shared_ptr<const TableProperties> GetTableProperties() const;
  // Of all blocks, which are read anew.
  Status VerifyChecksum(const ReadOptions& options);
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  // Whether there are as many entries as the file says.
  Status VerifyNumEntries(const ReadOptions& options);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ROCKSDB_NAMESPACE
