#pragma once
// What a manifest says of the blocks in its data files: parts with marks, by which a later backup
// knows what it needs not read.
//
// Not here: which blocks are in use (space). Used by db/copy_source.cc. Threads: one object, one.
//
// 1. A mark is made of the database's id, the container's id and cut, the checksum of its run,
// which
//    holds those of all its blocks, and the places of its extents. An extent is written once,
//    before a manifest lists it; so where all that is the same, the bytes are.
// 2. What only the log names has no mark, nor has what a flush is writing.

#include <vector>

#include "db/copy_sink.h"
#include "db/publisher.h"

namespace hawthorn::db {

class MarkedExtents {
 public:
  explicit MarkedExtents(const Moment& moment);
  // Adds the parts of a range in use. Ranges come in ascending order.
  void add_parts(const format::ExtentAddress& range, std::vector<CopyPart>* parts);
  // Behind the last range. Errors: kCorruption where the manifest lists what is in none.
  Status all_used() const;

 private:
  struct Marked {
    format::ExtentAddress address;
    Checksum128 container;
  };
  void mark(const format::ContainerRecord& record, const Moment& moment);

  std::vector<Marked> extents_;
  size_t next_ = 0;
  bool missed_ = false;
};

}  // namespace hawthorn::db
