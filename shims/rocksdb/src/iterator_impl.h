#pragma once
// An iterator over a cursor of the engine.
//
// Used by DBImpl. Threads: one object from one thread at a time.
//
// 1. `bounds` of the read options are looked at with each seek; where they have changed, the cursor
//    is opened anew, on the same view.
// 2. Without a snapshot of the program's the iterator takes one of its own only where it has to
//    open a second cursor on the same view; a cursor alone brings its own.

#include <hawthorn/cursor.h>
#include <hawthorn/db.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/iterator.h"
#include "shims/rocksdb/src/families.h"
#include "shims/rocksdb/src/snapshots.h"

namespace hawthorn::rocks {

class IteratorImpl final : public rocksdb::Iterator {
 public:
  IteratorImpl(hawthorn::Db* db, std::shared_ptr<Family> family,
               const rocksdb::ReadOptions& options, HeldSnapshot snapshot);

  bool Valid() const override { return valid_; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const rocksdb::Slice& target) override;
  void SeekForPrev(const rocksdb::Slice& target) override;
  void Next() override {
    if (!valid_) return;
    if (tails_) return next_of_tailing();
    stand(cursor_.next());
  }
  void Prev() override {
    if (valid_) stand(cursor_.prev());
  }
  rocksdb::Status Refresh() override { return Refresh(nullptr); }
  rocksdb::Status Refresh(const rocksdb::Snapshot* snapshot) override;
  rocksdb::Slice key() const override { return key_; }
  rocksdb::Slice value() const override { return value_; }
  const rocksdb::WideColumns& columns() const override;
  rocksdb::Status status() const override;
  rocksdb::Status GetProperty(std::string prop_name, std::string* prop) override;

 private:
  void stand(bool found) {
    valid_ = found;
    if (found) show(cursor_.key(), cursor_.value());
  }
  void show(std::string_view key, std::string_view value) {
    key_ = rocksdb::Slice(key.data(), key.size());
    value_ = rocksdb::Slice(value.data(), value.size());
    if (!plain_) stand_specially();
    if (mark_->get() != nullptr) take_content();
  }
  void next_of_tailing();
  void stand_specially();
  // Of a family with entities: value_ is what its tree has.
  void take_content();
  void open();
  // Before a seek: a view and bounds of now.
  void prepare();
  // Where a tailing iterator has come to the end of its view: on in what is committed now.
  void next_of_now();
  void take_prefix(const rocksdb::Slice& target);
  std::string_view pinned(std::string_view bytes);

  hawthorn::Db* const db_;
  const std::shared_ptr<Family> family_;
  const EntityMark* const mark_;  // the family's
  const rocksdb::ReadOptions options_;
  // Neither pinned data nor prefixes: the common case.
  const bool plain_;
  const bool bounded_;
  const bool tails_;
  std::string last_;  // of a tailing one: the key before the move
  // Null where it may leave prefixes. One that SetOptions sets is for later iterators.
  const std::shared_ptr<const rocksdb::SliceTransform> extractor_;
  HeldSnapshot snapshot_;
  std::optional<std::string> lower_;  // that the cursor has
  std::optional<std::string> upper_;
  hawthorn::Cursor cursor_;
  bool valid_ = false;
  rocksdb::Slice key_;
  rocksdb::Slice value_;
  bool is_entity_ = false;                       // columns_ are those of the entry
  mutable rocksdb::WideColumns columns_;         // of a plain value, where they were asked for
  rocksdb::Status damaged_;                      // an entity that cannot be read, on which it ended
  std::optional<std::string> prefix_;            // that it must not leave
  std::vector<std::unique_ptr<char[]>> blocks_;  // of pinned data
  size_t block_left_ = 0;
};

}  // namespace hawthorn::rocks
