#pragma once
// The data files of a repair's target, and the containers that stand in them.
//
// Not here: reading the source (repair_run.h), log and manifest (repair.cc). Used by db/repair*.cc.
// Threads: one at a time.
//
// 1. What is copied keeps its place, since runs and references name it; what is made anew stands
//    in a file of its own.
// 2. No block has two owners: what would take one that is taken is made anew.
// 3. What is copied was read and verified before. Where it cannot be read any more the repair ends
//    with an error: nothing is left out silently.
// 4. Until finish() the directory has a file that keeps it from being opened (db/incomplete.h).
// 5. Of an encrypted source what is made anew is sealed with its data keys; what is copied is so
//    already.

#include <map>
#include <memory>
#include <span>
#include <string>

#include "db/repair_run.h"
#include "db/repair_source.h"
#include "format/manifest_state.h"

namespace hawthorn::db {

class RepairTarget {
 public:
  RepairTarget(RepairSource& source, std::string directory, uint32_t new_file)
      : source_(source), directory_(std::move(directory)), new_file_(new_file) {}

  // Makes the directory, which must not exist.
  Status begin();
  // Whether none of it is taken.
  bool free(const format::ContainerRecord& record) const;
  bool free(const format::ExtentAddress& address) const;
  // Copies blocks to the same place, and takes them. Errors: kIoError also where they cannot be
  // read.
  Status copy(const format::ExtentAddress& address);
  Status copy(const format::ContainerRecord& record);
  // Makes containers of entries, which ascend, in the range of `like` from `low` on; as many as
  // they need, at least one. `next_id`: of all but the first, counted up.
  Status build(const format::ContainerRecord& like, std::span<const RepairEntry> entries,
               uint64_t* next_id, std::vector<format::ContainerRecord>* made);
  // Of a file, or of what stands for a device: behind all that was written to it.
  uint64_t end_block(uint32_t number) const;
  // Makes it so long, where it is not there at first. It may lose nothing that was written.
  Status resize(uint32_t number, uint64_t bytes);
  Status sync();
  // Nothing is written any more.
  void close() { files_.clear(); }
  // All of it is durable, and may be opened.
  Status finish();
  uint64_t bytes_copied() const { return bytes_copied_; }

 private:
  struct File {
    std::unique_ptr<os::File> file;
    uint64_t end = 0;  // block behind what was written
  };
  Status open(uint32_t number, File* to);
  Status write(const format::ExtentAddress& address, const char* bytes);
  // Its number of blocks, behind all that the new file has.
  Status place(uint32_t blocks, format::ExtentAddress* at);
  Status move(const format::ExtentAddress& from, const format::ExtentAddress& to);
  void take(const format::ExtentAddress& address);
  // The reference to a large value whose extents are taken, or are to be.
  Status place_large(const std::string& encoded, std::string* placed,
                     ThinVector<format::ExtentAddress>* extents);

  RepairSource& source_;
  const std::string directory_;
  const uint32_t new_file_;
  uint64_t new_blocks_ = 0;
  std::unique_ptr<os::File> lock_;
  std::map<uint32_t, File> files_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> taken_;  // by file and block: blocks
  uint64_t bytes_copied_ = 0;
};

}  // namespace hawthorn::db
