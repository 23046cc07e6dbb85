#pragma once
// A file of entries (entries_file.h) that is searched and walked in both directions.
//
// It is read once as a whole, to know where its blocks begin; from then on a block at a time.
// Not here: what becomes of merges, deletes and ranges.
// Used by SstFileReader. Threads: EntriesMap::read alone, the rest any; a walk one at a time.
//
// 1. Keys ascend, in a file and so in each block: read() has looked.
// 2. A block that has points has one in `blocks`; those of ranges alone have none.

#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/table_properties.h"
#include "shims/rocksdb/src/entries_file.h"

namespace hawthorn::rocks {

struct EntriesMap {
  struct Block {
    uint64_t at;
    std::string first;  // of its points
  };
  // Errors: those of reading; Corruption for keys out of order, and where entries are missing.
  rocksdb::Status read(const EntriesReader& file, const rocksdb::Comparator& comparator);

  std::vector<Block> blocks;
  rocksdb::TableProperties properties;

 private:
  rocksdb::Status add(const EntriesReader& file, const rocksdb::Comparator& comparator,
                      uint64_t block_at, const BatchRecord& record);
  void finish(const EntriesReader& file);

  std::string last_;
  bool any_ = false;  // points
};

// Over the points: entries other than ranges.
class EntriesWalk {
 public:
  EntriesWalk(const EntriesReader* file, const EntriesMap* map,
              const rocksdb::Comparator* comparator)
      : file_(file), map_(map), comparator_(comparator) {}

  // False behind the ends, and for an error.
  bool valid() const { return at_ < records_.size(); }
  const rocksdb::Status& status() const { return status_; }
  // Lifetime: until it moves to another block.
  const BatchRecord& record() const { return records_[at_]; }
  void first() { load(0) ? to(0) : leave(); }
  void last() { load(map_->blocks.size() - 1) ? to(records_.size() - 1) : leave(); }
  // To the first point that is not before the key.
  void seek(const rocksdb::Slice& key);
  void next();
  void prev();

 private:
  bool load(size_t block);
  void to(size_t at) { at_ = at; }
  void leave() { records_.clear(), at_ = 0, block_ = kNone; }

  static constexpr size_t kNone = SIZE_MAX;
  const EntriesReader* const file_;
  const EntriesMap* const map_;
  const rocksdb::Comparator* const comparator_;
  size_t block_ = kNone;
  std::string bytes_;
  std::vector<BatchRecord> records_;
  size_t at_ = 0;
  rocksdb::Status status_;
};

}  // namespace hawthorn::rocks
