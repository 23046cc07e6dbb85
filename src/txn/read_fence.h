#pragma once
// What a prepared transaction has read: nobody may write there until its outcome (R21).
//
// Not here: how it came to be read (read_set.h), who asks (sequencer.h). Threads: built by one;
// after seal() any number may ask.
//
// 1. Sealed, its ranges are in order and do not touch each other: a look is one search.

#include <string>
#include <string_view>
#include <vector>

#include "format/prepare_record.h"

namespace hawthorn::txn {

class ReadFence {
 public:
  void add(format::PreparedRead read);
  void seal();

  bool empty() const { return ranges_.empty(); }
  bool contains(uint32_t tree, std::string_view key) const;
  bool has_tree(uint32_t tree) const;
  const std::vector<format::PreparedRead>& ranges() const { return ranges_; }
  // That it takes of the heap.
  size_t bytes() const { return bytes_ + ranges_.capacity() * sizeof(format::PreparedRead); }

 private:
  std::vector<format::PreparedRead> ranges_;
  size_t bytes_ = 0;  // of their keys
};

}  // namespace hawthorn::txn
