#pragma once
// Separators of a run: where among entries with one head a key can be, without a look at the heap.
//
// A separator stands before an entry and is a string that no key before it reaches, of those with
// the same head, and all from it on do. What counts are tails, the key bytes behind the head.
// Between two of them lies what begins in one block of the heap, or one key.
//
//   tails:       aab  aac │ abc  abd │ b   bc       a get of "abe" looks at abc and abd
//   separators:           ab         b
//
// Layout, at the end of the header area, in whole blocks:
//   u64 for each: the head; ascending
//   u32 for each: the entry that it stands before; ascending
//   u32 for each: where its bytes end, behind these numbers
//   bytes of each: varint of how many it shares with the one before it, then the others.
//     It shares none where its number is a multiple of 16, or where it is the first with its head
//   zeros up to the block's end
//
// Not here: which runs have them (run_layout.h), what a reader does with them (tree/run.h).
// Threads: pure functions and ordinary values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "hawthorn/status.h"

namespace hawthorn::format {

inline constexpr uint32_t kSeparatorsPerRestart = 16;

// A view of them. Lifetime: the header area.
struct RunSeparators {
  const uint64_t* heads = nullptr;
  const uint32_t* entries = nullptr;
  const uint32_t* ends = nullptr;
  const char* bytes = nullptr;
  uint32_t count = 0;

  // Of entries [*begin, *end), among which are all that have this head, leaves those that can be of
  // the key with this tail, and between which it would stand.
  void narrow(uint64_t head, std::string_view tail, uint32_t* begin, uint32_t* end) const;
  // The same, of a copy of all that begins at heads.
  RunSeparators moved(const char* to) const;
  // Whether one stands before this entry.
  bool before(uint32_t entry) const;

  // Of separator `number`: what it has itself, and how much of the one before it comes first.
  std::string_view own(uint32_t number, uint32_t* shared) const;
};

// How many bytes they take, without the last block's rest.
inline uint64_t separators_bytes(uint32_t count, uint32_t own_bytes) {
  return (sizeof(uint64_t) + 2 * sizeof(uint32_t)) * uint64_t{count} + own_bytes;
}

inline uint64_t separators_bytes(const RunSeparators& all) {
  return all.count == 0 ? 0 : separators_bytes(all.count, all.ends[all.count - 1]);
}

// Finds them in `area`, whose numbers are as a header says. Errors: kCorruption, of what cannot be
// read; whether they are right for the entries is not looked at.
Status parse_separators(const char* area, size_t area_bytes, uint32_t count, uint32_t own_bytes,
                        uint32_t run_entries, RunSeparators* out);

// Makes them, in the order of their entries.
class SeparatorWriter {
 public:
  void clear();
  // Before `entry`, between tails of which `before` is smaller.
  void add(uint64_t head, uint32_t entry, std::string_view before, std::string_view tail);
  uint32_t count() const { return static_cast<uint32_t>(entries_.size()); }
  uint32_t own_bytes() const { return static_cast<uint32_t>(bytes_.size()); }
  // Writes separators_bytes.
  void write(char* to) const;
  size_t memory_bytes() const {
    return heads_.capacity() * sizeof(uint64_t) +
           (entries_.capacity() + ends_.capacity()) * sizeof(uint32_t) + bytes_.capacity() +
           last_.capacity();
  }
  void release();

 private:
  std::vector<uint64_t> heads_;
  std::vector<uint32_t> entries_;
  std::vector<uint32_t> ends_;
  std::string bytes_;
  std::string last_;
};

}  // namespace hawthorn::format
