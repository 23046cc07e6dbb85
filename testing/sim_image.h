#pragma once
// The bytes of one simulated file, and the changes that were made to them but not synced.
//
// Not here: names, faults, locks (sim_disk.cc). Used by SimDisk only. Threads: one at a time.
//
// 1. A block that is present takes space on the disk; one that is not is a hole and reads as zeros.
// 2. Blocks are shared between images until one of them writes.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/prng.h"

namespace hawthorn::testing {

inline constexpr size_t kSimSectorBytes = 512;
inline constexpr size_t kSimBlockBytes = 4096;

// One change of a file. A write that extends the file is followed by a change of the size, since a
// power loss may keep one without the other.
struct SimChange {
  enum class Kind : uint8_t { kWrite, kPage, kSize, kAllocate, kPunch };
  Kind kind = Kind::kWrite;
  uint64_t offset = 0;  // kSize: the new size
  uint64_t size = 0;
  std::string data;
};

class SimImage {
 public:
  uint64_t size() const { return size_; }
  uint64_t allocated_bytes() const { return blocks_.size() * kSimBlockBytes; }
  // The blocks of [offset, offset + size) that are holes.
  uint64_t holes(uint64_t offset, uint64_t size) const;

  // Bytes behind the size and in holes are zeros.
  void read(uint64_t offset, std::span<char> to) const;
  void write(uint64_t offset, std::span<const char> data);
  void apply(const SimChange& change);
  // Applies a change as a power loss may leave it: a write, of a page as well, may be torn at
  // sector boundaries.
  void apply_torn(const SimChange& change, Prng& prng);
  // Forgets what lies behind the size.
  void cut();
  void flip_bit(uint64_t offset, unsigned bit);

 private:
  using Block = std::array<char, kSimBlockBytes>;
  Block& writable(uint64_t block);

  std::map<uint64_t, std::shared_ptr<Block>> blocks_;
  uint64_t size_ = 0;
};

}  // namespace hawthorn::testing
