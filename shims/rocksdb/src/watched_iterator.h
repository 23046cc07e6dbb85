#pragma once
// An iterator that counts what is done with another one, for statistics and contexts of threads.
//
// Used by DBImpl, only where somebody wants to know. Threads: as the iterator.
//
// 1. Statistics are told of steps with the next seek, or when it goes, and not one by one.

#include <memory>
#include <string>
#include <utility>

#include "shims/rocksdb/src/iterator_around.h"
#include "shims/rocksdb/src/measure.h"

namespace hawthorn::rocks {

class WatchedIterator final : public IteratorAround {
 public:
  // Statistics may be null.
  WatchedIterator(std::unique_ptr<rocksdb::Iterator> of, rocksdb::Statistics* to)
      : IteratorAround(std::move(of)), to_(to) {
    tell(rocksdb::NO_ITERATOR_CREATED, 1);
  }
  ~WatchedIterator() override {
    tell_steps();
    tell(rocksdb::NO_ITERATOR_DELETED, 1);
  }

  void SeekToFirst() override {
    seek([this] { of_->SeekToFirst(); });
  }
  void SeekToLast() override {
    seek([this] { of_->SeekToLast(); });
  }
  void Seek(const rocksdb::Slice& target) override {
    const Measured call(to_, rocksdb::DB_SEEK);
    seek([&] { of_->Seek(target); });
  }
  void SeekForPrev(const rocksdb::Slice& target) override {
    const Measured call(to_, rocksdb::DB_SEEK);
    seek([&] { of_->SeekForPrev(target); });
  }
  void Next() override {
    {
      const PerfTimer timer(&Perf::find_next_user_entry_time, &Perf::iter_next_cpu_nanos);
      of_->Next();
    }
    perf_count(&Perf::iter_next_count);
    stepped(next_);
  }
  void Prev() override {
    {
      const PerfTimer timer(&Perf::find_next_user_entry_time, &Perf::iter_prev_cpu_nanos);
      of_->Prev();
    }
    perf_count(&Perf::iter_prev_count);
    stepped(prev_);
  }

 private:
  using Perf = rocksdb::PerfContextBase;
  struct Steps {
    uint64_t all = 0;
    uint64_t found = 0;
  };

  template <typename Move>
  void seek(const Move& move) {
    {
      const PerfTimer timer(&Perf::seek_internal_seek_time, &Perf::iter_seek_cpu_nanos);
      move();
    }
    perf_count(&Perf::iter_seek_count);
    const uint64_t found = of_->Valid() ? 1 : 0;
    if (found > 0) read_entry();
    tell_steps();
    tell(rocksdb::NUMBER_DB_SEEK, 1);
    tell(rocksdb::NUMBER_DB_SEEK_FOUND, found);
  }
  void stepped(Steps& steps) {
    ++steps.all;
    if (!of_->Valid()) return;
    ++steps.found;
    read_entry();
  }
  void read_entry() {
    const uint64_t bytes = of_->key().size() + of_->value().size();
    perf_count(&Perf::iter_read_bytes, bytes);
    bytes_ += bytes;
  }
  void tell_steps() {
    tell(rocksdb::NUMBER_DB_NEXT, std::exchange(next_.all, 0));
    tell(rocksdb::NUMBER_DB_NEXT_FOUND, std::exchange(next_.found, 0));
    tell(rocksdb::NUMBER_DB_PREV, std::exchange(prev_.all, 0));
    tell(rocksdb::NUMBER_DB_PREV_FOUND, std::exchange(prev_.found, 0));
    tell(rocksdb::ITER_BYTES_READ, std::exchange(bytes_, 0));
  }
  void tell(uint32_t ticker, uint64_t count) const {
    if (to_ != nullptr && count > 0) to_->recordTick(ticker, count);
  }

  rocksdb::Statistics* const to_;
  Steps next_;
  Steps prev_;
  uint64_t bytes_ = 0;  // read, and not told yet
};

}  // namespace hawthorn::rocks
