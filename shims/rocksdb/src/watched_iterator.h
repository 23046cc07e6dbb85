#pragma once
// An iterator that counts what is done with another one, for statistics.
//
// Used by DBImpl, only where somebody wants to know. Threads: as the iterator.
//
// 1. Steps are told with the next seek, or when it goes, and not one by one.

#include <memory>
#include <string>
#include <utility>

#include "rocksdb/iterator.h"
#include "shims/rocksdb/src/measure.h"

namespace hawthorn::rocks {

class WatchedIterator final : public rocksdb::Iterator {
 public:
  WatchedIterator(std::unique_ptr<rocksdb::Iterator> of, rocksdb::Statistics& to)
      : of_(std::move(of)), to_(to) {
    to_.recordTick(rocksdb::NO_ITERATOR_CREATED);
  }
  ~WatchedIterator() override {
    tell_steps();
    to_.recordTick(rocksdb::NO_ITERATOR_DELETED);
  }

  bool Valid() const override { return of_->Valid(); }
  void SeekToFirst() override {
    of_->SeekToFirst();
    sought();
  }
  void SeekToLast() override {
    of_->SeekToLast();
    sought();
  }
  void Seek(const rocksdb::Slice& target) override {
    const Measured call(&to_, rocksdb::DB_SEEK);
    of_->Seek(target);
    sought();
  }
  void SeekForPrev(const rocksdb::Slice& target) override {
    const Measured call(&to_, rocksdb::DB_SEEK);
    of_->SeekForPrev(target);
    sought();
  }
  void Next() override {
    of_->Next();
    stepped(next_);
  }
  void Prev() override {
    of_->Prev();
    stepped(prev_);
  }
  rocksdb::Status Refresh() override { return of_->Refresh(); }
  rocksdb::Status Refresh(const rocksdb::Snapshot* snapshot) override {
    return of_->Refresh(snapshot);
  }
  bool PrepareValue() override { return of_->PrepareValue(); }
  rocksdb::Slice key() const override { return of_->key(); }
  rocksdb::Slice value() const override { return of_->value(); }
  rocksdb::Status status() const override { return of_->status(); }
  rocksdb::Status GetProperty(std::string prop_name, std::string* prop) override {
    return of_->GetProperty(std::move(prop_name), prop);
  }

 private:
  struct Steps {
    uint64_t all = 0;
    uint64_t found = 0;
  };

  void stepped(Steps& steps) {
    ++steps.all;
    if (!of_->Valid()) return;
    ++steps.found;
    bytes_ += of_->key().size() + of_->value().size();
  }
  void sought() {
    tell_steps();
    to_.recordTick(rocksdb::NUMBER_DB_SEEK);
    if (!of_->Valid()) return;
    to_.recordTick(rocksdb::NUMBER_DB_SEEK_FOUND);
    to_.recordTick(rocksdb::ITER_BYTES_READ, of_->key().size() + of_->value().size());
  }
  void tell_steps() {
    tell(rocksdb::NUMBER_DB_NEXT, next_.all);
    tell(rocksdb::NUMBER_DB_NEXT_FOUND, next_.found);
    tell(rocksdb::NUMBER_DB_PREV, prev_.all);
    tell(rocksdb::NUMBER_DB_PREV_FOUND, prev_.found);
    tell(rocksdb::ITER_BYTES_READ, bytes_);
  }
  void tell(uint32_t ticker, uint64_t& count) {
    if (count > 0) to_.recordTick(ticker, std::exchange(count, 0));
  }

  const std::unique_ptr<rocksdb::Iterator> of_;
  rocksdb::Statistics& to_;
  Steps next_;
  Steps prev_;
  uint64_t bytes_ = 0;
};

}  // namespace hawthorn::rocks
