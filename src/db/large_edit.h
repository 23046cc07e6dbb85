#pragma once
// A new version of a value of more than 64 KB, made of an old one: what is changed goes to new
// extents, and the new reference shares the others with the old version (format/large_value.h).
//
//   old     | A                                    | B |
//   write        [ here ]                              [ and at the end ]
//   new     | A  | C     | A                       | D    |
//
// Not here: which version is changed, and the intent (value_parts.cc).
// Threads: one. It blocks on I/O.
//
// 1. What is written is in proportion to what is changed. Beside it small neighbours are written
//    anew, so that pieces become few and large: of every four of one size one is made, up to a full
//    extent. A byte is rewritten for that about ten times at most, however it was appended.
// 2. An extent of which less than half is still in use is written anew as far as it is: the extents
//    of a value hold no more than twice its bytes, but for the rests of blocks.
// 3. There are at most kPiecesMax pieces: beyond that the two neighbours that are smallest together
//    become one. Of a value of n bytes at random places that is n / 1000 for each write, about.
// 4. Only the extents of a version of the same key in the same tree are shared: container and merge
//    know them together (tree/merge_large.cc).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/large_values.h"
#include "tree/large_read.h"

namespace hawthorn::db {

class LargeEdit {
 public:
  static constexpr size_t kPiecesMax = 1024;

  // Of a value that stands in memory as long as this.
  LargeEdit(tree::Store* store, Scheduler* scheduler, std::string_view bytes);
  // Of a large one. Where it is not to be shared all of it is copied.
  LargeEdit(tree::Store* store, Scheduler* scheduler, const format::LargeValue& base, bool share);

  uint64_t size() const { return size_; }
  // Cuts it off, or lets it grow by zeros.
  void resize(uint64_t size);
  // Puts bytes that stay where they are in place of what is there, zeros before them where it ends
  // before.
  void write(uint64_t offset, std::string_view bytes);
  // The same of what the source will give, which stays where it is.
  void write(uint64_t offset, uint64_t size, const StreamSource& source);

  // All of it: for a value that is small now. Errors: those of reading and of the source.
  Result<std::string> bytes();
  // Writes what has to be; returns the encoded reference. Errors: as write_large_value; those of
  // reading what is copied.
  Result<std::string> finish();

 private:
  struct Part {
    enum class From : uint8_t { kBase, kZeros, kBytes, kSource };
    From from = From::kZeros;
    bool written = false;  // goes to new extents
    uint64_t size = 0;
    uint64_t at = 0;      // in the base, as a value
    uint32_t extent = 0;  // of the base,
    uint32_t offset = 0;  // and where in it
    const char* bytes = nullptr;
    bool stays() const { return from == From::kBase && !written; }
  };
  void put(uint64_t offset, Part part);
  size_t cut(uint64_t offset);
  void take_small_zeros();
  void take_neighbours();
  void take_run(size_t* begin, size_t* end, bool left);
  void take_sparse_extents();
  void take_until_few();
  size_t count_pieces() const;
  Status verify_base();
  Status fill(const Part& part, LargeWriter* writer);
  Status read_base(uint64_t at, std::span<char> to);
  format::LargeValue describe(const LargeWriter& writer) const;

  tree::Store* const store_;
  Scheduler* const scheduler_;
  const format::LargeValue base_;
  const bool share_;
  const StreamSource* source_ = nullptr;
  uint64_t size_ = 0;
  std::vector<Part> parts_;
  std::optional<tree::LargeRead> reader_;
};

}  // namespace hawthorn::db
