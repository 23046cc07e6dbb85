#pragma once
// What stands behind the pointers of the C API, and what its functions have in common.
//
// Not here: semantics; each function is a call of the C++ API, whose objects are called `rep`.
// Used by c_*.cc. Threads: as the C++ objects.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/c.h"
#include "rocksdb/db.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/table.h"
#include "shims/rocksdb/src/c_failures.h"

struct rocksdb_t {
  std::unique_ptr<rocksdb::DB> rep;
};
struct rocksdb_column_family_handle_t {
  rocksdb::ColumnFamilyHandle* rep = nullptr;
  bool owned = true;  // the default family's own handle is the database's
  ~rocksdb_column_family_handle_t() {
    if (owned) delete rep;
  }
};
struct rocksdb_snapshot_t {
  const rocksdb::Snapshot* rep;
};
struct rocksdb_iterator_t {
  // What it is after a step for which there was no memory, until it is placed anew: on nothing,
  // with an error. So steps need not look at anything.
  class Lost final : public rocksdb::Iterator {
   public:
    explicit Lost(rocksdb_iterator_t* of) : of_(of) {}
    bool Valid() const override { return false; }
    void SeekToFirst() override { of_->found().SeekToFirst(); }
    void SeekToLast() override { of_->found().SeekToLast(); }
    void Seek(const rocksdb::Slice& target) override { of_->found().Seek(target); }
    void SeekForPrev(const rocksdb::Slice& target) override { of_->found().SeekForPrev(target); }
    void Next() override {}
    void Prev() override {}
    rocksdb::Slice key() const override { return {}; }
    rocksdb::Slice value() const override { return {}; }
    rocksdb::Status Refresh(const rocksdb::Snapshot* snapshot) override {
      return of_->found().Refresh(snapshot);
    }
    rocksdb::Status status() const override { return rocksdb::Status::MemoryLimit(); }

   private:
    rocksdb_iterator_t* const of_;
  };

  explicit rocksdb_iterator_t(std::unique_ptr<rocksdb::Iterator> of) : rep(std::move(of)) {}
  ~rocksdb_iterator_t() {
    if (rep.get() == &lost) static_cast<void>(rep.release());
  }
  void lose() noexcept {
    if (rep.get() == &lost) return;
    kept = std::move(rep);
    rep.reset(&lost);
  }
  rocksdb::Iterator& found() noexcept {
    if (rep.get() == &lost) {
      static_cast<void>(rep.release());
      rep = std::move(kept);
    }
    return *rep;
  }

  std::unique_ptr<rocksdb::Iterator> rep;
  std::unique_ptr<rocksdb::Iterator> kept;  // while it is lost
  Lost lost{this};
};
struct rocksdb_pinnableslice_t {
  rocksdb::PinnableSlice rep;
};
struct rocksdb_pinnable_handle_t {
  rocksdb::PinnableSlice rep;
};
struct rocksdb_wal_iterator_t {
  std::unique_ptr<rocksdb::TransactionLogIterator> rep;
  bool short_of_memory = false;
};

struct rocksdb_writebatch_t {
  rocksdb::WriteBatch rep;
  bool short_of_memory = false;  // a write that was to go into it is not there
};
struct rocksdb_options_t {
  rocksdb::Options rep;
  bool short_of_memory = false;  // an option is not set
  // What the C++ API of 10.4 has no longer.
  int max_write_buffer_number_to_maintain = 0;
  int access_hint_on_compaction_start = 1;
};
struct rocksdb_readoptions_t {
  rocksdb::ReadOptions rep;
  // Where `rep` points to; iterators look at them as long as they live, as in RocksDB.
  rocksdb::Slice lower_bound, upper_bound, timestamp, iter_start_ts;
};
struct rocksdb_writeoptions_t {
  rocksdb::WriteOptions rep;
};
struct rocksdb_flushoptions_t {
  rocksdb::FlushOptions rep;
};
struct rocksdb_compactoptions_t {
  rocksdb::CompactRangeOptions rep;
  rocksdb::Slice full_history_ts_low;
};
struct rocksdb_wait_for_compact_options_t {
  rocksdb::WaitForCompactOptions rep;
};
struct rocksdb_block_based_table_options_t {
  rocksdb::BlockBasedTableOptions rep;
  bool short_of_memory = false;
};
struct rocksdb_cuckoo_table_options_t {
  rocksdb::CuckooTableOptions rep;
};
struct rocksdb_universal_compaction_options_t {
  rocksdb::CompactionOptionsUniversal rep;
};
struct rocksdb_fifo_compaction_options_t {
  rocksdb::CompactionOptionsFIFO rep;
};
struct rocksdb_cache_t {
  std::shared_ptr<rocksdb::Cache> rep;
};
struct rocksdb_write_buffer_manager_t {
  std::shared_ptr<rocksdb::WriteBufferManager> rep;
};
struct rocksdb_ratelimiter_t {
  std::shared_ptr<rocksdb::RateLimiter> rep;
};
struct rocksdb_logger_t {
  std::shared_ptr<rocksdb::Logger> rep;
};
struct rocksdb_env_t {
  rocksdb::Env* rep;
};
struct rocksdb_dbpath_t {
  rocksdb::DbPath rep;
};

namespace hawthorn::rocks {

// In c_callbacks.cc.
const rocksdb::Comparator* comparator_of(const rocksdb_comparator_t* comparator);

// For rocksdb_free.
inline void* allocate(size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// For rocksdb_free; never null, so that an empty value is not taken for none.
inline char* copy_of(const rocksdb::Slice& bytes) {
  char* const copy = static_cast<char*>(allocate(bytes.empty() ? 1 : bytes.size()));
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  return copy;
}

// A copy of a text with its zero byte, for rocksdb_free, too.
inline char* copy_of_words(const char* words) {
  char* const copy = ::strdup(words);
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

inline std::vector<rocksdb::Slice> slices_of(const char* const* bytes, const size_t* sizes,
                                             size_t count) {
  std::vector<rocksdb::Slice> slices(count);
  for (size_t i = 0; i < count; ++i) slices[i] = rocksdb::Slice(bytes[i], sizes[i]);
  return slices;
}

// Families to open.
inline std::vector<rocksdb::ColumnFamilyDescriptor> descriptors_of(
    int count, const char* const* names, const rocksdb_options_t* const* options) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (int i = 0; i < count; ++i) {
    descriptors.emplace_back(names[i], rocksdb::ColumnFamilyOptions(options[i]->rep));
  }
  return descriptors;
}

// What holds the handles of families, made before they are: handing out takes no memory.
class NewHandles {
 public:
  explicit NewHandles(size_t count) : handles_(count) {
    for (auto& handle : handles_) handle = std::make_unique<rocksdb_column_family_handle_t>();
  }
  void hand_out(const std::vector<rocksdb::ColumnFamilyHandle*>& from,
                rocksdb_column_family_handle_t** to) noexcept {
    for (size_t i = 0; i < from.size(); ++i) {
      handles_[i]->rep = from[i];
      to[i] = handles_[i].release();
    }
  }

 private:
  std::vector<std::unique_ptr<rocksdb_column_family_handle_t>> handles_;
};

// Whether options for a database and its families lack something for which there was no memory.
inline bool incomplete(const rocksdb_options_t* options, int count,
                       const rocksdb_options_t* const* of_families, char** errptr) {
  for (int i = 0; i < count; ++i) {
    if (incomplete(of_families[i], errptr)) return true;
  }
  return incomplete(options, errptr);
}

}  // namespace hawthorn::rocks
