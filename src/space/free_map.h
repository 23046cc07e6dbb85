#pragma once
// A set of free ranges of blocks, found by position and by size: best fit, coalescing.
//
// Not here: files, locks (space.h). Threads: one object from one thread at a time.
//
// 1. Ranges never overlap; ranges that touch in one file are one range.
// 2. take gives the smallest range that is large enough, of those the one lowest in the lowest
//    file, from its front.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "format/manifest_state.h"

namespace hawthorn::space {

using format::ExtentAddress;

class FreeMap {
 public:
  // False, and nothing changed, when a part of it is in the set already.
  bool add(const ExtentAddress& range);
  // Adds all of another set that has nothing in common with this one.
  void absorb(const FreeMap& other);
  std::optional<ExtentAddress> take(uint32_t blocks);
  // Takes out exactly this. False, and nothing changed, when a part of it is not in the set.
  bool carve(const ExtentAddress& range);
  // Takes out all ranges of one file.
  std::vector<ExtentAddress> take_file(uint32_t file);
  // Whether a part of the range is in the set.
  bool overlaps(const ExtentAddress& range) const;

  uint32_t largest() const;
  uint64_t blocks() const { return blocks_; }
  // How many there are in ranges of at least `least` each, as far as `enough`: then it looks at no
  // more.
  uint64_t blocks_in(uint32_t least, uint64_t enough) const;
  size_t count() const { return by_position_.size(); }
  // The ranges of at least `blocks`, the smallest first.
  std::vector<ExtentAddress> at_least(uint32_t blocks) const;
  void for_each(const std::function<void(const ExtentAddress&)>& fn) const;

 private:
  // File and block in one number. A range may reach the last block of a file; its end is then not a
  // position of the next file, since ends are kept in 64 bits of blocks and compared within a file
  // only.
  static uint64_t position_of(uint32_t file, uint32_t block) {
    return uint64_t{file} << 32 | block;
  }
  static ExtentAddress range_of(uint64_t position, uint32_t blocks) {
    return {static_cast<uint32_t>(position >> 32), static_cast<uint32_t>(position), blocks};
  }
  void insert(uint64_t position, uint32_t blocks);
  void erase(std::map<uint64_t, uint32_t>::iterator at);

  std::map<uint64_t, uint32_t> by_position_;
  std::set<std::pair<uint32_t, uint64_t>> by_size_;
  uint64_t blocks_ = 0;
};

}  // namespace hawthorn::space
