#pragma once
// Builds containers for a bulk ingest: gathers the entries of one, lays them out as a run and a
// value extent, and writes both to the data files, once.
//
// Not here: which entries make a container (ingest.h), when it is attached (tree/attachment.h).
// Threads: one object, one thread at a time; writes go on behind it.
//
// 1. What was built is on disk after wait(), and durable after a sync of the space. Its extents
//    belong to nobody: with the last reference their space is free again.
// 2. Memory: the gathered entries, and the images of at most two containers.

#include <array>
#include <string>
#include <vector>

#include "db/entry_file.h"
#include "db/scheduler.h"
#include "os/io.h"
#include "tree/attachment.h"
#include "tree/image_packer.h"
#include "tree/run_builder.h"

namespace hawthorn::db {

class BulkBuilder {
 public:
  BulkBuilder(tree::Store* store, Scheduler* scheduler, uint32_t tree);
  ~BulkBuilder();
  BulkBuilder(const BulkBuilder&) = delete;
  BulkBuilder& operator=(const BulkBuilder&) = delete;

  // In ascending order.
  void add(const IngestEntry& entry);
  bool empty() const { return entries_.empty(); }
  size_t entries() const { return entries_.size(); }
  // What a container of them takes on disk, about.
  size_t bytes() const { return bytes_; }
  size_t large_extents() const { return large_extents_; }
  // The gathered entries one by one, for what does not become a container.
  IngestEntry entry(size_t index) const;
  void clear();

  // The container [low, high) of what was gathered, which is forgotten; its writes have begun.
  // Errors: kNoSpace; kOutOfMemory; those of writes before.
  Result<tree::Attachment> build(std::string low, const std::string* high);
  Status wait();
  // Written by it since it was made.
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  static constexpr size_t kWrites = 2;

  struct Entry {
    size_t at;  // of the key in bytes; the value follows
    uint32_t key_size;
    uint32_t value_size;
    bool large;
  };
  // An extent on its way to the disk, with its memory.
  struct Writing {
    tree::ExtentRef extent;
    char* memory = nullptr;
  };
  struct Slot {
    os::IoGroup group;
    std::vector<Writing> writing;
  };

  Status wait_for(Slot& slot);
  void give_back(char* memory, size_t bytes, const tree::StoredCopy& copy);
  Result<tree::ExtentRef> make_extent(char* memory, size_t bytes, bool index,
                                      const tree::StoredCopy& copy, Slot& slot);
  tree::RunShape shape_of(std::string_view prefix) const;
  size_t emit(const tree::RunShape& shape);
  void start_writes(Slot& slot);
  void count_memory();

  tree::Store* const store_;
  Scheduler* const scheduler_;
  const uint32_t tree_;
  tree::RunBuilder builder_;
  tree::ImagePacker packer_;
  std::string buffer_;
  os::ArenaVector<Entry> entries_;
  size_t bytes_ = 0;
  size_t large_extents_ = 0;
  size_t counted_bytes_ = 0;
  std::vector<size_t> separated_;  // indexes of entries whose values are in the extent
  std::array<Slot, kWrites> slots_;
  size_t next_slot_ = 0;
  uint64_t bytes_written_ = 0;
};

}  // namespace hawthorn::db
