#pragma once
// An iterator over a base and what a batch changes of it.
//
// Used by WriteBatchWithIndex and transactions. Threads: one object from one thread at a time.
//
// 1. Forward, both sides stand on their first key from the shown one on; backward, on their last
//    one up to it. Turning round seeks on both sides.
// 2. Where both have the key, the batch's update is shown; `both_`.
// 3. As in RocksDB, what is added to the batch up to where its side stands is not seen before the
//    next seek or turn, and where that side has come to its end, nothing is: who adds behind each
//    key that is shown comes to an end.
// 4. The side of the batch is within the bounds of the read options; the base knows its own.

#include <memory>
#include <string>

#include "rocksdb/iterator.h"
#include "shims/rocksdb/src/batch_index.h"

namespace hawthorn::rocks {

class BaseDeltaIterator final : public rocksdb::Iterator {
 public:
  // Owns the base. Without `options`, no bounds.
  BaseDeltaIterator(rocksdb::ColumnFamilyHandle* handle, rocksdb::Iterator* base,
                    const FamilyIndex& delta, const rocksdb::ReadOptions* options);
  ~BaseDeltaIterator() override = default;

  bool Valid() const override { return valid_; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const rocksdb::Slice& target) override;
  void SeekForPrev(const rocksdb::Slice& target) override;
  void Next() override { move(true); }
  void Prev() override { move(false); }
  rocksdb::Slice key() const override;
  rocksdb::Slice value() const override;
  const rocksdb::WideColumns& columns() const override;
  rocksdb::Status status() const override;

 private:
  using Place = FamilyIndex::Entries::const_iterator;

  void move(bool forward);
  bool turn(bool forward);
  // Off the shown key.
  void step();
  // From where both sides stand, to the next key that is to be shown.
  void settle();
  void seek_delta(const rocksdb::Slice& target);
  void seek_delta_for_prev(const rocksdb::Slice& target);
  // To the newest update of the last key before `place`, or nowhere.
  void delta_before(Place place);
  void next_delta();
  void renew_delta();
  bool has_delta() const;

  rocksdb::ColumnFamilyHandle* const handle_;
  const std::unique_ptr<rocksdb::Iterator> base_;
  const FamilyIndex& delta_;
  const rocksdb::Slice* const lower_;
  const rocksdb::Slice* const upper_;
  Place at_;            // the newest update of its key, or the end
  size_t entries_ = 0;  // of the batch when it was last looked at
  bool forward_ = true;
  bool valid_ = false;
  bool shows_base_ = false;
  bool both_ = false;
  rocksdb::PinnableWideColumns shown_;  // where it is not the base
  rocksdb::Status status_;
};

}  // namespace hawthorn::rocks
