#pragma once
// An iterator that shows another one: what a class derived from it does not change goes there.
//
// Used by iterators that count, strip or move what they show. Threads: as the iterator.

#include <memory>
#include <string>
#include <utility>

#include "rocksdb/iterator.h"

namespace hawthorn::rocks {

class IteratorAround : public rocksdb::Iterator {
 public:
  explicit IteratorAround(std::unique_ptr<rocksdb::Iterator> of) : of_(std::move(of)) {}

  bool Valid() const override { return of_->Valid(); }
  void SeekToFirst() override { of_->SeekToFirst(); }
  void SeekToLast() override { of_->SeekToLast(); }
  void Seek(const rocksdb::Slice& target) override { of_->Seek(target); }
  void SeekForPrev(const rocksdb::Slice& target) override { of_->SeekForPrev(target); }
  void Next() override { of_->Next(); }
  void Prev() override { of_->Prev(); }
  rocksdb::Status Refresh() override { return of_->Refresh(); }
  rocksdb::Status Refresh(const rocksdb::Snapshot* snapshot) override {
    return of_->Refresh(snapshot);
  }
  bool PrepareValue() override { return of_->PrepareValue(); }
  rocksdb::Slice key() const override { return of_->key(); }
  rocksdb::Slice value() const override { return of_->value(); }
  const rocksdb::WideColumns& columns() const override { return of_->columns(); }
  rocksdb::Status status() const override { return of_->status(); }
  rocksdb::Status GetProperty(std::string prop_name, std::string* prop) override {
    return of_->GetProperty(std::move(prop_name), prop);
  }

 protected:
  std::unique_ptr<rocksdb::Iterator> of_;
};

}  // namespace hawthorn::rocks
