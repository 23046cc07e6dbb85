#pragma once
// Sorts entries that do not fit memory: sorted runs in temporary files, merged k at a time.
//
//   add ──> buffer ──full: sorted──> run, run, run ──merge──> next
//
// Not here: what is done with the entries (ingest.h). Threads: one object, one thread at a time.
//
// 1. next hands out every key once, in ascending order, with the value that was added last.
// 2. Memory: `memory_bytes` of entries with what orders them, and a block for each run that is
//    merged, which fit the same bytes once the buffer has gone.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/entry_file.h"

namespace hawthorn::db {

class ExternalSort {
 public:
  using MakePath = std::function<std::string()>;
  // Told of each large value that a later one of its key replaces.
  using Replaced = std::function<void(std::string_view encoded)>;

  ExternalSort(const os::Machine& machine, size_t memory_bytes, MakePath make_path,
               Replaced replaced);
  ~ExternalSort();

  static constexpr size_t kMemoryBytesMin = size_t{512} << 10;

  // Errors: those of the disk.
  Status add(const IngestEntry& entry);
  // Everything was added: next may be called.
  Status finish();
  // *more: there was one. Its views are valid until the next call.
  Status next(IngestEntry* entry, bool* more);
  size_t runs() const { return runs_.size(); }

 private:
  struct Item {
    uint64_t head;
    size_t at;  // in buffer_; later ones were added later
  };
  // A run being read.
  struct Head {
    size_t run;
    IngestEntry entry;
  };

  std::string_view key_of(const Item& item) const;
  IngestEntry entry_of(const Item& item) const;
  void sort_buffer();
  Status spill();
  std::unique_ptr<EntryFile> make_run() const;
  size_t fan_in() const;
  Status merge_all_once();
  Status open_heads(size_t from, size_t count);
  Status advance(Head head);
  bool after(const Head& a, const Head& b) const;
  Status next_merged(IngestEntry* entry, bool* more);

  const os::Machine& machine_;
  const size_t memory_bytes_;
  const MakePath make_path_;
  const Replaced replaced_;
  std::string buffer_;
  std::vector<Item> items_;
  size_t item_ = 0;  // the next one to hand out, when all fit memory
  // Oldest first: of equal keys the one of the last run counts.
  std::vector<std::unique_ptr<EntryFile>> runs_;
  std::vector<Head> heads_;  // a heap
  std::string key_;          // of the entry handed out
  std::string value_;
};

}  // namespace hawthorn::db
