#pragma once
// The index of a WriteBatchWithIndex: for each family the updates of its keys, in their order.
//
// An entry says where in the bytes of the batch its record stands, so that it stays right when
// these move. Not here: writing (write_batch_with_index.cc), what the database holds
// (base_delta_iterator.h). Threads: one at a time.
//
// 1. Entries are ordered by key, and those of one key by their place in the batch, the last first.
// 2. With `overwrite`, an update other than a merge takes the place of the newest one of its key;
//    what it stood upon stays behind it, and is not read any more.
// 3. A family is never removed, so that who walks one may keep it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/utilities/write_batch_with_index.h"
#include "shims/rocksdb/src/batch_format.h"

namespace hawthorn::rocks {

struct IndexEntry {
  // Not of its order: those of a key keep theirs when the newest one moves on.
  mutable size_t record_at = 0;
  mutable uint32_t updates = 0;
  mutable bool single_delete = false;
  mutable bool overwrote_single_delete = false;
};

class FamilyIndex {
 public:
  struct Probe {
    rocksdb::Slice key;
  };
  struct Less {
    using is_transparent = void;
    const FamilyIndex* family;
    bool operator()(const IndexEntry& a, const IndexEntry& b) const {
      const int order = family->compare(family->key_of(a), family->key_of(b));
      return order != 0 ? order < 0 : a.record_at > b.record_at;
    }
    bool operator()(const IndexEntry& a, const Probe& b) const {
      return family->compare(family->key_of(a), b.key) < 0;
    }
    bool operator()(const Probe& a, const IndexEntry& b) const {
      return family->compare(a.key, family->key_of(b)) < 0;
    }
  };
  using Entries = std::set<IndexEntry, Less>;

  FamilyIndex(const rocksdb::WriteBatch* batch, const rocksdb::Comparator* comparator)
      : batch_(batch), comparator_(comparator), entries_(Less{this}) {}
  FamilyIndex(const FamilyIndex&) = delete;
  FamilyIndex& operator=(const FamilyIndex&) = delete;

  int compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const {
    return comparator_->Compare(a, b);
  }
  BatchRecord record_of(const IndexEntry& entry) const;
  rocksdb::Slice key_of(const IndexEntry& entry) const { return record_of(entry).key; }
  const Entries& entries() const { return entries_; }

 private:
  friend class BatchIndex;

  const rocksdb::WriteBatch* const batch_;
  const rocksdb::Comparator* comparator_;
  bool comparator_is_own_ = false;  // of a handle, not of the batch
  Entries entries_;
};

// What a batch says of a key.
struct BatchRead {
  enum class Found { kNothing, kValue, kDeleted, kMerges };
  Found found = Found::kNothing;
  // Of kValue; of kMerges with `based` what they are upon. Lifetime: until the batch changes.
  rocksdb::Slice value;
  bool entity = false;  // `value` are columns
  // Of kMerges: whether the batch says what they are upon: `value`, or nothing where `deleted`.
  bool based = false;
  bool deleted = false;
  std::vector<rocksdb::Slice> operands;  // the oldest first
};

class BatchIndex {
 public:
  using Stats = std::unordered_map<uint32_t, rocksdb::WriteBatchWithIndex::CFStat>;

  BatchIndex(const rocksdb::WriteBatch* batch, const rocksdb::Comparator* backup, bool overwrite)
      : batch_(batch), backup_(backup), overwrite_(overwrite) {}

  // Null: family 0.
  FamilyIndex& family(rocksdb::ColumnFamilyHandle* handle);
  // The record that begins there was added to the batch.
  void add(FamilyIndex& family, uint32_t id, size_t record_at);
  void clear();
  // From the batch, which has lost some. Errors: Corruption where its bytes are none of a batch.
  rocksdb::Status rebuild();

  static BatchRead read(const FamilyIndex& family, const rocksdb::Slice& key);
  // From the newest entry of a key on.
  static BatchRead read(const FamilyIndex& family, FamilyIndex::Entries::const_iterator newest);

  const Stats& stats() const { return stats_; }
  bool overwrites() const { return overwrite_; }

 private:
  FamilyIndex& family(uint32_t id);

  const rocksdb::WriteBatch* const batch_;
  const rocksdb::Comparator* const backup_;
  const bool overwrite_;
  std::map<uint32_t, std::unique_ptr<FamilyIndex>> families_;
  Stats stats_;
};

// Folds what read() has found to be merges over `below`, what the database holds, where the batch
// does not say. Errors: InvalidArgument without a handle, or where its family has no operator;
// Corruption where that refuses.
rocksdb::Status fold(rocksdb::ColumnFamilyHandle* handle, const rocksdb::Slice& key,
                     const BatchRead& merges, std::optional<rocksdb::Slice> below,
                     std::string* value);
// The same over an entity, or a plain value as one; null: the database has nothing.
rocksdb::Status fold(rocksdb::ColumnFamilyHandle* handle, const rocksdb::Slice& key,
                     const BatchRead& merges, const rocksdb::WideColumns* below,
                     rocksdb::PinnableWideColumns* columns);
// What `read` has found: a value.
rocksdb::Status show(const BatchRead& read, rocksdb::PinnableSlice* value);
rocksdb::Status show(const BatchRead& read, rocksdb::PinnableWideColumns* columns);

}  // namespace hawthorn::rocks
